"""`ringfence run` as a program runs it: pipes, files, signals (`cli.run`). The terminal is in `test_run_terminal`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from ringfence.cli import main
from tests.cli.commands import COMMAND, PATIENCE, SHOP, Finished, command, environment, run

pytestmark = pytest.mark.slow

ORDER = "await tools.order(product='chair', count=10)\n"
APPROVE = '[[approve]]\ntool = "order"\narguments = { product = "chair" }\n'


def ordered(folder: Path) -> str:
    path = folder / "ordered.txt"
    return path.read_text() if path.exists() else ""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """The current folder, with a shop and a script, for commands that run in this process because they run nothing."""
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "script.py").write_text(ORDER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.startswith("shop"):
            del sys.modules[name]


# success


def test_a_script_runs_and_standard_output_is_its_value(tmp_path: Path) -> None:
    done = run(tmp_path, "{'lamp': await tools.stock(product='lamp'), 'é': '漢'}\n")
    assert done.code == 0
    assert done.stdout == '{"lamp": 3, "é": "漢"}\n'
    lines = done.stderr.splitlines()
    assert lines[0] == "start  stock  line 1"
    assert lines[1].startswith("ok  stock  line 1  ")
    assert lines[2].startswith("succeeded  1 call · ")
    assert len(lines) == 3


def test_printed_text_is_kept_apart_from_the_value(tmp_path: Path) -> None:
    done = run(tmp_path, "print('hello')\nprint('{}')\n7\n")
    assert (done.code, done.stdout) == (0, "│ hello\n│ {}\n7\n")


def test_arguments_become_inputs(tmp_path: Path) -> None:
    done = run(tmp_path, "inputs\n", "--arg", "n=7", "--arg", "who=Ada", "--arg", 'list=["a"]', "--json")
    assert done.document["value"] == {"n": 7, "who": "Ada", "list": ["a"]}


def test_a_script_may_come_from_standard_input(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    arguments = ("run", "-", "--tools", "shop:stock", "--unsafe-local")
    done = command(*arguments, cwd=tmp_path, stdin="await tools.stock(product='lamp')\n")
    assert (done.code, done.stdout) == (0, "3\n")


def test_the_json_document_is_whole_and_alone_on_standard_output(tmp_path: Path) -> None:
    script = "print('hi')\nawait tools.noisy()\nawait tools.order(product='chair', count=10)\n"
    (tmp_path / "approvals.toml").write_text(APPROVE)
    done = run(tmp_path, script, "--json", "--approve", "approvals.toml")
    assert done.code == 0
    document = done.document
    assert without_times(document) == {
        "status": "succeeded",
        "value": "10 x chair",
        "error": None,
        "stats": {
            "tool_call_count": 2,
            "global_call_count": 0,
            "duration": 0.0,
            "approval_wait": 0.0,
            "output_bytes": 3,
            "started_at": 0.0,
        },
        "output": "hi\n",
        "calls": [
            {
                "call_id": "1",
                "name": "noisy",
                "status": "succeeded",
                "code": None,
                "line": 2,
                "duration": 0.0,
                "flags": [],
                "reason": None,
            },
            {
                "call_id": "2",
                "name": "order",
                "status": "succeeded",
                "code": None,
                "line": 3,
                "duration": 0.0,
                "flags": ["EXFIL_LIST_SEND"],
                "reason": "approved by approvals.toml:1 [[approve]]",
            },
        ],
    }
    assert "noise from Python" in done.stderr
    assert "noise from a descriptor" in done.stderr


def without_times(document: dict[str, Any]) -> dict[str, Any]:
    """The document with every time set to zero and call ids without their run's id."""
    for name in ("duration", "approval_wait", "started_at"):
        assert document["stats"][name] >= 0.0
        document["stats"][name] = 0.0
    for call in document["calls"]:
        assert 0.0 <= call["duration"] < PATIENCE
        call["duration"] = 0.0
        call["call_id"] = call["call_id"].rpartition(".")[2]
    return document


# approval


def test_without_a_terminal_nothing_is_approved_and_the_reason_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, "await tools.mail(to='a')\n" + ORDER)
    assert done.code == 1
    assert ordered(tmp_path) == ""
    assert "waits for approval  order  line 2" in done.stderr
    assert "(no terminal to ask on; decide beforehand with --approve FILE)" in done.stderr
    assert "error APPROVAL_DENIED at line 2: " in done.stderr
    assert "2 │ await tools.order(product='chair', count=10)" in done.stderr
    assert "already ran: no read, 1 write\n    done, not undone  mail  line 1" in done.stderr
    entry = '[[approve]]\ntool = "order"\narguments = { product = "chair", count = 10 }\n'
    assert f"  fix: to approve it, put this into FILE and add --approve FILE:\n{entry}" in done.stderr


