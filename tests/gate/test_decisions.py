"""Only a decision decides, and several decide as soon as the rest cannot matter."""

from __future__ import annotations

import asyncio
import datetime
import itertools
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, cast

import pytest
from pydantic import BaseModel

from ringfence.gate.decisions import (
    Allowed,
    AllowedWith,
    AnsweredWith,
    Blocked,
    Panel,
    Ruling,
    Tree,
    judge,
    outcome,
)
from ringfence.ports import Approve, Edit, Reject, Respond

ALLOWED, DENIED, FAILED = Allowed(), Blocked("denied", "no"), Blocked("handler_failed")
FIVE, SIX, ANSWER = AllowedWith(b'{"cents":5}'), AllowedWith(b'{"cents":6}'), AnsweredWith(5)

# --- one answer ---


@pytest.mark.parametrize("answer", [True, Approve()])
def test_true_and_approve_allow(answer: object) -> None:
    assert judge(answer) == Allowed()


@pytest.mark.parametrize(
    ("answer", "text"),
    [(False, ""), (Reject(), ""), (Reject("too much"), "too much"), (Reject(cast("Any", 5)), "")],
)
def test_false_and_reject_deny_and_a_reason_is_text(answer: object, text: str) -> None:
    assert judge(answer) == Blocked("denied", text)


def test_a_response_is_kept_as_it_is() -> None:
    value = object()
    assert judge(Respond(value)) == AnsweredWith(value)


@pytest.mark.parametrize("args", [{"b": 1, "a": [2.5, None]}, MappingProxyType({"a": [2.5, None], "b": 1})])
def test_an_edit_is_written_down_at_once(args: Mapping[str, Any]) -> None:
    assert judge(Edit(args)) == AllowedWith(b'{"a":[2.5,null],"b":1}')


def test_an_edit_may_hold_what_a_request_shows_as_input() -> None:
    ruling = judge(Edit({"when": datetime.date(2026, 1, 1), "who": ["ada"]}))
    assert ruling == AllowedWith(b'{"when":"2026-01-01","who":["ada"]}', {"date": [["when"]]})


def test_who_holds_an_edit_cannot_change_it_any_more() -> None:
    args: dict[str, Any] = {"to": ["ada"]}
    ruling = judge(Edit(args))
    args["to"].append("eve")
    assert ruling == AllowedWith(b'{"to":["ada"]}')


