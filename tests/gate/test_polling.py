"""Several handlers are asked at once, and the rest are let go as soon as the decision is known."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from ringfence.contract.approvers import all_of, any_of, veto
from ringfence.gate import approval, polling
from ringfence.gate import attempt as attempt_module
from ringfence.gate.approval import Decision
from ringfence.gate.attempt import Attempts, Stop
from ringfence.gate.decisions import Allowed, AllowedWith, Blocked
from ringfence.gate.signals import AbortSignal
from ringfence.gate.states import Aborted, Expired, Interrupted
from ringfence.ports import ApprovalInfo, ApprovalRequest, Combination, Edit, Reject
from ringfence.threads import DaemonThreads
from tests.gate.kit import run, yes
from tests.gate.questions import REQUEST, decided, never_awaited


async def until(condition: Callable[[], bool]) -> None:
    """Turns of the loop until it holds; the test's own bound ends it otherwise."""
    while not condition():  # noqa: ASYNC110  (what is waited for has no event of its own)
        await asyncio.sleep(0)


def never(started: list[str], ended: list[str], name: str = "never") -> Callable[..., Any]:
    """Does not answer, and stops when it is told to."""

    async def handler(request: ApprovalRequest) -> bool:
        started.append(name)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)
        return True

    return handler


def saying(answer: Any) -> Callable[..., Any]:
    async def handler(request: ApprovalRequest) -> Any:
        await asyncio.sleep(0)
        return answer

    return handler


def raising(request: ApprovalRequest) -> bool:
    raise ValueError("secret")


async def raising_later(request: ApprovalRequest) -> bool:
    await asyncio.sleep(0)
    raise ValueError("secret")


def test_the_same_handler_is_asked_once() -> None:
    asked: list[ApprovalRequest] = []

    async def handler(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    assert run(lambda: decided(all_of(handler, handler, any_of(handler, yes)))) == Allowed()
    assert asked == [REQUEST]


def test_all_are_asked_at_once_whether_or_not_they_block() -> None:
    gathering = threading.Barrier(3, timeout=5)

    def blocking(request: ApprovalRequest) -> bool:
        return gathering.wait() >= 0

    def blocking_too(request: ApprovalRequest) -> bool:
        return gathering.wait() >= 0

    async def waiting(request: ApprovalRequest) -> bool:
        return await asyncio.to_thread(gathering.wait) >= 0

    assert run(lambda: decided(all_of(blocking, waiting, blocking_too))) == Allowed()


def test_every_handler_has_its_own_copy() -> None:
    given: list[Any] = []

    async def tampering(request: ApprovalRequest) -> bool:
        request.input["cents"] = 1_000
        cast("dict[str, Any]", request.arguments)["cents"] = 1_000
        given.append(request.input)
        return True

    async def tampering_too(value: Any, info: ApprovalInfo) -> bool:
        given.append(dict(value))
        value["cents"] = 2_000
        return True

    async def looking(request: ApprovalRequest) -> bool:
        await asyncio.sleep(0)
        given.extend((request.input, dict(request.arguments)))
        return True

    async def body() -> None:
        request = dataclasses.replace(REQUEST, input={"cents": 5}, arguments={"cents": 5})
        assert await decided(all_of(tampering, tampering_too, looking), request=request) == Allowed()

    run(body)
    assert given == [{"cents": 1_000}, {"cents": 5}, {"cents": 5}, {"cents": 5}]


@pytest.mark.parametrize(
    ("combined", "decision"),
    [
        (any_of(raising, saying(True)), Allowed()),
        (any_of(raising_later, saying(True)), Allowed()),
        (any_of(raising, raising_later), Blocked("handler_failed")),
        (any_of(raising_later, saying(Reject("no"))), Blocked("denied", "no")),
        (all_of(saying(True), raising), Blocked("handler_failed")),
        (all_of(raising_later, yes), Blocked("handler_failed")),
        (veto(yes, saying("yes")), Blocked("not_a_bool")),
        (all_of(saying(Edit({"cents": 4})), saying(Edit({"cents": 4}))), AllowedWith(b'{"cents":4}')),
        (all_of(saying(Edit({"cents": 4})), saying(True)), Blocked("disagreed")),
        (veto(saying(Edit({"cents": 4})), saying(True)), AllowedWith(b'{"cents":4}')),
    ],
)
def test_a_member_that_raises_at_once_or_later_has_not_decided(combined: Combination, decision: Decision) -> None:
    assert run(lambda: decided(combined)) == decision


@pytest.mark.parametrize(
    ("rule", "answer", "decision"),
    [(any_of, True, Allowed()), (all_of, False, Blocked("denied")), (veto, Reject("no"), Blocked("denied", "no"))],
)
def test_the_rest_are_cancelled_when_the_decision_is_known(
    rule: Callable[..., Combination], answer: Any, decision: Decision
) -> None:
    started, ended = list[str](), list[str]()
    members = [never(started, ended, "a"), saying(answer), never(started, ended, "b")]
    assert run(lambda: decided(rule(*members))) == decision
    assert (sorted(started), sorted(ended)) == (["a", "b"], ["a", "b"])


def test_a_late_answer_changes_nothing_and_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        release, threads = threading.Event(), DaemonThreads("test")

        async def unmoved(request: ApprovalRequest) -> Any:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return never_awaited()

        async def failing(request: ApprovalRequest) -> Any:
            try:
                await asyncio.Event().wait()
            finally:
                raise ValueError("secret")

        def blocking(request: ApprovalRequest) -> Any:
            return release.wait(5)

        try:
            decision = await decided(any_of(unmoved, failing, blocking, saying(True)), threads=threads)
            assert (decision, threads.statistics().abandoned) == (Allowed(), 1)
        finally:
            release.set()

    run(body)
    assert caplog.text == ""


def test_who_does_not_stop_holds_no_decision_up_and_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "STOPPED_GRACE", 0.01)
    monkeypatch.setattr(approval, "SETTLING", 0.001)

    async def body() -> None:
        release, attempts, told = asyncio.Event(), Attempts(), list[int]()

        async def stubborn(request: ApprovalRequest) -> bool:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    told.append(1)
            return False

        assert await decided(any_of(stubborn, saying(True)), attempts=attempts) == Allowed()
        assert (len(told), attempts.abandoned_total) == (1, 0)
        await until(lambda: len(attempts.abandoned) > 0)
        assert (len(told), attempts.abandoned_total) == (2, 1)
        release.set()
        await asyncio.wait(tuple(attempts.abandoned))

    run(body)


