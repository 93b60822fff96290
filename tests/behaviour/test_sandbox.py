"""Where tools run: only in an explicit place, the tool's own before the common one, closed once and last."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import ringfence as rf
from tests.behaviour.kit import FAILED, SUCCESS, Book, Heard, Minimal, Payment, call, door, each_place, ending, pay, run
from tests.requirements import requirement

# --- explicit ---


@requirement("AC49", "seed.explicit", "seed.errors")
def test_without_a_sandbox_nothing_starts_and_with_one_it_does() -> None:
    async def body() -> None:
        own, book = Minimal(), Book()
        tools = [pay(book, "housed", sandbox=own), pay(book, "bare")]
        boundary = rf.Boundary(tools=tools)
        for attempt in (boundary.__aenter__, lambda: boundary.call("bare", {"amount": 5})):
            with pytest.raises(rf.ToolSandboxRequiredError, match="explicit sandbox") as caught:
                await attempt()
            assert (caught.value.code, "bare" in str(caught.value)) == ("sandbox_required", True)
        assert (own.runs, book.paid) == ([], [])
        async with rf.Boundary(tools=tools, sandbox=Minimal()) as complete:
            assert (await complete.call("bare", {"amount": 5})).unwrap() == "paid 5 to ada"

    run(body)


@requirement("AC50", "seed.precedence")
def test_no_common_sandbox_is_needed_where_every_tool_has_its_own_or_there_is_none() -> None:
    async def body() -> None:
        own = Minimal()
        async with rf.Boundary(tools=[pay(Book(), sandbox=own)]) as boundary:
            assert (await boundary.call("pay", {"amount": 5})).unwrap() == "paid 5 to ada"
        async with rf.Boundary(tools=[]) as empty:
            assert ending(await empty.call("pay", {})) == ("refused", "unknown_tool", 0)
        assert len(own.runs) == 1

    run(body)


@requirement("seed.precedence")
def test_a_tools_own_sandbox_is_used_before_the_common_one() -> None:
    own, common = Minimal(), Minimal()

    async def body() -> None:
        async with rf.Boundary(tools=[pay(Book(), sandbox=own), pay(Book(), "other")], sandbox=common) as boundary:
            for name in ("pay", "other", "pay"):
                assert (await boundary.call(name, {"amount": 5})).unwrap() == "paid 5 to ada"

    run(body)
    assert (len(own.runs), len(common.runs)) == (2, 1)


@requirement("AC54", "seed.local")
@pytest.mark.parametrize(
    "options",
    [{}, {"unsafe": False}, {"unsafe": 1}, {"unsafe": "true"}, {"unsafe": "True"}, {"unsafe": None}, {"unsafe": {}}],
)
def test_only_exactly_true_acknowledges_running_without_isolation(options: Any) -> None:
    with pytest.raises(rf.ConfigError) as caught:
        rf.local(**options)
    assert isinstance(caught.value, TypeError)
    assert "unsafe=True" in str(caught.value)


@requirement("AC54", "seed.local", "seed.explicit")
def test_the_acknowledgement_is_a_named_option_and_nothing_else() -> None:
    positional: Any = rf.local
    with pytest.raises(TypeError):
        positional({"unsafe": True})
    with pytest.raises(TypeError):
        positional(True)
    assert rf.local(unsafe=True).name == "unsafe_local"


@requirement("AC57", "W20", "seed.local")
def test_the_local_driver_claims_no_protection() -> None:
    driver = rf.local(unsafe=True)
    guarantees = driver.guarantees()
    assert driver.permissions is None
    assert {"files", "network", "processes", "memory", "time"} <= set(guarantees)
    assert set(guarantees.values()) == {"none"}


# --- the contract ---


@requirement("AC55", "seed.driver", "seed.signal", "D3")
@pytest.mark.parametrize("options", [{"timeout": 60}, {}])
def test_a_driver_gets_one_input_and_a_signal(options: dict[str, Any]) -> None:
    spy, book = Minimal(), Book()
    outcome, _ = call(pay(book, **options), sandbox=spy)
    ((args, signal),) = spy.runs
    assert (outcome.unwrap(), args) == ("paid 5 to ada", [Payment(amount=5)])
    assert signal is not None
    assert (signal.aborted, signal) == (False, book.contexts[0].signal)


class FourMembers:
    """What the seed's interface asks for, and its one permission record."""

    def __init__(self) -> None:
        self.name = "four"
        self.permissions = {"fs": ["/srv/data"], "network": False, "shell": False}
        self.closed = 0

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        result = fn(*args)
        return await result if asyncio.iscoroutine(result) else result

    async def aclose(self) -> None:
        self.closed += 1


