"""Calls from a script to governed tools: checked, approved, placed, timed, and named by `tools` (seed 1.D, decisions 7–9, 15, 21)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

import ringfence as rf
from ringfence.ports import Answer, Position
from tests.enclave.kit import Stage, code, detail, outcomes
from tests.requirements import requirement

Body = Callable[..., Awaitable[Any]]


class Shop:
    """Governed tools whose bodies and whose approver a test sets, and what they saw."""

    def __init__(self) -> None:
        self.bodies: dict[str, Body] = {}
        self.seen: list[tuple[Any, ...]] = []
        self.asked: list[rf.ApprovalRequest] = []
        self.contexts: list[rf.ToolContext] = []
        self.decide: Callable[[rf.ApprovalRequest], Awaitable[Any]] = _yes
        self.boundary = rf.Boundary(
            [
                rf.tool(name="read", effect="read")(self._read),
                rf.tool(name="write", effect="write")(self._write),
                rf.tool(name="plain")(self._plain),
                rf.tool(name="refund", effect="write", approval="human")(self._refund),
                rf.tool(name="hasty", effect="read", timeout=0.05)(self._hasty),
                rf.tool(name="hasty_write", effect="write", timeout=0.05)(self._hasty),
                rf.tool(name="import", effect="read")(self._read),
                rf.tool(name="typed", effect="read")(self._typed),
            ],
            sandbox=rf.local(unsafe=True),
            approve=self._approve,
        )

    def reset(self) -> None:
        self.bodies.clear()
        self.decide = _yes
        for seen in (self.seen, self.asked, self.contexts):
            seen.clear()

    async def _read(self, n: int = 0, ctx: rf.ToolContext | None = None) -> Any:
        """Read."""
        return await self._do("read", n)

    async def _write(self, n: int) -> Any:
        """Write."""
        return await self._do("write", n)

    async def _plain(self, n: int = 0) -> Any:
        """Say nothing of effects."""
        return await self._do("plain", n)

    async def _refund(self, order_id: int, cents: int = 100) -> Any:
        """Give money back."""
        return await self._do("refund", order_id, cents)

    async def _hasty(self, n: int = 0) -> Any:
        """Must be quick."""
        return await self._do("hasty", n)

    async def _typed(self, n: int = 0) -> list[int]:
        """Numbers."""
        return await self._do("typed", n)

    async def _do(self, name: str, *args: Any) -> Any:
        self.seen.append((name, *args))
        body = self.bodies.get(name)
        return list(args) if body is None else await body(*args)

    async def _approve(self, request: rf.ApprovalRequest) -> Any:
        self.asked.append(request)
        return await self.decide(request)


async def _yes(_: rf.ApprovalRequest) -> bool:
    return True


async def _no(_: rf.ApprovalRequest) -> bool:
    return False


async def forever(*_: Any) -> None:
    await asyncio.Event().wait()


@pytest.fixture(scope="module")
def module_shop() -> Shop:
    return Shop()


@pytest.fixture
def shop(module_shop: Shop) -> Shop:
    module_shop.reset()
    return module_shop


@pytest.fixture
def play(shop: Shop, stage: Stage) -> Callable[..., rf.RunResult]:
    """Run a script over the shop."""

    def run(source: str, inputs: dict[str, Any] | None = None, **options: Any) -> rf.RunResult:
        return stage.script(source, inputs, tools=shop.boundary, **options)

    return run


Play = Callable[..., rf.RunResult]


# the namespace


@pytest.mark.parametrize(
    "call",
    ["tools.write(n=3)", "tools.write({'n': 3})", "call_tool('write', {'n': 3})", "getattr(tools, 'write')(n=3)",
     "tools.write(**{'n': 3})", "tools.write({'n': 3}, throw_on_error=True)", "tools.write({'n': 3}, True)"],
)  # fmt: skip
def test_every_form_of_a_call_is_the_same_call(play: Play, shop: Shop, call: str) -> None:
    """D2, T38."""
    result = play(f"await {call}")
    assert (code(result), result.value, shop.seen) == (None, [3], [("write", 3)])
    assert outcomes(result) == [("write", "succeeded", None)]


def test_a_method_without_arguments_sends_an_empty_object(play: Play) -> None:
    """T39."""
    assert play("await tools.read()").value == [0]


def test_failures_as_data_need_the_mapping_form(play: Play, shop: Shop) -> None:
    """T37, decision 21: the keyword form carries arguments only."""
    shop.bodies["write"] = _raises(rf.ToolError("full"))
    answer = play("await tools.write({'n': 1}, throw_on_error=False)").value
    assert answer == {
        "success": False,
        "error": {"name": "ToolError", "message": "full", "code": "tool_raised", "tool_name": "write"},
    }
    keyword = play("await tools.write(n=1, throw_on_error=False)")
    assert (code(keyword), detail(keyword)) == ("RUNTIME_ERROR", "script_raised")


def test_both_forms_at_once_are_a_mistake(play: Play) -> None:
    result = play("await tools.write({'n': 1}, m=2)")
    assert result.error is not None
    assert (result.error.name, result.stats.tool_call_count) == ("TypeError", 0)


def test_a_keyword_as_a_tools_name_gets_an_underscore(play: Play) -> None:
    """T49, decision 21."""
    result = play("[await tools.import_(n=2), await call_tool('import', {'n': 3})]")
    assert (result.value, [call.name for call in result.calls]) == ([[2], [3]], ["import", "import"])


@pytest.mark.parametrize(
    "source",
    ["tools.read = 1", "tools.other = 1", "del tools.read", "setattr(tools, 'read', 1)", "tools.read.x = 1",
     "tools['read']", "tools()", "type(tools).x = tools.__dict__"],
)  # fmt: skip
def test_the_namespace_cannot_be_changed(play: Play, shop: Shop, source: str) -> None:
    """T45, D3."""
    result = play(f"{source}\nawait tools.read()")
    assert (code(result), shop.seen) == ("RUNTIME_ERROR", [])


def test_the_namespace_lists_exactly_its_methods(play: Play) -> None:
    """T45."""
    names = ["hasty", "hasty_write", "import_", "plain", "read", "refund", "typed", "write"]
    assert play("[sorted(dir(tools)), hasattr(tools, 'secret'), repr(tools.read)]").value == [
        names,
        False,
        "<tool read>",
    ]


def test_methods_are_values(play: Play) -> None:
    """T46."""
    source = "t = tools\nread, write = t.read, t.write\n[await f(n=n) for n, f in enumerate([read, write, t.plain])]"
    assert play(source).value == [[0], [1], [2]]


def test_a_method_that_is_not_there_names_the_namespace_and_the_nearest(play: Play, shop: Shop) -> None:
    """T47."""
    result = play("try:\n    await tools.reed(n=1)\nexcept AttributeError as error:\n    return str(error)")
    assert (result.value, shop.seen) == ("tools has no tool 'reed'. Did you mean tools.read?", [])


def test_a_script_may_use_the_name_tools_for_itself(play: Play) -> None:
    assert play("tools = ['saw']\ntools + [(await call_tool('read', {'n': 1}))[0]]").value == ["saw", 1]


def test_two_enclaves_see_their_own_tools(stage: Stage, shop: Shop) -> None:
    """T54."""

    @rf.tool
    async def only() -> int:
        """Be alone."""
        return 1

    other = rf.Boundary([only], sandbox=rf.local(unsafe=True))
    assert stage.script("dir(tools)", tools=other).value == ["only"]
    assert "only" not in stage.script("dir(tools)", tools=shop.boundary).value


# names and arguments


def test_an_unknown_tool_is_answered_with_the_nearest_name(play: Play, shop: Shop) -> None:
    result = play("x = 1\nawait call_tool('wriet', {'n': 1})")
    assert result.error is not None
    assert (result.error.code, result.error.data["code"], result.error.line) == ("TOOL_ERROR", "unknown_tool", 2)
    assert (result.error.hint, shop.seen) == ("did you mean 'write'?", [])


@pytest.mark.parametrize("throw", ["True", "False"])
def test_an_unknown_tool_always_raises_and_can_be_caught(play: Play, throw: str) -> None:
    source = f"try:\n    await call_tool('nope', {{}}, throw_on_error={throw})\nexcept ToolError as error:\n    return [error.code, error.tool_name]"
    assert play(source).value == ["unknown_tool", "nope"]


@pytest.mark.parametrize("name", ["Read", "read ", "read\n", "re\u0430d", "ｒｅａｄ", "tools.read", "x" * 300])
def test_names_are_compared_exactly(play: Play, shop: Shop, name: str) -> None:
    """3.13 number 89."""
    result = play(f"await call_tool({name!r}, {{}})")
    assert (code(result), shop.seen) == ("TOOL_ERROR", [])


@pytest.mark.parametrize(
    "arguments",
    ["{}", "{'n': '3'}", "{'n': 3.5}", "{'n': True}", "{'n': None}", "{'n': [3]}", "{'n': 3, 'extra': 1}", "{'N': 3}"],
)
def test_arguments_are_checked_as_everywhere(play: Play, shop: Shop, arguments: str) -> None:
    """B5: one path for models, scripts and MCP."""
    result = play(f"await tools.write({arguments})")
    assert result.error is not None
    assert (result.error.code, result.error.data["code"], shop.seen) == ("TOOL_ERROR", "invalid_input", [])
    assert result.error.issues
    assert outcomes(result) == [("write", "refused", "invalid_input")]


def test_a_refused_call_can_be_repaired(play: Play, shop: Shop) -> None:
    source = "try:\n    await tools.write(n='3')\nexcept TypeError:\n    return await tools.write(n=3)"
    assert (play(source).value, shop.seen) == ([3], [("write", 3)])


# failures


def _raises(error: BaseException) -> Body:
    async def fail(*_: Any) -> Any:
        raise error

    return fail


def test_a_tools_own_text_passes_and_any_other_exception_shows_its_class_only(play: Play, shop: Shop) -> None:
    """Decision 8."""
    shop.bodies["read"] = _raises(rf.ToolError("no such order", code="NOT_FOUND"))
    own = play("await tools.read()")
    shop.bodies["read"] = _raises(OSError(2, "No such file", "/secret/path"))
    other = play("await tools.read()")
    assert own.error is not None
    assert other.error is not None
    assert (own.error.message, own.error.name) == ("no such order", "ToolError")
    assert (other.error.code, other.error.name) == ("TOOL_ERROR", "FileNotFoundError")
    assert "secret" not in repr(other)
    assert other.error.data["call_id"] in other.error.message


def test_a_failure_can_be_caught_with_everything_it_says(play: Play, shop: Shop) -> None:
    shop.bodies["write"] = _raises(rf.ToolError("full"))
    source = "try:\n    await tools.write(n=1)\nexcept ToolError as error:\n    return [error.code, error.name, error.message, error.tool_name]"
    result = play(source)
    assert (result.value, outcomes(result)) == (
        ["tool_raised", "ToolError", "full", "write"],
        [("write", "failed", "tool_raised")],
    )


def test_a_tool_that_takes_too_long_fails_and_the_script_goes_on(play: Play, shop: Shop) -> None:
    shop.bodies["hasty"] = forever
    source = "try:\n    await tools.hasty()\nexcept ToolError as error:\n    return error.code"
    result = play(source)
    assert (result.value, outcomes(result)) == ("tool_timeout", [("hasty", "failed", "tool_timeout")])


@pytest.mark.parametrize(
    ("error", "record"),
    [(OSError(), ("save", "unknown", "outcome_unknown")), (rf.ToolError("no"), ("save", "succeeded", None))],
)
def test_a_fallbacks_answer_does_not_hide_an_effect_in_doubt(stage: Stage, error: Exception, record: Any) -> None:
    async def save() -> str:
        """Save."""
        raise error

    saving = rf.Tool.from_function(save, effect="write", on_error=lambda _: "later")  # type: ignore[misc]
    boundary = rf.Boundary([saving], sandbox=rf.local(unsafe=True))
    result = stage.script("await tools.save()", tools=boundary)
    assert (result.success, result.value, outcomes(result)) == (True, "later", [record])


def test_an_effect_that_took_too_long_is_unknown(play: Play, shop: Shop) -> None:
    shop.bodies["hasty"] = forever
    result = play("await tools.hasty_write()")
    assert (code(result), outcomes(result)) == ("TOOL_ERROR", [("hasty_write", "unknown", "tool_timeout")])


def test_a_result_that_is_not_what_was_declared_is_the_tools_failure(play: Play, shop: Shop) -> None:
    shop.bodies["typed"] = _answers({"not": "a list"})
    result = play("await tools.typed({}, throw_on_error=False)")
    assert (code(result), result.value["success"], result.value["error"]["code"]) == (None, False, "bad_result")


@requirement("D11", "W27")
def test_a_result_that_is_too_large_is_the_tools_failure(play: Play, shop: Shop) -> None:
    shop.bodies["read"] = _answers("x" * 5_300_000)
    result = play("await tools.read()")
    assert (code(result), detail(result)) == ("TOOL_ERROR", "bad_result")


def _answers(value: Any) -> Body:
    async def answer(*_: Any) -> Any:
        return value

    return answer


# approvals


def test_an_approved_call_runs_with_what_was_approved(play: Play, shop: Shop) -> None:
    result = play("await tools.refund(order_id=7)")
    assert (code(result), result.value, shop.seen) == (None, [7, 100], [("refund", 7, 100)])
    assert [(request.tool, dict(request.arguments)) for request in shop.asked] == [
        ("refund", {"order_id": 7, "cents": 100})
    ]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("await tools.refund(order_id=1)", id="uncaught"),
        pytest.param("try:\n    await tools.refund(order_id=1)\nexcept Exception:\n    return 'fine'", id="caught"),
        pytest.param("await tools.refund({'order_id': 1}, throw_on_error=False)\n'fine'", id="as data"),
        pytest.param("import asyncio\nawait asyncio.gather(tools.refund(order_id=1), return_exceptions=True)\n'fine'", id="gather"),
        pytest.param("try:\n    await tools.refund(order_id=1)\nexcept BaseException:\n    pass\nfinally:\n    return 'fine'", id="finally"),
        pytest.param("try:\n    await tools.refund(order_id=1)\nexcept ToolError:\n    await tools.read()\n'fine'", id="another call"),
        pytest.param("try:\n    await tools.refund(order_id=1)\nexcept ToolError:\n    raise ValueError('mine')", id="another error"),
    ],
)  # fmt: skip
def test_a_denied_call_ends_the_run_whatever_the_script_does(play: Play, shop: Shop, source: str) -> None:
    """T63 for approvals, decision 15."""
    shop.decide = _no
    result = play(source)
    assert (code(result), detail(result), result.value, shop.seen) == ("APPROVAL_DENIED", "approval_denied", None, [])
    assert outcomes(result)[0] == ("refund", "refused", "approval_denied")
    assert [outcome[1:] for outcome in outcomes(result)[1:]] in ([], [("refused", "approval_denied")])


@pytest.mark.slow
def test_a_denied_script_that_goes_on_for_ever_is_ended(play: Play, shop: Shop) -> None:
    shop.decide = _no
    result = play("try:\n    await tools.refund(order_id=1)\nexcept Exception: pass\nwhile True: pass", timeout=20.0)
    assert code(result) == "APPROVAL_DENIED"
    assert result.stats.duration < 2.0


@pytest.mark.parametrize("answer", [None, 1, "yes", [True], "raise"])
def test_only_true_approves(play: Play, shop: Shop, answer: Any) -> None:
    async def decide(_: rf.ApprovalRequest) -> Any:
        return 1 / 0 if answer == "raise" else answer

    shop.decide = decide
    result = play("await tools.refund(order_id=1)")
    assert (code(result), shop.seen) == ("APPROVAL_DENIED", [])


@requirement("B2")
def test_nobody_is_asked_about_a_call_that_is_not_valid(play: Play, shop: Shop) -> None:
    """B2."""
    result = play("await tools.refund(order_id='x')")
    assert (detail(result), shop.asked) == ("invalid_input", [])


@requirement("D7")
@pytest.mark.slow
def test_the_clock_stands_while_a_person_decides(play: Play, shop: Shop) -> None:
    async def slowly(_: rf.ApprovalRequest) -> bool:
        await asyncio.sleep(0.7)
        return True

    shop.decide = slowly
    result = play("await tools.refund(order_id=1)", timeout=0.4)
    assert (code(result), result.value) == (None, [1, 100])
    assert 0.6 < result.stats.approval_wait < result.stats.duration


@pytest.mark.slow
def test_the_clock_goes_on_when_the_person_has_decided(play: Play, shop: Shop) -> None:
    async def slowly(_: rf.ApprovalRequest) -> bool:
        await asyncio.sleep(0.5)
        return True

    shop.decide = slowly
    result = play("await tools.refund(order_id=1)\nimport asyncio\nawait asyncio.sleep(9)", timeout=0.4)
    assert code(result) == "TIMEOUT"
    assert 0.85 < result.stats.duration < 0.9 + 1.0


@pytest.mark.slow
def test_a_script_that_spins_while_a_person_decides_runs_out_of_processor_time(play: Play, shop: Shop) -> None:
    async def slowly(_: rf.ApprovalRequest) -> bool:
        await asyncio.sleep(10)
        return True

    shop.decide = slowly
    source = "import asyncio\nt = asyncio.create_task(tools.refund(order_id=1))\nawait asyncio.sleep(0)\nawait tools.read()\nwhile True: pass"
    result = play(source, timeout=0.4, validate=False)  # else loops are counted
    assert (code(result), detail(result)) == ("TIMEOUT", "deadline_exceeded")
    assert result.stats.duration < 4


def test_an_undecided_call_at_the_end_did_not_run(play: Play, shop: Shop) -> None:
    shop.decide = forever  # type: ignore[assignment]
    result = play("import asyncio\nt = asyncio.create_task(tools.refund(order_id=1))\nawait tools.read()\n'done'")
    assert (result.value, [name for name, *_ in shop.seen]) == ("done", ["read"])
    assert outcomes(result) == [("read", "succeeded", None), ("refund", "refused", "interrupted")]


def test_several_questions_at_once_hold_the_clock_once(play: Play, shop: Shop) -> None:
    waiting, all_asked = 0, asyncio.Event()

    async def together(_: rf.ApprovalRequest) -> bool:
        nonlocal waiting
        waiting += 1
        if waiting == 3:
            all_asked.set()
        await all_asked.wait()
        await asyncio.sleep(0.2)
        return True

    shop.decide = together
    result = play("import asyncio\nawait asyncio.gather(*(tools.refund(order_id=n) for n in range(3)))")
    assert (code(result), len(shop.asked)) == (None, 3)
    assert 0.15 < result.stats.approval_wait < 0.55


def test_a_denial_stops_calls_that_wait_their_turn(play: Play, shop: Shop) -> None:
    shop.decide = _no
    source = "import asyncio\nawait asyncio.gather(tools.refund(order_id=1), *(tools.write(n=n) for n in range(5)))"
    result = play(source, max_concurrent_calls=1)
    assert (code(result), shop.seen) == ("APPROVAL_DENIED", [])
    assert {status for _, status, _ in outcomes(result)} == {"refused"}


# positions


def test_the_approver_sees_where_the_call_was_made_and_who_made_it(stage: Stage, shop: Shop) -> None:
    enclave = stage.enclave(tools=shop.boundary)
    source = "\n\nasync def pay():\n    return await tools.refund(order_id=1)\n\nawait pay()"
    result = stage.run(enclave.run(source, session_id="chat-1", principal="ada"))
    (request,) = shop.asked
    assert (request.line, request.session_id, request.principal) == (4, "chat-1", "ada")
    assert (request.run_id, request.call_id) == (result.run_id, f"{result.run_id}.1")
    assert [call.line for call in result.calls] == [4]


def test_every_call_has_a_position_that_names_it_again(stage: Stage) -> None:
    positions: list[tuple[Any, ...]] = []

    class Spy:
        """The port as an enclave's session uses it."""

        def form(self, name: str) -> None:
            del name

        def catalogue(self) -> None:
            return None

        def effects(self) -> dict[str, Any]:
            return {}

        async def call(self, name: str, args: bytes, origin: Any, *_: Any, **__: Any) -> Any:
            position: Position = origin.position
            positions.append((name, position.line, position.task, position.sequence))
            return Answer()

    enclave = rf.Enclave(tool_handler=stage.handle)
    enclave._caller = Spy()  # type: ignore[assignment]
    source = (
        "import asyncio\n"
        "async def branch(n):\n"
        "    await call_tool(f'a{n}', {})\n"
        "    await call_tool(f'b{n}', {})\n"
        "await call_tool('first', {})\n"
        "await asyncio.gather(branch(0), branch(1))\n"
        "await call_tool('last', {})\n"
        "asyncio.run(branch(2))\n"
    )

    async def twice() -> list[list[tuple[Any, ...]]]:
        runs: list[list[tuple[Any, ...]]] = []
        async with enclave:
            for _ in range(2):
                positions.clear()
                result = await enclave.run(source)
                assert code(result) is None
                runs.append(sorted(positions))
        return runs

    first, second = stage.run(twice())
    assert first == second
    assert first == [
        ("a0", 3, "0.0", 0),
        ("a1", 3, "0.1", 0),
        ("a2", 3, "0.2", 0),
        ("b0", 4, "0.0", 1),
        ("b1", 4, "0.1", 1),
        ("b2", 4, "0.2", 1),
        ("first", 5, "0", 0),
        ("last", 7, "0", 1),
    ]


