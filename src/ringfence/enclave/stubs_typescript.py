"""What a model reads before it writes a JavaScript script: TypeScript declarations of every tool it may call.

As `stubs` for Python. Knows the contracts of tools, and not where they run. Descriptions are somebody else's text, and
end no comment. `enclave.facade` calls it. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from ringfence.contract.output import PydanticOutput
from ringfence.contract.python_types import restored, sent
from ringfence.contract.tool import Tool
from ringfence.contract.typescript_types import TypeScript, comment, property_name

_COMMON: Final = """\
// Top-level `await` and `return` work. The value of `return`, or of the last expression, is the script's result.
// `inputs` holds the caller's data; console.log() goes to the output. `Promise.all` runs calls side by side.
// Plain JavaScript: no type annotations, modules, timers or network.
"""
_FAILURE: Final = """\
// A failing tool throws ToolError (.message, .code, .toolName). With { throwOnError: false } you get
//   { success: true, data } or { success: false, error: { name, message, code, toolName } } instead.
"""
_HEADER: Final = """\
// Tools for your script. Call them with `await`:
//   await tools.{name}({example})
//   await callTool("{called}", {example}, {{ throwOnError: true }})  // the same by name
"""
_HANDLER: Final = """\
// Call a tool by its name, with one object of arguments:
//   await callTool("name", { argument: ... }, { throwOnError: true })
"""
_DECLARED: Final = """\
interface CallOptions { throwOnError?: boolean }
declare function callTool(name: string, args: object, options?: CallOptions): Promise<any>;
declare const inputs: Record<string, any>;
"""


def describe_typescript(tools: Iterable[Tool[..., Any]]) -> str:
    """Declarations for a script in JavaScript: the types that tools use, then `tools` with one method per tool, by name.

    The order of the tools given does not matter: equal sets give equal text.
    """
    ordered = sorted(tools, key=lambda tool: tool.name)
    if not ordered:
        return "// There are no tools to call.\n" + _COMMON
    types = TypeScript()
    methods = [_method(tool, types) for tool in ordered]
    parts = [_header(ordered) + _FAILURE + _COMMON + _DECLARED.rstrip(), *types.texts()]
    return "\n\n".join([*parts, "declare const tools: {\n" + "\n".join(methods) + "\n};"]) + "\n"


def describe_typescript_handler() -> str:
    """For scripts whose calls one handler answers: what they may be told without knowing a single tool."""
    return _HANDLER + _FAILURE + _COMMON + _DECLARED


def _header(tools: list[Tool[..., Any]]) -> str:
    """The forms of a call, shown with a tool that exists, if possible one that takes arguments."""
    tool = next((one for one in tools if one.input.json_schema().get("required")), tools[0])
    required = tool.input.json_schema().get("required", ())
    example = "{ " + ", ".join(f"{property_name(name)}: ..." for name in required) + " }" if required else "{}"
    return _HEADER.format(name=tool.name, called=tool.name, example=example)


def _method(tool: Tool[..., Any], types: TypeScript) -> str:
    schema = sent(tool.input.json_schema())
    definitions = schema.pop("$defs", {})
    camel = "".join(word.capitalize() for word in tool.name.split("_"))
    output = restored(tool.output.script_schema()) if isinstance(tool.output, PydanticOutput) else None
    if output is None:
        output = tool.output.json_schema()
    result = types.expression(True if output is None else output, (output or {}).get("$defs", {}), f"{camel}Result")
    about = comment("\n".join([tool.description, *_notes(tool, output or {})]), "  ")
    lines = types.members(schema, definitions, f"{camel}Arguments")
    optional = "" if schema.get("required") else "?"
    if not lines:
        arguments = f"args{optional}: {{}}"
    else:
        arguments = f"args{optional}: {{\n" + "".join(f"    {line}\n" for line in lines) + "  }"
    return f"{about}  {tool.name}({arguments}, options?: CallOptions): Promise<{result}>;"


def _notes(tool: Tool[..., Any], output: dict[str, Any]) -> list[str]:
    notes: list[str] = []
    if output.get("description") and "title" not in output:
        notes.append(f"Returns: {' '.join(output['description'].split())}")
    if tool.approval != "auto":
        notes.append("Waits for approval." if tool.approval == "human" else "May wait for approval.")
    return notes
