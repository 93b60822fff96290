"""Calls that nobody awaits are found before anything runs."""

from __future__ import annotations

import pytest

from ringfence.enclave.check.awaits import unawaited
from ringfence.enclave.check.findings import MAX_FINDINGS, Found
from ringfence.enclave.source import parse


def places(source: str) -> list[tuple[int, int]]:
    return [(found.line, found.column) for found in unawaited(parse(source), ["tools"])]


@pytest.mark.parametrize(
    "source",
    [
        "call_tool('a', {})",
        "tools.a(x=1)",
        "return call_tool('a', {})",
        "if 1:\n    return tools.a()",
        "x = call_tool('a', {})['rows']",
        "x = tools.a().rows",
        "for row in call_tool('a', {}):\n    pass",
        "[r for r in tools.a()]",
        "print(tools.a())",
        "n = len(call_tool('a', {}))",
        "x = f'{tools.a()}'",
        "if call_tool('a', {}):\n    pass",
        "x = tools.a() + 1",
        "x = tools.a() == 1",
        "x = not tools.a()",
        "assert tools.a() is not None",
        "if x or tools.a():\n    pass",
        "while not (x and tools.a()):\n    pass",
        "y = 1 if tools.a() or x else 2",
        "[r for r in x if tools.a(r)]",
        "x = tools.a() and 5",
        "async def f():\n    tools.a()",
        "async def main():\n    pass\nmain()",
        "async def main():\n    pass\nmain()\nx = 1",
        "async def main():\n    pass\nreturn main()",
        "async def main():\n    pass\nif __name__ == '__main__':\n    main()",
        "async def load():\n    return []\nfor row in load():\n    pass",
    ],
)
def test_a_result_that_is_used_or_dropped_without_await_is_found(source: str) -> None:
    assert len(unawaited(parse(source), ["tools"])) == 1


@pytest.mark.parametrize(
    "source",
    [
        "await call_tool('a', {})",
        "x = await tools.a()",
        "x = (await tools.a())['rows']",
        "import asyncio\nawait asyncio.gather(*[tools.a(i=i) for i in range(3)])",
        "import asyncio\nt = asyncio.create_task(tools.a())",
        "calls = [tools.a(), tools.b()]",
        "x = await (cached or tools.a())",
        "x = await (tools.a() or None)",
        "x = flag and tools.a()\nawait x",
        "def print(call):\n    return call\nawait print(tools.a())",
        "tools.__dir__()",
        "def f():\n    return tools.a()",
        "f = lambda: call_tool('a', {})",
        "x = tools.a\nawait x()",
        "tools = {}\ntools.get('x')",
        "def call_tool(a):\n    return a\ncall_tool(1)",
        "from mine import tools\ntools.a()",
        "def f(tools):\n    tools.a()",
        "async def main():\n    pass\nawait main()",
        "import asyncio\nasync def main():\n    pass\nasyncio.run(main())",
        "async def main():\n    yield 1\nmain()",
        "@decorated\nasync def main():\n    pass\nmain()",
        "async def main():\n    pass\nmain = len\nmain()",
        "async def main():\n    pass\ndef f(main):\n    main()",
        "async def main():\n    def numbers():\n        yield 1\n    return main\nx = main()",
    ],
)
def test_calls_that_are_awaited_somewhere_are_left_alone(source: str) -> None:
    assert unawaited(parse(source), ["tools"]) == []


def test_a_finding_says_what_to_write() -> None:
    assert unawaited(parse("x = 1\nrows = call_tool('list_orders', {'n': 2})['rows']"), ["tools"]) == [
        Found(
            code="UNAWAITED_CALL",
            line=2,
            column=8,
            message="call_tool(…) is taken apart without await, so the tool would never run",
            fix="write: (await call_tool('list_orders', {'n': 2}))",
        )
    ]


def test_findings_come_in_source_order_and_are_bounded() -> None:
    assert places("tools.a()\n" * 50) == [(line, 1) for line in range(1, MAX_FINDINGS + 1)]
