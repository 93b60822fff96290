"""What the second seed, its catalogue's lessons and decisions 13 to 25 promise of scripts. Data only.

The sentences of the document are `seed2.*`, under its own headings; the reasons for which it refuses a namespace `ns.*`;
what the catalogue recommends `rec.*`; what it says that users run into `U*`, and that the design cannot do `EW*`. The
acceptance cases are in `cases`.
"""

from __future__ import annotations

from typing import Final

from tests.requirements.record import Line, Record, gap, later, record, records

_JAVASCRIPT: Final = "JavaScript scripts are a later part of the product"
_TRUST: Final = "rules for the flow of data between tools are a later part of the product"

_SEED: Final[tuple[tuple[str, Line], ...]] = (
    ("Tool System", ("seed2.door", "seed", "calls of tools are a script's only way out")),
    ("Basic Tool Handler", ("seed2.handler", "seed", "one function answers every call, by name and arguments")),
    ("Basic Tool Handler", ("seed2.timeout", "seed", "a run has a time, given when the enclave is built")),
    ("Tool Handler Signature", ("seed2.signature", "seed", "options of a call stay in the sandbox")),
    ("Tool Namespaces", ("seed2.methods", "seed", "tools are methods of names that scripts find")),
    (
        "Tool Namespaces",
        ("seed2.same", "seed", "a method is call_tool under another name, in all that is counted or judged"),
    ),
    ("Tool Namespaces", ("seed2.frozen", "seed", "a namespace cannot be changed, and has nothing but its methods")),
    ("Tool Namespaces", ("seed2.alias", "seed", "a namespace and its methods may be given other names")),
    (
        "Tool Namespaces",
        ("seed2.unsafe", "seed", "names that cannot be used, or must not, are refused while the enclave is built"),
    ),
    ("Tool Namespaces", ("seed2.carried", "seed", "a tool's name, made or given, is one that every adapter can carry")),
    ("Tool Namespaces", ("seed2.unseen", "seed", "functions among the globals are not tools: no pattern sees them")),
    ("callTool Options", ("seed2.data", "seed", "a failure can be had as data, with name, message, code and tool")),
    ("callTool Options", ("seed2.own", "seed", "only what the tool itself did wrong is data")),
    ("callTool Options", ("seed2.refusals", "seed", "what the enclave refuses is always raised")),
    ("callTool Options", ("seed2.second", "seed", "methods take the same options")),
    (
        "Integrating with a Tool Registry",
        ("seed2.registry", "seed", "a handler may look up, validate and run tools of a registry"),
    ),
    ("Tool Call Limits", ("seed2.limit", "seed", "too many calls end a run with MAX_TOOL_CALLS")),
    (
        "Custom Globals",
        ("seed2.context", "seed", "scripts read data that the host put beside them, and cannot change it"),
    ),
    ("Custom Globals", ("seed2.allowed", "seed", "functions among the globals have to be allowed")),
    ("Custom Globals", ("seed2.gated", "seed", "each call of one is refused after an abort, and counted")),
    ("Custom Globals", ("seed2.shared", "seed", "calls of functions and of tools share one rate")),
    ("Custom Globals", ("seed2.plain", "seed", "a function's result is a plain copy, and functions in it are refused")),
    ("Custom Globals", ("seed2.stackless", "seed", "a function's errors show nothing of the host")),
    ("Custom Globals", ("seed2.new", "seed", "a function cannot be used as a class")),
    (
        "Custom Globals",
        (
            "seed2.workers",
            "seed",
            "an adapter in another place passes no functions",
            gap(
                "superseded: scripts always run in another process, and functions are called through the channel (T101)"
            ),
        ),
    ),
    ("Custom Globals", ("seed2.collections", "seed", "functions and objects with methods are refused in collections")),
    ("Custom Globals", ("seed2.active", "seed", "what is awaited, weak, or gone through once is refused anywhere")),
    ("One-Shot Execution", ("seed2.once", "seed", "one call runs one script and frees everything")),
    ("Tool Error Handling", ("seed2.structured", "seed", "a handler may turn its errors into answers")),
    ("Securing Tool Access", ("seed2.list", "seed", "a handler may refuse names that are not on its list")),
    ("Async Tool Calls", ("seed2.async", "seed", "a handler may wait for others")),
    ("Tool Call Statistics", ("seed2.stats", "seed", "a result says how many calls were made, and how long it took")),
)

_NAMESPACES: Final[tuple[Line, ...]] = (
    ("ns.a", "src", "a namespace is an identifier of ASCII letters"),
    ("ns.b", "src", "a namespace does not begin with two underscores, and has no name of a prototype"),
    ("ns.c", "src", "a namespace is no reserved word"),
    ("ns.d", "src", "a namespace hides no name that every script has"),
    ("ns.e", "src", "a namespace is no name that scripts may not use"),
    ("ns.f", "src", "a namespace and a global have different names"),
    ("ns.g", "src", "a namespace is a list of methods, or a mapping of method to tool"),
    ("ns.h", "src", "a method is an identifier that scripts may use; words that are reserved have a spelling"),
    ("ns.i", "src", "a method is listed once"),
    ("ns.j", "src", "a mapped tool name is text of at most 256 characters"),
    ("ns.k", "src", "a tool name is letters, digits and four signs, a letter first, also when it is made"),
    ("ns.l", "src", "a namespace has methods"),
)

