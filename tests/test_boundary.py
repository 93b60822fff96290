"""The door, as its users see it: the acceptance cases of governed tools through the public names."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict, UserDict
from collections.abc import AsyncIterator, Callable, Mapping
from types import MappingProxyType
from typing import Any

import pytest

import ringfence as rf
from ringfence.gate.hub import EventStream
from ringfence.gate.signals import AbortSignal
from tests.gate.kit import run


@rf.tool
async def lookup_order(order_id: int, note: str = "none") -> dict[str, Any]:
    """Look up an order."""
    return {"id": order_id, "note": note}


@rf.tool(approval="human", effect="write")
async def refund(order_id: int, cents: int) -> str:
    """Pay money back."""
    return f"refunded {cents}"


def boundary(*tools: rf.Tool[..., Any], **options: Any) -> rf.Boundary:
    options.setdefault("sandbox", rf.local(unsafe=True))
    return rf.Boundary(tools=list(tools), **options)


def types(of: rf.Boundary) -> list[str]:
    """What a subscriber without a filter hears."""
    heard: list[str] = []
    of.on(None, lambda event: heard.append(event.type))
    return heard


def approve(request: rf.ApprovalRequest) -> bool:
    return request.arguments["cents"] <= 5_000


class Spy:
    """A driver that remembers what it was asked, and how often it was closed."""

    name = "spy"
    permissions = None

    def __init__(self) -> None:
        self.calls: list[tuple[list[Any], rf.Signal | None]] = []
        self.closed = 0

    def guarantees(self) -> Mapping[str, str]:
        return {}

    async def run(self, fn: Callable[..., Any], args: list[Any], *, signal: rf.Signal | None = None) -> Any:
        self.calls.append((args, signal))
        return await fn(*args)

    async def aclose(self) -> None:
        self.closed += 1


# --- building and starting ---


def test_a_spy_is_a_driver() -> None:
    assert isinstance(Spy(), rf.Driver)


@pytest.mark.parametrize(
    ("tools", "code"),
    [
        ([lookup_order, lookup_order], "duplicate_name"),
        ([lambda: 1], "bad_config"),
        (lookup_order, "bad_config"),
        ("lookup_order", "bad_config"),
    ],
)
def test_what_is_no_collection_of_tools_is_refused_while_building(tools: Any, code: str) -> None:
    with pytest.raises(rf.ConfigError) as caught:
        rf.Boundary(tools=tools)
    assert caught.value.code == code


@pytest.mark.parametrize(
    "options",
    [{"sandbox": "local"}, {"sandbox": Spy}, {"approve": "yes"}, {"approve": lambda: True}, {"approval_timeout": -1}],
)
def test_wrong_options_are_refused_while_building(options: dict[str, Any]) -> None:
    with pytest.raises(rf.ConfigError):
        rf.Boundary(tools=[lookup_order], **options)


def test_without_a_sandbox_neither_start_nor_call_succeeds() -> None:
    async def body() -> None:
        bare = rf.Boundary(tools=[lookup_order.replace(name="fine", sandbox=Spy()), lookup_order])
        for attempt in (bare.__aenter__, lambda: bare.call("lookup_order", {"order_id": 7}), lambda: bare.call("fine")):
            with pytest.raises(rf.ToolSandboxRequiredError, match="explicit sandbox for lookup_order") as caught:
                await attempt()
            assert caught.value.code == "sandbox_required"

    run(body)


def test_no_default_is_needed_where_every_tool_has_its_own() -> None:
    async def body() -> None:
        own, common = Spy(), Spy()
        async with rf.Boundary(tools=[lookup_order.replace(sandbox=own)]) as one:
            assert (await one.call("lookup_order", {"order_id": 7})).unwrap() == {"id": 7, "note": "none"}
        async with rf.Boundary(tools=[lookup_order.replace(sandbox=own)], sandbox=common) as two:
            await two.call("lookup_order", {"order_id": 7})
        async with rf.Boundary(tools=[]):
            pass
        assert (len(own.calls), len(common.calls), own.closed, common.closed) == (2, 0, 2, 1)

    run(body)


def test_a_tool_that_nobody_can_approve_is_warned_of_at_start(caplog: pytest.LogCaptureFixture) -> None:
    async def body() -> None:
        async with boundary(refund):
            pass
        async with boundary(refund, approve=approve), boundary(lookup_order):
            pass

    run(body)
    assert [(record.levelno, record.getMessage().partition(" ")[0]) for record in caplog.records] == [
        (logging.WARNING, "refund")
    ]


def test_tools_are_in_the_order_given() -> None:
    assert [tool.name for tool in boundary(refund, lookup_order).tools] == ["refund", "lookup_order"]
    assert boundary(lookup_order).gate.tools["lookup_order"] is lookup_order


# --- one call ---


def test_a_call_works_with_and_without_a_context_manager() -> None:
    async def body() -> None:
        plain = boundary(lookup_order)
        heard = types(plain)
        outcome = await plain.call("lookup_order", {"order_id": 7})
        assert (outcome.status, outcome.value, outcome.attempts) == ("succeeded", {"id": 7, "note": "none"}, 1)
        assert heard == ["tool.called", "tool.completed"]
        await plain.aclose()

    run(body)


def test_the_sandbox_gets_one_positional_input_and_a_signal() -> None:
    async def body() -> None:
        spy = Spy()
        async with boundary(lookup_order.replace(timeout=5.0), sandbox=spy) as open_:
            await open_.call("lookup_order", {"order_id": 7})
        ((args, signal),) = spy.calls
        assert len(args) == 1
        assert signal is not None

    run(body)


@pytest.mark.parametrize("args", [{"order_id": "7"}, {}, {"order_id": 7, "x": 1}, b'{"order_id":7}', None, [7], "7"])
def test_arguments_that_do_not_fit_never_reach_approver_or_tool(args: Any) -> None:
    async def body() -> None:
        asked: list[object] = []
        careful = lookup_order.replace(approval=lambda given, info: asked.append(given))  # type: ignore[misc]
        async with boundary(careful) as open_:
            heard = types(open_)
            outcome = await open_.call("lookup_order", args)
            assert outcome.error is not None
            assert (outcome.status, outcome.error.code, asked, heard) == ("refused", "invalid_input", [], [])
            with pytest.raises(rf.ToolValidationError):
                outcome.unwrap()

    run(body)


class Unruly(UserDict[str, Any]):
    """A mapping that does not want to be read."""

    def __iter__(self) -> Any:
        raise SystemExit(1)


@pytest.mark.parametrize("kind", [MappingProxyType[str, int], UserDict[str, int], OrderedDict[str, int], Counter[str]])
def test_any_mapping_holds_arguments(kind: Callable[[dict[str, int]], Mapping[str, int]]) -> None:
    async def body() -> str:
        async with boundary(lookup_order) as open_:
            return (await open_.call("lookup_order", kind({"order_id": 7}))).status

    assert run(body) == "succeeded"


NO_ARGUMENTS: list[Mapping[Any, Any]] = [
    Unruly(order_id=7),
    {"order_id": MappingProxyType[str, int]({})},
    MappingProxyType({1: 2}),
]


@pytest.mark.parametrize("args", NO_ARGUMENTS)
def test_a_mapping_of_something_else_is_refused(args: Any) -> None:
    async def body() -> str | None:
        async with boundary(lookup_order) as open_:
            error = (await open_.call("lookup_order", args)).error
            return error.code if error else None

    assert run(body) == "invalid_input"


def test_a_tool_without_arguments_needs_none() -> None:
    @rf.tool
    async def ping() -> str:
        """Answer."""
        return "pong"

    async def body() -> str:
        async with boundary(ping) as open_:
            return (await open_.call("ping")).unwrap()

    assert run(body) == "pong"


@pytest.mark.parametrize("field", ["session_id", "principal"])
@pytest.mark.parametrize("value", ["", 7, b"s"])
def test_sessions_and_principals_are_text(field: str, value: Any) -> None:
    async def body() -> None:
        async with boundary(lookup_order) as open_:
            with pytest.raises(rf.ConfigError, match=field):
                await open_.call("lookup_order", {"order_id": 7}, **{field: value})

    run(body)


def test_a_call_without_a_session_has_one_of_its_own() -> None:
    async def body() -> None:
        sessions: list[str] = []
        async with boundary(lookup_order) as open_:
            open_.on("tool.called", lambda event: sessions.append(event.session_id))
            for _ in range(5):
                await open_.call("lookup_order", {"order_id": 7})
            await open_.call("lookup_order", {"order_id": 7}, session_id="mine")
        assert len(set(sessions[:5])) == 5
        assert sessions[5] == "mine"

    run(body)


# --- approvals ---


def test_a_person_sees_the_validated_call_and_decides() -> None:
    async def body() -> None:
        seen: list[rf.ApprovalRequest] = []

        async def ask(request: rf.ApprovalRequest) -> bool:
            seen.append(request)
            return approve(request)

        async with boundary(refund, approve=ask) as open_:
            heard = types(open_)
            good = await open_.call("refund", {"order_id": 7, "cents": 4_000}, session_id="s", principal="ada")
            bad = await open_.call("refund", {"order_id": 7, "cents": 9_000})
            assert (good.value, bad.status) == ("refunded 4000", "refused")
            assert heard == [
                *["approval.required", "approval.granted", "tool.called", "tool.completed"],
                "approval.required",
            ]
            with pytest.raises(rf.ToolApprovalError):
                bad.unwrap()
        assert seen[0].arguments == {"order_id": 7, "cents": 4_000}
        assert (seen[0].session_id, seen[0].principal, seen[0].tool) == ("s", "ada", "refund")

    run(body)


def test_a_callback_gets_the_validated_input_and_exactly_tool_and_session() -> None:
    async def body() -> None:
        seen: list[Any] = []

        def trusted(given: Any, info: rf.ApprovalInfo) -> bool:
            seen.extend((given.order_id, info))
            return info.session_id.startswith("trusted:")

        async with boundary(lookup_order.replace(approval=trusted)) as open_:
            denied = await open_.call("lookup_order", {"order_id": 7}, session_id="else")
            granted = await open_.call("lookup_order", {"order_id": 8}, session_id="trusted:1")
        assert (denied.status, granted.status) == ("refused", "succeeded")
        assert seen == [
            *[7, rf.ApprovalInfo(tool="lookup_order", session_id="else")],
            *[8, rf.ApprovalInfo(tool="lookup_order", session_id="trusted:1")],
        ]

    run(body)


def test_an_approver_that_never_answers_blocks_no_other_call() -> None:
    async def body() -> None:
        async def silent(request: rf.ApprovalRequest) -> bool:
            await asyncio.Event().wait()
            return True

        async with boundary(refund, lookup_order, approve=silent, approval_timeout=0.05) as open_:
            waiting = asyncio.create_task(open_.call("refund", {"order_id": 7, "cents": 1}, session_id="s"))
            await asyncio.sleep(0)
            other = await open_.call("lookup_order", {"order_id": 7}, session_id="s")
            assert (other.status, waiting.done()) == ("succeeded", False)
            error = (await waiting).error
            assert error is not None
            assert error.code == "approval_expired"

    run(body)


# --- failures ---


def test_a_failure_is_data_until_it_is_unwrapped() -> None:
    @rf.tool(retries=1)
    async def broken(order_id: int) -> str:
        """Break."""
        raise ConnectionError("postgres://admin:secret@db")

    async def body() -> None:
        async with boundary(broken) as open_:
            heard = types(open_)
            outcome = await open_.call("broken", {"order_id": 7})
            assert outcome.error is not None
            assert (outcome.status, outcome.error.code, outcome.attempts) == ("failed", "tool_raised", 2)
            assert heard == ["tool.called", "tool.failed"] * 2
            assert outcome.error.name == "ConnectionError"
            assert outcome.call_id in outcome.error.message
            assert "secret" not in str(outcome)
            with pytest.raises(rf.ToolFailure) as caught:
                outcome.unwrap()
            assert isinstance(caught.value.__cause__, ConnectionError)

    run(body)


def test_a_fallback_is_a_result() -> None:
    seen: list[BaseException] = []

    def unavailable(error: BaseException) -> dict[str, Any]:
        seen.append(error)
        return {"available": False}

    @rf.tool(timeout=0.005, retries=2, on_error=unavailable)
    async def slow(order_id: int) -> dict[str, Any]:
        """Take too long."""
        await asyncio.Event().wait()
        return {}

    async def body() -> None:
        async with boundary(slow) as open_:
            heard = types(open_)
            outcome = await open_.call("slow", {"order_id": 7})
            assert (outcome.status, outcome.value) == ("succeeded", {"available": False})
            assert heard == ["tool.called", "tool.failed"]
        assert [type(error) for error in seen] == [rf.ToolTimeoutError]

    run(body)


def test_a_nested_call_keeps_its_own_rules() -> None:
    async def body() -> None:
        asked: list[int] = []

        def ask(request: rf.ApprovalRequest) -> bool:
            asked.append(request.arguments["cents"])
            return False

        @rf.tool(retries=3)
        async def outer(cents: int) -> str:
            """Refund through the same door."""
            return (await door.call("refund", {"order_id": 1, "cents": cents})).unwrap()

        door = boundary(outer, refund, approve=ask)
        async with door:
            outcome = await door.call("outer", {"cents": 5})
        assert outcome.error is not None
        assert (outcome.status, outcome.error.code, outcome.attempts, asked) == ("failed", "tool_raised", 1, [5])

    run(body)


def test_an_aborted_signal_refuses_the_call() -> None:
    async def body() -> None:
        signal = AbortSignal()
        signal.abort()
        async with boundary(lookup_order) as open_:
            outcome = await open_.call("lookup_order", {"order_id": 7}, signal=signal)
            assert outcome.error is not None
            assert (outcome.status, outcome.error.code) == ("refused", "aborted")

    run(body)


# --- events ---


def test_an_event_is_the_seeds_three_fields_and_meta() -> None:
    async def body() -> None:
        seen: list[rf.Event] = []
        async with boundary(refund, approve=approve) as open_:
            open_.on(None, seen.append)
            await open_.call("refund", {"order_id": 424242, "cents": 1}, session_id="s")
        assert rf.Event.__match_args__ == ("type", "tool", "session_id", "meta")
        assert {(event.tool, event.session_id) for event in seen} == {("refund", "s")}
        assert "424242" not in repr(seen)

    run(body)


def test_events_can_be_iterated_until_the_boundary_closes() -> None:
    async def body() -> None:
        async with boundary(lookup_order) as open_:
            stream: AsyncIterator[rf.Event] = open_.events()
            rejected: EventStream = open_.events(["tool.rejected", "tool.called"])
            await open_.call("lookup_order", {"order_id": 7})
            await open_.call("nothing")
        assert [event.type async for event in stream] == ["tool.called", "tool.completed"]
        assert [event.type async for event in rejected] == ["tool.called", "tool.rejected"]

    run(body)


# --- the end ---


def test_closing_is_final_and_may_be_repeated() -> None:
    async def body() -> None:
        spy = Spy()
        closed = boundary(lookup_order, refund, sandbox=spy, approve=approve)
        async with closed:
            pass
        await closed.aclose()
        assert spy.closed == 1
        for attempt in (closed.__aenter__, lambda: closed.call("lookup_order", {"order_id": 7})):
            with pytest.raises(rf.ConfigError) as caught:
                await attempt()
            assert caught.value.code == "not_running"

    run(body)


def test_statistics_tell_what_is_going_on() -> None:
    async def body() -> None:
        entered, release = asyncio.Event(), asyncio.Event()

        @rf.tool
        async def wait() -> None:
            """Wait."""
            entered.set()
            await release.wait()

        async with boundary(wait, lookup_order.replace(sandbox=Spy())) as open_:
            types(open_)
            call = asyncio.create_task(open_.call("wait"))
            await entered.wait()
            statistics = open_.statistics()
            assert (statistics.gate.running, statistics.events.emitted, statistics.events.subscribers) == (1, 1, 1)
            assert [name for name, _ in statistics.drivers] == ["unsafe_local"]
            release.set()
            await call
            assert open_.statistics().gate.running == 0

    run(body)


def test_calls_run_side_by_side() -> None:
    async def body() -> None:
        here: list[int] = []
        all_here = asyncio.Event()

        @rf.tool
        async def meet(number: int) -> int:
            """Wait for the others."""
            here.append(number)
            if len(here) == 50:
                all_here.set()
            await all_here.wait()
            return number

        async with boundary(meet) as open_:
            outcomes = await asyncio.gather(*(open_.call("meet", {"number": number}) for number in range(50)))
        assert [outcome.value for outcome in outcomes] == list(range(50))

    run(body)


def test_a_failing_sibling_does_not_leave_others_running() -> None:
    async def body() -> None:
        ended: list[str] = []
        entered = asyncio.Event()

        @rf.tool
        async def send() -> None:
            """Send slowly."""
            try:
                entered.set()
                await asyncio.Event().wait()
            finally:
                ended.append("cancelled")

        async def fail() -> None:
            await entered.wait()
            raise ValueError

        async with boundary(send) as open_:
            with pytest.raises(ExceptionGroup):
                async with asyncio.TaskGroup() as group:
                    group.create_task(open_.call("send"))
                    group.create_task(fail())
            assert (ended, open_.statistics().gate.running) == (["cancelled"], 0)

    run(body)


def test_progress_is_an_event_with_the_share_and_without_the_text() -> None:
    @rf.tool(effect="read")
    async def slow(ctx: rf.ToolContext) -> int:
        """Work."""
        ctx.progress(0.25, "secret")
        ctx.progress(7)
        return 1

    async def body() -> list[rf.Event]:
        seen: list[rf.Event] = []
        async with rf.Boundary([slow], sandbox=rf.local(unsafe=True)) as boundary:
            boundary.on("tool.progress", seen.append)
            await boundary.call("slow")
        return seen

    seen = asyncio.run(body())
    assert "secret" not in repr(seen)
    assert [(event.tool, event.meta["fraction"]) for event in seen] == [("slow", 0.25), ("slow", 1.0)]


class _Broken:
    @property
    def aborted(self) -> bool:
        raise ValueError

    async def wait(self) -> None: ...


@pytest.mark.parametrize("signal", [asyncio.Event(), rf.AbortSignal, _Broken(), object(), True])
def test_a_signal_that_is_none_is_a_configuration_error(signal: Any) -> None:
    async def body() -> None:
        async with boundary(lookup_order) as door:
            with pytest.raises(rf.ConfigError, match="signal must have aborted"):
                await door.call("lookup_order", {"order_id": 1}, signal=signal)

    run(body)


def test_an_asynchronous_handler_has_heard_of_a_call_when_its_outcome_is_there() -> None:
    seen: list[str] = []

    async def hear(event: rf.Event) -> None:
        seen.append(event.type)

    @rf.tool
    async def say(text: str) -> str:
        """Say it."""
        return text

    async def body() -> None:
        boundary = rf.Boundary([say], sandbox=rf.local(unsafe=True))
        boundary.on(None, hear)
        for _ in range(2):
            await boundary.call("say", {"text": "a"})
            assert seen == ["tool.called", "tool.completed"]
            seen.clear()
        await boundary.aclose()

    run(body)
