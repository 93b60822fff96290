"""How each peer makes one tool call, and what that call does (read in its source, in the pinned version).

For comparison, one call of ours looks the tool up, bounds the arguments' size, depth and node count, checks that they
are JSON values and nothing else, validates them strictly, asks for approval where a tool wants it, announces two
events, gives the tool a context with an abort signal and a key against repetition, runs it in a task of its own
through a sandbox driver, under an optional timeout, classifies failures, and answers with a record that has a call id,
a status, attempts and a duration. Each import stands inside its function, since a peer may be missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

from benchmarks.peers import Calls, Function, Peer

NAME: Final = "place_order"
QUIET: Final = {
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "FASTMCP_LOG_ENABLED": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
}
"""Environment in which no peer sends anything anywhere, or colours the terminal."""


@asynccontextmanager
async def pydantic_ai(function: Function, args: dict[str, Any], timeout: float | None) -> AsyncGenerator[Calls]:
    """`ToolManager.handle_call`, prepared for one step of a run, with a function toolset and no capabilities.

    Does: look-up, validation by pydantic (lax, from text or an object), a context of its own for the call, approval
    and deferral as control flow, retry bookkeeping, a usage count, an optional timeout. Does not: bound arguments,
    emit events (a capability would), isolate the tool from its caller's task, or record how the call ended.
    """
    from pydantic_ai import FunctionToolset, RunContext, Tool
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.tool_manager import ToolManager
    from pydantic_ai.usage import RunUsage

    toolset = FunctionToolset([Tool(function, timeout=timeout)])
    context = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    manager = await ToolManager(toolset).for_run_step(context)
    text = ToolCallPart(NAME, json.dumps(args), tool_call_id="1")
    ready = ToolCallPart(NAME, args, tool_call_id="1")
    yield Calls(text=lambda: manager.handle_call(text), object=lambda: manager.handle_call(ready))


@asynccontextmanager
async def openai_agents(function: Function, args: dict[str, Any], timeout: float | None) -> AsyncGenerator[Calls]:
    """`FunctionTool.on_invoke_tool(context, json_text)`; with a timeout `invoke_function_tool`, which applies it.

    Does: parsing, validation by a pydantic model (lax), debug logging, an exception turned into text for the model.
    Does not: look the tool up, ask for approval, run guardrails, emit events, make a context, trace (its runner does
    all that, around this function). So it is "validate and call", not a governed call: shown, not judged.
    """
    from agents import function_tool
    from agents.tool import invoke_function_tool
    from agents.tool_context import ToolContext

    tool = function_tool(function, timeout=timeout)
    text = json.dumps(args)
    context = ToolContext(context=None, tool_name=NAME, tool_call_id="1", tool_arguments=text)
    if timeout is None:
        yield Calls(text=lambda: tool.on_invoke_tool(context, text), object=lambda: tool.on_invoke_tool(context, text))
        return

    async def bounded() -> Any:
        return await invoke_function_tool(function_tool=tool, context=context, arguments=text)

    yield Calls(text=bounded, object=bounded)


@asynccontextmanager
async def fastmcp(function: Function, args: dict[str, Any], timeout: float | None) -> AsyncGenerator[Calls]:
    """`FastMCP.call_tool` on the server's side. A client in memory adds the protocol, and takes four times as long.

    Does: a context, middleware, a tracing span (nobody listens), look-up through providers, validation by pydantic
    (lax, from an object), an optional timeout, the result as MCP content. Does not: bound arguments, ask for approval.
    """
    from fastmcp import FastMCP

    server = FastMCP("bench")
    server.tool(function, timeout=timeout)
    yield Calls(text=lambda: server.call_tool(NAME, args), object=lambda: server.call_tool(NAME, args))


@asynccontextmanager
async def langchain_core(function: Function, args: dict[str, Any], timeout: float | None) -> AsyncGenerator[Calls]:
    """`StructuredTool.ainvoke` with a dict. A whole ToolCall, answered by a ToolMessage, takes a little longer.

    Does: configuration, a callback manager with run ids (start, end, error; nobody listens), validation by pydantic
    (lax, from an object), a copy of the context variables. Does not: look the tool up, bound arguments, ask for
    approval, apply a timeout (there is none for one tool).
    """
    from langchain_core.tools import StructuredTool

    assert timeout is None, "langchain-core has no timeout for one tool"
    tool = StructuredTool.from_function(coroutine=function)
    yield Calls(text=lambda: tool.ainvoke(args), object=lambda: tool.ainvoke(args))


PEERS: Final = (
    Peer(name="pydantic-ai", module="pydantic_ai", open=pydantic_ai, is_comparable=True),
    Peer(name="openai-agents", module="agents", open=openai_agents, is_comparable=False),
    Peer(name="fastmcp", module="fastmcp", open=fastmcp, is_comparable=True),
    Peer(name="langchain-core", module="langchain_core", open=langchain_core, is_comparable=True, has_timeout=False),
)


def be_quiet() -> None:
    """Set `QUIET`. Call it before any peer is imported."""
    os.environ.update(QUIET)
