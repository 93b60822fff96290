"""Lines from a real terminal, without blocking the loop (`cli.terminal`)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pty
from collections.abc import Generator

import pytest

from ringfence.cli.terminal import Tty


@pytest.fixture
def ends() -> Generator[tuple[int, int]]:
    """A pseudo-terminal: the person's end and the program's end."""
    person, program = pty.openpty()
    yield person, program
    for fd in (person, program):
        with contextlib.suppress(OSError):  # closed by the test
            os.close(fd)


def read(fd: int) -> str | None:
    async def body() -> str | None:
        async with asyncio.timeout(5):
            return await Tty(fd).read_line()

    return asyncio.run(body())


def test_a_line_arrives_without_its_end(ends: tuple[int, int]) -> None:
    os.write(ends[0], b"y\nn\n")
    assert read(ends[1]) == "y"
    assert read(ends[1]) == "n"


def test_the_end_of_input_is_none(ends: tuple[int, int]) -> None:
    os.write(ends[0], b"\x04")
    assert read(ends[1]) is None


def test_text_that_nobody_ended_with_enter_is_no_answer(ends: tuple[int, int]) -> None:
    os.write(ends[0], b"y\x04\x04")
    assert read(ends[1]) is None


def test_a_terminal_that_has_gone_is_none(ends: tuple[int, int]) -> None:
    os.close(ends[0])
    assert read(ends[1]) is None


def test_bytes_that_are_not_text_are_not_lost(ends: tuple[int, int]) -> None:
    os.write(ends[0], b"\xff\n")
    assert read(ends[1]) == "\ufffd"


def test_what_was_typed_before_is_forgotten(ends: tuple[int, int]) -> None:
    os.write(ends[0], b"y\n")
    tty = Tty(ends[1])

    async def body() -> str | None:
        async with asyncio.timeout(5):
            tty.forget_typed()
            os.write(ends[0], b"n\n")
            return await tty.read_line()

    assert asyncio.run(body()) == "n"


def test_the_loop_goes_on_while_a_person_thinks_and_a_cancelled_read_takes_nothing(ends: tuple[int, int]) -> None:
    tty = Tty(ends[1])

    async def body() -> str | None:
        async with asyncio.timeout(5):
            reading = asyncio.create_task(tty.read_line())
            await asyncio.sleep(0)
            await asyncio.sleep(0)  # both ran: the loop is not blocked
            reading.cancel()
            assert isinstance((await asyncio.gather(reading, return_exceptions=True))[0], asyncio.CancelledError)
            os.write(ends[0], b"y\n")
            return await tty.read_line()

    assert asyncio.run(body()) == "y"
