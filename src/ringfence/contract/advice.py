"""What mends a value that cannot cross: the fix for a refusal, by its text.

The texts come from `values`, `contract.plain` and, in the jail, `engines.guest_values`; one place has the fixes, so that
a script's author and a tool's author read the same words. Advice only. `gate.explain`, `enclave.hints` and whoever
reports a refused result ask. Pure.
"""

from __future__ import annotations

import re
from typing import Final

_SAID: Final = re.compile(r"; (use .+)$", re.DOTALL)
"""The refusal itself names its fix."""
_FIXES: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"not a finite number"), "replace NaN and infinities, e.g. by None"),
    (re.compile(r"an object key is .*not text"), "use text as keys: str(key)"),
    (re.compile(r"contains itself|\bcyclic\b"), "leave the way back out, or name what it leads to by an id"),
    (re.compile(r"lone surrogate"), 'use text.encode("utf-8", "replace").decode()'),
    (re.compile(r"\b\w*Path\b is not"), "use str(path)"),
    (
        re.compile(r"\b(?:range|generator|map|filter|zip|enumerate|reversed|dict_\w+|\w*iterator) is not"),
        "use list(...)",
    ),
    (re.compile(r"\bFraction is not"), "use float(...) or str(...)"),
    (re.compile(r"\b(?:ndarray|Series|DataFrame|Index) is not"), "use .tolist(), or .to_dict()"),
    (re.compile(r"\b\w*(?:Error|Exception) is not"), "use str(error)"),
    (re.compile(r"\b(?:function|method|builtin_function_or_method) is not"), "call it, and use what it returns"),
    (re.compile(r"not UTF-8"), 'write ser_json_bytes="base64" into the model\'s configuration'),
)


def fix_for(refusal: str) -> str | None:
    """The fix; None where none is known."""
    if (said := _SAID.search(refusal)) is not None:
        return said[1]
    return next((fix for pattern, fix in _FIXES if pattern.search(refusal)), None)
