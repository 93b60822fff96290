"""Which tools a JavaScript script may call, as far as its text says."""

from __future__ import annotations

from typing import Any

import pytest

from ringfence.enclave.agentscript.facts import Facts
from ringfence.enclave.agentscript.reach import reach
from ringfence.enclave.agentscript.syntax import parse
from ringfence.enclave.check.known import Known
from tests.enclave.agentscript.kit import PARSER

KNOWN = Known(namespaces={"mail": {"list": "mail.list", "send": "mail.send"}, "tools": {"refund": "refund"}})
Site = tuple[str | None, int, int, dict[str, Any], tuple[str, ...]]
"""Tool, line, loops, constants, names of the rest."""


def sites(source: str) -> list[Site]:
    found = reach(Facts(parse(source, PARSER)), KNOWN)
    return [(one.tool, one.line, one.loops, one.arguments, one.dynamic) for one in found]


TABLE: list[tuple[str, list[Site]]] = [
    ("await callTool('users:list', { limit: 5 })", [("users:list", 1, 0, {"limit": 5}, ())]),
    ("await callTool(name, { a: b })", [(None, 1, 0, {}, ("a",))]),
    ("const n = 'x:y'; callTool(n, {})", [("x:y", 1, 0, {}, ())]),
    ("\nmail.list()", [("mail.list", 2, 0, {}, ())]),
    ("mail['send']({ to: 'a', body })", [("mail.send", 1, 0, {"to": "a"}, ("body",))]),
    ("mail[which]({ to: 'a' })", [(None, 1, 0, {"to": "a"}, ())]),
    ("const m = mail; m.list({})", [("mail.list", 1, 0, {}, ())]),
    (
        "const { send } = mail; send({ to: [1, -2.5, null, true, { a: `x` }] })",
        [("mail.send", 1, 0, {"to": [1, -2.5, None, True, {"a": "x"}]}, ())],
    ),
    ("const refund = tools.refund; refund({ id: 7 })", [("refund", 1, 0, {"id": 7}, ())]),
    ("for (const x of xs) for (;;) tools.refund({ id: x })", [("refund", 1, 2, {}, ("id",))]),
    ("for (const x of await mail.list()) { x }", [("mail.list", 1, 0, {}, ())]),
    ("await Promise.all(ids.map(async (id) => tools.refund({ id })))", [("refund", 1, 1, {}, ("id",))]),
    ("ids.map(tools.refund)", [("refund", 1, 0, {}, ("*",))]),
    ("helper(mail)", [(None, 1, 0, {}, ("*",))]),
    ("mail.list({ ...rest, n: 1 })", [("mail.list", 1, 0, {"n": 1}, ("*",))]),
    ("mail.list(args)", [("mail.list", 1, 0, {}, ("*",))]),
    ("mail.list({ big: 10n, [k]: 1 })", [("mail.list", 1, 0, {}, ("big", "*"))]),
    ("mail.drop({})", [("mail.drop", 1, 0, {}, ())]),
    ("const mail = { list() {} }; mail.list()", []),
    ("console.log('mail.list')", []),
    ("typeof tools", []),
]


@pytest.mark.parametrize(("source", "expected"), TABLE)
def test_places_are_found_with_what_is_known_of_them(source: str, expected: list[Site]) -> None:
    assert sites(source) == expected


def test_places_are_in_source_order_and_bounded() -> None:
    found = sites("mail.list();\n" * 300)
    assert [site[1] for site in found] == list(range(1, 201))


def test_long_constants_count_as_made_at_run_time() -> None:
    assert sites(f"mail.send({{ body: '{'x' * 3000}', to: 'a' }})") == [("mail.send", 1, 0, {"to": "a"}, ("body",))]
