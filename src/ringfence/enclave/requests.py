"""From what a host passes to `run` to the frame's contents: inputs and variables as data, namespaces, clock and seed.

Knows options and the value table; no gates, workers or loops: the time and what is random come as arguments. `facade`
asks it. Pure.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Any, Final, Literal, cast

from ringfence import values
from ringfence.contract.names import suggest
from ringfence.contract.output import dump_plain
from ringfence.contract.restorable import tags_of
from ringfence.enclave import protocol, variables
from ringfence.enclave.globals import Globals
from ringfence.enclave.languages import LANGUAGES, Language
from ringfence.enclave.namespaces import PREFIX, Namespaces
from ringfence.enclave.options import EnclaveConfig
from ringfence.enclave.protocol import Tags
from ringfence.enclave.results import run_error
from ringfence.errors import ConfigError, ErrorInfo
from ringfence.limits import RunLimits, ValueBudget, read_mapping, shown

_BUDGET: Final = ValueBudget()
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What a caller of `run` or `check` passed."""

    source: object
    inputs: object = None
    variables: object = None
    mode: Literal["run", "check"] = "run"


def request(
    given: Given,
    config: EnclaveConfig,
    *,
    namespaces: Namespaces,
    effects: Mapping[str, str | None],
    globals_: Globals,
    now: int,
    chance: str,
) -> protocol.RunRequest:
    """The run as a guest is told of it.

    Args:
        now: nanoseconds since the epoch.
        chance: 48 hexadecimal digits: the run's id, and its seed where none is given.

    Raises:
        ConfigError: the source is not text, or inputs or variables are not data.
    """
    if type(given.source) is not str:
        raise ConfigError(f"a script is text, not {type(given.source).__name__}")
    inputs, inputs_tags = _data(given.inputs, "inputs")
    kept, kept_tags = _data(given.variables, "variables")
    language = LANGUAGES[config.language]
    taken = variables.taken(namespaces, globals_.names, language)
    _check_names(given.variables, taken, language)
    return protocol.RunRequest(
        run_id=f"r_{chance[:16]}",
        source=given.source,
        inputs=inputs,
        namespaces=namespaces,
        effects=effects,
        clock=now if config.clock is None else (config.clock - _EPOCH) // _MICROSECOND * 1000,
        seed=chance[16:] if config.seed is None else _seed(config.seed),
        mode=given.mode,
        rules=config.rules,
        inputs_tags=inputs_tags,
        globals=globals_.nodes,
        variables=kept,
        variables_tags=kept_tags,
        keep_variables=given.variables is not None,
        taken=taken,
        language=language.name,
        frozen=config.clock is not None,
        max_iterations=config.max_iterations or 0,
        counted="none" if config.max_iterations is None else "all" if config.count_endless_loops else "bounded",
        traces=not config.sanitize_stack_traces,
        memory=config.memory_limit,
        max_output=config.max_output,
    )


def _data(given: object, what: str) -> tuple[bytes, Tags | None]:
    """An object of values of the value table as JSON text with its tags."""
    if given is None:
        return b"{}", None
    if not isinstance(given, Mapping):
        raise ConfigError(f"{what} must be a mapping, not {type(given).__name__}", hint="pass JSON values by name")
    try:
        data = dump_plain(read_mapping(cast("Mapping[Any, Any]", given), what))
        if len(data) > _BUDGET.size:
            raise values.ValueRefused("", f"{len(data)} bytes of JSON, more than {_BUDGET.size}", too_large=True)
    except values.ValueRefused as refused:
        raise ConfigError(f"{what}: {refused}", hint="pass plain data only") from None
    return data, tags_of(data)


def _check_names(given: object, taken: Collection[str], language: Language) -> None:
    """Variables are the script's own names, and may hide none of the host's."""
    if not isinstance(given, Mapping):
        return
    for name in cast("Mapping[str, Any]", given):
        if not variables.is_writable(name, language):
            raise ConfigError(f"variables: {shown(name)} is no name that a script can write", code="bad_name")
        if variables.is_private(name):
            text = (
                f"variables: {shown(name)} begins with an underscore, which a script's own names do that are not kept"
            )
            raise ConfigError(text, code="bad_name", hint=f"call it {shown(name.lstrip('_') or 'value')}")
        if name in taken:
            raise ConfigError(f"variables: {shown(name)} is the name of something else in scripts", code="bad_name")


def _seed(given: int | str) -> str:
    return hashlib.sha256(f"{type(given).__name__}:{given}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def refusal(source: str, limits: RunLimits) -> ErrorInfo | None:
    """Why no guest needs to look at a source."""
    try:
        size = len(source.encode())
    except UnicodeEncodeError:
        return run_error("script_rejected", "the source is not Unicode text", hint="remove lone surrogates")
    if size <= limits.source:
        return None
    text = f"the source has {size} bytes, more than {limits.source}"
    return run_error("script_rejected", text, hint="pass data as inputs, not inside the source")


def namespaces_of(config: EnclaveConfig, catalogue: Collection[str] | None) -> Namespaces:
    """Namespace to method to tool: those that were configured, and `tools` with every governed tool.

    Raises:
        ConfigError: `bad_name`: a governed tool that a method leads to does not exist.
    """
    if catalogue is None:
        return config.tool_namespaces
    made: dict[str, Mapping[str, str]] = {
        "tools": MappingProxyType({LANGUAGES[config.language].method(name): name for name in catalogue})
    }
    for name, methods in config.tool_namespaces.items():
        made[name] = MappingProxyType(
            {method: _governed(name, method, tool, catalogue) for method, tool in methods.items()}
        )
    return MappingProxyType(made)


def _governed(namespace: str, method: str, tool: str, catalogue: Collection[str]) -> str:
    """The governed tool that a method leads to. Governed names have no dots: `mail.list` is `mail_list` there."""
    if tool in catalogue:
        return tool
    flat = tool.replace(".", "_")
    if tool.startswith(f"{namespace}.") and flat in catalogue:
        return flat
    close = suggest(flat, catalogue)
    raise ConfigError(
        f"{PREFIX}namespace {namespace!r}, method {method!r} leads to the tool {tool!r}, which does not exist",
        code="bad_name",
        hint=f"did you mean {close!r}?" if close else f"the tools are {', '.join(sorted(catalogue)) or 'none'}",
    )
