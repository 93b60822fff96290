"""What a host's own function raised, as data for a script: class, text, own code. Nothing else of it crosses.

Knows exceptions of which every part may raise; `callers` and `functions` use it. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ringfence.enclave.protocol import clip
from ringfence.errors import ErrorInfo, ToolError

LONGEST: Final = 4096
"""Characters of a message (enclave catalogue, C9)."""
_OTHER_LOOP: Final = ("attached to a different loop", "is bound to a different event loop")
"""How asyncio ends a text that shows tasks and files of the host."""
_SILENT: Final = {"tool_raised": "Tool call failed", "global_raised": "The function failed"}
"""The message of an exception that has no text."""


def raised(error: BaseException, code: str) -> ErrorInfo:
    """The exception under one of our codes, with the code that it has itself beside it when that is text."""
    name = type(error).__name__
    if isinstance(error, RuntimeError) and (_attempt(lambda: str(error)) or "").endswith(_OTHER_LOOP):
        text = "it waited for something of another event loop"
        hint = "run_sync answers calls on a loop of its own; in a program with a loop, await run(...)"
        return ErrorInfo(code=code, message=text, name=name, hint=hint)
    text = _attempt(lambda: error.text if isinstance(error, ToolError) else str(error)) or _SILENT[code]
    own = _attempt(lambda: getattr(error, "code", None))
    return ErrorInfo(code=code, message=clip(text, LONGEST), name=name, data={"code": own[:128]} if own else {})


def _attempt(read: Callable[[], object]) -> str | None:
    """Text of an exception of which every part may raise, as Unicode; None when it is not text."""
    try:
        text = read()
    except Exception:  # noqa: BLE001 - the exception's own __str__ or property failed; its class is all there is
        return None
    return text.encode("utf-8", "replace").decode() if isinstance(text, str) else None
