"""`ringfence run` as a person at a terminal sees it: the tree, the prompt, Ctrl-C."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.commands import person

pytestmark = pytest.mark.slow

ASK = "Approve this call? y or n: "
ORDER = "await tools.order(product='chair', count=10)\n"


def ordered(folder: Path) -> str:
    path = folder / "ordered.txt"
    return path.read_text() if path.exists() else ""


def test_y_runs_the_call_that_was_shown(tmp_path: Path) -> None:
    with person(tmp_path, "await tools.stock(product='chair')\n" + ORDER) as somebody:
        somebody.expect("approval  order")
        somebody.expect("Order more from the supplier.")
        somebody.expect("line 2  await tools.order(product='chair', count=10)")
        somebody.expect("changes something outside")
        somebody.expect('"chair"')
        somebody.expect(ASK)
        somebody.type("y\n")
        assert somebody.finish() == 0
        assert "✓ stock" in somebody.screen
        assert "✓ order" in somebody.screen
        assert "(approved by you)" in somebody.screen
        assert somebody.screen.endswith('"10 x chair"\n')
    assert ordered(tmp_path) == "10 x chair\n"


@pytest.mark.parametrize(
    ("keys", "reason"),
    [("n\n", "(denied by you)"), ("\x04", "(no answer: the terminal was closed)"), ("y\x04\x04", "(no answer: ")],
)
def test_n_and_the_end_of_input_deny(tmp_path: Path, keys: str, reason: str) -> None:
    with person(tmp_path, ORDER) as somebody:
        somebody.expect(ASK)
        somebody.type(keys)
        assert somebody.finish() == 1
        assert reason in " ".join(somebody.screen.split())
        assert "error APPROVAL_DENIED at line 1" in somebody.screen
    assert ordered(tmp_path) == ""


def test_anything_else_asks_again(tmp_path: Path) -> None:
    with person(tmp_path, ORDER) as somebody:
        for answer in ("\n", "yes\n", "Y\n"):
            somebody.expect(ASK)
            somebody.type(answer)
            somebody.expect("Only y (run it) or n (refuse it) is an answer.")
        somebody.expect(ASK)
        assert ordered(tmp_path) == ""
        somebody.type("y\n")
        assert somebody.finish() == 0
    assert ordered(tmp_path) == "10 x chair\n"


def test_what_was_typed_before_the_question_is_not_an_answer(tmp_path: Path) -> None:
    with person(tmp_path, "await tools.nap(seconds=1.5)\n" + ORDER) as somebody:
        somebody.expect("nap")
        somebody.type("y\n")
        somebody.expect(ASK)
        somebody.type("n\n")
        assert somebody.finish() == 1
    assert ordered(tmp_path) == ""


def test_several_questions_come_one_after_another_each_with_its_own_answer(tmp_path: Path) -> None:
    script = (
        "import asyncio\n"
        "await asyncio.gather(*(tools.order(product=p) for p in ('lamp', 'chair')), return_exceptions=True)\n"
    )
    with person(tmp_path, script) as somebody:
        somebody.expect('"lamp"')
        somebody.expect(ASK)
        assert '"chair"' not in somebody.screen
        somebody.type("y\n")
        somebody.expect('"chair"')
        somebody.expect(ASK)
        somebody.type("n\n")
        assert somebody.finish() == 1
    assert ordered(tmp_path) == "1 x lamp\n"


def test_other_calls_go_on_while_a_person_thinks(tmp_path: Path) -> None:
    script = (
        "import asyncio\n"
        "async def naps():\n"
        "    for _ in range(5):\n"
        "        await tools.nap(seconds=0.1)\n"
        "    await tools.mail(to='done')\n"
        "await asyncio.gather(tools.order(product='lamp'), naps())\n"
        "'finished'\n"
    )
    with person(tmp_path, script, "--timeout", "20") as somebody:
        somebody.expect(ASK)
        with pytest.raises(AssertionError, match="did not appear"):
            somebody.expect("✓ mail", seconds=2.0)  # the screen stands still, though the calls do not
        somebody.type("y\n")
        somebody.expect("✓ mail")
        assert somebody.finish() == 0
        naps = [line for line in somebody.screen.splitlines() if "✓ nap" in line]
        assert len(naps) == 5
        assert all(" s" not in line.partition("line")[2] for line in naps), naps  # milliseconds, not the wait
    assert ordered(tmp_path) == "1 x lamp\n"


def test_ctrl_c_at_the_question_ends_the_run_and_nothing_was_approved(tmp_path: Path) -> None:
    with person(tmp_path, "await tools.mail(to='a')\n" + ORDER) as somebody:
        somebody.expect(ASK)
        somebody.type("\x03")
        assert somebody.finish() == 1
        assert "error ABORTED" in somebody.screen
        assert "done, not undone  mail  line 1" in somebody.screen
        assert "Traceback" not in somebody.screen
    assert ordered(tmp_path) == ""


def test_a_terminal_that_goes_away_ends_the_command(tmp_path: Path) -> None:
    with person(tmp_path, ORDER) as somebody:
        somebody.expect(ASK)
        somebody.signal(signal.SIGHUP)
        assert somebody.finish() == -signal.SIGHUP
    assert ordered(tmp_path) == ""


def test_the_tree_shows_calls_in_flight(tmp_path: Path) -> None:
    with person(tmp_path, "await tools.nap(seconds=0.6)\n1\n") as somebody:
        somebody.expect("script.py")
        somebody.expect("· nap")
        somebody.expect("✓ nap")
        assert somebody.finish() == 0
        assert max(len(line) for line in somebody.screen.splitlines()) <= 80