def test_calls_on_one_line_have_sites_of_their_own_and_a_loop_has_one(stage: Stage) -> None:
    stage.tools["a"] = _answers(1)
    result = stage.script(
        "x = [await call_tool('a', {}), await call_tool('a', {})]\nfor _ in x:\n    await call_tool('a', {})"
    )
    assert [call.line for call in result.calls] == [1, 1, 3, 3]


# events and closing


def test_events_of_a_run_carry_its_id_and_its_lines(stage: Stage, shop: Shop) -> None:
    enclave = stage.enclave(tools=shop.boundary)
    heard: list[rf.Event] = []
    stop = enclave.on(["run.started", "run.finished", "tool.called", "tool.completed"], heard.append)
    result = stage.run(enclave.run("\nawait tools.write(n=1)"))
    stop()
    assert [(event.type, event.tool, event.meta.get("line")) for event in heard] == [
        ("run.started", None, None),
        ("tool.called", "write", 2),
        ("tool.completed", "write", 2),
        ("run.finished", None, None),
    ]
    assert {event.meta["run_id"] for event in heard} == {result.run_id}
    assert (heard[-1].meta["status"], heard[-1].meta["code"]) == ("succeeded", None)


def test_a_boundary_that_closes_during_a_run_refuses_its_calls(stage: Stage) -> None:
    @rf.tool
    async def close() -> None:
        """Close the boundary that this call came through."""
        closing.append(asyncio.get_running_loop().create_task(boundary.aclose()))
        await asyncio.sleep(0)

    closing: list[asyncio.Task[None]] = []
    boundary = rf.Boundary([close], sandbox=rf.local(unsafe=True))

    async def body() -> rf.RunResult:
        async with rf.Enclave(tools=boundary, timeout=5.0) as enclave:
            result = await enclave.run("await tools.close()\nawait tools.close()")
            await asyncio.gather(*closing)
            return result

    result = stage.run(body())
    assert (code(result), detail(result)) == ("INTERNAL", "not_running")
    assert outcomes(result) == [("close", "succeeded", None), ("close", "refused", "not_running")]


