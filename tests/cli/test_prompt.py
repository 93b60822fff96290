"""The approval prompt shows everything and infers nothing (`cli.prompt`)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Generator
from typing import Any

import pytest

from ringfence.cli.decisions import Verdict
from ringfence.cli.prompt import Prompt, question
from ringfence.ports import ApprovalRequest
from tests.cli.consoles import recorded

APPROVED = Verdict(approved=True, reason="approved by you")
DENIED = Verdict(approved=False, reason="denied by you")
CLOSED = Verdict(approved=False, reason="no answer: the terminal was closed")


def request(tool: str = "refund", description: str = "Pay back.", **arguments: Any) -> ApprovalRequest:
    return ApprovalRequest(
        tool=tool,
        description=description,
        input=None,
        arguments=arguments,
        digest="sha256:0",
        session_id="s",
        principal=None,
        call_id="r.1",
        run_id="r",
        line=2,
        effect="write",
    )


class Typed:
    """A terminal at which lines have been prepared; a question clears nothing."""

    def __init__(self, *lines: str | None) -> None:
        self.lines = list(lines)
        self.forgotten = 0
        self.reading = 0
        self.most_at_once = 0

    def forget_typed(self) -> None:
        self.forgotten += 1

    async def read_line(self) -> str | None:
        self.reading += 1
        self.most_at_once = max(self.most_at_once, self.reading)
        await asyncio.sleep(0)
        self.reading -= 1
        return self.lines.pop(0)


class Screen:
    """A display that notes when it had to stand still."""

    def __init__(self) -> None:
        self.pauses: list[str] = []

    @contextlib.contextmanager
    def paused(self) -> Generator[None]:
        self.pauses.append("stop")
        yield
        self.pauses.append("go")


def ask(*lines: str | None) -> tuple[Verdict, str, Typed]:
    console, text = recorded()
    typed = Typed(*lines)
    prompt = Prompt(console, typed, Screen(), "first\nsecond\n")
    return asyncio.run(prompt.ask(request(order_id=7))), text.getvalue(), typed


@pytest.mark.parametrize(("line", "verdict"), [("y", APPROVED), (" y ", APPROVED), ("n", DENIED), (None, CLOSED)])
def test_y_approves_n_denies_and_the_end_of_input_denies(line: str | None, verdict: Verdict) -> None:
    assert ask(line)[0] == verdict


@pytest.mark.parametrize("other", ["", "Y", "yes", "ok", "ye", "да", "y n", "\x1b[A"])
def test_anything_else_asks_again(other: str) -> None:
    verdict, text, typed = ask(other, other, "y")
    assert verdict == APPROVED
    assert text.count("Approve this call? y or n: ") == 3
    assert typed.lines == []


def test_what_was_typed_before_a_question_is_forgotten_each_time() -> None:
    assert ask("n")[2].forgotten == 1
    assert ask("what", "n")[2].forgotten == 2


def test_several_questions_are_asked_one_after_another() -> None:
    console, text = recorded()
    typed, screen = Typed("y", "n", "y"), Screen()
    prompt = Prompt(console, typed, screen, "")

    async def all_three() -> list[Verdict]:
        return await asyncio.gather(*(prompt.ask(request(order_id=number)) for number in range(3)))

    assert asyncio.run(all_three()) == [APPROVED, DENIED, APPROVED]
    assert typed.most_at_once == 1
    assert screen.pauses == ["stop", "go"] * 3
    assert text.getvalue().count("approval  refund") == 3


def test_a_cancelled_question_lets_the_display_go_on_and_the_next_one_be_asked() -> None:
    console, text = recorded()
    screen = Screen()

    class Silent(Typed):
        asked = asyncio.Event()

        async def read_line(self) -> str | None:
            if not self.lines:
                self.asked.set()
                await asyncio.Event().wait()
            return self.lines.pop(0)

    typed = Silent()
    prompt = Prompt(console, typed, screen, "")

    async def cancel_first() -> Verdict:
        first = asyncio.create_task(prompt.ask(request()))
        await typed.asked.wait()
        first.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await first
        typed.lines.append("y")
        return await prompt.ask(request())

    assert asyncio.run(cancel_first()) == APPROVED
    assert "y or n: (withdrawn)\n" in text.getvalue()


def shown(one: ApprovalRequest, source: str = "first\nawait tools.refund(order_id=7)\n", width: int = 80) -> str:
    console, text = recorded(width=width)
    console.print(question(one, source.splitlines()))
    return text.getvalue()


def test_the_question_shows_tool_description_line_effect_and_arguments() -> None:
    text = shown(request(order_id=7, reason="paid twice", deep={"a": [1, None]}))
    for part in (
        "approval  refund",
        "Pay back.",
        "line 2  await tools.refund(order_id=7)",
        "changes something outside",
        "order_id",
        '"paid twice"',
        "null",
    ):
        assert part in text


def test_long_arguments_are_shown_whole() -> None:
    body = "".join(f"<{number}>" for number in range(2000))
    text = shown(request(body=body), width=60)
    assert (
        f'"{body}"' in "".join(part.strip("│ ") for part in text.splitlines() if part.startswith("│"))[-len(body) - 2 :]
    )


def test_nothing_that_others_wrote_is_obeyed() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07[bold red]x[/]\u202e:smile:"
    text = shown(request(tool=evil, description=evil, **{evil: evil}), source=f"a\n{evil}\n", width=200)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    assert text.count("[bold red]x[/]") == 5
    assert text.count(":smile:") == 5


def test_a_call_without_arguments_says_so() -> None:
    assert "no arguments" in shown(request())


def test_a_long_argument_does_not_push_short_ones_out_of_sight_of_the_question() -> None:
    text = shown(request(amount=5, note="x" * 100_000, to="ada"))
    assert text.index("amount") > text.rindex("xxx")
    assert text.index("amount") < text.index("ada")
