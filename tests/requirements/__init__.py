"""What ringfence promises, one record for each promise, and the decorator that ties tests to them.

Data only: it does not know the tests. `tests/architecture/test_requirements.py` holds it against them: a promise has a
test, or a reason why it cannot have one yet. Test files import `requirement`.

Where a promise comes from: the first seed (the document on tools and security) with the catalogue of its behaviour
(letters and numbers such as `AC13` or `W7`), both in `tools`; the second seed (the document on the tool system of an
enclave) with its catalogue (`T38`, `U4`, `EW6`), in `enclave`; decisions that bind where documents differ (`D1` to
`D12`, `dec.13` to `dec.25`); and public reports of faults in comparable software (`B1`, with the report's address), in
`reports`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from tests.requirements import cases, enclave, reports, tools
from tests.requirements.record import Record as Record
from tests.requirements.record import Requirement as Requirement
from tests.requirements.record import requirement as requirement

_PENDING: Final = frozenset(
    (
        "B73 B74 B76 B77 B79 B80 B82 B83 B85 B86 B89 B91 B118 B119 B121 B122 B124 B125 B127 B128 B130 B131 "
        "B133 B134 B136 B137 B139 B140 B142 seed2.context seed2.allowed seed2.gated seed2.plain "
        "seed2.stackless seed2.new seed2.collections seed2.active seed2.once seed2.structured dec.19 dec.20 "
        "dec.22 dec.23 dec.24 dec.25 rec.11 rec.12 U2 EW3 T89 T90 T91 T93 T94 T97 T98 T99 T101 T102 T103 T105 "
        "T106 T107 T109 T110 T111 T113 T114 T115 T116 T118 "
    ).split()
)
"""Promises of parts of the enclave that are being built; their tests come with them."""


def _awaited(record: Record) -> Record:
    name, promise = record
    return (
        (name, replace(promise, gap="comes with its part of the enclave", later=None)) if name in _PENDING else record
    )


_ALL: Final = (*tools.RECORDS, *reports.RECORDS, *enclave.RECORDS, *cases.RECORDS)

LINES: Final[tuple[Record, ...]] = tuple(map(_awaited, _ALL))
"""Every promise, in order; `REQUIREMENTS` cannot show a name that was used twice."""

REQUIREMENTS: Final[Mapping[str, Requirement]] = MappingProxyType(dict(LINES))
