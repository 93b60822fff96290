"""A suite behind ringfence: its tools as `rf.Tool`s in one enclave, and one run per task.

Knows ringfence and `suite`; not which scripts there are, nor what is printed. `run` and the tests call it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from pydantic import BaseModel

import ringfence as rf
from benchmarks.agentdojo.suite import READS, Attempt, Function, Spoil, load
from ringfence.enclave.table import write

SCRIPTS: Final = Path(__file__).parent / "scripts"

_MAX_CALLS: Final = 50
"""No task needs more than six; a loop that runs away ends here."""
_TIMEOUT: Final = 30.0
"""Seconds of one script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one task went."""

    task_id: str
    solved: bool
    """The suite's verdict on the answer and the environment."""
    answer: str
    """What was judged."""
    calls: tuple[str, ...]
    """Names of the tools that were called, in order, failed calls included."""
    missing: tuple[str, ...]
    """Tools of the ground truth that the script did not call."""
    duration: float
    """Seconds of the script's run."""
    error: str | None
    """Why the script failed, when it did."""


class Bench:
    """One suite: an enclave with its tools, each run bound to an environment of its own. Use as `async with`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.suite, self._environment = load(name)
        self._attempts: dict[str, Attempt] = {}
        """By session: the enclave is shared, an environment is not."""
        self._enclave = rf.Enclave(
            tools=[self._tool(function) for function in self.suite.tools],
            sandbox=rf.local(unsafe=True),  # the suite's functions change objects of this process
            timeout=_TIMEOUT,
            max_tool_calls=_MAX_CALLS,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._enclave.aclose()

    @property
    def task_ids(self) -> list[str]:
        """In the order of their numbers."""
        return sorted(self.suite.user_tasks, key=lambda task_id: int(task_id.rpartition("_")[2]))

    def script(self, task_id: str) -> str:
        return (SCRIPTS / self.name / f"{task_id}.py").read_text(encoding="utf-8")

    async def run(self, task_id: str, source: str, *, spoil: Spoil | None = None, answer: str | None = None) -> Verdict:
        """Run a script for a task in a fresh environment and have it judged.

        Args:
            task_id: `user_task_0` and so on.
            source: The script.
            spoil: Replaces the arguments of its calls.
            answer: Judged in place of the script's own answer.
        """
        attempt = Attempt.start(self.suite, self._environment, task_id, spoil)
        session_id = f"{task_id}/{len(self._attempts)}"
        self._attempts[session_id] = attempt
        result = await self._enclave.run(source, session_id=session_id)
        said = _answer(result) if answer is None else answer
        called = tuple(call.name for call in result.calls)
        return Verdict(
            task_id=task_id,
            solved=result.success and attempt.solved(said),
            answer=said,
            calls=called,
            missing=tuple(name for name in dict.fromkeys(attempt.expected_calls()) if name not in called),
            duration=result.stats.duration,
            error=None if result.error is None else f"{result.error.code}: {result.error.message}",
        )

    def _tool(self, function: Function) -> rf.Tool:
        async def execute(arguments: BaseModel, context: rf.ToolContext) -> Any:
            try:
                return self._attempts[context.session_id].call(function, arguments)
            except Exception as error:  # the suite's own texts, written for the model that made the call
                raise rf.ToolError(f"{type(error).__name__}: {error}") from error

        return rf.Tool(
            function.name,
            function.description,
            function.parameters,
            execute,
            output=function.return_type,
            effect="read" if function.name in READS else "write",
            approval="auto",  # what is measured is whether the spine does the work, not who allows it
        )


def _answer(result: rf.RunResult) -> str:
    """What the user is told: the script's value, or what it printed when it has none."""
    if result.value is None:
        return result.output
    if isinstance(result.value, str):
        return result.value
    # dates and the like, which JSON lacks, as the texts that they cross as
    return json.dumps(result.value, ensure_ascii=False, default=lambda value: write(value)[1])
