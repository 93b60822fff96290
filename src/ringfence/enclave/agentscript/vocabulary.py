"""Names that the JavaScript rules are about: globals, members, syntax. Pure data; `rules.py` says what they mean."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

# names

GUEST: Final = frozenset("callTool parallel inputs console ToolError GlobalFunctionError".split())
"""What the guest itself puts into a script's globals; `tools` is a namespace."""
ERRORS: Final = frozenset(
    """Error EvalError RangeError ReferenceError SyntaxError TypeError URIError AggregateError SuppressedError
    InternalError""".split()
)
_MODERATE: Final = frozenset(
    "parseInt parseFloat isNaN isFinite encodeURI encodeURIComponent decodeURI decodeURIComponent".split()
)
STRICT_NAMES: Final = GUEST | frozenset("Math JSON Array Object String Number Date NaN Infinity".split())
"""Globals of STRICT (enclave catalogue, G2)."""
ALL_NAMES: Final = (
    STRICT_NAMES
    | ERRORS
    | _MODERATE
    | frozenset(
        """ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DOMException DataView
        DisposableStack Float16Array Float32Array Float64Array Function Int16Array Int32Array Int8Array Iterator Map
        Promise Proxy Reflect RegExp Set Symbol TextDecoder TextEncoder Uint16Array Uint32Array Uint8Array
        Uint8ClampedArray URL URLSearchParams WeakMap WeakSet atob btoa crypto escape eval globalThis performance queueMicrotask
        structuredClone unescape""".split()
    )
)
"""Globals that the guest has."""

HOST: Final = frozenset("process require module exports __dirname __filename Buffer".split())
"""Names of a host that is not there."""
CODE: Final = frozenset("eval Function AsyncFunction GeneratorFunction AsyncGeneratorFunction".split())
BEHIND: Final = frozenset(
    "constructor prototype __proto__ __defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__".split()
)
"""Members that lead from a value to what made it."""
LEGACY: Final = frozenset("__defineGetter__ __defineSetter__ __lookupGetter__ __lookupSetter__".split())
GLOBAL_OBJECT: Final = frozenset("globalThis window self global".split())
DEEP: Final = frozenset(
    """Proxy SharedArrayBuffer Atomics WeakRef FinalizationRegistry ShadowRealm Iterator AsyncIterator gc
    WebAssembly""".split()
)
"""Globals that SECURE does not have (G3)."""
DISALLOWED: Final = MappingProxyType[str, frozenset[str]](
    {
        "STRICT": HOST
        | CODE
        | ERRORS
        | DEEP
        | {"prototype", "__proto__", "arguments"}
        | frozenset(
            """RegExp Promise Symbol Map Set WeakMap WeakSet Reflect fetch XMLHttpRequest WebSocket localStorage
            sessionStorage indexedDB crypto performance structuredClone AbortController AbortSignal MessageChannel
            MessagePort BroadcastChannel TextEncoder TextDecoder Intl setTimeout setInterval setImmediate clearTimeout
            clearInterval clearImmediate queueMicrotask Worker SharedWorker ServiceWorker importScripts""".split()
        ),
        "SECURE": HOST | DEEP | {"prototype", "__proto__"},
        "STANDARD": HOST | {"prototype", "__proto__"},
        "PERMISSIVE": HOST | {"prototype", "__proto__"},
    }
)
"""Names of `DISALLOWED_IDENTIFIER` (L1); at STRICT also as members."""
MEMBERS: Final = frozenset({"prototype", "__proto__"})
"""Those that the other levels look for as members."""
META: Final = frozenset(
    """Object.getOwnPropertyDescriptor Object.getOwnPropertyDescriptors Object.getPrototypeOf Object.setPrototypeOf
    Object.defineProperty Object.defineProperties Object.create""".split()
)
RESERVED_PREFIXES: Final = ("__ag_", "__safe_")
CONVENIENT: Final = frozenset({"then", "catch", "finally"})
"""Members that a promise has."""
REGEX_METHODS: Final = frozenset("match matchAll replace replaceAll search split".split())
TIMERS: Final = frozenset("setTimeout setInterval setImmediate".split())
CONSUMERS: Final = frozenset(
    """JSON.stringify Object.keys Object.values Object.entries Object.fromEntries Array.from String Number Boolean
    parseInt parseFloat isNaN Number.isInteger Array.isArray structuredClone console.log console.info console.warn
    console.error console.debug console.table console.dir""".split()
)
"""Functions to which a promise is never what was meant."""
SIZED: Final = frozenset(
    """Array ArrayBuffer Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array
    Float16Array Float32Array Float64Array BigInt64Array BigUint64Array""".split()
)
"""Constructors to which a number is a size."""

# what helps instead

