"""The reference names every option, field and event that there is, and no other."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterable

import pytest

import ringfence as rf
from ringfence import threads
from ringfence.cli import exits
from ringfence.contract.tool import ToolOptions
from ringfence.events import EVENT_TYPES, META, META_TYPES, REASONS, SEED_TYPES
from ringfence.gate import attempt, hub, leases, perform, runner, waits
from ringfence.limits import MIB, ValueBudget
from ringfence.policy.sequences import PATTERNS
from tests.docs.pages import ROOT

BUDGET = ValueBudget()
PAGE = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")


def table(head: str, after: str = "") -> set[str]:
    """Names in code in the first column of the first table with that head after a text."""
    _, _, rest = PAGE[PAGE.index(after) :].partition(f"| {head} |")
    rows = rest[rest.index("|---") :].split("\n\n", 1)[0].splitlines()[1:]
    return {name for row in rows for name in re.findall(r"`(\w[\w.]*)", row.split("|")[1])}


def fields(kind: type) -> set[str]:
    names = getattr(kind, "__struct_fields__", None)
    if names is not None:
        return set(names)
    return {field.name for field in dataclasses.fields(kind)}


def parameters(function: object) -> set[str]:
    assert callable(function)
    return {name for name in inspect.signature(function).parameters if name != "self"}


def public(kind: type) -> Iterable[str]:
    return (name for name in vars(kind) if not name.startswith("_"))


@pytest.mark.parametrize(
    "kind",
    [rf.ApprovalRequest, rf.RunResult, rf.CallRecord, rf.RunStats, rf.CheckReport, rf.ErrorInfo, rf.Screening],
    ids=lambda kind: kind.__name__,
)
def test_every_field_of_a_record_is_named(kind: type) -> None:
    assert table(f"field of `{kind.__name__}`") == fields(kind)


def test_every_member_of_an_outcome_is_named() -> None:
    assert table("field of `Outcome`") == fields(rf.Outcome) | {"unwrap"}


def test_every_member_of_a_context_is_named() -> None:
    delivery = {"on_log", "on_progress"}
    assert table("field of `ToolContext`") == fields(rf.ToolContext) - delivery | {"log", "progress"}


def test_every_member_of_a_toolset_is_named() -> None:
    assert table("member of `Toolset`") >= set(public(rf.Toolset))


def test_every_option_is_named() -> None:
    assert table("option", "## Tools") == set(ToolOptions.__annotations__)
    assert table("option", "## Boundary") == parameters(rf.Boundary.__init__)
    options = parameters(rf.Enclave.__init__) - {"options"} | set(rf.EnclaveOptions.__annotations__)
    assert table("option", "## Enclave") == options


def test_every_event_is_named() -> None:
    assert table("type", "## Events") == EVENT_TYPES
    assert set(re.findall(r"^\| \*\*`([\w.]+)`\*\*", PAGE, re.MULTILINE)) == SEED_TYPES


@pytest.mark.parametrize("kind", sorted(EVENT_TYPES))
def test_every_key_that_an_event_may_have_is_named(kind: str) -> None:
    (row,) = re.findall(rf"^\| (?:\*\*)?`{re.escape(kind)}`(?:\*\*)? \|.*\| (.*)\|$", PAGE, re.MULTILINE)
    of_calls = {"call_id", "run_id", "line"} if not kind.startswith("run.") else set[str]()
    keys = next(keys for known, keys in META.items() if known == kind)
    assert {name for name in re.findall(r"`(\w+)`", row) if name in META_TYPES} == keys - of_calls


def test_every_reason_of_a_denial_is_named() -> None:
    assert table("`reason`", "## Events") == REASONS


def test_every_detector_is_named_with_its_window() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| (?:(\d+) s)? ?\|", PAGE, re.MULTILINE)
    assert [(name, float(window or 0)) for name, window in rows] == [(one.id, one.window) for one in PATTERNS]


def test_every_exit_code_is_named() -> None:
    codes = {int(code) for code in re.findall(r"^\| (\d) \|", PAGE, re.MULTILINE)}
    assert codes == {exits.SUCCESS, exits.FAILED, exits.USAGE, 3, exits.UNKNOWN_EFFECT}


def test_every_public_name_is_on_the_page() -> None:
    assert [name for name in rf.__all__ if not re.search(rf"\b{name}\b", PAGE)] == []


LIMITS = {
    "`on_error`": (perform.RECOVERY_TIMEOUT,),
    "an asynchronous schema, for one value": (waits.VALIDATION_TIMEOUT,),
    "running calls, when a boundary closes": (runner.DRAIN,),
    "a driver's `aclose`": (leases.DRIVER_CLOSE,),
    "code that was told to stop": (attempt.STOPPED_GRACE, attempt.CANCELLED_GRACE),
    "plain functions left behind under `local`": (threads.ABANDONED_LIMIT,),
    "arguments, and results that are written as JSON": (BUDGET.size / MIB, BUDGET.depth, BUDGET.nodes),
    "queued events of one handler or iterator": (hub.QUEUE,),
}


def test_fixed_limits_are_those_of_the_source() -> None:
    rows = dict(re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", PAGE[PAGE.index("## Limits that are fixed") :], re.MULTILINE))
    said = {
        what: tuple(float(number.replace(",", "")) for number in re.findall(r"[\d,]*\d", rows[what])) for what in LIMITS
    }
    assert said == LIMITS
