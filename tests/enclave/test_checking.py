"""`Enclave.check`: what there is to say about a script, from a jailed guest that runs none of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, descendants, run


def checked(stage: Stage, source: str, **options: Any) -> rf.CheckReport:
    return stage.run(stage.enclave(**options).check(source))


def test_a_script_in_order_passes_and_says_what_it_reaches(stage: Stage) -> None:
    report = checked(
        stage,
        "rows = await call_tool('users:list', {'limit': 5})\nfor row in rows:\n    await call_tool('users:get', {'id': row})",
    )
    assert (report.ok, report.findings) == (True, ())
    assert [(site.tool, site.line, site.loops, dict(site.arguments), site.dynamic) for site in report.reach] == [
        ("users:list", 1, 0, {"limit": 5}, ()),
        ("users:get", 3, 1, {}, ("id",)),
    ]
    assert stage.seen == []


@pytest.mark.parametrize("source", ["x = (", "call_tool('a', {})", "x = '\u202e'"])
def test_what_would_be_refused_is_an_error(stage: Stage, source: str) -> None:
    report = checked(stage, source)
    assert (report.ok, {one.severity for one in report.findings}) == (False, {"error"})
    result = stage.script(source)
    assert result.error is not None
    assert (result.error.code, result.stats.tool_call_count) == ("VALIDATION_ERROR", 0)


def test_a_level_decides_whether_a_finding_refuses(stage: Stage) -> None:
    """Decision 17."""
    source = "().__class__.__bases__"
    severities = {
        level: {one.severity for one in checked(stage, source, security_level=level).findings}
        for level in ("STRICT", "SECURE", "STANDARD", "PERMISSIVE")
    }
    assert severities == {
        "STRICT": {"error"},
        "SECURE": {"error"},
        "STANDARD": {"warning"},
        "PERMISSIVE": {"warning"},
    }


@pytest.mark.parametrize("source", ["x = '" + "x" * (1 << 20) + "'", "x = '\ud800'"])
def test_a_source_that_no_guest_needs_to_see_is_refused_without_one(stage: Stage, source: str) -> None:
    report = checked(stage, source)
    assert (report.ok, [one.code for one in report.findings], report.reach) == (False, ["script_rejected"], ())


def test_checks_and_runs_go_side_by_side(stage: Stage) -> None:
    async def body() -> tuple[list[rf.CheckReport], rf.RunResult]:
        enclave = stage.enclave()
        *reports, result = await asyncio.gather(*(enclave.check("1") for _ in range(5)), enclave.run("2"))
        return reports, result  # type: ignore[return-value]

    reports, result = stage.run(body())
    assert ([report.ok for report in reports], result.value) == ([True] * 5, 2)


def test_a_check_needs_no_event_loop_and_leaves_nothing() -> None:
    before = descendants()
    with rf.Enclave() as enclave:
        assert enclave.check_sync("1").ok
    assert descendants() <= before  # the module's other enclaves live on


def test_a_closed_enclave_checks_nothing() -> None:
    async def body() -> None:
        enclave = rf.Enclave()
        await enclave.dispose()
        with pytest.raises(rf.ConfigError) as refused:
            await enclave.check("1")
        assert refused.value.code == "not_running"
        with pytest.raises(rf.ConfigError):
            await enclave.check(5)  # type: ignore[arg-type]

    run(body())
