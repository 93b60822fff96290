"""The life of an enclave: many runs, loops and threads, and an end that leaves nothing, however it comes."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import gc
import os
import subprocess
import sys
import tempfile
import threading
import weakref
from typing import Any

import pytest

import ringfence as rf
from ringfence.enclave.session import ScriptSession
from ringfence.enclave.workers import Workers
from ringfence.gate.runner import Gate
from tests.enclave.kit import Stage, code, descendants, descriptors, echo, launchers, no_tasks, run

TRIPLE = "await call_tool('echo', {'n': inputs['n'] * 3})"


async def handler(name: str, args: Any) -> Any:
    return args["n"]


def test_runs_at_once_do_not_mix(stage: Stage) -> None:
    stage.tools["echo"] = echo
    enclave = stage.enclave(timeout=10.0)

    async def body() -> list[rf.RunResult]:
        return await asyncio.gather(*(enclave.run(TRIPLE, {"n": n}) for n in range(20)))

    results = stage.run(body())
    assert [result.value for result in results] == [{"n": 3 * n} for n in range(20)]
    assert len({result.run_id for result in results}) == 20


def test_a_scripts_calls_see_the_context_of_who_runs_it_and_not_of_who_started_the_worker(stage: Stage) -> None:
    who = contextvars.ContextVar("who", default="nobody")

    async def tell(args: Any) -> str:
        seen = who.get()
        who.set("another call")
        return seen

    stage.tools["tell"] = tell
    enclave = stage.enclave()

    async def body() -> list[Any]:
        who.set("warming")
        await enclave.warm()
        values: list[Any] = []
        for name in ("ada", "bob"):
            who.set(name)
            values.append((await enclave.run("[await call_tool('tell', {}), await call_tool('tell', {})]")).value)
        return values

    assert stage.run(body()) == [["ada", "ada"], ["bob", "bob"]]


@pytest.mark.slow
def test_two_enclaves_live_side_by_side(stage: Stage) -> None:
    async def body() -> list[Any]:
        async with rf.Enclave(tool_handler=handler) as one, rf.Enclave(tool_handler=handler, max_tool_calls=0) as two:
            results = await asyncio.gather(one.run(TRIPLE, {"n": 1}), two.run(TRIPLE, {"n": 1}))
            await one.aclose()
            return [*map(code, results), (await two.run("4")).value]

    assert stage.run(body()) == [None, "MAX_TOOL_CALLS", 4]


@pytest.mark.slow
def test_one_enclave_serves_several_event_loops_in_turn() -> None:
    before = descendants()
    enclave = rf.Enclave(tool_handler=handler)

    async def body() -> Any:
        return (await enclave.run(TRIPLE, {"n": 2})).value

    assert [asyncio.run(body()) for _ in range(3)] == [6, 6, 6]
    run(enclave.aclose())
    assert descendants() == before


@pytest.mark.slow
def test_one_enclave_serves_threads_and_a_running_loop_without_being_awaited() -> None:
    with contextlib.ExitStack() as stack:
        enclave = rf.Enclave(tool_handler=handler, timeout=10.0)
        stack.callback(lambda: run(enclave.aclose()))
        values: list[Any] = []

        def work(n: int) -> None:
            values.append(enclave.run_sync(TRIPLE, {"n": n}).value)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)

        async def notebook() -> Any:
            return enclave.run_sync(TRIPLE, {"n": 9}).value

        assert (sorted(values), asyncio.run(notebook())) == ([0, 3, 6, 9, 12, 15], 27)
    assert "ringfence-run-sync" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.slow
def test_a_tool_of_run_sync_that_calls_run_sync_is_told_not_to() -> None:
    async def nested(name: str, args: Any) -> Any:
        return enclave.run_sync("1").value

    enclave = rf.Enclave(tool_handler=nested, timeout=5.0)
    result = enclave.run_sync("await call_tool('nested', {})")
    assert result.error is not None
    assert (result.error.code, result.error.name) == ("TOOL_ERROR", "ConfigError")
    run(enclave.aclose())


def test_closing_ends_what_runs_and_refuses_what_comes(stage: Stage) -> None:
    async def body() -> None:
        enclave = rf.Enclave(timeout=10.0)
        await enclave.warm()
        running = [asyncio.create_task(enclave.run("while True: pass")) for _ in range(3)]
        await asyncio.sleep(0)
        await enclave.aclose()
        await enclave.aclose()
        assert [code(result) for result in await asyncio.gather(*running)] == ["ABORTED"] * 3
        with pytest.raises(rf.ConfigError, match="closed") as refused:
            await enclave.run("1")
        assert refused.value.code == "not_running"
        with pytest.raises(rf.ConfigError, match="closed"):
            enclave.run_sync("1")

    stage.run(body())


@pytest.mark.parametrize("end", ["abort", "aclose"])
def test_a_run_whose_worker_is_not_there_yet_can_be_ended(stage: Stage, end: str) -> None:
    async def body() -> rf.RunResult:
        async with rf.Enclave(timeout=10.0) as enclave:
            task = asyncio.create_task(enclave.run("while True: pass"))
            await asyncio.sleep(0.02)
            await {"abort": _now(enclave.abort), "aclose": enclave.aclose}[end]()
            return await task

    result = stage.run(body())
    assert (code(result), result.status) == ("ABORTED", "interrupted")


def _now(function: Any) -> Any:
    async def call() -> None:
        function()

    return call


@pytest.mark.slow
def test_runs_that_are_cancelled_at_any_moment_leave_no_process(stage: Stage) -> None:
    async def body() -> None:
        before = descendants()
        async with rf.Enclave(timeout=10.0) as enclave:
            await enclave.warm()
            for turns in range(14):
                tasks = [asyncio.create_task(enclave.run("while True: pass")) for _ in range(3)]
                for _ in range(turns):
                    await asyncio.sleep(0)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
            for _ in range(400):
                if len(descendants() - before) <= 3:  # the zygote and two that wait
                    break
                await asyncio.sleep(0.01)
            assert len(descendants() - before) <= 3
            assert (await enclave.run("2")).value == 2
        assert descendants() == before

    stage.run(body())


@pytest.mark.slow
def test_an_enclave_that_is_forgotten_leaves_nothing_and_harms_nobody() -> None:
    async def body() -> list[Any]:
        values: list[Any] = []
        for n in range(4):
            enclave = rf.Enclave(timeout=10.0)
            values.append((await enclave.run(f"{n}")).value)
            gone = weakref.ref(enclave)
            del enclave
            gc.collect()
            assert gone() is None
        await no_tasks()
        return values

    before = descriptors(), descendants()
    assert run(body()) == [0, 1, 2, 3]
    assert (descriptors(), descendants()) == before


@pytest.mark.slow
def test_a_temporary_enclave_works_and_is_gone() -> None:
    before = descriptors(), descendants(), threading.active_count()
    assert [rf.Enclave().run_sync(f"{n}").value for n in range(3)] == [0, 1, 2]
    gc.collect()
    for _ in range(300):
        if (descriptors(), descendants(), threading.active_count()) == before:
            break
        threading.Event().wait(0.01)
    assert (descriptors(), descendants(), threading.active_count()) == before


@pytest.mark.slow
def test_a_worker_factory_that_dies_is_replaced(stage: Stage) -> None:
    async def body() -> list[Any]:
        before = descendants()
        async with rf.Enclave(timeout=10.0) as enclave:
            await enclave.warm()
            for pid in (descendants() - before) & launchers():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, 9)
            await asyncio.sleep(0.1)  # the host hears of it
            return [(await enclave.run(f"{n}")).value for n in range(3)]

    assert stage.run(body()) == [0, 1, 2]


@pytest.mark.parametrize("number", [9, 34, 40, 64])
def test_a_guest_that_dies_of_any_signal_is_a_crash_like_every_other(stage: Stage, number: int) -> None:
    async def killed(args: Any) -> None:
        for pid in descendants() - launchers():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    stage.tools["killed"] = killed
    result = stage.run(stage.enclave(waiting=0).run("await call_tool('killed', {})"))
    assert result.error is not None
    assert (result.error.code, "signal" in result.error.message) == ("SANDBOX_CRASHED", True)


@pytest.mark.slow
def test_a_fork_of_the_host_neither_disturbs_nor_keeps_workers() -> None:
    before = descendants()
    enclave = rf.Enclave(timeout=10.0)
    assert enclave.run_sync("1").value == 1
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            gc.collect()
            status = 0 if rf.Enclave(timeout=10.0).run_sync("40 + 2").value == 42 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert enclave.run_sync("2").value == 2
    run(enclave.aclose())
    assert descendants() == before


PROGRAM = """
import asyncio, gc, sys
import ringfence as rf
{body}
gc.collect()
print("end")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        pytest.param("async def main(): print((await rf.Enclave().run('1')).value)\nasyncio.run(main())", id="never closed"),
        pytest.param("e = rf.Enclave()\nasync def main(): print((await e.run('1')).value)\nasyncio.run(main())\nasyncio.run(main())", id="two loops"),
        pytest.param("e = rf.Enclave()\nprint(e.run_sync('1').value)", id="run_sync"),
        pytest.param("e = rf.Enclave()\nasync def main():\n    t = asyncio.create_task(e.run('while True: pass'))\n    await e.run('1')\n    print(1)\nasyncio.run(main())", id="running at the end"),
        pytest.param("e = rf.Enclave()\nprint(e.run_sync('1').value)\nsys.exit()", id="exit"),
        pytest.param("import threading\ne = rf.Enclave()\nprint(e.run_sync('1').value)\nthreading.Thread(target=e.run_sync, args=('while True: pass',), daemon=True).start()\nwhile not e.statistics().running: pass", id="run_sync at the end"),
        pytest.param("import threading\ns = threading.Event()\nasync def h(n, a):\n    s.set()\n    await asyncio.sleep(60)\ne = rf.Enclave(tool_handler=h)\nprint(e.run_sync('1').value)\nthreading.Thread(target=e.run_sync, args=('await call_tool(\"x\", {})',), daemon=True).start()\ns.wait()", id="in a tool at the end"),
        pytest.param("import atexit\ne = rf.Enclave()\natexit.register(e.close)\nprint(e.run_sync('1').value)", id="closed at exit"),
        pytest.param("async def main():\n    e = rf.Enclave()\n    print((await e.run('1')).value)\n    t = asyncio.create_task(e.run('while True: pass'))\n    await asyncio.sleep(0)\nl = asyncio.new_event_loop()\nl.run_until_complete(main())\nfor t in asyncio.all_tasks(l): t.cancel()\nl.run_until_complete(asyncio.sleep(0.1))\nl.close()", id="a loop that is left"),
    ],
)  # fmt: skip
def test_a_program_that_never_closes_ends_in_silence(body: str) -> None:
    before = launchers()
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM.format(body=body)], capture_output=True, text=True, timeout=8
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("1\n")
    for _ in range(300):
        if launchers() <= before:
            break
        threading.Event().wait(0.01)
    assert launchers() <= before


