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
from types import MappingProxyType
from typing import Final

from tests.requirements import cases, enclave, reports, tools
from tests.requirements.record import Record as Record
from tests.requirements.record import Requirement as Requirement
from tests.requirements.record import requirement as requirement

LINES: Final[tuple[Record, ...]] = (*tools.RECORDS, *reports.RECORDS, *enclave.RECORDS, *cases.RECORDS)
"""Every promise, in order; `REQUIREMENTS` cannot show a name that was used twice."""

REQUIREMENTS: Final[Mapping[str, Requirement]] = MappingProxyType(dict(LINES))
