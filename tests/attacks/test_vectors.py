"""No vector without an attack, no attack without a vector, and every name in the table is there."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.attacks.test_python_attacks import ATTACKS
from tests.attacks.vectors import BUGS, OURS, VECTORS, Row

HERE = Path(__file__).parent
ROWS: dict[object, Row] = {**VECTORS, **BUGS, **OURS}


def test_every_vector_of_the_matrix_is_in_the_table() -> None:
    assert list(VECTORS) == list(range(1, 111))


def test_every_vector_has_an_attack_or_a_reason_and_never_both() -> None:
    assert [name for name, row in ROWS.items() if bool(row.cases or row.tests) == bool(row.reason)] == []


def test_every_attack_has_a_vector() -> None:
    named = {number for row in ROWS.values() for number in row.cases.split()}
    assert named == {case.name[4:7] for case in ATTACKS}


def test_every_test_of_the_table_exists() -> None:
    named = {test for row in ROWS.values() for test in row.tests}
    found = {
        f"{path.name}::{node.name}"
        for path in HERE.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert named - found == set()
