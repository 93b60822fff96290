"""Tool namespaces: what is accepted in which form, and every refusal with its reason and its fix."""

from __future__ import annotations

import builtins
import keyword
from collections import OrderedDict, UserDict, UserList
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence.enclave.languages import PYTHON
from ringfence.enclave.namespaces import PREFIX, parse
from ringfence.errors import ConfigError


class Text(str):
    __slots__ = ()


def refusal(given: object, reserved: frozenset[str] = frozenset()) -> tuple[str, str]:
    """Code and message of the refusal, which says who is at fault and how it is mended."""
    with pytest.raises(TypeError) as caught:
        parse(given, reserved=reserved)
    assert isinstance(caught.value, ConfigError)
    assert caught.value.hint
    assert str(caught.value).startswith(PREFIX)
    return caught.value.code, caught.value.message.removeprefix(PREFIX)


# what is accepted


def test_a_list_leads_to_generated_names_and_a_mapping_names_its_tools() -> None:
    assert parse({"mail": ["list", "send"], "users": {"get": "users:get"}}) == {
        "mail": {"list": "mail.list", "send": "mail.send"},
        "users": {"get": "users:get"},
    }


def test_nothing_and_an_empty_mapping_are_no_namespaces() -> None:
    assert (parse(None), parse({})) == ({}, {})


def test_tuples_and_frozen_mappings_are_plain_too_so_that_a_result_can_be_given_again() -> None:
    once = parse(MappingProxyType({"mail": ("list",)}))
    assert parse(once) == once == {"mail": {"list": "mail.list"}}


def test_configuration_order_is_kept() -> None:
    made = parse({"zoo": ["z", "a", "m"], "ant": ["b", "a"]})
    assert [(name, list(methods)) for name, methods in made.items()] == [("zoo", ["z", "a", "m"]), ("ant", ["b", "a"])]


def test_later_changes_of_the_configuration_have_no_effect() -> None:
    methods = ["list"]
    given: dict[str, Any] = {"mail": methods}
    made = parse(given)
    methods.append("send")
    given["other"] = ["x"]
    assert made == {"mail": {"list": "mail.list"}}


def test_the_result_cannot_be_changed() -> None:
    made: Any = parse({"mail": ["list"]})
    with pytest.raises(TypeError):
        made["x"] = {}
    with pytest.raises(TypeError):
        made["mail"]["x"] = "y"


@pytest.mark.parametrize(
    "method", ["search", "match", "split", "replace", "delete", "new", "test", "exec", "case", "type"]
)
def test_methods_that_only_look_special_are_ordinary(method: str) -> None:
    assert parse({"mail": [method]}) == {"mail": {method: f"mail.{method}"}}


@pytest.mark.parametrize("method", keyword.kwlist)
def test_a_keyword_as_a_method_gets_an_underscore_in_scripts_and_keeps_its_tool(method: str) -> None:
    assert parse({"mail": [method]}) == {"mail": {f"{method}_": f"mail.{method}"}}
    assert parse({"mail": {method: "x"}}) == {"mail": {f"{method}_": "x"}}


@pytest.mark.parametrize("name", ["match", "case", "_util", "json", "calendar", "async_", "type_", "Mail2"])
def test_namespaces_that_scripts_can_write_are_accepted(name: str) -> None:
    assert parse({name: {"list": "a:list"}}) == {name: {"list": "a:list"}}


@pytest.mark.parametrize("tool", ["a", "A", "a1", "users:get", "a.b-c_d:e", "x" * 256])
def test_tool_names_that_every_adapter_can_carry_are_accepted(tool: str) -> None:
    assert parse({"n": {"m": tool}}) == {"n": {"m": tool}}


# what is refused: the whole


@pytest.mark.parametrize(
    "given",
    [[], ("mail",), "mail", 0, False, "", set[str](), UserDict({"mail": ["x"]}), OrderedDict[str, Any](mail=["x"])],
)
def test_anything_but_a_plain_mapping_is_refused(given: object) -> None:
    kind = type(given).__name__
    assert refusal(given) == ("bad_name", f"expected a plain mapping of namespace to methods, not {kind}")


# the name of a namespace, in the order of the checks


@pytest.mark.parametrize("name", [1, None, True, b"mail", Text("mail"), ("a",)])
def test_a_namespace_that_is_no_plain_text_is_refused(name: object) -> None:
    kind = type(name).__name__
    assert refusal({name: ["x"]}) == ("bad_name", f"namespace {name!r} is not text but {kind}")


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a.b", "a b", "$db", "é", "ｍail", "mail\n", "\u200bmail", "a\x00"])
def test_a_namespace_that_is_no_ascii_identifier_is_refused(name: str) -> None:
    assert refusal({name: ["x"]}) == ("bad_name", f"namespace {name!r} is not an identifier")


@pytest.mark.parametrize("name", ["__a", "__class__", "__proto__", "constructor", "prototype"])
def test_a_reserved_namespace_is_refused(name: str) -> None:
    assert refusal({name: ["x"]}) == ("bad_name", f"namespace {name!r} is a reserved name")


@pytest.mark.parametrize("name", keyword.kwlist)
def test_a_keyword_as_a_namespace_is_refused(name: str) -> None:
    assert refusal({name: ["x"]}) == ("bad_name", f"namespace {name!r} is a reserved word of Python")


@pytest.mark.parametrize("name", [*sorted(PYTHON.guest), "print", "list", "type", "filter", "id", "ValueError"])
def test_a_namespace_that_would_hide_a_name_of_every_script_is_refused(name: str) -> None:
    assert refusal({name: ["x"]}) == ("bad_name", f"namespace {name!r} would hide a name that every script has")


