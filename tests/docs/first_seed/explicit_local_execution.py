# First seed, "Explicit local execution": no isolation, said in so many words.
from __future__ import annotations

import asyncio
import os

import ringfence as rf


@rf.tool
async def where() -> int:
    """The process that a tool runs in."""
    return os.getpid()


async def main() -> None:
    sandbox = rf.local(unsafe=True)
    async with rf.Boundary(tools=[where], sandbox=sandbox) as boundary:
        print("in the host:", (await boundary.call("where")).unwrap() == os.getpid())
    print("enforced:", set(sandbox.guarantees().values()))
    for acknowledgement in (False, 1, "true", None):
        try:
            rf.local(unsafe=acknowledgement)
        except rf.ConfigError as error:
            print(repr(acknowledgement), "is refused:", error.code)


asyncio.run(main())

# prints:
# in the host: True
# enforced: {'none'}
# False is refused: bad_config
# 1 is refused: bad_config
# 'true' is refused: bad_config
# None is refused: bad_config
