"""The value table: kinds that JSON lacks, and how their texts become values again. Standard library only; jailed.

Knows values and tags; no frames. Both sides of the channel use it. Pure.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

READERS: Final[Mapping[str, Callable[[str], Any]]] = {
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "decimal": decimal.Decimal,
    "uuid": uuid.UUID,
    "bytes": lambda text: base64.b64decode(text.encode("ascii"), b"-_", validate=True),
}


class BadTags(ValueError):
    """A path that leads nowhere, or to a text that is not of the kind."""


def restore(value: Any, tags: Mapping[str, Sequence[Sequence[str | int]]]) -> Any:
    """The value with its tagged texts restored, in place.

    Raises:
        BadTags: they do not fit.
    """
    holder = [value]
    for kind, paths in tags.items():
        read = READERS[kind]
        for path in paths:
            at: Any = holder
            key: Any = 0
            try:
                for step in path:
                    at, key = at[key], step
                text = at[key]
                if type(text) is not str:
                    raise BadTags(kind)
                at[key] = read(text)
            except (LookupError, TypeError, ValueError, ArithmeticError):
                raise BadTags(kind) from None
    return holder[0]
