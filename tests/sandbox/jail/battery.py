"""A host that starts a jail and runs every attack in it, and prints how each ended. A program of its own.

So that it can run as another user, and on an interpreter that has none of ringfence's dependencies, it loads the jail
without the rest of the package. Arguments: the source folder, and a mode: `jailed`, `stripped` (of root's
capabilities), `alone` (seccomp without Landlock) or `free`. Prints one JSON object.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent

NUMBERS: Final = {
    "x86_64": {
        "socket": 41, "connect": 42, "sendmsg": 46, "recvmsg": 47, "vfork": 58, "clone": 56, "execveat": 322,
        "tgkill": 234, "rt_sigqueueinfo": 129, "ptrace": 101, "process_vm_readv": 310, "kcmp": 312, "shmget": 29,
        "semget": 64, "msgget": 68, "prctl": 157, "seccomp": 317, "capset": 126, "unshare": 272, "setns": 308,
        "mount": 165, "mprotect": 10, "personality": 135, "userfaultfd": 323, "perf_event_open": 298, "bpf": 321,
        "keyctl": 250, "syslog": 103,
    },
    "aarch64": {
        "socket": 198, "connect": 203, "sendmsg": 211, "recvmsg": 212, "vfork": 1071, "clone": 220, "execveat": 281,
        "tgkill": 131, "rt_sigqueueinfo": 138, "ptrace": 117, "process_vm_readv": 270, "kcmp": 272, "shmget": 194,
        "semget": 190, "msgget": 186, "prctl": 167, "seccomp": 277, "capset": 91, "unshare": 97, "setns": 268,
        "mount": 40, "mprotect": 226, "personality": 92, "userfaultfd": 282, "perf_event_open": 241, "bpf": 280,
        "keyctl": 219, "syslog": 116,
    },
}  # fmt: skip

TRAMPOLINES: Final = (335, 336)
"""uretprobe and uprobe of x86-64: past every filter by design, and SIGILL outside a probe's own trampoline."""


@contextlib.contextmanager
def canaries() -> Generator[dict[str, Any]]:
    """What a guest must not reach, and where it is."""
    os.environ["SECRET"] = "in the environment"
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_UNIX) as unix,
        socket.socket(socket.AF_UNIX) as abstract,
        open("/dev/null") as leaked,
        subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL) as victim,
    ):
        os.set_inheritable(leaked.fileno(), True)
        secret, spare = Path(folder, "secret"), Path(folder, "spare")
        secret.write_text("in a file")
        spare.write_text("to be deleted")
        unix.bind(f"{folder}/socket")
        unix.listen()
        abstract.bind(f"\0ringfence-{os.getpid()}")
        abstract.listen()
        try:
            yield {
                "folder": folder,
                "secret": str(secret),
                "spare": str(spare),
                "source": str(HERE / "echo_engine.py"),
                "tcp": tcp.getsockname()[1],
                "unix": f"{folder}/socket",
                "abstract": f"ringfence-{os.getpid()}",
                "victim": victim.pid,
                "host": os.getpid(),
                "shm": 0x52F00000 | os.getpid() & 0xFFFFF,
                "nr": NUMBERS[os.uname().machine],
                "family": 16,
            }
        finally:
            victim.kill()


async def jailed(given: dict[str, Any], *, landlock: bool) -> dict[str, Any]:
    """Every attack in a child of its own."""
    from ringfence.sandbox.jail.plan import GuestLimits, plan_guest
    from ringfence.sandbox.jail.probe_unsafe import probe
    from tests.sandbox.jail.attacks import ATTACKS
    from tests.sandbox.jail.driving import guest, zygote

    found: dict[str, Any] = {"uid": os.getuid()}
    plan: Any = plan_guest(probe() if landlock else replace(probe(), landlock=0), GuestLimits())
    async with zygote(plan) as parent:
        for attack in ATTACKS:
            async with guest(parent) as one:
                given.update(zygote=parent.pid, self=one.child.pid)
                found[attack.name] = await one.ask(attack.source, given)
        async with guest(parent) as one:
            found["every_other_call"] = await one.ask(_every_other_call(), given)
        async with guest(parent) as one:
            found["compat_call"] = await one.ask("out = int80 and int80(20, 0)")
            found["compat_signal"] = (await one.ended()).signal if found["compat_call"] is None else None
    return found


def _every_other_call() -> str:
    """A program that tries each number that its filter does not name, and lists what was not refused."""
    from ringfence.sandbox.jail.seccomp import PROFILES
    from ringfence.sandbox.jail.syscalls import number

    machine: Any = os.uname().machine
    listed = [number(rule.name, machine) for rule in PROFILES["guest"] if rule.name != "clone3"]
    skipped = {*listed, *(TRAMPOLINES if machine == "x86_64" else ())}
    return (
        "out = []\n"
        "for nr in range(700):\n"
        f"  if nr in {skipped}: continue\n"
        "  try: out.append([nr, syscall(nr, 0, 0, 0, 0, 0, 0)])\n"
        "  except OSError as e:\n"
        "    if e.errno != 1: out.append([nr, -e.errno])\n"
    )


def free(given: dict[str, Any]) -> dict[str, Any]:
    """Those attacks that should succeed without a jail, each in a fork, without one."""
    from tests.sandbox.jail.attacks import ATTACKS
    from tests.sandbox.jail.echo_engine import run

    found: dict[str, Any] = {}
    for attack in ATTACKS:
        if not attack.bites:
            continue
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            given.update(zygote=os.getppid(), self=os.getpid())
            os.write(writing, json.dumps(run({"source": attack.source, "given": given})).encode())
            os._exit(0)
        os.close(writing)
        with open(reading, "rb") as pipe:
            found[attack.name] = json.loads(pipe.read())
        os.waitpid(pid, 0)
    return found


def strip() -> None:
    """Give up what makes root powerful, as containers do that drop all capabilities."""
    from ringfence.sandbox.jail import kernel_unsafe

    machine: Any = os.uname().machine
    kernel_unsafe.drop_bounding_set()
    kernel_unsafe.drop_capabilities(machine)


def main(source: str, mode: str) -> None:
    sys.path[:0] = [str(HERE.parents[2]), source]
    launcher = Path(source, "ringfence", "sandbox", "jail", "launch_unsafe.py")
    sys.meta_path.insert(0, runpy.run_path(str(launcher))["BarePackages"])
    with canaries() as given:
        if mode == "stripped":
            strip()
        print(json.dumps(free(given) if mode == "free" else asyncio.run(jailed(given, landlock=mode != "alone"))))


if __name__ == "__main__":
    main(*sys.argv[1:])