_DECIDED: Final[tuple[Line, ...]] = (
    ("dec.13", "decision", "ten calls at once and 256 MiB are the rule, and the rest is the level's"),
    ("dec.14", "decision", "one table of values holds in every direction", later(_JAVASCRIPT)),
    ("dec.15", "decision", "after a terminal refusal no call starts, and who does not stop is killed"),
    ("dec.16", "decision", "a handler's calls are judged by their names, governed tools by their effects"),
    ("dec.17", "decision", "the strict levels refuse what the others report, and the check is not the wall"),
    ("dec.18", "decision", "a loop has its turns, and all loops a hundred times as many"),
    (
        "dec.19",
        "decision",
        "a call that nobody awaits is an error with its line; one that is open at the end is cancelled",
    ),
    ("dec.20", "decision", "scripts run as models write them: a main function, a guard, globals, inputs, print"),
    ("dec.21", "decision", "arguments are a mapping or keywords; options come with a mapping only"),
    ("dec.22", "decision", "objects with methods are allowed outside collections, and functions may be synchronous"),
    ("dec.23", "decision", "a script can be run without a loop and inside one, and an abort is one way whoever asks"),
    ("dec.24", "decision", "variables go in as data and come back as data"),
    (
        "dec.25",
        "decision",
        "a guest needs the kernel's filter, and nothing weakens the jail as a whole",
        later("giving up single permissions comes with permissions for tools"),
    ),
)

_RECOMMENDED: Final[tuple[Line, ...]] = (
    ("rec.1", "decision", "the codes that the seed names are those that a result has, and finer ones are beside them"),
    ("rec.2", "decision", "limits, aborts and refusals for security are final for the run"),
    ("rec.3", "decision", "only bytes cross, and no object of the host is in the script's process"),
    ("rec.4", "decision", "the deadline is the host's, ends handlers too, and drops what comes later"),
    ("rec.5", "decision", "every option is judged, None is its default, and unknown ones are refused"),
    ("rec.6", "decision", "malformed calls use up the budget, and that is written down"),
    (
        "rec.7",
        "decision",
        "history is as long as the longest pattern looks back, names are read by words, and a hit may also be asked about or logged",
    ),
    ("rec.8", "decision", "namespaces are judged for the script's own language, with the seed's prefix"),
    ("rec.9", "decision", "memory is the process's own, so that what was freed does not count"),
    ("rec.10", "decision", "tools and functions pass one gate in one order, and errors leave through one exit"),
    ("rec.11", "decision", "a trace holds the script's own frames only"),
    ("rec.12", "decision", "nothing of the host is reachable with the check off"),
)

_PAIN: Final[tuple[Line, ...]] = (
    ("U1", "better", "everyday code is accepted: classes, functions, loops, patterns, errors"),
    ("U2", "better", "lines and names in messages are the user's"),
    ("U3", "better", "every documented code appears"),
    ("U4", "better", "a tool that hangs does not make its run hang"),
    ("U5", "better", "building a long text piece by piece needs no more than its memory"),
    ("U6", "better", "a value that is referred to twice arrives twice"),
    ("U7", "better", "an option that is None removes no limit"),
    ("U8", "better", "governed tools that read and then write are not refused for it by default"),
    ("U9", "better", "that malformed calls are counted is documented, and the refusal is correctable"),
    ("U10", "better", "what a script prints is in its result"),
    ("U11", "better", "a table of many rows is an ordinary result"),
    ("U12", "better", "no number changes its type on the way"),
)

_WEAK: Final[tuple[Line, ...]] = (
    ("EW1", "better", "scripts run in a process of their own, without the host's memory"),
    ("EW2", "better", "nothing alive crosses: functions, classes and handles are refused as values"),
    ("EW3", "better", "what a name hides from the check does not help: the kernel decides"),
    ("EW4", "better", "a script that spins holds up neither the host's loop nor another script"),
    ("EW5", "better", "a script that takes all its memory loses its own process"),
    ("EW6", "better", "a budget that is used up cannot be caught into a success"),
    ("EW7", "better", "patterns look back over their whole window, and legitimate flows pass by declared effects"),
    ("EW8", "better", "turning the check off leaves limits, screening and jail as they are"),
    ("EW9", "better", "no text of a configuration becomes code: tool names and patterns are data"),
    (
        "EW10",
        "better",
        "nothing listens on the network",
        gap("serving scripts over HTTP is a later part of the product"),
    ),
    ("EW11", "better", "what a tool returned cannot be sent anywhere unseen", gap(_TRUST)),
    (
        "EW12",
        "better",
        "a script that does what some tool's output told it stays within what its tools may do",
        gap(_TRUST),
    ),
)

RECORDS: Final[tuple[Record, ...]] = (
    *(record(f"second seed, {section}", line) for section, line in _SEED),
    *records("enclave catalogue, 1.D namespaces", _NAMESPACES),
    *records("decisions", _DECIDED),
    *records("enclave catalogue, recommendations", _RECOMMENDED),
    *records("enclave catalogue, what users hit", _PAIN),
    *records("enclave catalogue, weaknesses", _WEAK),
)
