"""What JSON lacks, as arguments and results of governed tools: as it was, or refused, never something else."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import Base64Bytes, BaseModel

import ringfence as rf
from tests.enclave.kit import Stage, code, detail

SEEN: list[Any] = []
ODD = bytes(range(250, 256))


class Plain(BaseModel):
    data: bytes


@rf.tool(effect="read")
async def store(data: bytes, more: list[bytes] | None = None) -> bytes:
    """Keep bytes."""
    SEEN.append((data, more))
    return data


@rf.tool(effect="read")
async def decode(data: Base64Bytes) -> int:
    """Decode by itself."""
    SEEN.append(data)
    return len(data)


@rf.tool(effect="read")
async def text(data: str) -> int:
    """Take text."""
    SEEN.append(data)
    return len(data)


@rf.tool(effect="read")
async def anything(data: Any) -> None:
    """Take anything."""
    SEEN.append(data)


@rf.tool(effect="read")
async def model(part: Plain, number: int = 0) -> int:
    """Take a model of its own configuration."""
    SEEN.append(part)
    return number


@rf.tool(effect="read")
async def wait(td: timedelta) -> timedelta:
    """Take a duration."""
    SEEN.append(td)
    return td


RAW = rf.Tool(
    "raw",
    "Take what JSON Schema says.",
    {"type": "object", "properties": {"data": {"type": "string", "contentEncoding": "base64"}, "free": {}}},
    lambda arguments: SEEN.append(arguments),
    effect="read",
)


class Play:
    """Runs scripts over the tools above."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def __call__(self, source: str, **inputs: Any) -> rf.RunResult:
        SEEN.clear()
        return self._stage.run(self._stage.enclave(tools=TOOLS, sandbox=LOCAL).run(source, inputs))


TOOLS = rf.Toolset([store, decode, text, anything, model, wait, RAW])
LOCAL = rf.local(unsafe=True)


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    with Stage() as stage:
        yield Play(stage)


def test_bytes_arrive_as_they_were(play: Play) -> None:
    result = play("await tools.store(data=inputs['odd'], more=[b'abc', b''])", odd=ODD)
    assert (result.value, SEEN) == (ODD, [(ODD, [b"abc", b""])])


def test_bytes_that_a_type_decodes_itself_arrive_as_they_were(play: Play) -> None:
    assert (play("await tools.decode({'data': inputs['odd']})", odd=ODD).value, SEEN) == (6, [ODD])


def test_a_json_schema_gets_its_own_alphabet(play: Play) -> None:
    assert (code(play("await tools.raw({'data': inputs['odd']})", odd=ODD)), SEEN) == (None, [{"data": "+vv8/f7/"}])


@pytest.mark.parametrize(
    ("call", "place"),
    [
        ("tools.text(data=b'abc')", "data"),
        ("tools.anything(data={'a': [1, b'abc']})", "data.a[1]"),
        ("tools.model(part={'data': b'abc'})", "part.data"),
        ("tools.raw(free=b'abc')", "free"),
    ],
)
def test_bytes_that_would_be_read_as_something_else_are_refused(play: Play, call: str, place: str) -> None:
    result = play(f"await {call}")
    assert (code(result), detail(result), SEEN) == ("TOOL_ERROR", "invalid_input", [])
    assert result.error is not None
    assert f"{place}: bytes, which the tool does not take here" in result.error.message
    assert result.error.issues == (
        {"path": place, "message": "bytes, which the tool does not take here", "code": "bytes_not_accepted"},
    )
    assert result.error.hint is not None
    assert result.error.hint.startswith("pass text: value.decode()")
    assert [(call.status, call.code) for call in result.calls] == [("refused", "invalid_input")]


@pytest.mark.parametrize(
    "text", ["timedelta(days=1)", "timedelta(microseconds=-1)", "timedelta(days=800, seconds=3.5)", "timedelta(0)"]
)
def test_durations_arrive_as_they_were_and_come_back(play: Play, text: str) -> None:
    value = eval(text, {"timedelta": timedelta})
    result = play(f"from datetime import timedelta\nx = await tools.wait(td={text})\n[x, x == {text}]")
    assert (result.value, SEEN) == ([value, True], [value])


def test_an_unknown_argument_of_bytes_is_named_as_such(play: Play) -> None:
    result = play("await tools.store(data=b'a', mor=b'b')")
    assert result.error is not None
    assert "mor: no such argument; did you mean 'more'?" in result.error.message