_TOOL: Final = "call a tool"
_TIMER: Final = "there are no timers: call what should run, and await it"
_FILES: Final = "scripts have no files: call a tool, or pass the text as inputs"
FIXES: Final = MappingProxyType[str, str](
    {
        "process": "there is no process: pass what the script needs as inputs",
        "require": "there are no modules: use what the language has, or call a tool",
        "module": "remove it: return the value",
        "exports": "remove it: return the value",
        "__dirname": _FILES,
        "__filename": _FILES,
        "fs": _FILES,
        "path": "scripts have no files: join text with '/'",
        "os": "scripts cannot look at the machine: pass what is needed as inputs",
        "Buffer": "use Uint8Array with TextEncoder, or btoa and atob",
        "Deno": _TOOL,
        "Bun": _TOOL,
        "fetch": "there is no network: call a tool",
        "XMLHttpRequest": "there is no network: call a tool",
        "WebSocket": "there is no network: call a tool",
        "axios": "there is no network: call a tool",
        "localStorage": "keep it in a variable, or call a tool",
        "sessionStorage": "keep it in a variable, or call a tool",
        "indexedDB": "keep it in a variable, or call a tool",
        "document": "there is no page: return the data",
        "window": "there is no window: use the name itself",
        "globalThis": "use the name itself",
        "self": "use the name itself",
        "global": "use the name itself",
        "alert": "write console.log(...)",
        "prompt": "read inputs, or call a tool",
        "setTimeout": _TIMER,
        "setInterval": "there are no timers: use a loop with await",
        "setImmediate": _TIMER,
        "clearTimeout": "there are no timers: remove it",
        "clearInterval": "there are no timers: remove it",
        "clearImmediate": "there are no timers: remove it",
        "queueMicrotask": "await the call instead",
        "Intl": "format with toFixed, padStart and join",
        "AbortController": "calls end by themselves at the run's deadline: remove it",
        "Worker": "use Promise.all for several calls at once",
        "lodash": "use the methods of arrays and objects",
        "_": "use the methods of arrays and objects",
        "moment": "use Date",
        "dayjs": "use Date",
        "print": "write console.log(...)",
        "len": "write value.length",
        "str": "write String(value)",
        "int": "write Math.trunc(Number(value))",
        "float": "write Number(value)",
        "None": "write null",
        "True": "write true",
        "False": "write false",
        "bool": "write Boolean(value)",
        "dict": "write an object: { key: value }",
        "list": "write [...values]",
        "tuple": "write an array: [a, b]",
        "range": "write for (let i = 0; i < n; i++), or Array.from({ length: n }, (_, i) => i)",
        "enumerate": "write array.entries()",
        "sorted": "write [...array].sort((a, b) => a - b)",
        "sum": "write array.reduce((total, value) => total + value, 0)",
        "min": "write Math.min(...array)",
        "max": "write Math.max(...array)",
        "abs": "write Math.abs(value)",
        "round": "write Math.round(value)",
        "isinstance": "write typeof value === '...', or Array.isArray(value)",
        "json": "write JSON.parse(text) or JSON.stringify(value)",
        "asyncio": "write await Promise.all([...]) for several calls at once",
        "sleep": "there are no timers: call what should run, and await it",
        "Exception": "write throw new Error('...')",
        "call_tool": "write await callTool('name', {...})",
        "eval": "write the code itself; for data use JSON.parse",
        "Function": "write an arrow function: (…) => …",
        "arguments": "name the parameters, or write (...args) => …",
    }
)
"""The smallest change, by name."""
STRICT_FIXES: Final = MappingProxyType[str, str](
    {
        "Promise": "use parallel(items, async (item) => …), or await the calls one by one",
        "Map": "use an object: { key: value }",
        "Set": "use an array with includes",
        "WeakMap": "use an object: { key: value }",
        "WeakSet": "use an array with includes",
        "RegExp": "use includes, startsWith, indexOf or split with text",
        "Symbol": "use text as the key",
        "crypto": "call a tool that makes the id",
        "performance": "use Date.now()",
        "structuredClone": "write JSON.parse(JSON.stringify(value))",
        "parseInt": "write Math.trunc(Number(text))",
        "parseFloat": "write Number(text)",
        "isNaN": "write Number.isNaN(value)",
        "isFinite": "write Number.isFinite(value)",
        "Boolean": "write (value) => !!value",
        "BigInt": "write the number with n: 10n",
        "TextEncoder": "call a tool",
        "TextDecoder": "call a tool",
        **dict.fromkeys(ERRORS, "throw an object: throw { message: '…' }"),
    }
)
"""The same, for what only STRICT refuses."""

# constructs

KNOWN_KINDS: Final = frozenset(
    """program export_statement namespace_export export_clause export_specifier import import_statement import_clause
    namespace_import named_imports import_specifier import_attribute expression_statement variable_declaration
    lexical_declaration variable_declarator statement_block else_clause if_statement switch_statement for_statement
    for_in_statement while_statement do_statement try_statement with_statement break_statement continue_statement
    debugger_statement return_statement throw_statement empty_statement labeled_statement switch_body switch_case
    switch_default catch_clause finally_clause parenthesized_expression yield_expression object object_pattern
    assignment_pattern object_assignment_pattern array array_pattern member_expression string class class_declaration
    class_heritage function_expression function_declaration generator_function generator_function_declaration
    arrow_function call_expression new_expression await_expression subscript_expression assignment_expression
    augmented_assignment_expression spread_element ternary_expression binary_expression unary_expression
    update_expression sequence_expression template_string template_substitution regex meta_property arguments
    class_body field_definition formal_parameters class_static_block rest_pattern method_definition pair pair_pattern
    computed_property_name property_identifier shorthand_property_identifier shorthand_property_identifier_pattern
    statement_identifier identifier string_fragment optional_chain escape_sequence regex_pattern regex_flags number
    private_property_identifier this super true false null undefined ERROR""".split()
)
FUNCTION_CODES: Final = MappingProxyType(
    {
        "function_declaration": "NO_USER_FUNCTION_DECLARATION",
        "generator_function_declaration": "NO_USER_FUNCTION_DECLARATION",
        "function_expression": "NO_USER_FUNCTION_EXPRESSION",
        "generator_function": "NO_USER_FUNCTION_EXPRESSION",
    }
)
