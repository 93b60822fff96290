"""Delivery of events to telemetry, which can neither delay nor change a call.

`emit` never waits and never raises for a handler's fault: synchronous handlers are called on the spot and isolated,
asynchronous ones get a bounded queue each and one task that exists only while the queue has something. When a queue
is full its oldest event is dropped and counted. Knows what an event is, not what it means; the gate emits, a boundary
hands out `on` and `events`. Events may be emitted from several event loops; a handler may therefore run in any of them.
"""

from __future__ import annotations

import asyncio
import difflib
import inspect
import logging
import threading
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from ringfence.contract.calling import is_async
from ringfence.errors import ConfigError
from ringfence.events import EVENT_TYPES, SEED_TYPES, Event, EventType

Handler = Callable[[Event], Awaitable[object] | object]
Filter = str | Iterable[str] | None
"""One type, several, or None for the seed's five."""

QUEUE: Final = 1_000
"""Events that wait for one asynchronous handler or one iterator."""

_log: Final = logging.getLogger("ringfence.events")


@dataclass(frozen=True, slots=True, kw_only=True)
class HubStatistics:
    """What became of events."""

    emitted: int
    """Events that at least one subscriber wanted."""
    dropped: int
    """Deliveries given up because a queue was full."""
    failed: int
    """Deliveries that ended in a handler's exception."""
    subscribers: int


class EventHub:
    """Subscribers, and what they want."""

    def __init__(self, *, queue: int = QUEUE) -> None:
        self._queue = queue
        self._subscribers: list[_Subscriber] = []
        self._by_type: dict[str, tuple[_Subscriber, ...]] = {}
        self._lock = threading.Lock()
        self._closed = False
        self.emitted = 0
        self.dropped = 0
        self.failed = 0

    def wants(self, kind: EventType) -> bool:
        """Somebody subscribed to this type; otherwise an event need not be made."""
        return kind in self._by_type

    def emit(self, event: Event) -> None:
        """Deliver, or put aside for delivery. Returns at once, however slow the subscribers are."""
        subscribers = self._by_type.get(event.type)
        if subscribers is None:
            return
        self.emitted += 1
        for subscriber in subscribers:
            subscriber.take(event)

    def on(self, types: Filter, handler: Handler) -> Callable[[], None]:
        """Call `handler` with every event of these types.

        A synchronous handler runs inside the call that emits, so it must not block.

        Returns:
            A function that ends the subscription; what is queued by then is not delivered any more.

        Raises:
            ConfigError: an unknown type, or a handler that cannot be called.
        """
        wanted = _types(types)
        if not callable(handler):
            raise ConfigError(f"an event handler must be callable, not {type(handler).__name__}")
        subscriber = _HandlerSubscriber(self, wanted, handler, self._queue)
        self._add(subscriber)
        return lambda: self._remove(subscriber)

    def events(self, types: Filter = None) -> EventStream:
        """The events of these types from now on, as an asynchronous iterator that ends when the hub closes.

        Raises:
            ConfigError: an unknown type.
        """
        stream = EventStream(self, self._queue)
        subscriber = _StreamSubscriber(_types(types), stream)
        stream.end = lambda: self._remove(subscriber)
        weakref.finalize(stream, self._remove, subscriber).atexit = False
        self._add(subscriber)
        return stream

    def statistics(self) -> HubStatistics:
        """Counts since the hub was made."""
        return HubStatistics(
            emitted=self.emitted, dropped=self.dropped, failed=self.failed, subscribers=len(self._subscribers)
        )

    async def aclose(self, *, deadline: float = 2.0) -> None:
        """End all subscriptions: deliver what is queued for at most `deadline` seconds, then cancel. Idempotent."""
        self._closed = True
        with self._lock:
            subscribers, self._subscribers, self._by_type = self._subscribers, [], {}
        tasks = [task for subscriber in subscribers for task in subscriber.finish()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=deadline)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=deadline)
        for subscriber in subscribers:
            subscriber.cancel()

    def drop(self) -> None:
        """Count a delivery that was given up."""
        self.dropped += 1

    def fail(self, event_type: str, error: BaseException) -> None:
        """Count a handler's exception. Its text stays out of the log: handlers see session ids and more."""
        self.failed += 1
        _log.warning("a handler of %s raised %s", event_type, type(error).__name__)

    def _add(self, subscriber: _Subscriber) -> None:
        with self._lock:
            if self._closed:
                raise ConfigError("no subscription after closing", code="not_running")
            self._subscribers.append(subscriber)
            self._index()

    def _remove(self, subscriber: _Subscriber) -> None:
        subscriber.cancel()
        with self._lock:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)
                self._index()

    def _index(self) -> None:
        index: dict[str, tuple[_Subscriber, ...]] = {}
        for subscriber in self._subscribers:
            for kind in subscriber.types:
                index[kind] = (*index.get(kind, ()), subscriber)
        self._by_type = index


