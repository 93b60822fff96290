"""What a script finds around it: modules, clock, randomness, ids, printing. Everything else is absent or refused.

Runs inside the jail, standard library only. `furnish` runs once, in the zygote, `enter` once per child. Time,
randomness and ids come from the host's frame, so that a replayed script sees the same ones. Modules are imported by
`guest_modules`. Nothing here is the wall: that is the kernel's.
"""

from __future__ import annotations

import builtins
import concurrent.futures
import concurrent.futures.thread
import datetime
import functools
import io
import os
import pathlib
import queue
import random
import sys
import threading
import time
import traceback
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from types import FrameType, ModuleType
from typing import Any, Final, NoReturn

from ringfence.enclave.engines.guest_loop import ThreadDeadlock
from ringfence.enclave.engines.guest_modules import Imports
from ringfence.enclave.engines.guest_wire import Channel
from ringfence.enclave.guards import HIDDEN
from ringfence.enclave.source import FILENAME

TOP: Final = "<module>"
"""Name of a script's top level in tracebacks."""
_MAIN: Final = ModuleType("__main__")


class _Printed(io.TextIOBase):
    """`sys.stdout` and `sys.stderr`: text goes to the host with the run's output."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    def write(self, text: Any, /) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._channel.print(text)
        return len(text)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return "utf-8"


class _InPlace(concurrent.futures.Executor):
    """`ThreadPoolExecutor` where there are no threads: what is submitted runs at once."""

    def __init__(
        self,
        max_workers: int | None = None,
        thread_name_prefix: str = "",
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
    ) -> None:
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        self._closed = False
        if initializer is not None:
            initializer(*initargs)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> concurrent.futures.Future[Any]:
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future: concurrent.futures.Future[Any] = concurrent.futures.Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **kwargs))
        except ThreadDeadlock:
            raise
        except BaseException as error:  # noqa: BLE001 - whoever asks for the result gets it
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._closed = True


def _start_in_place(self: threading.Thread) -> None:
    """`Thread.start` where there are no threads: it runs at once, and what it raises is printed."""
    if self in _started:
        raise RuntimeError("threads can only be started once")
    _started.add(self)
    try:
        self.run()
    except ThreadDeadlock:
        raise
    except SystemExit:
        pass
    except BaseException:  # noqa: BLE001 - as for any thread, its starter goes on
        traceback.print_exc()


def _join_in_place(self: threading.Thread, timeout: float | None = None) -> None:
    if self not in _started:
        raise RuntimeError("cannot join thread before it is started")


_started: Final[weakref.WeakSet[threading.Thread]] = weakref.WeakSet()


class Sources:
    """Where a script's time, randomness and ids come from. Built once in the zygote, set by each run's frame."""

    def __init__(self) -> None:
        self._offset = 0
        """Nanoseconds between the kernel's monotonic clock and the script's time."""
        self._fixed: int | None = None
        """The instant at which the script's time stands still."""
        self.ids = random.Random(0)  # noqa: S311 - nothing secret: the host must be able to repeat it

    def begin(self, clock: int, seed: str, *, frozen: bool = False) -> None:
        """`clock` is the host's time in nanoseconds since the epoch, `seed` hexadecimal text."""
        self._offset = clock - time.monotonic_ns()
        self._fixed = clock if frozen else None
        self.ids.seed(seed + "ids")
        random.seed(seed)
        if "numpy.random" in sys.modules:
            sys.modules["numpy.random"].seed([self.ids.getrandbits(32) for _ in range(4)])

    def now_ns(self) -> int:
        return self._offset + time.monotonic_ns() if self._fixed is None else self._fixed

    def now(self) -> float:
        return self.now_ns() / 1_000_000_000  # of whole numbers, which rounds once


def furnish() -> Sources:
    """Replace what a script would find of the machine: input, clocks, randomness. In the zygote, once."""
    sources = Sources()
    warnings.simplefilter("ignore")
    builtins.input = _no_input
    builtins.breakpoint = _no_debugger
    for name in ("exit", "quit"):  # what the site module would have added
        setattr(builtins, name, _leave)
    for name in ("exists", "is_dir", "is_file"):  # as in os.path: what the kernel refuses to look at is not there
        look: Any = getattr(os.path, name.replace("is_", "is"))
        setattr(pathlib.Path, name, functools.partialmethod(_look, look))
    _install_names()
    _install_tracebacks()
    _install_clock(sources)
    _install_randomness(sources)
    _install_threads()
    return sources


