"""What a JavaScript script may say at each security level, as one table: the checker, the docs and the tests read it.

STRICT is the whole rule table of AgentScript, the second seed's script language (enclave catalogue 1.L, 1.M); SECURE
refuses introspection, code made at run time, and names that stand for the host; STANDARD and PERMISSIVE only report,
since the wall is the kernel. What can never work is an error at every level. Pure data, standard library only: it is
loaded into the jailed guest. Knows no syntax tree; the other files of this package look for what is named here.
"""

from __future__ import annotations

from typing import Final

from ringfence.enclave.rules import Rule

_TEXT: Final = (
    Rule(
        "SOURCE_TOO_LARGE",
        "EEEE",
        "more bytes of source than the level allows",
        "the source has {name}",
        "pass data as inputs, not inside the source",
        "bounds what the parser is fed",
    ),
    Rule(
        "LINE_TOO_LONG",
        "EEEE",
        "a line longer than the level allows",
        "a line of {name}",
        "break the line, or pass its data as inputs",
        "nobody can review it",
    ),
    Rule("TOO_MANY_LINES", "EEEE", "more lines than the level allows", "{name}", "send a shorter script", "as above"),
    Rule(
        "TOO_DEEP",
        "EEEE",
        "brackets or expressions nested deeper than the level, or the engine, allows",
        "{name}",
        "split long expressions into steps",
        "deep nesting overflows parsers (B77)",
    ),
    Rule(
        "OPERATOR_SPAM",
        "EEEE",
        "signs (`-`, `+`, `~`) in a row",
        "{name} in a row",
        "write one",
        "each is a level of recursion in the engine",
    ),
    Rule(
        "NULL_BYTE",
        "EEEE",
        "a NUL character",
        "a NUL character in the source",
        "remove it",
        "what reads the text as bytes sees another script",
    ),
    Rule(
        "BIDI_CONTROL",
        "EEEE",
        "a character that changes the direction of text (U+202A–202E, U+2066–2069): anywhere at STRICT and SECURE; "
        "outside string literals, or left open inside one, at the others",
        "the character {name} changes the order in which this line is shown",
        "remove it, or write it as an escape in a string",
        "what a reviewer reads is not what runs (CVE-2021-42574); closed pairs in quoted text are honest",
    ),
    Rule(
        "INVISIBLE_CHARACTER",
        "EEEE",
        "a character that cannot be seen, outside string literals and comments; at STRICT inside them too, except a "
        "joiner between letters or emoji",
        "the character {name} cannot be seen",
        "remove it, or write it as an escape in a string",
        "two names that look the same must be the same; quoted text is data",
    ),
    Rule(
        "CONFUSABLE_NAME",
        "EEww",
        "a name written with letters that only look like ASCII (Cyrillic, Greek, fullwidth, mathematical)",
        "{name} is not the name that it looks like",
        "write it in ASCII letters",
        "a reviewer reads `callTool` and the engine something else",
    ),
)

_ALWAYS: Final = (
    Rule(
        "SYNTAX",
        "EEEE",
        "text that is not JavaScript: type annotations and JSX as well, and what strict mode refuses",
        "{name}",
        "correct the syntax on this line",
        "it cannot run",
    ),
    Rule(
        "FORBIDDEN_IMPORT",
        "EEEE",
        "`import`, `export`, `import()` and `import.meta`",
        "{name} needs modules, and scripts have none",
        "use what the language has, or call a tool",
        "there is no module loader; AgentScript refuses them while parsing",
    ),
    Rule(
        "NO_WITH",
        "EEEE",
        "`with`",
        "{name} makes names mean something else",
        "write the object before each member",
        "strict mode has no `with`",
    ),
    Rule(
        "UNAWAITED_CALL",
        "EEEE",
        "a call of a tool, or of the script's own asynchronous function, whose promise is used as if it were the result: "
        "taken apart, calculated or compared with, tested, put into text, printed; also through a constant",
        "the promise of {name} is used as if it were its result",
        "write await before the call",
        "a promise has no such members, and is always true (B85)",
    ),
    Rule(
        "FLOATING_CALL",
        "wwww",
        "such a call as a statement of its own, without `await`; the last statement of a script is its value",
        "nothing waits for {name}, and what is open at the end is cancelled",
        "write await before the call",
        "the call begins, and may not end",
    ),
)

