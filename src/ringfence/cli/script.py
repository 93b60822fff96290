"""The text of a script that the command line names, and its language. `cli.run` and `cli.check` read theirs with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from ringfence.enclave.languages import LANGUAGES
from ringfence.errors import ConfigError

_JAVASCRIPT: Final = frozenset({".js", ".mjs", ".cjs"})
_TYPESCRIPT: Final = frozenset({".ts", ".mts", ".cts", ".tsx", ".jsx"})


def language_of(script: str, given: str | None) -> str:
    """The language of a script: what the command line says, else what the name of its file ends in, else Python.

    Raises:
        ConfigError: an unknown language, or a file that needs a compiler first.
    """
    if given is not None:
        if given not in LANGUAGES:
            raise ConfigError(
                f"--language must be one of {', '.join(LANGUAGES)}, not {given!r}", hint="or leave it out"
            )
        return given
    suffix = Path(script).suffix.lower()
    if suffix in _TYPESCRIPT:
        raise ConfigError(
            f"the script {script!r}: {suffix} needs a compiler, and scripts run as they are written",
            hint="write plain JavaScript, without type annotations, into a file that ends in .js",
        )
    return "javascript" if suffix in _JAVASCRIPT else "python"


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
