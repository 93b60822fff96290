"""Delivery of events to telemetry, which can neither delay nor change a call.

`emit` never waits and never raises for a handler's fault: synchronous handlers are called on the spot and isolated,
asynchronous ones get a bounded queue each and one task that exists only while the queue has something. When a queue
is full its oldest event is dropped and counted. Knows what an event is, not what it means; the gate emits, a boundary
hands out `on` and `events`. Events may be emitted from several event loops, and from threads without one; a handler may
therefore run in any of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import difflib
import inspect
import logging
import threading
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from ringfence.contract.calling import is_async, is_same
from ringfence.errors import ConfigError
from ringfence.events import EVENT_TYPES, SEED_TYPES, Event
from ringfence.gate.explain import class_name, code_name
from ringfence.gate.slots import outside

Handler = Callable[[Event], Awaitable[object] | object]
Filter = str | Iterable[str] | None
"""One type, several, `"*"` for all, or None for the seed's five."""

ALL: Final = "*"
"""Every type."""

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
        self.wanted: Mapping[str, tuple[_Subscriber, ...]] = {}
        self._late: tuple[_HandlerSubscriber, ...] = ()
        """Those that hear by a task of their own."""
        """Subscribers by type. An event of a type that is missing here need not be made (an attribute, since asking a
        method twice a call would take 0.3 of 20 us).
        """
        self._forgotten: deque[_StreamSubscriber] = deque()
        """Those of iterators that were collected as garbage, which happens anywhere, also where the lock is held."""
        self._lock = threading.RLock()
        self._closed = False
        self.emitted = 0
        self.dropped = 0
        self.failed = 0

    def emit(self, event: Event) -> None:
        """Deliver, or put aside for delivery. Returns at once, however slow the subscribers are."""
        if self._forgotten:
            self._purge()
        subscribers = self.wanted.get(event.type)
        if subscribers is None:
            return
        self.emitted += 1
        for subscriber in subscribers:
            subscriber.take(event)

    def is_heard_later(self) -> bool:
        """An asynchronous handler has something to hear, and hears it when the loop turns."""
        return bool(self._late) and any(one.is_about_to for one in self._late)

    def on(self, types: Filter, handler: Handler) -> Callable[[], None]:
        """Call `handler` with every event of these types.

        A synchronous handler runs inside the call that emits, so it must not block. A handler that is given several
        times hears each event once (first seed, by its implementation), until each of its subscriptions has ended.

        Returns:
            A function that ends the subscription; what is queued by then is not delivered any more.

        Raises:
            ConfigError: an unknown type, or a handler that cannot be called.
        """
        wanted = _types(types)
        if not callable(handler):
            raise ConfigError(f"an event handler must be callable, not {type(handler).__name__}")
        with self._lock:
            self._refuse_when_closed()
            subscriber = self._subscriber_for(handler)
            wish = subscriber.add(wanted)
            self._index()
        return lambda: self._unwish(subscriber, wish)

    def events(self, types: Filter = None) -> EventStream:
        """The events of these types from now on, as an asynchronous iterator that ends when the hub closes.

        Raises:
            ConfigError: an unknown type.
        """
        stream = EventStream(self, self._queue)
        subscriber = _StreamSubscriber(_types(types), stream)
        stream.end = lambda: self._remove(subscriber)
        weakref.finalize(stream, self._forgotten.append, subscriber).atexit = False
        with self._lock:
            self._refuse_when_closed()
            self._subscribers.append(subscriber)
            self._index()
        return stream

    def statistics(self) -> HubStatistics:
        """Counts since the hub was made."""
        self._purge()
        return HubStatistics(
            emitted=self.emitted, dropped=self.dropped, failed=self.failed, subscribers=len(self._subscribers)
        )

    async def aclose(self, *, deadline: float = 2.0) -> None:
        """End all subscriptions: deliver what is queued for at most `deadline` seconds, then cancel. Idempotent."""
        self._closed = True
        with self._lock:
            subscribers, self._subscribers, self.wanted = self._subscribers, [], {}
            self._late = ()
        me = asyncio.current_task()  # a handler that closes does not wait for itself
        tasks = [task for subscriber in subscribers for task in subscriber.finish() if task is not me]
        try:
            if tasks:
                _, late = await asyncio.wait(tasks, timeout=deadline)
                for task in late:
                    task.cancel()
                if late:
                    await asyncio.wait(late, timeout=deadline)
        finally:
            for task in tasks:
                task.cancel()
            for subscriber in subscribers:
                subscriber.cancel()

    def drop(self) -> None:
        """Count a delivery that was given up."""
        self.dropped += 1

    def fail(self, event_type: str, error: BaseException, handler: object) -> None:
        """Count a handler's exception. Its text stays out of the log: handlers see session ids and more."""
        self.failed += 1
        _log.warning("the handler %s of %s raised %s", code_name(handler), event_type, class_name(error))

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise ConfigError("no subscription after closing", code="not_running")

    def _subscriber_for(self, handler: Handler) -> _HandlerSubscriber:
        for known in self._subscribers:
            if isinstance(known, _HandlerSubscriber) and known.calls(handler):
                return known
        subscriber = _HandlerSubscriber(self, handler, self._queue)
        self._subscribers.append(subscriber)
        return subscriber

    def _unwish(self, subscriber: _HandlerSubscriber, wish: _Wish) -> None:
        with self._lock:
            is_last = subscriber.drop(wish)
            if is_last and subscriber in self._subscribers:  # under the same lock: nobody may add to it any more
                self._subscribers.remove(subscriber)
            self._index()
        if is_last:
            subscriber.cancel()

    def _remove(self, subscriber: _Subscriber) -> None:
        subscriber.cancel()
        with self._lock:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)
                self._index()

    def _purge(self) -> None:
        while self._forgotten:
            self._remove(self._forgotten.popleft())

    def _index(self) -> None:
        index: dict[str, tuple[_Subscriber, ...]] = {}
        for subscriber in self._subscribers:
            for kind in subscriber.types:
                index[kind] = (*index.get(kind, ()), subscriber)
        self.wanted = index
        handlers = (one for one in self._subscribers if isinstance(one, _HandlerSubscriber))
        self._late = tuple(one for one in handlers if one.is_async)


