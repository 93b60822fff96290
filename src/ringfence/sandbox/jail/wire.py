"""Messages between the host and a zygote: one small JSON object in one packet of a SOCK_SEQPACKET pair.

Pure. A guest never speaks here: a child has closed the control socket before any of its code runs. Written without
msgspec, because the zygote starts without site-packages. `supervise` and `zygote_unsafe` call it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final

LARGEST: Final = 65_536
"""Bytes of one packet at most."""


class WireError(Exception):
    """Not a message of this protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Host, first: how to jail yourself and whom to serve."""

    plan: dict[str, Any]
    engine: str
    """`module:prepare,serve`."""
    roots: tuple[str, ...]
    """Directories to import the engine from, besides the standard library and ringfence."""
    supplies: dict[str, Any]
    """Keyword arguments of the engine's `prepare`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fork:
    """Host, with one descriptor: make a child and give it this channel."""

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Host: end this child, if it still lives."""

    id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Zygote: jailed, and ready for `Fork`."""

    steps: tuple[str, ...]
    """What was done, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Zygote, last: a step failed and nothing will run."""

    step: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forked:
    """Zygote: the child exists. It may not be jailed yet."""

    id: int
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Zygote: the child is gone and reaped."""

    id: int
    code: int | None
    """Exit code; None when a signal ended it."""
    signal: int | None
    cpu: float
    """Seconds, user and system."""
    maxrss: int
    """Bytes."""
    step: str | None
    """The jail step that failed, with the reason; the guest did not run then."""


Message = Start | Fork | Kill | Ready | Refused | Forked | Ended

_KINDS: Final[dict[str, type[Message]]] = {
    kind.__name__.lower(): kind for kind in (Start, Fork, Kill, Ready, Refused, Forked, Ended)
}


def encode(message: Message) -> bytes:
    """One packet."""
    return json.dumps({"kind": type(message).__name__.lower(), **asdict(message)}).encode()


def decode(packet: bytes) -> Message:
    """The message in one packet.

    Raises:
        WireError: anything else.
    """
    try:
        fields: dict[str, Any] = json.loads(packet)
        kind: Any = _KINDS[fields.pop("kind")]
        message: Message = kind(**{name: _frozen(value) for name, value in fields.items()})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WireError(f"{type(error).__name__}: {error}") from None
    return message


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # type: ignore[reportUnknownArgumentType,reportUnknownVariableType]
