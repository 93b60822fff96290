"""The lists of names agree with Python and with each other."""

from __future__ import annotations

import builtins
import importlib.util
import operator

import pytest

from ringfence.enclave.check import vocabulary

ABSENT = {
    "PythonFinalizationError",  # Python 3.13
    "EncodingWarning",
    "EnvironmentError",
    "IOError",
}


def test_every_builtin_is_listed_or_has_a_rule() -> None:
    there = {name for name in dir(builtins) if not name.startswith(("_", "."))}
    ruled = vocabulary.DYNAMIC_CODE | vocabulary.HOST | vocabulary.INTROSPECTION
    shell = {"copyright", "credits", "license", "True", "False", "None"}
    assert there - shell <= vocabulary.BUILTINS | ruled
    assert vocabulary.BUILTINS - ABSENT - {"exit", "quit"} <= set(dir(builtins))


def test_every_exception_is_listed() -> None:
    there = {
        name
        for name, kind in vars(builtins).items()
        if isinstance(kind, type) and issubclass(kind, BaseException) and not name.startswith("_")
    }
    assert there <= vocabulary.EXCEPTIONS


def test_no_method_is_both_ordinary_and_a_hook() -> None:
    assert not vocabulary.PROTOCOL & (vocabulary.HOOKS | {"__del__"})
    assert vocabulary.STRICT_METHODS <= vocabulary.PROTOCOL


@pytest.mark.parametrize("name", sorted(vocabulary.ALL_MODULES - {"__future__"}))
def test_every_module_exists(name: str) -> None:
    assert importlib.util.find_spec(name) is not None


def test_what_makes_getters_exists() -> None:
    assert all(hasattr(operator, name.removeprefix("operator.")) for name in vocabulary.GETTERS)
