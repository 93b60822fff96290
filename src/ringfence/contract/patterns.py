"""How much a regular expression can make of a text, before it gets one.

Patterns run in linear time here, which means text times pattern: at every character as many places of the pattern are
looked at as can be reached at once. Knows the syntax by its shape only; what is no pattern is refused elsewhere.
`contract.bounds` asks at registration. Pure.
"""

from __future__ import annotations

import re
from typing import Final

_COUNTED: Final = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_ESCAPE: Final = re.compile(r"\\(?:[pPux]\{[^}]*\}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)", re.DOTALL)
_CLASS: Final = re.compile(r"\[\^?\]?(?:\\.|\[:[^\]]*:\]|[^\]\\])*\]", re.DOTALL)
_GROUP: Final = re.compile(r"\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*:|[=!]|<[=!]))?")
_NOWHERE: Final = frozenset({r"\b", r"\B", r"\A", r"\z", r"\Z"})


def places(pattern: str) -> int:
    """Characters that a pattern asks for, repetitions written out: so many can be looked for at once.

    0, where it begins at the text's beginning and repeats nothing without an end: then it stops by itself.
    """
    counts, loops = _counted(pattern)
    begins = pattern.startswith(("^", r"\A")) and not _has_choice_outside(pattern)
    return 0 if begins and not loops else max(counts, 1)


def _counted(pattern: str) -> tuple[int, bool]:
    """All places, and whether something repeats without an end."""
    totals, last, loops, at = [0], 0, False, 0
    while at < len(pattern):
        text = _token(pattern, at)
        at += len(text)
        if text[0] == "(":
            totals.append(0)
            last = 0
        elif text == ")":
            last = totals.pop() if len(totals) > 1 else 0
            totals[-1] += last
        elif text in ("*", "+"):
            loops = True
        elif (found := _COUNTED.fullmatch(text)) is not None:
            loops = loops or (found[2] is not None and not found[3])
            more = last * (max(_number(found[1]), _number(found[3] or "0"), 1) - 1)
            totals[-1], last = totals[-1] + more, last + more
        else:
            last = 0 if text in "?|^$" or text in _NOWHERE else 1
            totals[-1] += last
    return sum(totals), loops


def _number(digits: str) -> int:
    return int(digits[:9])


def _token(pattern: str, at: int) -> str:
    for kind in (_ESCAPE, _CLASS, _GROUP, _COUNTED):
        if (found := kind.match(pattern, at)) is not None:
            return found[0]
    return pattern[at]


def _has_choice_outside(pattern: str) -> bool:
    depth, at = 0, 0
    while at < len(pattern):
        text = _token(pattern, at)
        at += len(text)
        depth += (text[0] == "(") - (text == ")")
        if text == "|" and depth == 0:
            return True
    return False
