"""`make compare BASE=COMMIT`: the same measurements on this working tree and on an older commit, taken in turn.

Two versions measured one after the other tell more about the minute than about the versions; here every round runs
both, each in a process of its own that sees one version's `src` only. The measurements use public names that both
versions have; one that the older version cannot run is left out and said so.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
WORKER: Final = Path(__file__).with_name("compared.py")
ROUNDS: Final = 7
LONGEST: Final = 120
"""Seconds for one measurement of one version."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="make compare", description=__doc__)
    parser.add_argument("base", metavar="BASE", help="a commit, tag or branch")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these measurements")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    with _tree(options.base) as old:
        names = options.names or _ask(ROOT, "--list").split()
        print(f"{'measurement':<36}{'new':>12}{'old':>12}{'new / old':>11}")
        for name in names:
            print(_compared(name, old, options.rounds), flush=True)
    return 0


def _compared(name: str, old: Path, rounds: int) -> str:
    taken: dict[Path, list[float]] = {ROOT: [], old: []}
    for turn in range(rounds):
        for tree in (ROOT, old) if turn % 2 else (old, ROOT):
            answer = _ask(tree, name)
            if not answer:
                return f"{name:<36}  not in {'this tree' if tree is ROOT else 'the older version'}"
            taken[tree].append(float(answer))
    new, before = median(taken[ROOT]), median(taken[old])
    return f"{name:<36}{new:>9,.1f} us{before:>9,.1f} us{new / before:>10.2f}x"


def _ask(tree: Path, *words: str) -> str:
    """What the worker prints with that version on its path; empty when it could not."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    done = subprocess.run(
        [sys.executable, str(WORKER), *words], env=environment, capture_output=True, text=True, timeout=LONGEST
    )
    return done.stdout.strip() if done.returncode == 0 else ""


@contextmanager  # pyright: ignore[reportDeprecated]
def _tree(commit: str) -> Iterator[Path]:
    """A checkout of that commit, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="ringfence-compare-") as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


if __name__ == "__main__":
    sys.exit(main())
