"""Who may decide about a call, what counts as a decision, and how long it may take."""

from __future__ import annotations

import asyncio
import logging
import threading
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.kit import (
    APPROVED,
    DENIED,
    GRANTED,
    REFUSED,
    Book,
    Heard,
    Payment,
    Slow,
    call,
    door,
    each_place,
    ending,
    fails,
    fails_later,
    judged,
    never,
    no,
    pay,
    run,
)
from tests.requirements import requirement

# --- callbacks ---


@requirement("AC26", "seed.callback", "D7")
@each_place
@pytest.mark.parametrize("is_async", [False, True])
def test_a_callback_gets_the_validated_input_and_exactly_tool_and_session(place: str, is_async: bool) -> None:
    seen: list[Any] = []

    def plain(given: Payment, info: rf.ApprovalInfo) -> bool:
        seen.append((given, info))
        return True

    async def waiting(given: Payment, info: rf.ApprovalInfo) -> bool:
        await asyncio.sleep(0)
        return plain(given, info)

    outcome, heard = call(pay(Book(), approval=waiting if is_async else plain), place=place)
    assert (outcome.unwrap(), heard.all_types) == ("paid 5 to ada", APPROVED)
    assert seen == [(Payment(amount=5), rf.ApprovalInfo(tool="pay", session_id="session"))]


@requirement("AC25", "seed.callback", "seed.final", "B32")
@each_place
def test_a_callback_that_says_no_ends_the_call(place: str) -> None:
    book = Book()
    asked: list[int] = []

    def policy(given: Payment, info: rf.ApprovalInfo) -> bool:
        asked.append(given.amount)
        return False

    outcome, heard = call(pay(book, approval=policy, retries=3), place=place)
    assert (ending(outcome), heard.types, heard.all_types) == (REFUSED[0], ["approval.required"], DENIED)
    assert (asked, book.paid) == ([5], [])
    with pytest.raises(rf.ToolApprovalError) as caught:
        outcome.unwrap()
    assert caught.value.code == "approval_denied"


@requirement("B1", "B2")
def test_a_policy_judges_what_runs_defaults_included() -> None:
    def small(request: rf.ApprovalRequest) -> bool:
        return request.arguments["amount"] <= 100

    @rf.tool(approval=small)
    async def wire(amount: int = 500) -> str:
        """Send money."""
        return f"sent {amount}"

    assert [ending(call(wire, args=args)[0]) for args in ({}, {"amount": 500})] == [REFUSED[0]] * 2
    assert call(wire, args={"amount": 5})[0].unwrap() == "sent 5"
    for args in ("", None, [], [None], b""):
        assert ending(call(wire, args=args if args is not None else [None])[0])[:2] == ("refused", "invalid_input")


@requirement("D7", "W7")
def test_a_callback_may_take_one_request() -> None:
    def policy(request: rf.ApprovalRequest) -> bool:
        return request.arguments == {"amount": 5, "to": "ada"} and request.input == Payment(amount=5)

    assert call(pay(Book(), approval=policy))[0].unwrap() == "paid 5 to ada"


class Truthy:
    def __bool__(self) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


async def approves() -> bool:
    return True


def forgotten(*_: object) -> Any:
    async def inner() -> Any:
        return approves()

    return inner()


@requirement("AC29", "W6", "D7")
@pytest.mark.parametrize("who", ["callback", "human"])
@pytest.mark.parametrize(
    "answer",
    ["denied", {"approved": False}, {"approved": True}, 1, 1.0, [True], Truthy(), None, object(), rf.Approve, "True"],
)
def test_nothing_but_true_or_a_decision_approves(who: str, answer: Any) -> None:
    book = Book()

    def handler(given: object, info: object) -> Any:
        return answer

    options: dict[str, Any] = {"approve": handler} if who == "human" else {}
    outcome, heard = call(pay(book, approval="human" if who == "human" else handler), **options)
    assert (ending(outcome), heard.all_types, book.paid) == REFUSED


