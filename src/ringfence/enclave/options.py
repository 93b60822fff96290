"""The options of an enclave that do not concern who answers its calls: checked, completed by the security level, frozen.

Every one is judged while the enclave is built, None always means the default, and a value that is wrong is refused by
the option's name (enclave catalogue, D-5). Knows levels and limits, namespaces and globals; no tools, workers or
loops. `facade` parses what it is given, and shows the result as `effective_config`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import MAXYEAR, UTC, datetime
from types import MappingProxyType
from typing import Any, Final, TypedDict, cast

from ringfence.contract.names import suggest
from ringfence.enclave import namespaces
from ringfence.enclave.languages import LANGUAGES, PYTHON
from ringfence.errors import ConfigError
from ringfence.limits import (
    GLOBAL_CALLS_PER_TOOL_CALL,
    LEVELS,
    MIB,
    LevelDefaults,
    RunLimits,
    SecurityLevel,
    ValueBudget,
    parse_count,
    parse_seconds,
    parse_size,
    read_mapping,
    shown,
)
from ringfence.policy import screening
from ringfence.policy.screening import Screening

LEAST_MEMORY: Final = 16 * MIB
MOST_MEMORY: Final = 1 << 46
"""Bytes of address space that a process of any machine can have."""
MOST_TURNS: Final = 10**12
"""Turns of a loop that no run has the time for."""
DEEPEST: Final = 400
"""Containers inside containers that both sides can walk."""
WAITING: Final = 2
"""Children kept ahead of need: one for the next run, one while that one is being replaced."""
LARGEST_SEED: Final = 4096
"""Bits of a number that is one."""
_MODULE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)


class EnclaveOptions(TypedDict, total=False):
    """Options of `Enclave`, `run_agent_script` and `Boundary.run_script`. None, where it is allowed, is the default."""

    language: str | None
    """What scripts are written in: `"python"`, which is the default, or `"javascript"`."""
    security_level: SecurityLevel | None
    """Gives the options below their defaults (enclave catalogue 1.G); `"STANDARD"`."""
    timeout: float | None
    """Seconds of wall clock per run, without the time that calls wait for approval."""
    max_tool_calls: int | None
    """Tool calls per run; refused ones count."""
    max_global_function_calls: int | None
    """Calls per run of functions in `globals`: ten times `max_tool_calls`; 0 permits none (second seed)."""
    max_iterations: int | None
    """Turns of one loop; a run has 100 times as many in all. The level's default leaves `while True` to the clock; a
    number of your own counts it as well. Counted in the guest, so a script that breaks out of Python is not held by it:
    `timeout` is the wall."""
    max_concurrent_calls: int | None
    """Calls in flight per run; further ones wait their turn. 10."""
    memory_limit: int | str | None
    """Bytes or `"256MB"` on top of what an idle worker has. 256 MiB."""
    max_output: int | str | None
    """Bytes of printed text per run."""
    max_value_depth: int | None
    """Containers inside containers, in arguments and results."""
    max_value_members: int | None
    """Members of one object, in arguments and results. The items of lists are bounded by the bytes alone."""
    tool_namespaces: Mapping[str, Sequence[str] | Mapping[str, str]] | None
    """Namespace to a list of methods (`mail: ["list"]` is the tool `mail.list`) or to a mapping of method to tool."""
    globals: Mapping[str, Any] | None
    """Top-level names that scripts find: read-only data, and functions where the next option allows them."""
    allow_functions_in_globals: bool | None
    """Whether `globals` may hold functions, and objects with methods."""
    validate: bool | None
    """False leaves out the static check's rules and the counting of loops; the jail does not depend on them."""
    sanitize_stack_traces: bool | None
    """Whether no error of a run holds a traceback, not even of the script's own frames."""
    screening: Screening | Mapping[str, Any] | None
    """Which calls may happen: names, rate, suspicious sequences; or a mapping of its fields. Refuses by default where a
    handler answers, flags where tools are governed."""
    double_vm: Screening | Mapping[str, Any] | None
    """The second seed's name for `screening`; not both."""
    preload: Sequence[str] | None
    """Further modules that scripts may import, such as `["numpy", "pandas"]`: loaded once, before the jail closes."""
    clock: datetime | None
    """Where the script's clock stands still, with a time zone; None for the host's time, running."""
    seed: int | str | None
    """Of the script's randomness and ids; None for a fresh one per run."""
    waiting: int | None
    """Jailed children kept ahead of need: about 5 MiB each, and a run that finds one starts 3 ms sooner. 2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnclaveConfig:
    """What is in force in an enclave, after defaults and levels (`Enclave.effective_config`)."""

    language: str
    security_level: SecurityLevel
    timeout: float
    """Seconds."""
    max_tool_calls: int
    max_global_function_calls: int
    max_iterations: int | None
    """None: loops are not counted."""
    count_endless_loops: bool
    """Whether `while True` is counted too: where `max_iterations` was given."""
    max_concurrent_calls: int
    memory_limit: int
    """Bytes."""
    max_output: int
    """Bytes."""
    max_value_bytes: int
    """Of the JSON text of one argument object, one result."""
    max_value_depth: int
    max_value_members: int
    allow_functions_in_globals: bool
    tool_namespaces: Mapping[str, Mapping[str, str]]
    """Namespace to method, as scripts spell it, to tool name; without the automatic `tools`."""
    validate: bool
    sanitize_stack_traces: bool
    screening: Screening
    preload: tuple[str, ...]
    clock: datetime | None
    """In UTC."""
    seed: int | str | None
    waiting: int

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, for a log or a document: patterns as text, detectors by their id, the clock as ISO
        8601.
        """
        return cast("dict[str, Any]", _plain(self))

    def limits(self) -> RunLimits:
        """The same as what one run may use."""
        return RunLimits(
            timeout=self.timeout,
            max_tool_calls=self.max_tool_calls,
            max_global_calls=self.max_global_function_calls,
            max_iterations=self.max_iterations,
            max_concurrent_calls=self.max_concurrent_calls,
            memory=self.memory_limit,
            output=self.max_output,
            value=ValueBudget(size=self.max_value_bytes, depth=self.max_value_depth, members=self.max_value_members),
        )

    @property
    def rules(self) -> str:
        """Whose rules the static check applies: the level's, or `off`."""
        return self.security_level if self.validate else "off"


