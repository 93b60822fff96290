"""Who decides, and what is written down about it (`cli.approve`)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from ringfence.cli.approve import Approver, Decide, by_file, deny, nobody_there, read_decisions
from ringfence.errors import ConfigError
from ringfence.ports import ApprovalRequest

REQUEST = ApprovalRequest(
    tool="refund",
    description="Pay back.",
    input=None,
    arguments={"order_id": 7},
    digest="sha256:0",
    session_id="s",
    principal=None,
    call_id="r.1",
    run_id="r",
    line=2,
    effect="write",
)
HUMAN = {"refund": {"order_id"}}


def decide(rule: Decide, request: ApprovalRequest = REQUEST) -> tuple[bool, dict[str, str]]:
    reasons: dict[str, str] = {}
    return asyncio.run(Approver(rule, HUMAN, reasons=reasons, advice={}).decide(request)), reasons


def advised(rule: Decide, request: ApprovalRequest = REQUEST) -> dict[str, str]:
    advice: dict[str, str] = {}
    asyncio.run(Approver(rule, HUMAN, reasons={}, advice=advice).decide(request))
    return advice


def test_deny_denies_and_says_so() -> None:
    assert decide(deny) == (False, {"r.1": "--approve deny"})


def test_without_a_terminal_nobody_is_asked_and_nothing_is_inferred() -> None:
    assert decide(nobody_there) == (
        False,
        {"r.1": "no terminal to ask on; decide beforehand with --approve FILE"},
    )


def test_a_call_that_nobody_decided_comes_with_the_entry_that_approves_it() -> None:
    assert advised(nobody_there) == {
        "r.1": "to approve it, put this into FILE and add --approve FILE:\n"
        '[[approve]]\ntool = "refund"\narguments = { order_id = 7 }'
    }
    assert advised(deny) == {}
    private = replace(REQUEST, arguments={"order_id": 7, "_cache": {}})
    assert advised(nobody_there, private) == advised(nobody_there)


def test_a_file_decides_by_the_arguments(tmp_path: Path) -> None:
    path = tmp_path / "approvals.toml"
    path.write_text('[[approve]]\ntool = "refund"\narguments = { order_id = 7 }\n')
    rule = by_file(read_decisions(path, HUMAN))
    assert decide(rule) == (True, {"r.1": f"approved by {path}:1 [[approve]]"})
    other = replace(REQUEST, arguments={"order_id": 8})
    assert decide(rule, other) == (False, {"r.1": f"no entry of {path} fits this call"})
    assert advised(rule, other)["r.1"].startswith(f"to approve it, add to {path}:\n[[approve]]\n")
    assert advised(rule) == {}


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file") as caught:
        read_decisions(tmp_path / "missing.toml", HUMAN)
    assert caught.value.hint == "--approve takes ask, deny or the path of a TOML file"
    with pytest.raises(ConfigError, match="directory"):
        read_decisions(tmp_path, HUMAN)


def test_a_file_that_is_not_text_is_refused_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "approvals.toml"
    path.write_bytes(b"# fine\n\xff\n")
    with pytest.raises(ConfigError) as caught:
        read_decisions(path, HUMAN)
    assert caught.value.message == f"{path}:2: not UTF-8 text"
