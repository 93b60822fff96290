"""What a guest is told about its run: data with tags, namespaces that lead somewhere, clock and seed."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

import ringfence as rf
from ringfence.enclave import globals as globals_
from ringfence.enclave.options import EnclaveOptions, parse
from ringfence.enclave.protocol import RunRequest
from ringfence.enclave.requests import Given, namespaces_of, refusal, request
from ringfence.limits import MIB, RunLimits

NOW = 1_700_000_000_000_000_000
CHANCE = "0123456789abcdef" * 3


def made(options: EnclaveOptions | None = None, **given: Any) -> RunRequest:
    return request(
        Given(source=given.get("source", "1"), inputs=given.get("inputs"), variables=given.get("variables")),
        parse(options or {}),
        namespaces={"mail": {"list": "mail.list"}},
        effects={"mail.list": "read"},
        globals_=globals_.parse({"context": {"a": 1}}, allow_functions=False),
        now=NOW,
        chance=CHANCE,
    )


def test_a_request_says_everything() -> None:
    assert made(inputs={"on": date(2026, 1, 2), "n": (1, 2)}) == RunRequest(
        run_id="r_0123456789abcdef",
        source="1",
        inputs=b'{"on":"2026-01-02","n":[1,2]}',
        inputs_tags={"date": [["on"]]},
        namespaces={"mail": {"list": "mail.list"}},
        effects={"mail.list": "read"},
        clock=NOW,
        seed="0123456789abcdef0123456789abcdef",
        rules="STANDARD",
        globals=b'{"context":{"k":"data","v":{"a":1},"tags":null}}',
        max_iterations=10_000,
        counted="bounded",
        traces=True,
        memory=256 * MIB,
        max_output=MIB,
        taken=frozenset({"call_tool", "inputs", "ToolError", "GlobalFunctionError", "mail", "context"}),
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"security_level": "STRICT"}, {"rules": "STRICT", "max_iterations": 1_000, "traces": False}),
        ({"max_iterations": 7}, {"rules": "STANDARD", "max_iterations": 7, "counted": "all", "traces": True}),
        ({"validate": False}, {"rules": "off", "max_iterations": 0, "counted": "none", "traces": True}),
        ({"sanitize_stack_traces": True}, {"rules": "STANDARD", "max_iterations": 10_000, "traces": False}),
    ],
)
def test_levels_and_options_reach_the_guest(options: EnclaveOptions, said: dict[str, Any]) -> None:
    asked = made(options)
    assert {name: getattr(asked, name) for name in said} == said


def test_a_frozen_clock_and_a_seed_are_the_same_for_every_run() -> None:
    options: EnclaveOptions = {"clock": datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC), "seed": 7}
    asked = made(options)
    assert (asked.clock, asked.frozen) == (1_767_323_045_678_901_000, True)
    assert asked.seed == made(options).seed != made({"seed": "7"}).seed
    assert len(asked.seed) == 32


def test_variables_are_asked_back_only_where_they_were_given() -> None:
    assert (made().keep_variables, made(variables={}).keep_variables) == (False, True)
    asked = made(variables=OrderedDict(total=Decimal("1.50")))
    assert (asked.variables, asked.variables_tags) == (b'{"total":"1.50"}', {"decimal": [["total"]]})


@pytest.mark.parametrize("what", ["inputs", "variables"])
@pytest.mark.parametrize(
    "value", [5, [1], "text", {1: 2}, {"a": object()}, {"a": float("nan")}, {"a": "x" * 6_000_000}]
)
def test_what_is_no_data_is_refused(what: str, value: Any) -> None:
    with pytest.raises(rf.ConfigError, match=f"^{what}"):
        made(**{what: value})


@pytest.mark.parametrize("name", ["a b", "class", "_x", "__x", "", "call_tool", "inputs", "mail", "context"])
def test_a_variable_cannot_have_the_name_of_anything_else(name: str) -> None:
    with pytest.raises(rf.ConfigError, match=r"^variables: ") as refused:
        made(variables={name: 1})
    assert refused.value.code == "bad_name"


def test_a_variable_may_be_called_tools_where_a_script_has_none() -> None:
    assert made(variables={"tools": 1}).variables == b'{"tools":1}'


def test_a_source_is_text_of_bounded_length() -> None:
    limits = RunLimits(timeout=1.0, max_tool_calls=0, max_global_calls=0, max_iterations=None, source=4)
    assert [refusal(text, limits) is None for text in ("1234", "12345", "éé", "ééé", "\ud800")] == [
        True,
        False,
        True,
        False,
        False,
    ]
    with pytest.raises(rf.ConfigError, match="a script is text"):
        made(source=5)


# namespaces over governed tools


def test_with_a_handler_there_are_the_namespaces_that_were_configured() -> None:
    config = parse({"tool_namespaces": {"mail": ["list"], "users": {"get": "users:get"}}})
    assert namespaces_of(config, None) == {"mail": {"list": "mail.list"}, "users": {"get": "users:get"}}
    assert namespaces_of(parse({}), None) == {}


def test_governed_tools_are_in_tools_and_where_they_were_put() -> None:
    config = parse({"tool_namespaces": {"mail": ["list", "del"], "short": {"go": "search"}}})
    assert namespaces_of(config, ["mail_list", "mail_del", "search", "class"]) == {
        "tools": {"mail_list": "mail_list", "mail_del": "mail_del", "search": "search", "class_": "class"},
        "mail": {"list": "mail_list", "del_": "mail_del"},
        "short": {"go": "search"},
    }


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ({"mail": ["lost"]}, "did you mean 'mail_list'?"),
        ({"mail": {"list": "mail.list"}}, None),
        ({"post": ["list"]}, "the tools are"),
        ({"mail": {"go": "mail:list"}}, "mail_list"),
    ],
)
def test_a_method_that_leads_to_no_governed_tool_is_refused(given: Any, hint: str | None) -> None:
    """T41."""
    config = parse({"tool_namespaces": given})
    if hint is None:
        assert namespaces_of(config, ["mail_list"])["mail"] == {"list": "mail_list"}
        return
    with pytest.raises(rf.ConfigError, match=r"^Invalid toolNamespaces: .* does not exist") as refused:
        namespaces_of(config, ["mail_list"])
    assert (refused.value.code, hint in str(refused.value.hint)) == ("bad_name", True)
