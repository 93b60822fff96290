"""Keys that constants make are found however they are put together; what is not known is never claimed."""

from __future__ import annotations

import pytest

from ringfence.enclave.agentscript import folding
from tests.enclave.agentscript.kit import tree

BEFORE = (
    "const k = 'constructor'; const f = () => k; const o = { k, m() { return k } }; let twice = 'constructor'; "
    "twice = 'x';\n"
)

CONSTRUCTOR = r"""
'con' + 'structor'
'c'+'o'+'n'+'s'+'t'+'r'+'u'+'c'+'t'+'o'+'r'
`con${'struct'}or`
`con${`struct${'or'}`}`
['con', 'structor'].join('')
['con', ...['structor']].join('')
'rotcurtsnoc'.split('').reverse().join('')
[...'rotcurtsnoc'].reverse().join('')
String.fromCharCode(99, 111, 110, 115, 116, 114, 117, 99, 116, 111, 114)
String.fromCodePoint(...[99, 111, 110, 115, 116, 114, 117, 99, 116, 111, 114])
String.fromCharCode.apply(null, [99, 111, 110, 115, 116, 114, 117, 99, 116, 111, 114])
[99, 111, 110, 115, 116, 114, 117, 99, 116, 111, 114].map((c) => String.fromCharCode(c)).join('')
[99, 111, 110, 115, 116, 114, 117, 99, 116, 111, 114].map(String.fromCharCode).join('')
a ? 'constructor' : b
(1, 'constructor')
q || 'constructor'
q ?? 'constructor'
q && 'constructor'
(z = 'constructor')
['constructor']
[['constructor']]
({ toString() { return 'constructor' } })
({ toString: () => 'constructor' })
({ toString: function () { return 'constructor' } })
({ [Symbol.toPrimitive]: () => 'constructor' })
({ get toString() { return () => 'constructor' } })
({ valueOf() { return 'constructor' } })
'\x63\u{6f}n\u0073tructor'
'xconstructor'.slice(1)
'constructorx'.substring(0, 11)
'constructorx'.substr(0, 11)
atob('Y29uc3RydWN0b3I=')
decodeURIComponent('%63onstructor')
k
twice
f()
(() => 'constructor')()
(() => { return 'constructor' })()
o.k
o.m()
o['k']
['a', 'constructor'][1]
'CONSTRUCTOR'.toLowerCase()
' constructor '.trim()
String.raw`constructor`
''.concat('con', 'structor')
'con'['concat']('structor')
Object.keys({ constructor: 1 })[0]
Object.keys({ constructor: 1 }).pop()
'cXnstructor'.replace('X', 'o')
'cXnstructXr'.replaceAll('X', 'o')
'con'.padEnd ? 'constructor' : ''
String('constructor')
['c', 'onstructor'].concat([]).join('')
""".strip().split("\n")


def texts(expression: str) -> tuple[list[str], bool]:
    statement = tree(f"{BEFORE}({expression});").root.children[-1]
    return folding.texts(statement.children[0])


@pytest.mark.parametrize("expression", CONSTRUCTOR)
def test_a_key_that_constants_make_is_found(expression: str) -> None:
    assert "constructor" in texts(expression)[0]


@pytest.mark.parametrize(
    ("expression", "found", "whole"),
    [
        ("'a'", ["a"], True),
        ("1 + 2", ["3"], True),
        ("'a' + 1", ["a1"], True),
        ("7 / 2", ["3.5"], True),
        ("1 / 0", [], False),
        ("true", ["true"], True),
        ("null + 'x'", ["nullx"], True),
        ("[1, [2, null], undefined]", ["1,2,,"], True),
        ("a ? 'x' : 'y'", ["x", "y"], True),
        ("(a ? 'x' : 'y') + (b ? '1' : '2')", ["x1", "x2", "y1", "y2"], True),
        ("a ? 'x' : b", ["x"], False),
        ("'x' + unknown", [], False),
        ("`x${unknown}`", [], False),
        ("unknown()", [], False),
        ("unknown.join('')", [], False),
        ("twice", ["constructor"], False),
        ("'abc'.at(-1)", ["c"], True),
        ("'abc'[5]", [], False),
        ("(28).toString(36)", ["s"], True),
        ("-1", ["-1"], True),
        ("void 0", ["undefined"], True),
        ("({})", [], False),
        ("/x/", [], False),
    ],
)
def test_what_an_expression_may_be_and_whether_that_is_all(expression: str, found: list[str], whole: bool) -> None:
    assert texts(expression) == (found, whole)


@pytest.mark.parametrize(
    "expression",
    [
        "'" + "a" * 9000 + "'.replaceAll('a', '" + "b" * 900 + "')",
        "'a'.repeat(1e9)",
        "'a'.repeat(9999).split('').join('" + "b" * 5000 + "')",
        " + ".join(["(a ? 'x' : 'y')"] * 40),
        "`" + "${a ? 'x' : 'y'}" * 60 + "`",
        "[" + "a ? 1 : 2, " * 60 + "]",
        "String.fromCharCode(" + "a ? 1 : 2, " * 40 + ")",
    ],
)
def test_the_work_for_one_expression_is_bounded(expression: str) -> None:
    found, whole = texts(expression)
    assert all(len(one) <= 10_000 for one in found)
    assert len(found) <= 8
    assert not whole


def test_names_that_go_round_in_circles_end() -> None:
    statement = tree("const a = () => b(); const b = () => a(); const c = c; a() + c").root.children[-1]
    assert folding.texts(statement.children[0]) == ([], False)


def test_the_one_text_and_the_one_value() -> None:
    made = tree("('a' + 'b')").root.children[0].children[0]
    assert folding.text(made) == "ab"
    assert folding.text(None) is None
    assert folding.value(tree("(2 * 3)").root.children[0].children[0]) == 6
    assert folding.value(None) is folding.UNDEFINED