def test_a_script_cannot_go_on_after_a_denial(tmp_path: Path) -> None:
    script = f"try:\n    {ORDER}except BaseException:\n    pass\nawait tools.mail(to='a')\n'went on'\n"
    done = run(tmp_path, script, "--approve", "deny", "--json")
    assert done.code == 1
    document = done.document
    assert (document["status"], document["value"], document["error"]["code"]) == ("failed", None, "APPROVAL_DENIED")
    assert document["calls"][0]["status"] == "refused"
    assert "succeeded" not in [call["status"] for call in document["calls"]]
    assert document["calls"][0]["reason"] == document["error"]["data"]["reason"] == "--approve deny"
    assert document["error"]["message"].endswith(": --approve deny")


def test_a_file_approves_what_it_lists_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "approvals.toml").write_text(APPROVE)
    assert run(tmp_path, ORDER, "--approve", "approvals.toml").code == 0
    other = run(tmp_path, "await tools.order(product='lamp')\n", "--approve", "approvals.toml")
    assert other.code == 1
    assert "(no entry of approvals.toml fits this call)" in other.stderr
    assert ordered(tmp_path) == "10 x chair\n"


# refusals before anything runs


@pytest.mark.parametrize(
    ("options", "code", "part"),
    [
        (["--tools", "shop.py"], "sandbox_required", "add --unsafe-local"),
        (["--tools", "shap.py", "--unsafe-local"], "bad_config", "there is no file 'shap.py'"),
        (["--tools", "nothing", "--unsafe-local"], "bad_config", "there is no module 'nothing'"),
        (["--tools", "shop:nothing", "--unsafe-local"], "bad_config", "no attribute 'nothing'"),
        (["--tools", "shop", "--unsafe-local", "--approve", "no.toml"], "bad_config", "--approve 'no.toml'"),
        (["--tools", "shop", "--unsafe-local", "--approve", "wrong.toml"], "bad_config", "wrong.toml:1 [[approve]]"),
        (["--tools", "shop", "--unsafe-local", "--arg", "novalue"], "bad_config", "--arg name=value"),
        (["--tools", "shop", "--unsafe-local", "--memory", "lots"], "bad_config", "256MB"),
        (
            ["--tools", "shop", "--unsafe-local", "--timeout", "0"],
            "bad_config",
            "fix: write for example --timeout 30\n",
        ),
        (["--tools", "shop", "--unsafe-local", "--memory", "10"], "bad_config", "--memory must be at least 16777216"),
        (["--tools", "broken.py", "--unsafe-local"], "bad_config", "fix: python broken.py shows the whole traceback"),
        (["--tools", "shop", "--unsafe-local", "--max-tool-calls", "-1"], "bad_config", "--max-tool-calls"),
        (
            ["--tools", "shop", "--unsafe-local", "--max-iterations", "0"],
            "bad_config",
            "--max-iterations must be a whole number of at least 1",
        ),
        (["--tools", "shop", "--unsafe-local", "--clock", "noon"], "bad_config", "--clock 'noon' is not a moment"),
        (["--tools", "shop", "--unsafe-local", "--clock", "0001-01-01T00:00Z"], "bad_config", "first or last year"),
        (["--unsafe-local"], "bad_config", "--tools"),
    ],
)
def test_a_wrong_command_line_is_one_message_with_its_fix_and_exit_code_2(
    shop: Path, capfd: pytest.CaptureFixture[str], options: list[str], code: str, part: str
) -> None:
    (shop / "broken.py").write_text("1 / 0\n")
    (shop / "wrong.toml").write_text('[[approve]]\ntool = "ordr"\n')
    assert main(["run", "script.py", *options]) == 2
    stdout, stderr = capfd.readouterr()
    assert stdout == ""
    assert stderr.startswith(f"error {code}: ")
    assert part in stderr
    assert "  fix: " in stderr
    assert main(["run", "script.py", *options, "--json"]) == 2
    document = json.loads(capfd.readouterr().out)
    assert (document["status"], document["error"]["code"]) == ("failed", code)


@pytest.mark.usefixtures("shop")
def test_a_script_that_is_not_there_is_exit_code_2(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "none.py", "--tools", "shop", "--unsafe-local"]) == 2
    assert "the script 'none.py': No such file or directory" in capfd.readouterr().err