def _plain(value: Any) -> Any:
    match value:
        case EnclaveConfig() | Screening():
            return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
        case Mapping():
            return {key: _plain(item) for key, item in cast("Mapping[Any, Any]", value).items()}
        case list() | tuple():
            return [_plain(item) for item in cast("Sequence[Any]", value)]
        case screening.Detector():
            return value.id
        case re.Pattern():
            return cast("Any", value.pattern)
        case datetime():
            return value.isoformat()
        case _:
            return value


def parse(given: EnclaveOptions) -> EnclaveConfig:
    """Options over the level's defaults.

    Raises:
        TypeError: an option that does not exist.
        ConfigError: a wrong type or value, naming the option.
    """
    options = cast("dict[str, Any]", {name: value for name, value in given.items() if value is not None})
    for name in given.keys() - EnclaveOptions.__annotations__.keys():
        close = suggest(name, EnclaveOptions.__annotations__)
        raise TypeError(
            f"Enclave.__init__() got an unexpected keyword argument {name!r}"
            + f". Did you mean {close!r}?" * bool(close)
        )
    level = options.get("security_level", "STANDARD")
    defaults = LEVELS.get(level) if type(level) is str else None
    if defaults is None:
        raise ConfigError(f"security_level must be one of {', '.join(LEVELS)}, not {shown(level)}")
    language = options.get("language", PYTHON.name)
    if type(language) is not str or language not in LANGUAGES:
        raise ConfigError(f"language must be one of {', '.join(LANGUAGES)}, not {shown(language)}")
    validate = _flag(options, "validate", default=True)
    config = _numbers(options, cast("SecurityLevel", level), defaults, validate=validate)
    reserved = _names_of(options.get("globals"))
    return replace(
        config,
        language=language,
        tool_namespaces=namespaces.parse(
            options.get("tool_namespaces"), reserved=reserved, language=LANGUAGES[language]
        ),
        allow_functions_in_globals=_flag(
            options, "allow_functions_in_globals", default=defaults.allow_functions_in_globals
        ),
        sanitize_stack_traces=_flag(options, "sanitize_stack_traces", default=not defaults.traces),
        screening=_screening(options),
        preload=_modules(options.get("preload", ())),
        clock=_clock(options.get("clock")),
        seed=_seed(options.get("seed")),
    )


