"""One handler: how it wants to be called, where it runs, and what is left of an answer that is none."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable
from typing import Any, cast
from unittest.mock import AsyncMock, Mock

import pytest

from ringfence.errors import ConfigError
from ringfence.gate.decisions import Allowed, AnsweredWith, Blocked
from ringfence.gate.handlers import discard, failed, form_of, in_place, read
from ringfence.ports import ApprovalInfo, ApprovalRequest, Edit, Reject, Respond
from ringfence.threads import DaemonThreads
from tests.gate.kit import run
from tests.gate.questions import never_awaited


class Desk:
    """Handlers with a `self`."""

    def one(self, request: ApprovalRequest) -> bool:
        return True

    def two(self, given: Any, info: ApprovalInfo) -> bool:
        return True

    async def __call__(self, request: ApprovalRequest) -> bool:
        return True


def keyword(request: ApprovalRequest, *, strict: bool = False) -> bool:
    return True


def bound(desk: str, request: ApprovalRequest) -> bool:
    return True


def optional(given: Any, info: ApprovalInfo | None = None) -> bool:
    return True


@pytest.mark.parametrize(
    ("handler", "form"),
    [
        (Desk().one, "request"),
        (Desk(), "request"),
        (keyword, "request"),
        (functools.partial(bound, "front"), "request"),
        (bool, "request"),
        (Desk().two, "pair"),
        (bound, "pair"),
        (optional, "pair"),
        (lambda *args: True, "pair"),  # type: ignore[misc]
        (Mock(), "pair"),
        (AsyncMock(), "pair"),
    ],
)
def test_the_signature_says_which_form_a_handler_wants(handler: Any, form: str) -> None:
    assert form_of(handler, "approve") == form


@pytest.mark.parametrize(
    "handler",
    [lambda: True, lambda a, b, c: True, lambda *, request: True, lambda request, *, desk: True],  # type: ignore[misc]
)
def test_other_signatures_are_a_configuration_error(handler: Any) -> None:
    with pytest.raises(ConfigError, match=r"approve must take \(input, info\) or one request") as caught:
        form_of(handler, "approve")
    assert caught.value.code == "bad_config"


def test_the_hosts_function_runs_where_it_cannot_block_the_loop() -> None:
    async def coroutine(value: int) -> threading.Thread:
        await asyncio.sleep(0)
        return threading.current_thread()

    def function(value: int) -> threading.Thread:
        return threading.current_thread()

    def promising(value: int) -> Awaitable[threading.Thread]:
        return coroutine(value)

    async def body() -> list[bool]:
        threads = DaemonThreads("test")
        here = threading.current_thread()
        return [await in_place(one, [5], threads) is here for one in (coroutine, function, promising)]

    assert run(body) == [True, False, True]


def decide(request: Any) -> None:
    """A handler, for its name."""


def test_an_answer_that_is_no_decision_is_logged_by_its_type_and_with_the_fix(caplog: pytest.LogCaptureFixture) -> None:
    answers: list[Any] = ["secret", Reject, int, None, Edit({"secret": object()}), Edit(cast("Any", "secret"))]
    assert [type(read(answer, "pay", decide)) for answer in answers] == [Blocked] * 6
    assert [
        message.removeprefix("the approval handler decide of pay answered with ") for message in caplog.messages
    ] == [
        "a value of type str; return True, False or a decision",
        "the class Reject; return rf.Reject(...)",
        "the class int; return True, False or a decision",
        "a value of type NoneType; return True, False or a decision",
        "an Edit whose arguments are no JSON values",
        "an Edit without a mapping of arguments; return rf.Edit({...})",
    ]


def test_a_decision_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert [read(answer, "pay", decide) for answer in (True, Respond(5), Reject("secret"))] == [
        Allowed(),
        AnsweredWith(5),
        Blocked("denied", "secret"),
    ]
    assert caplog.text == ""


@pytest.mark.parametrize(
    ("handler", "name"),
    [(decide, "decide"), (Desk(), "Desk"), (Desk().one, "Desk.one"), (functools.partial(decide, 5), "decide"),
     (Mock(__qualname__=5), "Mock")],
)  # fmt: skip
def test_a_failure_is_logged_by_its_class_and_the_handlers_name(
    handler: Any, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    error = ValueError("secret")
    ruling = failed("pay", error, handler)
    assert (ruling, ruling.cause) == (Blocked("handler_failed"), error)
    assert caplog.messages == [f"the approval handler {name} of pay raised ValueError"]


@pytest.mark.parametrize("wrap", [None, Respond, Edit])
def test_a_coroutine_that_nobody_awaited_is_closed_wherever_it_is(wrap: Any) -> None:
    coroutine = never_awaited()
    discard(coroutine if wrap is None else wrap(coroutine))
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        coroutine.send(None)


def test_a_coroutine_that_somebody_awaits_is_left_alone() -> None:
    async def body() -> bool:
        go_on = asyncio.Event()
        coroutine = go_on.wait()
        task = asyncio.ensure_future(coroutine)
        await asyncio.sleep(0)
        discard(coroutine)
        go_on.set()
        return await task

    assert run(body) is True