@pytest.mark.slow
def test_a_thousand_runs_leave_no_process_task_thread_descriptor_or_file() -> None:
    """The issue's bar."""
    scripts = [
        "1 + 1",
        "await call_tool('echo', {'n': 1})",
        "print('x' * 1000)",
        "1 / 0",
        "import os\nos._exit(3)",
        "import ctypes\nctypes.string_at(8)",
        "x = (",
        "import asyncio\nawait asyncio.gather(*(call_tool('echo', {'n': n}) for n in range(5)))",
        "import os\nos.write(3, b'\\xff' * 8)",
        "import asyncio\nt = asyncio.create_task(call_tool('never', {}))\nawait asyncio.sleep(0.001)",
    ]

    async def handle(name: str, args: Any) -> Any:
        if name == "never":
            await asyncio.Event().wait()
        return args

    async def thousand() -> list[str | None]:
        codes: list[str | None] = []
        async with rf.Enclave(tool_handler=handle, timeout=20.0) as enclave:
            for start in range(0, 1000, 10):
                results = await asyncio.gather(*(enclave.run(scripts[(start + n) % 10]) for n in range(10)))
                codes += map(code, results)
        await no_tasks()
        return codes

    def state() -> tuple[Any, ...]:
        gc.collect()
        return descendants(), descriptors(), threading.active_count(), sorted(os.listdir(tempfile.gettempdir()))

    async def bounded() -> list[str | None]:
        async with asyncio.timeout(120):
            return await thousand()

    run(rf.Enclave().aclose())
    before, known = state(), launchers()
    codes = asyncio.run(bounded())
    processes, open_now, threads, files = state()
    assert (processes, open_now, threads) == before[:3]
    assert [name for name in files if "ringfence" in name] == [name for name in before[3] if "ringfence" in name]
    assert launchers() <= known
    assert {one: codes.count(one) for one in set(codes)} == {
        None: 500,
        "RUNTIME_ERROR": 100,
        "SANDBOX_CRASHED": 300,
        "VALIDATION_ERROR": 100,
    }


