"""Messages arrive as they were sent; anything else is not a message."""

from __future__ import annotations

import pytest

from ringfence.sandbox.jail import wire

MESSAGES: tuple[wire.Message, ...] = (
    wire.Start(
        plan={"tier": "lsm", "resources": [{"name": "CPU"}]},
        engine="module:prepare,serve",
        roots=("/a", "/b"),
        supplies={"preload": ["x"], "zones": "/z"},
    ),
    wire.Fork(id=1),
    wire.Kill(id=2),
    wire.Ready(steps=("descriptors", "seccomp")),
    wire.Refused(step="seccomp", why="PermissionError: no"),
    wire.Forked(id=3, pid=4),
    wire.Ended(id=5, code=0, signal=None, cpu=0.25, maxrss=1024, step=None),
    wire.Ended(id=6, code=None, signal=9, cpu=0.0, maxrss=0, step="limits: ValueError"),
)


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_message_arrives_as_it_was_sent(message: wire.Message) -> None:
    packet = wire.encode(message)
    assert len(packet) < wire.LARGEST
    assert wire.decode(packet) == message


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"\xff\xfe",
        b"{}",
        b'{"kind": "explode"}',
        b'{"kind": 7}',
        b'{"kind": ["fork"]}',
        b'{"kind": "fork"}',
        b'{"kind": "fork", "id": 1, "more": 2}',
    ],
)
def test_anything_else_is_not_a_message(packet: bytes) -> None:
    with pytest.raises(wire.WireError):
        wire.decode(packet)
