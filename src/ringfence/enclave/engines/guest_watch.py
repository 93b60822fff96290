"""The second look at STRICT and SECURE: what the script's own frames do at run time, whatever the check has seen.

Python reports compiling, executing, imports, frames, files and processes to audit hooks, which nothing can remove.
Whether a report is about the script is told by the frame that caused it: the library compiles for its own purposes
(named tuples, dataclasses, type hints), and those modules are listed. A violation ends the guest; no exception
is raised that a script could catch. Advice like the check, since the guest owns its process. Runs inside the jail,
standard library only; `python_unsafe` begins it after the script is compiled. `script_frame` tells others, too, where a
script is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any, Final, NoReturn

from ringfence.enclave.source import FILENAME

WATCHED: Final = frozenset({"STRICT", "SECURE"})
"""Levels at which a run is watched."""

_CODE: Final = frozenset({"compile", "exec"})
_COMPILERS: Final = ("collections", "dataclasses", "typing", "ast", "inspect", "functools", "enum", "linecache")
"""Modules of the library that make code, of names and annotations that exist already."""
_FORBIDDEN: Final = frozenset(
    """sys._getframe sys._getframemodulename sys._current_frames sys._current_exceptions sys.settrace sys.setprofile
    sys.addaudithook sys.unraisablehook sys.excepthook code.__new__ function.__new__ object.__getattr__
    object.__setattr__ object.__delattr__ open mmap.__new__ builtins.input builtins.breakpoint""".split()
)
_FORBIDDEN_FAMILIES: Final = frozenset(
    "os subprocess socket ctypes marshal pickle gc cpython signal fcntl shutil tempfile glob sqlite3 resource".split()
)

OnViolation = Callable[[str, int | None], NoReturn]
"""Ends the guest; is told what was done, and in which line where the script itself was running."""


class Watch:
    """One run under watch."""

    def __init__(self, on_violation: OnViolation) -> None:
        self._on_violation = on_violation
        self._caller = sys._getframe  # pyright: ignore[reportPrivateUsage]  # the only way to whoever caused a report
        self._busy = False
        self._library: set[int] = set()
        self._trusted: set[int] = set()
        modules: dict[str, ModuleType | None] = dict(sys.modules)  # None is what may not be imported
        for name, module in modules.items():
            top = name.partition(".")[0]
            if module is None or top in ("ringfence", "__main__"):
                continue
            preloaded = top not in sys.stdlib_module_names
            trusted = preloaded or name in _COMPILERS or top == "importlib"
            (self._trusted if trusted else self._library).add(id(vars(module)))

    def begin(self) -> None:
        """From now on; there is no end to it."""
        sys.addaudithook(self._hear)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if self._busy:  # looking at frames is reported too
            return
        if event not in _CODE and event not in _FORBIDDEN and event.partition(".")[0] not in _FORBIDDEN_FAMILIES:
            return
        self._busy = True
        try:
            frame: FrameType | None = self._caller(1)
            if self._makes_code(frame) if event in _CODE else _is_script(frame):
                self._on_violation(_said(event, args), script_line(frame))
        finally:  # where there is no stack left for this, what was reported fails with it
            self._busy = False

    def _makes_code(self, frame: FrameType | None) -> bool:
        """Whether code is made that neither the library nor a preloaded package wants for itself.

        What only carries a call (`ExitStack`, an executor, the event loop) is looked through, to whoever is behind it.
        """
        carried = False
        while frame is not None:
            if frame.f_code.co_filename == FILENAME:
                return True
            names = id(frame.f_globals)
            if names in self._trusted:
                return False
            carried = carried or names in self._library
            frame = frame.f_back
        return carried


def _is_script(frame: FrameType | None) -> bool:
    return frame is not None and frame.f_code.co_filename == FILENAME


def script_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame of the script, from this one outwards."""
    while frame is not None and frame.f_code.co_filename != FILENAME:
        frame = frame.f_back
    return frame


def script_line(frame: FrameType | None) -> int | None:
    """Line in which the script is, where it is running at all."""
    found = script_frame(frame)
    return None if found is None else found.f_lineno


def _said(event: str, args: tuple[Any, ...]) -> str:
    """What was done, in words: never the values involved."""
    if event == "object.__getattr__" and len(args) > 1 and type(args[1]) is str:
        return f"reading {args[1][:60]}"
    return {"compile": "compiling text", "exec": "executing code"}.get(event, event)
