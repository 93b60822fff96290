"""Time zones inside the jail: all of them, as Python has them, where no file can be opened."""

from __future__ import annotations

from datetime import timedelta
from importlib import resources

import pytest

from tests.enclave.kit import Stage

PRELUDE = "from datetime import datetime, timedelta, timezone, UTC\nfrom zoneinfo import ZoneInfo\nimport zoneinfo\n"


@pytest.mark.parametrize(
    ("source", "value"),
    [
        pytest.param("(datetime(2026, 7, 1, 12, tzinfo=ZoneInfo('Europe/Berlin'))).isoformat()", "2026-07-01T12:00:00+02:00", id="summer"),
        pytest.param("(datetime(2026, 1, 1, 12, tzinfo=ZoneInfo('Europe/Berlin'))).isoformat()", "2026-01-01T12:00:00+01:00", id="winter"),
        pytest.param("(datetime(2026, 1, 1, tzinfo=UTC).astimezone(ZoneInfo('Asia/Kolkata'))).isoformat()", "2026-01-01T05:30:00+05:30", id="astimezone"),
        pytest.param("(datetime(2026, 7, 1, tzinfo=ZoneInfo('America/New_York')).astimezone(UTC)).isoformat()", "2026-07-01T04:00:00+00:00", id="to UTC"),
        # the clocks go forward in the night of 29 March 2026 and back in that of 25 October
        pytest.param("(datetime(2026, 3, 28, 12, tzinfo=ZoneInfo('Europe/Berlin')) + timedelta(days=1)).isoformat()", "2026-03-29T12:00:00+02:00", id="wall time across the change"),
        pytest.param("((datetime(2026, 3, 28, 12, tzinfo=ZoneInfo('Europe/Berlin')).astimezone(UTC) + timedelta(days=1)).astimezone(ZoneInfo('Europe/Berlin'))).isoformat()", "2026-03-29T13:00:00+02:00", id="elapsed time across the change"),
        pytest.param("[datetime(2026, 10, 25, 2, 30, fold=f, tzinfo=ZoneInfo('Europe/Berlin')).utcoffset().total_seconds() / 3600 for f in (0, 1)]", [2.0, 1.0], id="the hour that comes twice"),
        pytest.param("(datetime(2026, 3, 29, 2, 30, tzinfo=ZoneInfo('Europe/Berlin')).astimezone(UTC)).isoformat()", "2026-03-29T01:30:00+00:00", id="the hour that is missing"),
        pytest.param("datetime(2026, 7, 1, tzinfo=ZoneInfo('Europe/London')).tzname()", "BST", id="abbreviation"),
        pytest.param("datetime(2026, 7, 1, tzinfo=ZoneInfo('Europe/London')).dst()", timedelta(hours=1), id="dst"),
        pytest.param("datetime(2050, 7, 1, tzinfo=ZoneInfo('Europe/Berlin')).utcoffset()", timedelta(hours=2), id="far future"),
        pytest.param("ZoneInfo('UTC') is ZoneInfo('UTC')", True, id="cached"),
        pytest.param("ZoneInfo.no_cache('UTC') is ZoneInfo.no_cache('UTC')", False, id="not cached"),
        pytest.param("ZoneInfo.clear_cache()\n[ZoneInfo('Asia/Tokyo').key, str(ZoneInfo('Asia/Tokyo'))]", ["Asia/Tokyo", "Asia/Tokyo"], id="key"),
        pytest.param("import copy\ncopy.deepcopy(ZoneInfo('Asia/Tokyo')).key", "Asia/Tokyo", id="copied"),
        pytest.param("zoneinfo.TZPATH", [], id="no folders"),
        pytest.param("datetime(2026, 7, 1, 12).astimezone().tzname()", "UTC", id="local time is UTC"),
        pytest.param("import time\n[time.tzname[0], time.timezone, time.localtime(0).tm_hour]", ["UTC", 0, 0], id="for the time module too"),
    ],
)  # fmt: skip
def test_arithmetic_with_time_zones_is_pythons_own(stage: Stage, source: str, value: object) -> None:
    result = stage.script(PRELUDE + source)
    assert (result.error, result.value) == (None, value)


def test_every_zone_of_the_package_is_there(stage: Stage) -> None:
    zones = resources.files("tzdata").joinpath("zones").read_text().split()
    result = stage.script(
        PRELUDE + "names = zoneinfo.available_timezones()\nfor name in names: ZoneInfo(name)\nsorted(names)"
    )
    assert (result.error, result.value) == (None, sorted(zones))


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("Europe/Atlantis", "ZoneInfoNotFoundError"),
        ("Europe", "ZoneInfoNotFoundError"),
        ("", "ValueError"),
        ("europe/berlin", "ZoneInfoNotFoundError"),
        ("../zones", "ValueError"),
        ("/etc/passwd", "ValueError"),
        ("Europe/../../zones", "ValueError"),
    ],
)
def test_what_is_no_zone_is_an_error_of_pythons_own(stage: Stage, key: str, name: str) -> None:
    result = stage.script(PRELUDE + f"ZoneInfo({key!r})")
    assert result.error is not None
    assert (result.error.code, result.error.name, result.error.line) == ("RUNTIME_ERROR", name, 4)


def test_an_unknown_zone_can_be_caught_and_is_named(stage: Stage) -> None:
    result = stage.script(PRELUDE + "try:\n    ZoneInfo('Mars/Base')\nexcept zoneinfo.ZoneInfoNotFoundError as error:\n    str(error)\n    return isinstance(error, KeyError), str(error)")  # fmt: skip
    assert result.value == [True, "'No time zone found with key Mars/Base'"]


def test_zone_files_come_from_memory_and_nothing_else(stage: Stage) -> None:
    result = stage.script(PRELUDE + "import io\nZoneInfo.from_file(io.BytesIO(b'TZif'))")
    assert result.error is not None
    assert result.error.code == "RUNTIME_ERROR"
