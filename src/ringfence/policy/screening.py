"""The options of screening, and detectors of the host's own: checked while they are built, frozen.

`Screening` is what a host writes (`rf.Enclave(screening=…)`, or `double_vm=` as the second seed calls it), also as a
mapping in either spelling. A wrong value is refused by its field's name, and None is the default everywhere. What the
fields mean for a call is `policy.screen`'s business. Pure.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Final, NoReturn, cast, get_args

from ringfence.errors import ConfigError
from ringfence.limits import parse_count, parse_text, read_mapping, shown
from ringfence.policy.history import Past
from ringfence.policy.names import MAX_NAME, NameRules, Pattern, is_carried
from ringfence.policy.sequences import ENUMERATION, IDS, THRESHOLD
from ringfence.policy.verdict import Action, Verdict

RATE: Final = 100
"""Calls in one second, where one handler answers all calls (second seed); governed tools have no such default."""
NAMES: Final = "names"
"""Key of `actions` for the name patterns."""
RATES: Final = "rate"
"""Key of `actions` for the rate limit."""
MOST_DETECTORS: Final = 100
MOST_CALLS: Final = 1_000_000
"""More than any run makes within a window: what counts up to it holds a time for each."""

_ID: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}", re.ASCII)
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])", re.ASCII)
_ACTIONS: Final = get_args(Action)
_LONGEST_DESCRIPTION: Final = 200

Detect = Callable[[str, Mapping[str, Any], Sequence[Past]], bool | Verdict]
"""`(name, args, history)`: True when the pattern is there, or a verdict. `args` is a private copy, `history` a tuple."""


@dataclass(frozen=True, slots=True)
class Detector:
    """A pattern of the host's own (second seed, `suspiciousPatterns`).

    `detect(name, args, history)` is called, synchronously, for every tool call that nothing has refused yet: True means
    that the pattern is there, which refuses unless `actions` says otherwise for its id; `rf.Ask(reason)` and
    `rf.Refuse(reason)` speak for themselves. It fails closed: an exception, or any other answer, counts as True.

    Raises:
        ConfigError: an id or a description that is none, or a function that cannot be called so.
    """

    id: str
    """A letter, then letters, digits and `_ . -`, at most 64; unique, and none of the five."""
    description: str
    """One line, for the caller, who is often a model; at most 200 characters."""
    detect: Detect

    def __post_init__(self) -> None:
        given: object = self.id
        if type(given) is not str or _ID.fullmatch(given) is None:
            raise ConfigError(f"Detector id must be letters, digits and _ . -, a letter first, not {shown(given)}")
        if given in (*IDS, NAMES, RATES):
            raise ConfigError(f"Detector id {given!r} is taken", hint="choose another id")
        text = parse_text(self.description, f"Detector {given} description")
        if len(text) > _LONGEST_DESCRIPTION or not text.isprintable():
            raise ConfigError(
                f"Detector {given} description must be one line of at most {_LONGEST_DESCRIPTION} characters"
            )
        _check_detect(self.detect, f"Detector {given} detect")


def _check_detect(detect: object, name: str) -> None:
    if not callable(detect):
        raise ConfigError(f"{name} must be a function (name, args, history), not {type(detect).__name__}")
    if inspect.iscoroutinefunction(detect) or inspect.isgeneratorfunction(detect) or inspect.isasyncgenfunction(detect):
        raise ConfigError(f"{name} must answer at once", hint="write def, not async def, and return a bool")
    try:
        inspect.signature(detect).bind("name", {}, ())
    except TypeError:
        raise ConfigError(f"{name} must take (name, args, history)") from None
    except ValueError:
        return  # a builtin that does not say what it takes


@dataclass(frozen=True, slots=True, kw_only=True)
class Screening:
    """Which calls of a script may happen, judged by names, rate, and what the run has done before (catalogue, 1.I).

    Where one `tool_handler` answers all calls, names say what a call does and everything refuses by default; for
    governed `tools`, declared effects and tags say it, and sequences are flagged by default (`log`): the detectors see
    ordinary work, such as listing and then sending, in the same light as theft.

    Raises:
        ConfigError: a field with a wrong type or value, by its name.
    """

    enabled: bool = True
    """False: no rate limit, no patterns, no detectors. Names that no adapter can carry reach no handler all the same."""
    validate_operation_names: bool = True
    """False: `allowed_operation_pattern` is not looked at; the blocked ones are."""
    allowed_operation_pattern: Pattern | None = None
    """A regular expression that the whole tool name has to match; one that begins with `^` may be followed by more."""
    blocked_operation_patterns: Sequence[Pattern] = ()
    """Regular expressions; a name in which one is found, in upper or lower case, is refused, allowed or not."""
    max_operations_per_second: int | None = None
    """Calls of tools and of functions in `globals` within any second. None: 100 with a handler, no limit for governed tools."""
    block_suspicious_sequences: bool = True
    """False: no detectors, neither the five nor `suspicious_patterns`; names and rate remain."""
    rapid_enumeration_threshold: int = THRESHOLD
    """Earlier calls of one tool within five seconds that are no enumeration: with 30, the 32nd call is one."""
    rapid_enumeration_overrides: Mapping[str, int] = field(default_factory=dict[str, int])
    """Other thresholds, by tool name."""
    suspicious_patterns: Sequence[Detector] = ()
    """Detectors of one's own, besides the five."""
    actions: Mapping[str, Action] = field(default_factory=dict[str, Action])
    """Pattern id, or `"names"` or `"rate"`, to `"refuse"`, `"ask"` (somebody has to approve the call), `"log"` (it is
    flagged) or `"off"`."""

    def __post_init__(self) -> None:
        for name in ("enabled", "validate_operation_names", "block_suspicious_sequences"):
            if type(getattr(self, name)) is not bool:
                raise ConfigError(f"{name} must be True or False, not {shown(getattr(self, name))}")
        if self.max_operations_per_second is not None:
            _calls(self.max_operations_per_second, "max_operations_per_second", RATES, least=1)
        _calls(self.rapid_enumeration_threshold, "rapid_enumeration_threshold", ENUMERATION.id)
        own = _detectors(self.suspicious_patterns)
        blocked = _sequence(self.blocked_operation_patterns, "blocked_operation_patterns")
        NameRules(self.allowed_operation_pattern, blocked)
        frozen = {
            "blocked_operation_patterns": blocked,
            "suspicious_patterns": own,
            "rapid_enumeration_overrides": _overrides(self.rapid_enumeration_overrides),
            "actions": _actions(self.actions, (*IDS, *(one.id for one in own), NAMES, RATES)),
        }
        for name, value in frozen.items():
            object.__setattr__(self, name, value)


