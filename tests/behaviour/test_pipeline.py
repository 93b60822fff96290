"""The way of a call: validated, approved, announced, run, reported, answered; and what each stage sees."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

import ringfence as rf
from tests.behaviour.kit import (
    APPROVED,
    EVERY,
    SUCCESS,
    Book,
    Heard,
    Payment,
    call,
    door,
    each_place,
    ending,
    never,
    pay,
    run,
    yes,
)
from tests.requirements import requirement

# --- in order ---


@requirement("AC13", "seed.auto", "seed.order")
@each_place
@pytest.mark.parametrize("options", [{}, {"approval": "auto"}])
def test_a_call_that_needs_no_approval_is_called_and_completed(place: str, options: dict[str, Any]) -> None:
    book = Book()
    outcome, heard = call(pay(book, **options), place=place)
    assert (outcome.unwrap(), book.paid) == ("paid 5 to ada", [(5, "ada")])
    assert (heard.types, heard.all_types) == (SUCCESS, SUCCESS)


@requirement("AC14", "seed.order", "seed.final", "B2")
@each_place
@pytest.mark.parametrize(
    "args",
    [
        {},
        {"amount": "5"},
        {"amount": float("nan")},
        {"amount": 5, "more": 1},
        {"amount": {1, 2}},
        {1: 2},
        {"amount": "\ud835"},
        [1],
        "amount",
        b'{"amount": 5}',
        7,
    ],
)
def test_arguments_that_do_not_fit_end_the_call_before_anything_happens(place: str, args: Any) -> None:
    asked: list[object] = []
    recovered: list[object] = []
    book = Book()
    tool = pay(book, approval="human", retries=3, on_error=recovered.append)
    outcome, heard = call(tool, args=args, place=place, approve=asked.append)
    assert (ending(outcome), asked, recovered, book.paid) == (("refused", "invalid_input", 0), [], [], [])
    assert (heard.types, heard.all_types) == ([], ["tool.rejected"])
    with pytest.raises(rf.ToolValidationError) as caught:
        outcome.unwrap()
    assert len(caught.value.issues) >= 1


@requirement("AC17", "seed.human", "seed.order")
@each_place
def test_an_approved_call_is_required_granted_called_and_completed(place: str) -> None:
    outcome, heard = call(pay(Book(), approval="human"), place=place, approve=yes)
    assert (outcome.unwrap(), heard.types, heard.all_types) == ("paid 5 to ada", APPROVED, APPROVED)
    assert [(event.tool, event.session_id) for event in heard.events] == [("pay", "session")] * 4
    assert [event.__struct_fields__ for event in heard.events] == [("type", "tool", "session_id", "meta")] * 4


@requirement("AC19", "AC21", "seed.order", "seed.attempts")
@each_place
def test_a_tool_that_fails_once_is_repeated_and_nobody_is_asked_again(place: str) -> None:
    asked: list[object] = []

    def approve(request: rf.ApprovalRequest) -> bool:
        asked.append(request.input)
        return True

    book = Book(ConnectionError("down"))
    outcome, heard = call(pay(book, approval="human", retries=1), place=place, approve=approve)
    assert (ending(outcome), book.paid, len(asked)) == (("succeeded", None, 2), [(5, "ada")] * 2, 1)
    assert heard.types == ["approval.required", "approval.granted", "tool.called", "tool.failed", *SUCCESS]


@requirement("seed.order")
def test_each_stage_is_over_before_the_next_begins() -> None:
    """Raw arguments, then a decision, then the announcement, then the tool, then the report, then the fallback."""
    order: list[str] = []

    class Watched(BaseModel):
        amount: int

        def model_post_init(self, context: object) -> None:
            order.append("validated")

    async def execute(given: Watched) -> None:
        order.append("ran")
        raise ConnectionError(str(given.amount))

    def approve(given: Watched, info: rf.ApprovalInfo) -> bool:
        order.append("approved")
        return True

    def recover(error: Exception) -> str:
        order.append("recovered")
        return "fallback"

    async def body() -> None:
        tool = rf.Tool("pay", "Pay.", Watched, execute, approval=approve, retries=1, on_error=recover)
        async with door(tool) as boundary:
            boundary.on(EVERY, lambda event: order.append(event.type))
            assert (await boundary.call("pay", {"amount": 5})).unwrap() == "fallback"

    run(body)
    attempt = ["tool.called", "ran", "tool.failed"]
    asked = ["validated", "approval.required", "approved", "approval.granted"]
    assert order == [*asked, *attempt, *attempt, "recovered", "tool.recovered"]


@requirement("AC22")
@each_place
def test_functions_that_do_not_wait_are_as_good_as_those_that_do(place: str) -> None:
    async def later(given: Payment) -> int:
        return given.amount

    def at_once(given: Payment) -> int:
        return given.amount

    async def fails_later(given: Payment) -> int:
        raise rf.ToolError(f"no {given.amount}")

    def fails_at_once(given: Payment) -> int:
        raise rf.ToolError(f"no {given.amount}")

    def hands_over(given: Payment) -> Any:
        return later(given)

    assert [call(pay(one), place=place)[0].unwrap() for one in (later, at_once, hands_over)] == [5, 5, 5]
    for one in (fails_later, fails_at_once):
        outcome, heard = call(pay(one, retries=1), place=place)
        assert (ending(outcome), outcome.error and outcome.error.message) == (("failed", "tool_raised", 2), "no 5")
        assert heard.types == ["tool.called", "tool.failed"] * 2


@requirement("W34")
@each_place
def test_a_tool_that_returns_nothing_has_null_as_its_result(place: str) -> None:
    async def silent(given: Payment) -> None:
        return None

    outcome, _ = call(pay(silent, output=type(None)), place=place)
    assert (ending(outcome), outcome.value) == (("succeeded", None, 1), None)


# --- what the tool gets ---


@requirement("seed.context", "D4", "seed.signal")
@each_place
def test_a_tool_learns_which_call_it_is(place: str) -> None:
    book = Book(ConnectionError("down"))

    async def body() -> rf.Outcome:
        async with door(pay(book, retries=2, timeout=60), place=place) as boundary:
            return await boundary.call("pay", {"amount": 5}, session_id="s1", principal="ada")

    outcome = run(body)
    first, second = book.contexts
    assert [(it.session_id, it.principal, it.max_attempts) for it in book.contexts] == [("s1", "ada", 3)] * 2
    assert (first.attempt, second.attempt) == (1, 2)
    assert first.call_id == second.call_id == outcome.call_id
    assert first.idempotency_key == second.idempotency_key
    assert first.deadline is not None
    assert [it.signal.aborted for it in book.contexts] == [False, False]


@requirement("D4")
def test_two_calls_have_different_keys_and_a_signal_is_always_there() -> None:
    book = Book()

    async def body() -> None:
        async with door(pay(book)) as boundary:
            for _ in range(2):
                await boundary.call("pay", {"amount": 5})

    run(body)
    one, two = book.contexts
    assert one.idempotency_key != two.idempotency_key
    assert one.call_id != two.call_id
    assert one.session_id != two.session_id
    assert (one.deadline, one.principal, one.signal.aborted, one.signal.reason) == (None, None, False, None)
    one.signal.raise_if_aborted()
    one.log("fine")
    one.progress(0.5)


@requirement("seed.typed", "seed.tool")
def test_the_function_gets_the_validated_value_and_not_the_raw_one() -> None:
    book = Book()
    raw = {"amount": 5}
    call(pay(book), args=raw)
    assert (book.paid, raw) == ([(5, "ada")], {"amount": 5})


@requirement("B16")
def test_a_large_whole_number_arrives_exactly() -> None:
    big = 2_512_292_042_121_000_001
    book = Book()
    outcome, _ = call(pay(book), args={"amount": big})
    assert (book.paid, outcome.unwrap()) == ([(big, "ada")], f"paid {big} to ada")


@requirement("B19")
@each_place
def test_text_that_is_no_unicode_ends_the_call_and_nothing_else(place: str) -> None:
    async def broken(given: Payment) -> dict[str, str]:
        return {"text": "\ud835"}

    async def body() -> None:
        async with door(pay(broken, output=dict[str, str]), pay(Book(), "fine"), place=place) as boundary:
            assert ending(await boundary.call("fine", {"amount": 5, "to": "\ud835"}))[1] == "invalid_input"
            assert ending(await boundary.call("pay", {"amount": 5}))[1] == "bad_result"
            assert ending(await boundary.call("\ud835", {"amount": 5}))[1] == "unknown_tool"
            assert ending(await boundary.call("fine", {"amount": 5})) == ("succeeded", None, 1)

    run(body)


# --- nobody changes what runs ---


class Order(BaseModel):
    amount: int
    lines: list[int] = []


@requirement("W14", "B26")
@each_place
def test_nobody_who_sees_the_arguments_can_change_what_runs(place: str) -> None:
    ran: list[tuple[int, list[int]]] = []
    raw = {"amount": 10, "lines": [1]}

    async def execute(order: Order) -> str:
        ran.append((order.amount, list(order.lines)))
        order.amount = 10_000
        order.lines.append(9)
        if len(ran) == 1:
            raise ConnectionError
        return "paid"

    async def approve(order: Order, info: rf.ApprovalInfo) -> bool:
        order.amount = 10_000
        order.lines.append(9)
        raw["lines"].append(9)  # type: ignore[union-attr]
        raw["amount"] = 10_000
        return True

    tool = rf.Tool("pay", "Pay.", Order, execute, approval=approve, retries=1)
    assert ending(call(tool, args=raw, place=place)[0]) == ("succeeded", None, 2)
    assert ran == [(10, [1]), (10, [1])]


@requirement("B26")
def test_what_is_approved_has_the_name_of_what_runs() -> None:
    seen: list[rf.ApprovalRequest] = []

    def approve(request: rf.ApprovalRequest) -> bool:
        seen.append(request)
        return True

    for args in ({"amount": 5}, {"amount": 5, "to": "ada"}, {"amount": 6}):
        call(pay(Book(), approval="human"), args=args, approve=approve)
    assert [request.arguments for request in seen] == [
        {"amount": 5, "to": "ada"},
        {"amount": 5, "to": "ada"},
        {"amount": 6, "to": "ada"},
    ]
    one, same, other = (request.digest for request in seen)
    assert one == same != other


# --- every origin ---


@requirement("AC23", "B5")
@pytest.mark.slow
def test_a_script_takes_the_same_way_as_a_plain_call() -> None:
    async def body() -> None:
        asked: list[object] = []

        def approve(request: rf.ApprovalRequest) -> bool:
            asked.append(request.input)
            return request.arguments["amount"] < 100

        book = Book()
        async with door(pay(book, approval="human"), approve=approve) as boundary:
            heard = Heard(boundary)
            plain = [ending(await boundary.call("pay", args)) for args in ({"amount": 5}, {"amount": "x", "extra": 1})]
            plain_types, heard.seed[:] = list(heard.types), []
            fine = await boundary.run_script("return await call_tool('pay', {'amount': 5})")
            wrong = await boundary.run_script("return await call_tool('pay', {'amount': 'x', 'extra': 1})")
            denied = await boundary.run_script("return await call_tool('pay', {'amount': 500})")
            assert plain == [("succeeded", None, 1), ("refused", "invalid_input", 0)]
            assert (fine.value, heard.types) == ("paid 5 to ada", [*plain_types, "approval.required"])
            assert wrong.error is not None
            assert (wrong.error.code, wrong.error.data["code"]) == ("TOOL_ERROR", "invalid_input")
            assert denied.error is not None
            assert denied.error.code == "APPROVAL_DENIED"
            assert (len(asked), book.paid) == (3, [(5, "ada")] * 2)

    run(body, seconds=20)


@requirement("AC23", "W21", "D10")
def test_tools_behind_a_prefix_and_an_approval_take_the_same_way_with_the_boundarys_sandbox() -> None:
    book = Book()
    tools = rf.Toolset([pay(book)]).prefixed("shop").with_approval("human").filtered(lambda tool: True)

    async def body() -> None:
        async with rf.Boundary(tools=tools, sandbox=rf.local(unsafe=True), approve=yes) as boundary:
            heard = Heard(boundary)
            assert (await boundary.call("shop_pay", {"amount": 5})).unwrap() == "paid 5 to ada"
            assert ending(await boundary.call("pay", {"amount": 5})) == ("refused", "unknown_tool", 0)
            assert heard.types == APPROVED

    run(body)


# --- doubt ---


@requirement("D6")
@pytest.mark.parametrize(
    ("options", "status"),
    [
        ({}, "unknown"),
        ({"effect": "write"}, "unknown"),
        ({"effect": "read"}, "failed"),
        ({"idempotent": True}, "unknown"),
    ],
)
def test_an_effect_that_nobody_declared_counts_as_one_when_it_is_stopped(options: dict[str, Any], status: str) -> None:
    outcome, _ = call(pay(never, timeout=0.01, **options))
    assert ending(outcome) == (status, "tool_timeout", 1)
