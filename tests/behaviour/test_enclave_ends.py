"""One script without an enclave of one's own, errors, statistics, and how an enclave ends (enclave catalogue 4.10)."""

from __future__ import annotations

import asyncio
import json
import threading
import urllib.request
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from textwrap import dedent
from typing import Any

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, answering, code, detail, echo, failing, never, run
from tests.requirements import requirement

pytestmark = pytest.mark.slow

SOMEBODY = "/" + "home/ada"
"""A folder whose name no error may hold."""

# one script


@requirement("T103", "seed2.once", "seed2.timeout")
def test_one_script_can_be_run_without_an_enclave() -> None:
    result = run(rf.run_agent_script("return max(1, 2, 3)", timeout=1.0))
    assert (result.success, result.value, result.error, result.calls) == (True, 3, None, ())


@requirement("T103", "seed2.once", "rec.5")
def test_it_takes_every_option_of_an_enclave_and_of_its_run() -> None:
    async def handle(name: str, args: Any) -> Any:
        return [name, args]

    async def body() -> rf.RunResult:
        return await rf.run_agent_script(
            "return [await mail.list(n=n), context.who, inputs['x']]",
            {"x": 7},
            tool_handler=handle,
            tool_namespaces={"mail": ["list"]},
            globals={"context": {"who": "ada"}},
            variables={"n": 1},
            session_id="s",
            principal="ada",
            security_level="SECURE",
            max_tool_calls=1,
        )

    assert run(body()).value == [["mail.list", {"n": 1}], "ada", 7]


@requirement("T103", "seed2.once")
def test_it_frees_everything_whatever_becomes_of_the_script() -> None:
    before = threading.active_count()

    async def body() -> list[str | None]:
        sources = ("while True: pass", "import os\nos._exit(3)")
        return [code(await rf.run_agent_script(source, timeout=0.5, validate=False)) for source in sources]

    assert run(body()) == ["TIMEOUT", "SANDBOX_CRASHED"]
    assert threading.active_count() <= before + 1


# errors as answers, and a server behind a handler


@requirement("T105", "seed2.structured")
@pytest.mark.parametrize(
    ("fails", "expected"),
    [(True, {"success": False, "reason": "down"}), (False, {"success": True, "data": {"id": 1}})],
)
def test_a_handler_may_answer_with_its_error_and_the_script_decides(
    stage: Stage, fails: bool, expected: dict[str, Any]
) -> None:
    async def handle(name: str, args: Any) -> Any:
        try:
            if fails:
                raise ConnectionError("down")
        except ConnectionError as error:
            return {"error": True, "code": "TOOL_ERROR", "message": str(error)}
        return {"id": 1}

    script = dedent("""
        result = await call_tool('risky:operation', {})
        if result.get('error'):
            return {'success': False, 'reason': result['message']}
        return {'success': True, 'data': result}
    """)
    result = stage.run(stage.enclave().run(script, tool_handler=handle))
    assert (result.success, result.value) == (True, expected)
    assert [call.status for call in result.calls] == ["succeeded"]


