# Second seed, "Tool Namespaces": tools as methods of names that scripts find.
from __future__ import annotations

import asyncio
from typing import Any

import ringfence as rf


async def handle(name: str, args: dict[str, Any]) -> object:
    print(name, args)
    return [{"from": 7}] if name == "mail.list" else {"id": args["id"], "name": "Alice"}


async def main() -> None:
    enclave = rf.Enclave(
        tool_handler=handle,
        tool_namespaces={
            "mail": ["list", "send"],  # mail.list(args) calls the tool "mail.list"
            "users": {"get": "users:get"},  # users.get(args) calls the tool "users:get"
        },
    )
    async with enclave:
        result = await enclave.run("""
inbox = await mail.list({"unread": True})
return await users.get({"id": inbox[0]["from"]})
""")
        print(result.value)

        result = await enclave.run("""
m = mail  # aliases work, and so does taking a method out
fetch, send = m.list, m.send
return len(await fetch(unread=True))
""")
        print(result.value, result.stats.tool_call_count)

    for namespaces in ({"import": ["x"]}, {"print": ["x"]}, {"_util": ["list"]}, {"mail": ["list", "list"]}):
        try:
            rf.Enclave(tool_namespaces=namespaces)
        except TypeError as error:
            print(str(error).splitlines()[0])


asyncio.run(main())

# prints:
# mail.list {'unread': True}
# users:get {'id': 7}
# {'id': 7, 'name': 'Alice'}
# mail.list {'unread': True}
# 1 1
# Invalid toolNamespaces: namespace 'import' is a reserved word of Python
# Invalid toolNamespaces: namespace 'print' would hide a name that every script has
# Invalid toolNamespaces: namespace '_util', method 'list' leads to the tool name '_util.list', which not every adapter can carry
# Invalid toolNamespaces: namespace 'mail', method 'list' is listed twice
