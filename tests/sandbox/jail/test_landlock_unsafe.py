"""What is asked of each Landlock ABI: all it knows, and nothing it does not. The real domain is tried by the probe."""

from __future__ import annotations

import struct

import pytest

from ringfence.sandbox.jail.landlock_unsafe import ruleset


@pytest.mark.parametrize(
    ("version", "files", "network", "scopes"),
    [
        (1, 13, None, None),
        (2, 14, None, None),
        (3, 15, None, None),
        (4, 15, 3, None),
        (5, 16, 3, None),
        (6, 16, 3, 3),
        (7, 16, 3, 3),
        (99, 16, 3, 3),
    ],
)
def test_each_version_is_asked_for_all_that_it_knows(
    version: int, files: int, network: int | None, scopes: int | None
) -> None:
    words = [item for item in ((1 << files) - 1, network, scopes) if item is not None]
    assert ruleset(version) == struct.pack(f"<{len(words)}Q", *words)
