"""A script's clock, chance and threads: they come from the host, can stand still and be repeated, and never hang."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.enclave.kit import Stage, code

NOON = datetime(2026, 3, 1, 12, 0, 0, 250_000, tzinfo=UTC)

# the clock


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("time.time()", NOON.timestamp()),
        ("time.time_ns()", round(NOON.timestamp() * 1000) * 1_000_000),
        ("time.clock_gettime(time.CLOCK_REALTIME)", NOON.timestamp()),
        ("time.clock_gettime_ns(time.CLOCK_REALTIME)", round(NOON.timestamp() * 1000) * 1_000_000),
        ("datetime.datetime.now().isoformat()", "2026-03-01T12:00:00.250000"),
        ("datetime.datetime.now(datetime.UTC).isoformat()", "2026-03-01T12:00:00.250000+00:00"),
        ("datetime.datetime.now(zoneinfo.ZoneInfo('Asia/Tokyo')).isoformat()", "2026-03-01T21:00:00.250000+09:00"),
        ("datetime.datetime.today().isoformat()", "2026-03-01T12:00:00.250000"),
        ("datetime.datetime.utcnow().isoformat()", "2026-03-01T12:00:00.250000"),
        ("datetime.date.today().isoformat()", "2026-03-01"),
        ("time.strftime('%Y-%m-%d %H:%M')", "2026-03-01 12:00"),
        ("[time.localtime().tm_hour, time.gmtime().tm_min]", [12, 0]),
        ("[time.ctime(), time.asctime()]", ["Sun Mar  1 12:00:00 2026"] * 2),
        ("email.utils.formatdate()", "Sun, 01 Mar 2026 12:00:00 -0000"),
        ("round(logging.makeLogRecord({}).created, 3)", NOON.timestamp()),
        ("datetime.datetime.fromtimestamp(0, datetime.UTC).year", 1970),
        ("time.gmtime(0).tm_year", 1970),
        ("uuid.uuid1().time // 10**7 - 12_219_292_800", int(NOON.timestamp())),
        ("class D(datetime.datetime): pass\n[type(D.now()).__name__, D.now().year]", ["D", 2026]),
        ("before = datetime.datetime.now()\ntime.sleep(0.01)\nawait asyncio.sleep(0.01)\ndatetime.datetime.now() - before", timedelta()),
        ("a = time.monotonic(), time.perf_counter(), time.clock_gettime(time.CLOCK_MONOTONIC)\ntime.sleep(0.01)\n"
         "[now > then for then, now in zip(a, (time.monotonic(), time.perf_counter(), time.clock_gettime(time.CLOCK_MONOTONIC)))]",
         [True, True, True]),
    ],
)  # fmt: skip
def test_a_clock_that_is_given_stands_still(stage: Stage, source: str, value: object) -> None:
    result = stage.script(f"import asyncio, datetime, email.utils, logging, time, uuid, zoneinfo\n{source}", clock=NOON)
    assert (result.error, result.value) == (None, value)


def test_the_hosts_clock_goes_on_between_two_looks(stage: Stage) -> None:
    source = (
        "import time, datetime\na = time.time(), datetime.datetime.now(datetime.UTC)\ntime.sleep(0.01)\n"
        "b = time.time(), datetime.datetime.now(datetime.UTC)\n[a[0] < b[0], a[1] < b[1], b[1]]"
    )
    value = stage.script(source).value
    assert value[:2] == [True, True]
    assert abs(value[2] - datetime.now(UTC)) < timedelta(seconds=10)


# chance

CHANCE = """
import os, random, secrets, uuid
shuffled = list(range(20))
random.shuffle(shuffled)
[random.random(), random.Random().random(), random.SystemRandom().random(), random.sample(range(100), 5), shuffled,
 random.gauss(0, 1), random.choices("abc", k=9), random.randbytes(4), str(uuid.uuid4()), secrets.token_hex(8),
 secrets.token_urlsafe(8), secrets.randbelow(10**9), secrets.choice(range(10**6)), os.urandom(8), os.getrandom(8)]
