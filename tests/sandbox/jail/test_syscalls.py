"""The numbers are the kernel's."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from ringfence.sandbox.jail import syscalls
from ringfence.sandbox.jail.syscalls import MACHINES, Machine, is_known, number

HEADERS: dict[Machine, tuple[str, ...]] = {
    "x86_64": ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h"),
    "aarch64": ("/usr/include/asm-generic/unistd.h",),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_every_number_is_the_one_in_the_kernels_header(machine: Machine) -> None:
    header = next((Path(name) for name in HEADERS[machine] if Path(name).is_file()), None)
    if header is None:
        pytest.skip("the kernel's headers are not installed")
    found = re.findall(r"^#define __NR(?:3264)?_(\w+)\s+(\d+)", header.read_text(), re.MULTILINE)
    theirs = {name: int(value) for name, value in found}
    ours = {name: number(name, machine) for name in syscalls.NAMES}
    assert ours == {name: theirs.get(name) for name in syscalls.NAMES}


@pytest.mark.parametrize("machine", MACHINES)
def test_no_two_calls_share_a_number(machine: Machine) -> None:
    counts = Counter(nr for name in syscalls.NAMES if (nr := number(name, machine)) is not None)
    assert {nr: count for nr, count in counts.items() if count > 1} == {}


def test_only_the_two_machines_with_tables_are_known() -> None:
    assert [is_known(name) for name in ("x86_64", "aarch64", "riscv64", "AMD64", "")] == [
        True,
        True,
        False,
        False,
        False,
    ]
