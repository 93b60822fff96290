"""The launcher inherits one socket and nothing else; where it cannot be started, that is a fault with a way out."""

from __future__ import annotations

import asyncio
import sys

import pytest

from ringfence.errors import SandboxFault
from ringfence.sandbox.jail import spawn_unsafe
from ringfence.sandbox.jail.spawn_unsafe import command, runs_here, spawn
from tests.sandbox.jail.driving import descriptors, has_children


def test_the_command_runs_one_module_in_an_isolated_interpreter() -> None:
    python, *rest = command("zygote_unsafe")
    assert python == sys.executable
    assert rest[:-2] == ["-s", "-P", "-S", "-B", "-X", "utf8"]
    assert rest[-1] == "zygote_unsafe"
    assert spawn_unsafe.ENVIRONMENT == {"PYTHONHASHSEED": "0", "PYTHON_JIT": "0"}


@pytest.mark.parametrize("executable", ["", None])
def test_a_host_without_an_interpreter_has_no_jail(executable: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.raises(SandboxFault) as caught:
        spawn()
    assert caught.value.code == "sandbox_unavailable"
    assert caught.value.hint


def test_a_frozen_program_is_not_started_again_as_if_it_were_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(SandboxFault) as caught:
        spawn()
    assert caught.value.code == "sandbox_unavailable"


def test_an_interpreter_that_cannot_be_started_leaves_no_socket(monkeypatch: pytest.MonkeyPatch) -> None:
    before = descriptors()
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(SandboxFault) as caught:
        spawn()
    assert caught.value.code == "sandbox_unavailable"
    assert descriptors() == before


def test_a_launcher_that_hears_nothing_ends_with_its_host_and_is_buried() -> None:
    before = descriptors()
    loop = asyncio.new_event_loop()
    launched = spawn()
    launched.close(loop)
    launched.close(loop)
    loop.close()
    assert launched.process.returncode is not None
    assert not has_children()
    assert descriptors() == before


def test_only_the_running_loop_runs_here() -> None:
    async def body() -> tuple[bool, bool]:
        other = asyncio.new_event_loop()
        try:
            return runs_here(asyncio.get_running_loop()), runs_here(other)
        finally:
            other.close()

    assert asyncio.run(body()) == (True, False)
    loop = asyncio.new_event_loop()
    assert not runs_here(loop)
    loop.close()
