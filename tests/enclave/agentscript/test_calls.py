"""Calls: tools by name, machinery of objects, code from text, JSON with callbacks."""

from __future__ import annotations

import pytest

from ringfence.enclave.check.findings import Found
from tests.enclave.agentscript.kit import codes, found


@pytest.mark.parametrize(
    ("source", "strict", "standard"),
    [
        ("await callTool('a', {})", [], []),
        ("await callTool(`a`, {})", [], []),
        ("await callTool(('a'))", [], []),
        ("const n = 'a'; await callTool(n)", ["DYNAMIC_CALL_TARGET"], []),
        ("await callTool('a' + 'b')", ["DYNAMIC_CALL_TARGET"], []),
        ("await callTool(`a${inputs.x}`)", ["DYNAMIC_CALL_TARGET"], ["DYNAMIC_CALL_TARGET"]),
        ("await callTool(inputs.name)", ["DYNAMIC_CALL_TARGET"], ["DYNAMIC_CALL_TARGET"]),
        ("await callTool(...inputs.x)", ["DYNAMIC_CALL_TARGET"], ["DYNAMIC_CALL_TARGET"]),
        ("const c = callTool; await c(inputs.name)", ["DYNAMIC_CALL_TARGET"], ["DYNAMIC_CALL_TARGET"]),
        ("await callTool()", ["MISSING_CALL_TARGET"], ["MISSING_CALL_TARGET"]),
        ("await mail['li' + 'st']()", [], []),
        ("await mail[inputs.x]()", ["DYNAMIC_CALL_TARGET"], ["DYNAMIC_CALL_TARGET"]),
        ("const f = (callTool) => callTool(inputs.x)", ["SHADOWED_NAME"], []),
    ],
)
def test_the_name_of_a_tool_stands_in_the_source(source: str, strict: list[str], standard: list[str]) -> None:
    assert codes(source, "STRICT") == strict
    assert codes(source, "STANDARD") == standard


@pytest.mark.parametrize(
    ("source", "fix"),
    [
        ("await mail.lst()", "did you mean mail.list?"),
        ("await mail.remove()", "mail has list, send"),
        ("await mail['lst']()", "did you mean mail.list?"),
        ("const m = mail; await m.lst()", "did you mean mail.list?"),
        ("const { lst } = mail", "did you mean mail.list?"),
        ("const { lst: l } = mail", "did you mean mail.list?"),
    ],
)
def test_a_namespace_has_its_tools_and_nothing_else(source: str, fix: str) -> None:
    assert [(one.code, one.fix, one.severity) for one in found(source, "STANDARD")] == [
        ("UNKNOWN_TOOL_NAME", fix, "warning")
    ]


@pytest.mark.parametrize("source", ["await mail.list()", "const { list } = mail", "const mail2 = {}; mail2.x"])
def test_tools_that_are_there_are_not_found(source: str) -> None:
    assert codes(source) == []


@pytest.mark.parametrize(
    "name",
    [
        "getOwnPropertyDescriptor",
        "getOwnPropertyDescriptors",
        "getPrototypeOf",
        "setPrototypeOf",
        "defineProperty",
        "defineProperties",
        "create",
    ],
)
def test_machinery_of_objects_is_found_however_it_is_reached(name: str) -> None:
    for source in (
        f"Object.{name}(inputs)",
        f"Object['{name}'](inputs)",
        f"const {{ {name} }} = Object; {name}(inputs)",
        f"const {{ {name}: f }} = Object; f(inputs)",
        f"const O = Object; O.{name}",
        f"[inputs].map(Object.{name})",
    ):
        assert codes(source, "SECURE") == ["NO_META_PROGRAMMING"]
        assert codes(source, "PERMISSIVE") == ["NO_META_PROGRAMMING"]


def test_an_object_without_a_prototype_is_data() -> None:
    assert codes("Object.create(null)", "STRICT") == ["NO_META_PROGRAMMING"]
    assert codes("Object.create(null)", "SECURE") == []
    assert codes("Object.create(null, {})", "SECURE") == ["NO_META_PROGRAMMING"]


@pytest.mark.parametrize(
    "source", ["Object.keys({})", "Object.freeze({})", "inputs.create()", "const create = 1; create"]
)
def test_other_functions_of_objects_are_ordinary(source: str) -> None:
    assert codes(source, "STRICT") == []


def test_text_as_code() -> None:
    assert "NO_EVAL" in codes("setTimeout('x()', 1)")
    assert "NO_EVAL" not in codes("setTimeout(() => 1, 1)")
    assert "NO_EVAL" in codes("globalThis.eval('1')")
    assert "NO_EVAL" in codes("globalThis['ev' + 'al']('1')")


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("JSON.stringify({}, (k, v) => v)", True),
        ("JSON.stringify({}, inputs.f)", True),
        ("const f = (k, v) => v; JSON.stringify({}, f)", True),
        ("JSON.parse('1', (k, v) => v)", True),
        ("const { parse } = JSON; parse('1', (k, v) => v)", True),
        ("JSON.stringify({}, null, 2)", False),
        ("JSON.stringify({}, undefined, 2)", False),
        ("JSON.stringify({}, ['a'])", False),
        ("const keys = ['a']; JSON.stringify({}, keys)", False),
        ("JSON.parse('1')", False),
    ],
)
def test_json_walks_values_without_a_function_at_strict(source: str, refused: bool) -> None:
    assert ("JSON_CALLBACK_NOT_ALLOWED" in codes(source, "STRICT")) is refused
    assert codes(source, "SECURE") == []


def test_a_finding_is_whole() -> None:
    assert found("const r = await mail.lst({});", "STRICT") == [
        Found(
            code="UNKNOWN_TOOL_NAME",
            line=1,
            column=17,
            message="there is no tool mail.lst",
            fix="did you mean mail.list?",
        )
    ]