def test_a_run_of_the_boundary_itself_closes_after_itself(stage: Stage, shop: Shop) -> None:
    result = stage.run(shop.boundary.run_script("await tools.write(n=inputs['n'])", {"n": 2}, timeout=5.0))
    assert (code(result), result.value) == (None, [2])


# calls that are open at the end


def test_open_calls_are_recorded_by_what_they_may_have_done(play: Play, shop: Shop) -> None:
    """Decision 19."""
    for name in ("read", "write", "plain"):
        shop.bodies[name] = forever
    source = (
        "import asyncio\ntasks = [asyncio.create_task(f(n=1)) for f in (tools.read, tools.write, tools.plain)]\n"
        "await asyncio.sleep(0.02)\n'done'"
    )
    result = play(source)
    assert (result.value, outcomes(result)) == (
        "done",
        [("read", "failed", "interrupted"), ("write", "unknown", "interrupted"), ("plain", "unknown", "interrupted")],
    )


def test_the_tools_own_exception_is_the_hosts_alone(play: Play, shop: Shop) -> None:
    failure = ValueError("column emial")
    shop.bodies["write"] = _raises(failure)
    result = play("await tools.write({'n': 1})")
    assert [call.cause for call in result.calls] == [failure]
    assert "emial" not in repr(result)
