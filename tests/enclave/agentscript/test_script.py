"""The check of one JavaScript source: what refuses it at which level, what is only said about it; nothing ever runs."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringfence.enclave.agentscript.script import Script, admit, report
from ringfence.enclave.check.findings import MAX_FINDINGS, Found
from ringfence.enclave.rules import RULED
from tests.enclave.agentscript.kit import KNOWN, PARSER
from tests.enclave.agentscript.test_constructs import ENDLESS, STRICT_ONLY, STRICT_SCRIPTS
from tests.enclave.agentscript.test_folding import BEFORE, CONSTRUCTOR
from tests.enclave.agentscript.test_promises import AWAITED, DATA, DROPPED
from tests.enclave.agentscript.test_sizes import HUGE, TIGHT

LEVELS: Final = [*RULED, "off"]


def silent(_: Script) -> None:
    """An engine that has nothing to say."""


def refused(source: str, level: str) -> list[str]:
    found = admit(source, level, KNOWN, PARSER)
    return [one.code for one in found] if isinstance(found, list) else []


def told(source: str, level: str) -> list[tuple[str, str]]:
    found = report(source, level, KNOWN, PARSER, silent).findings
    return [(one.code, one.severity) for one in found]


# what each level says: E error, w warning, - nothing
MATRIX = [
    ("const { a, b: [c], ...d } = inputs; return [...c, a, d]", "", "----"),
    ("let x = inputs.x ?? 1; x ||= 2; if (x) x--; else x = x ? 1 : 2; return (x, x)", "", "----"),
    ("a: for (const b of []) { if (b) continue a; else break a }", "", "----"),
    ("try { throw { message: 'x' } } catch (e) { return e.message } finally { console.log(1) }", "", "----"),
    ("delete inputs.x; debugger", "", "----"),
    ("const t = (parts, ...values) => parts.length + values.length; return t`a${1}b`", "", "----"),
    ("const f = async (n) => { await null; return n }; return await f(1)", "", "----"),
    ("class Data { x = 1; static y = [] } return new Data().x", "", "----"),
    ("return [1, 2].map((n) => n * 2).filter(Boolean)", "UNKNOWN_GLOBAL", "E---"),
    ("throw new Error('x')", "DISALLOWED_IDENTIFIER", "E---"),
    ("return new Map([[1, 2]]).size", "DISALLOWED_IDENTIFIER", "E---"),
    ("return await Promise.all([])", "DISALLOWED_IDENTIFIER", "E---"),
    ("return inputs.module", "DISALLOWED_IDENTIFIER", "E---"),
    ("return process.env", "DISALLOWED_IDENTIFIER", "EEww"),
    ("return new Proxy({}, {})", "DISALLOWED_IDENTIFIER", "EE--"),
    ("return inputs.prototype", "DISALLOWED_IDENTIFIER", "EEww"),
    ("return setTimeout(() => 1, 1)", "UNKNOWN_GLOBAL", "-Ew-"),
    ("return setTimeout(() => 1, 1)", "DISALLOWED_IDENTIFIER", "E---"),
    ("return missing", "UNKNOWN_GLOBAL", "EEw-"),
    ("return inputs.constructor", "NO_CONSTRUCTOR_ACCESS", "EEww"),
    ("const { constructor } = inputs", "NO_DANGEROUS_DESTRUCTURING", "EEww"),
    ("const { [inputs.k]: v } = inputs", "NO_COMPUTED_DESTRUCTURING", "E---"),
    ("return globalThis.x", "NO_GLOBAL_ACCESS", "EEww"),
    ("const { x } = globalThis", "NO_GLOBAL_DESTRUCTURE", "EEww"),
    ("class A { x = 1; y = this.x }", "NO_GLOBAL_ACCESS", "E---"),
    ("return eval('1')", "NO_EVAL", "EEww"),
    ("return Reflect.ownKeys({})", "NO_REFLECT_API", "EEww"),
    ("return Object.defineProperty({}, 'a', {})", "NO_META_PROGRAMMING", "EEww"),
    ("return Object.create(null)", "NO_META_PROGRAMMING", "E---"),
    ("const __ag_x = 1", "RESERVED_PREFIX", "EEww"),
    ("const mail = 1", "REBOUND_NAME", "EEw-"),
    ("return (mail) => mail", "SHADOWED_NAME", "Ew--"),
    ("return await callTool(inputs.name)", "DYNAMIC_CALL_TARGET", "EEw-"),
    ("const n = 'a'; return await callTool(n)", "DYNAMIC_CALL_TARGET", "EE--"),
    ("return await callTool()", "MISSING_CALL_TARGET", "EEww"),
    ("return await mail.drop()", "UNKNOWN_TOOL_NAME", "Ewww"),
    ("return JSON.stringify({}, (k, v) => v)", "JSON_CALLBACK_NOT_ALLOWED", "E---"),
    ("return /a/.test('a')", "NO_REGEX_LITERAL", "E---"),
    ("return 'a'.match(inputs.x)", "REGEX_METHOD_DYNAMIC", "w---"),
    ("return /(a+)+/.test('a')", "CATASTROPHIC_REGEX", "EEw-"),
    ("let n = 3; while (n) n--", "FORBIDDEN_LOOP", "E---"),
    ("for (;;) {}", "INFINITE_LOOP", "EEww"),
    ("for (;;) break", "INFINITE_LOOP", "E---"),
    ("return 'x'.repeat(200000)", "RESOURCE_EXHAUSTION", "EE--"),
    ("return 'x'.repeat(1e9)", "RESOURCE_EXHAUSTION", "EEww"),
    ("return 1; inputs", "UNREACHABLE_CODE", "wwww"),
    ("function f() {}", "NO_USER_FUNCTION_DECLARATION", "E---"),
    ("return mail.list().x", "UNAWAITED_CALL", "EEEE"),
    ("mail.list(); return 1", "FLOATING_CALL", "wwww"),
    ("import 'a'", "FORBIDDEN_IMPORT", "EEEE"),
    ("return await import('a')", "FORBIDDEN_IMPORT", "EEEE"),
    ("with (inputs) {}", "NO_WITH", "EEEE"),
    ("const x = (", "SYNTAX", "EEEE"),
    ("const x\u200b = 1", "INVISIBLE_CHARACTER", "EEEE"),
    ("return 1 // \u202e", "BIDI_CONTROL", "EEEE"),
    ("const \u0441allTool = 1", "CONFUSABLE_NAME", "EEww"),
    ("return 1\0", "NULL_BYTE", "EEEE"),
    ("return " + "(" * 160 + ")" * 160, "TOO_DEEP", "EEEE"),
    ("x = " + "1;\n" * 100_001, "TOO_MANY_LINES", "EEEE"),
    ("return '" + "x" * 102_390 + "\\\nx'", "SOURCE_TOO_LARGE", "E---"),
    ("return '" + "x" * 9_000 + "'", "LINE_TOO_LONG", "E---"),
    ("return - - - - - - 1", "OPERATOR_SPAM", "E---"),
    ("return <b>hi</b>", "SYNTAX", "EEEE"),
    ("using x = inputs", "UNSUPPORTED_SYNTAX", "EEww"),
]
_LETTER: Final = {"E": "error", "w": "warning"}


@pytest.mark.parametrize(("source", "code", "letters"), MATRIX)
def test_each_level_says_what_the_table_says(source: str, code: str, letters: str) -> None:
    for level, letter in zip(RULED, letters, strict=True):
        expected = {(code, _LETTER[letter])} if letter != "-" else set[tuple[str, str]]()
        about = {one for one in told(source, level) if not code or one[0] == code}
        assert about == expected, level


@pytest.mark.parametrize(("source", "code", "letters"), MATRIX)
def test_a_run_is_refused_by_the_errors_of_the_report(source: str, code: str, letters: str) -> None:
    for level in RULED:
        errors = sorted(code for code, severity in told(source, level) if severity == "error")
        assert sorted(refused(source, level)) == errors


@pytest.mark.parametrize("source", [*DATA, *DROPPED, *AWAITED, *ENDLESS, *HUGE, *TIGHT])
def test_and_by_nothing_else(source: str) -> None:
    for level in RULED:
        errors = sorted(code for code, severity in told(source, level) if severity == "error")
        assert sorted(refused(source, level)) == errors


def test_off_refuses_only_what_is_not_javascript() -> None:
    assert refused("eval('1'); mail.list().x", "off") == []
    assert told("eval('1'); mail.list().x", "off") == []
    assert refused("const x = (", "off") == ["SYNTAX"]


def test_what_the_engine_says_is_told_beside_the_rest() -> None:
    said = Found(code="SYNTAX", line=2, column=1, message="redeclared", fix="rename it")
    found = report("const x = 1;\nlet x = missing;", "STANDARD", KNOWN, PARSER, lambda _: said).findings
    assert [(one.code, one.line, one.severity) for one in found] == [
        ("SYNTAX", 2, "error"),
        ("UNKNOWN_GLOBAL", 2, "warning"),
    ]


def test_findings_are_bounded_ordered_and_errors_come_through() -> None:
    source = "\n".join([f"let x{n} = missing{n};" for n in range(50)] + ["mail.list().x"])
    found = report(source, "STANDARD", KNOWN, PARSER, silent).findings
    assert len(found) == MAX_FINDINGS
    assert [one.line for one in found] == sorted(one.line for one in found)
    assert found[-1].code == "UNAWAITED_CALL"
    assert refused(source, "STANDARD") == ["UNAWAITED_CALL"]


def test_a_finding_is_whole() -> None:
    assert report("return 1 +\n  callTool('a', {})", "PERMISSIVE", KNOWN, PARSER, silent).findings == [
        Found(
            code="UNAWAITED_CALL",
            line=2,
            column=3,
            message="the promise of callTool(…) is used as if it were its result",
            fix="write: (await callTool('a', {}))",
        )
    ]


DEEP = [
    "x = " + "(" * 10_000 + "1" + ")" * 10_000,
    "x = " + "[" * 10_000 + "]" * 10_000,
    "x = " + "!" * 10_000 + "1",
    "x = " + "a ? b : " * 10_000 + "c",
    "x = " + "-" + " -" * 10_000 + "1",
    "x" + ".y" * 10_000,
    "x = 1" + " + 1" * 10_000,
    "if (x) {} " + "else if (x) {} " * 10_000,
    "{" * 10_000 + "}" * 10_000,
    "x = " + "() => " * 10_000 + "1",
    "`" + "${`" * 5_000 + "`}" * 5_000 + "`",
]


@pytest.mark.parametrize("source", DEEP, ids=lambda source: source[:12])
@pytest.mark.parametrize("level", LEVELS)
def test_deep_sources_are_a_finding(source: str, level: str) -> None:
    assert set(refused(source, level)) <= {"TOO_DEEP", "SOURCE_TOO_LARGE", "LINE_TOO_LONG", "OPERATOR_SPAM"}
    assert refused(source, level)
    assert refused(source, "off") == ["TOO_DEEP"]
    assert refused(source, level) == [code for code, _ in told(source, level)]


SEEDS: Final = [
    *STRICT_SCRIPTS,
    *(source for source, _ in STRICT_ONLY),
    *DATA,
    *AWAITED,
    *(f"{BEFORE}inputs[{expression}]" for expression in CONSTRUCTOR),
    *(source for source, *_ in MATRIX),
]
_PIECES: Final = (
    "( ) [ ] { } ` ${ } ' \" / \\ , ; : . ?. => = == await async function class new ... @ # é 😀 0 1n /*".split()
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.data())
def test_broken_sources_never_raise(data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(SEEDS))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(source)))
        end = data.draw(st.integers(at, min(len(source), at + 12)))
        source = source[:at] + data.draw(st.sampled_from(["", *_PIECES])) + source[end:]
    source = source[: data.draw(st.integers(0, len(source)))]
    for level in LEVELS:
        found = report(source, level, KNOWN, PARSER, silent).findings
        assert all(one.line >= 1 and one.column >= 1 and one.message and one.fix for one in found)
        assert refused(source, level) == [one.code for one in found if one.severity == "error"] or len(found) > 15


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(), max_size=60))
def test_any_text_is_answered(source: str) -> None:
    for level in LEVELS:
        told(source, level)


def test_half_a_character_is_a_finding_with_its_place() -> None:
    for level in LEVELS:
        found = admit("1;\n'\ud800'", level, KNOWN, PARSER)
        assert isinstance(found, list)
        assert [(one.code, one.line, one.column) for one in found] == [("SYNTAX", 2, 2)]
        assert report("1;\n'\ud800'", level, KNOWN, PARSER, silent).findings == found


def test_names_of_the_run_are_known() -> None:
    assert refused("return [settings, inputs, mail, tools]", "STRICT") == []
