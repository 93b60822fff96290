"""What several handlers decide together, and decisions that say more than yes or no."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.kit import (
    APPROVED,
    GRANTED,
    REFUSED,
    Book,
    Heard,
    Slow,
    call,
    door,
    ending,
    fails,
    fails_later,
    judged,
    later,
    no,
    pay,
    run,
    yes,
)
from tests.requirements import requirement

# --- several ---


@requirement("AC27", "W7", "D7")
@pytest.mark.parametrize("order", [1, -1])
def test_of_several_handlers_one_approval_is_enough(order: int) -> None:
    assert judged(rf.any_of(*[no, yes][::order])) == GRANTED
    assert judged(rf.any_of(no, no)) == REFUSED


@requirement("AC27", "D7")
@pytest.mark.parametrize("kind", [list[Any], tuple[Any, ...]])
@pytest.mark.parametrize("order", [1, -1])
def test_handlers_given_as_a_list_approve_if_any_does(kind: Callable[[Any], Any], order: int) -> None:
    assert judged(kind([later(False), later(True)][::order])) == GRANTED
    assert judged(kind([later(False), later(None)][::order])) == REFUSED


@requirement("AC30", "AC31", "W11")
@pytest.mark.parametrize("broken", [fails, fails_later, later("yes"), later(None)])
@pytest.mark.parametrize("order", [1, -1])
def test_a_handler_that_fails_has_not_decided_and_stops_no_other(broken: Any, order: int) -> None:
    assert judged(rf.any_of(*[broken, later(True)][::order])) == GRANTED
    assert judged(rf.any_of(*[broken, later(False)][::order])) == REFUSED
    assert judged(rf.any_of(broken, broken)) == REFUSED


Rule = Callable[..., Any]


@requirement("W7", "D7")
@pytest.mark.parametrize(
    ("rule", "answers", "granted"),
    [
        (rf.all_of, (True, True), True),
        (rf.all_of, (True, False), False),
        (rf.all_of, (True, None), False),
        (rf.all_of, (True,), True),
        (rf.veto, (True, False), False),
        (rf.veto, (False, True), False),
        (rf.veto, (True, True), True),
        (rf.veto, (True, None), False),
        (rf.any_of, (None, None), False),
    ],
)
@pytest.mark.parametrize("who", ["callback", "human"])
def test_a_rule_with_a_name_combines_handlers(rule: Rule, answers: tuple[Any, ...], granted: bool, who: str) -> None:
    book = Book()
    handlers = rule(*(later(answer) for answer in answers))
    options: dict[str, Any] = {"approve": handlers} if who == "human" else {}
    outcome, heard = call(pay(book, approval="human" if who == "human" else handlers), **options)
    assert (ending(outcome), heard.all_types, book.paid) == (GRANTED if granted else REFUSED)


@requirement("W7")
def test_combinations_can_be_combined() -> None:
    assert judged(rf.all_of(rf.any_of(no, yes), yes)) == GRANTED
    assert judged(rf.all_of(rf.any_of(no, yes), rf.veto(yes, no))) == REFUSED


@requirement("W8")
@pytest.mark.parametrize(
    ("rule", "answer", "granted"), [(rf.any_of, True, True), (rf.all_of, False, False), (rf.veto, False, False)]
)
def test_a_decision_counts_as_soon_as_it_is_known_and_the_rest_are_cancelled(
    rule: Rule, answer: bool, granted: bool
) -> None:
    async def body() -> None:
        slow, book = Slow(), Book()

        async def decides(request: rf.ApprovalRequest) -> bool:
            await slow.asked.wait()
            return answer

        async with door(pay(book, approval="human"), approve=rule(slow, decides)) as boundary:
            heard = Heard(boundary)
            outcome = await boundary.call("pay", {"amount": 5})
            assert (ending(outcome), heard.all_types, book.paid) == (GRANTED if granted else REFUSED)
            assert slow.cancelled

    run(body)


@requirement("B31")
def test_the_first_decision_counts_and_a_later_one_changes_nothing() -> None:
    async def body() -> None:
        release = threading.Event()
        answered = threading.Event()
        asked = threading.Event()

        def late(request: rf.ApprovalRequest) -> bool:
            asked.set()
            release.wait(5)
            answered.set()
            return False

        async def first(request: rf.ApprovalRequest) -> bool:
            await asyncio.to_thread(asked.wait, 5)
            return True

        book = Book()
        async with door(pay(book, approval="human"), approve=rf.any_of(first, late)) as boundary:
            heard = Heard(boundary)
            outcome = await boundary.call("pay", {"amount": 5})
            release.set()
            assert await asyncio.to_thread(answered.wait, 5)
            assert (ending(outcome), heard.all_types, book.paid) == GRANTED

    run(body)


# --- decisions with a content ---


@requirement("D7", "B26")
def test_an_edited_call_runs_with_the_edited_arguments_validated_again() -> None:
    assert judged(lambda request: rf.Edit({"amount": 7, "to": "bob"}))[2] == [(7, "bob")]  # type: ignore[reportUnknownLambdaType]
    ran = judged(later(rf.Edit({"amount": 3})))
    assert ran == (("succeeded", None, 1), APPROVED, [(3, "ada")])


@requirement("D7", "B26")
@pytest.mark.parametrize("args", [{"amount": "7"}, {}, {"amount": 7, "more": 1}, {"amount": float("nan")}, [7], None])
def test_an_edit_that_does_not_fit_runs_nothing(args: Any) -> None:
    (status, code, attempts), types, paid = judged(later(rf.Edit(args)))
    assert (status, attempts, paid) == ("refused", 0, [])
    assert code in ("approval_denied", "invalid_input")
    assert "approval.granted" not in types


@requirement("D7")
def test_a_rejection_tells_the_caller_why() -> None:
    book = Book()
    outcome, heard = call(pay(book, approval="human"), approve=later(rf.Reject("over this month's budget")))
    assert (ending(outcome), heard.all_types, book.paid) == REFUSED
    assert outcome.error is not None
    assert "over this month's budget" in outcome.error.message
    assert not any("budget" in repr(event) for event in heard.events)


@requirement("D7")
def test_a_response_takes_the_place_of_a_result_and_nothing_runs() -> None:
    book = Book()
    outcome, heard = call(pay(book, approval="human"), approve=later(rf.Respond({"paid": "by hand"})))
    assert (outcome.status, outcome.value, outcome.attempts, book.paid) == ("succeeded", {"paid": "by hand"}, 0, [])
    assert heard.all_types == ["approval.required", "approval.answered"]


@requirement("D7")
@pytest.mark.parametrize("decision", [True, rf.Approve()])
def test_approve_is_the_same_as_true(decision: Any) -> None:
    assert judged(later(decision)) == GRANTED
