"""What telemetry hears: three fields and a place for the rest, and nothing that it does changes a call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.kit import (
    APPROVED,
    DENIED,
    EVERY,
    FAILED,
    SUCCESS,
    Book,
    Heard,
    call,
    door,
    down,
    each_place,
    ending,
    never,
    no,
    pay,
    run,
    yes,
)
from tests.requirements import requirement

SEED = {"tool.called", "tool.completed", "tool.failed", "approval.required", "approval.granted"}


# --- fields ---


@requirement("D9", "W3", "AC17")
@each_place
def test_an_event_is_three_fields_and_a_place_for_the_rest(place: str) -> None:
    outcome, heard = call(pay(Book(*down(1)), retries=2, approval="human"), place=place, approve=yes)
    assert [(event.type, event.tool, event.session_id) for event in heard.events] == [
        (kind, "pay", "session") for kind in ("approval.required", "approval.granted", *FAILED, *SUCCESS)
    ]
    assert {event.meta["call_id"] for event in heard.events} == {outcome.call_id}
    attempts = [(event.meta.get("attempt"), event.meta.get("max_attempts")) for event in heard.events[2:]]
    assert attempts == [(1, 3), (1, 3), (2, 3), (2, 3)]
    durations = [event.meta.get("duration") for event in heard.events]
    assert [duration is not None for duration in durations] == [False, True, False, True, False, True]
    assert all(isinstance(duration, float) and 0 <= duration < 5 for duration in durations if duration is not None)
    assert heard.events[3].meta["code"] == "tool_raised"


@requirement("D9")
def test_an_event_cannot_be_changed_by_one_who_hears_it() -> None:
    _, heard = call(pay(Book()))
    event: Any = heard.events[0]
    for change in (lambda: setattr(event, "type", "x"), lambda: event.meta.update(x=1), lambda: event.meta.clear()):
        with pytest.raises((AttributeError, TypeError)):
            change()


@requirement("W4", "D9")
@pytest.mark.parametrize(
    ("options", "args", "trace", "code", "reason"),
    [
        ({}, {}, ["tool.rejected"], "invalid_input", None),
        ({"approval": "human"}, {"amount": 5}, DENIED, "approval_denied", "denied"),
    ],
)
def test_refusals_are_events_for_whoever_asks_for_them_and_for_nobody_else(
    options: dict[str, Any], args: Any, trace: list[str], code: str, reason: str | None
) -> None:
    _, heard = call(pay(Book(), **options), args=args, approve=no)
    assert heard.all_types == trace
    assert set(heard.types) <= SEED
    assert heard.events[-1].meta["code"] == code
    if reason is not None:
        assert heard.events[1].meta["reason"] == reason


@requirement("W4")
def test_a_hundred_malformed_calls_are_a_hundred_events() -> None:
    async def body() -> None:
        async with door(pay(Book())) as boundary:
            heard = Heard(boundary)
            for n in range(100):
                await boundary.call("pay", {"amount": str(n)}, session_id="s")
            assert (heard.all_types, heard.types) == (["tool.rejected"] * 100, [])
            assert len({event.meta["call_id"] for event in heard.events}) == 100

    run(body)


@requirement("D9")
def test_a_subscriber_hears_what_it_asked_for_until_it_stops_listening() -> None:
    async def body() -> None:
        async with door(pay(Book())) as boundary:
            one, some = list[str](), list[str]()
            stop = boundary.on("tool.called", lambda event: one.append(event.type))
            boundary.on(["tool.completed", "tool.rejected"], lambda event: some.append(event.type))
            await boundary.call("pay", {"amount": 5})
            stop()
            await boundary.call("pay", {"amount": 5})
            await boundary.call("pay", {})
            assert (one, some) == (["tool.called"], ["tool.completed", "tool.completed", "tool.rejected"])
            with pytest.raises(rf.ConfigError):
                boundary.on("tool.caled", print)

    run(body)


@requirement("D9")
def test_events_can_be_iterated_until_the_boundary_closes() -> None:
    async def body() -> None:
        boundary = door(pay(Book(), approval="human"), approve=yes)
        stream = boundary.events()
        await boundary.call("pay", {"amount": 5})
        await boundary.aclose()
        assert [event.type async for event in stream] == APPROVED

    run(body)


# --- handlers ---


async def fails_later(event: rf.Event) -> None:
    await asyncio.sleep(0)
    raise RuntimeError(event.type)


def fails_at_once(event: rf.Event) -> None:
    raise RuntimeError(event.type)


class Odd:
    """Fails with what is no ordinary exception."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, event: rf.Event) -> None:
        raise self.error


