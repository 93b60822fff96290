"""A host under a real filter that refuses some calls to it and all its children, as a strict container does.

A program of its own, since a filter cannot be taken off. Arguments: a plan as JSON, made where nothing is refused, and
the calls to refuse. Prints what the probe finds here and how a jail that ignores the probe fails.
"""

from __future__ import annotations

import asyncio
import json
import platform
import sys
from typing import Any

from ringfence.errors import SandboxFault
from ringfence.sandbox.jail import kernel_unsafe
from ringfence.sandbox.jail.plan import GuestLimits, JailPlan, Unenforceable, plan_guest
from ringfence.sandbox.jail.probe_unsafe import probe
from ringfence.sandbox.jail.seccomp import ALLOW, JUMP_EQUAL, LOAD, REFUSE, RETURN, Instruction, encode
from ringfence.sandbox.jail.supervise import Zygote
from tests.sandbox.jail.driving import ENGINE, HERE, has_children


def refuse(names: list[str]) -> None:
    machine: Any = platform.machine()
    numbers = [kernel_unsafe.number(name, machine) for name in names]
    tests = [Instruction(JUMP_EQUAL, nr, len(numbers) - at, 0) for at, nr in enumerate(numbers) if nr is not None]
    program = (Instruction(LOAD, 0), *tests, Instruction(RETURN, ALLOW), Instruction(RETURN, REFUSE))
    kernel_unsafe.no_new_privileges()
    kernel_unsafe.install_filter(encode(program), machine)


async def fail(plan: JailPlan) -> dict[str, Any]:
    try:
        zygote = await Zygote.start(plan, ENGINE, roots=(HERE,))
    except SandboxFault as fault:
        return {"code": fault.code, "step": fault.message.split("'")[1], "children": has_children()}
    await zygote.aclose()
    return {"code": None, "step": None, "children": has_children()}


def main(plan: str, *names: str) -> None:
    refuse(list(names))
    made = plan_guest(probe(), GuestLimits())
    missing = made.missing if isinstance(made, Unenforceable) else ()
    found = {
        "missing": [item.permission for item in missing],
        "reason": missing[0].reason if missing else "",
        "landlock": None if isinstance(made, Unenforceable) else made.landlock,
    }
    print(json.dumps(found | asyncio.run(fail(JailPlan.from_json(json.loads(plan))))))


if __name__ == "__main__":
    main(*sys.argv[1:])
