# Second seed, "Custom Globals": read-only data, and a function that scripts may call.
from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import ringfence as rf


def format_date(date: datetime) -> str:
    return date.isoformat()


async def main() -> None:
    enclave = rf.Enclave(
        globals={
            # Custom read-only context
            "context": {
                "userId": "user-123",
                "tenantId": "tenant-456",
            },
            # Custom utility function (requires allow_functions_in_globals)
            "formatDate": format_date,
        },
        allow_functions_in_globals=True,
        clock=datetime(2024, 5, 1, 12, tzinfo=UTC),  # where the scripts' clock stands
    )
    code = """
from datetime import datetime, timezone

userId = context.userId
timestamp = formatDate(datetime.now(timezone.utc))
return {"userId": userId, "timestamp": timestamp}
"""
    async with enclave:
        result = await enclave.run(code)
        print(result.value, result.stats.global_call_count)
        print((await enclave.run('context["userId"] = "somebody else"')).error)

    for wrong in ([format_date], {"when": [format_date]}, iter([1])):
        try:
            rf.Enclave(globals={"hooks": wrong}, allow_functions_in_globals=True)
        except TypeError as error:
            print(str(error).splitlines()[0])
    try:
        rf.Enclave(globals={"formatDate": format_date})
    except TypeError as error:
        print(error)


asyncio.run(main())

# prints:
# {'userId': 'user-123', 'timestamp': '2024-05-01T12:00:00+00:00'} 1
# RUNTIME_ERROR at line 1: context is read-only; ...
# globals: 'hooks' at 0 is a function inside a list, where only plain data may be
# globals: 'hooks' at when.0 is a function inside a list, where only plain data may be
# globals: 'hooks' at root is a list_iterator, which can be gone through once
# globals: 'formatDate' at root is a function
#   fix: pass allow_functions_in_globals=True, or offer it as a tool
