"""The options of screening: every one is judged while it is built, in the words of its field."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

import ringfence as rf
from ringfence.errors import ConfigError
from ringfence.policy.history import Past
from ringfence.policy.screening import FIELDS, Detector, Screening, parse
from ringfence.policy.sequences import IDS


def never(name: str, args: Mapping[str, Any], history: Sequence[Past]) -> bool:
    return False


async def later(name: str, args: object, history: object) -> bool:
    return False


def refused(build: Any) -> tuple[str, str | None]:
    with pytest.raises(ConfigError) as caught:
        build()
    assert caught.value.code == "bad_config"
    return caught.value.message, caught.value.hint


def test_the_defaults_are_those_of_the_second_seed() -> None:
    made = Screening()
    assert {name: getattr(made, name) for name in FIELDS} == {
        "enabled": True,
        "validate_operation_names": True,
        "allowed_operation_pattern": None,
        "blocked_operation_patterns": (),
        "max_operations_per_second": None,
        "block_suspicious_sequences": True,
        "rapid_enumeration_threshold": 30,
        "rapid_enumeration_overrides": {},
        "suspicious_patterns": (),
        "actions": {},
    }


def test_it_is_public() -> None:
    assert (rf.Screening, rf.Detector) == (Screening, Detector)


def test_what_is_given_is_copied_and_frozen() -> None:
    actions: dict[str, Any] = {"EXFIL_LIST_SEND": "log"}
    blocked = ["a"]
    made: Any = Screening(actions=actions, blocked_operation_patterns=blocked)
    actions["BULK_OPERATION"] = "off"
    blocked.append("b")
    assert (made.actions, made.blocked_operation_patterns) == ({"EXFIL_LIST_SEND": "log"}, ("a",))
    with pytest.raises(TypeError):
        made.actions["rate"] = "off"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("enabled", 1, "enabled must be True or False, not 1"),
        ("validate_operation_names", "no", "validate_operation_names must be True or False, not 'no'"),
        ("block_suspicious_sequences", None, "block_suspicious_sequences must be True or False, not None"),
        ("max_operations_per_second", 0, "max_operations_per_second must be a whole number of at least 1, not 0"),
        ("max_operations_per_second", True, "max_operations_per_second must be a whole number of at least 1, not True"),
        ("max_operations_per_second", 1.5, "max_operations_per_second must be a whole number of at least 1, not 1.5"),
        ("rapid_enumeration_threshold", -1, "rapid_enumeration_threshold must be a whole number of at least 0, not -1"),
        ("rapid_enumeration_overrides", [], "rapid_enumeration_overrides must be a mapping of tool name to a number, not list"),
        ("rapid_enumeration_overrides", {"a b": 1}, "rapid_enumeration_overrides: 'a b' is no tool name"),
        ("rapid_enumeration_overrides", {"a": "1"}, "rapid_enumeration_overrides['a'] must be a whole number of at least 0, not '1'"),
        ("max_operations_per_second", 10**30, f"max_operations_per_second must be at most 1000000, not {10**30}"),
        ("rapid_enumeration_threshold", 10**6 + 1, "rapid_enumeration_threshold must be at most 1000000, not 1000001"),
        ("rapid_enumeration_overrides", {"a": 10**30}, f"rapid_enumeration_overrides['a'] must be at most 1000000, not {10**30}"),
        ("blocked_operation_patterns", "a", "blocked_operation_patterns must be a list, not str"),
        ("suspicious_patterns", never, "suspicious_patterns must be a list, not function"),
        ("suspicious_patterns", [never], "suspicious_patterns[0] must be an rf.Detector, not function"),
        ("actions", "log", "actions must be a mapping of pattern id to action, not str"),
        ("actions", {"rate": "never"}, "actions['rate'] must be one of refuse, ask, log, off, not 'never'"),
        ("actions", {"rate": None}, "actions['rate'] must be one of refuse, ask, log, off, not None"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_by_its_field(field: str, value: object, message: str) -> None:
    assert refused(functools.partial(Screening, **{field: value}))[0] == message


def test_who_wants_no_limit_hears_how_to_have_none() -> None:
    assert refused(lambda: Screening(max_operations_per_second=10**30))[1] == (
        "for no limit at all write actions={'rate': 'off'}"
    )
    message, _ = refused(lambda: Screening(max_operations_per_second=10**5000))
    assert message == "max_operations_per_second must be at most 1000000, not an int of that size"
    assert Screening(max_operations_per_second=10**6, rapid_enumeration_threshold=10**6)


def test_a_misspelt_pattern_is_answered_with_the_right_one() -> None:
    message, hint = refused(lambda: Screening(actions={"EXFIL_LIST": "log"}))
    assert (message, hint) == ("actions: there is no pattern 'EXFIL_LIST'", "did you mean 'EXFIL_LIST_SEND'?")


def test_a_pattern_that_is_like_none_is_answered_with_all() -> None:
    assert refused(lambda: Screening(actions={"zzz": "log"}))[1] == f"there are {', '.join(IDS)}, names, rate"


def test_actions_may_name_the_hosts_own_detectors() -> None:
    made = Screening(suspicious_patterns=[Detector("MINE", "mine", never)], actions={"MINE": "ask"})
    assert made.actions == {"MINE": "ask"}


def test_detectors_have_different_ids() -> None:
    message, _ = refused(lambda: Screening(suspicious_patterns=[Detector("A", "a", never), Detector("A", "b", never)]))
    assert message == "suspicious_patterns[1]: the id 'A' is taken"


def test_a_host_has_so_many_detectors_at_most() -> None:
    message, _ = refused(lambda: Screening(suspicious_patterns=[Detector(f"A{n}", "a", never) for n in range(101)]))
    assert message == "suspicious_patterns has 101 detectors, more than 100"


# detectors


@pytest.mark.parametrize("given", ["", "1a", "a b", "a" * 65, "é", 3, None])
def test_a_detector_has_an_id_that_events_can_carry(given: Any) -> None:
    assert refused(lambda: Detector(given, "text", never))[0].startswith("Detector id must be letters")


@pytest.mark.parametrize("given", [*IDS, "names", "rate"])
def test_a_detector_is_none_of_those_that_are_there(given: str) -> None:
    assert refused(lambda: Detector(given, "text", never))[0] == f"Detector id {given!r} is taken"


@pytest.mark.parametrize("text", ["", None, 3, "a\nb", "a" * 201, "a\u202eb"])
def test_a_detector_says_in_one_line_what_it_sees(text: Any) -> None:
    assert refused(lambda: Detector("A", text, never))[0].startswith("Detector A description must be")


@pytest.mark.parametrize(
    ("detect", "message"),
    [
        (3, "Detector A detect must be a function (name, args, history), not int"),
        (later, "Detector A detect must answer at once"),
        (str.upper, "Detector A detect must take (name, args, history)"),
    ],
)
def test_a_detector_can_be_called_at_once_with_three_arguments(detect: Any, message: str) -> None:
    assert refused(lambda: Detector("A", "text", detect))[0] == message


def test_a_builtin_that_does_not_say_what_it_takes_is_believed() -> None:
    largest: Any = max
    assert Detector("A", "text", largest).detect is largest


# the option


def test_none_and_an_empty_mapping_are_the_defaults() -> None:
    assert parse(None) == parse({}) == Screening()


def test_itself_is_taken_as_it_is() -> None:
    made = Screening(enabled=False)
    assert parse(made) is made


def test_both_spellings_of_the_fields_are_understood() -> None:
    pattern = re.compile("a")
    by_seed = parse(
        {
            "enabled": True,
            "validateOperationNames": False,
            "allowedOperationPattern": pattern,
            "blockedOperationPatterns": ["b"],
            "maxOperationsPerSecond": 5,
            "blockSuspiciousSequences": False,
            "rapidEnumerationThreshold": 3,
            "rapidEnumerationOverrides": {"a": 1},
            "suspiciousPatterns": [{"id": "MINE", "description": "mine", "detect": never}],
        }
    )
    assert by_seed == Screening(
        validate_operation_names=False,
        allowed_operation_pattern=pattern,
        blocked_operation_patterns=("b",),
        max_operations_per_second=5,
        block_suspicious_sequences=False,
        rapid_enumeration_threshold=3,
        rapid_enumeration_overrides={"a": 1},
        suspicious_patterns=(Detector("MINE", "mine", never),),
    )


def test_none_is_the_default_of_every_field() -> None:
    assert parse(dict.fromkeys(FIELDS)) == Screening()


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        (False, "screening must be an rf.Screening or a mapping of its fields, not False", "to turn it off, pass {'enabled': False}"),
        ([], "screening must be an rf.Screening or a mapping of its fields, not []", "to turn it off, pass {'enabled': False}"),
        ({"maxOperationPerSecond": 1}, "screening has no field 'maxOperationPerSecond'", "did you mean max_operations_per_second?"),
        ({"zzz": 1}, "screening has no field 'zzz'", f"the fields are {', '.join(FIELDS)}"),
        ({3: 1}, "screening has no field 3", f"the fields are {', '.join(FIELDS)}"),
        ({"parentTimeoutBuffer": 5}, "screening: there is no second VM to wait for", "leave out parentTimeoutBuffer"),
        (
            {"max_operations_per_second": 1, "maxOperationsPerSecond": 2},
            "screening: max_operations_per_second is given twice",
            "keep one of the two spellings",
        ),
    ],
)  # fmt: skip
def test_other_options_are_refused(given: object, message: str, hint: str) -> None:
    assert refused(lambda: parse(given)) == (message, hint)


def test_the_message_names_the_option_that_was_used() -> None:
    assert refused(lambda: parse(3, "double_vm"))[0].startswith("double_vm must be")


def test_a_detector_in_a_mapping_has_exactly_its_three_parts() -> None:
    message, _ = refused(lambda: parse({"suspicious_patterns": [{"id": "A"}]}))
    assert message == "suspicious_patterns[0] must have exactly id, description and detect"
    message, _ = refused(lambda: parse({"suspicious_patterns": [3]}))
    assert message == "suspicious_patterns[0] must be an rf.Detector, not int"
