"""What an enclave may be given: every option that is wrong is refused at construction, with a message that names it."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from types import MappingProxyType
from typing import Any

import pytest

import ringfence as rf
from ringfence.enclave import facade
from ringfence.enclave.options import EnclaveConfig
from ringfence.limits import LEVELS
from ringfence.sandbox.jail.plan import Finding
from ringfence.sandbox.jail.probe_unsafe import probe
from tests.enclave.kit import Stage, code, descendants, run

NAN, INF = float("nan"), float("inf")

WRONG: dict[str, list[Any]] = {
    "timeout": [0, -1, NAN, INF, -INF, True, False, "5", b"5", [5], 10**12, 10**400],
    "max_tool_calls": [-1, 1.5, NAN, True, "5", [5]],
    "max_concurrent_calls": [0, -1, 1.5, NAN, True, "5"],
    "memory_limit": [0, -1, 1024, 1.5, NAN, True, "much", "-1MB", "1 byte", "", "256 M", 2**60],
    "max_output": [0, -1, 1.5, NAN, True, "much", [5]],
    "security_level": ["strict", "LOW", "", 5, True, ["STRICT"]],
    "max_global_function_calls": [-1, 1.5, NAN, True, "5", [5]],
    "max_iterations": [0, -1, 1.5, NAN, True, "5", 10**13],
    "max_value_depth": [0, -1, 1.5, NAN, True, "5", 401],
    "max_value_members": [0, -1, 1.5, NAN, True, "5"],
    "allow_functions_in_globals": [0, 1, "yes", []],
    "validate": [0, 1, "yes", []],
    "sanitize_stack_traces": [0, 1, "yes", []],
    "preload": ["numpy", 5, {"numpy"}, [5], [""], ["a b"], ["os;x"], ["../x"], [".x"], ["x."]],
    "clock": [5, 5.0, "2026-01-01", datetime(2026, 1, 1)],
    "seed": [1.5, True, b"x", [1]],
    "waiting": [-1, 1.5, NAN, True, "5"],
    "screening": [5, True, False, [], {"x": 1}],
    "double_vm": [5, True, {"x": 1}],
    "globals": [5, "x", [("a", 1)]],
    "language": ["perl", "Python", "", 5, ["python"], "ruby"],
    "tool_handler": [5, "handler", [], {}],
}


@pytest.mark.parametrize(("option", "value"), [(option, value) for option, values in WRONG.items() for value in values])
def test_an_option_that_is_wrong_is_refused_by_name(option: str, value: Any) -> None:
    """T78, D-5, B44."""
    with pytest.raises(rf.ConfigError, match=option) as refused:
        rf.Enclave(**{option: value})
    assert (refused.value.code, isinstance(refused.value, TypeError | ValueError)) == ("bad_config", True)


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'max_iteration'\. Did you mean 'max_iterations'"):
        rf.Enclave(max_iteration=5)  # type: ignore[call-arg]


@pytest.mark.parametrize("tools", [5, "lookup", [5], [len], {"a": 1}])
def test_tools_that_are_none_are_refused(tools: Any) -> None:
    with pytest.raises(rf.ConfigError):
        rf.Enclave(tools=tools, sandbox=rf.local(unsafe=True))


class Strange(tzinfo):
    def utcoffset(self, dt: datetime | None) -> timedelta:
        raise KeyError

    dst = utcoffset

    def tzname(self, dt: datetime | None) -> str:
        return "strange"


class Raising(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise KeyError

    def __iter__(self) -> Iterator[str]:
        raise ZeroDivisionError

    def __len__(self) -> int:
        return 1


class Name(str):
    __slots__ = ()


HOSTILE: list[tuple[dict[str, Any], str]] = [
    ({"seed": 10**5000}, "seed must have at most 4096 bits"),
    ({"clock": datetime.min.replace(tzinfo=timezone(timedelta(hours=5)))}, "clock has no time in UTC"),
    ({"clock": datetime.max.replace(tzinfo=UTC)}, "clock must not be in the first or last year"),
    ({"clock": datetime(2026, 1, 1, tzinfo=Strange())}, "clock has no time in UTC: its time zone raised KeyError"),
    ({"globals": Raising()}, "globals cannot be read: it raised ZeroDivisionError"),
    ({"globals": MappingProxyType(Raising())}, "globals cannot be read: it raised ZeroDivisionError"),
    ({"screening": Raising()}, "screening cannot be read: it raised ZeroDivisionError"),
    ({"screening": {"actions": Raising()}}, "actions cannot be read: it raised ZeroDivisionError"),
    ({"screening": {"rapidEnumerationOverrides": Raising()}}, "rapid_enumeration_overrides cannot be read"),
    ({"screening": {"suspiciousPatterns": [Raising()]}}, r"suspicious_patterns\[0\] cannot be read"),
    ({"preload": Name("numpy")}, "preload must be a list of module names"),
    ({"preload": b"numpy"}, "preload must be a list of module names"),
]


@pytest.mark.parametrize(("options", "text"), HOSTILE)
def test_what_breaks_while_it_is_read_is_a_configuration_error_too(options: dict[str, Any], text: str) -> None:
    with pytest.raises(rf.ConfigError, match=text):
        rf.Enclave(**options)


@pytest.mark.parametrize("name", ["inputs", "variables"])
def test_what_a_run_is_given_and_cannot_be_read_is_one_as_well(name: str) -> None:
    with pytest.raises(rf.ConfigError, match=f"{name} cannot be read: it raised ZeroDivisionError"):
        options: dict[str, Any] = {name: Raising()}
        rf.Enclave().run_sync("1", **options)


@rf.tool
async def look() -> int:
    """Look."""
    return 1


async def handler(name: str, args: Any) -> Any:
    return args


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tools": [look], "sandbox": rf.local(unsafe=True), "tool_handler": handler}, "tools= or tool_handler="),
        ({"screening": rf.Screening(), "double_vm": {}}, "screening or double_vm, not both"),
        ({"sandbox": rf.local(unsafe=True)}, "sandbox: it belongs to tools="),
        ({"sandbox": rf.local(unsafe=True), "tool_handler": handler}, "sandbox: it belongs to tools="),
        ({"approval_timeout": NAN}, "approval_timeout"),
        ({"approve": 5}, "approve must be callable"),
        ({"approval_timeout": NAN, "tool_handler": handler}, "approval_timeout"),
        ({"approve": 5, "tool_handler": handler}, "approve must be callable"),
        ({"tools": rf.Boundary([look]), "sandbox": rf.local(unsafe=True)}, "sandbox: the boundary has its own"),
        ({"tools": rf.Boundary([look]), "approve": handler}, "approve: the boundary has its own"),
        ({"tools": [look], "sandbox": rf.local(unsafe=True), "approval_timeout": NAN}, "approval_timeout"),
        ({"tools": [look], "sandbox": rf.local(unsafe=True), "approve": 5}, "approve"),
        ({"tools": [look], "sandbox": 5}, "sandbox"),
        ({"tools": [look, look], "sandbox": rf.local(unsafe=True)}, "look"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], text: str) -> None:
    with pytest.raises(rf.ConfigError, match=text):
        rf.Enclave(**options)


def test_a_tool_without_a_sandbox_is_refused_at_once() -> None:
    with pytest.raises(rf.ToolSandboxRequiredError, match="look"):
        rf.Enclave(tools=[look])


OPTIONS = sorted(rf.EnclaveOptions.__annotations__)


def test_none_keeps_the_default_of_every_option() -> None:
    """T77, U7."""
    everything: dict[str, Any] = dict.fromkeys(OPTIONS)
    assert rf.Enclave(**everything).effective_config() == rf.Enclave().effective_config()


@pytest.mark.parametrize("level", LEVELS)
def test_a_level_gives_its_defaults(level: Any) -> None:
    """T77, 1.G."""
    config = rf.Enclave(security_level=level).effective_config()
    defaults = LEVELS[level]
    assert config == rf.EnclaveConfig(
        language="python",
        security_level=level,
        timeout=defaults.timeout,
        max_tool_calls=defaults.max_tool_calls,
        max_global_function_calls=10 * defaults.max_tool_calls,
        max_iterations=defaults.max_iterations,
        count_endless_loops=False,
        max_concurrent_calls=10,
        memory_limit=256 << 20,
        max_output=defaults.output,
        max_value_bytes=5 << 20,
        max_value_depth=defaults.depth,
        max_value_members=defaults.members,
        allow_functions_in_globals=defaults.allow_functions_in_globals,
        tool_namespaces={},
        validate=True,
        sanitize_stack_traces=not defaults.traces,
        screening=rf.Screening(),
        preload=(),
        clock=None,
        seed=None,
        waiting=2,
    )


def test_an_option_wins_over_the_level() -> None:
    """T77."""
    config = rf.Enclave(
        security_level="STRICT",
        timeout=2,
        max_tool_calls=0,
        max_output="1KB",
        max_value_depth=7,
        max_value_members=9,
        max_iterations=3,
        sanitize_stack_traces=False,
        allow_functions_in_globals=True,
    ).effective_config()
    assert (config.timeout, config.max_tool_calls, config.max_global_function_calls) == (2.0, 0, 0)
    assert (config.max_output, config.max_value_depth, config.max_value_members) == (1024, 7, 9)
    assert (config.max_iterations, config.sanitize_stack_traces, config.allow_functions_in_globals) == (3, False, True)


def test_without_validation_loops_are_not_counted() -> None:
    config = rf.Enclave(validate=False, max_iterations=5).effective_config()
    assert (config.max_iterations, config.count_endless_loops) == (None, False)


@pytest.mark.parametrize(
    ("source", "inputs"),
    [
        (5, None), (None, None), (b"1", None), (["1"], None),
        ("1", 5), ("1", [1]), ("1", "text"), ("1", {1: 2}), ("1", {"a": NAN}), ("1", {"a": object()}), ("1", {"a": {(1,): 1}}),
        ("1", {"a": "\ud800"}), ("1", {"a": "x" * 6_000_000}),
    ],
)  # fmt: skip
def test_a_run_refuses_what_is_no_script_and_no_data(stage: Stage, source: Any, inputs: Any) -> None:
    async def body() -> None:
        with pytest.raises(rf.ConfigError) as refused:
            await stage.enclave().run(source, inputs)
        assert refused.value.code == "bad_config"

    stage.run(body())


@pytest.mark.parametrize("option", ["session_id", "principal"])
@pytest.mark.parametrize("value", ["", 5, b"x", True])
def test_a_run_refuses_names_that_are_no_text(stage: Stage, option: str, value: Any) -> None:
    async def body() -> None:
        with pytest.raises(rf.ConfigError, match=option):
            await stage.enclave().run("1", **{option: value})

    stage.run(body())


def test_events_need_governed_tools(stage: Stage) -> None:
    with pytest.raises(rf.ConfigError, match="governed tools"):
        stage.enclave().on(None, print)


def test_describing_shows_the_tools_and_says_when_there_are_none(stage: Stage) -> None:
    governed = stage.enclave(tools=rf.Boundary([look], sandbox=rf.local(unsafe=True)))
    assert "async def look() -> int:" in governed.describe()
    assert 'await call_tool("name"' in stage.enclave().describe()
    assert stage.enclave(tool_handler=None).describe().startswith("# There are no tools to call.\n# Top-level `await`")


def test_describing_also_shows_namespaces_and_globals(stage: Stage) -> None:
    enclave = stage.enclave(
        tool_namespaces={"mail": ["list"], "users": {"get": "users:get"}},
        globals={"context": {"a": 1}, "api": {"fetch": handler, "n": 1}, "shout": str.upper},
        allow_functions_in_globals=True,
    )
    assert enclave.describe().endswith(
        "# Tools under other names, called with one object of arguments, or with keywords:\n"
        "#   await mail.list({...})  # the tool mail.list\n"
        "#   await users.get({...})  # the tool users:get\n"
        "# Further names, which can only be read:\n"
        "#   api: dict of fetch(), n\n"
        "#   context: dict of a\n"
        "# Functions, which raise GlobalFunctionError (.message) when they fail:\n"
        "#   await api.fetch(name: str, args: Any) -> Any\n"
        "#   shout(self, /)  # Return a copy of the string converted to uppercase.\n"
    )


# where the jail cannot be enforced


def broken(**changes: Any) -> Callable[[], Any]:
    return lambda: dataclasses.replace(probe(), **changes)


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({"seccomp": Finding(works=False, why="refused")}, "files: seccomp filters do not work"),
        ({"memory": Finding(works=False, why="no limit")}, "memory: RLIMIT_AS does not work"),
        ({"system": "Darwin"}, "Darwin"),
        ({"machine": "riscv64"}, "riscv64"),
    ],
)
def test_a_machine_that_cannot_enforce_the_jail_is_told_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], missing: str
) -> None:
    monkeypatch.setattr(facade, "probe", broken(**changes))
    with pytest.raises(rf.SandboxFault, match=missing) as fault:
        rf.Enclave()
    assert fault.value.code == "sandbox_unavailable"
    assert fault.value.hint


def test_a_worker_that_cannot_be_started_is_a_fault_and_the_next_run_may_work(monkeypatch: pytest.MonkeyPatch) -> None:
    async def body() -> rf.RunResult:
        async with rf.Enclave() as enclave:
            with monkeypatch.context() as patch:
                patch.setattr(sys, "executable", "/nowhere/python")
                with pytest.raises(rf.SandboxFault) as fault:
                    await enclave.run("1")
            assert fault.value.code == "sandbox_unavailable"
            return await enclave.run("1")

    before = descendants()
    result = run(body())
    assert (code(result), result.value, descendants()) == (None, 1, before)


def test_what_is_in_force_can_be_logged() -> None:
    enclave = rf.Enclave(
        tool_namespaces={"mail": ["list"]},
        clock=datetime(2026, 1, 2, tzinfo=UTC),
        screening={
            "blocked_operation_patterns": [re.compile("x")],
            "suspicious_patterns": [rf.Detector("mine", "Mine", lambda name, args, history: False)],
            "actions": {"rate": "log"},
        },
    )
    plain = json.loads(json.dumps(enclave.effective_config().as_dict()))
    assert (plain["tool_namespaces"], plain["clock"], plain["timeout"]) == (
        {"mail": {"list": "mail.list"}},
        "2026-01-02T00:00:00+00:00",
        30.0,
    )
    assert (plain["screening"]["blocked_operation_patterns"], plain["screening"]["suspicious_patterns"]) == (
        ["x"],
        ["mine"],
    )
    assert plain["screening"]["actions"] == {"rate": "log"}
    assert plain.keys() == {one.name for one in dataclasses.fields(EnclaveConfig)}