Handler = Callable[[rf.Event], Awaitable[None] | None]


@requirement("AC59", "AC61", "W1", "seed.order")
@each_place
@pytest.mark.parametrize(
    "handler",
    [fails_later, fails_at_once, Odd(asyncio.CancelledError()), Odd(SystemExit(3)), Odd(GeneratorExit())],
    ids=["later", "at once", "cancelled", "exit", "generator exit"],
)
@pytest.mark.parametrize(
    ("options", "fails", "trace", "result"),
    [
        ({}, 0, SUCCESS, "paid 5 to ada"),
        ({"retries": 1}, 1, [*FAILED, *SUCCESS], "paid 5 to ada"),
        ({"approval": "human"}, 0, APPROVED, "paid 5 to ada"),
        ({"retries": 1, "on_error": str}, 2, FAILED * 2, "down"),
    ],
)
def test_handlers_that_fail_change_neither_result_nor_trace(
    place: str, handler: Handler, options: dict[str, Any], fails: int, trace: list[str], result: str
) -> None:
    async def body() -> None:
        book = Book(*down(fails))
        async with door(pay(book, **options), place=place, approve=yes) as boundary:
            boundary.on(EVERY, handler)
            heard = Heard(boundary)
            boundary.on(EVERY, lambda event: handler(event))
            assert (await boundary.call("pay", {"amount": 5})).unwrap() == result
            assert (heard.types, len(book.paid)) == (trace, max(1, fails + (result != "down")))
            for _ in range(3 * len(trace)):
                await asyncio.sleep(0)
            assert boundary.statistics().events.failed == 2 * (len(trace) + (result == "down"))

    run(body)


@requirement("D9")
def test_a_handler_that_is_subscribed_twice_hears_each_event_once() -> None:
    async def body() -> None:
        async with door(pay(Book())) as boundary:
            heard: list[str] = []

            def hear(event: rf.Event) -> None:
                heard.append(event.type)

            boundary.on(None, hear)
            boundary.on(EVERY, hear)
            await boundary.call("pay", {"amount": 5})
            assert heard == SUCCESS

    run(body)


@requirement("AC61", "W1")
def test_a_success_whose_announcement_fails_is_not_run_again() -> None:
    async def body() -> None:
        book = Book()
        async with door(pay(book, retries=3)) as boundary:
            boundary.on("tool.completed", fails_at_once)
            outcome = await boundary.call("pay", {"amount": 5})
            assert (ending(outcome), len(book.paid)) == (("succeeded", None, 1), 1)

    run(body)


@requirement("W2")
@each_place
def test_a_handler_that_never_ends_holds_no_call_up(place: str) -> None:
    async def body() -> None:
        book = Book()
        boundary = door(pay(book, retries=1), place=place)
        boundary.on(None, never)
        for _ in range(3):
            assert (await boundary.call("pay", {"amount": 5})).unwrap() == "paid 5 to ada"
        await boundary.gate.hub.aclose(deadline=0.01)
        await boundary.aclose()
        assert len(book.paid) == 3

    run(body)


@requirement("W2")
def test_what_a_slow_handler_has_not_heard_yet_is_bounded() -> None:
    async def body() -> None:
        release = asyncio.Event()

        async def slow(event: rf.Event) -> None:
            await release.wait()

        async with door(pay(Book())) as boundary:
            boundary.on(None, slow)
            for _ in range(2_000):
                await boundary.call("pay", {"amount": 5})
            statistics = boundary.statistics().events
            assert (statistics.emitted, statistics.dropped > 0) == (4_000, True)
            release.set()

    run(body)


@requirement("D9", "W3")
def test_calls_side_by_side_can_be_told_apart() -> None:
    async def body() -> None:
        async with door(pay(Book(*down(2)), retries=2)) as boundary:
            heard = Heard(boundary)
            await asyncio.gather(*(boundary.call("pay", {"amount": n}, session_id="s") for n in range(4)))
            by_call: dict[str, list[str]] = {}
            for event in heard.seed:
                by_call.setdefault(event.meta["call_id"], []).append(event.type)
            assert sorted(by_call.values()) == sorted([SUCCESS, SUCCESS, [*FAILED, *SUCCESS], [*FAILED, *SUCCESS]])

    run(body)
