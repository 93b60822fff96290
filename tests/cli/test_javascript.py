"""The commands with scripts in JavaScript: `run`, `check`, `describe`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import SHOP, Finished, command

pytestmark = pytest.mark.slow

RESTOCK = """\
const low = [];
for (const product of inputs.products) {
  if ((await tools.stock({ product })) < 2) low.push(product);
}
console.log(`${low.length} to order`);
return await Promise.all(low.map((product) => tools.mail({ to: product })));
"""


def javascript(verb: str, folder: Path, script: str, *options: str) -> Finished:
    (folder / "shop.py").write_text(SHOP)
    (folder / "script.js").write_text(script)
    return command(verb, "script.js", "--tools", "shop.py", *options, cwd=folder)


def test_a_javascript_file_runs(tmp_path: Path) -> None:
    products = 'products=["lamp", "chair"]'
    done = javascript("run", tmp_path, RESTOCK, "--unsafe-local", "--arg", products, "--json")
    document = json.loads(done.stdout)
    assert (done.code, document["value"], document["output"]) == (0, ["mail to chair"], "1 to order\n")
    assert [(call["name"], call["line"]) for call in document["calls"]] == [("stock", 3), ("stock", 3), ("mail", 6)]


def test_standard_input_is_javascript_where_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    options = ("--tools", "shop.py", "--unsafe-local", "--language", "javascript")
    done = command("run", "-", *options, cwd=tmp_path, stdin="[1, 2].map((n) => n * 2)")
    assert (done.code, done.stdout) == (0, "[2, 4]\n")


def test_an_error_is_shown_at_its_line(tmp_path: Path) -> None:
    done = javascript("run", tmp_path, "const stock = null;\nstock.length;\n", "--unsafe-local")
    assert done.code == 1
    assert "error RUNTIME_ERROR at line 2: TypeError: cannot read property 'length' of null" in done.stderr
    assert "     2 │ stock.length;" in done.stderr
    assert "fix: the value before .length is missing: test for it first, or write ?.length" in done.stderr


def test_a_script_is_checked_and_its_calls_are_listed(tmp_path: Path) -> None:
    done = javascript("check", tmp_path, RESTOCK)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.startswith("calls  stock  line 3  in 1 loop  product=…\n")
    assert done.stdout.endswith("passes  script.js  0 errors · 0 warnings · STANDARD\n")


def test_wrong_syntax_is_refused_with_its_place(tmp_path: Path) -> None:
    done = javascript("check", tmp_path, "const a = ;\n")
    assert done.code == 1
    assert done.stdout.splitlines()[0].startswith("error SYNTAX at line 1")


def test_the_tools_are_described_in_typescript(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    done = command("describe", "--tools", "shop.py", "--language", "javascript", cwd=tmp_path)
    assert done.code == 0
    assert "declare const tools: {\n" in done.stdout
    assert "  stock(args: {\n    product: string;\n  }, options?: CallOptions): Promise<number>;\n" in done.stdout


def test_typescript_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "script.ts").write_text("1")
    done = command("run", "script.ts", "--tools", "shop.py", "--unsafe-local", cwd=tmp_path)
    assert (done.code, done.stdout) == (2, "")
    assert "error bad_config: the script 'script.ts' is TypeScript, which needs a compiler" in done.stderr