FIELDS: Final = tuple(one.name for one in fields(Screening))


def parse(given: object, option: str = "screening") -> Screening:
    """Screening from what an option holds: itself, a mapping of its fields in either spelling, or None for the default.

    Raises:
        ConfigError: anything else, an unknown field, or a field given in both spellings; the message names `option`.
    """
    if given is None:
        return Screening()
    if isinstance(given, Screening):
        return given
    if not isinstance(given, Mapping):
        text = f"{option} must be an rf.Screening or a mapping of its fields, not {shown(given)}"
        raise ConfigError(text, hint="to turn it off, pass {'enabled': False}")
    taken: dict[str, Any] = {}
    for key, value in read_mapping(cast("Mapping[Any, Any]", given), option).items():
        name = _HUMP.sub("_", key).lower() if type(key) is str else key
        if name not in FIELDS:
            _unknown(key, name, option)
        if name in taken:
            raise ConfigError(f"{option}: {name} is given twice", hint="keep one of the two spellings")
        taken[name] = value
    if taken.get("suspicious_patterns") is not None:
        patterns = _sequence(taken["suspicious_patterns"], "suspicious_patterns")
        taken["suspicious_patterns"] = tuple(_detector(one, at) for at, one in enumerate(patterns))
    return Screening(**{name: value for name, value in taken.items() if value is not None})


