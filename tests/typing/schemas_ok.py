"""Must type-check under strict rules: the parameter of `execute` follows from every kind of schema."""

from __future__ import annotations

import dataclasses
from typing import Any, assert_type

import msgspec
from pydantic import BaseModel, TypeAdapter
from typing_extensions import TypedDict

import ringfence as rf

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"order_id": {"type": "integer"}}}


class Model(BaseModel):
    order_id: int


@dataclasses.dataclass
class Record:
    order_id: int


class Row(TypedDict):
    order_id: int


class Struct(msgspec.Struct):
    order_id: int


class Pair:
    """Of a library that nobody here knows."""

    vendor = "somebody"
    version = 1

    def validate(self, value: object) -> rf.Valid[Record] | rf.Invalid:
        if isinstance(value, dict):
            return {"value": Record(1)}
        return {"issues": [{"message": "no object", "path": []}]}

    def json_schema(self, target: str, *, mode: str) -> dict[str, Any]:
        return {"type": "object", "title": target + mode}


class LatePair:
    async def validate(self, value: object) -> rf.Valid[Record] | rf.Invalid:
        return Pair().validate(value)

    def json_schema(self, target: str, mode: str = "input") -> dict[str, Any]:
        return {"type": "object", "title": target + mode}


class LoosePair:
    def validate(self, value: Any) -> dict[str, Any]:
        return {"value": value}

    def json_schema(self, target: str, mode: str = "input") -> dict[str, Any]:
        return {"type": "object", "title": target + mode}


def of_record(record: Record, ctx: rf.ToolContext) -> int:
    return record.order_id + ctx.attempt


assert_type(rf.Tool("a", "A.", Model, lambda it: it.order_id), rf.Tool[[Model], int])
assert_type(rf.Tool("a", "A.", TypeAdapter(Model), lambda it: it.order_id), rf.Tool[[Model], int])
assert_type(rf.Tool("a", "A.", Record, lambda it: it.order_id), rf.Tool[[Record], int])
assert_type(rf.Tool("a", "A.", Row, lambda it: it["order_id"]), rf.Tool[[Row], int])
assert_type(rf.Tool("a", "A.", Struct, lambda it: it.order_id), rf.Tool[[Struct], int])
assert_type(rf.Tool("a", "A.", Pair(), lambda it: it.order_id), rf.Tool[[Record], int])
assert_type(rf.Tool("a", "A.", LatePair(), of_record), rf.Tool[[Record, rf.ToolContext], int])
assert_type(rf.Tool("a", "A.", SCHEMA, lambda it: len(it)), rf.Tool[[dict[str, Any]], int])
assert_type(rf.Tool("a", "A.", Struct, lambda it: it.order_id, lax=True, output=SCHEMA), rf.Tool[[Struct], int])
schema: rf.ToolSchema[Record] = Pair()
late: rf.ToolSchema[Record] = LatePair()
loose = rf.Tool("a", "A.", LoosePair(), of_record)
