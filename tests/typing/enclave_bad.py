"""Every line that ends in `# error` must be one for a type checker, and no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ringfence as rf


async def handle(name: str, args: dict[str, Any]) -> object:
    return [name, args]


def one_argument(name: str) -> object:
    return name


def says_text(name: str, args: Mapping[str, Any], history: Sequence[rf.Past]) -> str:
    return name


rf.Enclave(tool_handler=one_argument)  # type: ignore  # error
rf.Enclave(timeuot=1.0)  # type: ignore  # error
rf.Enclave(timeout="1")  # type: ignore  # error
rf.Enclave(security_level="strict")  # type: ignore  # error
rf.Enclave(max_tool_calls=1.5)  # type: ignore  # error
rf.Enclave(memory_limit=1.5)  # type: ignore  # error
rf.Enclave(tool_namespaces=["mail"])  # type: ignore  # error
rf.Enclave(tool_namespaces={"mail": {"list": 3}})  # type: ignore  # error
rf.Enclave(globals=[("x", 1)])  # type: ignore  # error
rf.Enclave(screening=True)  # type: ignore  # error
rf.Enclave(preload=[3])  # type: ignore  # error
rf.Enclave(clock="2024-05-01")  # type: ignore  # error
rf.Enclave(handle)  # type: ignore  # error

misspelt: rf.EnclaveOptions = {"max_toolcalls": 1}  # type: ignore  # error
rf.Screening(enabled="no")  # type: ignore  # error
rf.Screening(actions={"names": "warn"})  # type: ignore  # error
rf.Screening(max_operations=3)  # type: ignore  # error
rf.Detector("MINE", "says text", says_text)  # type: ignore  # error
rf.Detector("MINE")  # type: ignore  # error


async def main() -> None:
    async with rf.Enclave(tool_handler=handle) as enclave:
        await enclave.run(b"1")  # type: ignore  # error
        await enclave.run("1", [1])  # type: ignore  # error
        await enclave.run("1", timeout=1.0)  # type: ignore  # error
        result = await enclave.run("1")
        result.value = 2  # type: ignore  # error
        print(result.sucess)  # type: ignore  # error
        report = await enclave.check("1")
        report.ok = True  # type: ignore  # error
        enclave.effective_config().timeout = 2.0  # type: ignore  # error
    await rf.run_agent_script("1", tiemout=1.0)  # type: ignore  # error