@requirement("AC29", "W6")
@pytest.mark.parametrize("who", ["callback", "human"])
def test_an_awaitable_that_nobody_awaited_does_not_approve(who: str) -> None:
    book = Book()
    options: dict[str, Any] = {"approve": forgotten} if who == "human" else {}
    outcome, _ = call(pay(book, approval="human" if who == "human" else forgotten), **options)
    assert (ending(outcome), book.paid) == (REFUSED[0], [])


@requirement("AC31", "W6", "W11")
@each_place
@pytest.mark.parametrize("handler", [fails, fails_later])
@pytest.mark.parametrize("who", ["callback", "human"])
def test_a_handler_that_raises_denies_and_its_exception_stays_inside(place: str, handler: Any, who: str) -> None:
    book = Book()
    options: dict[str, Any] = {"approve": handler} if who == "human" else {}
    outcome, heard = call(pay(book, approval="human" if who == "human" else handler), place=place, **options)
    assert (ending(outcome), heard.all_types, book.paid) == REFUSED
    with pytest.raises(rf.ToolApprovalError) as caught:
        outcome.unwrap()
    assert "down" not in str(caught.value)


# --- people ---


@requirement("seed.human", "D7")
def test_nobody_there_to_approve_denies_at_once_and_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    assert judged(None) == REFUSED
    assert [(record.levelno, "pay" in record.getMessage()) for record in caplog.records] == [(logging.WARNING, True)]


@requirement("seed.human", "AC17")
def test_only_the_privileged_handler_sees_the_arguments() -> None:
    requests: list[rf.ApprovalRequest] = []

    def approve(request: rf.ApprovalRequest) -> bool:
        requests.append(request)
        return True

    outcome, heard = call(pay(Book(), approval="human"), approve=approve)
    assert outcome.status == "succeeded"
    (request,) = requests
    assert (request.tool, request.session_id, request.call_id) == ("pay", "session", outcome.call_id)
    assert (request.input, request.arguments) == (Payment(amount=5), {"amount": 5, "to": "ada"})
    assert not any("ada" in repr(event) for event in heard.events)


# --- time ---


@requirement("AC33", "W9")
@each_place
def test_a_question_that_nobody_answers_expires_and_the_session_goes_on(place: str) -> None:
    async def body() -> None:
        book = Book()
        tools = [pay(book, approval="human"), pay(book, "free")]
        async with door(*tools, place=place, approve=never, approval_timeout=0.01) as boundary:
            heard = Heard(boundary)
            outcome = await boundary.call("pay", {"amount": 5}, session_id="session")
            assert (ending(outcome), heard.all_types) == (("refused", "approval_expired", 0), DENIED)
            with pytest.raises(rf.ToolApprovalError):
                outcome.unwrap()
            assert (await boundary.call("free", {"amount": 6}, session_id="session")).unwrap() == "paid 6 to ada"
            assert book.paid == [(6, "ada")]

    run(body)


@requirement("W10")
def test_a_waiting_question_blocks_no_other_call_of_its_session() -> None:
    async def body() -> None:
        answer = asyncio.Event()

        async def approve(request: rf.ApprovalRequest) -> bool:
            await answer.wait()
            return True

        @rf.tool
        async def say(text: str) -> str:
            """What somebody types into the same conversation."""
            answer.set()
            return text

        async with door(pay(Book(), approval="human"), say, approve=approve) as boundary:
            waiting = asyncio.create_task(boundary.call("pay", {"amount": 5}, session_id="session"))
            await asyncio.sleep(0)
            assert (await boundary.call("say", {"text": "yes"}, session_id="session")).unwrap() == "yes"
            assert (await waiting).unwrap() == "paid 5 to ada"

    run(body)


