"""One judgement per call: the order of the checks, what is done about what is seen, and what is remembered."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.policy.history import Past
from ringfence.policy.screen import ALLOWED, Declared, Judgement
from ringfence.policy.screening import Detector
from ringfence.policy.sequences import IDS
from ringfence.policy.verdict import Allow, Ask, Refuse
from tests.policy.kit import Call, Run, outcome, screen
from tests.policy.test_bulk import JSON

BAD_NAMES = ("", "a b", "../a", "a\n", "a\x00", "é", "x" * 257)


def message(judged: Judgement) -> str:
    assert judged.error is not None
    return judged.error.message


# names


@pytest.mark.parametrize("name", BAD_NAMES)
@pytest.mark.parametrize("enabled", [True, False])
def test_a_name_that_nobody_can_carry_is_refused_whatever_the_options(name: str, enabled: bool) -> None:
    judged = Run(enabled=enabled, actions={"names": "off"}).call(name)
    assert (judged.action, outcome(judged), judged.flags) == ("refuse", "name_refused", ("names",))


@pytest.mark.parametrize("name", BAD_NAMES)
def test_among_governed_tools_the_gate_says_that_none_has_such_a_name(name: str) -> None:
    assert Run({"a": Declared(effect="read")}).call(name) is ALLOWED


def test_patterns_decide_about_names() -> None:
    options: dict[str, Any] = {"allowed_operation_pattern": "users:.*", "blocked_operation_patterns": ["delete"]}
    names = ("users:open", "posts:open", "users:delete")
    assert Run(**options).calls(*names) == ["allow", "name_refused", "name_refused"]
    assert Run(**options, validate_operation_names=False).calls(*names) == ["allow", "allow", "name_refused"]
    assert Run(**options, actions={"names": "off"}).calls(*names) == ["allow"] * 3
    assert Run(**options, actions={"names": "log"}).call("posts:open").flags == ("names",)
    asked = Run(**options, actions={"names": "ask"}).call("posts:open")
    assert (asked.action, asked.reason) == (
        "ask",
        "Operation not allowed: posts:open is not among the names that are allowed here",
    )


# rate


def test_a_handler_gets_a_hundred_calls_in_a_second_and_then_more() -> None:
    run = Run()
    assert run.calls(*(f"n{at}" for at in range(100))) == ["allow"] * 100
    refused = run.call("n", after=0.9)
    assert (outcome(refused), message(refused), refused.flags) == (
        "rate_limited",
        "Operation rate limit exceeded (100 operations/second)",
        ("rate",),
    )
    assert outcome(run.call("n", after=0.1)) == "allow"


def test_governed_tools_have_no_rate_unless_one_is_set() -> None:
    tools = {f"n{at}": Declared(effect="read") for at in range(500)}
    assert set(Run(tools).calls(*tools)) == {"allow"}
    assert Run(tools, max_operations_per_second=2).calls("n1", "n2", "n3") == ["allow", "allow", "rate_limited"]


def test_functions_of_globals_share_the_rate_and_nothing_else() -> None:
    run = Run(max_operations_per_second=2)
    assert run.screen.judge_global(run.now) is ALLOWED
    assert outcome(run.call("mail.list")) == "allow"
    assert outcome(run.screen.judge_global(run.now)) == "rate_limited"
    assert outcome(run.call("x")) == "rate_limited"
    assert outcome(run.screen.judge_global(run.now + 1.0)) == "allow"


@pytest.mark.parametrize(
    ("action", "third"), [("refuse", "rate_limited"), ("ask", "ask"), ("log", "allow"), ("off", "allow")]
)
def test_what_is_done_about_the_rate_is_the_hosts_choice(action: Any, third: str) -> None:
    run = Run(max_operations_per_second=2, actions={"rate": action})
    assert run.calls("a", "b", "c")[2] == third
    assert run.call("d").flags == (() if action == "off" else ("rate",))


@pytest.mark.parametrize(
    ("action", "second"),
    [("refuse", "rate_limited"), ("ask", "rate_limited"), ("log", "allow"), ("off", "allow")],
)
def test_nobody_can_be_asked_about_a_function_so_the_rate_refuses_it(action: Any, second: str) -> None:
    run = Run(max_operations_per_second=1, actions={"rate": action})
    run.call("a")
    judged = run.screen.judge_global(run.now)
    assert (outcome(judged), judged.flags) == (second, () if action == "off" else ("rate",))


def test_refused_calls_use_up_neither_rate_nor_history() -> None:
    run = Run(max_operations_per_second=3, blocked_operation_patterns=["list"])
    assert run.calls("users.list", "users.list", "users.list") == ["name_refused"] * 3
    assert run.calls("mail.send", "mail.send", "mail.send") == ["allow"] * 3


# detectors


def test_a_sequence_is_refused_in_the_seeds_words() -> None:
    run = Run()
    assert run.call("mail.list") is ALLOWED
    judged = run.call("mail.send", after=4.9)
    assert judged.error is not None
    assert (judged.error.code, judged.error.message, judged.flags) == (
        "suspicious_sequence",
        "Suspicious pattern detected: data was read, and then something was sent [EXFIL_LIST_SEND]",
        ("EXFIL_LIST_SEND",),
    )
    assert judged.error.hint is not None


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("refuse", "suspicious_sequence"),
        ("ask", "ask"),
        ("log", "allow"),
        ("off", "allow"),
    ],
)
def test_what_is_done_about_a_pattern_is_the_hosts_choice(action: Any, expected: str) -> None:
    run = Run(actions={"EXFIL_LIST_SEND": action})
    run.call("mail.list")
    judged = run.call("mail.send")
    assert outcome(judged) == expected
    assert judged.flags == (() if action == "off" else ("EXFIL_LIST_SEND",))
    assert (judged.reason is not None) == (expected == "ask")


def test_who_is_asked_hears_every_reason() -> None:
    run = Run(actions={"EXFIL_LIST_SEND": "ask", "BULK_OPERATION": "ask"})
    run.call("mail.list")
    judged = run.call("mail.send_batch")
    assert judged == Judgement(
        action="ask",
        reason="Suspicious pattern detected: data was read, and then something was sent [EXFIL_LIST_SEND]; "
        "Suspicious pattern detected: an operation on everything at once [BULK_OPERATION]",
        flags=("EXFIL_LIST_SEND", "BULK_OPERATION"),
    )


@pytest.mark.parametrize("weaker", ["ask", "log"])
def test_a_refusal_is_stronger_than_what_was_seen_before_it(weaker: Any) -> None:
    run = Run(actions={"EXFIL_LIST_SEND": weaker})
    run.call("mail.list")
    judged = run.call("mail.send_batch")
    assert (judged.action, judged.reason, judged.flags) == ("refuse", None, ("EXFIL_LIST_SEND", "BULK_OPERATION"))


def test_a_call_counts_before_it_has_ended_so_that_calls_side_by_side_are_a_sequence() -> None:
    run = Run()
    assert run.calls("mail.list", "mail.send") == ["allow", "suspicious_sequence"]


def test_a_call_that_is_asked_about_or_flagged_counts_too() -> None:
    run = Run(actions={"BULK_OPERATION": "ask"})
    assert run.calls("bulk_list", "mail.send") == ["ask", "suspicious_sequence"]


def test_arguments_are_not_looked_at_where_nobody_wants_to_know() -> None:
    class Unread(dict[str, Any]):
        def items(self) -> Any:
            raise AssertionError

    assert outcome(Run(actions={"BULK_OPERATION": "off"}).call("rows", Unread(limit=10_000))) == "allow"
    assert outcome(Run(block_suspicious_sequences=False).call("rows", Unread(limit=10_000))) == "allow"


def test_without_the_detectors_names_and_rate_remain() -> None:
    run = Run(
        block_suspicious_sequences=False,
        max_operations_per_second=3,
        blocked_operation_patterns=["drop"],
        suspicious_patterns=[Detector("ALL", "everything", lambda name, args, history: True)],
    )
    assert run.calls("mail.list", "mail.send", "bulk", "more") == ["allow", "allow", "allow", "rate_limited"]
    assert outcome(run.call("drop", after=2.0)) == "name_refused"


def test_without_screening_only_impossible_names_are_refused() -> None:
    run = Run(enabled=False, max_operations_per_second=1, blocked_operation_patterns=["x"])
    assert set(run.calls(*["x", "mail.list", "mail.send"] * 50)) == {"allow"}
    assert run.screen.judge_global(run.now) is ALLOWED


def test_thresholds_of_enumeration_hold() -> None:
    run = Run(rapid_enumeration_threshold=1, rapid_enumeration_overrides={"free": 3})
    assert run.calls("a", "a", "a") == ["allow", "allow", "suspicious_sequence"]
    assert run.calls("free", "free", "free", "free", "free") == [*["allow"] * 4, "suspicious_sequence"]


def test_the_arguments_of_a_credential_never_reach_a_message() -> None:
    run = Run()
    run.call("secret.open", {"password": "hunter2"})
    assert "hunter2" not in str(run.call("http.go", {"body": "hunter2"}).error)


# the host's own


def own(detect: Callable[..., Any], **options: Any) -> Run:
    return Run(suspicious_patterns=[Detector("MINE", "mine", detect)], **options)


def answering(answer: Any) -> Callable[..., Any]:
    def detect(name: str, args: object, history: object) -> Any:
        return answer

    return detect


def awaitable(name: str, args: object, history: object) -> Any:
    async def later() -> bool:
        return False

    return later()


def raising(name: str, args: object, history: object) -> bool:
    raise ValueError("hunter2")


@pytest.mark.parametrize(
    ("answer", "expected", "text"),
    [
        (False, "allow", None),
        (Allow(), "allow", None),
        (True, "suspicious_sequence", "Suspicious pattern detected: mine [MINE]"),
        (Refuse(), "suspicious_sequence", "Suspicious pattern detected: mine [MINE]"),
        (Refuse("too late"), "suspicious_sequence", "Suspicious pattern detected: mine: too late [MINE]"),
        (Ask(), "ask", "Suspicious pattern detected: mine [MINE]"),
        (Ask("really?"), "ask", "really?"),
    ],
)
def test_a_detector_answers_with_a_bool_or_a_verdict(answer: Any, expected: str, text: str | None) -> None:
    judged = own(answering(answer)).call("x")
    assert (outcome(judged), judged.error.message if judged.error else judged.reason) == (expected, text)


@pytest.mark.parametrize("answer", [None, 0, 1, "", "yes", [], Allow, Ask(3), Refuse(None)])  # type: ignore[arg-type]
def test_any_other_answer_is_a_refusal(answer: Any) -> None:
    judged = own(answering(answer)).call("x")
    assert message(judged) == "Suspicious pattern detected: mine: the detector gave no answer [MINE]"


def test_a_detector_that_fails_has_seen_its_pattern_and_its_text_stays_here() -> None:
    assert message(own(raising).call("x")) == "Suspicious pattern detected: mine: the detector failed [MINE]"


def test_a_detector_that_would_have_to_be_awaited_is_a_refusal() -> None:
    judged = own(awaitable).call("x")
    assert message(judged) == "Suspicious pattern detected: mine: the detector gave no answer [MINE]"


@pytest.mark.parametrize("error", [SystemExit, asyncio.CancelledError, GeneratorExit, BaseException])
def test_whatever_a_detector_raises_is_a_refusal(error: type[BaseException]) -> None:
    def detect(name: str, args: object, history: object) -> bool:
        raise error

    assert message(own(detect).call("x")) == "Suspicious pattern detected: mine: the detector failed [MINE]"


def test_a_keyboards_interrupt_in_a_detector_is_the_hosts() -> None:
    def detect(name: str, args: object, history: object) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        own(detect).call("x")


@pytest.mark.parametrize("answer", [True, Ask("a"), Refuse("b")])
def test_the_hosts_action_is_stronger_than_the_detectors_word(answer: Any) -> None:
    expected = {"refuse": "suspicious_sequence", "ask": "ask", "log": "allow", "off": "allow"}
    seen = {action: outcome(own(answering(answer), actions={"MINE": action}).call("x")) for action in expected}
    assert seen == expected


def test_a_detector_that_is_off_is_not_called() -> None:
    called: list[str] = []

    def detect(name: str, args: object, history: object) -> bool:
        called.append(name)
        return False

    own(detect, actions={"MINE": "off"}).call("x")
    assert called == []


def test_a_detector_sees_what_was_let_through_with_times_and_names_of_arguments_only() -> None:
    seen: list[tuple[str, Any, Any]] = []

    def detect(name: str, args: Mapping[str, Any], history: Sequence[Past]) -> bool:
        seen.append((name, args, history))
        return name == "no"

    tools = {"a": Declared(effect="read", tags=("t",)), "b": Declared(effect=None)}
    run = Run(tools, suspicious_patterns=[Detector("MINE", "mine", detect)])
    run.call("a", {"id": 1, "who": "x"})
    run.call("no", after=1.0)
    run.call("b", {"list": [1, {"deep": ()}]}, after=1.0)
    first = Past(name="a", timestamp=1_000.0, arg_keys=("id", "who"), effect="read", tags=("t",))
    assert seen == [
        ("a", {"id": 1, "who": "x"}, ()),
        ("no", {}, (first,)),
        ("b", {"list": [1, {"deep": []}]}, (first,)),
    ]


def test_a_detector_changes_nothing_for_anybody_else() -> None:
    kept: list[Any] = []

    def first(name: str, args: Any, history: Any) -> bool:
        args["list"][0]["x"] = "changed"
        args.clear()
        return False

    def second(name: str, args: Any, history: Any) -> bool:
        kept.append(args)
        return False

    arguments = {"list": [{"x": 1}], "n": None}
    patterns = [Detector("A", "a", first), Detector("B", "b", second)]
    Run(suspicious_patterns=patterns).call("x", arguments)
    assert kept == [arguments] == [{"list": [{"x": 1}], "n": None}]


def test_detectors_come_after_everything_else() -> None:
    run = own(raising, max_operations_per_second=1)
    assert outcome(run.call("bulk")) == "suspicious_sequence"
    assert run.call("bulk").flags == ("BULK_OPERATION",)


# any run

STEP = st.tuples(
    st.sampled_from(["users:list", "mail.send", "secret", "http", "drop.delete", "bulk", "a b", "x"])
    | st.text(max_size=8),
    st.dictionaries(st.text(max_size=4), JSON, max_size=3),
    st.floats(0, 12, allow_nan=False),
)


@pytest.mark.slow
@given(st.lists(STEP, max_size=12), st.sampled_from(["refuse", "ask", "log", "off"]), st.booleans())
def test_every_run_is_judged_and_each_judgement_is_whole(
    steps: list[tuple[str, dict[str, Any], float]], action: Any, governed: bool
) -> None:
    tools = {"x": Declared(effect="write"), "secret": Declared(effect="read", tags=("secret",))} if governed else None
    judging = screen(tools, actions=dict.fromkeys(IDS, action), max_operations_per_second=5)
    now = 0.0
    for name, arguments, pause in steps:
        now += pause
        judged = judging.judge(Call(name, arguments), now)
        assert (judged.error is not None) == (judged.action == "refuse")
        assert (judged.reason is not None) == (judged.action == "ask")
        assert judged.action == "allow" or judged.flags


@given(st.lists(st.sampled_from(["a.list", "b.send", "c", "secret", "http", "d.delete"]), max_size=30))
def test_patterns_that_are_off_never_refuse(names: list[str]) -> None:
    judging = screen(actions=dict.fromkeys([*IDS, "rate"], "off"))
    for now, name in enumerate(itertools.chain(names, names)):
        assert judging.judge(Call(name), float(now)) is ALLOWED