def test_a_script_that_is_not_text_is_exit_code_2(shop: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (shop / "script.py").write_bytes(b"1\n\xff\n")
    assert main(["run", "script.py", "--tools", "shop", "--unsafe-local"]) == 2
    assert "the script 'script.py', line 2: not UTF-8 text" in capfd.readouterr().err


# failures of the script


def test_a_syntax_error_is_told_with_line_and_source_before_anything_runs(tmp_path: Path) -> None:
    done = run(tmp_path, ORDER + "x = (\n")
    assert (done.code, done.stdout, ordered(tmp_path)) == (1, "", "")
    assert "error VALIDATION_ERROR at line 2: " in done.stderr
    assert "   2 │ x = (\n" in done.stderr
    assert "already ran: nothing" in done.stderr


def test_an_exception_is_told_with_its_line(tmp_path: Path) -> None:
    done = run(tmp_path, "await tools.stock(product='lamp')\nx = {}\nx['missing']\n")
    assert (done.code, done.stdout) == (1, "")
    assert "error RUNTIME_ERROR at line 3: KeyError: 'missing'\n" in done.stderr
    assert "   3 │ x['missing']\n" in done.stderr
    assert "already ran: 1 read, no write" in done.stderr


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    done = run(tmp_path, "await tools.stock(produkt='lamp')\n")
    assert done.code == 1
    assert "error TOOL_ERROR at line 1: " in done.stderr
    assert "refused  stock  line 1" in done.stderr
    assert "product: Field required" in done.stderr


def test_limits_of_the_command_line_bind(tmp_path: Path) -> None:
    calls = run(tmp_path, "for n in range(9):\n    await tools.stock(product='x')\n", "--max-tool-calls", "2", "--json")
    assert (calls.code, calls.document["error"]["code"]) == (1, "MAX_TOOL_CALLS")
    late = run(tmp_path, "await tools.hang_reading()\n", "--timeout", "0.5", "--json")
    assert (late.code, late.document["error"]["code"]) == (1, "TIMEOUT")
    big = run(tmp_path, "x = bytearray(200 * 1024 * 1024)\n", "--memory", "64MB", "--json")
    assert (big.code, big.document["error"]["code"]) == (1, "MEMORY_LIMIT_EXCEEDED")
    turns = run(tmp_path, "while True:\n    pass\n", "--max-iterations", "1000", "--json")
    assert (turns.code, turns.document["error"]["code"]) == (1, "MAX_ITERATIONS")


@pytest.mark.parametrize(
    ("name", "script", "moment"),
    [
        (
            "script.py",
            "import random\nfrom datetime import UTC, datetime\n[datetime.now(UTC).isoformat(), random.random()]",
            "+00:00",
        ),
        ("script.js", "[new Date().toISOString(), Math.random()]", ".000Z"),
    ],
)
def test_a_clock_and_a_seed_make_a_script_say_the_same_again(
    tmp_path: Path, name: str, script: str, moment: str
) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / name).write_text(script)

    def said(seed: str) -> Any:
        options = ("--tools", "shop.py", "--unsafe-local", "--clock", "2026-03-01T14:00:00+02:00", "--json")
        return command("run", name, *options, "--seed", seed, cwd=tmp_path).document["value"]

    first, again, other = said("7"), said("7"), said("seven")
    assert first[0] == other[0] == f"2026-03-01T12:00:00{moment}"
    assert first == again
    assert first[1] != other[1]


def test_an_effect_that_may_have_happened_is_exit_code_4(tmp_path: Path) -> None:
    done = run(tmp_path, "await tools.hang()\n", "--timeout", "0.5")
    assert done.code == 4
    assert "unknown  hang  line 1" in done.stderr
    assert "may have happened, check it before you run this again  hang  line 1" in done.stderr


def test_a_call_left_behind_by_a_script_that_succeeds_is_told(tmp_path: Path) -> None:
    script = "import asyncio\nt = asyncio.create_task(tools.hang())\nawait tools.nap(seconds=0.05)\n"
    done = run(tmp_path, script)
    assert done.code == 4
    assert "may have happened, check it before you run this again  hang  line 2" in done.stderr
    assert "  fix: await every call before the script ends" in done.stderr


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_why_a_tool_raised_is_told_on_standard_error_only(tmp_path: Path, options: list[str]) -> None:
    done = run(tmp_path, "await tools.lost(key='sesame')\n", *options)
    assert done.code == 1
    line = next(at for at, text in enumerate(SHOP.splitlines(), start=1) if 'raise KeyError(f"no' in text)
    assert f"shop.py:{line}: KeyError: 'no sesame'\n" in done.stderr
    assert "no sesame" not in done.stdout
    assert "no sesame" not in done.stderr.replace("KeyError: 'no sesame'\n", "")


