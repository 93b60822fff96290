"""Landlock by system call: enter a domain in which nothing is granted.

Needs no privileges, only no_new_privs. Entered once by a zygote, and once more by each child, so that a child can
neither signal nor trace its zygote or its siblings. Rights that a kernel's ABI does not know are not asked for
(`landlock(7)`, table of ABI versions). Used inside jailed processes and by the probe's throw-away ones.
"""

from __future__ import annotations

import os
import struct
from typing import Final

from ringfence.sandbox.jail.kernel_unsafe import call
from ringfence.sandbox.jail.syscalls import Machine

_ASK_VERSION: Final = 1

_FILE_RIGHTS: Final = ((1, 13), (2, 14), (3, 15), (5, 16))
"""From this ABI on, so many rights: refer came with 2, truncate with 3, ioctl on devices with 5."""
_BIND_AND_CONNECT: Final = 3
"""TCP only; from ABI 4."""
_ABSTRACT_SOCKETS_AND_SIGNALS: Final = 3
"""From ABI 6."""


def abi(machine: Machine) -> int:
    """The kernel's version.

    Raises:
        OSError: ENOSYS without Landlock, EOPNOTSUPP when it was switched off at boot.
    """
    return call("landlock_create_ruleset", machine, None, 0, _ASK_VERSION)


def ruleset(version: int) -> bytes:
    """`struct landlock_ruleset_attr` that handles, and thereby refuses, all that this ABI can."""
    files = (1 << max(count for since, count in _FILE_RIGHTS if since <= version)) - 1
    if version < 4:
        return struct.pack("<Q", files)
    if version < 6:
        return struct.pack("<QQ", files, _BIND_AND_CONNECT)
    return struct.pack("<QQQ", files, _BIND_AND_CONNECT, _ABSTRACT_SOCKETS_AND_SIGNALS)


def close_everything(version: int, machine: Machine) -> None:
    """Enter a domain without a single grant."""
    handled = ruleset(version)
    descriptor = call("landlock_create_ruleset", machine, handled, len(handled), 0)
    try:
        call("landlock_restrict_self", machine, descriptor, 0)
    finally:
        os.close(descriptor)
