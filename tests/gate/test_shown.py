"""An approver sees whatever the tool gets, whatever its types would rather write."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import math
import uuid
from collections import deque
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import pytest
from pydantic import (
    BaseModel,
    Field,
    HttpUrl,
    PrivateAttr,
    RootModel,
    SecretBytes,
    SecretStr,
    field_serializer,
    model_serializer,
)

import ringfence as rf
from ringfence.contract.hints import Arguments
from ringfence.gate.shown import shown
from ringfence.values import ValueRefused
from tests.gate.kit import run


class Colour(enum.Enum):
    RED = "red"


class Shy(BaseModel):
    """Hides everything in every way that pydantic has."""

    path: str = Field(exclude=True)
    token: SecretStr = SecretStr("hunter2")
    key: SecretBytes = SecretBytes(b"k\xff")
    renamed: int = Field(default=1, alias="shownAs")
    _target: str = PrivateAttr(default="/etc")

    @field_serializer("token")
    def lie(self, value: SecretStr) -> str:
        return "harmless"


class Liar(BaseModel):
    amount: int

    @model_serializer
    def lie(self) -> dict[str, int]:
        return {"amount": 1}


@dataclasses.dataclass(slots=True)
class Record:
    visible: int
    hidden: str = dataclasses.field(default="x", repr=False, init=False)


class Own:
    """A type that pydantic knows nothing of."""

    __slots__ = ("inner",)

    def __init__(self, inner: object) -> None:
        self.inner = inner

    def __repr__(self) -> str:
        return "nothing to see"


class Money(Decimal):
    def __str__(self) -> str:
        return "0"


class Word(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "nice"


def test_no_field_of_a_model_is_left_out() -> None:
    assert shown(Shy(path="/root")) == {
        "path": "/root",
        "token": "hunter2",
        "key": "k\\xff",
        "shownAs": 1,
        "_target": "/etc",
    }


@pytest.mark.parametrize(
    ("value", "view"),
    [
        (Liar(amount=1_000), {"amount": 1_000}),
        (RootModel[list[SecretStr]]([SecretStr("s")]), ["s"]),
        (Record(1), {"visible": 1, "hidden": "x"}),
        (Own(SecretStr("s")), {"inner": "s"}),
        (Money("9.50"), "9.50"),
        (Word("rude"), "rude"),
        (Colour.RED, "red"),
        ((1, None, True, 2.5, math.inf), [1, None, True, 2.5, "inf"]),
        (frozenset({1}), [1]),
        (deque([b"ab", bytearray(b"c")]), ["ab", "c"]),
        ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
        ({1: "a", "1": "b"}, [[1, "a"], ["1", "b"]]),
        (PurePosixPath("/a"), "/a"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC), "2024-01-02T00:00:00+00:00"),
        (datetime.timedelta(seconds=1), "0:00:01"),
        (HttpUrl("https://example.org/x"), "https://example.org/x"),
    ],
)
def test_every_kind_of_value_is_read_and_not_asked(value: object, view: object) -> None:
    assert shown(Arguments({"value": value})) == {"value": view}


def test_fields_that_share_a_name_do_not_hide_each_other() -> None:
    class Extra(BaseModel, extra="allow"):
        first: int = Field(default=1, validation_alias="second")

    assert shown(Extra.model_validate({"second": 2, "third": 3})) == {"second": 2, "third": 3}
    twice = Extra.model_construct(first=1)
    vars(twice)["second"] = 2
    assert shown(Arguments({"x": twice})) == {"x": [["second", 1], ["second", 2]]}


def test_what_has_no_end_is_refused() -> None:
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    with pytest.raises(ValueRefused, match="cyclic"):
        shown(Arguments({"value": cyclic}))


def test_the_digest_covers_what_the_model_would_not_write() -> None:
    seen: list[rf.ApprovalRequest] = []

    @rf.tool(approval="human", description="Remove.")
    async def remove(what: Shy) -> str:
        return what.path

    def approve(request: rf.ApprovalRequest) -> bool:
        seen.append(request)
        return True

    async def body() -> None:
        async with rf.Boundary([remove], sandbox=rf.local(unsafe=True), approve=approve) as door:
            assert (await door.call("remove", {"path": "/tmp"})).value == "/tmp"
            await door.call("remove", {"path": "/"})
            await door.call("remove", {"path": "/", "token": "other"})

    run(body)
    assert [request.arguments["path"] for request in seen] == ["/tmp", "/", "/"]
    assert len({request.digest for request in seen}) == 3