class Weather(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b'{"city": "Oslo", "path": "%b"}' % self.path.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Says nothing."""


def fetch(url: str) -> Any:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with direct.open(url, timeout=5) as response:
        return json.load(response)


@requirement("T114", "seed2.async")
def test_a_handler_may_ask_a_server_and_answer_with_what_it_says(stage: Stage) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Weather) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        host = f"http://127.0.0.1:{server.server_port}"

        async def handle(name: str, args: Any) -> Any:
            return await asyncio.to_thread(fetch, args["url"])

        enclave = stage.enclave()
        script = "return (await call_tool('api:fetch', {'url': inputs['host'] + '/weather'}))['path']"
        assert stage.run(enclave.run(script, {"host": host}, tool_handler=handle)).value == "/weather"
        server.shutdown()


# statistics


@requirement("T106", "seed2.stats")
@pytest.mark.parametrize(
    ("script", "calls", "status"),
    [
        ("1", 0, "succeeded"),
        ("[await call_tool('a', {}) for _ in range(3)]", 3, "succeeded"),
        ("await call_tool('a', {})\nraise ValueError('x')", 1, "failed"),
        ("await call_tool('a', {})\nawait call_tool('bad', {})", 2, "failed"),
        ("(", 0, "failed"),
        ("call_tool('a', {})", 0, "failed"),
    ],
)
def test_calls_and_duration_are_counted_whatever_the_end(stage: Stage, script: str, calls: int, status: str) -> None:
    stage.tools["a"] = echo
    stage.tools["bad"] = failing(RuntimeError("no"))
    result = stage.script(script)
    assert (result.status, result.stats.tool_call_count, len(result.calls)) == (status, calls, calls)
    assert 0 < result.stats.duration < 20
    assert result.stats.started_at > 1_700_000_000
    assert result.stats.approval_wait == 0


# mistakes in the source

FAULTS = [
    ("x = 1\ny = (", 2),
    ("x = 1\n\n\ndef f(:\n    pass", 4),
    ("x = 1\nif x:\ny = 2", 3),
    ("'''text", 1),
    ("x = 1\n\tyield x", 2),
    ("return 1 +", 1),
    ("# a comment\n\nclass", 3),
]


@requirement("T107", "U2")
@pytest.mark.parametrize(("script", "line"), FAULTS)
def test_a_mistake_in_the_source_is_shown_at_the_users_own_line(stage: Stage, script: str, line: int) -> None:
    result = stage.script(script)
    assert result.error is not None
    assert (result.error.code, detail(result), result.error.line) == ("VALIDATION_ERROR", "script_rejected", line)
    assert result.error.hint
    assert "__ringfence" not in str(result.error.as_dict())
    assert "<" + "string>" not in str(result.error.as_dict())


@requirement("U2", "rec.11", "T107")
def test_a_traceback_holds_the_users_lines_and_names_only(stage: Stage) -> None:
    script = "def outer():\n    return inner()\n\ndef inner():\n    raise LookupError('gone')\n\nouter()"
    result = stage.script(script)
    assert result.error is not None
    assert (result.error.line, result.error.name, result.error.message) == (5, "LookupError", "gone")
    lines = str(result.error.data["traceback"]).splitlines()
    assert (
        "\n".join(line for line in lines if set(line) - set(" ~^"))  # how much is underlined differs between Pythons
        == dedent("""
        Traceback (most recent call last):
          File "script.py", line 7, in <module>
            outer()
          File "script.py", line 2, in outer
            return inner()
          File "script.py", line 5, in inner
            raise LookupError('gone')
        LookupError: gone
    """).strip()
    )


# traces that are left out

LEAKY = {
    "parse": "x = (",
    "check": "mail.nothing(",
    "run time": "raise ValueError('in /usr/lib/python3/secret.py and C:\\\\Users\\\\ada\\\\x.py')",
    "tool": "await call_tool('leaky', {})",
    "import": "import not_there_at_all",
    "library": "import json\njson.loads('{')",
    "value": "return open",
    "limit": "while True: pass",
}


@requirement("T109", "rec.11", "B163")
@pytest.mark.parametrize("stage_name", LEAKY)
@pytest.mark.parametrize(
    "options", [{"security_level": "SECURE"}, {"sanitize_stack_traces": True}], ids=["SECURE", "asked"]
)
def test_where_traces_are_left_out_no_error_shows_a_path(
    stage: Stage, stage_name: str, options: Mapping[str, Any]
) -> None:
    stage.tools["leaky"] = failing(RuntimeError(f"could not read {SOMEBODY}/.aws/credentials"))
    result = stage.script(LEAKY[stage_name], **options, max_iterations=50)
    assert result.error is not None
    said = str(result.error.as_dict())
    assert "traceback" not in result.error.data
    for part in ("/home/", "/usr/", "C:\\\\", "site-packages", "ringfence/", "/tmp"):
        assert part not in said


@requirement("T109")
def test_where_they_are_kept_messages_are_untouched(stage: Stage) -> None:
    stage.tools["leaky"] = failing(RuntimeError(f"could not read {SOMEBODY}/notes"))
    result = stage.script("await call_tool('leaky', {})")
    assert result.error is not None
    assert result.error.message == f"could not read {SOMEBODY}/notes"
    assert "traceback" in result.error.data


# whatever a script does

ENDLESS = ("TIMEOUT", "MEMORY_LIMIT_EXCEEDED", "RUNTIME_ERROR")
"""Recursion without a limit of Python's own: some limit ends it, which one depends on the Python."""

LEAVING = {
    "exit": ("import os\nos._exit(3)", "SANDBOX_CRASHED"),
    "sys.exit": ("import sys\nsys.exit('bye')", "RUNTIME_ERROR"),
    "kill": ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", "RUNTIME_ERROR"),
    "abort": ("import os\nos.abort()", "SANDBOX_CRASHED"),
    "segfault": ("import ctypes\nctypes.string_at(0)", "SANDBOX_CRASHED"),
    "recursion": ("import sys\nsys.setrecursionlimit(10 ** 9)\ndef f(): return f()\nf()", ENDLESS),
    "keyboard": ("raise KeyboardInterrupt", "RUNTIME_ERROR"),
    "generator exit": ("raise GeneratorExit", "RUNTIME_ERROR"),
    "cancelled": ("import asyncio\nraise asyncio.CancelledError", "RUNTIME_ERROR"),
    "base": ("class Mine(BaseException): pass\nraise Mine('x')", "RUNTIME_ERROR"),
    "stop iteration": ("raise StopIteration", "RUNTIME_ERROR"),
    "output": ("print('x' * 10 ** 7)", "OUTPUT_LIMIT"),
    "odd class": ("class Odd(Exception):\n    def __str__(self): raise ValueError('no')\nraise Odd", "RUNTIME_ERROR"),
    "odd name": ("E = type('x' * 10 ** 6, (Exception,), {})\nraise E('y' * 10 ** 6)", "RUNTIME_ERROR"),
    "surrogate": ("raise ValueError('\\ud800')", "RUNTIME_ERROR"),
    "group": ("raise ExceptionGroup('many', [ValueError(1), TypeError(2)])", "RUNTIME_ERROR"),
}


@requirement("T110", "EW1")
@pytest.mark.parametrize("how", LEAVING)
def test_run_raises_for_nothing_that_a_script_does(stage: Stage, how: str) -> None:
    script, expected = LEAVING[how]
    result = stage.script(script, validate=False, timeout=1.0)
    assert result.error is not None
    assert result.error.code in ([expected] if isinstance(expected, str) else expected)
    assert stage.script("1 + 1", validate=False, timeout=1.0).value == 2


# the end of an enclave


@requirement("T111")
@pytest.mark.parametrize("close", ["aclose", "dispose"])
def test_an_enclave_may_be_closed_twice_and_says_so_when_it_is_used_afterwards(close: str) -> None:
    async def body() -> tuple[str, str]:
        enclave = rf.Enclave()
        assert (await enclave.run("1")).value == 1
        for _ in range(2):
            await getattr(enclave, close)()
        with pytest.raises(rf.ConfigError) as running:
            await enclave.run("1")
        with pytest.raises(rf.ConfigError) as checking:
            await enclave.check("1")
        return running.value.code, checking.value.code

    assert run(body()) == ("not_running", "not_running")


@requirement("T111", "dec.23", "rec.4")
def test_closing_ends_what_runs(stage: Stage) -> None:
    async def body() -> tuple[str | None, list[str]]:
        started = asyncio.Event()

        async def hang(name: str, args: Any) -> None:
            started.set()
            await never(args)

        enclave = rf.Enclave(tool_handler=hang)
        running = asyncio.create_task(enclave.run("await call_tool('a', {})\nreturn 'late'"))
        await started.wait()
        await enclave.aclose()
        result = await running
        return code(result), [call.status for call in result.calls]

    assert stage.run(body()) == ("ABORTED", ["unknown"])


@requirement("T113")
@pytest.mark.parametrize(
    ("change", "look"),
    [
        ("x = 1", "return 'x' in globals()"),
        ("import json\njson.mine = 1", "import json\nreturn hasattr(json, 'mine')"),
        ("import builtins\nbuiltins.sum = lambda x: 7", "return sum([1]) == 7"),
        ("import sys\nsys.modules['json'] = None", "import json\nreturn json is None"),
        ("import random\nrandom.seed(1)\nrandom.random = lambda: 4", "import random\nreturn random.random() == 4"),
        (
            "import collections\ncollections.Counter.mine = 1",
            "import collections\nreturn hasattr(collections.Counter, 'mine')",
        ),
        ("import decimal\ndecimal.getcontext().prec = 3", "import decimal\nreturn decimal.getcontext().prec == 3"),
        ("inputs['x'] = 1", "return 'x' in inputs"),
    ],
)
def test_what_one_run_sets_the_next_does_not_see(stage: Stage, change: str, look: str) -> None:
    first = stage.script(f"{change}\nreturn 'set'", validate=False)
    assert first.value == "set", first.error
    assert stage.script(look, validate=False).value is False


@requirement("T113", "T65")
def test_a_thousand_names_of_one_run_are_gone_in_the_next(stage: Stage) -> None:
    stage.tools["a"] = answering(1)
    assert (
        stage.script(
            "for n in range(1_000):\n    globals()[f'n{n}'] = n\nreturn len([k for k in globals() if k[0] == 'n'])",
            validate=False,
        ).value
        > 999
    )
    assert stage.script("return [k for k in globals() if k.startswith('n1')]", validate=False).value == []
