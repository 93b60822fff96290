"""The text of a script that the command line names. `cli.run` and `cli.check` read theirs with it."""

from __future__ import annotations

import sys
from pathlib import Path

from ringfence.errors import ConfigError


def read_script(script: str) -> str:
    """The source at a path, or what `-` (standard input) holds.

    Raises:
        ConfigError: there is no such file, or it is not UTF-8 text.
    """
    try:
        data = sys.stdin.buffer.read() if script == "-" else Path(script).read_bytes()
        return data.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(
            f"the script {script!r}: {error.strerror}",
            hint="give the path of a script, or - to read it from standard input",
        ) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"the script {script!r}, line {line}: not UTF-8 text", hint="save it as UTF-8") from None
