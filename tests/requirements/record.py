"""One promise as a record, and the decorator that ties tests to promises. Knows no promise; the lists beside it do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import pytest

Kind = Literal["seed", "spec", "src", "better", "bug", "decision"]
"""`seed`, `spec`, `src`: said or done by what the seeds describe; `better`: done well where that is silent or wrong;
`bug`: reported of others; `decision`: settled here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One promise."""

    source: str
    """Section of the document, or address of the report."""
    kind: Kind
    says: str
    """What holds, in one sentence."""
    gap: str | None = None
    """Why no test can exist yet, or what has taken the promise's place."""
    later: str | None = None
    """What the tests leave out, because that part of the product is not there yet."""


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Say which promises a test proves; `pytest -m requirement` runs all of them."""
    return pytest.mark.requirement(*ids)


Line = tuple[str, Kind, str] | tuple[str, Kind, str, Mapping[str, str]]
"""Id, kind, sentence, and at most one of `gap` and `later`."""

Record = tuple[str, Requirement]


def gap(reason: str) -> Mapping[str, str]:
    return {"gap": reason}


def later(reason: str) -> Mapping[str, str]:
    return {"later": reason}


def record(source: str, line: Line) -> Record:
    name, kind, says, *rest = line
    return name, Requirement(source=source, kind=kind, says=says, **(rest[0] if rest else {}))


def records(source: str, lines: Iterable[Line]) -> Iterable[Record]:
    return (record(source, line) for line in lines)
