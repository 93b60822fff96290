"""The five detectors: orders of calls, and single calls, that look like an attack.

Ids, descriptions and windows are those of the enclave catalogue (I6). There are two judges. *By names*, where one
handler answers every call and nothing else is known: the words of a name say what it does (`policy.words`). *By
declarations*, where tools are governed: a declared effect and tags say it, and names only where a tool declares no
effect. `PATTERNS` states both rules; a seen pattern says on whose word, so that a default can depend on it. Each call
costs the same however long the run is. Knows no arguments but for bulk, and decides nothing. `policy.screen` asks it.
Pure.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from ringfence.policy import words
from ringfence.policy.bulk import asks_for_all
from ringfence.policy.verdict import Action
from ringfence.ports import Effect

Evidence = Literal[0, 1, 2]
"""On whose word a call is something: nobody's, its name's, its author's."""
NONE: Final = 0
NAMED: Final = 1
DECLARED: Final = 2

_NEVER: Final = float("-inf")

THRESHOLD: Final = 30
"""Earlier calls of one tool within five seconds that are no enumeration."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """One detector, and what is done about it where the host does not say."""

    id: str
    description: str
    window: float
    """Seconds for which an earlier call counts, exclusive; 0: judged on the call alone."""
    by_names: str
    """The rule where only names are known; refused by default (decision on screening)."""
    by_declarations: str
    """The rule for governed tools."""
    declared: Action = "log"
    """The default for governed tools where the authors of all calls concerned have said so."""


EXFIL: Final = Pattern(
    id="EXFIL_LIST_SEND",
    description="data was read, and then something was sent",
    window=5.0,
    by_names=f"a name with {'/'.join(sorted(words.READS))}, then one with {'/'.join(sorted(words.SENDS))}",
    by_declarations='a call with effect "read", then one of another tool with effect "write"',
)
ENUMERATION: Final = Pattern(
    id="RAPID_ENUMERATION",
    description="one tool was called very often in a short time",
    window=5.0,
    by_names=f"more than rapid_enumeration_threshold ({THRESHOLD}) earlier calls of the same name",
    by_declarations="the same",
)
CREDENTIALS: Final = Pattern(
    id="CREDENTIAL_EXFIL",
    description="a credential was read, and then something outside was called",
    window=10.0,
    by_names=f"a name with {'/'.join(sorted(words.CREDENTIALS))}, then one with {'/'.join(sorted(words.EXTERNAL))}",
    by_declarations='a tool tagged "secret" or "credentials", then one tagged "external" or "network"',
    declared="refuse",
)
BULK: Final = Pattern(
    id="BULK_OPERATION",
    description="an operation on everything at once",
    window=0.0,
    by_names=f"a name with {'/'.join(sorted(words.BULK))} or export all; or arguments without a bound (policy.bulk)",
    by_declarations='a tool tagged "bulk"; or arguments without a bound',
)
DELETION: Final = Pattern(
    id="DELETE_AFTER_ACCESS",
    description="data was read, and then something was deleted",
    window=30.0,
    by_names=f"a name with {'/'.join(sorted(words.READS))}, then one with {'/'.join(sorted(words.DELETES))}",
    by_declarations='a call with effect "read", then one of a tool tagged "destructive"',
)

PATTERNS: Final = (EXFIL, ENUMERATION, CREDENTIALS, BULK, DELETION)
"""All of them, in the order in which they judge. A tool that declares no effect is, to the second judge, also what its
name's words say."""
IDS: Final = tuple(pattern.id for pattern in PATTERNS)