def test_a_handler_may_take_its_time_to_unwind_after_the_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval, "SETTLING", 0.001)

    async def body() -> None:
        go_on, attempts, ended = asyncio.Event(), Attempts(), asyncio.Event()

        async def tidy(request: ApprovalRequest) -> bool:
            try:
                await asyncio.Event().wait()
            finally:
                await go_on.wait()
                ended.set()
            return True

        assert await decided(any_of(tidy, saying(True)), attempts=attempts) == Allowed()
        go_on.set()
        await ended.wait()
        await asyncio.sleep(0)
        assert attempts.abandoned_total == 0

    run(body)


@pytest.mark.parametrize("rule", [any_of, all_of, veto])
def test_a_question_to_several_expires_is_withdrawn_and_is_interrupted_as_one(
    rule: Callable[..., Combination],
) -> None:
    async def body() -> None:
        started, ended = list[str](), list[str]()
        answer = saying(rule is not any_of)
        panel = rule(never(started, ended, "a"), answer, never(started, ended, "b"))
        signal, attempts = AbortSignal(), Attempts()

        assert await decided(panel, timeout=0.001) == Expired()

        aborted = asyncio.create_task(decided(panel, signal=signal))
        await until(lambda: len(started) == 4)
        signal.abort()
        assert await aborted == Aborted()

        closing = asyncio.create_task(decided(panel, attempts=attempts))
        await until(lambda: len(started) == 6)
        attempts.stop_all(Stop.CLOSING)
        assert await closing == Interrupted()

        cancelled = asyncio.create_task(decided(panel))
        await until(lambda: len(started) == 8)
        cancelled.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        assert sorted(ended) == ["a"] * 4 + ["b"] * 4

    run(body)


def test_a_cancellation_that_comes_with_the_decision_releases_the_rest() -> None:
    async def body() -> None:
        started, ended = list[str](), list[str]()

        async def deciding(request: ApprovalRequest) -> bool:
            asyncio.get_running_loop().call_soon(asking.cancel)  # seen after the answer, and before it is handed on
            return True

        asking = asyncio.create_task(decided(any_of(never(started, ended), deciding)))
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: len(ended) > 0)
        assert (started, ended) == (["never"], ["never"])

    run(body)


def test_members_that_ignore_the_hosts_cancellation_do_not_hold_it_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polling, "STOPPED_GRACE", 0.01)
    monkeypatch.setattr(attempt_module, "CANCELLED_GRACE", 0.5)

    async def body() -> None:
        release, attempts, asked = asyncio.Event(), Attempts(), asyncio.Event()

        async def stubborn(request: ApprovalRequest) -> bool:
            asked.set()
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            return True

        asking = asyncio.create_task(decided(any_of(stubborn, saying(False)), attempts=attempts))
        await asked.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await until(lambda: len(attempts.abandoned) > 0)
        release.set()
        await asyncio.wait(tuple(attempts.abandoned))
        assert (attempts.abandoned_total, attempts.waiting) == (1, set())

    run(body)


def test_a_timeout_inside_one_handler_is_its_own_affair() -> None:
    async def impatient(request: ApprovalRequest) -> bool:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()
        return True

    async def recovering(request: ApprovalRequest) -> bool:
        try:
            return await impatient(request)
        except TimeoutError:
            return True

    assert run(lambda: decided(all_of(impatient, yes))) == Blocked("handler_failed")
    assert run(lambda: decided(all_of(recovering, yes))) == Allowed()


@pytest.mark.parametrize("is_async", [True, False])
def test_a_request_to_end_the_process_goes_through_a_combination(is_async: bool) -> None:
    async def ending(request: ApprovalRequest) -> bool:
        raise KeyboardInterrupt

    def ending_in_a_thread(request: ApprovalRequest) -> bool:
        raise KeyboardInterrupt

    started, ended = list[str](), list[str]()
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(decided(any_of(never(started, ended), ending if is_async else ending_in_a_thread)))
    assert ended == ["never"]


def test_a_request_that_cannot_be_copied_for_a_second_handler_is_shown_to_nobody() -> None:
    class Single:
        """Refuses to be copied."""

        def __deepcopy__(self, memo: Any) -> Any:
            raise RuntimeError("secret")

    asked: list[Any] = []

    async def asking(request: ApprovalRequest) -> bool:
        asked.append(request)
        return True

    request = dataclasses.replace(REQUEST, input=Single())
    assert run(lambda: decided(any_of(asking, yes), request=request)) == Blocked("handler_failed")
    assert asked == []


def test_a_closed_call_cancels_its_handlers() -> None:
    async def body() -> None:
        started, ended = list[str](), list[str]()
        asking = decided(any_of(never(started, ended, "a"), never(started, ended, "b")))
        waits_for = asking.send(None)
        await until(lambda: len(started) == 2)
        assert waits_for is not None
        asking.close()
        await until(lambda: len(ended) == 2)

    run(body)
