# Second seed, "One-Shot Execution": one script, without an enclave of one's own.
from __future__ import annotations

import asyncio

from ringfence import run_agent_script


async def main() -> None:
    result = await run_agent_script(
        """
return max(1, 2, 3)
""",
        timeout=1.0,
    )
    print(result.value)


asyncio.run(main())

# prints:
# 3
