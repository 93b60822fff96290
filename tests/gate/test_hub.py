"""Telemetry hears everything it asked for, and changes nothing."""

from __future__ import annotations

import asyncio
import functools
import gc
import threading
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

import pytest

from ringfence.errors import ConfigError
from ringfence.events import EVENT_TYPES, SEED_TYPES, Event, EventType
from ringfence.gate.hub import EventHub
from tests.gate.kit import run


@pytest.fixture(autouse=True)
def every_event_is_as_it_should_be() -> None:
    """The events here are made up."""


def event(kind: EventType = "tool.called", number: int = 0) -> Event:
    return Event(kind, "pay", "s", MappingProxyType({"attempt": number}))


def numbers(events: list[Event]) -> list[int]:
    return [one.meta["attempt"] for one in events]


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


# --- what is delivered ---


def test_without_a_filter_the_seeds_types_are_delivered_and_no_others() -> None:
    hub, seen = EventHub(), list[Event]()
    hub.on(None, seen.append)
    for kind in sorted(EVENT_TYPES):
        hub.emit(event(kind))  # type: ignore[arg-type]
    assert {one.type for one in seen} == SEED_TYPES


def test_other_types_are_delivered_to_those_who_name_them() -> None:
    hub, one, two = EventHub(), list[Event](), list[Event]()
    hub.on("tool.rejected", one.append)
    hub.on(["tool.rejected", "run.started"], two.append)
    for kind in sorted(EVENT_TYPES):
        hub.emit(event(kind))  # type: ignore[arg-type]
    assert [one.type for one in one] == ["tool.rejected"]
    assert [one.type for one in two] == ["run.started", "tool.rejected"]


@pytest.mark.parametrize(
    ("types", "hint"), [("tool.caled", "did you mean 'tool.called'?"), (["tool.called", 7], "the types are"), ("", "")]
)
def test_an_unknown_type_is_a_configuration_error(types: Any, hint: str) -> None:
    hub = EventHub()
    for subscribe in (lambda: hub.on(types, print), lambda: hub.events(types)):
        with pytest.raises(ConfigError) as caught:
            subscribe()
        assert caught.value.code == "bad_config"
        assert hint in (caught.value.hint or "")


def test_a_handler_must_be_callable() -> None:
    with pytest.raises(ConfigError, match="must be callable, not int"):
        EventHub().on(None, 7)  # type: ignore[arg-type]


def test_the_returned_function_ends_the_subscription_once_and_for_all() -> None:
    hub, seen = EventHub(), list[Event]()
    end = hub.on(None, seen.append)
    hub.emit(event(number=1))
    end()
    end()
    hub.emit(event(number=2))
    assert (numbers(seen), hub.statistics().subscribers, "tool.called" in hub.wanted) == ([1], 0, False)


def test_a_handler_may_unsubscribe_while_it_is_called() -> None:
    hub, seen = EventHub(), list[Event]()

    def once(one: Event) -> None:
        seen.append(one)
        end()

    end = hub.on(None, once)
    hub.on(None, seen.append)
    hub.emit(event(number=1))
    hub.emit(event(number=2))
    assert numbers(seen) == [1, 1, 2]


# --- isolation ---


