from __future__ import annotations

from tests.requirements.record import Record

RECORDS: tuple[Record, ...] = ()
