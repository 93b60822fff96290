"""The printed table of what JavaScript scripts send, against the prelude that sends it."""

from __future__ import annotations

import pytest

from ringfence.enclave.table import Row
from ringfence.enclave.table_javascript import SENT, UNSENT
from tests.enclave.engines.encoding import outcome


@pytest.mark.parametrize("row", SENT, ids=lambda row: row.value)
def test_what_the_table_shows_crosses_as_it_says(row: Row) -> None:
    found = outcome(f"return ({row.example})")
    assert (found.get("text"), bool(found.get("tags"))) == (row.text, "tagged" in row.wire)


@pytest.mark.parametrize("row", UNSENT, ids=lambda row: row.value)
def test_what_the_table_refuses_is_refused(row: Row) -> None:
    found = outcome(f"return ({row.example})")
    assert (found.get("large"), found.get("excess")) == (False, False)


def test_every_row_is_whole() -> None:
    assert all(row.value and row.wire and row.host and row.example and row.text for row in SENT)
    assert all(row.value and row.wire and row.example and not row.host for row in UNSENT)
