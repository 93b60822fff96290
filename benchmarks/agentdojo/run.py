"""`python -m benchmarks.agentdojo.run`: solve the suites' tasks, print a table per suite and two controls.

Exit code 0 when every task that was run is solved, 1 when one is not, 2 when AgentDojo is not installed.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from benchmarks.agentdojo.controls import NO_CALL_SCRIPT, WRONG_ANSWER, spoil
from benchmarks.agentdojo.harness import Bench, Verdict
from benchmarks.agentdojo.suite import SUITES, VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One suite: the scripts, and what the suite says about runs that should fail."""

    suite: str
    scripts: tuple[Verdict, ...]
    no_call: tuple[Verdict, ...]
    """A script without calls that answers nothing."""
    wrong: tuple[Verdict, ...]
    """The same scripts; every call that changes something has a wrong argument, and the answer is wrong."""


async def measure(name: str, task_ids: Sequence[str] = ()) -> Scores:
    """Run a suite's tasks (all, or those named) and the controls for them."""
    async with Bench(name) as bench:
        chosen = [task_id for task_id in bench.task_ids if not task_ids or task_id in task_ids]
        scripts = [await bench.run(task_id, bench.script(task_id)) for task_id in chosen]
        no_call = [await bench.run(task_id, NO_CALL_SCRIPT) for task_id in chosen]
        wrong = [
            await bench.run(task_id, bench.script(task_id), spoil=spoil, answer=WRONG_ANSWER) for task_id in chosen
        ]
    return Scores(suite=name, scripts=tuple(scripts), no_call=tuple(no_call), wrong=tuple(wrong))


def report(scores: Scores) -> None:
    print(f"\n{scores.suite} {VERSION}")
    print(f"  {'task':<14}{'solved':<8}{'calls':>5}{'ms':>8}  answer")
    for verdict in scores.scripts:
        text = " ".join((verdict.error or verdict.answer).split())
        print(
            f"  {verdict.task_id:<14}{'yes' if verdict.solved else 'NO':<8}{len(verdict.calls):>5}"
            f"{verdict.duration * 1000:>8.1f}  {text if len(text) <= 70 else text[:69] + '…'}"
        )
    print(f"  {_score('scripts', scores.scripts)}")
    print(f"  {_control('control, no calls and no answer', scores.no_call)}")
    print(f"  {_control('control, wrong arguments and a wrong answer', scores.wrong)}")


def _score(title: str, verdicts: Sequence[Verdict]) -> str:
    return f"{title}: {sum(verdict.solved for verdict in verdicts)} of {len(verdicts)}"


def _control(title: str, verdicts: Sequence[Verdict]) -> str:
    passing = [verdict.task_id for verdict in verdicts if verdict.solved]
    return _score(title, verdicts) + (f" (accepted anyway: {', '.join(passing)})" if passing else "")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agentdojo.run", description=__doc__)
    parser.add_argument("--suite", choices=list(SUITES), help="only this suite")
    parser.add_argument("--task", action="append", default=[], metavar="ID", help="only this task, as user_task_7")
    options = parser.parse_args(arguments)
    begin = perf_counter()
    results: list[Scores] = []
    try:
        for name in [options.suite] if options.suite else SUITES:
            scores = asyncio.run(measure(name, options.task))
            if scores.scripts:
                results.append(scores)
                report(scores)
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 2
    verdicts = [verdict for scores in results for verdict in scores.scripts]
    if not verdicts:
        parser.error(f"no task {', '.join(options.task)}")
    print(f"\n{_score('all', verdicts)} in {perf_counter() - begin:.1f} s")
    return 0 if all(verdict.solved for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