def _numbers(
    options: Mapping[str, Any], level: SecurityLevel, defaults: LevelDefaults, *, validate: bool
) -> EnclaveConfig:
    def count(name: str, default: int, *, least: int = 0, most: int | None = None) -> int:
        value = parse_count(options.get(name, default), name, least=least)
        if most is not None and value > most:
            raise ConfigError(f"{name} must be at most {most}, not {value}")
        return value

    def size(name: str, default: int, least: int = 1) -> int:
        value = parse_size(options.get(name, default), name, least=least)
        if value > MOST_MEMORY:
            raise ConfigError(f"{name} must be at most {MOST_MEMORY} bytes, not {value}")
        return value

    usual = RunLimits(timeout=1.0, max_tool_calls=0, max_global_calls=0, max_iterations=None)
    calls = count("max_tool_calls", defaults.max_tool_calls)
    turns = count("max_iterations", defaults.max_iterations, least=1, most=MOST_TURNS)
    return EnclaveConfig(
        language=PYTHON.name,
        security_level=level,
        timeout=parse_seconds(options.get("timeout", defaults.timeout), "timeout"),
        max_tool_calls=calls,
        max_global_function_calls=count("max_global_function_calls", GLOBAL_CALLS_PER_TOOL_CALL * calls),
        max_iterations=turns if validate else None,
        count_endless_loops=validate and "max_iterations" in options,
        max_concurrent_calls=count("max_concurrent_calls", usual.max_concurrent_calls, least=1),
        memory_limit=size("memory_limit", usual.memory, LEAST_MEMORY),
        max_output=size("max_output", defaults.output),
        max_value_bytes=usual.value.size,
        max_value_depth=count("max_value_depth", defaults.depth, least=1, most=DEEPEST),
        max_value_members=count("max_value_members", defaults.members, least=1),
        allow_functions_in_globals=False,
        tool_namespaces=MappingProxyType({}),
        validate=validate,
        sanitize_stack_traces=False,
        screening=Screening(),
        preload=(),
        clock=None,
        seed=None,
        waiting=count("waiting", WAITING),
    )


def _flag(options: Mapping[str, Any], name: str, *, default: bool) -> bool:
    value = options.get(name, default)
    if type(value) is not bool:
        raise ConfigError(f"{name} must be True, False or None, not {shown(value)}")
    return value


def _screening(options: Mapping[str, Any]) -> Screening:
    names = [name for name in ("screening", "double_vm") if name in options]
    if len(names) == 2:
        raise ConfigError("pass screening or double_vm, not both", hint="they are two names of one option")
    name = names[0] if names else "screening"
    return screening.parse(options.get(name), name)


def _names_of(given: object) -> frozenset[str]:
    """Names of `globals`, which are judged elsewhere: what is none there is none here."""
    if not isinstance(given, Mapping):
        return frozenset()
    return frozenset(read_mapping(cast("Mapping[Any, Any]", given), "globals"))


def _modules(given: object) -> tuple[str, ...]:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise ConfigError(f"preload must be a list of module names, not {shown(given)}", hint='write ["numpy"]')
    names = tuple(cast("Sequence[object]", given))
    for name in names:
        if type(name) is not str or _MODULE.fullmatch(name) is None:
            raise ConfigError(f"preload must hold names of modules, not {shown(name)}")
    return tuple(dict.fromkeys(cast("tuple[str, ...]", names)))


def _clock(given: object) -> datetime | None:
    if given is None:
        return None
    if not isinstance(given, datetime):
        raise ConfigError(f"clock must be a datetime, not {shown(given)}")
    try:
        aware = given.utcoffset() is not None
        clock = given.astimezone(UTC)
    except Exception as error:  # beyond the first or last year; or a time zone of the host's own
        raise ConfigError(f"clock has no time in UTC: its time zone raised {type(error).__name__}") from error
    if not aware:
        raise ConfigError("clock must be a datetime with a time zone", hint="write datetime(..., tzinfo=UTC)")
    if not 1 < clock.year < MAXYEAR:
        raise ConfigError(
            "clock must not be in the first or last year that there is", hint="scripts may be ahead of UTC"
        )
    return clock


def _seed(given: object) -> int | str | None:
    if type(given) is int and given.bit_length() > LARGEST_SEED:
        raise ConfigError(f"seed must have at most {LARGEST_SEED} bits, not {given.bit_length()}")
    if given is None or type(given) in (int, str):
        return cast("int | str | None", given)
    raise ConfigError(f"seed must be a whole number or text, not {shown(given)}")