@requirement("AC41", "D7")
@each_place
def test_the_time_that_a_person_takes_is_not_the_tools(place: str) -> None:
    async def slowly(request: rf.ApprovalRequest) -> bool:
        await asyncio.sleep(0.1)
        return True

    outcome, heard = call(pay(Book(), approval="human", timeout=0.05, total_timeout=0.05), place=place, approve=slowly)
    assert (ending(outcome), heard.all_types) == (GRANTED[0], APPROVED)


@requirement("W9", "W17")
def test_a_caller_who_aborts_withdraws_the_question() -> None:
    async def body() -> None:
        slow, book, signal = Slow(), Book(), rf.AbortSignal()
        async with door(pay(book, approval="human"), approve=slow) as boundary:
            heard = Heard(boundary)
            waiting = asyncio.create_task(boundary.call("pay", {"amount": 5}, signal=signal))
            await slow.asked.wait()
            signal.abort()
            assert (ending(await waiting), heard.all_types) == (("refused", "aborted", 0), DENIED)
            assert (slow.cancelled, book.paid) == (True, [])

    run(body)


@requirement("W9", "B29", "W25")
def test_closing_ends_a_question_and_a_grant_that_comes_then_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        book, asked, release = Book(), asyncio.Event(), threading.Event()
        loop = asyncio.get_running_loop()

        def approve(request: rf.ApprovalRequest) -> bool:
            loop.call_soon_threadsafe(asked.set)
            release.wait(5)
            return True

        boundary = door(pay(book, approval="human"), approve=approve)
        waiting = asyncio.create_task(boundary.call("pay", {"amount": 5}))
        await asked.wait()
        await boundary.gate.aclose(drain=0.01)
        release.set()
        outcome = await waiting
        assert (outcome.status, outcome.attempts, book.paid) == ("refused", 0, [])
        with pytest.raises(rf.ConfigError) as caught:
            await boundary.call("pay", {"amount": 5})
        assert caught.value.code == "not_running"

    run(body)


# --- what a grant is for ---


@requirement("B22", "B23")
def test_a_grant_is_for_one_call_of_one_tool_with_the_arguments_shown() -> None:
    async def body() -> None:
        book, shown = Book(), list[tuple[str, dict[str, Any]]]()

        def approve(request: rf.ApprovalRequest) -> bool:
            shown.append((request.tool, dict(request.arguments)))
            return shown[-1] == ("shop_pay", {"amount": 5, "to": "ada"})

        tools = rf.Toolset([pay(book, approval="human")])
        both = rf.Toolset([tools.prefixed("shop"), tools.prefixed("bank")])
        async with rf.Boundary(tools=both, sandbox=rf.local(unsafe=True), approve=approve) as boundary:
            assert (await boundary.call("shop_pay", {"amount": 5}, session_id="s")).status == "succeeded"
            for name, args in (
                ("shop_pay", {"amount": 5, "to": "bob"}),
                ("shop_pay", {"amount": 6}),
                ("bank_pay", {"amount": 5}),
            ):
                assert ending(await boundary.call(name, args, session_id="s")) == REFUSED[0]
            assert (await boundary.call("shop_pay", {"amount": 5}, session_id="s")).status == "succeeded"
        assert (len(shown), book.paid) == (5, [(5, "ada")] * 2)

    run(body)


@requirement("B32")
@pytest.mark.slow
def test_a_denied_call_of_a_script_has_one_end_with_a_code() -> None:
    async def body() -> None:
        async with door(pay(Book(), approval="human"), approve=no) as boundary:
            heard = Heard(boundary)
            source = "try:\n    await call_tool('pay', {'amount': 5})\nexcept Exception: pass\nreturn 'fine'"
            result = await boundary.run_script(source)
            assert result.error is not None
            assert (result.error.code, result.error.line, result.value) == ("APPROVAL_DENIED", 2, None)
            ends = [(it.name, it.status, it.code) for it in result.calls]
            assert ends == [("pay", "refused", "approval_denied")]
            assert heard.all_types == DENIED

    run(body, seconds=20)
