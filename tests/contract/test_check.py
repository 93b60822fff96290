"""A compiled schema judges within bounds."""

from __future__ import annotations

import json
from typing import Any

from ringfence.contract.check import Check


def told(schema: dict[str, Any], value: Any) -> list[tuple[str, str]]:
    """Path and code of everything that is wrong with a value."""
    found = Check(schema, "f", formats=False).issues(value, len(json.dumps(value)))
    return [(issue["path"], issue["code"]) for issue in found]


def test_a_value_that_fits_has_no_issue() -> None:
    assert told({"type": "integer"}, 1) == []
    assert told({"type": "integer"}, "x") == [("", "type")]
