"""What the command line gives a script: `--arg key=value` to its `inputs`, its clock, the seed of its randomness.

A value that is JSON arrives as that value (`7`, `true`, `["a"]`, `"7"` in quotes is text); anything else is text. Pure;
called by `ringfence run` before anything starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

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


def parse_clock(text: str | None) -> datetime | None:
    """The moment at which `--clock` stops a script's time; None for the host's time.

    Raises:
        ConfigError: no moment, or one without a time zone.
    """
    if text is None:
        return None
    hint = "write for example --clock 2026-03-01T12:00:00Z"
    try:
        clock = datetime.fromisoformat(text)
    except ValueError:
        raise ConfigError(f"--clock {text!r} is not a moment in ISO 8601", hint=hint) from None
    if clock.utcoffset() is None:
        raise ConfigError(f"--clock {text!r} has no time zone", hint=hint)
    return clock


def parse_seed(text: str | None) -> int | str | None:
    """What `--seed` says: a whole number of few digits is one, as `seed=7` would be, anything else is text."""
    return int(text) if text is not None and re.fullmatch("-?[0-9]{1,18}", text) else text
