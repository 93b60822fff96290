"""Exit codes of a finished run (`cli.exits`)."""

from __future__ import annotations

import pytest

from ringfence.cli.exits import FAILED, SUCCESS, UNKNOWN_EFFECT, USAGE, for_run


@pytest.mark.parametrize(
    ("succeeded", "error_code", "statuses", "code"),
    [
        (True, None, ["succeeded"], SUCCESS),
        (True, None, ["failed", "refused"], SUCCESS),
        (False, "RUNTIME_ERROR", [], FAILED),
        (False, "VALIDATION_ERROR", [], FAILED),
        (False, "APPROVAL_DENIED", ["refused"], FAILED),
        (False, "ABORTED", ["succeeded"], FAILED),
        (False, "SANDBOX_UNAVAILABLE", [], USAGE),
        (False, "ABORTED", ["unknown"], UNKNOWN_EFFECT),
        (True, None, ["succeeded", "unknown"], UNKNOWN_EFFECT),
    ],
)
def test_a_run_gets_the_code_that_tells_what_to_do_next(
    succeeded: bool, error_code: str | None, statuses: list[str], code: int
) -> None:
    assert for_run(succeeded=succeeded, error_code=error_code, call_statuses=statuses) == code
