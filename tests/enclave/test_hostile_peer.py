"""One session against a peer that may say anything: it always ends, with a code that is known, and leaves no task."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ringfence.enclave import protocol
from ringfence.enclave.callers import HandlerCaller
from ringfence.enclave.channel import Channel
from ringfence.enclave.functions import GlobalFunctions
from ringfence.enclave.globals import Function
from ringfence.enclave.results import RUN_CODES, RunResult
from ringfence.enclave.session import ScriptSession
from ringfence.errors import CODES, SandboxFault
from ringfence.gate.consent import Consent
from ringfence.limits import RunLimits
from ringfence.policy.screen import ALLOWED, Judgement, Screen, Seen
from ringfence.ports import Origin
from ringfence.sandbox.jail.supervise import Child, Exit
from ringfence.threads import DaemonThreads
from tests.enclave.kit import code, detail, outcomes, run

LIMITS = RunLimits(
    timeout=0.1, max_tool_calls=5, max_global_calls=5, max_iterations=None, max_concurrent_calls=2, output=100
)
REQUEST = protocol.RunRequest(run_id="r_1", source="", inputs=b"{}", namespaces={}, effects={}, clock=0, seed="00")


def frame(body: Any) -> bytes:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return protocol.frame(data)


def call(number: int, name: str = "echo") -> dict[str, Any]:
    return {"t": "call", "id": number, "name": name, "args": {}, "line": 1, "site": "1:1", "task": "0", "seq": 0}


def function(number: int, which: int = 0) -> dict[str, Any]:
    args: list[Any] = [[1], {}]
    place = {"line": 1, "site": "1:1", "task": "0", "seq": 0}
    return {"t": "global", "id": number, "function": which, "args": args, **place}


READY = {"t": "ready"}
DONE = {"t": "done", "value": 1}


async def handle(name: str, args: Any) -> Any:
    match name:
        case "never":
            await asyncio.Event().wait()
        case "boom":
            raise ValueError("boom")
        case _:
            await asyncio.sleep(0)
    return args


async def same(value: Any) -> Any:
    return value


FUNCTIONS = (Function(name="same", call=same, is_async=True),)


class Broken(Screen):
    """Screening that fails from its nth question on."""

    def __init__(self, since: int) -> None:
        self._left = since

    def judge(self, entry: Seen, now: float) -> Judgement:
        self._left -= 1
        if self._left <= 0:
            raise LookupError("of the host")
        return ALLOWED

    def judge_global(self, now: float) -> Judgement:
        raise LookupError("of the host")


async def converse(
    stream: bytes, *, cuts: tuple[int, ...] = (), hang_up: bool = True, screen: Screen | None = None
) -> RunResult:
    """A session whose guest sends this, in pieces, and then hangs up or falls silent."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    theirs.setblocking(False)
    loop = asyncio.get_running_loop()

    def kill(child: Child) -> None:
        loop.call_soon(child.end, Exit(signal=9))

    child = Child(1, ours, kill)
    channel = Channel(child, protocol.frame_limit(LIMITS))
    session = ScriptSession(
        channel=channel,
        caller=HandlerCaller(
            handle, LIMITS.value, consent=Consent(None, None, LIMITS.value), threads=DaemonThreads("handler")
        ),
        limits=LIMITS,
        origin=Origin(session_id="s", run_id="r_1"),
        functions=GlobalFunctions(FUNCTIONS, LIMITS.value),
        screen=screen,
    )

    async def talk() -> None:
        at = 0
        for cut in (*cuts, len(stream)):
            try:
                await loop.sock_sendall(theirs, stream[at : at + cut])
            except OSError:
                return
            at += cut
            await asyncio.sleep(0)
        if hang_up:
            theirs.close()
            child.end(Exit(code=0))

    talking = asyncio.create_task(talk())
    try:
        return await session.run(REQUEST)
    finally:
        channel.detach()
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)
        theirs.close()


