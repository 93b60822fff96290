"""A name as words, and which words mean what to the detectors.

Names are split at `. : _ - /`, at digits and where the case changes, and compared word by word: `getUser` reads,
`widget:update` does not, `posts:list` posts nothing (enclave catalogue, I7 and D-7). The lists are closed; nouns are
there in the plural too. Pure; knows neither calls nor time. `policy.sequences` and `policy.bulk` ask it.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", re.ASCII)

READS: Final = frozenset("list query get fetch read search find select".split())
SENDS: Final = frozenset("send export post write upload publish emit transmit forward".split())
DELETES: Final = frozenset("delete remove destroy purge clear wipe erase".split())
CREDENTIALS: Final = frozenset(
    "secret secrets credential credentials password passwords token tokens key keys apikey apikeys auth oauth "
    "authenticate authentication authorize authorization".split()
)
EXTERNAL: Final = frozenset(
    "http https api apis external webhook webhooks slack email emails sms notification notifications".split()
)
BULK: Final = frozenset("bulk batch mass dump".split())


def words(name: str) -> tuple[str, ...]:
    """Lower-case words in order. `api key` is one word, since it names a credential and no interface.

    Text outside ASCII letters separates words and is in none.
    """
    found = [word.lower() for word in _WORD.findall(name)]
    made: list[str] = []
    for word in found:
        if word in ("key", "keys") and made and made[-1] == "api":
            made[-1] = f"api{word}"
        else:
            made.append(word)
    return tuple(made)


def are_adjacent(found: tuple[str, ...], first: str, second: str) -> bool:
    """Whether one word directly follows another."""
    return (first, second) in pairwise(found)