def _unknown(key: object, name: object, option: str) -> NoReturn:
    if name == "parent_timeout_buffer":
        raise ConfigError(f"{option}: there is no second VM to wait for", hint=f"leave out {key}")
    near = difflib.get_close_matches(str(name)[:64], FIELDS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"the fields are {', '.join(FIELDS)}"
    raise ConfigError(f"{option} has no field {shown(key)}", hint=hint)


def _detector(given: object, at: int) -> object:
    """A detector that is written as a mapping; anything else as it is."""
    if not isinstance(given, Mapping):
        return given
    parts = read_mapping(cast("Mapping[Any, Any]", given), f"suspicious_patterns[{at}]")
    if set(parts) != {"id", "description", "detect"}:
        raise ConfigError(f"suspicious_patterns[{at}] must have exactly id, description and detect")
    return Detector(parts["id"], parts["description"], parts["detect"])


def _sequence(given: object, name: str) -> tuple[Any, ...]:
    if not isinstance(given, list | tuple):
        raise ConfigError(f"{name} must be a list, not {type(given).__name__}")
    return tuple(cast("Sequence[Any]", given))


def _detectors(given: object) -> tuple[Detector, ...]:
    own = _sequence(given, "suspicious_patterns")
    for at, one in enumerate(own):
        if not isinstance(one, Detector):
            raise ConfigError(f"suspicious_patterns[{at}] must be an rf.Detector, not {type(one).__name__}")
        if any(other.id == one.id for other in own[:at]):
            raise ConfigError(f"suspicious_patterns[{at}]: the id {one.id!r} is taken", hint="choose another id")
    if len(own) > MOST_DETECTORS:
        raise ConfigError(f"suspicious_patterns has {len(own)} detectors, more than {MOST_DETECTORS}")
    return own


def _calls(given: object, name: str, pattern: str, *, least: int = 0) -> int:
    """A number of calls that can be remembered."""
    most = parse_count(given, name, least=least)
    if most > MOST_CALLS:
        hint = f"for no limit at all write actions={{{pattern!r}: 'off'}}"
        raise ConfigError(f"{name} must be at most {MOST_CALLS}, not {shown(most)}", hint=hint)
    return most


def _overrides(given: object) -> Mapping[str, int]:
    field_name = "rapid_enumeration_overrides"
    if not isinstance(given, Mapping):
        raise ConfigError(f"{field_name} must be a mapping of tool name to a number, not {type(given).__name__}")
    made: dict[str, int] = {}
    for name, most in read_mapping(cast("Mapping[Any, Any]", given), field_name).items():
        if type(name) is not str or not is_carried(name):
            raise ConfigError(
                f"{field_name}: {shown(name)} is no tool name", hint=f"at most {MAX_NAME} of a-z 0-9 : . _ -"
            )
        made[name] = _calls(most, f"{field_name}[{name!r}]", ENUMERATION.id)
    return MappingProxyType(made)


def _actions(given: object, known: Collection[str]) -> Mapping[str, Action]:
    if not isinstance(given, Mapping):
        raise ConfigError(f"actions must be a mapping of pattern id to action, not {type(given).__name__}")
    made: dict[str, Action] = {}
    for key, action in read_mapping(cast("Mapping[Any, Any]", given), "actions").items():
        if key not in known:
            near = difflib.get_close_matches(str(key)[:64], known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
            raise ConfigError(f"actions: there is no pattern {shown(key)}", hint=hint)
        if type(action) is not str or action not in _ACTIONS:
            raise ConfigError(f"actions[{key!r}] must be one of {', '.join(_ACTIONS)}, not {shown(action)}")
        made[key] = cast("Action", action)
    return MappingProxyType(made)
