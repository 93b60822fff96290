"""The kernel's filter machine in thirty lines, to run assembled programs without a kernel. For tests only."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from ringfence.sandbox.jail.seccomp import AND, JUMP_AT_LEAST, JUMP_EQUAL, LOAD, RETURN, Instruction


@dataclass(frozen=True, slots=True)
class Call:
    """`struct seccomp_data` of one system call."""

    number: int
    arch: int
    arguments: tuple[int, ...] = ()

    def pack(self) -> bytes:
        padded = (*self.arguments, 0, 0, 0, 0, 0, 0)[:6]
        return struct.pack("<IIQ6Q", self.number, self.arch, 0, *padded)


def verdict(program: Sequence[Instruction], call: Call) -> int:
    """What the filter answers. A jump out of the program is an IndexError, as it is an EINVAL for the kernel."""
    data, accumulator, at = call.pack(), 0, 0
    while True:
        step = program[at]
        at += 1
        match step.code:
            case code if code == LOAD:
                accumulator = struct.unpack_from("<I", data, step.k)[0]
            case code if code == AND:
                accumulator &= step.k
            case code if code == JUMP_EQUAL:
                at += step.if_true if accumulator == step.k else step.if_false
            case code if code == JUMP_AT_LEAST:
                at += step.if_true if accumulator >= step.k else step.if_false
            case code if code == RETURN:
                return step.k
            case code:
                raise AssertionError(f"instruction {code:#x} is not one that filters use")
