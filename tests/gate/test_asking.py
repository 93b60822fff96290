"""What is shown is what runs, and what an approver puts in its place passes the same checks as a caller's."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, cast

import msgspec
import pytest

from ringfence import values
from ringfence.contract.approvers import all_of
from ringfence.contract.output import PydanticOutput
from ringfence.contract.tool import Tool
from ringfence.errors import Issue
from ringfence.gate import waits
from ringfence.gate.asking import ask
from ringfence.gate.attempt import Stop
from ringfence.gate.entries import LiveCall, entry_for
from ringfence.gate.means import BUDGET, Means
from ringfence.gate.signals import AbortSignal
from ringfence.gate.states import Aborted, Denied, Event, Expired, Granted, Interrupted, Responded
from ringfence.ports import (
    ApprovalRequest,
    Edit,
    InputSchema,
    InvalidInput,
    Origin,
    OutputSchema,
    Position,
    Reject,
    Respond,
    Signal,
    Unfinished,
)
from tests.gate.kit import Amount, Watch, pay, run, tool
from tests.gate.questions import never_awaited

DATA = b'{"cents":5}'


class Asked:
    """One call that is waiting for its decision."""

    def __init__(
        self,
        handler: Any,
        *,
        of: Tool[..., Any] | None = None,
        value: Any = None,
        signal: Signal | None = None,
        timeout: float | None = None,
    ) -> None:
        options = {} if handler is None else {"approval": handler}
        of = of if of is not None else tool(pay, **options)
        entry = entry_for(of, sandbox=None, human=None, log=lambda text: None)
        self.watch = Watch()
        self.call = LiveCall(
            name="pay",
            entry=entry,
            origin=Origin(
                session_id="s",
                principal="ada",
                run_id="r",
                position=Position(line=3, site="3:0", task="0", sequence=0),
            ),
            call_id="c",
            parent=signal,
            signal=signal,
            watch=self.watch,
            encode=False,
            own_task=False,
            began=0.0,
            since=0.0,
        )
        self.call.data = DATA
        self.call.value = Amount(cents=5) if value is None else value
        self.means = Means(
            clock=time.monotonic,
            chance=lambda: 0.0,
            approval_timeout=timeout,
            progress=lambda call, share, message: None,
        )

    def event(self) -> Event:
        return run(self.ask)

    async def ask(self) -> Event:
        return await ask(self.call, self.means)

    @property
    def unchanged(self) -> bool:
        return (self.call.data, self.call.value, self.call.edited) == (DATA, Amount(cents=5), None)


def saying(answer: Any) -> Callable[..., Awaitable[Any]]:
    async def handler(request: ApprovalRequest) -> Any:
        return answer

    return handler


# --- what is shown ---


def test_nobody_to_ask_denies_at_once_and_nobody_waits() -> None:
    asked = Asked(None, of=tool(pay, approval="human"))
    assert (asked.event(), asked.watch.heard, asked.call.reason) == (Denied("no_handler"), [], "no_handler")


def test_the_request_holds_the_validated_arguments_and_says_who_calls_from_where() -> None:
    seen: list[ApprovalRequest] = []

    async def handler(request: ApprovalRequest) -> bool:
        seen.append(request)
        return True

    asked = Asked(None, of=tool(pay, approval=handler, effect="write"))
    assert (asked.event(), asked.watch.heard) == (Granted(), ["began", "ended"])
    shown = {"cents": 5, "currency": "EUR"}
    assert seen == [
        ApprovalRequest(
            tool="pay",
            description="Pay.",
            input=Amount(cents=5),
            arguments=shown,
            digest=values.digest(values.canonical(shown, BUDGET)),
            session_id="s",
            principal="ada",
            call_id="c",
            run_id="r",
            line=3,
            effect="write",
        )
    ]
    assert seen[0].input is not asked.call.value


def test_what_a_handler_does_to_its_copy_matters_to_nobody() -> None:
    async def handler(request: ApprovalRequest) -> bool:
        request.input.cents = 1_000
        cast("dict[str, Any]", request.arguments)["cents"] = 1_000
        return True

    asked = Asked(all_of(handler, saying(True)))
    assert (asked.event(), asked.unchanged) == (Granted(), True)


class Closed:
    """Arguments that may be read a number of times."""

    def __init__(self, readings: int) -> None:
        self.readings = readings

    def __deepcopy__(self, memo: Any) -> Closed:
        return self

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Any:
        self.readings -= 1
        if self.readings < 0:
            raise RuntimeError("secret")
        return iter([5])


def test_arguments_that_cannot_be_shown_are_denied_unseen(caplog: pytest.LogCaptureFixture) -> None:
    seen: list[object] = []

    async def handler(request: ApprovalRequest) -> bool:
        seen.append(request)
        return True

    asked = Asked(handler, value=Closed(0))
    assert (asked.event(), seen, asked.watch.heard) == (Denied("handler_failed"), [], [])
    assert "cannot be shown: RuntimeError" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("value", [Amount(cents=5), Closed(1)])
def test_what_changed_while_it_was_waited_for_is_not_what_was_approved(
    value: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(request: ApprovalRequest) -> bool:
        if isinstance(value, Amount):  # a schema of the host's own may keep what it made
            value.cents = 77_777
        return True

    asked = Asked(handler, value=value)
    assert (asked.event(), asked.call.reason) == (Denied("changed"), "changed")
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    assert "77777" not in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("answer", "denied"),
    [
        (False, Denied("denied")),
        (Reject("over budget"), Denied("denied", "over budget")),
        ("yes", Denied("not_a_bool")),
        (Edit({"cents": float("nan")}), Denied("invalid_edit")),
    ],
)
def test_a_denial_says_why(answer: Any, denied: Denied) -> None:
    asked = Asked(saying(answer))
    assert (asked.event(), asked.call.reason, asked.call.said) == (denied, denied.reason, denied.text)
    assert asked.unchanged


# --- edits ---


def test_an_edit_takes_the_place_of_the_arguments_after_the_same_validation() -> None:
    asked = Asked(saying(Edit({"currency": "USD", "cents": 7})))
    assert asked.event() == Granted(edited=True)
    call = asked.call
    assert (call.value, call.data, call.edited) == (
        Amount(cents=7, currency="USD"),
        b'{"cents":7,"currency":"USD"}',
        {"cents": 7, "currency": "USD"},
    )


def test_a_default_holds_for_an_edit_too() -> None:
    asked = Asked(saying(Edit({"cents": 7})))
    assert (asked.event(), asked.call.value) == (Granted(edited=True), Amount(cents=7))


@pytest.mark.parametrize("args", [{"cents": "77777"}, {}, {"cents": 7, "secret_77777": 1}, {"cents": [77_777]}])
def test_an_edit_that_does_not_fit_denies_and_the_log_holds_no_value(
    args: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    asked = Asked(saying(Edit(args)))
    assert (asked.event(), asked.unchanged) == (Denied("invalid_edit"), True)
    assert "an approver's edit of pay does not fit: " in caplog.text
    assert "77777" not in caplog.text


Judge = Callable[[bytes], Any]


class Schema(InputSchema):
    """A schema of the host's own."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.seen: list[bytes] = []

    def validate(self, data: bytes) -> Any:
        self.seen.append(data)
        return self.judge(data)

    def json_schema(self, target: str = "2020-12") -> dict[str, Any]:
        return {"type": "object", "properties": {"cents": {"type": "integer"}}, "additionalProperties": False}


