"""Verbs, options and the look of usage errors (`cli.app`)."""

from __future__ import annotations

import json
from importlib.metadata import version

import pytest

from ringfence.cli import main


def test_the_version_is_the_packages(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capfd.readouterr().out == f"ringfence {version('ringfence')}\n"


def test_help_names_every_verb_and_every_exit_code(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capfd.readouterr().out
    for word in ("run", "describe", "doctor", "0 done", "1 the script failed", "2 usage", "4 an effect is unknown"):
        assert word in text


@pytest.mark.parametrize("verb", ["run", "describe", "doctor"])
def test_every_verb_has_help(verb: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([verb, "--help"]) == 0
    text = capfd.readouterr().out
    assert f"Usage: ringfence {verb}" in text
    assert "Exit codes: 0 " in " ".join(text.split())


def test_without_a_verb_help_goes_to_standard_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("Usage: ringfence")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rn"], "No such command 'rn'"),
        (["--nope"], "No such option: --nope"),
        (["run"], "Missing argument 'SCRIPT'"),
        (["run", "x.py"], "Missing option '--tools'"),
        (["run", "x.py", "--tools", "y", "--timeout", "soon"], "Invalid value for '--timeout'"),
        (["describe"], "Missing option '--tools'"),
        (["doctor", "extra"], "unexpected extra argument"),
        (["\x1b[2J[bold]"], "\\x1b[2J[bold]"),
    ],
)
def test_usage_errors_are_one_message_with_a_fix(
    arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capfd.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error bad_config: ")
    assert message in captured.err
    assert "\n  fix: ringfence --help" in captured.err
    assert "\x1b" not in captured.err


def test_usage_errors_are_a_document_with_json(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "x.py", "--json"]) == 2
    document = json.loads(capfd.readouterr().out)
    assert (document["status"], document["error"]["code"], document["calls"]) == ("failed", "bad_config", [])
