"""Names, rates and orders of calls that are refused, asked about or logged (enclave catalogue 1.I and 4.8)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from textwrap import dedent
from typing import Any, Final

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, code, detail, echo, outcomes
from tests.requirements import requirement

pytestmark = pytest.mark.slow

ON: Final[dict[str, Any]] = {}
"""Screening as it is by default; the stage leaves it out otherwise, since tests call faster than scripts may."""

# patterns of names


@requirement("T58")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("screening", "name", "passes"),
    [
        ({"allowed_operation_pattern": r"users:.*"}, "users:find", True),
        ({"allowed_operation_pattern": r"users:.*"}, "admin:find", False),
        ({"allowed_operation_pattern": r"users:.*"}, "xusers:find", False),
        ({"allowed_operation_pattern": r"users"}, "users:find", False),
        ({"blocked_operation_patterns": [r"admin:.*"]}, "users:find", True),
        ({"blocked_operation_patterns": [r"admin:.*"]}, "admin:find", False),
        ({"allowed_operation_pattern": r".*", "blocked_operation_patterns": [r"admin:.*"]}, "admin:find", False),
        ({"allowed_operation_pattern": r"users:.*", "validate_operation_names": False}, "admin:find", True),
        ({"blocked_operation_patterns": [r"admin:.*"], "validate_operation_names": False}, "admin:find", False),
    ],
)
def test_patterns_decide_before_the_handler_and_block_wins(
    stage: Stage, screening: dict[str, Any], name: str, passes: bool
) -> None:
    stage.tools[name] = echo
    result = stage.script(f"await call_tool('{name}', {{'n': 1}})", screening=screening)
    if passes:
        assert (result.value, stage.seen) == ({"n": 1}, [(name, {"n": 1})])
    else:
        assert (code(result), detail(result), stage.seen) == ("SECURITY_VIOLATION", "name_refused", [])
        assert outcomes(result) == [(name, "refused", "name_refused")]


# orders of calls


def called(stage: Stage, *calls: str, script: str = "", **options: Any) -> rf.RunResult:
    """A script that makes these calls in turn; every tool echoes."""
    for call in calls:
        stage.tools[call.partition("(")[0]] = echo
    options.setdefault("screening", ON)
    lines = [
        f"await call_tool('{name}', {args[:-1] or '{}'})" for name, _, args in (one.partition("(") for one in calls)
    ]
    return stage.script("\n".join([*lines, script or "return 'done'"]), **options)


def refused(result: rf.RunResult, pattern: str) -> None:
    assert (code(result), detail(result)) == ("SECURITY_VIOLATION", "suspicious_sequence")
    assert result.error is not None
    assert pattern in result.error.message
    assert outcomes(result)[-1][1:] == ("refused", "suspicious_sequence")
    assert pattern in result.calls[-1].flags


@requirement("T79", "T43", "dec.16")
@pytest.mark.parametrize(
    "calls",
    [
        ("users:list", "mail:send"), ("docs:get", "files:upload"), ("data:fetch", "hooks:post"), ("db.query", "blob.write"),
        ("read_file", "send_mail"), ("searchOrders", "publishReport"), ("users:list", "time:now", "mail:forward"),
    ],
)  # fmt: skip
def test_reading_and_then_sending_is_refused_and_named(stage: Stage, calls: Sequence[str]) -> None:
    result = called(stage, *calls)
    refused(result, "EXFIL_LIST_SEND")
    assert [name for name, _ in stage.seen] == list(calls[:-1])


@requirement("T79")
@pytest.mark.parametrize(
    "calls", [("mail:send", "users:list"), ("mail:send", "mail:send"), ("users:list", "users:count")]
)
def test_the_other_order_passes(stage: Stage, calls: Sequence[str]) -> None:
    assert called(stage, *calls).value == "done"


@requirement("T81")
def test_a_secret_and_then_the_network_is_refused_and_the_other_order_is_not(stage: Stage) -> None:
    refused(called(stage, "secrets:load", "http:call"), "CREDENTIAL_EXFIL")
    refused(called(stage, "vault:password", "slack:ping"), "CREDENTIAL_EXFIL")
    assert called(stage, "http:call", "secrets:load").value == "done"


@requirement("T82")
@pytest.mark.parametrize(
    "call",
    [
        "bulk:x",
        "export_all",
        "users:batch",
        "dump",
        "a({'limit': 10000})",
        "a({'filter': '*'})",
        "a({'no_limit': True})",
    ],
)
def test_work_in_bulk_is_refused(stage: Stage, call: str) -> None:
    refused(called(stage, call), "BULK_OPERATION")
    assert stage.seen == []


@requirement("T82", "T85")
@pytest.mark.parametrize(
    "call",
    [
        "install",
        "updateAll",
        "a({'limit': 10, 'id': 12345})",
        "a({'limit': 999})",
        "a({'note': 'the * key'})",
        "massage",
    ],
)
def test_what_only_looks_like_bulk_passes(stage: Stage, call: str) -> None:
    assert called(stage, call).value == "done"


@requirement("T83")
def test_reading_and_then_deleting_is_refused_and_the_other_order_is_not(stage: Stage) -> None:
    refused(called(stage, "users:list", "users:delete"), "DELETE_AFTER_ACCESS")
    assert called(stage, "users:delete", "users:list").value == "done"


@requirement("T85", "rec.7", "EW7")
@pytest.mark.parametrize(
    "calls",
    [
        ("users:list", "posts:list"), ("widget:update", "mail:send"), ("budget:set", "mail:send"), ("thread:open", "mail:send"),
        ("monkey:feed", "http:call"), ("author:add", "http:call"), ("secrets:load", "capital:move"), ("users:list", "postal:code"),
    ],
)  # fmt: skip
def test_names_are_read_word_by_word(stage: Stage, calls: Sequence[str]) -> None:
    assert called(stage, *calls).value == "done"


@requirement("T86")
def test_without_the_patterns_the_limits_remain(stage: Stage) -> None:
    screening = {"block_suspicious_sequences": False, "max_operations_per_second": 5}
    calls = ("users:list", "mail:send", "users:delete", "bulk:x")
    assert called(stage, *calls, screening=screening).value == "done"
    flood = called(stage, *(f"a{n}" for n in range(6)), screening=screening)
    assert (code(flood), detail(flood)) == ("SECURITY_VIOLATION", "rate_limited")
    limited = called(stage, "a", "b", screening=screening, max_tool_calls=1)
    assert detail(limited) == "limit_exceeded"


@requirement("T86", "seed2.same")
def test_reading_many_times_is_enumeration_beyond_its_threshold(stage: Stage) -> None:
    screening = {"rapid_enumeration_threshold": 3, "rapid_enumeration_overrides": {"pages:next": 10}}
    assert called(stage, *["users:one"] * 4, screening=screening).value == "done"
    refused(called(stage, *["users:one"] * 5, screening=screening), "RAPID_ENUMERATION")
    assert called(stage, *["pages:next"] * 11, screening=screening).value == "done"


@requirement("T43", "seed2.same")
def test_methods_are_limited_in_rate_and_screened(stage: Stage) -> None:
    stage.tools["mail.list"] = stage.tools["mail.send"] = echo
    namespaces = {"mail": ["list", "send"]}
    script = "await mail.list()\nawait mail.send(to='ada')\nreturn 'sent'"
    refused(stage.script(script, tool_namespaces=namespaces, screening=ON), "EXFIL_LIST_SEND")
    assert [name for name, _ in stage.seen] == ["mail.list"]
    off: dict[str, Any] = {"screening": {"block_suspicious_sequences": False}}
    assert stage.script(script, tool_namespaces=namespaces, **off).value == "sent"
    slow: dict[str, Any] = {"screening": {"max_operations_per_second": 1}}
    assert (
        detail(stage.script("await mail.list()\nawait mail.list()", tool_namespaces=namespaces, **slow))
        == "rate_limited"
    )


@requirement("T43", "seed2.refusals", "rec.2", "EW6")
@pytest.mark.parametrize("option", ["", ", throw_on_error=False"])
def test_such_a_refusal_is_final_and_never_data(stage: Stage, option: str) -> None:
    script = dedent(f"""
        try:
            await call_tool('mail:send', {{}}{option})
        except ToolError as error:
            await call_tool('users:list', {{}})
        return 'fine'
    """)
    refused(called(stage, "users:list", "mail:send", script=script), "EXFIL_LIST_SEND")
    assert [name for name, _ in stage.seen] == ["users:list"]


@requirement("EW7", "T65", "rec.10")
def test_calls_made_at_once_are_judged_in_their_order(stage: Stage) -> None:
    stage.tools["users:list"] = stage.tools["mail:send"] = echo
    script = "import asyncio\nawait asyncio.gather(call_tool('users:list', {}), call_tool('mail:send', {}))"
    refused(stage.script(script, screening=ON), "EXFIL_LIST_SEND")
    assert [name for name, _ in stage.seen] in ([], ["users:list"])


@requirement("T87")
def test_a_pattern_of_ones_own_sees_name_arguments_and_what_went_before(stage: Stage) -> None:
    seen: list[tuple[str, Mapping[str, Any], list[str]]] = []

    def detect(name: str, args: Mapping[str, Any], history: Sequence[Any]) -> bool:
        seen.append((name, dict(args), [entry.name for entry in history]))
        return name == "pay" and args.get("amount", 0) > 100

    mine = rf.Detector("TOO_MUCH", "pays more than a hundred", detect)
    screening = rf.Screening(suspicious_patterns=(mine,))
    assert called(stage, "order({'id': 1})", "pay({'amount': 5})", screening=screening).value == "done"
    assert seen == [("order", {"id": 1}, []), ("pay", {"amount": 5}, ["order"])]
    result = called(stage, "pay({'amount': 500})", screening=screening)
    refused(result, "TOO_MUCH")
    assert result.error is not None
    assert "pays more than a hundred" in result.error.message


@requirement("T87")
def test_a_pattern_that_fails_refuses(stage: Stage) -> None:
    def detect(name: str, args: Mapping[str, Any], history: Sequence[Any]) -> bool:
        raise LookupError("broken")

    screening = rf.Screening(suspicious_patterns=(rf.Detector("BROKEN", "cannot tell", detect),))
    refused(called(stage, "a", screening=screening), "BROKEN")
    assert stage.seen == []


@requirement("rec.7")
def test_a_hit_may_be_logged_instead(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    screening = {"actions": {"EXFIL_LIST_SEND": "log"}}
    with caplog.at_level(logging.INFO, logger="ringfence"):
        result = called(stage, "users:list", "mail:send", screening=screening)
    assert result.value == "done"
    assert [call.flags for call in result.calls] == [(), ("EXFIL_LIST_SEND",)]
    assert any("EXFIL_LIST_SEND" in record.getMessage() for record in caplog.records)


# governed tools, by what they declare


@rf.tool(effect="read")
def users_list() -> list[str]:
    """List users."""
    return ["ada"]


@rf.tool(effect="write")
def mail_send(to: str) -> str:
    """Send mail."""
    return f"sent to {to}"


GOVERNED = "users = await tools.users_list()\nreturn await tools.mail_send(to=users[0])"


@requirement("U8", "dec.16", "EW7")
def test_governed_tools_that_read_and_then_write_pass_and_are_logged(stage: Stage) -> None:
    async def body() -> tuple[rf.RunResult, list[str]]:
        heard: list[str] = []
        async with rf.Enclave(tools=[users_list, mail_send], sandbox=rf.local(unsafe=True)) as enclave:
            enclave.on("tool.flagged", lambda event: heard.append(str(event.tool)))
            return await enclave.run(GOVERNED), heard

    result, heard = stage.run(body())
    assert result.value == "sent to ada"
    assert [call.flags for call in result.calls] == [(), ("EXFIL_LIST_SEND",)]
    assert heard == ["mail_send"]


@requirement("dec.16", "rec.7")
@pytest.mark.parametrize(
    ("answer", "expected"), [(True, (None, None)), (False, ("APPROVAL_DENIED", "approval_denied"))]
)
def test_a_hit_may_be_asked_about(stage: Stage, answer: bool, expected: tuple[str | None, str | None]) -> None:
    reasons: list[str | None] = []

    def approve(request: rf.ApprovalRequest) -> bool:
        reasons.append(request.reason)
        return answer

    async def body() -> rf.RunResult:
        options: dict[str, Any] = {"screening": {"actions": {"EXFIL_LIST_SEND": "ask"}}}
        local = rf.local(unsafe=True)
        async with rf.Enclave(tools=[users_list, mail_send], sandbox=local, approve=approve, **options) as enclave:
            return await enclave.run(GOVERNED)

    result = stage.run(body())
    assert (code(result), detail(result)) == expected
    assert len(reasons) == 1
    assert "EXFIL_LIST_SEND" in str(reasons[0])


# functions in globals


@requirement("seed2.unseen")
def test_no_pattern_sees_functions_of_globals(stage: Stage) -> None:
    options: dict[str, Any] = {"globals": {"list_users": sorted, "send_mail": len}, "allow_functions_in_globals": True}
    script = "list_users([2, 1])\nreturn send_mail('ada')"
    assert stage.script(script, screening=ON, **options).value == 3


@requirement("seed2.shared", "rec.10")
def test_functions_and_tools_share_one_rate(stage: Stage) -> None:
    options: dict[str, Any] = {
        "globals": {"size": len},
        "allow_functions_in_globals": True,
        "screening": {"max_operations_per_second": 3},
    }
    result = called(stage, "a", "b", script="size('x')\nsize('y')\nreturn 'fine'", **options)
    assert (code(result), detail(result)) == ("SECURITY_VIOLATION", "rate_limited")
    assert (result.stats.tool_call_count, result.stats.global_call_count) == (2, 2)