_NAMES: Final = (
    Rule(
        "UNKNOWN_GLOBAL",
        "EEw-",
        "a name that nothing declares where it is used, and that the level does not give",
        "nothing here is called {name}",
        "declare it, or correct its spelling",
        "AgentScript; at run time it is a ReferenceError",
    ),
    Rule(
        "DISALLOWED_IDENTIFIER",
        "EEww",
        "a name of the level's list below, unless the script declares it: as a variable; with a dot, in brackets or as a "
        "key, at STRICT any of them, at the others `prototype`, `__proto__` and the like",
        "{name} is not for scripts of this level",
        "use plain data and functions instead",
        "AgentScript; at the other levels only what stands for the host or leads behind objects",
    ),
    Rule(
        "NO_GLOBAL_ACCESS",
        "EEww",
        "`globalThis`, `window`, `self`, `global`, and members of `this` outside methods and functions (at STRICT "
        "anywhere)",
        "{name} stands for the global object",
        "use the name itself",
        "whoever holds the global object can list and replace what others rely on",
    ),
    Rule(
        "NO_GLOBAL_DESTRUCTURE",
        "EEww",
        "destructuring of the same",
        "{name} is taken apart",
        "use the names themselves",
        "as above",
    ),
    Rule(
        "NO_CONSTRUCTOR_ACCESS",
        "EEww",
        "`constructor` of anything, with a dot, in brackets, or with a key that constants make (concatenation, `join`, "
        "`fromCharCode`, conditions …)",
        "{name} leads from a value to the function that made it",
        "use typeof, Array.isArray or instanceof",
        "`x.constructor.constructor` makes code from text",
    ),
    Rule(
        "NO_DANGEROUS_DESTRUCTURING",
        "EEww",
        "destructuring of `constructor`, `prototype`, `__proto__` and the like, also by a key that constants make",
        "{name} is taken out of an object",
        "take out ordinary members only",
        "as `NO_CONSTRUCTOR_ACCESS`",
    ),
    Rule(
        "NO_COMPUTED_DESTRUCTURING",
        "E---",
        "destructuring with a key that is computed",
        "{name} is a key that is made at run time",
        "write object[key]",
        "AgentScript; elsewhere such keys are looked at while the script runs",
    ),
    Rule(
        "RESERVED_PREFIX",
        "EEww",
        "a name that begins with `__ag_` or `__safe_`, declared, assigned or as a member that is assigned",
        "{name} begins as names of the runtime do",
        "choose another name",
        "what instruments a script uses such names",
    ),
    Rule(
        "REBOUND_NAME",
        "EEw-",
        "`callTool`, `ToolError` or a namespace declared or assigned anew at the script's top level",
        "{name} is replaced, so its tools cannot be reached any more",
        "choose another name",
        "what looks like a tool call is none",
    ),
    Rule(
        "SHADOWED_NAME",
        "Ew--",
        "the same inside a function or a block",
        "{name} means something else in here",
        "choose another name",
        "AgentScript refuses it; elsewhere a parameter named `mail` is ordinary",
    ),
)

_DYNAMIC: Final = (
    Rule(
        "NO_EVAL",
        "EEww",
        "`eval`, `Function`, `AsyncFunction`, `GeneratorFunction`, and text handed to a timer",
        "{name} makes code at run time",
        "write the code itself; for data use JSON.parse",
        "code that is built cannot be judged beforehand",
    ),
    Rule(
        "NO_REFLECT_API",
        "EEww",
        "`Reflect`",
        "{name} looks at objects as machinery",
        "use the operators: object[key], key in object, fn(...args)",
        "calls and constructs anything by itself",
    ),
    Rule(
        "NO_META_PROGRAMMING",
        "EEww",
        "`Object.getOwnPropertyDescriptor`, `getOwnPropertyDescriptors`, `getPrototypeOf`, `setPrototypeOf`, "
        "`defineProperty`, `defineProperties`, `create` (`create(null)` at STRICT only), and `__defineGetter__` and its "
        "like",
        "{name} changes what objects are",
        "use plain objects: { key: value } or Object.fromEntries",
        "hooks run a script's code inside somebody else's statement",
    ),
    Rule(
        "JSON_CALLBACK_NOT_ALLOWED",
        "E---",
        "a replacer of `JSON.stringify` or a reviver of `JSON.parse` other than null, undefined or an array",
        "{name} lets JSON walk the values with a function",
        "convert the values first",
        "AgentScript: replacers and revivers are walkers",
    ),
)

_PATTERNS: Final = (
    Rule(
        "NO_REGEX_LITERAL",
        "E---",
        "a regular expression",
        "the pattern {name} is not part of this level",
        "use includes, startsWith, indexOf or split with text",
        "AgentScript: patterns can take for ever",
    ),
    Rule(
        "REGEX_METHOD_DYNAMIC",
        "w---",
        "`match`, `matchAll`, `replace`, `replaceAll`, `search`, `split` with a pattern that is not text in the source",
        "{name} may be given a pattern that is made at run time",
        "pass text that stands in the source",
        "AgentScript: a warning",
    ),
    Rule(
        "CATASTROPHIC_REGEX",
        "EEw-",
        "a pattern in which a group of one repeated thing, or of alternatives that begin alike, is repeated itself "
        "(`(a+)+`, `(a|a)*`)",
        "the pattern {name} can take for ever",
        "remove the inner or the outer repetition",
        "the engine backtracks, and nothing can interrupt it but the kernel (M3)",
    ),
    Rule(
        "REGEX_TOO_LONG",
        "EEw-",
        "a pattern of more characters than the level allows: 100, 200, 500, 1,000",
        "a pattern of {name}",
        "split it, or use text methods",
        "nobody can review it",
    ),
    Rule(
        "TOO_MANY_REGEXES",
        "EEw-",
        "more patterns in a script than the level allows: 10, 20, 30, 50",
        "{name}",
        "use text methods",
        "as above",
    ),
)