def asked_of(judge: Judge, handler: Any, **options: Any) -> tuple[Asked, Schema]:
    schema = Schema(judge)
    of = Tool("pay", "Pay.", cast("Any", schema), pay, approval=handler)
    return Asked(None, of=of, **options), schema


def amount(data: bytes) -> Amount:
    return Amount(**msgspec.json.decode(data))


EDIT = saying(Edit({"cents": 7}))


def test_an_edit_is_validated_once() -> None:
    asked, schema = asked_of(amount, EDIT)
    assert (asked.event(), schema.seen) == (Granted(edited=True), [b'{"cents":7}'])


@pytest.mark.parametrize("error", [ValueError("secret"), asyncio.CancelledError("secret"), SystemExit("secret")])
def test_a_schema_that_raises_accepts_no_edit(error: BaseException, caplog: pytest.LogCaptureFixture) -> None:
    def judge(data: bytes) -> Any:
        raise error

    asked, _ = asked_of(judge, EDIT)
    assert (asked.event(), asked.unchanged) == (Denied("invalid_edit"), True)
    assert f"its schema raised {type(error).__name__}" in caplog.text
    assert "secret" not in caplog.text


def slowly(answer: Any, started: asyncio.Event | None = None, *, ever: bool = True) -> Judge:
    """An asynchronous schema that answers in the end, or never."""

    async def wait() -> Any:
        if started is not None:
            started.set()
        await (asyncio.sleep(0) if ever else asyncio.Event().wait())
        return answer

    def finish(given: Any) -> Any:
        if isinstance(given, BaseException):
            raise given
        return given

    return lambda data: Unfinished(wait(), finish)


def test_an_asynchronous_schema_is_awaited() -> None:
    asked, _ = asked_of(slowly(Amount(cents=7)), EDIT)
    assert (asked.event(), asked.call.value) == (Granted(edited=True), Amount(cents=7))


def test_an_asynchronous_schema_may_refuse() -> None:
    refusal = InvalidInput([Issue(path="cents", message="too many", code="too_many")])
    for error in (refusal, ValueError("broken")):
        asked, _ = asked_of(slowly(error), EDIT)
        assert (asked.event(), asked.unchanged) == (Denied("invalid_edit"), True)


def test_the_questions_deadline_holds_for_the_schema_too() -> None:
    asked, _ = asked_of(slowly(None, ever=False), EDIT, timeout=0.02)
    assert (asked.event(), asked.unchanged) == (Expired(), True)


def test_a_schema_has_a_deadline_even_where_the_question_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "VALIDATION_TIMEOUT", 0.001)
    for timeout in (None, 60.0):
        asked, _ = asked_of(slowly(None, ever=False), EDIT, timeout=timeout)
        assert (asked.event(), asked.unchanged) == (Denied("invalid_edit"), True)