_SECRET_TAGS: Final = frozenset({"secret", "secrets", "credential", "credentials"})
_OUTSIDE_TAGS: Final = frozenset({"external", "network"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a call of one tool is, and on whose word."""

    reads: Evidence
    sends: Evidence
    credentials: Evidence
    outside: Evidence
    deletes: Evidence
    bulk: Evidence


NOTHING: Final = Traits(reads=NONE, sends=NONE, credentials=NONE, outside=NONE, deletes=NONE, bulk=NONE)
"""What is known of a governed name that no tool has."""


def by_name(name: str) -> Traits:
    """The first judge: what the words of a name say."""
    found = words.words(name)
    said = frozenset(found)

    def has(wanted: frozenset[str]) -> Evidence:
        return NONE if said.isdisjoint(wanted) else NAMED

    return Traits(
        reads=has(words.READS),
        sends=has(words.SENDS),
        credentials=has(words.CREDENTIALS),
        outside=has(words.EXTERNAL),
        deletes=has(words.DELETES),
        bulk=NAMED if words.are_adjacent(found, "export", "all") else has(words.BULK),
    )


def by_declaration(name: str, effect: Effect | None, tags: Collection[str]) -> Traits:
    """The second judge: what a tool's author says, and where no effect is declared, also what its name says."""
    said = by_name(name) if effect is None else None

    def either(declared: bool, named: Evidence | None) -> Evidence:
        return DECLARED if declared else (named or NONE)

    return Traits(
        reads=either(effect == "read", said and said.reads),
        sends=either(effect == "write", said and said.sends),
        credentials=either(not _SECRET_TAGS.isdisjoint(tags), said and said.credentials),
        outside=either(not _OUTSIDE_TAGS.isdisjoint(tags), said and said.outside),
        deletes=either("destructive" in tags, said and said.deletes),
        bulk=either("bulk" in tags, said and said.bulk),
    )


class Memory:
    """What one run has done, as far as the detectors need it."""

    __slots__ = ("_any_read", "_bulk", "_credentials", "_often", "_other_read", "_own", "_threshold", "_thresholds")

    def __init__(self, threshold: int, thresholds: Mapping[str, int], *, own: bool, bulk: bool = True) -> None:
        """Remember nothing yet.

        Args:
            threshold: for `RAPID_ENUMERATION`.
            thresholds: others, by name.
            own: reading and sending by one and the same tool counts as well (by names).
            bulk: arguments are looked at, for `BULK_OPERATION`.
        """
        self._threshold = threshold
        self._thresholds = thresholds
        self._own = own
        self._bulk = bulk
        self._any_read: tuple[float, str] = (_NEVER, "")
        self._other_read = _NEVER
        """Last read by a tool other than that of `_any_read`."""
        self._credentials = {NAMED: _NEVER, DECLARED: _NEVER}
        self._often: dict[str, deque[float]] = {}
        """The last calls by name: exactly as many as would make the next one too many."""

    def seen(
        self, name: str, traits: Traits, arguments: Mapping[str, Any], now: float
    ) -> Iterator[tuple[Pattern, Evidence]]:
        """Every pattern that this call would complete. `DECLARED` only for `CREDENTIALS`, where all concerned are:
        nothing depends on it for the others.
        """
        if traits.sends and now - self._last_read(name) < EXFIL.window:
            yield EXFIL, NAMED
        times = self._often.get(name)
        if times is not None and len(times) == times.maxlen and now - times[0] < ENUMERATION.window:
            yield ENUMERATION, NAMED
        if traits.outside:
            if traits.outside == DECLARED and now - self._credentials[DECLARED] < CREDENTIALS.window:
                yield CREDENTIALS, DECLARED
            elif now - max(self._credentials.values()) < CREDENTIALS.window:
                yield CREDENTIALS, NAMED
        if traits.bulk or (self._bulk and asks_for_all(arguments)):
            yield BULK, NAMED
        if traits.deletes and now - self._any_read[0] < DELETION.window:
            yield DELETION, NAMED

    def _last_read(self, name: str) -> float:
        """When something was read that a call of this tool could send."""
        when, whose = self._any_read
        return when if self._own or whose != name else self._other_read

    def note(self, name: str, traits: Traits, now: float) -> None:
        """The call is let through."""
        if traits.reads:
            when, whose = self._any_read
            if whose != name:
                self._other_read = when
            self._any_read = (now, name)
        if traits.credentials:
            self._credentials[traits.credentials] = now
        times = self._often.get(name)
        if times is None:
            times = self._often[name] = deque(maxlen=self._thresholds.get(name, self._threshold) + 1)
        times.append(now)
