"""Only the value True approves; everything else denies, and says which it was."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable
from typing import Any
from unittest.mock import AsyncMock, Mock

import pytest

from ringfence.errors import ConfigError
from ringfence.gate import attempt as attempt_module
from ringfence.gate.approval import Decision, approver, decide
from ringfence.gate.attempt import Attempts, Stop
from ringfence.gate.signals import AbortSignal
from ringfence.gate.states import Aborted, Denied, Expired, Granted, Interrupted
from ringfence.ports import ApprovalInfo, ApprovalRequest, Signal
from ringfence.threads import DaemonThreads
from tests.gate.kit import run

REQUEST = ApprovalRequest(
    tool="pay",
    description="Pay.",
    input={"cents": 5},
    arguments={"cents": 5},
    digest="sha256:0",
    session_id="s",
    principal="ada",
    call_id="c",
    run_id=None,
    line=None,
    effect="write",
)


async def decided(
    handler: Any,
    *,
    timeout: float | None = None,
    signal: Signal | None = None,
    attempts: Attempts | None = None,
) -> Decision:
    return await decide(
        approver(handler, "approve"),
        REQUEST,
        threads=DaemonThreads("test"),
        attempts=attempts or Attempts(),
        timeout=timeout,
        signal=signal,
    )


def answering(value: Any) -> list[Callable[..., Any]]:
    """The same answer from every form of handler."""

    async def request_async(request: ApprovalRequest) -> Any:
        await asyncio.sleep(0)
        return value

    async def pair_async(given: Any, info: ApprovalInfo) -> Any:
        return value

    def promising(request: ApprovalRequest) -> Awaitable[Any]:
        return request_async(request)

    def request_sync(request: ApprovalRequest) -> Any:
        return value

    def pair_sync(given: Any, info: ApprovalInfo) -> Any:
        return value

    return [request_sync, pair_sync, request_async, pair_async, promising]


# --- how a handler is called ---


def test_a_handler_of_two_gets_the_input_and_exactly_tool_and_session() -> None:
    seen: list[Any] = []

    def handler(given: Any, info: ApprovalInfo) -> bool:
        seen.extend((given, info))
        return True

    assert run(lambda: decided(handler)) == Granted()
    assert seen == [{"cents": 5}, ApprovalInfo(tool="pay", session_id="s")]


def test_a_handler_of_one_gets_the_request() -> None:
    seen: list[ApprovalRequest] = []

    async def handler(request: ApprovalRequest) -> bool:
        seen.append(request)
        return True

    assert run(lambda: decided(handler)) == Granted()
    assert seen == [REQUEST]


class Desk:
    """Handlers with a `self`."""

    def one(self, request: ApprovalRequest) -> bool:
        return True

    def two(self, given: Any, info: ApprovalInfo) -> bool:
        return True

    async def __call__(self, request: ApprovalRequest) -> bool:
        return True


def keyword(request: ApprovalRequest, *, strict: bool = False) -> bool:
    return True


def bound(desk: str, request: ApprovalRequest) -> bool:
    return True


def optional(given: Any, info: ApprovalInfo | None = None) -> bool:
    return True


@pytest.mark.parametrize(
    ("handler", "form"),
    [
        (Desk().one, "request"),
        (Desk(), "request"),
        (keyword, "request"),
        (functools.partial(bound, "front"), "request"),
        (bool, "request"),
        (Desk().two, "pair"),
        (bound, "pair"),
        (optional, "pair"),
        (lambda *args: True, "pair"),  # type: ignore[misc]
        (Mock(), "pair"),
        (AsyncMock(), "pair"),
    ],
)
def test_the_signature_says_which_form_a_handler_wants(handler: Any, form: str) -> None:
    assert approver(handler, "approve").form == form


@pytest.mark.parametrize(
    "handler",
    [lambda: True, lambda a, b, c: True, lambda *, request: True, lambda request, *, desk: True],  # type: ignore[misc]
)
def test_other_signatures_are_a_configuration_error(handler: Any) -> None:
    with pytest.raises(ConfigError, match=r"approve must take \(input, info\) or one request") as caught:
        approver(handler, "approve")
    assert caught.value.code == "bad_config"


def test_what_cannot_be_called_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="approve must be callable, not str"):
        approver("human", "approve")


def test_a_synchronous_handler_does_not_block_the_loop() -> None:
    async def body() -> None:
        answer = threading.Event()

        def handler(request: ApprovalRequest) -> bool:
            return answer.wait()

        asyncio.get_running_loop().call_soon(answer.set)
        assert await decided(handler) == Granted()

    run(body)


# --- what an answer means ---


@pytest.mark.parametrize("handler", answering(True))
def test_true_approves(handler: Any) -> None:
    assert run(lambda: decided(handler)) == Granted()


@pytest.mark.parametrize("handler", answering(False))
def test_false_denies(handler: Any) -> None:
    assert run(lambda: decided(handler)) == Denied("denied")


@pytest.mark.parametrize(
    "answer",
    [None, 1, 0, "yes", "denied", "", {"approved": True}, [], object(), 1.0],
    ids=lambda value: repr(value)[:9],
)
def test_no_other_value_approves_whatever_its_truth(answer: Any) -> None:
    for handler in answering(answer):
        assert run(lambda handler=handler: decided(handler)) == Denied("not_a_bool")


def test_a_forgotten_await_inside_a_handler_does_not_approve() -> None:
    async def handler(request: ApprovalRequest) -> Any:
        async def really() -> bool:
            return True

        return really()

    assert run(lambda: decided(handler)) == Denied("not_a_bool")


@pytest.mark.parametrize("error", [ValueError("secret"), SystemExit(0), asyncio.CancelledError(), StopIteration()])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_failing_handler_denies_and_its_text_stays_out_of_the_log(
    error: BaseException, is_async: bool, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(request: ApprovalRequest) -> bool:
        raise error

    async def fail_later(request: ApprovalRequest) -> bool:
        await asyncio.sleep(0)
        raise error

    assert run(lambda: decided(fail_later if is_async else fail)) == Denied("handler_failed")
    assert "the approval handler of pay raised" in caplog.text
    assert "secret" not in caplog.text


def test_a_request_to_end_the_process_goes_through() -> None:
    async def handler(request: ApprovalRequest) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(decided(handler))


# --- waiting ---


async def silent(request: ApprovalRequest) -> bool:
    await asyncio.Event().wait()
    return True


def test_silence_expires() -> None:
    assert run(lambda: decided(silent, timeout=0.001)) == Expired()


def test_a_silent_thread_expires_and_cannot_approve_any_more() -> None:
    release = threading.Event()

    def handler(request: ApprovalRequest) -> bool:
        release.wait()
        return True

    try:
        assert run(lambda: decided(handler, timeout=0.001)) == Expired()
    finally:
        release.set()


def test_a_handler_that_swallows_its_expiry_cannot_approve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempt_module, "STOPPED_GRACE", 0.01)

    async def body() -> None:
        release, attempts = asyncio.Event(), Attempts()

        async def handler(request: ApprovalRequest) -> bool:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            return True

        assert await decided(handler, timeout=0.001, attempts=attempts) == Expired()
        release.set()
        await asyncio.wait(tuple(attempts.abandoned))

    run(body)


def test_the_callers_abort_withdraws_the_question() -> None:
    async def body() -> None:
        signal = AbortSignal()
        asking = asyncio.create_task(decided(silent, signal=signal))
        await asyncio.sleep(0)
        signal.abort()
        assert await asking == Aborted()

    run(body)


def test_a_signal_that_is_aborted_already_asks_nobody() -> None:
    signal, asked = AbortSignal(), list[object]()
    signal.abort()

    async def approve(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    assert (run(lambda: decided(approve, signal=signal)), asked) == (Aborted(), [])


def test_an_answer_ends_the_watch_on_the_callers_signal() -> None:
    async def handler(request: ApprovalRequest) -> bool:
        await asyncio.sleep(0.001)
        return True

    assert run(lambda: decided(handler, signal=AbortSignal())) == Granted()


def test_the_closing_gate_withdraws_the_question() -> None:
    async def body() -> None:
        attempts = Attempts()
        asking = asyncio.create_task(decided(silent, attempts=attempts))
        await asyncio.sleep(0)
        attempts.stop_all(Stop.CLOSING)
        assert await asking == Interrupted()

    run(body)


def test_the_hosts_cancellation_cancels_the_handler_and_goes_on() -> None:
    async def body() -> None:
        ended: list[str] = []

        async def handler(request: ApprovalRequest) -> bool:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")
            return True

        asking = asyncio.create_task(decided(handler))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert ended == ["cancelled"]

    run(body)
