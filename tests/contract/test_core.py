"""What a core schema says beyond its JSON Schema is found wherever it stands."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from ringfence.contract.core import fields, nodes, refuse_unpublishable, takes_names


class Named(BaseModel):
    model_config = ConfigDict(validate_by_name=True)
    a: int = Field(alias="A", default=1, json_schema_extra={"type": "generator"})
    b: int = 0


@dataclasses.dataclass
class Around:
    named: dict[str, list[Named]]
    made: int = dataclasses.field(init=False, default=0)


class Below(BaseModel):
    next: Below | None = None


@pytest.mark.parametrize(("kind", "expected"), [(Named, True), (Around, True), (Below, False), (int, False)])
def test_a_setting_is_found_at_every_depth(kind: Any, expected: bool) -> None:
    assert takes_names(TypeAdapter(kind).core_schema) is expected


def test_values_of_the_user_are_no_schemas() -> None:
    refuse_unpublishable(TypeAdapter(Named).core_schema, "f")
    assert "generator" not in {node.get("type") for node in nodes(TypeAdapter(Named).core_schema)}


def test_fields_have_the_names_that_a_caller_writes_and_what_nobody_may_set_is_none() -> None:
    found = [node for node in nodes(TypeAdapter(Around).core_schema) if node.get("type") == "dataclass-args"]
    assert [name for name, _ in fields(found[0])] == ["named"]
    found = [node for node in nodes(TypeAdapter(Named).core_schema) if node.get("type") == "model-fields"]
    assert [name for name, _ in fields(found[0])] == ["A", "b"]
