"""A gate's end: what runs may finish, what does not finish is stopped, and drivers are closed once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from ringfence.errors import ConfigError
from ringfence.gate import closing as closing_module
from ringfence.gate import leases
from ringfence.gate.attempt import Attempts, Stop
from ringfence.ports import ApprovalRequest, Signal
from tests.gate.kit import ARGS, ORIGIN, Amount, failing, gate, pay, run, tool, verdict


class Closing:
    """A driver that counts how often it is closed."""

    name = "counting"
    permissions = None

    def __init__(self, error: Exception | None = None) -> None:
        self.closed = 0
        self.error = error

    def guarantees(self) -> Mapping[str, str]:
        return {}

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: Signal | None = None) -> Any:
        return await fn(*args)

    async def aclose(self) -> None:
        self.closed += 1
        if self.error is not None:
            raise self.error


class Slow(Closing):
    """Closes when it may."""

    def __init__(self, entered: threading.Event, release: threading.Event) -> None:
        super().__init__()
        self.entered = entered
        self.release = release

    async def aclose(self) -> None:
        self.entered.set()
        await asyncio.to_thread(self.release.wait)
        await super().aclose()


def test_closing_closes_every_distinct_driver_once() -> None:
    async def body() -> None:
        common, own = Closing(), Closing()
        of = gate(tool(pay, "one"), tool(pay, "two", sandbox=own), tool(pay, "three", sandbox=own), sandbox=common)
        await asyncio.gather(of.aclose(), of.aclose())
        await of.aclose()
        assert (common.closed, own.closed, of.drivers) == (1, 1, (common, own))
        with pytest.raises(ConfigError) as caught:
            await of.call("one", ARGS, origin=ORIGIN)
        assert caught.value.code == "not_running"

    run(body)


def test_every_driver_is_tried_although_some_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        first, second, third = Closing(ValueError("a")), Closing(), Closing(ValueError("b"))
        of = gate(tool(pay, "two", sandbox=second), tool(pay, "three", sandbox=third), sandbox=first)
        with pytest.raises(ExceptionGroup) as caught:
            await of.aclose()
        assert [str(error) for error in caught.value.exceptions] == ["a", "b"]
        assert (first.closed, second.closed, third.closed) == (1, 1, 1)

    run(body)


def test_a_driver_that_does_not_close_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "DRIVER_CLOSE", 0.01)

    class Stuck(Closing):
        async def aclose(self) -> None:
            await asyncio.Event().wait()

    async def body() -> None:
        with pytest.raises(ExceptionGroup):
            await gate(tool(pay), sandbox=Stuck()).aclose()

    run(body)


def test_closing_lets_running_calls_finish() -> None:
    async def body() -> None:
        entered, release = asyncio.Event(), asyncio.Event()

        async def execute(args: Amount) -> str:
            entered.set()
            await release.wait()
            return "paid"

        of = gate(tool(execute))
        call = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
        await entered.wait()
        closing = asyncio.create_task(of.aclose())
        await asyncio.sleep(0)
        assert not closing.done()
        release.set()
        await closing
        assert (await call).value == "paid"

    run(body)


def test_closing_stops_what_does_not_finish_without_cancelling_its_caller() -> None:
    async def body() -> None:
        entered = asyncio.Event()

        async def execute(args: Amount) -> None:
            entered.set()
            await asyncio.Event().wait()

        of = gate(tool(execute, effect="write"))
        call = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
        await entered.wait()
        await of.aclose(drain=0.001)
        assert verdict(await call) == ("unknown", "interrupted", 1)
        assert not call.cancelled()

    run(body)


@pytest.mark.parametrize("stage", ["asking", "granted", "recovering", "waiting"])
def test_closing_stops_a_call_wherever_it_is(stage: str) -> None:

    async def body() -> None:
        entered, forever = asyncio.Event(), asyncio.Event()

        async def approve(request: ApprovalRequest) -> bool:
            if stage == "asking":
                entered.set()
                await forever.wait()
            if stage == "granted":
                entered.set()
                try:
                    await forever.wait()
                except asyncio.CancelledError:
                    return True
            return True

        async def on_error(error: BaseException) -> None:
            entered.set()
            await forever.wait()

        of = gate(
            tool(
                failing(9, ValueError()),
                approval="human",
                on_error=on_error if stage == "recovering" else None,
                retries=int(stage == "waiting"),
                backoff=60.0,
            ),
            approve=approve,
        )
        of.hub.on("tool.failed", lambda event: entered.set())
        call = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
        await entered.wait()
        await of.aclose(drain=0.001)
        outcome = await call
        assert outcome.error is not None
        assert outcome.error.code == "interrupted"
        assert outcome.attempts == (0 if stage in ("asking", "granted") else 1)

    run(body)


def test_no_fallback_begins_while_the_gate_closes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closing_module, "STOPPED_GRACE", 0.5)

    async def body() -> None:
        unwinds, fallbacks = asyncio.Event(), list[BaseException]()

        async def execute(args: Amount) -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                unwinds.set()
                await asyncio.sleep(0.1)  # the gate closes meanwhile
                raise

        of = gate(tool(execute, timeout=0.02, on_error=fallbacks.append))
        call = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
        await unwinds.wait()
        await of.aclose(drain=0.001)
        assert (verdict(await call), fallbacks) == (("unknown", "interrupted", 1), [])

    run(body)


def test_closing_stops_what_begins_to_wait_only_then(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> None:
        entered = asyncio.Event()

        async def execute(args: Amount) -> None:
            entered.set()
            await asyncio.Event().wait()

        of = gate(tool(execute))
        real = Attempts.stop_all

        def deaf(attempts: Attempts, why: Stop) -> None:
            monkeypatch.setattr(Attempts, "stop_all", real)  # the first call comes before the attempt waits

        monkeypatch.setattr(Attempts, "stop_all", deaf)
        call = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
        await entered.wait()
        await of.aclose(drain=0.001)
        assert verdict(await call) == ("unknown", "interrupted", 1)

    run(body)


def test_closing_from_two_loops_at_once_closes_once() -> None:
    entered, release = threading.Event(), threading.Event()
    driver = Slow(entered, release)
    of = gate(tool(pay), sandbox=driver)
    ended: list[int] = []

    def close(number: int) -> None:
        asyncio.run(of.aclose())
        ended.append(number)

    threads = [threading.Thread(target=close, args=(number,), daemon=True) for number in range(2)]
    threads[0].start()
    assert entered.wait(5.0)
    threads[1].start()
    threads[1].join(0.05)
    assert ended == []
    release.set()
    for thread in threads:
        thread.join(5.0)
    assert (sorted(ended), driver.closed) == ([0, 1], 1)


# --- a closer that does not get to the end ---


def test_a_cancelled_closer_gives_no_more_time_and_still_closes_everything() -> None:
    async def body() -> None:
        entered, driver = asyncio.Event(), Closing()

        async def execute(args: Amount) -> None:
            entered.set()
            await asyncio.Event().wait()

        of = gate(tool(execute, effect="write"), sandbox=driver)
        call = asyncio.create_task(of.call("pay", ARGS, origin=ORIGIN))
        await entered.wait()
        other = asyncio.create_task(of.aclose())
        await asyncio.sleep(0)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await of.aclose(drain=60.0)
        assert not other.done()
        other.cancel()
        with pytest.raises(asyncio.CancelledError):
            await other
        assert (verdict(await call), driver.closed) == (("unknown", "interrupted", 1), 1)
        await of.aclose()
        assert driver.closed == 1

    run(body)


def test_who_closes_after_a_closer_whose_loop_has_ended_does_the_rest() -> None:
    first, second = Closing(), Closing()
    entered = threading.Event()

    async def hang() -> None:
        entered.set()
        await asyncio.Event().wait()

    of = gate(tool(pay), tool(pay, "two", sandbox=second), sandbox=first)
    first.aclose = hang  # type: ignore[method-assign]
    loop = asyncio.new_event_loop()
    task = loop.create_task(of.aclose())
    while not entered.is_set():
        loop.run_until_complete(asyncio.sleep(0))
    loop.close()
    asyncio.run(of.aclose())
    assert second.closed == 1
    assert not task.done()
    task._log_destroy_pending = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("stage", ["asking", "running", "recovering"])
def test_a_call_cannot_close_what_runs_it(stage: str, waits: bool) -> None:
    async def body() -> None:
        said: list[BaseException] = []

        async def closes(*_: Any) -> bool:
            if waits:
                await asyncio.sleep(0)
            try:
                await of.aclose()
            except ConfigError as error:
                said.append(error)
            return True

        driver = Closing()
        options: dict[str, Any] = {"approval": closes} if stage == "asking" else {}
        options |= {"on_error": closes} if stage == "recovering" else {}
        execute = {"asking": pay, "running": closes, "recovering": failing(9, ValueError())}[stage]
        of = gate(tool(execute, **options), sandbox=driver)
        assert verdict(await of.call("pay", ARGS, origin=ORIGIN))[0] == "succeeded"
        assert (len(said), driver.closed) == (1, 0)
        await of.aclose()
        assert driver.closed == 1

    run(body)


def test_a_call_may_close_another_gate_and_a_handler_of_events_its_own() -> None:
    async def body() -> None:
        inner, outer = Closing(), Closing()

        async def closes(_: Any) -> None:
            await of.aclose()

        async def closes_itself(_: Any) -> None:
            await around.aclose()
            ended.set()

        ended = asyncio.Event()
        of = gate(tool(pay), sandbox=inner)
        around = gate(tool(closes), sandbox=outer)
        around.hub.on("tool.completed", closes_itself)
        assert verdict(await around.call("pay", ARGS, origin=ORIGIN)) == ("succeeded", None, 1)
        await ended.wait()
        assert (inner.closed, outer.closed) == (1, 1)

    run(body, seconds=1.5)