class Unreadable(Mapping[str, Any]):
    """A mapping that keeps its contents to itself."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        return 1


@pytest.mark.parametrize("args", [{"when": object()}, {"x": float("nan")}, {1: 2}, {"x": "\ud800"}, Unreadable()])
def test_an_edit_that_json_cannot_write_is_none(args: Any) -> None:
    assert judge(Edit(args)) == Blocked("invalid_edit")


class Sure(Approve):
    """Looks like a decision."""


class Changed(Edit):
    """Looks like an edit."""


@pytest.mark.parametrize(
    "answer",
    [
        None, 0, 1, 1.0, "", "yes", "denied", [], {}, {"approved": True}, object(), NotImplemented,
        Approve, Edit, Reject, Respond, Sure(), Changed({}), Edit(cast("Any", [("cents", 5)])), Edit(cast("Any", None)),
        Allowed(), (True,),
    ],
    ids=repr,
)  # fmt: skip
def test_nothing_else_is_a_decision_whatever_its_truth(answer: object) -> None:
    assert judge(answer) == Blocked("not_a_bool")


def test_an_awaitable_is_no_decision() -> None:
    async def really() -> bool:
        return True

    coroutine = really()
    assert [judge(coroutine), judge(Edit(cast("Any", coroutine)))] == [Blocked("not_a_bool")] * 2
    assert asyncio.run(coroutine)


# --- several: every tree of up to three handlers, every answer, every order ---

ANSWERS: tuple[Ruling, ...] = (ALLOWED, FIVE, SIX, ANSWER, DENIED, FAILED)
RULES = ("any_of", "all_of", "veto")


def trees() -> Iterator[tuple[str, Tree]]:
    for outer in RULES:
        yield f"{outer}(0,1)", Panel(outer, (0, 1))
        yield f"{outer}(0,1,2)", Panel(outer, (0, 1, 2))
        yield f"{outer}(0,1,0)", Panel(outer, (0, 1, 0))
        for inner in RULES:
            yield f"{outer}({inner}(0,1),2)", Panel(outer, (Panel(inner, (0, 1)), 2))
            yield f"{outer}(0,{inner}(1,2))", Panel(outer, (0, Panel(inner, (1, 2))))
            yield f"{outer}({inner}(0,1),{inner}(1,2))", Panel(outer, (Panel(inner, (0, 1)), Panel(inner, (1, 2))))
            yield f"{outer}({inner}(0,1),0)", Panel(outer, (Panel(inner, (0, 1)), 0))


def handlers(tree: Tree) -> set[int]:
    return {tree} if isinstance(tree, int) else set[int]().union(*(handlers(member) for member in tree.members))


class Seat:
    """The oracle: one combination that hears its members one after the other, and tells whoever it is a member of."""

    def __init__(self, panel: Panel, tell: Callable[[Ruling], None]) -> None:
        self.panel = panel
        self.tell = tell
        self.came: list[Ruling] = []
        self.is_over = False
        self.listeners: list[tuple[int, Callable[[Ruling], None]]] = []
        for member in panel.members:
            if isinstance(member, int):
                self.listeners.append((member, self.hear))
            else:
                self.listeners.extend(Seat(member, self.hear).listeners)

    def hear(self, ruling: Ruling) -> None:
        if self.is_over:
            return
        self.came.append(ruling)
        result = {"any_of": self.any_of, "all_of": self.all_of, "veto": self.veto}[self.panel.rule](ruling)
        if result is not None:
            self.is_over = True
            self.tell(result)

    @property
    def is_complete(self) -> bool:
        return len(self.came) == len(self.panel.members)

    def any_of(self, last: Ruling) -> Ruling | None:
        if not isinstance(last, Blocked):
            return last
        denials = [ruling for ruling in self.came if ruling == DENIED]
        return (denials or self.came)[0] if self.is_complete else None

    def all_of(self, last: Ruling) -> Ruling | None:
        if isinstance(last, Blocked):
            return last
        if last != self.came[0]:
            return Blocked("disagreed")
        return last if self.is_complete else None

    def veto(self, last: Ruling) -> Ruling | None:
        if isinstance(last, Blocked):
            return last
        special = list(dict.fromkeys(ruling for ruling in self.came if ruling != ALLOWED))
        if len(special) > 1:
            return Blocked("disagreed")
        return [*special, ALLOWED][0] if self.is_complete else None


Said = tuple[tuple[int, Ruling], ...]


def in_the_end(tree: Tree, said: Said) -> Ruling:
    results: list[Ruling] = []
    assert isinstance(tree, Panel)
    seat = Seat(tree, results.append)
    for number, ruling in said:
        for listens_to, hear in seat.listeners:
            if listens_to == number:
                hear(ruling)
    return results[0]


@pytest.mark.parametrize("tree", [pytest.param(tree, id=name) for name, tree in trees()])
def test_an_outcome_is_known_exactly_when_no_further_answer_can_change_it(tree: Tree) -> None:
    ends: dict[Said, set[Ruling]] = {}
    numbers = sorted(handlers(tree))
    for order in itertools.permutations(numbers):
        for answers in itertools.product(ANSWERS, repeat=len(numbers)):
            said = tuple(zip(order, answers, strict=True))
            end = in_the_end(tree, said)
            for length in range(len(said) + 1):
                ends.setdefault(said[:length], set()).add(end)
    wrong = {
        said: (known, possible)
        for said, possible in ends.items()
        if (known := outcome(tree, said)) != (next(iter(possible)) if len(possible) == 1 else None)
    }
    assert not wrong


def test_one_handler_decides_alone_and_its_first_answer_counts() -> None:
    assert outcome(0, []) is None
    assert outcome(0, [(0, ALLOWED), (0, DENIED)]) == ALLOWED


def test_a_second_answer_of_the_same_handler_changes_nothing() -> None:
    assert outcome(Panel("any_of", (0, 1)), [(0, DENIED), (0, ALLOWED)]) is None


class Receipt(BaseModel):
    """A result that is no JSON value."""

    cents: int
    paid: bool


def test_answers_agree_when_they_are_the_same_json() -> None:
    def both(one: object, other: object) -> Ruling | None:
        return outcome(Panel("all_of", (0, 1)), [(0, AnsweredWith(one)), (1, AnsweredWith(other))])

    first = Receipt(cents=5, paid=True)
    assert both(first, {"paid": True, "cents": 5}) == AnsweredWith(first)
    assert both((1, 2), [1, 2]) == AnsweredWith((1, 2))
    pairs: list[tuple[object, object]] = [(1, True), (1, 1.5), ("1", 1), (None, {}), (object(), object())]
    for one, other in pairs:
        assert both(one, other) == Blocked("disagreed")
