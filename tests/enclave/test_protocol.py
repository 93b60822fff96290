"""Hostile bytes become frames or violations, nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.enclave import protocol
from ringfence.enclave.protocol import Call, Done, Failed, FrameReader, Print, Ready, RunRequest, WireViolation, decode
from ringfence.errors import ErrorInfo
from ringfence.limits import ValueBudget

CALL: dict[str, Any] = {"t": "call", "id": 1, "name": "a", "args": {}, "line": 1, "site": "1:2", "task": "0", "seq": 0}


def payload(**changes: Any) -> bytes:
    return json.dumps({**CALL, **changes}).encode()


def body(data: bytes) -> Any:
    assert int.from_bytes(data[:4], "big") == len(data) - 4
    return json.loads(data[4:])


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"t":"ready"}', Ready),
        (payload(), Call),
        (b'{"t":"print","text":"x"}', Print),
        (b'{"t":"done","value":[1]}', Done),
        (b'{"t":"failed","kind":"raised","name":"E","message":"m"}', Failed),
    ],
)
def test_every_kind_of_frame_is_decoded(data: bytes, kind: type) -> None:
    assert type(decode(data)) is kind


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"t":"run"}',
        b'{"t":"ready","extra":1}',
        payload(id=-1),
        payload(id=True),
        payload(id=2**60),
        payload(name="x" * 257),
        payload(name=None),
        payload(task="0." * 1000),
        payload(line=-1),
        payload(extra=1),
        b'{"t":"call"}',
        b'{"t":"failed","kind":"success","name":"E","message":"m"}',
        b'{"t":"failed","kind":"raised","name":"E","message":"' + b"x" * 9000 + b'"}',
        b'{"t":"print","text":5}',
        b'{"t":"done","value":NaN}',
        b'{"t":"done","value":' + b"[" * 200_000,
        b"\x80\x04\x95",
    ],
)
def test_anything_else_is_a_violation_that_does_not_quote_the_guest(data: bytes) -> None:
    with pytest.raises(WireViolation) as caught:
        decode(data)
    assert "x" * 20 not in str(caught.value)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_frame_or_a_violation(data: bytes) -> None:
    try:
        frame = decode(data)
    except WireViolation:
        return
    assert isinstance(frame, protocol.Frame)


@given(st.lists(st.binary(max_size=40), max_size=8), st.lists(st.integers(1, 60), max_size=20))
def test_frames_survive_any_cutting_of_the_stream(payloads: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(protocol.frame(item) for item in payloads)
    reader = FrameReader(64)
    seen: list[bytes] = []
    at = 0
    for cut in [*cuts, len(stream)]:
        seen += [bytes(payload) for payload in reader.feed(stream[at : at + cut])]
        at += cut
    assert (seen, reader.buffered) == (payloads, 0)


def test_an_announced_size_over_the_limit_is_refused_before_it_arrives() -> None:
    with pytest.raises(WireViolation, match="a frame of 65 bytes, more than 64"):
        list(FrameReader(64).feed((65).to_bytes(4, "big")))


def test_the_run_frame_carries_what_replay_will_need() -> None:
    request = RunRequest(
        run_id="r_1",
        source="1",
        inputs=b'{"a":1}',
        namespaces={"tools": {"del_": "del"}},
        effects={"del": "write"},
        clock=5,
        seed="00ff",
    )
    assert body(protocol.run_frame(request, ValueBudget())) == {
        "t": "run",
        "mode": "run",
        "rules": "off",
        "run": "r_1",
        "source": "1",
        "namespaces": {"tools": {"del_": "del"}},
        "effects": {"del": "write"},
        "clock": 5,
        "frozen": False,
        "seed": "00ff",
        "max_value": 5242880,
        "max_nodes": 1000000,
        "max_depth": 64,
        "max_members": None,
        "max_iterations": 0,
        "counted": "none",
        "traces": True,
        "memory": 0,
        "max_output": 0,
        "keep_variables": False,
        "inputs_tags": None,
        "variables_tags": None,
        "inputs": {"a": 1},
        "globals": {},
        "variables": {},
    }


def test_answers_are_the_value_or_the_error_as_data() -> None:
    error = ErrorInfo(code="tool_raised", message="m" * 5000, name="Boom", hint="h")
    assert body(protocol.answer_frame(3, b'{"x":1}')) == {"t": "ok", "id": 3, "value": {"x": 1}}
    assert body(protocol.error_frame(3, "a", error, terminal=False, returnable=True)) == {
        "t": "err",
        "id": 3,
        "tool": "a",
        "code": "tool_raised",
        "name": "Boom",
        "message": "m" * 4095 + "…",
        "hint": "h",
        "terminal": False,
        "returnable": True,
    }
