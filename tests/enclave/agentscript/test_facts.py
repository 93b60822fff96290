"""What expressions stand for: globals, tools, the script's own functions, through aliases as far as names are set once."""

from __future__ import annotations

import pytest

from ringfence.enclave.agentscript import facts as module
from ringfence.enclave.agentscript.facts import Facts
from ringfence.enclave.agentscript.syntax import parse
from tests.enclave.agentscript.kit import PARSER, node


def facts(source: str) -> Facts:
    return Facts(parse(source, PARSER))


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("mail", "mail"),
        ("Object.create", "Object.create"),
        ("Object['cre' + 'ate']", "Object.create"),
        ("globalThis.eval", "eval"),
        ("globalThis.Object.create", "Object.create"),
        ("const m = mail; m.list", "mail.list"),
        ("const { list } = mail; list", "mail.list"),
        ("const { list: all } = mail; all", "mail.list"),
        ("(0, eval)", "eval"),
        ("let m = mail; m = 1; m.list", None),
        ("const mail = {}; mail.list", None),
        ("const { a: { b } } = mail; b", None),
        ("const { [k]: b } = mail; b", None),
        ("f().list", None),
        ("mail[k]", None),
    ],
)
def test_an_expression_stands_for_a_dotted_name(source: str, name: str | None) -> None:
    made = facts(source)
    assert made.dotted(made.tree.root.children[-1].children[0]) == name


@pytest.mark.parametrize(
    ("source", "tool"),
    [
        ("callTool('a')", "callTool"),
        ("mail.list()", "mail.list"),
        ("const c = callTool; c('a')", "callTool"),
        ("mail.list.x()", None),
        ("mail()", None),
        ("other.list()", None),
        ("mail.list", None),
    ],
)
def test_a_call_of_a_tool(source: str, tool: str | None) -> None:
    made = facts(source)
    assert made.tool(made.tree.root.children[-1].children[0], {"mail"}) == tool


@pytest.mark.parametrize(
    ("source", "own"),
    [
        ("async function f() {} f()", True),
        ("const f = async () => 1; f()", True),
        ("const f = () => 1; f()", False),
        ("async function* f() {} f()", False),
        ("f()", False),
        ("f", False),
    ],
)
def test_a_call_of_the_scripts_own_asynchronous_function(source: str, own: bool) -> None:
    made = facts(source)
    assert made.own_async(made.tree.root.children[-1].children[0]) is own


@pytest.mark.parametrize(
    ("source", "own"),
    [
        ("this", False),
        ("() => this", False),
        ("function f() { this }", True),
        ("function f() { () => this }", True),
        ("class A { m() { this } }", True),
        ("class A { x = this }", True),
        ("class A { static { this } }", True),
        ("({ m() { this } })", True),
        ("({ m: () => this })", False),
    ],
)
def test_whether_this_is_the_scripts_own(source: str, own: bool) -> None:
    assert module.has_own_this(node(source, "this")) is own


def test_keys_and_the_function_around() -> None:
    assert module.key_text(node("({ 'a b': 1 })", "string")) == "a b"
    assert module.key_text(node("({ ['a' + 'b']: 1 })", "computed_property_name")) == "ab"
    assert module.key_text(node("({ [a]: 1 })", "computed_property_name")) is None
    assert module.function_around(node("x", "identifier")) is None
    inside = module.function_around(node("() => { 1 }", "number"))
    assert inside is not None
    assert inside.kind == "arrow_function"
