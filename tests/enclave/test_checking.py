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


def settled(stage: Stage) -> set[int]:
    """Processes, when those of the module's other enclaves have all come that were asked for; they may go."""
    stage.run(stage.enclave().warm())
    return descendants()


def test_a_check_needs_no_event_loop_and_leaves_nothing(stage: Stage) -> None:
    before = settled(stage)
    with rf.Enclave() as enclave:
        assert enclave.check_sync("1").ok
    assert descendants() <= before


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


LONG = "while 1:a\n" * 19_000
"""A source that takes seconds to check, by any Python."""


@pytest.mark.parametrize("warm", [True, False])
def test_a_check_can_be_aborted(stage: Stage, warm: bool) -> None:
    async def body() -> None:
        async with rf.Enclave(waiting=0, timeout=20.0) as enclave:
            if warm:
                await enclave.warm()
            checking = asyncio.create_task(enclave.check(LONG))
            await asyncio.sleep(0.02)
            assert enclave.statistics().running == 1
            enclave.abort()
            with pytest.raises(rf.Refusal) as refused:
                await checking
            assert (refused.value.code, enclave.statistics().running) == ("aborted", 0)
            assert (await enclave.check("1")).ok

    before = settled(stage)
    run(body())
    assert descendants() <= before


@pytest.mark.parametrize("warm", [True, False])
def test_closing_ends_a_check_and_says_so(stage: Stage, warm: bool) -> None:
    async def body() -> None:
        enclave = rf.Enclave(waiting=0, timeout=20.0)
        if warm:
            await enclave.warm()
        checking = asyncio.create_task(enclave.check(LONG))
        await asyncio.sleep(0.02)
        await enclave.aclose()
        with pytest.raises(rf.ConfigError, match="closed") as refused:
            await checking
        assert refused.value.code == "not_running"

    before = settled(stage)
    run(body())
    assert descendants() <= before


@pytest.mark.slow
def test_a_check_that_takes_too_long_says_what_it_ran_out_of(stage: Stage) -> None:
    with pytest.raises(rf.SandboxFault) as refused:
        checked(stage, LONG, timeout=0.5)
    assert (refused.value.code, refused.value.message) == (
        "deadline_exceeded",
        "the source could not be checked: checking it took more processor time than a run may use",
    )
    assert refused.value.hint == "check a shorter source, or raise timeout or memory_limit"
