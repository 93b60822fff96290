"""Asking about a flagged call in front of a plain handler: who may be asked, and what each answer does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

import pytest

import ringfence as rf
from ringfence.enclave.callers import HandlerCaller
from ringfence.gate.consent import Consent
from ringfence.limits import ValueBudget
from ringfence.ports import Answer, ApprovalRequest, Origin, Position
from ringfence.threads import DaemonThreads
from tests.enclave.kit import run
from tests.gate.kit import Watch

ORIGIN = Origin(
    session_id="s", principal="ada", run_id="r_1", position=Position(line=3, site="3:1", task="0", sequence=0)
)
TAGS: Mapping[Any, Any] = {"date": [["on"]]}


def saying(verdict: Any) -> Callable[[ApprovalRequest], Any]:
    """An approver with one answer."""

    def approve(request: ApprovalRequest) -> Any:
        del request
        return verdict

    return approve


def failing(request: ApprovalRequest) -> bool:
    raise ValueError(request.tool)


class Unreadable(dict[str, Any]):
    def __iter__(self) -> Any:
        raise SystemExit

    items = keys = values = __iter__


def asked(
    approve: Any,
    *,
    timeout: float | None = None,
    watch: Watch | None = None,
    budget: ValueBudget | None = None,
    args: bytes = b'{"on":"2026-01-02"}',
    tags: Any = TAGS,
) -> tuple[Answer, list[tuple[str, Any]]]:
    """The answer to one flagged call, and the calls that reached the handler."""
    calls: list[tuple[str, Any]] = []

    async def handler(name: str, args: Any) -> Any:
        calls.append((name, args))
        return "done"

    caller = handling(handler, approve, timeout, budget or ValueBudget())

    async def body() -> Answer:
        return await caller.call("mail:send", args, ORIGIN, "r_1.1", watch or Watch(), tags=tags, ask="read, then sent")

    return run(body()), calls


def handling(handler: Any, approve: Any, timeout: float | None, budget: ValueBudget) -> HandlerCaller:
    consent = Consent(approve, timeout, budget)
    return HandlerCaller(handler, budget, consent=consent, threads=DaemonThreads("handler"))


RAN = [("mail:send", {"on": date(2026, 1, 2)})]


@pytest.mark.parametrize(
    ("verdict", "status", "value", "calls"),
    [
        (True, "succeeded", b'"done"', RAN),
        (rf.Approve(), "succeeded", b'"done"', RAN),
        (rf.Edit({"on": "never"}), "succeeded", b'"done"', [("mail:send", {"on": "never"})]),
        (rf.Respond({"instead": 1}), "succeeded", b'{"instead":1}', []),
    ],
)
def test_an_approved_call_runs_or_is_answered(verdict: Any, status: str, value: bytes, calls: list[Any]) -> None:
    answer, reached = asked(saying(verdict))
    assert (answer.status, answer.value, answer.error, reached) == (status, value, None, calls)


Arguments = Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, Any]]
EDITS: list[tuple[Arguments, dict[str, Any]]] = [
    (lambda texts, values: {**texts, "n": 1}, {"on": date(2026, 1, 2), "n": 1}),
    (lambda texts, values: {**values, "n": 1}, {"on": date(2026, 1, 2), "n": 1}),
    (lambda texts, values: {**values, "on": date(2027, 1, 2)}, {"on": date(2027, 1, 2)}),
    (lambda texts, values: {**texts, "on": "2027-01-02"}, {"on": "2027-01-02"}),
    (lambda texts, values: {"on": [values["on"], b"x"]}, {"on": [date(2026, 1, 2), b"x"]}),
    (lambda texts, values: {"in": "2026-01-02"}, {"in": "2026-01-02"}),
]


@pytest.mark.parametrize(("edit", "given"), EDITS)
def test_what_was_not_edited_keeps_its_type_and_an_edit_may_hold_any_that_arguments_may(
    edit: Arguments, given: dict[str, Any]
) -> None:
    def approve(request: ApprovalRequest) -> rf.Edit:
        return rf.Edit(edit(request.arguments, request.input))

    assert asked(approve)[1] == [("mail:send", given)]


@pytest.mark.parametrize(
    ("approve", "reason", "text"),
    [
        (None, "no_handler", "mail:send: it needs approval"),
        ([], "no_handler", "mail:send: it needs approval"),
        (saying(False), "denied", "mail:send"),
        (saying(rf.Reject("not on Sundays")), "denied", "not on Sundays"),
        (saying("yes"), "not_a_bool", "mail:send"),
        (saying(rf.Edit({"x": float("nan")})), "invalid_edit", "mail:send"),
        (saying(rf.Respond(object())), "invalid_response", "mail:send"),
        (saying(rf.Respond(Unreadable())), "invalid_response", "mail:send"),
        (failing, "handler_failed", "mail:send"),
    ],
)
def test_everything_else_denies_for_good(approve: Any, reason: str, text: str) -> None:
    answer, reached = asked(approve)
    assert answer.error is not None
    assert (answer.error.code, answer.error.data["reason"], answer.terminal, answer.status, reached) == (
        "approval_denied",
        reason,
        True,
        "refused",
        [],
    )
    assert answer.error.message.startswith("mail:send: ")
    assert text in answer.error.message or reason == "no_handler"


def test_a_question_expires() -> None:
    async def never(request: ApprovalRequest) -> bool:
        await asyncio.Event().wait()
        return True

    watch = Watch()
    answer, reached = asked(never, timeout=0.01, watch=watch)
    assert answer.error is not None
    assert (answer.error.code, answer.terminal, reached, watch.heard) == (
        "approval_expired",
        True,
        [],
        ["began", "ended"],
    )


def test_an_approver_sees_the_call_and_why_it_is_asked_about() -> None:
    seen: list[ApprovalRequest] = []

    def approve(request: ApprovalRequest) -> bool:
        seen.append(request)
        return True

    asked(approve)
    assert seen == [
        ApprovalRequest(
            tool="mail:send",
            description="",
            input={"on": date(2026, 1, 2)},
            arguments={"on": "2026-01-02"},
            digest=seen[0].digest,
            session_id="s",
            principal="ada",
            call_id="r_1.1",
            run_id="r_1",
            line=3,
            effect=None,
            reason="read, then sent",
        )
    ]


@pytest.mark.parametrize("wrap", [list[Any], tuple[Any, ...], rf.any_of])
def test_of_several_any_may_approve(wrap: Any) -> None:
    two = [saying(False), saying(True)]
    answer, _ = asked(wrap(*two) if wrap is rf.any_of else wrap(two))
    assert answer.error is None


def test_what_an_approver_does_to_its_copy_changes_nothing() -> None:
    def approve(request: ApprovalRequest) -> bool:
        request.input["on"] = "changed"
        return True

    assert asked(approve)[1] == RAN


def test_a_call_that_is_not_flagged_asks_nobody() -> None:
    async def handler(name: str, args: Any) -> Any:
        return args

    async def body() -> Answer:
        caller = handling(handler, saying(False), None, ValueBudget())
        return await caller.call("a", b"{}", ORIGIN, "r_1.1", Watch())

    assert run(body()) == Answer(value=b"{}")


# the enclave's budget, and no other

DEEP = b'{"a":' + b"[" * 100 + b"]" * 100 + b"}"


def test_arguments_that_the_enclave_takes_can_be_asked_about() -> None:
    answer, reached = asked(saying(True), budget=ValueBudget(depth=400), args=DEEP, tags=None)
    assert (answer.error, answer.status, len(reached)) == (None, "succeeded", 1)


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        (rf.Edit({"a": 1, "b": 2, "c": 3}), "invalid_edit"),
        (rf.Edit({"a": [[[[]]]]}), "invalid_edit"),
        (rf.Respond({"a": 1, "b": 2, "c": 3}), "invalid_response"),
        (rf.Respond([[[[[]]]]]), "invalid_response"),
        (rf.Respond("x" * 101), "invalid_response"),
    ],
)
def test_what_an_approver_puts_in_the_place_of_something_fits_the_enclave_or_denies(verdict: Any, reason: str) -> None:
    answer, reached = asked(saying(verdict), budget=ValueBudget(size=100, depth=4, members=2))
    assert answer.error is not None
    assert (answer.error.code, answer.error.data["reason"], answer.status, reached) == (
        "approval_denied",
        reason,
        "refused",
        [],
    )


def test_the_host_sees_what_an_approver_raised() -> None:
    answer, _ = asked(failing)
    assert type(answer.cause) is ValueError
