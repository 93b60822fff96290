"""What usually mends an exception that a JavaScript script raised: one short sentence for the model that wrote it.

As `hints` for Python; the texts are quickjs-ng's. Judges the guest's own account, so a hint is advice and nothing more.
Knows names of globals and tools. Pure; `results` asks it.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from ringfence.contract.names import suggest
from ringfence.enclave.agentscript.vocabulary import ALL_NAMES, FIXES
from ringfence.enclave.hints import Rules, first, fixed
from ringfence.enclave.protocol import Failed

_SHOWN: Final = 20
"""Tools in a hint."""
_MEMBER: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)
"""What can stand after a dot."""


def hint_for(frame: Failed, tools: Collection[str]) -> str | None:
    """The fix, if one is known. `tools`: names that `tools` has as methods."""
    return first(_RULES, frame, tools)


def _undefined(found: re.Match[str], tools: Collection[str]) -> str | None:
    name = found[1]
    if name in tools:
        return f"write: await tools.{name}({{...}})"
    if name in FIXES:
        return FIXES[name]
    if name == "tools":
        return "write: await callTool('name', {...})"
    close = suggest(name, [*ALL_NAMES, "callTool", "console", "inputs", "parallel", "tools", *tools])
    if close is None:
        return "declare it with const or let"
    return f"did you mean {f'tools.{close}' if close in tools else close}?"


def _no_function(found: re.Match[str], tools: Collection[str]) -> str | None:
    """`tools.getOrder is not a function`, where there is `tools.get_order`."""
    space, _, method = found[1].rpartition(".")
    if space != "tools":
        return None
    if method == "callTool":
        return "callTool stands alone: await callTool('name', {...})"
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", method).lower()
    close = snake if snake in tools else suggest(snake, tools)
    return f"did you mean tools.{close}?" if close else f"the tools are {', '.join(sorted(tools)[:_SHOWN]) or 'none'}"


def _missing(found: re.Match[str], _: Collection[str]) -> str:
    """`cannot read property 'x' of undefined`; the engine names what was read, and not of what."""
    member = found[1]
    if member == "Symbol.iterator":
        return "what is gone through is missing: test for it first, or write value ?? []"
    plain = _MEMBER.fullmatch(member) is not None
    shown = f".{member}" if plain else f"[{member if member.isdecimal() else repr(member)}]"
    optional = "?" if plain else "?."
    return f"the value before {shown} is missing: test for it first, or write {optional}{shown}"


_RULES: Final[Rules] = (
    ("ReferenceError", re.compile(r"^([\w$]+) is not defined"), _undefined),
    ("ReferenceError", re.compile("^this is not initialized"), fixed("call super(...) first, before this is used")),
    ("ReferenceError", re.compile("is not initialized"), fixed("declare it further up, before its first use")),
    (
        "ReferenceError",
        re.compile("^could not load module"),
        fixed("there are no modules: use what the language has, or call a tool"),
    ),
    ("TypeError", re.compile(r"^cannot read property '(.+)' of (?:undefined|null)$"), _missing),
    (
        "TypeError",
        re.compile(r"^cannot set property '.+' of (?:undefined|null)$"),
        fixed("make the object first: value ??= {}"),
    ),
    ("TypeError", re.compile("^Cannot convert undefined or null to object"), fixed("test for the value first")),
    ("TypeError", re.compile(r"^(tools\.[\w$]+) is not a function$"), _no_function),
    (
        "TypeError",
        re.compile("not a function$"),
        fixed("await a call before its result is used, and look up the method's name"),
    ),
    (
        "TypeError",
        re.compile("not iterable$"),
        fixed("await a call before its result is used; of an object take the array inside, or Object.entries(...)"),
    ),
    (
        "TypeError",
        re.compile("is read-only|not extensible|^no setter"),
        fixed("declare it with let, or change a copy: { ...value }"),
    ),
    (
        "TypeError",
        re.compile("convert BigInt to number|^bigint arg"),
        fixed("convert one side: Number(big) or BigInt(number)"),
    ),
    ("TypeError", re.compile("BigInt are forbidden"), fixed("write String(value) for large whole numbers")),
    ("TypeError", re.compile("circular reference"), fixed("leave the way back out")),
    ("TypeError", re.compile("invoked with 'new'|called with new"), fixed("write new before the class")),
    ("TypeError", re.compile("have the 'g' flag"), fixed("write the expression with g: /.../g")),
    ("TypeError", re.compile("^empty array"), fixed("give reduce a start value")),
    ("SyntaxError", re.compile("BigInt literal"), fixed("BigInt takes whole numbers only, such as '12'")),
    (
        "SyntaxError",
        re.compile("^unexpected token: |^unexpected data at the end$|in JSON|JSON input$"),
        fixed("JSON.parse needs JSON text; results of tools and inputs are values already"),
    ),
    ("RangeError", re.compile("locale|timeZone"), fixed("use 'en-US' and 'UTC', or format with padStart and toFixed")),
    ("RangeError", re.compile("call stack"), fixed("use a loop")),
    (
        "RangeError",
        re.compile("Date value is NaN"),
        fixed("give Date a text such as 2026-01-31T12:00:00Z, or numbers"),
    ),
    ("RangeError", re.compile("convert to BigInt"), fixed("round first: BigInt(Math.round(value))")),
    ("InternalError", re.compile("string too long"), fixed("collect parts in an array, and less of them")),
)
