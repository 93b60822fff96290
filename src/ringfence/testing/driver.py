"""A sandbox that fails as the test says, and remembers what it was given.

Wraps another driver (by default `local`), which runs the tool where the script lets it run. Knows neither gates nor
tools; given to a boundary or a tool as `sandbox=`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

from ringfence.errors import CODES, ConfigError, Family, SandboxFault
from ringfence.ports import Driver, Signal
from ringfence.sandbox.guarantees import Guarantees
from ringfence.sandbox.local_unsafe import local
from ringfence.testing.steps import After, Never, Script, shown


@dataclass(frozen=True, slots=True)
class Run:
    """A step: run the tool."""

    then: BaseException | None = None
    """Raised in place of the result when the tool has run: the effect has happened, and the answer is lost."""


@dataclass(frozen=True, slots=True)
class Skip:
    """A step: do not run the tool, and answer with this."""

    answer: Any


Step = Run | Skip | BaseException | Never
"""What a driver does with one attempt. An exception is raised in place of running the tool; `never` hangs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriverCall:
    """One attempt, as a driver saw it."""

    ran: bool
    """The tool was run."""
    args: int
    """How many arguments came."""
    signal: bool
    """A signal came with them."""


def fault(code: str) -> SandboxFault:
    """A failure of the place, to be used as a step: `"sandbox_crashed"`, `"memory_limit"`, ….

    Raises:
        ConfigError: no such code, or not one of a place.
    """
    if code not in CODES or CODES[code].family is not Family.FAULT:
        places = ", ".join(sorted(name for name, spec in CODES.items() if spec.family is Family.FAULT))
        raise ConfigError(f"{code!r} is no fault of a sandbox", hint=f"the codes are {places}")
    return SandboxFault(f"as the test says: {CODES[code].meaning}", code=code)


def _check_step(step: object) -> None:
    inner: object = step.step if isinstance(step, After) else step  # type: ignore[reportUnknownMemberType]
    is_class = isinstance(inner, type) and issubclass(inner, BaseException)
    if not is_class and not isinstance(inner, Run | Skip | BaseException | Never):
        raise ConfigError(
            f"{shown(inner)} is no step of a driver",
            hint=f"a step is Run(), Skip(answer), an exception, never or After; an answer is Skip({shown(inner)})",
        )


class ScriptedDriver:
    """A driver that takes one step of a list for each attempt, and runs the tool when the list has come to its end.

        driver = rf.testing.ScriptedDriver([rf.testing.fault("sandbox_crashed"), rf.testing.Run(then=OSError())])
        boundary = rf.Boundary([pay], sandbox=driver)
        ...
        assert [call.ran for call in driver.calls] == [False, True, True]
        assert driver.closed == 1

    Steps are `Run()`, `Run(then=error)`, `Skip(answer)`, an exception, `never` and `After(seconds, step)`.
    """

    def __init__(self, steps: Iterable[Step | After[Step]] = (), *, inner: Driver | None = None) -> None:
        """A driver that does what `steps` say.

        Args:
            inner: where the tool runs; `rf.local(unsafe=True)` by default. It is closed with this driver.

        Raises:
            ConfigError: no list of steps.
        """
        self.name = "scripted"
        self.closed = 0
        """Times that `aclose` was called."""
        self._inner: Driver = local(unsafe=True) if inner is None else inner
        self._script: Script[Step | After[Step]] = Script(steps, "ScriptedDriver")
        for step in self._script.steps:
            _check_step(step)
        self._calls: list[DriverCall] = []

    @property
    def calls(self) -> tuple[DriverCall, ...]:
        """Every attempt, in the order in which they began."""
        return tuple(self._calls)

    def guarantees(self) -> Mapping[str, str]:
        """Those of `inner`."""
        known = getattr(self._inner, "guarantees", None)
        return known() if known is not None else Guarantees({}).complete()

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: Signal | None = None) -> Any:
        """Take the next step.

        Raises:
            BaseException: what the step says, or what the tool raises.
        """
        at = len(self._calls)
        self._calls.append(DriverCall(ran=False, args=len(args), signal=signal is not None))
        step = self._script.take() if self._script.has_more else Run()
        if isinstance(step, After):
            await asyncio.sleep(step.seconds)
            step = step.step
        match step:
            case Run():
                self._calls[at] = DriverCall(ran=True, args=len(args), signal=signal is not None)
                result = await self._inner.run(fn, args, signal=signal)
                if step.then is not None:
                    raise step.then
                return result
            case Skip():
                return step.answer
            case Never():
                return await asyncio.get_running_loop().create_future()
            case _:
                raise step

    async def aclose(self) -> None:
        """Count, and close `inner`."""
        self.closed += 1
        close = getattr(self._inner, "aclose", None)
        if close is not None:
            await close()

    def assert_exhausted(self) -> None:
        """Every step was taken.

        Raises:
            AssertionError: says which were not.
        """
        if unused := self._script.unused("steps are"):
            raise AssertionError(f"{unused}\n  fix: remove them, or look why there were fewer attempts")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.assert_exhausted()
