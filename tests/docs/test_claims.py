"""Claims of the pages that are not programs."""

from __future__ import annotations

import re
import tomllib

import pytest

from ringfence.errors import CODES
from tests.docs.pages import PAGES, ROOT, blocks

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_readme_begins_with_the_two_commands() -> None:
    first = next(blocks(ROOT / "README.md"))
    assert (first.language, first.body) == ("sh", "make demo\nmake test\n")
    assert page("README.md").index("```sh") < 30


def test_the_architecture_fits_into_one_sitting() -> None:
    assert page("ARCHITECTURE.md").count("\n") <= 300


def test_codes_that_the_security_page_names_exist() -> None:
    named = {
        code for group in re.findall(r"\[(`[^]]+`)\]", page("SECURITY.md")) for code in re.findall(r"`(\w+)`", group)
    }
    assert named
    assert named <= set(CODES)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_make_targets_that_a_page_names_exist(path: object) -> None:
    named = re.findall(r"(?:`|^)make (\w+)(?=`|$)", page(str(path)), re.MULTILINE)
    missing = [target for target in named if not re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)]
    assert not missing


def test_the_pythons_that_the_readme_promises_are_those_of_the_package() -> None:
    project = tomllib.loads(page("pyproject.toml"))["project"]
    versions = [line.rpartition(" ")[2] for line in project["classifiers"] if line.startswith("Programming Language")]
    assert f"Python {versions[0]} to {versions[-1]}" in page("README.md")
    assert project["requires-python"] == f">={versions[0]}"


def test_the_make_file_explains_each_target() -> None:
    targets = re.search(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert targets is not None
    unexplained = [name for name in targets[1].split() if not re.search(rf"^{name}:.*## \S", MAKEFILE, re.MULTILINE)]
    assert not unexplained
