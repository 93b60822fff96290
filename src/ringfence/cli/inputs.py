"""`--arg key=value` to the script's `inputs`. Pure; called by `ringfence run` before anything starts.

A value that is JSON arrives as that value (`7`, `true`, `["a"]`, `"7"` in quotes is text); anything else is text.
"""

from __future__ import annotations

from collections.abc import Iterable

from ringfence.errors import ConfigError
from ringfence.limits import ValueBudget
from ringfence.values import JSON, ValueRefused, parse


def parse_inputs(pairs: Iterable[str]) -> dict[str, JSON]:
    """One mapping of all pairs.

    Raises:
        ConfigError: no `=`, no key, a key given twice, or bytes that are not text.
    """
    inputs: dict[str, JSON] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise ConfigError(f"--arg {pair!r} is not key=value", hint="write --arg name=value")
        if key in inputs:
            raise ConfigError(
                f"--arg {key!r} is given twice", hint="give each key once; several values fit in a JSON list"
            )
        inputs[key] = _value(key, value)
    return inputs


def _value(key: str, text: str) -> JSON:
    try:
        raw = text.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"--arg {key!r} is not UTF-8 text", hint="encode the value as UTF-8") from None
    try:
        return parse(raw, ValueBudget())
    except ValueRefused as refused:
        if refused.too_large:
            raise ConfigError(f"--arg {key!r}: {refused.reason}", hint="let a tool read large data instead") from None
        return text