def test_nothing_that_script_or_tool_wrote_reaches_a_terminal_raw(tmp_path: Path) -> None:
    evil = "\\x1b[2J\\x1b]0;owned\\x07[bold]x[/bold]\\u202e"
    script = f"print('{evil}')\ntry:\n    await call_tool('no{evil}', {{}})\nexcept Exception: pass\nawait tools.broken(text='{evil}')\n"
    done = run(tmp_path, script)
    assert done.code == 1
    value = run(tmp_path, f"'{evil}'\n")
    for text in (done.stdout, done.stderr, value.stdout, value.stderr):
        assert not set(text) & {"\x1b", "\x07", "\u202e", "\r"}
    assert "[bold]x[/bold]" in done.stdout
    assert "[bold]x[/bold]" in done.stderr
    assert "[bold]x[/bold]" in value.stdout


# interruption


def interrupted(
    folder: Path, script: str, marker: str, first: signal.Signals, again: signal.Signals | None = None
) -> Finished:
    """Start the script with --json and send the signal once `marker` is on standard error; then the other, if given."""
    (folder / "shop.py").write_text(SHOP)
    (folder / "script.py").write_text(script)
    process = subprocess.Popen(
        [*COMMAND, "run", "script.py", "--tools", "shop.py", "--unsafe-local", "--json"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(),
    )
    with process:
        try:
            assert process.stderr is not None
            seen = ""
            while marker not in seen:
                line = process.stderr.readline()
                assert line, f"{marker!r} did not appear: {seen}"
                seen += line
            process.send_signal(first)
            stdout, stderr = _insist(process, again) if again else process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    return Finished(code=process.returncode, stdout=stdout, stderr=seen + stderr)


def _insist(process: subprocess.Popen[str], number: signal.Signals) -> tuple[str, str]:
    """Send the signal until it ends, as people do: the kernel may give one of two quick ones to a thread that sleeps."""
    deadline = time.monotonic() + PATIENCE
    while True:
        process.send_signal(number)
        try:
            return process.communicate(timeout=0.2)
        except subprocess.TimeoutExpired:
            assert time.monotonic() < deadline, "the second signal did not end it"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_ends_the_run_cleanly_and_tells_what_ran(tmp_path: Path, number: signal.Signals) -> None:
    script = "await tools.mail(to='a')\nawait tools.hang_reading()\n"
    done = interrupted(tmp_path, script, "start  hang_reading", number)
    assert done.code == 1
    document = done.document
    assert (document["status"], document["error"]["code"]) == ("interrupted", "ABORTED")
    assert [(call["name"], call["status"]) for call in document["calls"]] == [
        ("mail", "succeeded"),
        ("hang_reading", "failed"),
    ]
    assert "done, not undone  mail  line 1" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupted_effect_is_unknown(tmp_path: Path) -> None:
    done = interrupted(tmp_path, "await tools.hang()\n", "start  hang", signal.SIGINT)
    assert done.code == 4
    assert [call["status"] for call in done.document["calls"]] == ["unknown"]


def test_a_script_that_spins_is_interrupted_too(tmp_path: Path) -> None:
    done = interrupted(tmp_path, "await tools.stock(product='x')\nwhile True: pass\n", "ok  stock", signal.SIGINT)
    assert (done.code, done.document["error"]["code"]) == (1, "ABORTED")


def test_a_thread_that_nobody_can_stop_does_not_hold_the_command(tmp_path: Path) -> None:
    done = interrupted(tmp_path, "await tools.stuck()\n", "start  stuck", signal.SIGINT)
    assert (done.code, done.document["error"]["code"]) == (1, "ABORTED")


def test_an_interrupt_while_the_tools_are_loaded_is_an_error_like_others(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    (tmp_path / "script.py").write_text("1\n")
    done = command("run", "script.py", "--tools", "slow", "--unsafe-local", "--json", cwd=tmp_path)
    assert (done.code, done.document["error"]["code"]) == (1, "aborted")
    assert done.stderr == "error aborted: interrupted\n"


def test_the_second_signal_kills_even_when_a_tool_holds_the_loop(tmp_path: Path) -> None:
    script = "import asyncio\nawait asyncio.gather(tools.stock(product='x'), tools.block())\n"
    done = interrupted(tmp_path, script, "start  block", signal.SIGINT, signal.SIGTERM)
    assert done.code in (-signal.SIGINT, -signal.SIGTERM)
    assert done.stdout == ""


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "script.py").write_text("'x' * 1000000\n")
    read, write = os.pipe()
    os.close(read)
    process = subprocess.Popen(
        [*COMMAND, "run", "script.py", "--tools", "shop.py", "--unsafe-local"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=write,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=environment(),
    )
    os.close(write)
    _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "Error" not in stderr
