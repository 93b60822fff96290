"""What a Python script may say at each security level, as one table: the checker, the docs and the tests read it.

STRICT is the whole rule table of the second seed's script language (enclave catalogue 1.L), carried over to Python
(section 5); SECURE refuses introspection, code made at run time, and names with two underscores or that lead to
frames; STANDARD and PERMISSIVE only report, since the wall is the kernel. Pure data, standard library only: it is
loaded into the jailed guest. Knows no syntax tree; `enclave.check` looks for what is named here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Level = Literal["STRICT", "SECURE", "STANDARD", "PERMISSIVE"]
Verdict = Literal["error", "warning", "allowed"]

RULED: Final[tuple[Level, ...]] = ("STRICT", "SECURE", "STANDARD", "PERMISSIVE")
"""Levels from tight to wide, in the order of a rule's letters."""
_LETTERS: Final[tuple[tuple[str, Verdict], ...]] = (("E", "error"), ("w", "warning"), ("-", "allowed"))


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table."""

    code: str
    verdicts: str
    """A letter per level, STRICT first: `E` error, `w` warning, `-` allowed."""
    matches: str
    """What in a script it is about, for the page."""
    message: str
    """Text of a finding; `{name}` stands for what was found."""
    fix: str
    """The smallest change that helps."""
    reason: str
    """Why the verdicts are what they are."""

    def verdict(self, level: str) -> Verdict:
        """What this level says. A level that is not ruled allows everything."""
        if level not in RULED:
            return "allowed"
        return dict(_LETTERS)[self.verdicts[RULED.index(level)]]


_TEXT_RULES: Final = (
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
        "brackets or expressions nested deeper than the level, or Python, allows",
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
        "each is a level of recursion in the parser",
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
        "a name written with letters that only look like ASCII (Cyrillic, Greek), or that Python turns into ASCII "
        "(fullwidth, mathematical)",
        "{name} is not the name that it looks like",
        "write it in ASCII letters",
        "`ｅｖａｌ` is `eval`; the other rules are applied to the normalised name in any case",
    ),
)

_ALWAYS: Final = (
    Rule(
        "SYNTAX",
        "EEEE",
        "text that is not Python",
        "{name}",
        "correct the syntax on this line",
        "it cannot run",
    ),
    Rule(
        "YIELD",
        "EEEE",
        "`yield` at the script's own level",
        "yield outside a function",
        "put it into a function, or use return",
        "a script has one value",
    ),
    Rule(
        "UNAWAITED_CALL",
        "EEEE",
        "a call of a tool, or of the script's own coroutine, whose result is used or dropped without `await`",
        "{name} without await",
        "write await before the call",
        "it would never run (B85)",
    ),
)

_NAMES: Final = (
    Rule(
        "DUNDER",
        "EEww",
        "a name, attribute, keyword argument or pattern attribute with two underscores on both sides that is not in "
        "the list of allowed ones",
        "{name} reaches into Python's own machinery",
        "use type(x), a plain attribute, or a function for it",
        "`__class__`, `__globals__`, `__subclasses__` … are how sandboxes are left (B119, B122)",
    ),
    Rule(
        "PROTOCOL_CALL",
        "EE--",
        "a method that Python calls by itself, named by the script (`x.__len__()`)",
        "{name} is called by an operator or a builtin",
        "use the operator or the builtin",
        "elsewhere harmless: what such a method is made of is DUNDER",
    ),
    Rule(
        "FRAME_ATTRIBUTE",
        "EEww",
        "attributes of frames, code objects, generators and tracebacks (`gi_frame`, `f_back`, `tb_next`, `co_code` …)",
        "{name} leads to frames or code objects",
        "keep what you need in a variable of your own",
        "frames hold everybody's names (B125, CVE-2023-37271)",
    ),
    Rule(
        "PRIVATE_OF_CLASS",
        "EEww",
        "a private attribute of a class that is not the script's, also as Python mangles it (`o.__x` inside `class C` "
        "is `_C__x`)",
        "{name} is private to a class that this script does not define",
        "use the class's public attributes",
        "a rule that looks at the written name misses the mangled one (B137)",
    ),
    Rule(
        "MODULE_PIVOT",
        "EEww",
        "a module's private names, or other modules reached through it (`random._os`, `json.sys`)",
        "{name} reaches a module through another",
        "import what you need by its own name",
        "allowed modules hold forbidden ones (CVE-2025-5120, B118)",
    ),
    Rule(
        "MODULE_CHANGED",
        "EEw-",
        "assigning to, or deleting, an attribute of a module or a builtin class",
        "{name} is changed for everybody who uses it",
        "write a function of your own",
        "libraries inside the guest rely on it",
    ),
    Rule(
        "INTROSPECTION",
        "EEw-",
        "`globals`, `locals`, and `vars` or `dir` without an object",
        "{name} looks at names as data",
        "keep what you look up in a dict of your own",
        "a mapping of names turns text into code",
    ),
    Rule(
        "OBJECT_MEMBERS",
        "EE--",
        "`vars(x)` and `dir(x)`",
        "{name} looks at members as data",
        "use dataclasses.asdict, or name the attributes",
        "as above; elsewhere a script may look at its own objects",
    ),
    Rule(
        "DYNAMIC_ATTRIBUTE",
        "EEw-",
        "`getattr`, `setattr`, `delattr`, `hasattr`, `operator.attrgetter`, `operator.methodcaller` with a name that "
        "is not a constant, or used as values",
        "{name} with a name that is made at run time",
        "write the attribute, or use a dict",
        "a name that is built cannot be judged beforehand",
    ),
    Rule(
        "ERROR_CHAIN",
        "EE--",
        "`__cause__`, `__context__` and the like of an exception",
        "{name} leads from one exception to another",
        "keep what you need when you catch it",
        "each carries the traceback of its frames; elsewhere reading a cause is ordinary",
    ),
    Rule(
        "ERROR_OBJECT",
        "EEw-",
        "`.obj` of a caught exception",
        "{name} is the object that the failed access was about",
        "use str(error)",
        "an exception carries the guarded object (CVE-2024-47532)",
    ),
    Rule(
        "UNKNOWN_NAME",
        "EEw-",
        "a name that neither the script nor the run defines, or a builtin outside the level's list",
        "nothing here is called {name}",
        "define it, import it, or correct its spelling",
        "AgentScript's UNKNOWN_GLOBAL; at run time it is a NameError",
    ),
    Rule(
        "REBOUND_NAME",
        "EEw-",
        "`call_tool`, `ToolError` or a namespace bound anew at the script's top level",
        "{name} is replaced, so its tools cannot be reached any more",
        "choose another name",
        "what looks like a tool call is none",
    ),
    Rule(
        "SHADOWED_NAME",
        "Ew--",
        "the same inside a function, a comprehension or a class",
        "{name} means something else in here",
        "choose another name",
        "AgentScript refuses it; elsewhere a parameter named `mail` is ordinary",
    ),
)

_DYNAMIC: Final = (
    Rule(
        "DYNAMIC_CODE",
        "EEww",
        "`eval`, `exec`, `compile`, `__import__`, `type` with three arguments, `types.FunctionType`, `types.CodeType`, "
        "`types.new_class`, `types.prepare_class`, `typing.get_type_hints`, `timeit` with text, `builtins`, "
        "`importlib`, `code`, `codeop`",
        "{name} makes code at run time",
        "write the code itself; for data use json.loads",
        "code that is built cannot be judged beforehand",
    ),
    Rule(
        "HOST_ACCESS",
        "EEww",
        "`open`, `input`, `breakpoint`, `help`, and what `os`, `sys`, `inspect`, `io` and `asyncio` have for files, "
        "processes, sockets, environment and frames",
        "{name} has nothing to reach here",
        "read what you were given from inputs[...], or call a tool",
        "the kernel refuses it; said early it costs no call",
    ),
    Rule(
        "FORMAT_ATTRIBUTE",
        "EE--",
        "`str.format` with fields that take attributes or items (`'{0.name}'`, `'{0[key]}'`)",
        "the format field {name} walks into the value",
        "use an f-string",
        "the format language is an attribute walker (B122, CVE-2024-56326); with two underscores it is DUNDER "
        "everywhere",
    ),
    Rule(
        "DYNAMIC_FORMAT",
        "EE--",
        "`.format` or `.format_map` of text that is not a constant, `str.format` as a value, `string.Formatter`",
        "{name} formats with text that is made at run time",
        "use an f-string, or string.Template",
        "as above; at STANDARD text templates are ordinary",
    ),
    Rule(
        "METACLASS",
        "EE--",
        "`metaclass=` other than `abc.ABCMeta` and the metaclass of `enum`, also by `**`; a class derived from `type` "
        "or from one of these two",
        "{name} changes how classes are made",
        "use a decorator, or a plain function",
        "runs code while classes are built",
    ),
    Rule(
        "HOOK_METHOD",
        "EE--",
        "methods that Python calls by itself for attributes, classes, copying and pickling (`__getattr__`, "
        "`__getattribute__`, `__set_name__`, `__init_subclass__`, `__reduce__` …); at STRICT every double-underscore "
        "method but `__init__`, `__post_init__`, `__str__`, `__repr__`",
        "{name} would be called where the script does not show it",
        "use an ordinary method or a property",
        "hooks run guest code inside somebody else's statement",
    ),
    Rule(
        "FINALIZER",
        "EEww",
        "`__del__`",
        "{name} runs at a time that nobody knows",
        "use try/finally or a context manager",
        "late guest code (B121, B106)",
    ),
    Rule(
        "JSON_CALLBACK_NOT_ALLOWED",
        "E---",
        "`json.dumps(default=…)` other than `str` or `repr`, and `object_hook`, `object_pairs_hook`, `cls`, "
        "`parse_constant`; None is no function",
        "{name} lets json walk the values with a function",
        "convert the values first",
        "AgentScript: replacers and revivers are walkers",
    ),
    Rule(
        "CATASTROPHIC_REGEX",
        "EEw-",
        "a constant pattern in which a group of one repeated thing is repeated itself (`(a+)+`)",
        "the pattern {name} can take for ever",
        "remove the inner or the outer repetition",
        "`re` backtracks, and nothing can interrupt it but the kernel (M3)",
    ),
)

_IMPORTS: Final = (
    Rule(
        "FORBIDDEN_IMPORT",
        "EEww",
        "a module outside the level's list; `if TYPE_CHECKING:` imports nothing",
        "there is no module {name} for this script",
        "call a tool, or use one of the level's modules",
        "STRICT has a small list without `re`; SECURE the modules without access to the interpreter",
    ),
    Rule(
        "STAR_IMPORT",
        "EE--",
        "`from module import *`",
        "import * from {name} brings in names that the source does not show",
        "name what you need: from … import …",
        "what a name means must be readable; where it is allowed, UNKNOWN_NAME says nothing",
    ),
)

_TOOLS: Final = (
    Rule(
        "DYNAMIC_CALL_TARGET",
        "EEw-",
        "`call_tool`, also through an alias, with a tool name that is not made of constants, at STRICT and SECURE with "
        "one that is not written in the call itself; `getattr` of a namespace with a name that is not made of constants",
        "the tool's name is not written in the call of {name}",
        "write the tool's name as text, or use its namespace",
        "a reviewer must be able to read what a script can do (C15)",
    ),
    Rule(
        "MISSING_CALL_TARGET",
        "EEww",
        "`call_tool()` without a tool name",
        "{name} needs the tool's name",
        'write call_tool("tool", {...})',
        "it cannot work (C15)",
    ),
    Rule(
        "UNKNOWN_TOOL_NAME",
        "Ewww",
        "a method that the namespace does not have",
        "there is no tool {name}",
        "use one of the namespace's tools",
        "AgentScript's whitelist; at run time it is an AttributeError",
    ),
)

_LOOPS: Final = (
    Rule(
        "FORBIDDEN_LOOP",
        "E---",
        "`while`",
        "{name} loops are not part of this level",
        "use for … in range(…) with a bound",
        "AgentScript row `while`, `do`: refused",
    ),
    Rule(
        "INFINITE_LOOP",
        "EEww",
        "a loop without end: a constant condition or an endless iterator, and nothing inside that leaves or waits",
        "{name} never ends",
        "add a bound or a break",
        "it would run until the deadline",
    ),
    Rule(
        "RESOURCE_EXHAUSTION",
        "EEww",
        "constants that ask for huge values: `'x' * 10**10`, `10**10**10`, `1 << 10**10`, `list(range(10**12))`, "
        "`f'{x:999999999}'`, `math.factorial(10**7)`",
        "{name} does not fit into any limit",
        "use a smaller number",
        "said early it costs no call; the kernel's memory limit is the wall",
    ),
    Rule(
        "UNREACHABLE_CODE",
        "wwww",
        "statements after `return`, `raise`, `break` or `continue`",
        "nothing reaches what follows {name}",
        "delete it, or move it up",
        "AgentScript: a warning",
    ),
)

_SYNTAX: Final = (
    Rule(
        "UNSUPPORTED_SYNTAX",
        "EEww",
        "a construct that these rules do not know; at STRICT and SECURE also `except*`, type aliases and type "
        "parameters",
        "{name} is not supported here",
        "write it with older syntax",
        "unknown means no; new syntax is off until it is covered (B86, B128)",
    ),
    Rule(
        "FORBIDDEN_GENERATOR",
        "E---",
        "`yield` in a function",
        "{name} makes a generator",
        "collect the values in a list and return it",
        "AgentScript row generators: refused; generator expressions stay",
    ),
    Rule(
        "FORBIDDEN_CLASS",
        "E---",
        "classes that are not dataclasses, enums, named tuples, typed dicts or exceptions",
        "the class {name} is more than data",
        "use a dataclass, a dict or functions",
        "AgentScript: a class without methods is allowed, functions of one are not; Python's data classes are the like",
    ),
    Rule(
        "FORBIDDEN_GLOBAL",
        "E---",
        "`global` and `nonlocal`",
        "{name} lets a function change names outside itself",
        "return the value",
        "the like of member access on `this` and `globalThis`",
    ),
    Rule(
        "FORBIDDEN_DECORATOR",
        "E---",
        "decorators outside the known ones",
        "the decorator {name} is not one of the known ones",
        "call the function where it is needed",
        "AgentScript has none; the known ones are data classes, properties, caches and the like",
    ),
)

GROUPS: Final[tuple[tuple[str, tuple[Rule, ...]], ...]] = (
    ("Text, before the parser sees it", _TEXT_RULES),
    ("What cannot run", _ALWAYS),
    ("Names and attributes", _NAMES),
    ("Code, formats and hooks", _DYNAMIC),
    ("Imports", _IMPORTS),
    ("Tools", _TOOLS),
    ("Loops and sizes", _LOOPS),
    ("Constructs", _SYNTAX),
)
RULES: Final[dict[str, Rule]] = {rule.code: rule for _, rules in GROUPS for rule in rules}