@requirement("seed.driver", "D3")
def test_a_driver_of_the_seeds_four_members_runs_tools() -> None:
    driver = FourMembers()
    assert isinstance(driver, rf.Driver)
    outcome, heard = call(pay(Book(), timeout=60), sandbox=driver)
    assert (outcome.unwrap(), heard.types, driver.closed) == ("paid 5 to ada", SUCCESS, 1)


@requirement("seed.driver")
@pytest.mark.parametrize("sandbox", ["local", Minimal, object(), print, {"name": "x", "run": print}])
def test_what_is_no_driver_is_refused_while_building(sandbox: Any) -> None:
    with pytest.raises(rf.ConfigError):
        rf.Boundary(tools=[], sandbox=sandbox)
    with pytest.raises(rf.ConfigError):
        pay(Book(), sandbox=sandbox)


@requirement("seed.explicit", "W22")
@pytest.mark.parametrize("started", [False, True])
def test_a_place_that_fails_is_told_apart_from_a_tool_that_fails(started: bool) -> None:
    class Dies(Minimal):
        async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
            if started:
                await fn(*args)
            raise rf.SandboxFault("gone", code="sandbox_crashed")

    outcome, heard = call(pay(Book(), retries=2), sandbox=Dies())
    assert ending(outcome) == ("unknown" if started else "failed", "sandbox_crashed", 1)
    assert heard.types == FAILED
    with pytest.raises(rf.SandboxFault):
        outcome.unwrap()


# --- what a driver may not do ---


@requirement("W14", "W23")
@each_place
def test_a_tool_that_changes_its_input_changes_no_other_attempts(place: str) -> None:
    seen: list[int] = []

    async def greedy(given: Payment) -> str:
        seen.append(given.amount)
        given.amount *= 1_000
        if len(seen) < 3:
            raise ConnectionError
        return "done"

    assert ending(call(pay(greedy, retries=2), place=place)[0]) == ("succeeded", None, 3)
    assert seen == [5, 5, 5]


# --- closing ---


@requirement("W23", "seed.closes", "D3")
def test_every_sandbox_that_is_used_is_closed_once() -> None:
    async def body() -> None:
        own, common, shared = Minimal(), Minimal(), Minimal()
        tools = [pay(Book(), "a", sandbox=own), pay(Book(), "b", sandbox=shared), pay(Book(), "c", sandbox=shared)]
        boundary = rf.Boundary(tools=[*tools, pay(Book(), "d")], sandbox=common)
        async with boundary:
            await boundary.call("a", {"amount": 5})
        await boundary.aclose()
        assert [driver.closed for driver in (own, shared, common)] == [1, 1, 1]

    run(body)


@requirement("W23")
def test_all_sandboxes_are_tried_although_some_fail_to_close() -> None:
    class Stuck(Minimal):
        async def aclose(self) -> None:
            await super().aclose()
            raise OSError(self.name)

    async def body() -> None:
        places = [Stuck(), Minimal(), Stuck()]
        boundary = rf.Boundary(tools=[pay(Book(), f"t{n}", sandbox=one) for n, one in enumerate(places)])
        with pytest.raises(ExceptionGroup) as caught:
            await boundary.aclose()
        assert [type(error) for error in caught.value.exceptions] == [OSError, OSError]
        assert [one.closed for one in places] == [1, 1, 1]

    run(body)


@requirement("W25", "seed.closes")
def test_closing_takes_no_more_calls_lets_running_ones_end_and_closes_sandboxes_last() -> None:
    order: list[str] = []

    class Told(Minimal):
        async def aclose(self) -> None:
            order.append("closed")

    async def body() -> None:
        begun, release = asyncio.Event(), asyncio.Event()

        async def work(given: Payment) -> str:
            begun.set()
            await release.wait()
            order.append("ended")
            return "done"

        boundary = rf.Boundary(tools=[pay(work)], sandbox=Told())
        heard = Heard(boundary)
        task = asyncio.create_task(boundary.call("pay", {"amount": 5}))
        await begun.wait()
        closing = asyncio.create_task(boundary.aclose())
        await asyncio.sleep(0)
        with pytest.raises(rf.ConfigError) as caught:
            await boundary.call("pay", {"amount": 5})
        assert caught.value.code == "not_running"
        release.set()
        assert (await task).unwrap() == "done"
        await closing
        assert (order, heard.types) == (["ended", "closed"], SUCCESS)

    run(body)


@requirement("seed.closes")
def test_a_boundary_that_never_starts_closes_its_sandboxes_all_the_same() -> None:
    async def body() -> None:
        place = Minimal()
        await door(pay(Book()), sandbox=place).aclose()
        assert (place.closed, place.runs) == (1, [])

    run(body)