def test_every_builtin_of_this_python_is_known() -> None:
    here = {name for name in dir(builtins) if not name.startswith("_") and not keyword.iskeyword(name)}
    assert here <= PYTHON.builtins


@pytest.mark.parametrize("name", ["os", "sys", "subprocess", "builtins", "importlib", "ctypes"])
def test_a_namespace_with_a_name_that_stands_for_the_machine_is_refused(name: str) -> None:
    assert refusal({name: ["x"]}) == ("bad_name", f"namespace {name!r} is a name that scripts may not use")


def test_a_namespace_with_the_name_of_a_global_is_refused() -> None:
    code, text = refusal({"other": ["x"], "mail": ["x"]}, frozenset({"mail"}))
    assert (code, text) == ("bad_name", "namespace 'mail' is also a name in globals")


# its methods


@pytest.mark.parametrize(
    "methods", [None, "list", 3, True, {"list"}, iter(["a"]), UserList(["a"]), OrderedDict[str, str](a="b")]
)
def test_methods_in_anything_but_a_plain_list_or_mapping_are_refused(methods: object) -> None:
    kind = "None" if methods is None else type(methods).__name__
    text = f"namespace 'mail' is neither a plain list nor a plain mapping but {kind}"
    assert refusal({"mail": methods}) == ("bad_name", text)


@pytest.mark.parametrize("methods", [[], (), {}])
def test_a_namespace_without_methods_is_refused(methods: object) -> None:
    assert refusal({"mail": methods}) == ("bad_name", "namespace 'mail' has no methods")


@pytest.mark.parametrize(
    ("method", "reason"),
    [
        (1, "is not text but int"),
        (None, "is not text but NoneType"),
        (True, "is not text but bool"),
        (Text("list"), "is not text but Text"),
        ("", "is not an identifier"),
        ("a b", "is not an identifier"),
        ("a.b", "is not an identifier"),
        ("$send", "is not an identifier"),
        ("lіst", "is not an identifier"),
        ("__call__", "is a reserved name"),
        ("__proto__", "is a reserved name"),
        ("constructor", "is a reserved name"),
        ("gi_frame", "is an attribute that scripts may not use"),
        ("f_globals", "is an attribute that scripts may not use"),
        ("mro", "is an attribute that scripts may not use"),
    ],
)
@pytest.mark.parametrize("mapped", [False, True])
def test_a_method_that_scripts_cannot_use_is_refused(method: object, reason: str, mapped: bool) -> None:
    methods: object = {method: "a"} if mapped else [method]
    assert refusal({"mail": methods}) == ("bad_name", f"namespace 'mail', method {method!r} {reason}")


def test_a_method_listed_twice_is_refused() -> None:
    assert refusal({"mail": ["list", "send", "list"]}) == (
        "duplicate_name",
        "namespace 'mail', method 'list' is listed twice",
    )


@pytest.mark.parametrize("methods", [["del", "del_"], {"del": "a", "del_": "b"}])
def test_a_keyword_and_its_own_spelling_clash(methods: object) -> None:
    assert refusal({"mail": methods}) == ("duplicate_name", "namespace 'mail', method 'del_' is listed twice")


@pytest.mark.parametrize("methods", [["del_", "del"], {"del_": "a", "del": "b"}])
def test_a_keyword_whose_spelling_is_taken_is_refused(methods: object) -> None:
    text = "namespace 'mail', method 'del' is a keyword, and its spelling 'del_' is taken"
    assert refusal({"mail": methods}) == ("duplicate_name", text)


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        ("", "needs the name of a tool, not empty text"),
        (None, "needs the name of a tool, not NoneType"),
        (0, "needs the name of a tool, not int"),
        (Text("a"), "needs the name of a tool, not Text"),
        ("x" * 257, "leads to a tool name of 257 characters, more than 256"),
        ("1a", "leads to the tool name '1a', which not every adapter can carry"),
        ("_a", "leads to the tool name '_a', which not every adapter can carry"),
        ("a/b", "leads to the tool name 'a/b', which not every adapter can carry"),
        ("a b", "leads to the tool name 'a b', which not every adapter can carry"),
        ("a\n", "leads to the tool name 'a\\n', which not every adapter can carry"),
        ("é", "leads to the tool name 'é', which not every adapter can carry"),
    ],
)
def test_a_tool_name_that_cannot_be_called_is_refused(tool: object, reason: str) -> None:
    assert refusal({"mail": {"list": tool}}) == ("bad_name", f"namespace 'mail', method 'list' {reason}")


def test_a_generated_tool_name_is_held_to_the_same_rule() -> None:
    assert refusal({"_util": ["list"]}) == (
        "bad_name",
        "namespace '_util', method 'list' leads to the tool name '_util.list', which not every adapter can carry",
    )
    long = "n" * 250
    assert refusal({long: ["methods"]})[1].endswith("leads to a tool name of 258 characters, more than 256")


def test_an_endless_name_is_not_repeated() -> None:
    assert len(refusal({"a b" * 10_000: ["x"]})[1]) < 200


@given(
    st.dictionaries(
        st.text(max_size=6) | st.sampled_from(["mail", "os", "_"]),
        st.none() | st.lists(st.text(max_size=4) | st.just("del")) | st.dictionaries(st.text(max_size=4), st.text()),
        max_size=4,
    )
)
def test_any_configuration_is_either_refused_or_usable(config: dict[str, Any]) -> None:
    try:
        made = parse(config)
    except ConfigError:
        return
    assert list(made) == list(config)
    for name, methods in made.items():
        assert name.isidentifier()
        assert all(method.isidentifier() and not keyword.iskeyword(method) for method in methods)