def said(*frames: Any) -> bytes:
    return b"".join(frame(one) for one in frames)


FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(-2, 8) | st.just(True) | st.text(max_size=3),
        "name": st.sampled_from(["echo", "never", "boom", "", "a b", "x" * 300, "é"]) | st.integers(),
        "args": st.recursive(
            st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3)
        ),
        "line": st.integers(-1, 5),
        "text": st.text(max_size=60),
        "value": st.integers() | st.text(max_size=9) | st.lists(st.booleans(), max_size=3),
        "kind": st.sampled_from(["raised", "rejected", "memory", "unawaited", "value", "deadlock", "large", "timeout"]),
        "call": st.integers(-1, 9),
        "message": st.text(max_size=20),
        "trace": st.text(max_size=20),
        "fault": st.text(max_size=20),
        "function": st.integers(-1, 2),
        "tags": st.none()
        | st.dictionaries(
            st.sampled_from(["date", "bytes", "x"]),
            st.lists(st.lists(st.integers(0, 2), max_size=2), max_size=2),
            max_size=2,
        ),
        "variables": st.none() | st.integers() | st.dictionaries(st.text(max_size=3), st.integers(), max_size=3),
        "extra": st.none(),
    },
)
KINDS = st.sampled_from(["ready", "call", "global", "print", "done", "failed", "checked", "ok", "err", "run", ""])
TEMPLATES: dict[str, dict[str, Any]] = {
    "call": call(1),
    "global": function(1),
    "print": {"text": "x"},
    "done": {"value": 1},
    "failed": {"kind": "raised", "name": "E", "message": "m"},
}


@st.composite
def bodies(draw: st.DrawFn) -> Any:
    """A frame that is nearly right."""
    kind = draw(KINDS)
    return {**TEMPLATES.get(kind, {}), **draw(FIELDS), "t": kind}


HONEST = (
    st.integers(1, 8).map(call)
    | st.integers(1, 8).map(function)
    | st.just(DONE)
    | st.just({"t": "print", "text": "x" * 30})
)
FRAMES = st.lists(HONEST | bodies() | st.binary(max_size=30), max_size=8)


@pytest.mark.slow
@settings(max_examples=150)
@given(FRAMES, st.lists(st.integers(1, 80), max_size=4), st.booleans())
@example([call(1), call(1)], [], True)
@example([call(n) for n in range(1, 9)], [3], False)
@example([DONE, call(2)], [], False)
def test_any_frames_end_in_a_result_with_a_known_code(frames: list[Any], cuts: list[int], hang_up: bool) -> None:
    result = run(converse(said(READY, *frames), cuts=tuple(cuts), hang_up=hang_up))
    assert code(result) in RUN_CODES | {None}
    assert result.success is (result.error is None)
    # a call that broke the protocol is counted, not recorded
    assert result.stats.tool_call_count - len(result.calls) in (0, 1)
    assert result.stats.global_call_count <= len(frames)
    assert len(result.output.encode()) <= LIMITS.output
    assert sum(call.status in ("succeeded", "failed", "unknown") for call in result.calls) <= LIMITS.max_tool_calls


@pytest.mark.slow
@settings(max_examples=100)
@given(st.binary(max_size=200), st.lists(st.integers(1, 50), max_size=4))
def test_any_bytes_end_in_a_result_with_a_known_code(stream: bytes, cuts: list[int]) -> None:
    result = run(converse(said(READY) + stream, cuts=tuple(cuts)))
    assert code(result) in {"SANDBOX_CRASHED", "TIMEOUT"}
    assert result.calls == ()


def test_a_peer_that_says_nothing_is_ended_by_the_clock() -> None:
    assert code(run(converse(said(READY), hang_up=False))) == "TIMEOUT"


def test_a_peer_that_hangs_up_without_a_word_has_crashed() -> None:
    assert code(run(converse(said(READY)))) == "SANDBOX_CRASHED"


