"""A host in a process of its own, for tests that end it. Prints the process ids of what it started, then waits.

Argument: what it does then, see `main`. It exists to be killed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time

from tests.sandbox.jail.driving import ENGINE, HERE, Guest, real_plan

SPIN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: pass"


async def start() -> list[object]:
    """One zygote, a child that spins, and one that waits."""
    from ringfence.sandbox.jail.supervise import Zygote

    parent = await Zygote.start(real_plan(), ENGINE, roots=(HERE,))
    guests = [Guest(parent.fork()), Guest(parent.fork())]
    for guest in guests:
        assert await guest.line() == "ready"
    await guests[0].send(SPIN)
    print(parent.pid, *(guest.child.pid for guest in guests), flush=True)
    return [parent, *guests]


async def wait() -> None:
    kept = await start()
    await asyncio.sleep(3600)
    del kept


async def forget() -> list[object]:
    kept = await start()
    for guest in kept[1:]:
        assert isinstance(guest, Guest)
        guest.child.sock.close()
    return kept


def main(what: str) -> None:
    match what:
        case "wait":
            asyncio.run(wait())
        case "leave":  # without closing anything
            globals()["kept"] = asyncio.run(forget())
        case "fork":  # and let the fork outlive it
            kept = asyncio.run(forget())
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            signal.pause()
            del kept
        case "exit_in_fork":  # a fork that ends politely must not end the host's jail
            kept = asyncio.run(forget())
            pid = os.fork()
            if pid == 0:
                sys.exit(0)
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
            signal.pause()
            del kept
        case _:
            raise SystemExit(2)


if __name__ == "__main__":
    main(sys.argv[1])
