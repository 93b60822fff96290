"""Where in the user's own code an exception arose, and what it said: one line for the terminal of whoever wrote it.

Knows tracebacks, not what is done about them. Used by `cli.load` for modules that cannot be imported, and by
`cli.aftermath` for tools that raised.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import traceback
from pathlib import Path
from typing import Final

LONGEST_TEXT: Final = 500
"""Characters of an exception's text: it is a line, not a log."""

_OURS: Final = str(Path(__file__).parent.parent) + os.sep
_PYTHON: Final = str(Path(os.__file__).parent)


def place(error: BaseException) -> str | None:
    """`file:line` of the innermost frame in a file that the user can edit; None when there is none."""
    if isinstance(error, SyntaxError) and error.filename and not error.filename.startswith("<"):
        return f"{_relative(error.filename)}:{error.lineno}"
    found: str | None = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        file = frame.f_code.co_filename
        if not file.startswith((_OURS, "<frozen ", importlib.__file__ or "<")) and _is_local(file):
            found = f"{_relative(file)}:{line}"
    return found


def said(error: BaseException) -> str:
    """`ValueError: its text`, on one line."""
    try:
        text = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    except Exception as failure:  # noqa: BLE001 - a class of the user's may fail in __str__
        text = f"(its text raised {type(failure).__name__})"
    short = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1] + "…"
    return f"{type(error).__name__}{': ' if short else ''}{short}"


def _is_local(file: str) -> bool:
    """Not part of an installation: below the current directory, or on a path entry of the user's."""
    return "site-packages" not in file and not file.startswith(_PYTHON)


def _relative(file: str) -> str:
    with contextlib.suppress(ValueError):
        return str(Path(file).relative_to(Path.cwd()))
    return file
