"""Every event of a boundary or an enclave, kept for the test to look at.

Listens to all types, not only to the seed's five. Knows events and what can be listened to; changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol, Self

from ringfence.errors import ConfigError
from ringfence.events import EVENT_TYPES, Event
from ringfence.testing.steps import shown


class Speaks(Protocol):
    """Whoever has events: an `rf.Boundary`, or an `rf.Enclave` that was given tools."""

    def on(self, types: Any, handler: Callable[[Event], object]) -> Callable[[], None]:
        """Subscribe."""
        ...


class EventRecorder:
    """Records from its creation until `close`, the end of its `with` block, or the closing of the boundary.

    async with rf.Boundary([pay], sandbox=rf.local(unsafe=True)) as boundary:
        recorder = rf.testing.EventRecorder(boundary)
        await boundary.call("pay", {"cents": 5})
    assert recorder.trace() == [("tool.called", "pay"), ("tool.completed", "pay")]
    """

    def __init__(self, boundary: Speaks) -> None:
        """Begin to listen.

        Raises:
            ConfigError: `not_running`, the boundary is closed; or it is none.
        """
        if isinstance(boundary, type) or not callable(getattr(boundary, "on", None)):
            raise ConfigError(
                f"EventRecorder listens to a boundary or an enclave, not to {shown(boundary)}",
                hint="EventRecorder(boundary)",
            )
        self._events: list[Event] = []
        self._unsubscribe = boundary.on(EVENT_TYPES, self._events.append)

    @property
    def events(self) -> list[Event]:
        """Every event until now, in order; a copy."""
        return list(self._events)

    @property
    def types(self) -> list[str]:
        """Their types."""
        return [event.type for event in self._events]

    def of(self, call_id: str) -> list[Event]:
        """The events of one call, as in `outcome.call_id`."""
        return [event for event in self._events if event.meta.get("call_id") == call_id]

    def trace(self) -> list[tuple[str, str | None]]:
        """Type and tool of every event: what happened, without ids and times."""
        return [(event.type, event.tool) for event in self._events]

    def close(self) -> None:
        """Listen no more; what was heard stays. Idempotent."""
        self._unsubscribe()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
