"""What a model reads before it writes a script: exact, typed Python stubs of every callable tool.

Text from tools and their published schemas; knows neither sessions nor gates. `enclave.facade` and the command line
call it. The text is valid Python and type-checks, so that models (and people's editors) read it as they read code;
nobody runs it. Pure.
"""

from __future__ import annotations

import keyword
from collections.abc import Container, Iterable
from itertools import count
from typing import Any, Final

from ringfence.contract.keywords import node_of
from ringfence.contract.output import PydanticOutput
from ringfence.contract.python_types import Declarations, bounds, is_plain_name, restored, sent
from ringfence.contract.tool import Tool

_HEADER: Final = """\
# Tools for your script. Call them with `await`:
#   await tools.{name}({by_name})
#   await tools.{name}({as_object})  # the same arguments as one object
#   await call_tool("{called}", {as_object}, throw_on_error=True)  # the same by name
# A failing tool raises ToolError (.code, .message). With throw_on_error=False, beside one object of arguments, you get
#   {{"success": True, "data": result}} or {{"success": False, "error": {{"name", "message", "code", "tool_name"}}}} instead.
# Top-level `await` and `return` work. The value of `return`, or of the last expression, is the script's result.
# `inputs` holds the caller's data; print() goes to the output. `asyncio.gather` runs calls side by side.
"""
_HANDLER: Final = """\
# Call a tool by its name, with one object of arguments:
#   await call_tool("name", {"argument": ...}, throw_on_error=True)
# A failing tool raises ToolError (.code, .message). With throw_on_error=False, beside one object of arguments, you get
#   {"success": True, "data": result} or {"success": False, "error": {"name", "message", "code", "tool_name"}} instead.
# Top-level `await` and `return` work. The value of `return`, or of the last expression, is the script's result.
# `inputs` holds the caller's data; print() goes to the output. `asyncio.gather` runs calls side by side.
"""
_NO_TOOLS: Final = """\
# There are no tools to call.
# Top-level `await` and `return` work. The value of `return`, or of the last expression, is the script's result.
# `inputs` holds the caller's data; print() goes to the output.
"""
_LONGEST_DEFAULT: Final = 60
"""Characters of a default that a signature shows; a longer one is `...`."""


def describe_python(tools: Iterable[Tool[..., Any]]) -> str:
    """Stubs for a script in Python: the types that tools use, then `class tools` with one method per tool, by name.

    The order of the tools given does not matter: equal sets give equal text.
    """
    ordered = sorted(tools, key=lambda tool: tool.name)
    if not ordered:
        return _NO_TOOLS
    types = Declarations(method_name(tool.name) for tool in ordered)
    methods = [_method(tool, types) for tool in ordered]
    parts = ["from __future__ import annotations", _imports(types.imports), *types.texts()]
    return "\n\n".join([_header(ordered) + "\n" + parts[0], *filter(None, parts[1:]), _namespace(methods)]) + "\n"


def describe_python_handler() -> str:
    """For scripts whose calls one handler answers: what they may be told without knowing a single tool."""
    return _HANDLER


def method_name(tool: str) -> str:
    """How the namespace spells a tool: keywords get an underscore (`tools.del_`)."""
    return f"{tool}_" if keyword.iskeyword(tool) else tool


def _namespace(methods: list[str]) -> str:
    return "class tools:\n" + "\n\n".join(methods)


def _imports(names: set[str]) -> str:
    modules = {"builtins", "datetime", "decimal", "uuid"}
    typing = sorted(names - modules)
    lines = [f"import {name}" for name in sorted(names & modules)]
    return "\n".join(lines + [f"from typing import {', '.join(typing)}"] * bool(typing))


def _header(tools: list[Tool[..., Any]]) -> str:
    """The forms of a call, shown with a tool that exists, if possible one that takes arguments."""
    tool = next((one for one in tools if _required(one)), tools[0])
    names = _required(tool)
    return _HEADER.format(
        name=method_name(tool.name),
        called=tool.name,
        by_name=", ".join(f"{name}=..." for name in names),
        as_object="{" + ", ".join(f'"{name}": ...' for name in names) + "}",
    )


def _required(tool: Tool[..., Any]) -> list[str]:
    return [name for name in tool.input.json_schema().get("required", ()) if is_plain_name(name)]


def _method(tool: Tool[..., Any], types: Declarations) -> str:
    schema = sent(tool.input.json_schema())
    definitions = schema.pop("$defs", {})
    camel = "".join(word.capitalize() for word in tool.name.split("_"))
    if isinstance(tool.output, PydanticOutput):
        output = restored(tool.output.script_schema())
    else:
        output = tool.output.json_schema()
    result = types.expression(True if output is None else output, (output or {}).get("$defs", {}), f"{camel}Result")
    lines = _docstring(tool, schema, output or {})
    return "\n".join(
        [
            "    @staticmethod",
            f"    async def {method_name(tool.name)}({_signature(schema, definitions, types, camel)}) -> {result}:",
            *(f"        {line}".rstrip() for line in lines),
            "        ...",
        ]
    )


def _signature(schema: dict[str, Any], definitions: dict[str, Any], types: Declarations, camel: str) -> str:
    properties: dict[str, Any] = schema.get("properties", {})
    if not all(map(is_plain_name, properties)):
        return f"arguments: {types.object_of(schema, definitions, f'{camel}Arguments')}, /"
    required = schema.get("required", ())
    shown: list[str] = []
    for name, part in properties.items():
        hint = types.expression(part, definitions, f"{camel}{name.title().replace('_', '')}")
        shown.append(f"{name}: {hint}" if name in required else f"{name}: {hint} = {_default(part)}")
    rest = schema.get("additionalProperties", True)
    others = [] if rest is False else [f"**{_free('others', properties)}: {types.expression(rest, definitions, camel)}"]
    return ", ".join([*["*"][: len(shown)], *shown, *others])


def _free(name: str, taken: Container[str]) -> str:
    return next(name + "_" * length for length in count() if name + "_" * length not in taken)


def _default(part: object) -> str:
    default = node_of(part).get("default", ...)
    if default is ... or isinstance(default, dict) or len(repr(default)) > _LONGEST_DEFAULT:
        return "..."
    return repr(default)


def _docstring(tool: Tool[..., Any], schema: dict[str, Any], output: dict[str, Any]) -> list[str]:
    about: list[str] = []
    for name, part in schema.get("properties", {}).items():
        words = [str(node_of(part).get("description", "")), *bounds(node_of(part))]
        if any(words):
            shown = name if is_plain_name(name) else repr(name)
            about.append(f"{shown}: {_flat('; '.join(word.rstrip('.') for word in words if word))}.")
    if output.get("description") and "title" not in output:
        about.append(f"Returns: {_flat(output['description'])}")
    if tool.approval != "auto":
        about.append("Waits for approval." if tool.approval == "human" else "May wait for approval.")
    lines = [line.rstrip() for line in _safe(tool.description).splitlines()]
    if about:
        lines += ["", *map(_safe, about)]
    if len(lines) == 1 and not lines[0].endswith('"'):
        return [f'"""{lines[0]}"""']
    return [f'"""{lines[0]}', *lines[1:], '"""']


def _flat(text: str) -> str:
    return " ".join(text.split())


def _safe(text: str) -> str:
    """Lines that cannot end their docstring, and that any source file may hold."""
    printable = "".join(
        character if character.isprintable() or character == "\n" else " "
        for character in text.encode(errors="replace").decode().replace("\r\n", "\n")
    )
    return printable.replace("\\", "\\\\").replace('"""', r"\"\"\"")
