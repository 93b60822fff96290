"""The context: read-only facts about a call, and two ways to speak."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from ringfence.contract.context import ToolContext
from tests.contract.helpers import context


def test_every_field_is_read_only() -> None:
    ctx = context()
    for name in ToolContext.__struct_fields__:
        with pytest.raises((FrozenInstanceError, AttributeError)):
            setattr(ctx, name, None)


def test_no_field_can_be_added() -> None:
    with pytest.raises((AttributeError, TypeError)):
        context().extra = 1  # type: ignore[attr-defined]


def test_log_and_progress_reach_whoever_listens() -> None:
    heard: list[object] = []

    def on_progress(fraction: float, message: str) -> None:
        heard.append((fraction, message))

    ctx = context(on_log=heard.append, on_progress=on_progress)
    ctx.log("starting")
    ctx.progress(0.5)
    ctx.progress(1.0, "done")
    assert heard == ["starting", (0.5, ""), (1.0, "done")]


def test_nobody_has_to_listen() -> None:
    ctx = context()
    ctx.log("starting")
    ctx.progress(0.1)


def test_the_listeners_are_no_part_of_what_a_context_is() -> None:
    assert context(on_log=print) == context()
    assert hash(context(on_log=print)) == hash(context())
    assert context() != context(attempt=7)
    assert context() != "context"
    assert "print" not in repr(context(on_log=print))
