"""Each wrapper does what its name says, tried in a fork, and says what the kernel said when it refuses."""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import socket
from pathlib import Path
from typing import Any

import pytest

from ringfence.sandbox.jail import kernel_unsafe
from ringfence.sandbox.jail.seccomp import ALLOW, JUMP_EQUAL, LOAD, REFUSE, RETURN, Instruction, encode
from ringfence.sandbox.jail.trial_unsafe import attempt

MACHINE: Any = platform.machine()


def status(name: str) -> str:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(line.split(":", 1)[1].strip() for line in lines if line.startswith(name + ":"))


def test_a_raw_call_returns_what_the_kernel_returns() -> None:
    assert kernel_unsafe.call("getpid", MACHINE) == os.getpid()


def test_a_refused_call_raises_with_the_kernels_number() -> None:
    with pytest.raises(OSError, match="close") as caught:
        kernel_unsafe.call("close", MACHINE, -1)
    assert caught.value.errno == errno.EBADF


def test_a_call_that_the_machine_does_not_have_is_absent() -> None:
    with pytest.raises(OSError, match="time") as caught:
        kernel_unsafe.call("time", "aarch64", None)
    assert caught.value.errno == errno.ENOSYS


def test_no_new_privileges_are_gone_for_good() -> None:
    def trial() -> None:
        kernel_unsafe.no_new_privileges()
        assert status("NoNewPrivs") == "1"

    assert attempt(trial) == ""


def test_all_capabilities_are_dropped() -> None:
    def trial() -> None:
        kernel_unsafe.drop_bounding_set()
        kernel_unsafe.drop_capabilities(MACHINE)
        sets = ["CapInh", "CapPrm", "CapEff", "CapAmb"] + (["CapBnd"] if os.getuid() == 0 else [])
        assert {int(status(name), 16) for name in sets} == {0}

    assert attempt(trial) == ""


def test_a_filter_refuses_from_then_on() -> None:
    def trial() -> None:
        nr = kernel_unsafe.number("socket", MACHINE)
        assert nr is not None
        program = (Instruction(LOAD, 0), Instruction(JUMP_EQUAL, nr, 0, 1), Instruction(RETURN, REFUSE), Instruction(RETURN, ALLOW))  # fmt: skip
        kernel_unsafe.no_new_privileges()
        kernel_unsafe.install_filter(encode(program), MACHINE)
        with pytest.raises(PermissionError):
            socket.socket()

    assert attempt(trial) == ""


def test_a_filter_that_makes_no_sense_is_refused() -> None:
    def trial() -> None:
        kernel_unsafe.no_new_privileges()
        with pytest.raises(OSError, match="seccomp") as caught:
            kernel_unsafe.install_filter(encode((Instruction(0xFFFF, 0),)), MACHINE)
        assert caught.value.errno == errno.EINVAL

    assert attempt(trial) == ""


def test_a_child_of_somebody_else_is_noticed() -> None:
    assert attempt(lambda: kernel_unsafe.die_with(1 if os.getppid() != 1 else 2)).startswith("ProcessLookupError")


def test_a_child_of_its_parent_goes_on() -> None:
    parent = os.getpid()
    assert attempt(lambda: kernel_unsafe.die_with(parent)) == ""


def test_the_environment_is_gone_from_python_and_from_libc() -> None:
    def trial() -> None:
        os.environ["SECRET"] = "text"
        kernel_unsafe.clear_environment()
        assert dict(os.environ) == {}
        assert not ctypes.CDLL(None).getenv(b"SECRET")

    assert attempt(trial) == ""


def test_a_process_without_core_dumps_belongs_to_root_in_proc() -> None:
    def trial() -> None:
        kernel_unsafe.no_core_dumps()
        assert os.stat("/proc/self/environ").st_uid == 0

    assert attempt(trial) == ""
