"""Must not type-check: every line marked `error`, and no other.

`type: ignore` keeps the check of the whole repository quiet; `test_typing.py` switches it off.
"""

from __future__ import annotations

from typing import Any

import msgspec

import ringfence as rf


class Struct(msgspec.Struct):
    order_id: int


class Pair:
    def validate(self, value: object) -> rf.Valid[Struct] | rf.Invalid:
        return {"value": Struct(1)} if value else {"issues": []}

    def json_schema(self, target: str, *, mode: str) -> dict[str, Any]:
        return {"type": "object", "title": target + mode}


class Mute:
    def json_schema(self, target: str, *, mode: str) -> dict[str, Any]:
        return {"type": "object", "title": target + mode}


class Secretive:
    def validate(self, value: object) -> rf.Valid[Struct] | rf.Invalid:
        return {"value": Struct(1)} if value else {"issues": []}


class Wrong(Secretive):
    def json_schema(self, target: int, *, mode: str) -> dict[str, Any]:
        return {"type": "object", "title": mode * target}


def of_text(text: str) -> str:
    return text


rf.Tool("a", "A.", Struct, of_text)  # type: ignore  # error
rf.Tool("a", "A.", Struct, lambda it: it.missing)  # type: ignore  # error
rf.Tool("a", "A.", Pair(), of_text)  # type: ignore  # error
rf.Tool("a", "A.", Pair(), lambda it: it.missing)  # type: ignore  # error
rf.Tool("a", "A.", {"type": "object"}, of_text)  # type: ignore  # error
rf.Tool("a", "A.", Mute(), of_text)  # type: ignore  # error
rf.Tool("a", "A.", Secretive(), of_text)  # type: ignore  # error
rf.Tool("a", "A.", Wrong(), of_text)  # type: ignore  # error
rf.Tool("a", "A.", "Struct", of_text)  # type: ignore  # error
rf.Tool("a", "A.", Struct, lambda it: it.order_id, lax="yes")  # type: ignore  # error
