"""Drivers that each have one fault, beside the one check that must find it. Data for the tests of the battery."""

from __future__ import annotations

import asyncio
import contextvars
import copy
import inspect
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import ringfence as rf
from ringfence.sandbox.guarantees import GUARANTEES

Fn = Callable[..., Any]
Signal = rf.Signal | None


class Good:
    """A driver with nothing wrong, and steps to be replaced by wrong ones."""

    name: Any = "good"

    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        return await self.call(fn, args)

    async def call(self, fn: Fn, args: list[Any]) -> Any:
        value = fn(*args) if inspect.iscoroutinefunction(fn) else await self.thread(fn, args)
        return await value if inspect.isawaitable(value) else value

    async def thread(self, fn: Fn, args: list[Any]) -> Any:
        return await asyncio.to_thread(fn, *args)


class BlankName(Good):
    name = " "


class NoRun:
    name = "no run"


class NoMethod(Good):
    aclose = "closed"


class UnknownGuarantee(Good):
    def guarantees(self) -> Mapping[str, str]:
        return {"everything": "prayer"}


class BlankMechanism(Good):
    def guarantees(self) -> Mapping[str, str]:
        return {"files": " "}


class GuaranteesRaise(Good):
    def guarantees(self) -> Mapping[str, str]:
        raise OSError


class TakesNoSignal(Good):
    async def run(self, fn: Fn, args: list[Any]) -> Any:  # type: ignore[override]
        return await self.call(fn, args)


class NeedsSignal(Good):
    async def run(self, fn: Fn, args: list[Any], *, signal: Signal) -> Any:  # type: ignore[override]
        return await self.call(fn, args)


class AwaitsNothing(Good):
    async def call(self, fn: Fn, args: list[Any]) -> Any:
        return await self.thread(fn, args)


class AwaitsEverything(Good):
    async def call(self, fn: Fn, args: list[Any]) -> Any:
        return await fn(*args)


class AwaitsCoroutineFunctionsOnly(Good):
    async def call(self, fn: Fn, args: list[Any]) -> Any:
        value = fn(*args) if inspect.iscoroutinefunction(fn) else await self.thread(fn, args)
        return await value if inspect.iscoroutinefunction(fn) else value


class ReplacesFalse(Good):
    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        return await self.call(fn, args) or {}


class CopiesResults(Good):
    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        result = await self.call(fn, args)
        return copy.copy(result) if type(result) is dict else result  # type: ignore[reportUnknownVariableType]


class WrapsExceptions(Good):
    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        try:
            return await self.call(fn, args)
        except Exception as error:
            raise RuntimeError("wrapped") from error


class SwallowsExceptions(Good):
    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        try:
            return await self.call(fn, args)
        except Exception:
            return None


class SwallowsBaseExceptions(Good):
    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        try:
            return await self.call(fn, args)
        except (Exception, asyncio.CancelledError):
            raise
        except BaseException:
            return None


class RunsTwice(Good):
    async def thread(self, fn: Fn, args: list[Any]) -> Any:
        first = await super().thread(fn, args)
        if inspect.iscoroutine(first):
            first.close()
        return await super().thread(fn, args)


class RetriesCoroutines(Good):
    async def call(self, fn: Fn, args: list[Any]) -> Any:
        try:
            return await super().call(fn, args)
        except Exception:
            return await super().call(fn, args)


class CopiesArguments(Good):
    async def call(self, fn: Fn, args: list[Any]) -> Any:
        return await super().call(fn, copy.deepcopy(args))


class TurnsArgumentsAround(Good):
    async def call(self, fn: Fn, args: list[Any]) -> Any:
        return await super().call(fn, args[::-1])


class PassesOneArgument(Good):
    async def call(self, fn: Fn, args: list[Any]) -> Any:
        return await super().call(fn, args[:1])


