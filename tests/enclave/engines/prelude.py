"""The prelude of JavaScript scripts in this process, with some of its names given to expressions of a test."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any, Final

from ringfence.enclave import engines

_engine: Final[Any] = importlib.import_module("_quickjs")
_FOLDER: Final = Path(engines.__file__).parent / "prelude"
_PARTS: Final = "intrinsics values decode kinds layout inspect console world text clone numerals calendar collation query hosts url bridge".split()
_FIRST_LINE: Final = 1 << 21
"""Of the prelude, as the driver puts it below every script (`javascript_unsafe.PRELUDE_LINE`)."""

SEED: Final = "00112233445566778899aabbccddeeff"
CLOCK: Final = 1_767_323_045_678_000_000
"""2026-01-02T03:04:05.678Z in nanoseconds."""


def world(tail: str = "", *, max_output: int = 1 << 20, frozen: bool = True, clock: int = CLOCK) -> Any:
    """A context as a run has it, but for calls. `tail` is JavaScript inside the prelude, which may publish names.

    What is too much to print raises `RangeError: too much`. `printed()` gives the text so far.
    """
    body = "\n".join((_FOLDER / f"{part}.js").read_text(encoding="utf-8") for part in _PARTS)
    run = f"""
    function overflow() {{ throw new RangeErrorC("too much"); }}
    beginWorld({{ clock: {clock}, frozen: {str(frozen).lower()}, seed: "{SEED}" }});
    beginConsole({{ maxOutput: {max_output} }});
    globalThis.console = consoleObject;
    globalThis.pieces = takeOutput;
    globalThis.printed = () => arrayJoin(takeOutput(), "");
    """
    context: Any = _engine.Context()
    context.eval("\n" * _FIRST_LINE + f'(() => {{ "use strict";\n{body}\n{run}\n{tail}\n}})()')
    return context


def log(source: str, *arguments: str) -> str:
    """What a script prints, without the last end of line. `arguments`: of one `console.log` at the end."""
    context = world()
    try:
        context.eval(f"(() => {{{source}\nconsole.log({', '.join(arguments)})}})()" if arguments else source)
    finally:
        text: str = context.eval("printed()")
    return text.removesuffix("\n")


def evaluated(source: str, **options: Any) -> Any:
    """The value of an expression, as JSON says it; an error as its name and message."""
    return value_in(world(**options), source)


def value_in(context: Any, source: str) -> Any:
    """The same, of a context that there is."""
    text = context.eval(
        f"(() => {{ try {{ return JSON.stringify({source}) }}"
        " catch (error) { return JSON.stringify(`${error.name}: ${error.message}`) } })()"
    )
    return None if text is None else json.loads(text)
