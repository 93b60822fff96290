"""Whatever a tool declares and however it fails, a call ends as a few lines of plain rules say, in both places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ringfence as rf
from tests.behaviour.kit import PLACES, Book, call, ending, pay
from tests.requirements import requirement

Attempt = Literal["fine", "down", "no", "denied within"]
ERRORS: dict[str, type[Exception]] = {"down": ConnectionError, "no": rf.ToolError}


@dataclass(frozen=True, kw_only=True)
class Case:
    """What is declared, and what happens."""

    place: str
    valid: bool
    approval: Literal["auto", "human", "callback"]
    answer: object
    retries: int
    effect: Literal["read", "write"] | None
    idempotent: bool | None
    attempts: tuple[Attempt, ...]
    """How each execution ends; further ones are fine."""
    fallback: Literal["none", "fine", "fails"]


CASES = st.builds(
    Case,
    place=st.sampled_from(sorted(PLACES)),
    valid=st.sampled_from([True, True, True, False]),
    approval=st.sampled_from(["auto", "human", "callback"]),
    answer=st.sampled_from([True, True, True, False, None, 1, rf.Approve(), rf.Reject("no")]),
    retries=st.integers(0, 3),
    effect=st.sampled_from([None, "read", "write"]),
    idempotent=st.sampled_from([None, True, False]),
    attempts=st.lists(st.sampled_from(["fine", "down", "down", "no", "denied within"]), max_size=5).map(tuple),
    fallback=st.sampled_from(["none", "fine", "fails"]),
)


@dataclass(frozen=True)
class End:
    """What the caller gets, and what was announced."""

    status: str
    code: str | None
    attempts: int
    trace: tuple[str, ...]


def by_the_rules(case: Case) -> End:
    """The first seed's order, with the exceptions for effects in doubt."""
    if not case.valid:
        return End("refused", "invalid_input", 0, ())
    trace: list[str] = []
    if case.approval != "auto":
        trace.append("approval.required")
        if case.answer is not True and not isinstance(case.answer, rf.Approve):
            return End("refused", "approval_denied", 0, tuple(trace))
        trace.append("approval.granted")
    is_effect = case.effect == "write" or (case.effect is None and case.idempotent is False)
    status, code = "failed", "tool_raised"
    for number in range(1, case.retries + 2):
        how = case.attempts[number - 1] if number <= len(case.attempts) else "fine"
        trace += ["tool.called", "tool.completed" if how == "fine" else "tool.failed"]
        if how == "fine":
            return End("succeeded", None, number, tuple(trace))
        in_doubt = how in ("down", "denied within") and is_effect
        if in_doubt:  # what one attempt may have done, no later one takes back
            status, code = "unknown", "outcome_unknown"
        if how == "denied within":
            return End(status, code, number, tuple(trace))
        is_last = number == case.retries + 1 or (in_doubt and case.idempotent is not True)
        if not is_last:
            continue
        match case.fallback:
            case "none":
                return End(status, code, number, tuple(trace))
            case "fine":
                return End("succeeded", None, number, tuple(trace))
            case "fails":
                return End(status, "tool_raised", number, tuple(trace))
    raise AssertionError("a last attempt ends the call")


def played(case: Case) -> End:
    errors = [
        rf.ToolApprovalError("no", code="approval_denied") if it == "denied within" else ERRORS[it](it)
        for it in _until_fine(case)
    ]
    options: dict[str, Any] = {"retries": case.retries, "effect": case.effect, "idempotent": case.idempotent}

    def decide(given: object, info: object) -> Any:
        return case.answer

    def recover(error: Exception) -> str:
        if case.fallback == "fails":
            raise KeyError("fallback")
        return "fallback"

    if case.fallback != "none":
        options["on_error"] = recover
    options["approval"] = decide if case.approval == "callback" else case.approval
    book = Book(*errors)
    outcome, heard = call(
        pay(book, **options),
        args={"amount": 5 if case.valid else "5"},
        place=case.place,
        approve=decide if case.approval == "human" else None,
    )
    assert len(book.paid) == outcome.attempts
    return End(*ending(outcome), tuple(heard.types))


def _until_fine(case: Case) -> tuple[Attempt, ...]:
    ends = case.attempts.index("fine") if "fine" in case.attempts else len(case.attempts)
    return case.attempts[:ends]


@requirement("seed.order", "seed.final", "seed.fallback", "AC21", "AC46", "AC47", "B37", "D5", "W22")
@pytest.mark.slow
@given(case=CASES)
def test_a_call_ends_by_the_rules(case: Case) -> None:
    assert played(case) == by_the_rules(case)
