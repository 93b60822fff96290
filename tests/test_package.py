"""The wheel that users install holds everything: types marker, command line, and the guest's own files."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

SCRIPT = """
import ringfence
from importlib import resources

assert resources.files(ringfence).joinpath("py.typed").is_file()
assert "site-packages" in ringfence.__file__, ringfence.__file__


async def handler(name, arguments):
    return {"name": name, **arguments}


if __name__ == "__main__":
    result = ringfence.Enclave(tool_handler=handler).run_sync("(await call_tool('echo', {'a': 1}))['a'] + 1")
    print(result.status, result.value, result.error)
"""


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    run(
        *(sys.executable, "-m", "pip", "--isolated", "wheel", "-q", "--no-deps", "--no-build-isolation", "--no-index"),
        *("--wheel-dir", out, ROOT),
        cwd=out,
    )
    (found,) = out.glob("ringfence-*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`bin` of a fresh environment: the wheel installed, its dependencies borrowed from this one."""
    place = tmp_path_factory.mktemp("scratch")
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=place)
    python = place / "bin" / "python"
    run(
        *(sys.executable, "-m", "pip", "--isolated", "--python", python),
        *("install", "-q", "--no-deps", "--no-index", wheel),
        cwd=place,
    )
    (site,) = place.glob("lib/python*/site-packages")
    # a folder named in a .pth file has its own .pth files ignored: the editable ringfence stays out
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return place / "bin"


@pytest.mark.slow
def test_the_wheel_holds_the_source_and_nothing_else(wheel: Path) -> None:
    files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.js")]
    source = {path.relative_to(ROOT / "src").as_posix() for path in files}
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == source | {"ringfence/py.typed"}


@pytest.mark.slow
def test_an_installed_wheel_runs_javascript(installed: Path, tmp_path: Path) -> None:
    program = (
        "import ringfence as rf\nprint(rf.Enclave(language='javascript').run_sync('[1, 2].map((n) => n * 2)').value)\n"
    )
    (tmp_path / "program.py").write_text(program)
    assert run(installed / "python", "program.py", cwd=tmp_path) == "[2, 4]\n"


@pytest.mark.slow
def test_an_installed_wheel_runs_a_script_that_calls_a_tool(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(SCRIPT)
    assert run(installed / "python", "program.py", cwd=tmp_path) == "succeeded 2 None\n"


@pytest.mark.slow
def test_an_installed_wheel_brings_the_command(installed: Path, tmp_path: Path) -> None:
    assert "doctor" in run(installed / "ringfence", "--help", cwd=tmp_path)