@pytest.mark.parametrize(
    "error", [ValueError("secret"), asyncio.CancelledError(), RecursionError(), SystemExit(1), GeneratorExit()]
)
def test_a_failing_handler_is_counted_and_the_others_hear_all_the_same(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    hub, seen = EventHub(), list[Event]()

    def failing(_: Event) -> None:
        raise error

    hub.on(None, failing)
    hub.on(None, seen.append)
    hub.emit(event(number=1))
    assert (numbers(seen), hub.statistics().failed) == ([1], 1)
    assert [record.getMessage() for record in caplog.records] == [
        "the handler test_a_failing_handler_is_counted_and_the_others_hear_all_the_same.<locals>.failing of tool.called "
        f"raised {type(error).__name__}"
    ]
    assert "secret" not in caplog.text


def test_a_request_to_end_the_process_is_not_swallowed() -> None:
    def leaving(_: Event) -> None:
        raise KeyboardInterrupt

    hub = EventHub()
    hub.on(None, leaving)
    with pytest.raises(KeyboardInterrupt):
        hub.emit(event())


@pytest.mark.parametrize("error", [ValueError("secret"), asyncio.CancelledError(), SystemExit(1), GeneratorExit()])
def test_a_failing_asynchronous_handler_goes_on_with_the_next_event(error: BaseException) -> None:
    async def body() -> None:
        hub, seen = EventHub(), list[int]()

        async def handler(one: Event) -> None:
            seen.append(one.meta["attempt"])
            if len(seen) == 1:
                raise error

        hub.on(None, handler)
        hub.emit(event(number=1))
        hub.emit(event(number=2))
        await hub.aclose()
        assert (seen, hub.statistics().failed) == ([1, 2], 1)

    run(body)


# --- one handler, several subscriptions ---


class Ear:
    """Handlers that are methods, of objects that are all equal."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1

    def hear(self, one: Event) -> None:
        self.heard.append(one.type)

    async def hear_later(self, one: Event) -> None:
        self.heard.append(one.type)


@pytest.mark.parametrize("name", ["hear", "hear_later"])
def test_a_handler_that_is_given_twice_hears_each_event_once_until_both_have_ended(name: str) -> None:
    async def body() -> None:
        hub, ear, other = EventHub(), Ear(), Ear()
        first = hub.on("tool.called", getattr(ear, name))
        second = hub.on(["tool.called", "tool.failed"], getattr(ear, name))
        hub.on("tool.called", getattr(other, name))

        async def heard(*kinds: EventType) -> list[str]:
            ear.heard.clear()
            for kind in kinds:
                hub.emit(event(kind))
            await asyncio.sleep(0)
            return ear.heard

        assert await heard("tool.called", "tool.failed") == ["tool.called", "tool.failed"]
        first()
        first()
        assert await heard("tool.called", "tool.failed") == ["tool.called", "tool.failed"]
        second()
        assert await heard("tool.called", "tool.failed") == []
        assert (other.heard, hub.statistics().subscribers) == (["tool.called"] * 3, 1)

    run(body)


def test_what_waits_for_an_ended_subscription_is_not_delivered_though_another_one_lives() -> None:
    async def body() -> None:
        hub, ear = EventHub(), Ear()
        end = hub.on("tool.called", ear.hear_later)
        hub.on("tool.failed", ear.hear_later)
        for kind in ("tool.called", "tool.failed"):
            hub.emit(event(kind))
        end()
        await hub.aclose()
        assert ear.heard == ["tool.failed"]

    run(body)


def test_a_handler_may_subscribe_others_which_hear_what_comes_next() -> None:
    hub, seen = EventHub(), list[str]()

    def first(one: Event) -> None:
        seen.append("first")
        hub.on(None, lambda one: seen.append("second"))

    end = hub.on(None, first)
    hub.emit(event())
    end()
    hub.emit(event())
    assert seen == ["first", "second"]


# --- asynchronous handlers ---


class Listener:
    async def __call__(self, one: Event) -> None:
        self.seen.append(one)

    def __init__(self, seen: list[Event]) -> None:
        self.seen = seen


def test_every_form_of_asynchronous_handler_is_awaited() -> None:
    async def body() -> None:
        hub, seen = EventHub(), list[Event]()

        async def handler(one: Event) -> None:
            await asyncio.sleep(0)
            seen.append(one)

        async def with_prefix(_: str, one: Event) -> None:
            seen.append(one)

        hub.on(None, handler)
        hub.on(None, lambda one: handler(one))
        hub.on(None, functools.partial(with_prefix, "x"))
        hub.on(None, Listener(seen))
        hub.emit(event(number=1))
        assert seen == []
        await hub.aclose()
        assert numbers(seen) == [1, 1, 1, 1]

    run(body)


def eager(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
    """Like the eager task factory of newer versions, for code that does not wait."""

    async def over() -> None: ...

    with pytest.raises(StopIteration):
        coroutine.send(None)
    return asyncio.Task(over(), loop=loop, **options)


def test_delivery_that_begins_while_its_task_is_made_does_not_block() -> None:
    seen: list[Event] = []

    async def body() -> None:
        hub = EventHub()

        async def handler(one: Event) -> None:
            seen.append(one)
            if len(seen) == 1:
                hub.emit(event(number=2))

        hub.on(None, handler)
        asyncio.get_running_loop().set_task_factory(eager)
        hub.emit(event(number=1))
        hub.emit(event(number=3))
        asyncio.get_running_loop().set_task_factory(None)
        await hub.aclose()

    thread = threading.Thread(target=lambda: asyncio.run(body()), daemon=True)
    thread.start()
    thread.join(5.0)
    assert not thread.is_alive()
    assert numbers(seen) == [1, 2, 3]


def test_emission_does_not_wait_for_a_slow_handler_and_order_is_kept() -> None:
    async def body() -> None:
        hub, seen, gate = EventHub(), list[int](), asyncio.Event()

        async def slow(one: Event) -> None:
            await gate.wait()
            seen.append(one.meta["attempt"])

        hub.on(None, slow)
        for number in range(5):
            hub.emit(event(number=number))
        await settled()
        assert seen == []
        gate.set()
        await hub.aclose()
        assert seen == [0, 1, 2, 3, 4]

    run(body)


def test_a_full_queue_drops_the_oldest_and_counts() -> None:
    async def body() -> None:
        hub, seen = EventHub(queue=3), list[int]()

        async def slow(one: Event) -> None:
            seen.append(one.meta["attempt"])

        hub.on(None, slow)
        for number in range(10):
            hub.emit(event(number=number))
        await hub.aclose()
        assert (seen, hub.statistics().dropped) == ([7, 8, 9], 7)

    run(body)


def test_dropped_coroutines_are_closed_without_a_warning() -> None:
    async def body() -> None:
        hub, seen = EventHub(queue=1), list[int]()

        async def handle(one: Event) -> None:
            seen.append(one.meta["attempt"])

        end = hub.on(None, lambda one: handle(one))
        for number in range(3):
            hub.emit(event(number=number))
        end()
        hub.emit(event(number=9))
        await settled()
        assert (seen, hub.statistics().dropped) == ([], 2)
        gc.collect()

    run(body)


def test_no_task_is_left_while_there_is_nothing_to_deliver() -> None:
    async def body() -> None:
        hub = EventHub()

        async def handler(_: Event) -> None: ...

        hub.on(None, handler)
        for _ in range(3):
            hub.emit(event())
            await settled()
            assert len(asyncio.all_tasks()) == 1

    run(body)


def test_closing_waits_for_a_deadline_and_then_cancels() -> None:
    async def body() -> None:
        hub, ended = EventHub(), list[str]()

        async def stuck(_: Event) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")

        hub.on(None, stuck)
        hub.emit(event())
        hub.emit(event())
        await settled()
        await hub.aclose(deadline=0.01)
        assert ended == ["cancelled"]
        await hub.aclose()

    run(body)


def test_nobody_subscribes_after_closing() -> None:
    async def body() -> None:
        hub = EventHub()
        await hub.aclose()
        for subscribe in (lambda: hub.on(None, print), hub.events):
            with pytest.raises(ConfigError) as caught:
                subscribe()
            assert caught.value.code == "not_running"

    run(body)


def test_a_handler_survives_the_loop_it_last_ran_in() -> None:
    hub, seen = EventHub(), list[int]()

    async def handler(one: Event) -> None:
        await asyncio.sleep(0)
        seen.append(one.meta["attempt"])

    hub.on(None, handler)

    async def emit(number: int) -> None:
        hub.emit(event(number=number))

    for number in range(3):
        asyncio.run(emit(number))  # each loop ends before the handler has run

    async def last() -> None:
        hub.emit(event(number=3))
        await hub.aclose()

    run(last)
    assert seen[-1] == 3


# --- the iterator ---


def test_the_iterator_gives_what_happens_from_its_making_until_closing() -> None:
    async def body() -> None:
        hub = EventHub()
        hub.emit(event(number=0))
        stream = hub.events()
        hub.emit(event(number=1))
        hub.emit(event("tool.rejected", number=2))
        hub.emit(event("tool.failed", number=3))
        await hub.aclose()
        assert numbers([one async for one in stream]) == [1, 3]
        assert [one async for one in stream] == []

    run(body)


def test_a_waiting_iterator_is_woken_by_an_event_and_by_closing() -> None:
    async def body() -> None:
        hub, seen = EventHub(), list[int]()

        async def read() -> None:
            async for one in hub.events("tool.rejected"):
                seen.append(one.meta["attempt"])

        reader = asyncio.create_task(read())
        await settled()
        hub.emit(event("tool.rejected", number=1))
        await settled()
        assert seen == [1]
        await hub.aclose()
        await reader

    run(body)


def test_an_event_of_another_thread_wakes_the_iterator() -> None:
    async def body() -> None:
        hub = EventHub()
        stream = hub.events()
        waiting = asyncio.ensure_future(anext(stream))
        await settled()
        thread = threading.Thread(target=hub.emit, args=(event(number=5),))
        thread.start()
        assert (await waiting).meta["attempt"] == 5
        thread.join()
        await stream.aclose()

    run(body)


def test_a_full_iterator_drops_the_oldest() -> None:
    async def body() -> None:
        hub = EventHub(queue=2)
        stream = hub.events()
        for number in range(5):
            hub.emit(event(number=number))
        await hub.aclose()
        assert numbers([one async for one in stream]) == [3, 4]
        assert hub.statistics().dropped == 3

    run(body)


def test_closing_an_iterator_ends_its_subscription() -> None:
    async def body() -> None:
        hub = EventHub()
        stream = hub.events()
        await stream.aclose()
        await stream.aclose()
        hub.emit(event())
        assert (hub.statistics().subscribers, [one async for one in stream]) == (0, [])

    run(body)


def test_an_iterator_that_nobody_reads_any_more_is_forgotten() -> None:
    hub = EventHub()
    stream = hub.events()
    hub.emit(event())
    assert hub.statistics().subscribers == 1
    del stream
    gc.collect()
    assert hub.statistics().subscribers == 0


def test_one_iterator_serves_one_reader() -> None:
    async def body() -> None:
        stream = EventHub().events()
        first = asyncio.ensure_future(anext(stream))
        await settled()
        with pytest.raises(RuntimeError, match="two tasks"):
            await anext(stream)
        await stream.aclose()
        with pytest.raises(StopAsyncIteration):
            await first

    run(body)


def test_statistics_count_only_what_somebody_wanted() -> None:
    hub = EventHub()
    hub.on("tool.called", lambda _: None)
    for kind in types():
        hub.emit(event(kind))
    assert hub.statistics().emitted == 1


def types() -> Iterator[EventType]:
    yield "tool.called"
    yield "tool.failed"


# --- threads, and garbage ---


def test_an_event_of_a_thread_without_a_loop_is_delivered_where_the_handler_came_from() -> None:
    async def body() -> None:
        hub, seen = EventHub(), asyncio.Queue[bool]()
        here = threading.current_thread()

        async def handler(one: Event) -> None:
            seen.put_nowait(threading.current_thread() is here)

        hub.on(None, handler)
        await asyncio.to_thread(hub.emit, event())
        assert await seen.get()

    run(body)


def test_an_event_of_a_thread_waits_for_a_loop_where_there_is_none_yet() -> None:
    hub, seen = EventHub(), list[int]()

    async def handler(one: Event) -> None:
        seen.append(one.meta["attempt"])

    hub.on(None, handler)
    hub.emit(event(number=1))

    async def closing() -> None:
        await hub.aclose()

    run(closing)
    assert seen == [1]


def test_an_event_of_a_thread_survives_the_loop_the_handler_came_from() -> None:
    hub, seen = EventHub(), list[int]()

    async def handler(one: Event) -> None:
        seen.append(one.meta["attempt"])

    async def subscribing() -> None:
        hub.on(None, handler)

    run(subscribing)
    hub.emit(event(number=1))
    run(hub.aclose)
    assert seen == [1]


def test_an_iterator_may_be_collected_while_the_hub_is_busy() -> None:
    hub = EventHub()
    stream: Any = hub.events()
    with hub._lock:  # type: ignore[reportPrivateUsage]
        del stream
        gc.collect()
    assert hub.statistics().subscribers == 0
    assert not hub.wanted


# --- what can be asked for ---


@pytest.mark.parametrize("types", ["*", ["*"], ["tool.called", "*"]])
def test_a_star_means_every_type(types: Any) -> None:
    hub = EventHub()
    hub.on(types, print)
    assert set(hub.wanted) == EVENT_TYPES
    hub.events(types)


@pytest.mark.parametrize("types", [5, print, object(), [["x"]], [5], "tool.*", ["*", "tool.call"], b"tool.called"])
def test_what_is_no_type_is_a_configuration_error(types: Any) -> None:
    hub = EventHub()
    with pytest.raises(ConfigError):
        hub.on(types, print)
    with pytest.raises(ConfigError):
        hub.events(types)


def test_swapped_arguments_are_named() -> None:
    swapped: Any = print
    with pytest.raises(ConfigError, match=r"the order is on\(types, handler\)"):
        EventHub().on(swapped, "tool.called")  # type: ignore[arg-type]
