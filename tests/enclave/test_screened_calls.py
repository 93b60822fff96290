"""Screening in front of scripts' calls: refused, asked about or flagged, in both forms (decision 16; 4.5, 4.8)."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, code, detail, echo, outcomes

LIST_SEND = "await call_tool('mail:list', {})\nawait call_tool('mail:send', {})\n'done'"


async def answer(name: str, args: Any) -> Any:
    return [name, args]


def approving(request: rf.ApprovalRequest) -> bool:
    return True


def screened(stage: Stage, source: str, **screening: Any) -> rf.RunResult:
    stage.tools.update({"mail:list": echo, "mail:send": echo, "n": echo})
    return stage.script(source, screening=screening)


def test_reading_and_then_sending_is_refused_by_default_where_a_handler_answers(stage: Stage) -> None:
    """T79."""
    result = screened(stage, LIST_SEND)
    assert result.error is not None
    assert (result.error.code, result.error.data["code"], result.error.line) == (
        "SECURITY_VIOLATION",
        "suspicious_sequence",
        2,
    )
    assert "EXFIL_LIST_SEND" in result.error.message
    assert outcomes(result) == [("mail:list", "succeeded", None), ("mail:send", "refused", "suspicious_sequence")]
    assert [call.flags for call in result.calls] == [(), ("EXFIL_LIST_SEND",)]
    assert [name for name, _ in stage.seen] == ["mail:list"]


def test_catching_the_refusal_does_not_save_the_run(stage: Stage) -> None:
    """D-2."""
    source = (
        "await call_tool('mail:list', {})\ntry: await call_tool('mail:send', {})\nexcept BaseException: pass\n'done'"
    )
    assert code(screened(stage, source)) == "SECURITY_VIOLATION"


def test_a_program_finds_the_pattern_in_the_errors_data(stage: Stage) -> None:
    def pattern(result: rf.RunResult) -> Any:
        assert result.error is not None
        return result.error.data["pattern"]

    assert pattern(screened(stage, LIST_SEND)) == "EXFIL_LIST_SEND"
    assert pattern(screened(stage, "await call_tool('n', {})", blocked_operation_patterns=["n"])) == "names"
    assert pattern(screened(stage, "await call_tool('a b', {})")) == "names"
    twice = "await call_tool('n', {})\nawait call_tool('n', {})"
    assert pattern(screened(stage, twice, max_operations_per_second=1)) == "rate"


@pytest.mark.parametrize(("action", "ends"), [("refuse", "SECURITY_VIOLATION"), ("log", None)])
def test_the_author_of_a_detector_sees_what_it_raised(
    stage: Stage, action: Any, ends: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    def detect(name: str, args: Any, history: Any) -> bool:
        raise KeyError("hunter2")

    detector = rf.Detector("MINE", "mine", detect)
    result = screened(stage, "await call_tool('n', {})", suspicious_patterns=[detector], actions={"MINE": action})
    assert (code(result), type(result.calls[0].cause) is KeyError) == (ends, ends is not None)
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        f"a detector raised KeyError about call {result.run_id}.1"
    ]
    assert "hunter2" not in f"{result.error} {caplog.text}"


def test_a_loop_of_flagged_calls_is_logged_once(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    source = "for n in range(5): await call_tool('n', {})"
    options: dict[str, Any] = {"rapid_enumeration_threshold": 1, "actions": {"RAPID_ENUMERATION": "log"}}
    with caplog.at_level(logging.INFO, "ringfence"):
        results = [screened(stage, source, **options) for _ in range(2)]
    assert [[call.flags for call in result.calls][1:] for result in results] == [
        [(), *[("RAPID_ENUMERATION",)] * 3]
    ] * 2
    assert [record.message for record in caplog.records] == [
        f"call {result.run_id}.3 of n matches RAPID_ENUMERATION, and may happen" for result in results
    ]


def test_detectors_can_be_turned_off(stage: Stage) -> None:
    """T43, T86."""
    result = screened(stage, LIST_SEND, block_suspicious_sequences=False)
    assert (result.value, [call.flags for call in result.calls]) == ("done", [(), ()])


def test_a_flagged_call_runs_and_the_host_hears_of_it(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "ringfence"):
        result = screened(stage, LIST_SEND, actions={"EXFIL_LIST_SEND": "log"})
    assert (result.value, [call.flags for call in result.calls]) == ("done", [(), ("EXFIL_LIST_SEND",)])
    assert [record.message for record in caplog.records if "EXFIL" in record.message] == [
        f"call {result.run_id}.2 of mail:send matches EXFIL_LIST_SEND, and may happen"
    ]


@pytest.mark.parametrize(
    ("verdict", "ends", "calls"),
    [
        (True, None, ["mail:list", "mail:send"]),
        (False, "APPROVAL_DENIED", ["mail:list"]),
        (rf.Respond("held"), None, ["mail:list"]),
    ],
)
def test_somebody_may_be_asked_about_a_flagged_call(verdict: Any, ends: str | None, calls: list[str]) -> None:
    asked: list[rf.ApprovalRequest] = []
    seen: list[str] = []

    def approve(request: rf.ApprovalRequest) -> Any:
        asked.append(request)
        return verdict

    async def handler(name: str, args: Any) -> Any:
        seen.append(name)
        return args

    with Stage() as stage:
        result = stage.script(
            LIST_SEND,
            tool_handler=handler,
            approve=approve,
            double_vm={"actions": {"EXFIL_LIST_SEND": "ask"}},
        )
    assert (code(result), seen) == (ends, calls)
    assert [(one.tool, one.line, "EXFIL_LIST_SEND" in str(one.reason)) for one in asked] == [("mail:send", 2, True)]


def test_without_anybody_to_ask_a_flagged_call_is_denied(stage: Stage) -> None:
    result = screened(stage, LIST_SEND, actions={"EXFIL_LIST_SEND": "ask"})
    assert (code(result), detail(result)) == ("APPROVAL_DENIED", "approval_denied")


def test_a_handler_of_one_run_may_need_the_enclaves_approver() -> None:
    with Stage() as stage:
        enclave = stage.enclave(tools=None, approve=approving, screening={"actions": {"EXFIL_LIST_SEND": "ask"}})  # type: ignore[reportUnknownLambdaType]
        result = stage.run(enclave.run(LIST_SEND, tool_handler=answer))
    assert (code(result), result.value) == (None, "done")


def test_that_nobody_is_there_to_be_asked_is_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    @rf.tool(effect="read", approval=approving)
    async def own() -> int:
        """Ask its own."""
        return 1

    asks = {"actions": {"EXFIL_LIST_SEND": "ask", "BULK_OPERATION": "log", "rate": "ask"}}
    local = rf.local(unsafe=True)
    shared = rf.Boundary([list_mail], sandbox=local)
    loud: list[dict[str, Any]] = [
        {"tool_handler": answer},
        {},
        {"tools": [own, list_mail], "sandbox": local},
        {"tools": shared},
    ]
    for options in loud:
        rf.Enclave(screening=asks, **options)
    said = "that match EXFIL_LIST_SEND{}, and approve= is not set: every such call will be denied"
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == [
        "screening asks about calls " + said.format(", rate"),
        "screening asks about calls " + said.format(", rate"),
        "screening asks about calls of list_mail " + said.format(""),
        "screening asks about calls of list_mail " + said.format(""),
    ]
    caplog.clear()
    rf.Enclave(screening=asks, tool_handler=answer, approve=approving)
    rf.Enclave(screening=asks, tools=[own], sandbox=local)
    rf.Enclave(screening=asks, tools=[list_mail], sandbox=local, approve=approving)
    rf.Enclave(screening={**asks, "enabled": False}, tool_handler=answer)
    rf.Enclave(screening={"actions": {"names": "ask"}}, tool_handler=answer)
    assert caplog.records == []


def test_a_rate_that_asks_refuses_functions_of_globals() -> None:
    async def function() -> None: ...

    with Stage() as stage:
        result = stage.script(
            "await f()\nawait f()",
            tool_handler=answer,
            approve=approving,
            globals={"f": function},
            allow_functions_in_globals=True,
            screening={"max_operations_per_second": 1, "actions": {"rate": "ask"}},
        )
    assert (code(result), detail(result), result.stats.global_call_count) == ("SECURITY_VIOLATION", "rate_limited", 2)


def test_a_rate_that_only_logs_logs_functions_too(caplog: pytest.LogCaptureFixture) -> None:
    async def function() -> None: ...

    with Stage() as stage, caplog.at_level(logging.INFO, "ringfence"):
        result = stage.script(
            "await f()\nawait f()\n1",
            tool_handler=answer,
            globals={"f": function},
            allow_functions_in_globals=True,
            screening={"max_operations_per_second": 1, "actions": {"rate": "log"}},
        )
    assert result.value == 1
    assert [record.message for record in caplog.records] == [
        f"call {result.run_id}.2 of f matches rate, and may happen"
    ]


def test_the_rate_is_shared_and_reserved_before_dispatch(stage: Stage) -> None:
    """I2, B34."""
    source = "import asyncio\nawait asyncio.gather(*(call_tool('n', {'n': n}) for n in range(9)))"
    result = screened(stage, source, max_operations_per_second=5)
    assert (code(result), detail(result), len(stage.seen)) == ("SECURITY_VIOLATION", "rate_limited", 5)


def test_a_hundred_calls_a_second_are_the_default_with_a_handler(stage: Stage) -> None:
    stage.tools["n"] = echo
    source = "import asyncio\nawait asyncio.gather(*(call_tool('n', {'n': n}) for n in range(101)))"
    result = stage.script(source, screening=None, max_tool_calls=200)
    assert (code(result), len(stage.seen) <= 100) == ("SECURITY_VIOLATION", True)


def test_functions_of_globals_share_the_rate() -> None:
    async def function() -> None: ...

    with Stage() as stage:
        result = stage.script(
            "import asyncio\nawait asyncio.gather(call_tool('n', {}), f(), call_tool('n', {}), f())",
            tool_handler=answer,
            globals={"f": function},
            allow_functions_in_globals=True,
            screening={"max_operations_per_second": 3},
        )
    assert (detail(result), result.stats.tool_call_count, result.stats.global_call_count) == ("rate_limited", 2, 2)


@pytest.mark.parametrize(
    ("patterns", "name", "ends"),
    [
        ({"allowed_operation_pattern": "mail:.*"}, "mail:list", None),
        ({"allowed_operation_pattern": "mail:.*"}, "n", "SECURITY_VIOLATION"),
        ({"blocked_operation_patterns": ["^mail"]}, "mail:list", "SECURITY_VIOLATION"),
        (
            {"blocked_operation_patterns": ["^mail"], "validate_operation_names": False},
            "mail:list",
            "SECURITY_VIOLATION",
        ),
        ({"allowed_operation_pattern": "x", "validate_operation_names": False}, "mail:list", None),
    ],
)
def test_names_may_be_allowed_and_blocked(stage: Stage, patterns: dict[str, Any], name: str, ends: str | None) -> None:
    """T58."""
    result = screened(stage, f"await call_tool({name!r}, {{}})", **patterns)
    assert (code(result), len(stage.seen)) == (ends, 1 if ends is None else 0)


def test_a_detector_of_ones_own_sees_name_arguments_and_history(stage: Stage) -> None:
    """T87."""
    seen: list[Any] = []

    def detect(name: str, args: Any, history: Any) -> bool:
        seen.append((name, dict(args), [past.name for past in history]))
        return name == "mail:send" and args.get("to") == "eve"

    detector = rf.Detector("TO_EVE", "mail to eve", detect)
    source = "await call_tool('n', {'n': 1})\nawait call_tool('mail:send', {'to': 'eve'})"
    result = screened(stage, source, suspicious_patterns=[detector])
    assert result.error is not None
    assert "Suspicious pattern detected: mail to eve [TO_EVE]" in result.error.message
    assert seen == [("n", {"n": 1}, []), ("mail:send", {"to": "eve"}, ["n"])]


# governed tools


@rf.tool(effect="read")
async def list_mail() -> list[int]:
    """Read."""
    return [1]


@rf.tool(effect="write")
async def send_mail(to: str) -> str:
    """Send."""
    return to


GOVERNED = "await tools.list_mail()\nawait tools.send_mail(to='ada')"


def test_governed_tools_are_flagged_by_default_by_what_they_declare(stage: Stage) -> None:
    heard: list[rf.Event] = []

    async def body() -> rf.RunResult:
        async with rf.Enclave(tools=[list_mail, send_mail], sandbox=rf.local(unsafe=True)) as enclave:
            enclave.on("tool.flagged", heard.append)
            return await enclave.run(GOVERNED)

    result = stage.run(body())
    assert (code(result), result.value, result.calls[1].flags) == (None, "ada", ("EXFIL_LIST_SEND",))
    assert [(event.type, event.tool, dict(event.meta)) for event in heard] == [
        (
            "tool.flagged",
            "send_mail",
            {"call_id": f"{result.run_id}.2", "run_id": result.run_id, "line": 2, "pattern": "EXFIL_LIST_SEND"},
        )
    ]


def test_governed_tools_are_refused_where_that_is_asked_for(stage: Stage) -> None:
    async def body() -> rf.RunResult:
        options: dict[str, Any] = {"screening": rf.Screening(actions={"EXFIL_LIST_SEND": "refuse"})}
        async with rf.Enclave(tools=[list_mail, send_mail], sandbox=rf.local(unsafe=True), **options) as enclave:
            return await enclave.run(GOVERNED)

    assert detail(stage.run(body())) == "suspicious_sequence"


@pytest.mark.parametrize(("verdict", "ends"), [(True, None), (False, "APPROVAL_DENIED")])
def test_somebody_may_be_asked_about_a_governed_call(stage: Stage, verdict: bool, ends: str | None) -> None:
    asked: list[rf.ApprovalRequest] = []

    def approve(request: rf.ApprovalRequest) -> bool:
        asked.append(request)
        return verdict

    async def body() -> rf.RunResult:
        enclave = rf.Enclave(
            tools=[list_mail, send_mail],
            sandbox=rf.local(unsafe=True),
            approve=approve,
            screening=rf.Screening(actions={"EXFIL_LIST_SEND": "ask"}),
        )
        async with enclave:
            return await enclave.run(GOVERNED)

    assert code(stage.run(body())) == ends
    assert [(one.tool, one.effect, "EXFIL_LIST_SEND" in str(one.reason)) for one in asked] == [
        ("send_mail", "write", True)
    ]


def test_an_answer_that_no_script_may_get_says_that_nothing_ran(stage: Stage) -> None:
    """2.2: an approver's, in place of a governed tool's, over the enclave's limit of members."""

    def approve(request: rf.ApprovalRequest) -> rf.Respond:
        return rf.Respond({"a": 1, "b": 2})

    async def body() -> rf.RunResult:
        enclave = rf.Enclave(
            tools=[list_mail, send_mail],
            sandbox=rf.local(unsafe=True),
            approve=approve,
            screening=rf.Screening(actions={"EXFIL_LIST_SEND": "ask"}),
            max_value_members=1,
        )
        async with enclave:
            return await enclave.run(GOVERNED)

    result = stage.run(body())
    assert outcomes(result)[1] == ("send_mail", "refused", "approval_denied")
    assert code(result) == "APPROVAL_DENIED"