_TOOLS: Final = (
    Rule(
        "DYNAMIC_CALL_TARGET",
        "EEw-",
        "`callTool`, also through an alias, with a tool name that is not made of constants, at STRICT and SECURE with "
        "one that is not written in the call itself; a namespace with a key that is not made of constants",
        "the tool's name is not written in the call of {name}",
        "write the tool's name as text, or use its namespace",
        "a reviewer must be able to read what a script can do (C15)",
    ),
    Rule(
        "MISSING_CALL_TARGET",
        "EEww",
        "`callTool()` without a tool name",
        "{name} needs the tool's name",
        "write callTool('tool', {...})",
        "it cannot work (C15)",
    ),
    Rule(
        "UNKNOWN_TOOL_NAME",
        "Ewww",
        "a member that the namespace does not have",
        "there is no tool {name}",
        "use one of the namespace's tools",
        "AgentScript's whitelist; at run time it is undefined",
    ),
)

_LOOPS: Final = (
    Rule(
        "FORBIDDEN_LOOP",
        "E---",
        "`while`, `do` … `while` and `for` … `in`",
        "{name} loops are not part of this level",
        "use for … of, or for (let i = 0; i < n; i++)",
        "AgentScript: refused",
    ),
    Rule(
        "INFINITE_LOOP",
        "EEww",
        "`for (;;)` and loops with a constant true condition: at STRICT any, at the others those in which nothing leaves "
        "or waits",
        "{name} never ends",
        "add a bound or a break",
        "it would run until the deadline",
    ),
    Rule(
        "RESOURCE_EXHAUSTION",
        "EEww",
        "constants that ask for huge values: `2n ** 20000n`, `Array(1e7)`, `'x'.repeat(1e9)`, `fill`, `join`, `padEnd`, "
        "typed arrays; the bounds of STRICT and SECURE are AgentScript's",
        "{name} does not fit into any limit",
        "use a smaller number",
        "said early it costs no call; the kernel's memory limit is the wall",
    ),
    Rule(
        "UNREACHABLE_CODE",
        "wwww",
        "statements after `return`, `throw`, `break` or `continue`",
        "nothing reaches what follows {name}",
        "delete it, or move it up",
        "AgentScript: a warning",
    ),
)

_SYNTAX: Final = (
    Rule(
        "UNSUPPORTED_SYNTAX",
        "EEww",
        "a construct that these rules do not know; decorators and `using` among them",
        "{name} is not supported here",
        "write it with older syntax",
        "unknown means no; new syntax is off until it is covered (B86, B128)",
    ),
    Rule(
        "NO_USER_FUNCTION_DECLARATION",
        "E---",
        "function declarations, generators included",
        "the function {name} is declared",
        "write const name = (…) => {…}",
        "AgentScript: arrow functions only",
    ),
    Rule(
        "NO_USER_FUNCTION_EXPRESSION",
        "E---",
        "function expressions, generators included",
        "{name} is a function expression",
        "write an arrow function: (…) => {…}",
        "as above",
    ),
    Rule(
        "NO_USER_METHOD_DEFINITION",
        "E---",
        "methods, getters and setters of classes",
        "the method {name} is defined",
        "use data, and arrow functions beside it",
        "as above; classes without methods stay",
    ),
    Rule(
        "NO_USER_METHOD_SHORTHAND",
        "E---",
        "methods, getters and setters of object literals",
        "the method {name} is defined",
        "write name: (…) => {…}",
        "as above",
    ),
)

GROUPS: Final[tuple[tuple[str, tuple[Rule, ...]], ...]] = (
    ("Text, before the parser sees it", _TEXT),
    ("What cannot work", _ALWAYS),
    ("Names and members", _NAMES),
    ("Code and machinery", _DYNAMIC),
    ("Regular expressions", _PATTERNS),
    ("Tools", _TOOLS),
    ("Loops and sizes", _LOOPS),
    ("Constructs", _SYNTAX),
)
RULES: Final[dict[str, Rule]] = {rule.code: rule for _, rules in GROUPS for rule in rules}
