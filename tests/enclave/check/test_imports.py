"""Which modules a level has."""

from __future__ import annotations

import pytest

from ringfence.enclave.check.vocabulary import ALL_MODULES, SECURE_MODULES, STRICT_MODULES
from tests.enclave.check.kit import codes

ALLOW_LIST = (
    "json re datetime zoneinfo math decimal fractions collections itertools functools operator statistics random string "
    "textwrap dataclasses enum typing abc contextlib copy asyncio csv io hashlib hmac base64 urllib.parse uuid heapq "
    "bisect time html unicodedata"
).split()


def test_each_level_has_the_modules_of_the_one_above_it() -> None:
    assert STRICT_MODULES < SECURE_MODULES < ALL_MODULES
    assert set(ALLOW_LIST) <= SECURE_MODULES


@pytest.mark.parametrize("name", [*ALLOW_LIST, "collections.abc", "xml.etree.ElementTree", "json.decoder", "urllib"])
def test_secure_imports_its_modules_and_their_parts(name: str) -> None:
    assert codes(f"import {name}") == []
    assert codes(f"import {name} as x") == []


@pytest.mark.parametrize(
    "source",
    [
        "import os",
        "import sys",
        "import subprocess",
        "from os import path",
        "import urllib.request",
        "from urllib import request",
        "import socket",
        "import ctypes",
        "import pickle",
        "import gc",
        "import inspect",
        "from . import x",
        "from .x import y",
        "import js",
    ],
)
def test_secure_refuses_the_rest(source: str) -> None:
    assert codes(source) == ["FORBIDDEN_IMPORT"]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import typing\nif typing.TYPE_CHECKING:\n    import os, requests\n    from x.y import z", []),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import requests", []),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    pass\nelse:\n    import requests", ["FORBIDDEN_IMPORT"]),
        ("TYPE_CHECKING = True\nif TYPE_CHECKING:\n    import requests", ["FORBIDDEN_IMPORT"]),
        ("from typing import TYPE_CHECKING\nTYPE_CHECKING = True\nif TYPE_CHECKING:\n    import requests", ["FORBIDDEN_IMPORT"]),
        ("import typing\ntyping.TYPE_CHECKING = True\nif typing.TYPE_CHECKING:\n    import requests", ["MODULE_CHANGED"]),
    ],
)  # fmt: skip
def test_what_is_imported_for_type_checkers_only_is_not_imported(source: str, found: list[str]) -> None:
    assert codes(source) == found


def test_from_a_package_above_a_listed_module_only_that_one_comes() -> None:
    assert codes("from urllib import parse") == []
    assert codes("from collections import abc, OrderedDict") == []
    assert codes("import numpy.linalg, numpy as np") == []


def test_strict_has_neither_patterns_nor_clocks() -> None:
    assert codes("import json, re, time, operator", "STRICT") == ["FORBIDDEN_IMPORT"] * 2


def test_standard_says_which_modules_are_not_there() -> None:
    assert codes("import os, sys, re", "STANDARD") == []
    assert codes("import requests", "STANDARD") == ["FORBIDDEN_IMPORT"]
    assert codes("import importlib", "STANDARD") == ["DYNAMIC_CODE"]


def test_what_is_there_without_an_import_is_said_to_be() -> None:
    assert codes("import tools", "STANDARD") == ["FORBIDDEN_IMPORT", "REBOUND_NAME"]