class EventStream:
    """Asynchronous iterator over events. Close it, or let it go out of use."""

    def __init__(self, hub: EventHub, limit: int) -> None:
        self._hub = hub
        self._waiting: deque[Event] = deque()
        self._limit = limit
        self._lock = threading.Lock()
        self._waiter: tuple[asyncio.AbstractEventLoop, asyncio.Future[None]] | None = None
        self._ended = False
        self.end: Callable[[], None] | None = None

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        """The next event; waits for as long as the hub is open."""
        while True:
            with self._lock:
                if self._waiting:
                    return self._waiting.popleft()
                if self._ended:
                    raise StopAsyncIteration
                if self._waiter is not None:
                    raise RuntimeError("two tasks wait for the same event stream")
                loop = asyncio.get_running_loop()
                waiter = loop.create_future()
                self._waiter = (loop, waiter)
            try:
                await waiter
            finally:
                with self._lock:
                    self._waiter = None

    async def aclose(self) -> None:
        """Stop listening. Idempotent."""
        if self.end is not None:
            self.end()
        self.close()

    def put(self, event: Event) -> None:
        """Queue an event, dropping the oldest when full."""
        with self._lock:
            if self._ended:
                return
            if len(self._waiting) >= self._limit:
                self._waiting.popleft()
                self._hub.drop()
            self._waiting.append(event)
            self._wake()

    def close(self) -> None:
        """End the iteration after what is queued."""
        with self._lock:
            self._ended = True
            self._wake()

    def _wake(self) -> None:
        if self._waiter is not None:
            loop, waiter = self._waiter
            if not loop.is_closed():
                loop.call_soon_threadsafe(_set, waiter)


def _set(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)


class _StreamSubscriber:
    """Refers weakly to its stream, so that a stream nobody reads any more ends."""

    def __init__(self, types: frozenset[str], stream: EventStream) -> None:
        self.types = types
        self._stream = weakref.ref(stream)

    def take(self, event: Event) -> None:
        if (stream := self._stream()) is not None:
            stream.put(event)

    def cancel(self) -> None:
        if (stream := self._stream()) is not None:
            stream.close()

    def finish(self) -> Iterable[asyncio.Task[None]]:
        self.cancel()
        return ()


class _HandlerSubscriber:
    """A callback, its queue, and the task that empties it."""

    def __init__(self, hub: EventHub, types: frozenset[str], handler: Handler, limit: int) -> None:
        self.types = types
        self._hub = hub
        self._handler = handler
        self._is_async = is_async(handler)
        self._limit = limit
        self._waiting: deque[tuple[Event, Awaitable[object] | None]] = deque()
        self._lock = threading.Lock()
        self._serving = False
        """Somebody empties the queue, or is about to."""
        self._task: asyncio.Task[None] | None = None
        self._cancelled = False

    def take(self, event: Event) -> None:
        if self._is_async:
            self._enqueue(event, None)
            return
        try:
            result = self._handler(event)
            pending = result if result is not None and inspect.isawaitable(result) else None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (a handler may raise anything)
            self._hub.fail(event.type, error)
            return
        if pending is not None:
            self._enqueue(event, pending)

    def cancel(self) -> None:
        """Deliver nothing more. What is being handled now is not interrupted."""
        self._cancelled = True
        with self._lock:
            waiting, self._waiting = self._waiting, deque()
        for _, awaitable in waiting:
            _discard(awaitable)

    def finish(self) -> Iterable[asyncio.Task[None]]:
        """The task to wait for, if there is one on this loop."""
        task = self._task
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            return ()
        return (task,)

    def _enqueue(self, event: Event, awaitable: Awaitable[object] | None) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._cancelled:
                _discard(awaitable)
                return
            if len(self._waiting) >= self._limit:
                _, dropped = self._waiting.popleft()
                _discard(dropped)
                self._hub.drop()
            self._waiting.append((event, awaitable))
            if self._is_served():
                return
            self._serving, self._task = True, None
        task = loop.create_task(self._deliver(), name="ringfence-events")  # an eager one takes the lock at once
        with self._lock:
            if not task.done():
                self._task = task

    def _is_served(self) -> bool:
        task = self._task
        return self._serving and (task is None or not (task.done() or task.get_loop().is_closed()))

    async def _deliver(self) -> None:
        while True:
            with self._lock:
                if not self._waiting:
                    self._serving, self._task = False, None
                    return
                event, awaitable = self._waiting.popleft()
            try:
                result = self._handler(event) if awaitable is None else awaitable
                if inspect.isawaitable(result):
                    await result
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException as error:
                task = asyncio.current_task()
                if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                    raise
                self._hub.fail(event.type, error)  # also a cancellation of its own: nobody cancelled the delivery


_Subscriber = _HandlerSubscriber | _StreamSubscriber


def _discard(awaitable: Awaitable[object] | None) -> None:
    """A coroutine that is never awaited would warn."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()


def _types(types: Filter) -> frozenset[str]:
    if types is None:
        return SEED_TYPES
    given: tuple[Any, ...] = (types,) if isinstance(types, str) else tuple(types)
    for kind in given:
        if kind not in EVENT_TYPES:
            near = difflib.get_close_matches(str(kind), sorted(EVENT_TYPES), 1)
            raise ConfigError(
                f"no event type {kind!r}",
                hint=f"did you mean {near[0]!r}?" if near else f"the types are {', '.join(sorted(EVENT_TYPES))}",
            )
    return frozenset(given)