def test_an_honest_peer_gets_its_value_and_its_calls() -> None:
    result = run(converse(said(READY, call(1), call(2, "boom"), {"t": "print", "text": "hi"})))
    assert (code(result), result.output, len(result.calls)) == ("SANDBOX_CRASHED", "hi", 2)
    value = run(converse(said(READY, DONE)))
    assert (value.success, value.value, value.calls) == (True, 1, ())


def test_frames_before_ready_are_a_violation() -> None:
    assert code(run(converse(said(DONE)))) == "SANDBOX_CRASHED"


def test_a_peer_that_was_never_ready_is_no_jail() -> None:
    with pytest.raises(SandboxFault) as refused:
        run(converse(b""))
    assert refused.value.code == "sandbox_unavailable"


def test_calls_that_are_open_when_the_peer_hangs_up_are_unwound() -> None:
    result = run(converse(said(READY, call(1, "never"), call(2, "never"), call(3, "never"))))
    assert code(result) == "SANDBOX_CRASHED"
    assert outcomes(result) == [("never", "unknown", "interrupted")] * 2 + [("never", "refused", "interrupted")]


LIES: dict[str, list[dict[str, Any]]] = {
    "a function that does not exist": [function(1, 1)],
    "an id out of order": [function(2)],
    "an id used twice, by another kind": [call(1), function(1)],
    "no pair of arguments": [{**function(1), "args": {}}],
    "a tag without its text": [{**call(1), "tags": {"date": [["x"]]}}],
    "a text not of its kind": [{**call(1), "args": {"a": "x"}, "tags": {"date": [["a"]]}}],
    "no finite decimal": [{**call(1), "args": {"a": "NaN"}, "tags": {"decimal": [["a"]]}}],
    "a value not of its kind": [{**DONE, "tags": {"date": [[]]}}],
    "variables that nobody asked for": [{**DONE, "variables": {"n": 1}}],
    "a report that nobody asked for": [{"t": "checked", "findings": [], "reach": []}],
}


@pytest.mark.parametrize("lie", LIES)
def test_what_no_honest_guest_says_ends_the_run(lie: str) -> None:
    result = run(converse(said(READY, *LIES[lie]), hang_up=False))
    assert (code(result), detail(result)) == ("SANDBOX_CRASHED", "wire_violation")


@pytest.mark.parametrize(("make", "end"), [(call, "limit_exceeded"), (function, "global_limit")])
def test_a_flood_of_either_kind_ends_with_its_budget(make: Callable[[int], dict[str, Any]], end: str) -> None:
    frames = [make(number) for number in range(1, LIMITS.max_tool_calls + 1_000 + 2)]
    result = run(converse(said(READY, *frames), hang_up=False))
    assert (code(result), detail(result)) == (CODES[end].run_code, end)


@pytest.mark.parametrize(
    ("frames", "since"),
    [([call(1)], 1), ([function(1)], 1), ([call(1), call(2), call(3)], 3)],
    ids=["in a frame", "in a frame about a function", "when another call has ended"],
)
def test_a_host_that_fails_ends_the_run_at_once_and_logs_the_class_alone(
    frames: list[Any], since: int, caplog: pytest.LogCaptureFixture
) -> None:
    result = run(converse(said(READY, *frames), hang_up=False, screen=Broken(since)))
    assert (code(result), detail(result)) == ("SANDBOX_CRASHED", "sandbox_crashed")
    assert result.error is not None
    assert result.error.message == "the host failed while it served the script (LookupError)"
    assert [record.message for record in caplog.records] == ["run r_1 failed inside the host: LookupError"]


def test_a_value_of_many_tags_stays_within_the_budget() -> None:
    many = {**DONE, "value": [1], "tags": {"date": [[0]] * 400_000}}
    result = run(converse(said(READY, many)))
    assert (code(result), detail(result)) == ("SERIALIZATION_LIMIT_EXCEEDED", "result_too_large")
