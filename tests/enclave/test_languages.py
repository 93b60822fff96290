"""What the host says that a language takes is what its engine has."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest

import ringfence as rf
from ringfence.enclave.languages import JAVASCRIPT, PYTHON
from tests.enclave.kit import Stage

QUICKJS: Any = importlib.import_module("_quickjs")
ABSENT = "Atomics FinalizationRegistry SharedArrayBuffer WeakRef".split()
"""What the engine has and `world.js` takes away."""


def engine_names() -> set[str]:
    context: Any = QUICKJS.Context()
    return set(json.loads(context.eval("JSON.stringify(Object.getOwnPropertyNames(globalThis))")))


def test_every_global_of_the_engine_is_a_name_that_javascript_scripts_have() -> None:
    assert engine_names() - JAVASCRIPT.builtins - JAVASCRIPT.keywords == set(ABSENT)


@pytest.mark.parametrize("name", sorted(JAVASCRIPT.keywords - {"Infinity", "NaN", "undefined"}))
def test_a_reserved_word_is_none_that_a_script_could_declare(name: str) -> None:
    context: Any = QUICKJS.Context()
    with pytest.raises(QUICKJS.JSException):
        context.eval(f"(async () => {{ 'use strict'; let {name} = 1; }})")


def test_what_a_javascript_script_finds_is_taken(stage: Stage) -> None:
    source = "return Object.getOwnPropertyNames(globalThis)"
    found = set(stage.script(source, language="javascript", validate=False).value)
    assert found - JAVASCRIPT.builtins - JAVASCRIPT.guest - JAVASCRIPT.keywords == set()


def test_python_gives_keywords_an_underscore_and_javascript_does_not() -> None:
    assert (PYTHON.method("del"), JAVASCRIPT.method("delete")) == ("del_", "delete")


@pytest.mark.parametrize(
    ("name", "python", "javascript"),
    [
        ("del", False, True),
        ("delete", True, False),
        ("$total", False, True),
        ("a-b", False, False),
        ("naïve", True, True),
    ],
)
def test_names_are_those_of_the_language(name: str, python: bool, javascript: bool) -> None:
    assert (PYTHON.is_name(name), JAVASCRIPT.is_name(name)) == (python, javascript)


@pytest.mark.parametrize(
    ("namespaces", "reason"),
    [
        ({"delete": ["x"]}, "namespace 'delete' is a reserved word of JavaScript"),
        ({"console": ["x"]}, "namespace 'console' would hide a name that every script has"),
        ({"Math": ["x"]}, "namespace 'Math' would hide a name that every script has"),
        ({"window": ["x"]}, "namespace 'window' would hide a name that every script has"),
        ({"process": ["x"]}, "namespace 'process' is a name that scripts may not use"),
        ({"mail": ["constructor"]}, "namespace 'mail', method 'constructor' is a reserved name"),
        ({"mail": ["fetch"]}, "namespace 'mail', method 'fetch' is a member that scripts may not use"),
        ({"mail": ["a-b"]}, "namespace 'mail', method 'a-b' is not an identifier"),
        ({"__mail": ["a"]}, "namespace '__mail' is a reserved name"),
        ({"mail": ["list", "list"]}, "namespace 'mail', method 'list' is listed twice"),
        ({"mail": ["$send"]}, "namespace 'mail', method '$send' leads to the tool name 'mail.$send', which not"),
        (
            {"$db": ["q"]},
            "namespace '$db', method 'q' leads to the tool name '$db.q', which not every adapter can carry",
        ),
        ({"mail": []}, "namespace 'mail' has no methods"),
    ],
)
def test_a_namespace_that_javascript_cannot_have_is_refused(namespaces: dict[str, list[str]], reason: str) -> None:
    with pytest.raises(rf.ConfigError) as caught:
        rf.Enclave(language="javascript", tool_namespaces=namespaces)
    assert caught.value.message.startswith(f"Invalid toolNamespaces: {reason}")


def test_reserved_words_are_methods_in_javascript() -> None:
    given = {"mail": ["delete", "new", "search"], "$db": {"q": "db.query"}}
    config = rf.Enclave(language="javascript", tool_namespaces=given).effective_config()
    assert {name: dict(methods) for name, methods in config.tool_namespaces.items()} == {
        "mail": {"delete": "mail.delete", "new": "mail.new", "search": "mail.search"},
        "$db": {"q": "db.query"},
    }


@pytest.mark.parametrize("name", ["console", "callTool", "delete", "constructor", "__x", "a b"])
def test_a_global_that_javascript_cannot_have_is_refused(name: str) -> None:
    with pytest.raises(rf.ConfigError) as caught:
        rf.Enclave(language="javascript", globals={name: 1})
    assert caught.value.code == "bad_name"


def test_session_variables_are_names_of_the_language(stage: Stage) -> None:
    notes: dict[str, Any] = {"$total": 1, "del": 2}
    result = stage.run(
        stage.enclave(language="javascript").run("$total += del; const parts = [1, 2];", variables=notes)
    )
    assert (result.error, notes) == (None, {"$total": 3, "del": 2, "parts": [1, 2]})
