"""A hostile guest in a real jail, as the user of the tests and as an ordinary one: each attack ends as it must.

The same programs run without a jail too, and succeed: a refusal that is the machine's own proves nothing.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ringfence
from tests.sandbox.jail.attacks import ATTACKS, ENOSYS

pytestmark = pytest.mark.slow

SOURCE = Path(ringfence.__file__).parents[1]
BATTERY = Path(__file__).with_name("battery.py")
SOMEBODY = 12_345
"""An ordinary user, who need not exist."""


def open_to_others(path: Path) -> bool:
    """Whether everybody may read it and get to it."""
    real = path.resolve()
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in real.parents) and bool(
        real.stat().st_mode & stat.S_IROTH
    )


def interpreter(user: int) -> str | None:
    """A Python that this user can run; the jail needs nothing but its standard library."""
    if user == os.getuid():
        return sys.executable
    found = [sys.executable, *(shutil.which(f"python3{minor}", path="/usr/bin:/usr/local/bin") for minor in ("", *(f".{n}" for n in range(11, 15))))]  # fmt: skip
    for name in filter(None, found):
        if open_to_others(Path(name)):
            asked = subprocess.run([name, "-c", "import sys; print(sys.version_info >= (3, 11))"], capture_output=True, check=False)  # fmt: skip
            if asked.stdout.strip() == b"True":
                return name
    return None


@functools.cache
def battery(user: int, mode: str) -> dict[str, Any]:
    """How every attack ended."""
    if user != os.getuid() and os.getuid() != 0:
        pytest.skip("only root can run the host as somebody else")
    python = interpreter(user)
    if python is None or (user != os.getuid() and not open_to_others(BATTERY)):
        pytest.skip("no Python 3.11 or this checkout that an ordinary user could read")
    done = subprocess.run(
        [python, "-W", "ignore" if mode == "free" else "error", "-B", str(BATTERY), str(SOURCE), mode],
        capture_output=True,
        timeout=120,
        check=False,
        user=user,
        group=user if user else None,
        extra_groups=[] if os.getuid() == 0 else None,
        env={"PATH": "/usr/bin:/bin", "HOME": "/"},
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return json.loads(done.stdout)


ME = os.getuid()
users = pytest.mark.parametrize("user", [ME, SOMEBODY], ids=["self", "ordinary"])
ways = pytest.mark.parametrize(
    ("user", "mode"),
    [(ME, "jailed"), (SOMEBODY, "jailed"), (ME, "alone"), *([(ME, "stripped")] if ME == 0 else [])],
    ids=["self", "ordinary", "seccomp-alone", *(["root-without-capabilities"] if ME == 0 else [])],
)


@ways
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_in_the_jail_an_attack_ends_as_it_must(user: int, mode: str, attack: Any) -> None:
    assert battery(user, mode)[attack.name] == attack.expect


@ways
def test_no_call_number_outside_the_list_gets_through(user: int, mode: str) -> None:
    assert battery(user, mode)["every_other_call"] == {"value": [[435, -ENOSYS["errno"]]]}


@ways
def test_a_call_through_the_32_bit_table_ends_the_guest(user: int, mode: str) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("there is no such table here")
    found = battery(user, mode)
    assert found["compat_call"] is None
    assert found["compat_signal"] in (signal.SIGSYS, signal.SIGSEGV)  # the latter where the kernel has no such table


@users
def test_without_a_jail_the_same_attacks_succeed(user: int) -> None:
    found = battery(user, "free")
    assert len(found) > 60
    assert {name: end for name, end in found.items() if "value" not in end} == {}