def test_whoever_may_end_the_question_may_end_the_validation_of_an_edit() -> None:
    async def body() -> None:
        started, signal = asyncio.Event(), AbortSignal()
        asked, _ = asked_of(slowly(None, started, ever=False), EDIT, signal=signal)
        waiting = asyncio.create_task(asked.ask())
        await started.wait()
        signal.abort()
        assert await waiting == Aborted()

        started = asyncio.Event()
        asked, _ = asked_of(slowly(None, started, ever=False), EDIT)
        waiting = asyncio.create_task(asked.ask())
        await started.wait()
        asked.means.attempts.stop_all(Stop.CLOSING)
        assert (await waiting, asked.call.cancelled) == (Interrupted(), None)

        started = asyncio.Event()
        asked, _ = asked_of(slowly(None, started, ever=False), EDIT)
        waiting = asyncio.create_task(asked.ask())
        await started.wait()
        waiting.cancel()
        assert await waiting == Interrupted()
        assert isinstance(asked.call.cancelled, asyncio.CancelledError)
        assert asked.watch.heard == ["began", "ended"]

    run(body)


# --- responses ---


def test_a_response_is_the_result_as_a_private_copy() -> None:
    value = {"paid": [5]}
    asked = Asked(saying(Respond(value)))
    assert asked.event() == Responded()
    value["paid"].append(6)
    assert (asked.call.result, asked.call.encoded, asked.unchanged) == ({"paid": [5]}, b'{"paid":[5]}', True)


@pytest.mark.parametrize(
    ("value", "options"),
    [
        ("77777 cents", {"output": int}),
        ({"cents": 77_777, "more": object()}, {}),
        (object(), {}),
        ("77777" * 30, {"max_result": 100}),
        (float("nan"), {}),
        (never_awaited, {}),
    ],
)
def test_a_response_that_the_tool_could_not_have_given_denies(
    value: Any, options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async def handler(request: ApprovalRequest) -> Any:
        return Respond(value() if value is never_awaited else value)

    asked = Asked(None, of=tool(pay, approval=handler, **options))
    assert (asked.event(), asked.call.result, asked.call.encoded) == (Denied("invalid_response"), None, None)
    assert "an approver's response for pay does not fit: " in caplog.text
    assert "77777" not in caplog.text


class Output(OutputSchema):
    """An asynchronous schema for results."""

    def __init__(self, judge: Judge) -> None:
        self.judge = judge

    def dump(self, value: Any) -> bytes | Unfinished:
        return self.judge(PydanticOutput(int, "result").dump(value))  # type: ignore[reportArgumentType]

    def json_schema(self, target: str = "2020-12") -> dict[str, Any] | None:
        return {"type": "integer"}


@pytest.mark.parametrize(
    ("judge", "timeout", "event", "encoded"),
    [
        (lambda: slowly(b"5"), None, Responded(), b"5"),
        (lambda: slowly(values.ValueRefused("", "no")), None, Denied("invalid_response"), None),
        (lambda: slowly(b"5", ever=False), 0.02, Expired(), None),
    ],
)
def test_an_asynchronous_schema_judges_a_response(
    judge: Callable[[], Judge], timeout: float | None, event: Event, encoded: bytes | None
) -> None:
    of = tool(pay, approval=saying(Respond(5)), output=Output(judge()))
    asked = Asked(None, of=of, timeout=timeout)
    assert (asked.event(), asked.call.encoded) == (event, encoded)


# --- what happens meanwhile ---


@pytest.mark.parametrize("answer", [True, Edit({"cents": 7}), Respond(5)])
def test_a_decision_does_not_outlive_the_callers_wish_or_the_gate(answer: Any) -> None:
    signal = AbortSignal()

    async def aborting(request: ApprovalRequest) -> Any:
        signal.abort()
        return answer

    assert Asked(aborting, signal=signal).event() == Aborted()

    async def closing(request: ApprovalRequest) -> Any:
        asked.means.closing = True
        return answer

    asked = Asked(closing)
    assert asked.event() == Interrupted()


@pytest.mark.parametrize("answer", [False, Edit({})])
def test_a_denial_stays_one_whatever_happens_meanwhile(answer: Any) -> None:
    async def closing(request: ApprovalRequest) -> Any:
        asked.means.closing = True
        return answer

    asked = Asked(closing)
    assert isinstance(asked.event(), Denied)


@pytest.mark.parametrize("how", ["expire", "cancel"])
def test_the_watch_hears_the_end_of_every_question(how: str) -> None:
    async def body() -> None:
        started = asyncio.Event()

        async def silent(request: ApprovalRequest) -> bool:
            started.set()
            return await asyncio.Event().wait()

        asked = Asked(silent, timeout=0.001 if how == "expire" else None)
        waiting = asyncio.create_task(asked.ask())
        await started.wait()
        if how == "cancel":
            waiting.cancel()
        assert await waiting == (Expired() if how == "expire" else Interrupted())
        assert asked.watch.heard == ["began", "ended"]

    run(body)
