"""From `MODULE[:NAME]` to tools (`cli.load`)."""

from __future__ import annotations

import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from ringfence.cli.load import argument_names, load_tools
from ringfence.errors import ConfigError

SHOP = '''
from __future__ import annotations
import ringfence as rf

@rf.tool(effect="read")
def stock(product: str, since: int = 0) -> int:
    """How many are in store."""
    return 3

@rf.tool
def order(product: str) -> str:
    """Order more."""
    return product

reads = rf.Toolset([stock])
both = (order, stock)
made = lambda: None
number = 7
nothing = []
alias = stock
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A current folder with `shop.py`; imports of the test are forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "shop.py").write_text(SHOP)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def names(spec: str) -> list[str]:
    return [tool.name for tool in load_tools(spec)]


def refusal(spec: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load_tools(spec)
    return caught.value


@pytest.mark.parametrize("spec", ["shop", "shop.py", "./shop.py"])
def test_without_a_name_every_tool_of_the_module_counts_once(spec: str) -> None:
    assert names(spec) == ["stock", "order"]


def test_an_absolute_path_works_too(folder: Path) -> None:
    assert names(f"{folder}/shop.py") == ["stock", "order"]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [("shop:stock", ["stock"]), ("shop.py:reads", ["stock"]), ("shop:both", ["order", "stock"])],
)
def test_a_name_is_a_tool_a_toolset_or_an_iterable_of_tools(spec: str, expected: list[str]) -> None:
    assert names(spec) == expected


def test_tools_of_a_file_may_import_their_neighbours_and_refer_to_their_own_types(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "prices.py").write_text("PRICE = 5\n")
    (folder / "sub" / "desk.py").write_text(
        "from __future__ import annotations\nimport ringfence as rf\nfrom pydantic import BaseModel\n"
        "from prices import PRICE\n"
        "class Offer(BaseModel):\n    price: int\n"
        '@rf.tool\ndef offer(product: str) -> Offer:\n    """Make one."""\n    return Offer(price=PRICE)\n'
    )
    assert names("sub/desk.py") == ["offer"]


def test_a_file_does_not_replace_a_module_of_the_same_name(folder: Path) -> None:
    (folder / "json.py").write_text(SHOP)
    import json

    assert names("./json.py") == ["stock", "order"]
    assert sys.modules["json"] is json


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        ("shap", "there is no module 'shap'", "give the path of its .py file"),
        ("shop.deeper", "there is no module 'shop.deeper'", "give the path of its .py file"),
        ("missing.py", "there is no file 'missing.py'", "the path of a .py file"),
        ("shop:stok", "shop has no attribute 'stok'", "did you mean 'stock'?"),
        ("shop:zzz", "shop has no attribute 'zzz'", "leave :NAME out"),
        ("shop:read", "shop has no attribute 'read'", "did you mean 'reads'?"),
        ("shop:number", "shop:number holds no tool", "a Tool, a Toolset or an iterable"),
        ("shop:nothing", "shop:nothing holds no tool", "a Tool, a Toolset or an iterable"),
        ("shop:made", "shop:made holds no tool", "a Tool, a Toolset or an iterable"),
        ("json", "json defines no tool", "@ringfence.tool"),
        ("shop:", "'shop:' is not MODULE[:NAME]", "package.module:NAME"),
        (":stock", "':stock' is not MODULE[:NAME]", "package.module:NAME"),
        ("shop:a b", "'shop:a b' is not MODULE[:NAME]", "package.module:NAME"),
        ("", "there is no module ''", "give the path of its .py file"),
        ("..", "there is no module '..'", "give the path of its .py file"),
    ],
)
def test_what_is_not_there_is_named_with_the_smallest_fix(spec: str, message: str, hint: str) -> None:
    error = refusal(spec)
    assert error.code == "bad_config"
    assert error.message.removeprefix("--tools ").startswith(message)
    assert hint in (error.hint or "")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            "import ringfence\n\nimport no_such_thing\n",
            "bad.py:3: ModuleNotFoundError: No module named 'no_such_thing'",
        ),
        ("def f():\n    return 1 / 0\nf()\n", "bad.py:2: ZeroDivisionError: division by zero"),
        ("x = (\n", "bad.py:1: SyntaxError"),
        ("import sys\nsys.exit(3)\n", "bad.py:2: SystemExit: 3"),
        ("import json\njson.loads('{')\n", "bad.py:2: JSONDecodeError"),
        ("raise ValueError('two\\nlines')\n", "bad.py:1: ValueError: two lines"),
        ("from . import x\n", "bad.py:1: ImportError: attempted relative import"),
    ],
)
def test_a_module_that_fails_is_one_line_with_its_place(folder: Path, body: str, message: str) -> None:
    (folder / "bad.py").write_text(body)
    error = refusal("bad.py")
    assert error.code == "bad_config"
    assert message in error.message
    assert "\n" not in error.message


def test_a_tool_that_cannot_be_one_keeps_its_code_and_fix_and_gets_its_place(folder: Path) -> None:
    (folder / "bad.py").write_text('import ringfence as rf\n\n@rf.tool(name="Bad Name")\ndef f() -> None:\n    "x"\n')
    error = refusal("bad.py")
    assert error.code == "bad_name"
    assert "bad.py:3" in error.message


def test_two_tools_of_one_name_are_refused(folder: Path) -> None:
    (folder / "twice.py").write_text(SHOP + "\nother = order.replace(description='Another.')\n")
    assert refusal("twice.py").code == "duplicate_name"


def test_argument_names_come_from_the_published_schema() -> None:
    [stock] = load_tools("shop:stock")
    assert argument_names(stock) == {"product", "since"}