class LosesContext(Good):
    async def thread(self, fn: Fn, args: list[Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(None, fn, *args)


class LosesContextOfCoroutines(Good):
    async def call(self, fn: Fn, args: list[Any]) -> Any:
        if not inspect.iscoroutinefunction(fn):
            return await super().call(fn, args)
        return await asyncio.get_running_loop().create_task(fn(*args), context=contextvars.Context())


class Shields(Good):
    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        return await asyncio.shield(self.call(fn, args))


class SwallowsCancellation(Good):
    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        try:
            return await self.call(fn, args)
        except asyncio.CancelledError:
            return None


class Blocks(Good):
    async def thread(self, fn: Fn, args: list[Any]) -> Any:
        return fn(*args)


class OneAtATime(Good):
    def __init__(self) -> None:
        self.lock = asyncio.Lock()

    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        async with self.lock:
            return await self.call(fn, args)


class OneThread(Good):
    def __init__(self) -> None:
        self.pool = ThreadPoolExecutor(1)

    async def thread(self, fn: Fn, args: list[Any]) -> Any:
        call = partial(contextvars.copy_context().run, fn, *args)
        return await asyncio.get_running_loop().run_in_executor(self.pool, call)

    async def aclose(self) -> None:
        self.pool.shutdown()
        self.pool = ThreadPoolExecutor(1)


class StaysBroken(Good):
    broken = False

    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        if self.broken:
            raise RuntimeError("broken")
        try:
            return await self.call(fn, args)
        except Exception:
            self.broken = True
            raise


class KeepsItsPermit(Good):
    def __init__(self) -> None:
        self.permits = asyncio.Semaphore(2)

    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        await self.permits.acquire()
        result = await self.call(fn, args)
        self.permits.release()
        return result


class StaysBrokenAfterCancellation(Good):
    broken = False

    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        if self.broken:
            raise RuntimeError("broken")
        try:
            return await self.call(fn, args)
        except asyncio.CancelledError:
            self.broken = True
            raise


class LeavesTask(Good):
    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        self.beat = asyncio.create_task(asyncio.sleep(30), name="heartbeat")
        return await self.call(fn, args)


class LeavesThread(Good):
    over = threading.Event()

    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        threading.Thread(target=self.over.wait, args=(30,), name="watchdog", daemon=True).start()
        return await self.call(fn, args)


class CannotCloseUnused(Good):
    used = False

    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        self.used = True
        return await self.call(fn, args)

    async def aclose(self) -> None:
        if not self.used:
            raise AttributeError("nothing was opened")


class HangsWhileClosing(Good):
    used = False

    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        self.used = inspect.isclass(fn)
        return await self.call(fn, args)

    async def aclose(self) -> None:
        if self.used:
            await asyncio.sleep(30)


class BreaksWhenReused(Good):
    closed = False

    async def run(self, fn: Fn, args: list[Any], *, signal: Signal = None) -> Any:
        if self.closed:
            raise RuntimeError("closed")
        return await self.call(fn, args)

    async def aclose(self) -> None:
        self.closed = True


class ClosesOnce(Good):
    closed = False

    async def aclose(self) -> None:
        if self.closed:
            raise RuntimeError("closed")
        self.closed = True


class Claims(Good):
    def __init__(self, name: str) -> None:
        assert name in GUARANTEES
        self.claim = name

    def guarantees(self) -> Mapping[str, str]:
        return {self.claim: "good will"}


BROKEN: tuple[tuple[Callable[[], Any], str, str], ...] = (
    (BlankName, "shape", "must be a driver"),
    (NoRun, "shape", "must be a driver"),
    (NoMethod, "shape", "aclose of the sandbox"),
    (UnknownGuarantee, "guarantees", "it claims 'everything'"),
    (BlankMechanism, "guarantees", "the mechanism of 'files' is ' '"),
    (GuaranteesRaise, "guarantees", "it raised OSError()"),
    (TakesNoSignal, "signal", "with a signal it raises TypeError"),
    (NeedsSignal, "signal", "without a signal it raises TypeError"),
    (AwaitsNothing, "coroutine", "a coroutine that nobody awaited came back"),
    (AwaitsEverything, "function", "it raised TypeError"),
    (AwaitsCoroutineFunctionsOnly, "awaitable", "a coroutine that nobody awaited came back"),
    (ReplacesFalse, "result", "{} came back, which is not the object None"),
    (CopiesResults, "result", "which is not the object {'list'"),
    (WrapsExceptions, "exception", "RuntimeError('wrapped') came out in place of ValueError('as it is')"),
    (SwallowsExceptions, "exception", "it returned after ValueError('as it is')"),
    (SwallowsBaseExceptions, "base-exception", "it returned after _Odd('as it is')"),
    (RunsTwice, "once", "a function was called 2 times"),
    (RetriesCoroutines, "once", "a function that raises was called 2 times"),
    (CopiesArguments, "arguments", "the function got"),
    (TurnsArgumentsAround, "arguments", "the function got"),
    (PassesOneArgument, "arguments", "the function got"),
    (LosesContext, "context", "a synchronous function does not see"),
    (LosesContextOfCoroutines, "context", "an asynchronous function does not see"),
    (Shields, "cancel-reaches", "the caller was cancelled, and the function was not within"),
    (SwallowsCancellation, "cancel-raised", "ended as if it had not been"),
    (Blocks, "blocking", "a synchronous function that waits holds up the event loop"),
    (OneAtATime, "concurrent", "two asynchronous functions did not run at the same time"),
    (OneThread, "concurrent", "two synchronous functions did not run at the same time"),
    (StaysBroken, "after-failure", "it raised RuntimeError('broken')"),
    (KeepsItsPermit, "after-failure", "after a function that raised, the next did not run within"),
    (StaysBrokenAfterCancellation, "after-failure", "it raised RuntimeError('broken')"),
    (LeavesTask, "leftovers", "task heartbeat"),
    (LeavesThread, "leftovers", "thread watchdog"),
    (CannotCloseUnused, "close", "closing a driver that has not been used raises AttributeError"),
    (HangsWhileClosing, "close", "a driver that has been used did not close within"),
    (BreaksWhenReused, "reuse", "a run after aclose raises RuntimeError('closed')"),
    (ClosesOnce, "reuse", "it raised RuntimeError('closed')"),
    (lambda: Claims("time"), "claims-time", "a function that never waits runs on"),
    (lambda: Claims("environment"), "claims-environment", "reads one of the host's environment variables"),
    (lambda: Claims("files"), "claims-files", "reads a file that it was not given"),
)
"""How to make it, the check that must fail, and a part of what it must say."""
