"""What a guest sent as values: bounded, parsed, and with dates and the like restored. Everything here may be hostile.

Size and number of values are checked before anything is parsed, tags included, so that no frame makes the host
allocate more than its byte budget allows. Knows frames and budgets; neither calls nor channels. `session` asks it.
Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, cast

import msgspec

from ringfence import values
from ringfence.contract.advice import fix_for
from ringfence.enclave import table
from ringfence.enclave.languages import PYTHON, Language
from ringfence.enclave.protocol import Call, Done, GlobalCall, Raw, Tags, WireViolation, decode_tags, print_allowance
from ringfence.enclave.results import Ending, run_error
from ringfence.enclave.variables import is_plausible, is_private, is_writable
from ringfence.errors import ErrorInfo
from ringfence.limits import RunLimits, ValueBudget

_GIVEN: Final = ValueBudget(depth=ValueBudget().depth - 1)
"""What one variable may be that a host gives."""


MOST_TAGGED: Final = 100_000
"""Values that are restored in one value; as many take 0.2 s."""


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """Of one call. A struct, since it takes a tenth of the time to make."""

    data: bytes
    """Canonical JSON text: an object for a tool, `[positional, named]` for a function."""
    tags: Tags | None
    """Judged to fit `data`; None for none."""
    value: Any
    """What `data` says, as plain JSON values."""
    size: int
    """Bytes that all of this holds."""


def take_arguments(frame: Call | GlobalCall, budget: ValueBudget) -> Arguments | ErrorInfo:
    """A call's arguments, or why they are refused.

    Raises:
        WireViolation: tags that do not fit, which no honest guest sends.
    """
    if frame.fault is not None:
        fix = fix_for(frame.fault)
        return ErrorInfo(code="invalid_input", message=frame.fault, hint=None if fix and fix in frame.fault else fix)
    try:
        value = values.parse(frame.args, budget)
        if isinstance(frame, Call):
            if type(value) is not dict:
                return ErrorInfo(
                    code="invalid_input", message="Tool arguments must be an object", hint="pass one object"
                )
        elif not _is_signature(value):
            raise WireViolation("arguments of a function that are no pair")
        data = values.recode(value, budget)  # type: ignore[reportUnknownArgumentType]
        values.check_text(data, budget)  # without escapes it may look richer, and it is parsed again to be served
        tags = _take_tags(frame.tags, budget)
    except values.ValueRefused as refused:
        return ErrorInfo(code="invalid_input", message=f"the arguments were refused: {refused}", hint=_hint(refused))
    size = values.footprint(data)
    if tags is not None:
        _fitting(table.judge, value, tags)
        size += values.footprint(bytes(frame.tags))
    return Arguments(data=data, tags=tags, value=value, size=size)


def _is_signature(value: Any) -> bool:
    return type(value) is list and len(value) == 2 and type(value[0]) is list and type(value[1]) is dict  # type: ignore[reportUnknownArgumentType]


def _hint(refused: values.ValueRefused) -> str | None:
    return "send less at once" if refused.too_large else None


def restored(data: bytes | Raw, tags: Mapping[Any, Any] | None, budget: ValueBudget) -> Any:
    """The value of JSON text with its tagged texts as what they stand for.

    Raises:
        values.ValueRefused: over budget.
        WireViolation: a tag whose path leads nowhere, or to a text that is not of its kind.
    """
    value = values.parse(data, budget)
    return _fitting(table.restore, value, tags) if tags else value


def _fitting(use: Callable[[Any, Any], Any], value: Any, tags: Mapping[Any, Any]) -> Any:
    """What the table makes of tags.

    Raises:
        WireViolation: they do not fit.
    """
    try:
        return use(value, tags)
    except (ValueError, LookupError, TypeError, ArithmeticError) as error:
        raise WireViolation(f"tags that do not fit ({type(error).__name__})") from None


def take_done(
    frame: Done,
    budget: ValueBudget,
    *,
    variables: bool,
    taken: Collection[str] = (),
    language: Language = PYTHON,
) -> Ending:
    """The script's value, and its variables where they were asked for; or why the value is refused.

    Args:
        taken: names that are no variables.
        language: of the script.

    Raises:
        WireViolation: tags that do not fit, or variables that are no object, are missing, have names that no script
            can write, or that nobody asked for.
    """
    asked = bool(bytes(frame.variables))
    if asked is not variables or (not variables and (frame.unkept or bytes(frame.variable_tags))):
        raise WireViolation("variables that nobody asked for" if not variables else "no variables")
    try:
        value = restored(frame.value, _take_tags(frame.tags, budget), budget)
        if not variables:
            return Ending(value=value)
        kept, lost = _take_variables(frame, budget, language)
    except values.ValueRefused as refused:
        if not refused.too_large:
            return Ending(error=run_error("wire_violation", f"the script's result was refused: {refused}"))
        text = f"the script's result was refused: {refused}"
        return Ending(error=run_error("result_too_large", text, hint="return a summary"))
    kept = {name: value for name, value in kept.items() if name not in taken and name not in lost}
    return Ending(value=value, variables=kept, unkept=tuple(sorted(lost.union(frame.unkept).difference(kept))))


def _take_variables(frame: Done, budget: ValueBudget, language: Language) -> tuple[dict[str, Any], set[str]]:
    """The variables, and the names of those that could not be given to the next run: too deep, or named oddly."""
    plain = values.parse(frame.variables, budget)
    if type(plain) is not dict:
        raise WireViolation("variables that are no object")
    members = cast("dict[str, Any]", plain)
    if not all(is_plausible(name, language) and not is_private(name) for name in members):
        raise WireViolation("variables with names that no script can write")
    lost = {name for name in members if not is_writable(name, language)}
    lost |= {name for name, value in members.items() if budget.depth > _GIVEN.depth and _is_deep(value)}
    tags = _take_tags(frame.variable_tags, budget)
    return (_fitting(table.restore, members, tags) if tags else members), lost


def _is_deep(value: Any) -> bool:
    try:
        values.check_exact(value, _GIVEN)
    except values.ValueRefused:
        return True
    return False


def _take_tags(raw: Raw, budget: ValueBudget) -> Tags | None:
    data = bytes(raw)
    if not data:
        return None
    try:
        values.check_text(data, budget)
    except values.ValueRefused as refused:
        raise WireViolation(f"tags that are refused ({refused.reason})") from None
    tags = decode_tags(data)
    if tags is not None and sum(map(len, tags.values())) > MOST_TAGGED:
        reason = f"more than {MOST_TAGGED} dates, decimals, ids and bytes; send some of them as text"
        raise values.ValueRefused("", reason, too_large=True)
    return tags


class Printed:
    """What the script prints, up to the limits of its run."""

    def __init__(self, limits: RunLimits) -> None:
        self._limit = limits.output
        self._frames_left = print_allowance(limits)
        self._parts: list[str] = []
        self.size = 0
        """Bytes."""

    def add(self, text: str) -> bool:
        """Keep what fits; False when that was not all of it.

        Raises:
            WireViolation: more frames than an honest guest sends.
        """
        self._frames_left -= 1
        if self._frames_left < 0:
            raise WireViolation("a flood of print frames")
        data = text.encode("utf-8", "replace")
        room = self._limit - self.size
        if len(data) <= room:
            self._parts.append(text)
            self.size += len(data)
            return True
        self._parts.append(data[:room].decode("utf-8", "ignore"))
        self.size += room
        return False

    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)