def enter(channel: Channel) -> None:
    """In a child: what is printed goes to the host, and imports that find nothing say what there is."""
    sys.meta_path.append(Imports())
    sys.modules["__main__"] = _MAIN
    sleep = time.sleep

    def sleep_after_output(seconds: float, /) -> None:
        channel.flush_text()
        channel.flush()
        sleep(seconds)

    time.sleep = sleep_after_output
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = _Printed(channel)  # type: ignore[assignment]


def script_globals() -> dict[str, Any]:
    """The names of the script's module, at first those that every module has. `enter` makes it `__main__`, where type
    hints and dataclasses look for names."""
    names = vars(_MAIN)
    names.clear()
    names.update(__name__="__main__", __builtins__=builtins, __doc__=None)
    return names


def _install_threads() -> None:
    """What scripts hand to threads, or to pools of them, runs in the only thread there is."""
    futures: Any = concurrent.futures
    futures.ThreadPoolExecutor = futures.ProcessPoolExecutor = concurrent.futures.thread.ThreadPoolExecutor = _InPlace  # type: ignore[misc]
    threading.Thread.start = _start_in_place  # type: ignore[method-assign]
    threading.Thread.join = _join_in_place  # type: ignore[method-assign]
    threading.Thread.is_alive = lambda self: False  # type: ignore[method-assign]
    wait = threading.Condition.wait

    def wait_for_time(self: threading.Condition, timeout: float | None = None) -> bool:
        if timeout is None:  # nobody else is there to notify
            raise ThreadDeadlock
        return wait(self, timeout)

    threading.Condition.wait = wait_for_time  # type: ignore[method-assign]  # events, queues and futures wait by it
    pure: Any = queue  # its other implementation waits in C
    queue.SimpleQueue = pure._PySimpleQueue  # type: ignore[misc]


def _install_tracebacks() -> None:
    """What `traceback` prints or formats in a script is the script's own frames, without places on the host."""
    module: Any = traceback
    for name in ("walk_tb", "walk_stack", "_walk_tb_with_full_positions"):
        setattr(module, name, _own_frames(getattr(module, name)))


def _own_frames(walk: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    def own(start: Any) -> Iterator[Any]:
        if start is None and walk.__name__ == "walk_stack":
            start = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]  # what walk_stack would take, from here
        for frame, place in walk(start):
            if frame.f_code.co_filename == FILENAME:
                yield frame, place

    return own


def _names(frame: FrameType) -> Mapping[str, Any]:
    """What `locals()` gives: the body of a script is a function whose names are all global."""
    code = frame.f_code
    at_top = code.co_filename == FILENAME and code.co_name == TOP
    if at_top:
        return frame.f_globals
    return {name: value for name, value in frame.f_locals.items() if not name.startswith(HIDDEN)}


def _install_names() -> None:
    """Builtins that look at their caller's names, made to see a script's top level as a module's."""
    caller, execute, inspect_names, variables = sys._getframe, builtins.exec, builtins.dir, builtins.vars  # pyright: ignore[reportPrivateUsage]

    def exec_(source: Any, globals: Any = None, locals: Any = None, /, **options: Any) -> None:  # noqa: A002
        frame = caller(1)
        if globals is None:
            globals, locals = frame.f_globals, _names(frame) if locals is None else locals  # noqa: A001
        execute(source, globals, locals, **options)

    builtins.exec = exec_  # type: ignore[assignment]
    builtins.locals = lambda: _names(caller(1))  # type: ignore[assignment]
    builtins.vars = lambda *of: variables(*of) if of else _names(caller(1))  # type: ignore[assignment]
    builtins.dir = lambda *of: inspect_names(*of) if of else sorted(_names(caller(1)))  # type: ignore[assignment]


def _no_input(prompt: object = "", /) -> NoReturn:
    raise EOFError("scripts cannot ask for input; read what you were given from inputs[...]")


