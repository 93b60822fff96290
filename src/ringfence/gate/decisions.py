"""What an approval handler's answer means, and what several answers decide together.

`judge` reads one answer; `outcome` says whether the members of a combination that have answered so far have settled
it, and how. The rules are those of `contract.approvers`. Knows neither handlers nor time: an answer is earlier than
another because it stands before it. Called by `gate.approval`. Pure.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, assert_never, cast

from ringfence import values
from ringfence.contract.output import dump_plain
from ringfence.contract.restorable import Kind, tags_of
from ringfence.limits import ValueBudget
from ringfence.ports import Approve, Edit, Reject, Respond

Reason = Literal["denied", "no_handler", "handler_failed", "not_a_bool", "disagreed", "invalid_edit"]
"""Why nobody approved: only `denied` is somebody's decision."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """The call may run as it was shown."""


@dataclass(frozen=True, slots=True)
class AllowedWith:
    """The call may run with other arguments, if they fit."""

    args: bytes
    """Canonical JSON of all of them, so that nobody who holds the mapping can change it any more."""
    tags: Mapping[Kind, Sequence[Sequence[str | int]]] | None = None
    """Paths of texts in it that were written as dates, decimals, ids and bytes, by kind."""


@dataclass(frozen=True, slots=True)
class AnsweredWith:
    """The call does not run, and its caller gets this in place of a result, if it fits."""

    value: Any


@dataclass(frozen=True, slots=True)
class Blocked:
    """The call may not run."""

    reason: Reason
    text: str = ""
    """What the person or policy that denied it has to say to the caller."""
    cause: BaseException | None = field(default=None, compare=False)
    """What a handler raised, for the host only."""


Ruling = Allowed | AllowedWith | AnsweredWith | Blocked


@dataclass(frozen=True, slots=True)
class Panel:
    """A combination whose handlers are numbers: a handler that stands in several places is one number."""

    rule: Literal["any_of", "all_of", "veto"]
    members: tuple[Tree, ...]


Tree = int | Panel

_Known = tuple[int, Ruling]
"""A ruling, and the position of the answer with which it became known."""

_BUDGET: Final = ValueBudget()
DECISIONS: Final = frozenset({Approve, Edit, Reject, Respond})
"""The classes of decisions."""


def judge(answer: object) -> Ruling:
    """What one handler's answer means. Nothing is inferred: what is not exactly a decision is none."""
    if answer is True:
        return Allowed()
    if answer is False:
        return Blocked("denied")
    if type(answer) not in DECISIONS:  # a subclass may mean anything
        return Blocked("not_a_bool")
    match answer:
        case Approve():
            return Allowed()
        case Edit(args):
            return _edited(args)
        case Respond(value):
            return AnsweredWith(value)
        case Reject(reason):
            return Blocked("denied", reason if type(cast("object", reason)) is str else "")
        case _:
            return Blocked("not_a_bool")


def _edited(args: object) -> Ruling:
    if not issubclass(type(args), Mapping):
        return Blocked("not_a_bool")
    try:
        given = dict(cast("Mapping[Any, Any]", args))
        with contextlib.suppress(values.ValueRefused):
            return AllowedWith(values.canonical(given, _BUDGET))
        data = dump_plain(given)  # what a request shows as `input` may hold dates and the like
        return AllowedWith(values.recode(values.parse(data, _BUDGET), _BUDGET), tags_of(data))
    except Exception:  # noqa: BLE001  (not JSON; or a mapping that cannot be read, which may raise anything)
        return Blocked("invalid_edit")


def outcome(tree: Tree, answers: Sequence[tuple[int, Ruling]]) -> Ruling | None:
    """What these answers decide; None while the others matter. Once it is known, no further answer changes it.

    Args:
        answers: number of the handler and what it said, in the order in which they came. Only a handler's first
            answer counts.
    """
    heard: dict[int, _Known] = {}
    for at, (member, ruling) in enumerate(answers):
        heard.setdefault(member, (at, ruling))
    known = _known(tree, heard)
    return None if known is None else known[1]


def _known(tree: Tree, heard: Mapping[int, _Known]) -> _Known | None:
    if isinstance(tree, int):
        return heard.get(tree)
    known = [part for member in tree.members if (part := _known(member, heard)) is not None]
    known.sort(key=_position)
    if not known:
        return None
    is_complete = len(known) == len(tree.members)
    match tree.rule:
        case "any_of":
            return _first_approval(known, is_complete)
        case "all_of":
            return _no_denial(known, is_complete, plain_yields=False)
        case "veto":
            return _no_denial(known, is_complete, plain_yields=True)
        case _:
            assert_never(tree.rule)


def _position(known: _Known) -> int:
    return known[0]


def _first_approval(known: list[_Known], is_complete: bool) -> _Known | None:
    """The first one; when there is none, the first denial that somebody meant, else the first failure."""
    for part in known:
        if not isinstance(part[1], Blocked):
            return part
    if not is_complete:
        return None
    meant = (ruling for _, ruling in known if isinstance(ruling, Blocked) and ruling.reason == "denied")
    return known[-1][0], next(meant, known[0][1])


def _no_denial(known: list[_Known], is_complete: bool, *, plain_yields: bool) -> _Known | None:
    """The first member that does not approve ends it, and so does the first that approves something else.

    Args:
        plain_yields: an approval of the call as it was shown gives way to an edit or an answer.
    """
    kept = known[0][1]
    for at, ruling in known:
        if isinstance(ruling, Blocked):
            return at, ruling
        if plain_yields and isinstance(kept, Allowed):
            kept = ruling
        elif not (plain_yields and isinstance(ruling, Allowed)) and not _same(kept, ruling):
            return at, Blocked("disagreed")
    return (known[-1][0], kept) if is_complete else None


def _same(one: Ruling, other: Ruling) -> bool:
    """Whether two members approve the same thing, as JSON. What cannot be written is like nothing else."""
    if isinstance(one, AnsweredWith) and isinstance(other, AnsweredWith):
        return one is other or ((text := _text(one.value)) is not None and text == _text(other.value))
    return one == other


def _text(value: object) -> bytes | None:
    try:
        return values.recode(values.parse(dump_plain(value), _BUDGET), _BUDGET)
    except values.ValueRefused:
        return None