class EventStream:
    """Asynchronous iterator over events. Close it, or let it go out of use."""

    def __init__(self, hub: EventHub, limit: int) -> None:
        self._hub = hub
        self._waiting: deque[Event] = deque()
        self._limit = limit
        self._lock = threading.RLock()
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
            with contextlib.suppress(RuntimeError):  # the loop is closed, and its waiter gone with it
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


class _Wish:
    """One subscription of a handler; no other is equal to it."""

    __slots__ = ("types",)

    def __init__(self, types: frozenset[str]) -> None:
        self.types = types


class _HandlerSubscriber:
    """A callback, its subscriptions, its queue, and the task that empties it."""

    def __init__(self, hub: EventHub, handler: Handler, limit: int) -> None:
        self.types: frozenset[str] = frozenset()
        """Those of all its subscriptions."""
        self._wishes: tuple[_Wish, ...] = ()
        self._hub = hub
        self._handler = handler
        self.is_async = is_async(handler)
        self._limit = limit
        self._waiting: deque[tuple[Event, Awaitable[object] | None]] = deque()
        self._lock = threading.RLock()
        self._serving = False
        """Somebody empties the queue, or is about to."""
        self._task: asyncio.Task[None] | None = None
        self._loop = _running_loop()
        """Where to deliver what a thread without a loop has to say: where the handler came from, or last ran."""
        self._cancelled = False
        self.is_about_to = False
        """Has events to hear, and the loop has not come to it yet."""

    def calls(self, handler: object) -> bool:
        """Whether this is the handler that is called already."""
        return is_same(self._handler, handler)

    def add(self, types: frozenset[str]) -> _Wish:
        """One more subscription. The hub's lock is held."""
        wish = _Wish(types)
        self._set((*self._wishes, wish))
        return wish

    def drop(self, wish: _Wish) -> bool:
        """One subscription less; whether it was the last. The hub's lock is held."""
        self._set(tuple(one for one in self._wishes if one is not wish))
        return not self._wishes

    def _set(self, wishes: tuple[_Wish, ...]) -> None:
        self._wishes = wishes
        self.types = frozenset[str]().union(*(wish.types for wish in wishes))

    def take(self, event: Event) -> None:
        if self.is_async:
            self._enqueue(event, None)
            return
        try:
            result = self._handler(event)
            pending = result if result is not None and inspect.isawaitable(result) else None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (a handler may raise anything)
            self._hub.fail(event.type, error, self._handler)
            return
        if pending is not None:
            self._enqueue(event, pending)

    def cancel(self) -> None:
        """Deliver nothing more. What is being handled now is not interrupted."""
        with self._lock:
            self._cancelled = True
            waiting, self._waiting = self._waiting, deque()
        for _, awaitable in waiting:
            _discard(awaitable)

    def finish(self) -> Iterable[asyncio.Task[None]]:
        """The task to wait for, if there is one on this loop."""
        self._serve(asyncio.get_running_loop())
        task = self._task
        if task is None or task.done() or task.get_loop() is not asyncio.get_running_loop():
            return ()
        return (task,)

    def _enqueue(self, event: Event, awaitable: Awaitable[object] | None) -> None:
        loop = _running_loop()
        with self._lock:
            dropped = awaitable
            if not self._cancelled:
                dropped = None
                if len(self._waiting) >= self._limit:
                    _, dropped = self._waiting.popleft()
                    self._hub.drop()
                self._waiting.append((event, awaitable))
        _discard(dropped)
        if loop is not None:
            self._loop = loop
            self._serve(loop)
        elif self._loop is not None:
            with contextlib.suppress(RuntimeError):  # closed: what waits is delivered with the next event of a loop
                self._loop.call_soon_threadsafe(self._serve, self._loop)

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make sure that somebody empties the queue. Runs in the loop."""
        with self._lock:
            if not self._waiting or self._is_served():
                return
            self._serving, self._task, self.is_about_to = True, None, True
        task = loop.create_task(self._deliver(), name="ringfence-events")  # an eager one takes the lock at once
        with self._lock:
            if not task.done():
                self._task = task

    def _is_served(self) -> bool:
        task = self._task
        return self._serving and (task is None or not (task.done() or task.get_loop().is_closed()))

    async def _deliver(self) -> None:
        self.is_about_to = False
        me = asyncio.current_task()
        outside()
        while True:
            with self._lock:
                if not self._waiting:
                    self._serving, self._task = False, None
                    return
                event, awaitable = self._waiting.popleft()
            if event.type not in self.types:  # its subscription has ended, and another one of the handler's has not
                _discard(awaitable)
                continue
            try:
                result = self._handler(event) if awaitable is None else awaitable
                if inspect.isawaitable(result):
                    await result
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                if isinstance(error, GeneratorExit) and asyncio.current_task() is not me:
                    raise  # the delivery is being closed
                if isinstance(error, asyncio.CancelledError) and me is not None and me.cancelling():
                    raise
                self._hub.fail(
                    event.type, error, self._handler
                )  # also a cancellation of its own: nobody cancelled the delivery


_Subscriber = _HandlerSubscriber | _StreamSubscriber


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _discard(awaitable: Awaitable[object] | None) -> None:
    """A coroutine that is never awaited would warn."""
    if inspect.iscoroutine(awaitable):
        awaitable.close()


def _types(types: object) -> frozenset[str]:
    if types is None:
        return SEED_TYPES
    if not isinstance(types, Iterable):
        hint = "the order is on(types, handler)" if callable(types) else 'write "tool.failed", a list of types, or "*"'
        raise ConfigError(f"event types are words, not {type(types).__name__}", hint=hint)
    given: tuple[object, ...] = (types,) if isinstance(types, str) else tuple(cast("Iterable[object]", types))
    wanted: set[str] = set()
    for kind in given:
        if type(kind) is str and kind == ALL:
            wanted |= EVENT_TYPES
        elif type(kind) is str and kind in EVENT_TYPES:
            wanted.add(kind)
        else:
            near = difflib.get_close_matches(str(kind), sorted(EVENT_TYPES), 1) if isinstance(kind, str) else []
            raise ConfigError(
                f"no event type {kind!r:.60}",
                hint=f"did you mean {near[0]!r}?" if near else f"the types are {', '.join(sorted(EVENT_TYPES))}",
            )
    return frozenset(wanted)