def _look(self: pathlib.Path, look: Callable[[pathlib.Path], bool], **_: object) -> bool:
    return look(self)


def _leave(code: object = None, /) -> NoReturn:
    raise SystemExit(code)


def _no_debugger(*_: object, **__: object) -> NoReturn:
    raise RuntimeError("scripts have no debugger")


def _install_randomness(sources: Sources) -> None:
    """Every source of randomness follows the host's seed."""
    ids = sources.ids
    seed_of = random.Random.seed

    def seeded(self: random.Random, a: Any = None, version: int = 2) -> None:
        seed_of(self, ids.getrandbits(128) if a is None else a, version)

    random.Random.seed = seeded  # type: ignore[method-assign]
    os.urandom = ids.randbytes
    os.getrandom = lambda size, flags=0: ids.randbytes(size)
    random._urandom = ids.randbytes  # type: ignore[attr-defined]
    uuid.getnode = lambda: 0x020000000000
    uuid._generate_time_safe = None  # type: ignore[attr-defined]


def _install_clock(sources: Sources) -> None:
    """`time` and `datetime` run from the host's time; the monotonic clocks stay the kernel's."""
    now = sources.now
    localtime, gmtime, ctime, strftime, asctime = time.localtime, time.gmtime, time.ctime, time.strftime, time.asctime
    clock, clock_ns = time.clock_gettime, time.clock_gettime_ns
    time.time_ns = sources.now_ns
    time.time = now
    time.clock_gettime = lambda which, /: clock(which) if which else now()  # 0 is CLOCK_REALTIME
    time.clock_gettime_ns = lambda which, /: clock_ns(which) if which else sources.now_ns()
    time.localtime = lambda seconds=None, /: localtime(now() if seconds is None else seconds)  # type: ignore[assignment]
    time.gmtime = lambda seconds=None, /: gmtime(now() if seconds is None else seconds)  # type: ignore[assignment]
    time.ctime = lambda seconds=None, /: ctime(now() if seconds is None else seconds)  # type: ignore[assignment]
    time.asctime = lambda parts=None, /: asctime(localtime(now()) if parts is None else parts)  # type: ignore[assignment]
    time.strftime = lambda form, parts=None, /: strftime(form, localtime(now()) if parts is None else parts)  # type: ignore[assignment]
    _install_dates(now)


def _install_dates(now: Any) -> None:
    real_date, real_datetime = datetime.date, datetime.datetime

    class _AnyDate(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, real_date)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, real_date)

    class _AnyDatetime(type):
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, real_datetime)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, real_datetime)

    class date(real_date, metaclass=_AnyDate):  # noqa: N801  # scripts see this name
        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now())

        def __repr__(self) -> str:
            return "datetime." + super().__repr__()

    class datetime_(real_datetime, metaclass=_AnyDatetime):  # noqa: N801
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return cls.fromtimestamp(now(), tz)

        def date(self) -> Any:  # CPython's gives its own class, which is none that a script can name
            return date(self.year, self.month, self.day)

        @classmethod
        def utcnow(cls) -> Any:
            return cls.fromtimestamp(now(), datetime.UTC).replace(tzinfo=None)

        @classmethod
        def today(cls) -> Any:
            return cls.fromtimestamp(now())

        def __repr__(self) -> str:
            return "datetime." + super().__repr__()

    datetime_.__name__ = datetime_.__qualname__ = "datetime"
    for shown in (date, datetime_):
        shown.__module__ = "datetime"
    datetime.date = date  # type: ignore[misc]
    datetime.datetime = datetime_  # type: ignore[misc]
    if "pandas" in sys.modules:
        _install_timestamps(sys.modules["pandas"].Timestamp)


def _install_timestamps(stamp: Any) -> None:
    """What pandas calls now. `Timestamp("now")` and NumPy's `datetime64("now")` remain the kernel's."""

    zone = sys.modules["zoneinfo"].ZoneInfo

    def stamp_now(cls: Any, tz: Any = None) -> Any:
        return cls(datetime.datetime.now(zone(tz) if isinstance(tz, str) else tz))

    stamp.now = stamp.today = classmethod(stamp_now)
    stamp.utcnow = classmethod(lambda cls: stamp_now(cls, datetime.UTC))
