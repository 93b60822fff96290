"""The 56 tasks of AgentDojo's workspace and banking suites, for real: scripts, jail, gate, the suites' own tools.

AgentDojo must be installed (`benchmarks/agentdojo/requirements.txt`): without it these tests fail.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

import pytest
from benchmarks.agentdojo.controls import spoil
from benchmarks.agentdojo.harness import Verdict
from benchmarks.agentdojo.run import measure
from benchmarks.agentdojo.suite import SUITES, load

pytestmark = pytest.mark.slow

ACCEPTED_WITHOUT_CALLS = {
    "workspace": [],
    # 5 and 6 look for payments that the history has from the start; 8 accepts everything; 9 and 10 want no change
    "banking": ["user_task_5", "user_task_6", "user_task_8", "user_task_9", "user_task_10"],
}
ACCEPTED_WHEN_WRONG = {
    # 24 asks to see unread e-mails: only that they count as read afterwards is judged
    "workspace": ["user_task_24"],
    "banking": ["user_task_5", "user_task_6", "user_task_8", "user_task_10"],
}


def solved(verdicts: Sequence[Verdict]) -> list[str]:
    return [verdict.task_id for verdict in verdicts if verdict.solved]


@pytest.mark.parametrize("name", list(SUITES))
def test_every_task_is_solved_by_its_script_and_the_controls_solve_only_what_the_suite_accepts_anyway(
    name: str,
) -> None:
    scores = asyncio.run(measure(name))
    tasks = [f"user_task_{number}" for number in range(SUITES[name])]
    failed = [
        (verdict.task_id, verdict.error, verdict.answer, verdict.calls)
        for verdict in scores.scripts
        if not verdict.solved
    ]
    assert failed == []
    assert solved(scores.scripts) == tasks
    assert {verdict.task_id: verdict.missing for verdict in scores.scripts if verdict.missing} == {}
    assert solved(scores.no_call) == ACCEPTED_WITHOUT_CALLS[name]
    assert {verdict.calls for verdict in scores.no_call} == {()}
    assert solved(scores.wrong) == ACCEPTED_WHEN_WRONG[name]
    assert [verdict.calls for verdict in scores.wrong] == [verdict.calls for verdict in scores.scripts]


def test_the_suites_are_loaded_without_any_model_client() -> None:
    for name, count in SUITES.items():
        suite, _ = load(name)
        assert len(suite.user_tasks) == count
    loaded = {name.partition(".")[0] for name in sys.modules}
    assert not loaded & {"openai", "anthropic", "cohere", "langchain"}
    assert not [name for name in sys.modules if name.startswith("agentdojo.agent_pipeline")]


def test_a_spoiled_call_keeps_every_argument_that_only_reads_and_changes_one_that_writes() -> None:
    assert spoil("search_emails", {"query": "x", "sender": None}) == {"query": "x", "sender": None}
    assert spoil("send_money", {"recipient": "a", "amount": 4.0}) == {"recipient": "a", "amount": 5.0}
    assert spoil("update_scheduled_transaction", {"id": 7, "amount": None}) == {"id": 7, "amount": None}