def test_a_with_block_without_an_event_loop_frees_everything() -> None:
    before = threading.enumerate()
    with rf.Enclave() as enclave:
        assert enclave.run_sync("1 + 1").value == 2
    enclave.close()
    with pytest.raises(rf.ConfigError) as caught:
        enclave.run_sync("1")
    assert (caught.value.code, threading.enumerate()) == ("not_running", before)


@pytest.mark.parametrize("end", ["value", "error", "fault", "cancel", "broken"])
def test_every_run_that_began_is_announced_to_have_ended(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    heard: list[tuple[str, Any, Any]] = []

    async def fail(session: ScriptSession, request: object) -> rf.RunResult:
        raise rf.SandboxFault("gone", code="sandbox_unavailable") if end == "fault" else LookupError("gone")

    async def body() -> None:
        async with rf.Enclave(tools=[], timeout=10.0) as enclave:
            enclave.on(
                ["run.started", "run.finished"],
                lambda event: heard.append((event.type, event.meta.get("status"), event.meta.get("code"))),
            )
            await enclave.warm()
            if end in ("fault", "broken"):
                monkeypatch.setattr(ScriptSession, "run", fail)
            task = asyncio.create_task(enclave.run({"value": "1", "error": "1 / 0"}.get(end, "while True: pass")))
            if end == "cancel":
                await asyncio.sleep(0.02)
                task.cancel()
            await asyncio.wait([task])
            if not task.cancelled():
                task.exception()

    stage.run(body())
    assert heard == [
        ("run.started", None, None),
        {
            "value": ("run.finished", "succeeded", None),
            "error": ("run.finished", "failed", "RUNTIME_ERROR"),
            "fault": ("run.finished", "failed", "SANDBOX_UNAVAILABLE"),
            "cancel": ("run.finished", "interrupted", "ABORTED"),
            "broken": ("run.finished", "failed", "INTERNAL"),
        }[end],
    ]


@pytest.mark.parametrize("how", ["fails", "cancelled"])
def test_an_enclave_closes_its_gate_even_where_its_workers_do_not_close(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    async def body() -> None:
        enclave = rf.Enclave(tools=[], timeout=10.0)
        await enclave.warm()
        closed: list[str] = []
        workers = Workers.aclose

        async def failing(self: Workers, blocked: asyncio.AbstractEventLoop | None) -> None:
            await workers(self, blocked)
            if how == "fails":
                raise OSError("no")
            await asyncio.Event().wait()

        async def gate(self: Gate, *, drain: float) -> None:
            closed.append("gate")

        monkeypatch.setattr(Workers, "aclose", failing)
        monkeypatch.setattr(Gate, "aclose", gate)
        closing = asyncio.create_task(enclave.aclose())
        if how == "cancelled":
            await asyncio.sleep(0.05)
            closing.cancel()
        await asyncio.wait([closing])
        assert closing.cancelled() or isinstance(closing.exception(), OSError)
        assert closed == ["gate"]

    stage.run(body())
