"""Limits of the text widen with the levels."""

from __future__ import annotations

from ringfence.enclave.check.text_limits import TEXT
from ringfence.limits import LEVELS, RunLimits


def test_there_are_limits_for_every_level() -> None:
    assert list(TEXT) == list(LEVELS)


def test_text_limits_widen_with_the_levels_and_stay_within_the_hosts_own() -> None:
    rows = [(one.size, one.line, one.lines, one.nesting, one.operators) for one in TEXT.values()]
    assert rows == sorted(rows)
    assert (
        TEXT["PERMISSIVE"].size <= RunLimits(timeout=1, max_tool_calls=1, max_global_calls=1, max_iterations=1).source
    )
