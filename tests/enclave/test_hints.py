"""What a model is told after its script raised."""

from __future__ import annotations

import pytest

from ringfence.enclave.hints import hint_for
from ringfence.enclave.protocol import Failed


def hint(name: str, message: str) -> str | None:
    return hint_for(Failed(kind="raised", name=name, message=message), ["save", "list_orders"])


@pytest.mark.parametrize(
    ("name", "message", "expected"),
    [
        ("NameError", "name 'asyncio' is not defined", "add at the top: import asyncio"),
        ("NameError", "name 'save' is not defined", "write: await tools.save(...)"),
        ("NameError", "name 'tool' is not defined", "did you mean tools?"),
        ("NameError", "name 'list_order' is not defined", "did you mean tools.list_orders?"),
        ("NameError", "name 'x' is not defined", None),
        ("NameError", "name 'tools' is not defined", 'write: await call_tool("name", {...})'),
        (
            "TypeError",
            "object int can't be used in 'await' expression",
            "what stands after this await is a value already: remove the await",
        ),
        ("SystemExit", "3", "end with return, or raise an error that says what is wrong"),
        ("NameError", "name 'null' is not defined", "write None"),
        ("NameError", "name 'Counter' is not defined", "add at the top: from collections import Counter"),
        ("NameError", "name 'datetime' is not defined", "add at the top: from datetime import datetime"),
        ("ModuleNotFoundError", "No module named 'tools'", "tools is there without an import; remove the line"),
        ("ModuleNotFoundError", "No module named 'numpy'", "use one of the modules named, or call a tool"),
        ("AttributeError", "'dict' object has no attribute 'id'", 'results and inputs are plain dicts; write ["id"]'),
        ("TypeError", "'coroutine' object is not subscriptable", "a tool call is missing its await"),
        ("TypeError", "'NoneType' object is not subscriptable", "a value is None here: test for it first"),
        ("AttributeError", "'NoneType' object has no attribute 'x'", "a value is None here: test for it first"),
        (
            "TypeError",
            "string indices must be integers, not 'str'",
            "going through a dict gives its keys: take the list inside it, or its .values()",
        ),
        ("TypeError", "Object of type date is not JSON serializable", "write json.dumps(..., default=str)"),
        (
            "TypeError",
            "can't compare offset-naive and offset-aware datetimes",
            "give both a time zone: datetime.now(timezone.utc)",
        ),
        ("TypeError", 'can only concatenate str (not "int") to str', 'write f"...{value}" or str(value)'),
        (
            "AttributeError",
            "module 'datetime' has no attribute 'now'",
            "import the class: from datetime import datetime",
        ),
        ("PermissionError", "[Errno 1]", "scripts have no files, network or processes; call a tool instead"),
        ("ZeroDivisionError", "division by zero", None),
    ],
)
def test_a_common_mistake_has_its_fix(name: str, message: str, expected: str | None) -> None:
    assert hint(name, message) == expected
