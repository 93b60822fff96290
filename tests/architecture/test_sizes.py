"""A file is read in one sitting and a function on one screen."""

from __future__ import annotations

import ast

from tests.architecture.source import modules, report

FILE = 500
FUNCTION = 60


def test_no_file_is_longer_than_one_sitting() -> None:
    problems = [
        f"{module.at(count)}: {count} lines, more than {FILE}; fix: split it by what changes together"
        for module in modules()
        if (count := module.text.count("\n")) > FILE
    ]
    assert not problems, report(problems)


def test_no_function_is_longer_than_a_screen() -> None:
    problems = [
        f"{module.at(node)}: {node.name} has {length} lines, more than {FUNCTION}; fix: name its parts"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (length := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION
    ]
    assert not problems, report(problems)


def test_every_module_says_what_it_is_for() -> None:
    problems = [
        f"{module.at(1)}: no docstring; fix: say what it does, what it does not know, and who calls it"
        for module in modules()
        if not ast.get_docstring(module.tree)
    ]
    assert not problems, report(problems)
