"""The text of a script that the command line names, and its language. `cli.run` and `cli.check` read theirs with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from ringfence.enclave.languages import LANGUAGES
from ringfence.errors import ConfigError

_LANGUAGE: Final = {"": "python", ".py": "python"} | dict.fromkeys((".js", ".mjs", ".cjs"), "javascript")
"""By the end of a file's name; a name without one may be a pipe's."""
_COMPILED: Final = {".jsx": "JSX"} | dict.fromkeys((".ts", ".mts", ".cts", ".tsx"), "TypeScript")


def language_of(script: str, given: str | None) -> str:
    """The language of a script: what the command line says, else what the name of its file ends in, else Python.

    Raises:
        ConfigError: an unknown language, a file that needs a compiler first, or one whose name says no language.
    """
    if given is not None:
        if given not in LANGUAGES:
            raise ConfigError(
                f"--language must be one of {', '.join(LANGUAGES)}, not {given!r}", hint="or leave it out"
            )
        return given
    suffix = Path(script).suffix.lower()
    if suffix in _COMPILED:
        raise ConfigError(
            f"the script {script!r} is {_COMPILED[suffix]}, which needs a compiler; scripts run as they are written",
            hint="write plain JavaScript, without type annotations, into a file that ends in .js",
        )
    if suffix not in _LANGUAGE:
        raise ConfigError(
            f"the script {script!r}: {suffix} says no language",
            hint=f"add --language {' or --language '.join(LANGUAGES)}",
        )
    return _LANGUAGE[suffix]


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
