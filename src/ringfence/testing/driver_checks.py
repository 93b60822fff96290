"""What every sandbox driver owes its gate, one check for each demand.

Each has a stable id, an expectation, and the fix that is smallest. What a driver claims to enforce is tried in
`testing.driver_claims`. Knows a driver's port; run by `testing.battery`.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from ringfence.contract.rules import check_sandbox
from ringfence.errors import ConfigError, SandboxFault
from ringfence.gate.signals import AbortSignal
from ringfence.testing.probing import Check, Miss, Probe, close, ensure, threads


class _Odd(BaseException):
    """Neither an `Exception` nor one that ends the process."""


_variable: Final = contextvars.ContextVar("ringfence-check", default="nothing")


async def _shape(probe: Probe) -> None:
    ensure(probe.driver is not None, "None was made")  # type: ignore[reportUnnecessaryComparison]
    try:
        check_sandbox(probe.driver, "the driver")
    except ConfigError as error:
        raise Miss(error.message) from None


async def _signal(probe: Probe) -> None:
    without = await probe.tried(probe.driver, int)
    with_one = await probe.tried(probe.another(), int, AbortSignal())
    ensure(type(without) is type(with_one) or with_one is None, f"with a signal it raises {with_one!r}")
    ensure(type(without) is type(with_one), f"without a signal it raises {without!r}")


async def _coroutine(probe: Probe) -> None:
    async def answer() -> str:
        await asyncio.sleep(0)
        return "done"

    await _answers(probe, answer)


async def _function(probe: Probe) -> None:
    await _answers(probe, lambda: "done")


async def _awaitable(probe: Probe) -> None:
    async def later() -> str:
        return "done"

    await _answers(probe, lambda: later())  # type: ignore[misc]


async def _answers(probe: Probe, fn: Callable[[], Any]) -> None:
    found = await probe.run(fn)
    if asyncio.iscoroutine(found):
        found.close()
        raise Miss("a coroutine that nobody awaited came back")
    ensure(found == "done", f"{found!r} came back in place of 'done'")


async def _result(probe: Probe) -> None:
    values: tuple[object, ...] = (None, False, 0, "", [], {"list": [1, None]}, object())
    for value in values:

        async def give(value: object = value) -> object:
            return value

        for found in (await probe.run(give), await probe.run(partial(_same, value))):
            ensure(found is value, f"{found!r} came back, which is not the object {value!r} that the function returned")


def _same(value: object) -> object:
    return value


def _failing(error: BaseException) -> tuple[Callable[[], Any], Callable[[], Any]]:
    async def fail() -> None:
        raise error

    def fail_too() -> None:
        raise error

    return fail, fail_too


async def _exception(probe: Probe) -> None:
    await _raises(probe, ValueError("as it is"))


async def _base_exception(probe: Probe) -> None:
    await _raises(probe, _Odd("as it is"))


async def _raises(probe: Probe, error: BaseException) -> None:
    for fn in _failing(error):
        found = await probe.tried(probe.another(), fn)
        ensure(found is error, f"{found!r} came out in place of {error!r}" if found else f"it returned after {error!r}")


async def _once(probe: Probe) -> None:
    calls: list[str] = []

    def work(name: str) -> None:
        calls.append(name)
        if name.endswith("raises"):
            raise ValueError

    async def work_too(name: str) -> None:
        work(name)

    names = ("a function", "a function that raises", "an async def", "an async def that raises")
    for name, fn in zip(names, (work, work, work_too, work_too), strict=True):
        await probe.tried(probe.another(), partial(fn, name))
        ensure(calls.count(name) == 1, f"{name} was called {calls.count(name)} times")


async def _arguments(probe: Probe) -> None:
    async def echo(*given: Any) -> tuple[Any, ...]:
        return given

    def echo_too(*given: Any) -> tuple[Any, ...]:
        return given

    for args in ([], [{"cents": 5}], [object(), None, [1]]):
        for fn in (echo, echo_too):
            found = await probe.run(fn, *args)
            same = len(found) == len(args) and all(a is b for a, b in zip(found, args, strict=True))
            ensure(same, f"given {args!r}, the function got {list(found)!r}")


async def _context(probe: Probe) -> None:
    _variable.set("something")

    async def look() -> str:
        return _variable.get()

    for kind, fn in (("an asynchronous", look), ("a synchronous", _variable.get)):
        ensure(await probe.run(fn) == "something", f"{kind} function does not see the caller's context variables")


async def _cancelled(probe: Probe) -> tuple[asyncio.Task[Any], asyncio.Event, asyncio.Event]:
    """A run whose caller was cancelled; whether its function was; and what lets the function end otherwise."""
    began, seen, release = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        began.set()
        try:
            await release.wait()
        except asyncio.CancelledError:
            seen.set()
            raise

    task = probe.start(wait)
    await probe.within(began.wait(), "the function did not begin")
    task.cancel()
    return task, seen, release


async def _cancel_reaches(probe: Probe) -> None:
    _, seen, release = await _cancelled(probe)
    try:
        await probe.within(seen.wait(), "the caller was cancelled, and the function was not")
    finally:
        release.set()


async def _cancel_raised(probe: Probe) -> None:
    task, _, release = await _cancelled(probe)
    await asyncio.wait([task], timeout=probe.seconds)
    release.set()
    ensure(task.done(), "the caller was cancelled, and the run did not end")
    ensure(task.cancelled(), "the caller was cancelled, and the run ended as if it had not been")


async def _blocking(probe: Probe) -> None:
    loop, free = asyncio.get_running_loop(), threading.Event()
    loop.call_soon(free.set)
    is_free = await probe.run(free.wait, probe.seconds)
    ensure(is_free, "a synchronous function that waits holds up the event loop")


async def _concurrent(probe: Probe) -> None:
    met = asyncio.Barrier(2)
    calls = [probe.start(met.wait) for _ in range(2)]
    try:
        await probe.within(asyncio.wait(calls), "two asynchronous functions did not run at the same time")
    finally:
        await _end(calls)
    waiting = threading.Barrier(2)
    calls = [probe.start(waiting.wait, probe.seconds) for _ in range(2)]
    try:
        await asyncio.wait(calls)
    finally:
        await _end(calls)
    ensure(not waiting.broken, f"two synchronous functions did not run at the same time within {probe.seconds:g} s")


async def _end(calls: list[asyncio.Task[Any]]) -> None:
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)
    for call in calls:
        if not call.cancelled():
            call.exception()  # retrieved, so that nothing is logged


async def _after_failure(probe: Probe) -> None:
    for fail in _failing(ValueError("as it is")):
        await probe.tried(probe.driver, fail)
    await probe.within(_usable(probe), "after a function that raised, the next did not run")
    task, _, release = await _cancelled(probe)
    await asyncio.wait([task], timeout=probe.seconds)
    release.set()
    await probe.within(_usable(probe), "after a run that was cancelled, the next did not run")


async def _usable(probe: Probe) -> None:
    async def answer() -> int:
        return 7

    for fn in (answer, lambda: 7):
        ensure(await probe.run(fn) == 7, "a run after one that failed answers something else")


async def _leftovers(probe: Probe) -> None:
    async def rest() -> None:
        await asyncio.sleep(0)

    tasks, before = asyncio.all_tasks(), threads()
    await asyncio.gather(*(probe.start(fn) for fn in (rest, int, int)))
    await close(probe.driver)
    is_gone = await probe.until(lambda: not (asyncio.all_tasks() - tasks) and not (threads() - before))
    left = [f"task {task.get_name()}" for task in asyncio.all_tasks() - tasks]
    left += [f"thread {thread.name}" for thread in threads() - before]
    ensure(is_gone, f"after aclose there are still {', '.join(left)}")


async def _close(probe: Probe) -> None:
    for driver, what in ((probe.driver, "not been used"), (probe.another(), "been used")):
        if what == "been used":
            await probe.tried(driver, int)
        try:
            await probe.within(close(driver), f"a driver that has {what} did not close")
        except Miss:
            raise
        except Exception as error:
            raise Miss(f"closing a driver that has {what} raises {error!r}") from error


async def _reuse(probe: Probe) -> None:
    await probe.tried(probe.driver, int)
    await close(probe.driver)
    found = await probe.tried(probe.driver, int)
    ensure(found is None or isinstance(found, SandboxFault), f"a run after aclose raises {found!r}")
    await close(probe.driver)


BOTH: Final = ("signal", "coroutine", "function")
"""What most checks need: without it they would find the same fault again."""

CHECKS: Final[tuple[Check, ...]] = (
    Check(
        id="shape",
        expects="a driver has a name that is not blank, and `run`; `aclose` and `guarantees`, if any, are methods",
        fix='write `name = "my_place"`, and `async def run(self, fn, args, *, signal=None)`',
        look=_shape,
    ),
    Check(
        id="signal",
        expects="a run takes a signal, and does without one",
        fix="write `async def run(self, fn, args, *, signal=None)`",
        look=_signal,
        needs=("shape",),
    ),
    Check(
        id="coroutine",
        expects="an `async def` is awaited, and its result comes back",
        fix="await what fn(*args) returns when it is awaitable",
        look=_coroutine,
        needs=("signal",),
    ),
    Check(
        id="function",
        expects="an ordinary function is called, and its result comes back",
        fix="await what fn(*args) returns only when it is awaitable",
        look=_function,
        needs=("signal",),
    ),
    Check(
        id="awaitable",
        expects="what an ordinary function returns is awaited when it is awaitable",
        fix="after the call: `return await value if inspect.isawaitable(value) else value`",
        look=_awaitable,
        needs=BOTH,
    ),
    Check(
        id="result",
        expects="a result comes back as the same object, also one that is false",
        fix="return what fn returned, and do not look at it",
        look=_result,
        needs=BOTH,
    ),
    Check(
        id="exception",
        expects="an exception of the function comes out as the same object",
        fix="do not catch what fn raises; clean up in `finally`",
        look=_exception,
        needs=BOTH,
    ),
    Check(
        id="base-exception",
        expects="so does one that is a BaseException, and no Exception",
        fix="do not catch BaseException, or raise it again; carry it out of a thread",
        look=_base_exception,
        needs=(*BOTH, "exception"),
    ),
    Check(
        id="once",
        expects="the function is called exactly once, also when it raises",
        fix="leave repeating to the gate, which knows whether it is safe",
        look=_once,
        needs=BOTH,
    ),
    Check(
        id="arguments",
        expects="the function gets the very arguments given, in order",
        fix="call fn(*args)",
        look=_arguments,
        needs=BOTH,
    ),
    Check(
        id="context",
        expects="the function sees its caller's context variables",
        fix="in a thread, call `contextvars.copy_context().run(fn, *args)`, as asyncio.to_thread does",
        look=_context,
        needs=BOTH,
    ),
    Check(
        id="cancel-reaches",
        expects="cancelling the caller cancels an asynchronous function",
        fix="await the function itself, not behind a shield or in a task of your own",
        look=_cancel_reaches,
        needs=BOTH,
    ),
    Check(
        id="cancel-raised",
        expects="a cancelled caller gets its CancelledError",
        fix="raise asyncio.CancelledError again after cleaning up",
        look=_cancel_raised,
        needs=BOTH,
    ),
    Check(
        id="blocking",
        expects="a function that blocks does not block the event loop",
        fix="run ordinary functions in a thread",
        look=_blocking,
        needs=BOTH,
    ),
    Check(
        id="concurrent",
        expects="functions run at the same time, each kind",
        fix="hold no lock while fn runs, and have more than one thread",
        look=_concurrent,
        needs=(*BOTH, "blocking"),
    ),
    Check(
        id="after-failure",
        expects="a run that failed or was cancelled does not spoil the next",
        fix="give back in `finally` what a run has taken",
        look=_after_failure,
        needs=BOTH,
    ),
    Check(
        id="close",
        expects="aclose works, whether the driver has been used or not",
        fix="let aclose free only what was opened",
        look=_close,
        needs=("signal",),
    ),
    Check(
        id="leftovers",
        expects="after aclose no task and no thread is left",
        fix="end in aclose what was started in run",
        look=_leftovers,
        needs=(*BOTH, "close"),
    ),
    Check(
        id="reuse",
        expects="after aclose a run works, or raises a SandboxFault, and the driver can be closed again",
        fix="open in run what is not open, or raise rf.SandboxFault(..., code='sandbox_unavailable')",
        look=_reuse,
        needs=(*BOTH, "close"),
    ),
)
"""In the order in which they are made."""
