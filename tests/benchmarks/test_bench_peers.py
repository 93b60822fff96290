"""The comparison with other libraries is fair, and does without those that are not installed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from benchmarks.bench_peers import rows, split
from benchmarks.peers import Calls, Function, Peer, UnfairPeer, prove
from benchmarks.peers.adapters import PEERS, be_quiet

from benchmarks import bench_peers

ROOT = Path(__file__).resolve().parents[2]

Behaviour = Callable[[Function, dict[str, Any]], Any]


def peer(behaviour: Behaviour, *, name: str = "other", module: str = "json", is_comparable: bool = True) -> Peer:
    """A library whose tool call is `await behaviour(function, args)`."""

    @asynccontextmanager
    async def opened(function: Function, args: dict[str, Any], timeout: float | None) -> AsyncGenerator[Calls]:
        assert timeout is None
        yield Calls(text=lambda: behaviour(function, args), object=lambda: behaviour(function, args))

    return Peer(name=name, module=module, open=opened, is_comparable=is_comparable)


async def honest(function: Function, args: dict[str, Any]) -> Any:
    if type(args["order_id"]) is not int:
        raise ValueError("order_id")
    return await function(**args)


async def answers_with_text(function: Function, args: dict[str, Any]) -> Any:
    return await function(**args) if type(args["order_id"]) is int else "order_id is no number"


async def validates_nothing(function: Function, args: dict[str, Any]) -> Any:
    return await function(**args)


async def runs_nothing(function: Function, args: dict[str, Any]) -> Any:
    return args["order_id"]


async def runs_twice(function: Function, args: dict[str, Any]) -> Any:
    await honest(function, args)
    return await honest(function, args)


async def changes_arguments(function: Function, args: dict[str, Any]) -> Any:
    return await honest(function, {**args, "customer": args["customer"].lower()})


@pytest.mark.parametrize("behaviour", [honest, answers_with_text])
def test_a_peer_that_validates_and_calls_once_is_compared(behaviour: Behaviour) -> None:
    asyncio.run(prove(peer(behaviour)))


@pytest.mark.parametrize("behaviour", [validates_nothing, runs_nothing, runs_twice, changes_arguments])
def test_a_peer_that_does_less_or_more_than_that_ends_the_comparison(behaviour: Behaviour) -> None:
    with pytest.raises(UnfairPeer, match=r"^other: a call with text"):
        asyncio.run(prove(peer(behaviour)))


def test_our_own_calls_pass_the_same_proof() -> None:
    asyncio.run(prove(bench_peers.US))


@pytest.mark.slow
@pytest.mark.parametrize("named", PEERS, ids=lambda named: named.name)
def test_each_adapter_runs_the_function_once_and_refuses_wrong_arguments(named: Peer) -> None:
    if find_spec(named.module) is None:
        pytest.skip(f"{named.name} is not installed; `make bench` proves it in its own environment")
    be_quiet()
    asyncio.run(prove(named))


def test_both_of_our_calls_are_set_against_each_peer_and_only_comparable_ones_are_judged() -> None:
    near, far = peer(honest, name="near"), peer(honest, name="far", is_comparable=False)
    times = {
        ("ringfence", "text", False): 20.0,
        ("ringfence", "object", False): 30.0,
        ("near", "text", False): 40.0,
        ("near", "object", False): 15.0,
        ("far", "text", False): 5.0,
        ("far", "object", False): 5.0,
    }
    table = rows(times, [near, far])
    assert [(row.name, row.baseline_name, row.ratio, row.ok) for row in table] == [
        ("peers: gate.call, JSON text", "near", 0.5, True),
        ("peers: gate.call, JSON text", "far", 4.0, None),
        ("peers: boundary.call, Python object", "near", 2.0, False),
        ("peers: boundary.call, Python object", "far", 6.0, None),
    ]


def test_a_peer_without_timeouts_has_no_row_with_one() -> None:
    keys = [("ringfence", True), ("ringfence", False), ("other", False)]
    times = {(who, form, timed): 1.0 for who, timed in keys for form in ("text", "object")}
    assert [row.name for row in rows(times, [peer(honest)])] == [
        "peers: gate.call, JSON text",
        "peers: boundary.call, Python object",
    ]


def test_peers_that_are_not_installed_are_named_with_the_command_that_installs_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_peers, "PEERS", (peer(honest, name="absent", module="no_such_module_anywhere"),))
    monkeypatch.setattr(bench_peers, "be_quiet", lambda: None)
    assert list(bench_peers.measure()) == []
    assert capsys.readouterr().err == (
        "benchmarks: absent is not installed here, its rows are left out; run: make .venv/.peers\n"
    )


def test_what_can_be_imported_is_told_from_what_cannot() -> None:
    here, gone = peer(honest), peer(honest, module="no_such_module_anywhere")
    assert split([gone, here]) == ([here], [gone])


def pins(path: str) -> dict[str, str]:
    lines = [line.split("#")[0].strip() for line in (ROOT / path).read_text(encoding="utf-8").splitlines()]
    found = [re.fullmatch(r"([A-Za-z0-9._-]+)==(\S+)", line) for line in lines if line]
    assert all(found), f"{path}: a line without an exact version"
    return {re.sub(r"[-_.]+", "-", pin[1]).lower(): pin[2] for pin in found if pin is not None}


def test_peers_are_pinned_exactly_and_never_against_the_projects_own_pins() -> None:
    ours, theirs = pins("constraints.txt"), pins("benchmarks/peers/requirements.txt")
    assert {"pydantic-ai-slim", "openai-agents", "fastmcp", "langchain-core"} <= set(theirs)
    assert {name: (version, ours[name]) for name, version in theirs.items() if ours.get(name, version) != version} == {}
