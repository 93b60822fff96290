"""How a handler is asked, and how long its answer is waited for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from ringfence.contract.approvers import all_of, any_of, veto
from ringfence.errors import ConfigError
from ringfence.gate import attempt as attempt_module
from ringfence.gate.approval import Approver, Decision, approver
from ringfence.gate.attempt import Attempts, Stop
from ringfence.gate.decisions import Allowed, AllowedWith, AnsweredWith, Blocked, Panel
from ringfence.gate.handlers import Member
from ringfence.gate.signals import AbortSignal
from ringfence.gate.states import Aborted, Expired, Interrupted
from ringfence.ports import ApprovalInfo, ApprovalRequest, Approve, Combination, Edit, Reject, Respond
from tests.gate.kit import run
from tests.gate.questions import REQUEST, decided, never_awaited


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

    assert run(lambda: decided(handler)) == Allowed()
    assert seen == [{"cents": 5}, ApprovalInfo(tool="pay", session_id="s")]


def test_a_handler_of_one_gets_the_request() -> None:
    seen: list[ApprovalRequest] = []

    async def handler(request: ApprovalRequest) -> bool:
        seen.append(request)
        return True

    assert run(lambda: decided(handler)) == Allowed()
    assert seen == [REQUEST]


class Desk:
    """A handler with a `self`."""

    def one(self, request: ApprovalRequest) -> bool:
        return True


def keyword(request: ApprovalRequest, *, strict: bool = False) -> bool:
    return True


def test_what_cannot_be_called_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError, match="approve must be callable, not str"):
        approver("human", "approve")


def test_a_combination_is_a_tree_of_numbered_handlers_each_asked_in_its_own_form() -> None:
    def pair(given: Any, info: ApprovalInfo) -> bool:
        return True

    desk = Desk()
    combined = any_of(keyword, all_of(pair, desk.one, any_of(keyword)), desk.one)
    assert approver(combined, "approve") == Approver(
        (Member(keyword, "request"), Member(pair, "pair"), Member(desk.one, "request")),
        Panel("any_of", (0, Panel("all_of", (1, 2, 0)), 2)),
    )


class Alike:
    """A handler that says it equals every other of its kind."""

    def __call__(self, request: ApprovalRequest) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Alike)

    __hash__ = None  # type: ignore[assignment]


def test_handlers_are_the_same_by_identity() -> None:
    desk = Desk()
    assert len(approver(any_of(Alike(), Alike()), "approve").members) == 2
    assert len(approver(any_of(desk.one, Desk().one, desk.one), "approve").members) == 2


def test_a_member_that_cannot_be_called_so_is_named_by_its_place() -> None:
    def wrong() -> bool:
        return True

    message = "approve: any_of handler 1: veto handler 0 must take"
    with pytest.raises(ConfigError, match=message):
        approver(any_of(keyword, veto(wrong, keyword)), "approve")


def test_a_combination_of_nobody_never_decides_so_it_is_refused() -> None:
    with pytest.raises(ConfigError, match="approve: all_of needs at least one approval handler"):
        approver(Combination("all_of", ()), "approve")


def test_a_synchronous_handler_does_not_block_the_loop() -> None:
    async def body() -> None:
        answer = threading.Event()

        def handler(request: ApprovalRequest) -> bool:
            return answer.wait()

        asyncio.get_running_loop().call_soon(answer.set)
        assert await decided(handler) == Allowed()

    run(body)


# --- what an answer means ---


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        (True, Allowed()),
        (Approve(), Allowed()),
        (False, Blocked("denied")),
        (Reject("too much"), Blocked("denied", "too much")),
        (Edit({"cents": 4}), AllowedWith(b'{"cents":4}')),
        (Respond([1]), AnsweredWith([1])),
    ],
)
def test_a_decision_means_the_same_from_every_form_of_handler(answer: Any, decision: Decision) -> None:
    for handler in answering(answer):
        for who in (handler, any_of(handler), all_of(handler, handler), veto(handler, answering(answer)[0])):
            assert run(lambda who=who: decided(who)) == decision


@pytest.mark.parametrize(
    "answer",
    [None, 1, 0, "yes", "denied", "", {"approved": True}, [], object(), 1.0],
    ids=lambda value: repr(value)[:9],
)
def test_no_other_value_approves_whatever_its_truth(answer: Any) -> None:
    for handler in answering(answer):
        assert run(lambda handler=handler: decided(handler)) == Blocked("not_a_bool")


@pytest.mark.parametrize("answer", [never_awaited, lambda: Edit(cast("Any", never_awaited()))])
def test_a_forgotten_await_inside_a_handler_neither_approves_nor_warns(answer: Callable[[], Any]) -> None:
    async def handler(request: ApprovalRequest) -> Any:
        return answer()

    async def other(request: ApprovalRequest) -> Any:
        return answer()

    assert run(lambda: decided(handler)) == Blocked("not_a_bool")
    assert run(lambda: decided(any_of(handler, other))) == Blocked("not_a_bool")


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

    assert run(lambda: decided(fail_later if is_async else fail)) == Blocked("handler_failed")
    assert "of pay raised" in caplog.text
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

    assert run(lambda: decided(handler, signal=AbortSignal())) == Allowed()


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
