"""The command line. This file is the entry point and holds nothing else, so that `ringfence --version` loads little.

Called by the `ringfence` command, and by programs that want the same code path.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (see `ringfence.cli.exits`).

    Args:
        argv: arguments without the program's name; those of the process when None.
    """
    try:
        from ringfence.cli.app import dispatch

        return dispatch(argv)
    except KeyboardInterrupt:  # while this package is still being loaded
        return 1
