"""What names mean is claimed only where the script leaves no doubt."""

from __future__ import annotations

import ast

import pytest

from ringfence.enclave.check.facts import Facts, is_dunder, mangle
from ringfence.enclave.source import parse


def meaning(source: str) -> str | None:
    """What the last expression of a script stands for."""
    tree = parse(source)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    return Facts(tree).dotted(last.value)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("getattr", "getattr"),
        ("import operator as op\nop.attrgetter", "operator.attrgetter"),
        ("from operator import attrgetter as ag\nag", "operator.attrgetter"),
        ("import os.path\nos.path", "os.path"),
        ("import os\nimport os.path\nos.sep", "os.sep"),
        ("import os.path as p\np.join", "os.path.join"),
        ("g = getattr\ng", "getattr"),
        ("a = mail\nb = a\nb.list", "mail.list"),
        ("(h := mail).list\nh", "mail"),
        ("import builtins\nbuiltins.eval", "eval"),
        ("'x'.format", "str.format"),
        ("g = getattr\ng = len\ng", None),
        ("def f(json): pass\nimport json\njson.dumps", None),
        ("try:\n    import json\nexcept ImportError:\n    import simplejson as json\njson", None),
        ("a = b\nb = a\na", None),
        ("f().x", None),
    ],
)
def test_a_name_stands_for_what_it_was_bound_to_once(source: str, name: str | None) -> None:
    assert meaning(source) == name


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("'a'", "a"),
        ("'a' + 'b'", "ab"),
        ("f'a{NAME}'", "aonce"),
        ("NAME + '!'", "once!"),
        ("f'{NAME!r}'", None),
        ("NAME * 2", None),
        ("OTHER", None),
        ("1", None),
        ("'" + "x" * 9000 + "' + '" + "y" * 9000 + "'", None),
    ],
)
def test_text_is_followed_through_constants_only(expression: str, text: str | None) -> None:
    tree = parse(f"NAME = 'once'\nOTHER = 'a'\nOTHER = 'b'\n{expression}")
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    assert Facts(tree).text(last.value) == text


def loops_around(source: str, name: str) -> list[int]:
    visits = Facts(parse(source)).visits
    return [visit.place.loops for visit in visits if isinstance(visit.node, ast.Name) and visit.node.id == name]


def test_loops_are_counted_within_one_function() -> None:
    assert loops_around("x\nfor i in x:\n    x\n    while x:\n        x", "x") == [0, 0, 1, 2, 2]
    assert loops_around("[x for a in x for b in x if x]", "x").count(0) == 1
    assert loops_around("for i in y:\n    def f():\n        x", "x") == [0]
    assert loops_around("for i in y:\n    pass\nelse:\n    x", "x") == [0]


@pytest.mark.parametrize(
    ("name", "owner", "mangled"),
    [
        ("__x", "C", "_C__x"),
        ("__x", "__C", "_C__x"),
        ("__x__", "C", None),
        ("_x", "C", None),
        ("__x", None, None),
        ("__x", "__", None),
    ],
)
def test_private_names_are_mangled_as_python_does(name: str, owner: str | None, mangled: str | None) -> None:
    assert mangle(name, owner) == mangled


@pytest.mark.parametrize(
    ("name", "answer"), [("__x__", True), ("__", False), ("____", False), ("__x", False), ("x", False)]
)
def test_a_dunder_has_a_name_between_its_underscores(name: str, answer: bool) -> None:
    assert is_dunder(name) is answer


def test_a_deep_tree_is_walked_without_recursion() -> None:
    assert len(Facts(parse("x = " + "+".join(["1"] * 900))).visits) > 1800