"""


@pytest.mark.slow
def test_two_runs_with_one_seed_have_the_same_chance_and_two_seeds_do_not(stage: Stage) -> None:
    results = [stage.script(CHANCE, seed=seed) for seed in (7, 7, 8, "7")]
    assert [result.error for result in results] == [None] * 4
    values = [result.value for result in results]
    assert values[0] == values[1]
    for other in values[2:]:
        assert all(mine != theirs for mine, theirs in zip(values[0], other, strict=True))


@pytest.mark.slow
def test_everything_that_a_run_sees_is_the_same_with_one_seed_and_one_clock(stage: Stage) -> None:
    source = CHANCE.rstrip() + "\n[list({'x', 'y', 'zz'}), hash('a'), str(uuid.uuid1()), {str(uuid.uuid4()) for _ in range(9)}, random.getstate()[1][:3]]"  # fmt: skip
    results = [stage.script(source, seed=1, clock=NOON) for _ in range(2)]
    assert [result.error for result in results] == [None, None]
    assert results[0].value == results[1].value


def test_a_script_may_seed_for_itself(stage: Stage) -> None:
    source = "import random\nrandom.seed(42)\n[random.random(), random.Random(42).random(), random.Random('x').randint(1, 6)]"
    first, second = stage.script(source).value, stage.script(source).value
    assert first == second
    assert first[0] == first[1] == 0.6394267984578837


# one thread


@pytest.mark.parametrize(
    ("source", "value"),
    [
        pytest.param("seen = []\nt = threading.Thread(target=seen.append, args=(1,))\nt.start()\nt.join()\n[seen, t.is_alive()]", [[1], False], id="thread"),
        pytest.param("class T(threading.Thread):\n    def run(self): self.x = 2\nt = T(daemon=True)\nt.start()\nt.join(1)\nt.x", 2, id="subclass"),
        pytest.param("t = threading.Timer(0.01, int)\nt.start()\nt.finished.is_set()", True, id="timer"),
        pytest.param("e = threading.Event()\n[e.wait(0.01), e.set(), e.wait(), e.is_set()]", [False, None, True, True], id="event"),
        pytest.param("s = threading.Semaphore(1)\n[s.acquire(), s.acquire(blocking=False), s.acquire(timeout=0.01)]", [True, False, False], id="semaphore"),
        pytest.param("l = threading.RLock()\nwith l, l: x = 1\nx", 1, id="reentrant lock"),
        pytest.param("l = threading.Lock()\n[l.acquire(), l.acquire(timeout=0.01), l.locked()]", [True, False, True], id="lock"),
        pytest.param("threading.Barrier(1).wait()", 0, id="barrier"),
        pytest.param("d = threading.local()\nd.x = 1\nd.x", 1, id="local"),
        pytest.param("q = queue.Queue()\nfor i in range(3): q.put(i)\nout = []\ndef work():\n    while not q.empty():\n        out.append(q.get())\n        q.task_done()\nts = [threading.Thread(target=work) for _ in range(2)]\nfor t in ts: t.start()\nq.join()\nout", [0, 1, 2], id="workers"),
        pytest.param("q = queue.SimpleQueue()\ntry:\n    q.get(timeout=0.01)\nexcept queue.Empty:\n    return 'empty'", "empty", id="simple queue"),
        pytest.param("q = queue.PriorityQueue()\nq.put((2, 'b'))\nq.put((1, 'a'))\n[q.get()[1], q.qsize(), q.get_nowait()[0]]", ["a", 1, 2], id="priority queue"),
        pytest.param("with futures.ThreadPoolExecutor(4) as pool:\n    made = [pool.submit(pow, n, 2) for n in range(3)]\n    out = sorted(f.result() for f in futures.as_completed(made))\n[out, list(pool._x) if hasattr(pool, '_x') else 0]", [[0, 1, 4], 0], id="pool"),
        pytest.param("done, rest = futures.wait([futures.ThreadPoolExecutor().submit(int)])\n[len(done), len(rest)]", [1, 0], id="wait"),
        pytest.param("f = futures.ThreadPoolExecutor().submit(int, 'x')\n[type(f.exception()).__name__, f.done()]", ["ValueError", True], id="future that fails"),
        pytest.param("loop = asyncio.get_running_loop()\n[await loop.run_in_executor(None, abs, -1), await asyncio.to_thread(sorted, [2, 1])]", [1, [1, 2]], id="executors of loops"),
        pytest.param("async def slow():\n    await asyncio.sleep(5)\ntry:\n    await asyncio.wait_for(slow(), 0.01)\nexcept asyncio.TimeoutError:\n    return 'late'", "late", id="wait_for"),
        pytest.param("h = asyncio.get_running_loop().call_later(5, int)\nh.cancel()\n[h.cancelled(), asyncio.get_running_loop().time() > 0]", [True, True], id="timers"),
        pytest.param("[threading.active_count(), threading.current_thread() is threading.main_thread(), threading.get_ident() > 0]", [1, True, True], id="who is there"),
        pytest.param("import contextvars\nv = contextvars.ContextVar('v', default=0)\nc = contextvars.copy_context()\n[c.run(v.set, 1) and v.get(), c[v]]", [0, 1], id="contexts"),
    ],
)  # fmt: skip
def test_what_threads_would_do_is_done_in_place(stage: Stage, source: str, value: Any) -> None:
    result = stage.script(f"import asyncio, queue, threading\nfrom concurrent import futures\n{source}")
    assert (result.error, result.value) == (None, value)


@pytest.mark.parametrize(
    "source",
    [
        "threading.Event().wait()",
        "queue.Queue().get()",
        "queue.SimpleQueue().get()",
        "q = queue.Queue(1); q.put(1); q.put(2)",
        "q = queue.Queue(); q.put(1); q.join()",
        "futures.Future().result()",
        "s = threading.Semaphore(0); s.acquire()",
        "threading.Barrier(2).wait()",
        "threading.Thread(target=queue.Queue().get).start()",
        "asyncio.run_coroutine_threadsafe(asyncio.sleep(0), asyncio.get_running_loop()).result()",
    ],
)
def test_waiting_for_another_thread_ends_at_once_with_the_line(stage: Stage, source: str) -> None:
    result = stage.script(f"import asyncio, queue, threading\nfrom concurrent import futures\n{source}", timeout=10.0)
    assert result.error is not None
    assert (code(result), result.error.name, result.error.line) == ("RUNTIME_ERROR", "Deadlock", 3)
    assert result.stats.duration < 5


POOL = """
q, out = queue.Queue(), []
def work():
    for item in iter(q.get, None):
        out.append(item)
{start}
for n in (1, 2, None):
    q.put(n)
out
"""


@pytest.mark.parametrize(
    "start",
    [
        pytest.param("t = threading.Thread(target=work)\nt.start()", id="thread"),
        pytest.param("futures.ThreadPoolExecutor(2).submit(work)", id="pool"),
        pytest.param("list(futures.ThreadPoolExecutor(2).map(lambda _: work(), [1]))", id="map"),
        pytest.param("try:\n    threading.Thread(target=work).start()\nexcept Exception: pass", id="caught"),
        pytest.param("await asyncio.to_thread(work)", id="to_thread"),
        pytest.param("async with asyncio.TaskGroup() as g:\n    g.create_task(asyncio.to_thread(work))", id="group"),
    ],
)
def test_a_worker_that_waits_for_work_that_comes_later_ends_the_run_where_it_waits(stage: Stage, start: str) -> None:
    source = f"import asyncio, queue, threading\nfrom concurrent import futures{POOL.format(start=start)}"
    error = stage.script(source, timeout=10.0).error
    assert error is not None
    assert (error.code, error.name, error.line) == ("RUNTIME_ERROR", "Deadlock", 5)
    assert "use asyncio tasks" in error.message
