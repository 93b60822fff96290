"""One script in an enclave of its own: what `run_agent_script` takes, gives, and leaves behind (seed, "One-Shot Execution")."""

from __future__ import annotations

from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import code, descendants, run


@rf.tool(effect="read")
async def look() -> int:
    """Look."""
    return 7


async def handler(name: str, args: Any) -> Any:
    return [name, args]


def test_the_seeds_example_works() -> None:
    """T103."""
    result = run(rf.run_agent_script("return max(1, 2, 3)", timeout=1.0))
    assert (result.success, result.value) == (True, 3)


@pytest.mark.parametrize(
    ("source", "options", "value"),
    [
        ("await call_tool('a', {'n': 1})", {"tool_handler": handler}, ["a", {"n": 1}]),
        ("await tools.look()", {"tools": [look], "sandbox": rf.local(unsafe=True)}, 7),
        ("inputs['n'] + m", {"inputs": {"n": 1}, "variables": {"m": 2}}, 3),
        ("context.a", {"globals": {"context": {"a": 5}}}, 5),
    ],
)
def test_it_takes_what_an_enclave_and_a_run_take(source: str, options: dict[str, Any], value: Any) -> None:
    assert run(rf.run_agent_script(source, **options)).value == value


@pytest.mark.parametrize("source", ["1", "1 / 0", "while True: pass", "syntax error"])
def test_it_leaves_no_process_whatever_comes_of_the_script(source: str) -> None:
    """B10."""
    before = descendants()
    run(rf.run_agent_script(source, timeout=0.5))
    assert descendants() == before


@pytest.mark.parametrize(("options", "waiting"), [({}, 0), ({"waiting": None}, 0), ({"waiting": 1}, 1)])
def test_no_worker_is_kept_for_a_script_that_never_comes(
    options: dict[str, Any], waiting: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []

    class Counted(rf.Enclave):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            kept.append(self.effective_config().waiting)

    monkeypatch.setattr("ringfence.enclave.oneshot.Enclave", Counted)

    async def body() -> None:
        await rf.run_agent_script("1", **options)
        async with rf.Boundary([look], sandbox=rf.local(unsafe=True)) as boundary:
            await boundary.run_script("1", **options)

    run(body())
    assert kept == [waiting, waiting]


def test_a_wrong_option_is_refused_before_anything_starts() -> None:
    with pytest.raises(rf.ConfigError, match="timeout"):
        run(rf.run_agent_script("1", timeout=-1))
    with pytest.raises(TypeError, match="timeouts"):
        run(rf.run_agent_script("1", timeouts=1))  # type: ignore[call-arg]


def test_it_disposes_when_its_caller_is_cancelled() -> None:
    before = descendants()

    async def body() -> None:
        import asyncio

        task = asyncio.create_task(rf.run_agent_script("while True: pass", validate=False, timeout=10.0))
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(body())
    assert descendants() == before


def test_a_boundary_runs_a_script_with_the_same_options() -> None:
    async def body() -> rf.RunResult:
        async with rf.Boundary([look], sandbox=rf.local(unsafe=True)) as boundary:
            return await boundary.run_script(
                "await desk.get() + n", variables={"n": 1}, tool_namespaces={"desk": {"get": "look"}}
            )

    result = run(body())
    assert (code(result), result.value, result.variables) == (None, 8, {"n": 1})
