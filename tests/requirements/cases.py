"""The acceptance cases of the second seed's catalogue (section 4), as far as Python has them. Data only.

A case that a decision has changed says what holds now; `tests/behaviour/test_enclave_*.py` prove them.
"""

from __future__ import annotations

from typing import Final

from tests.requirements.record import Line, Record, later, records

_JAVASCRIPT: Final = "the same in JavaScript comes with its engine"

_HANDLER: Final[tuple[Line, ...]] = (
    ("T01", "seed", "a script counts what a handler answered, and one call is counted"),
    ("T02", "seed", "a handler gets a name and a plain mapping, and nothing of the call's options"),
    ("T03", "seed", "a failure that the script does not catch ends the run, with the handler's words"),
    ("T05", "src", "without a handler a call is refused, also for a script that wanted failures as data"),
    ("T06", "src", "a run's own handler serves that run only"),
    ("T07", "seed", "calls awaited in turn answer in turn, and their waiting is in the duration"),
    ("T09", "src", "a handler that returns nothing gives the script None"),
    ("T10", "src", "host and script hold copies: what one changes later the other does not see"),
)

_ARGUMENTS: Final[tuple[Line, ...]] = (
    ("T11", "src", "arguments that are no object are a TypeError, reach no handler, and use up one call"),
    ("T13", "src", "arguments that contain themselves are refused"),
    ("T14", "src", "keys with two underscores are text like any other, and change nothing in the host"),
    ("T15", "src", "arguments deeper or wider than the level allows are refused before the handler"),
    (
        "T17",
        "src",
        "dates, whole numbers of any size and the like arrive as what they were; NaN and infinities are refused",
        later(_JAVASCRIPT),
    ),
    ("T18", "src", "a tool name that is empty or no text is refused"),
    (
        "T19",
        "src",
        "a tool name that the source does not show is refused before anything runs, where the level is strict",
    ),
)

_RESULTS: Final[tuple[Line, ...]] = (
    ("T21", "src", "a date in a result is a date in the script; an exception in a result is no value"),
    ("T22", "src", "keys that are no text are refused on both sides, and nobody's methods are asked for their text"),
    ("T23", "src", "a result beyond the size of a value is the tool's failure"),
    ("T25", "src", "a result with too many levels or members is the tool's failure, and the message names the limit"),
    ("T26", "src", "what a script does to a result does not reach the host's object"),
)

_OPTIONS: Final[tuple[Line, ...]] = (
    ("T27", "seed", "a success as data is a flag and the whole result"),
    ("T29", "seed", "without the option, or with True, a failure raises"),
    ("T30", "src", "only the boolean False asks for failures as data"),
    ("T31", "src", "an option that does not exist is a TypeError, and no call is counted"),
    ("T33", "src", "refusals raise whatever the option says"),
    ("T34", "src", "a result that cannot be delivered is a failure as data, with code and tool"),
    ("T35", "seed", "whatever a handler raises, the message is text, and of a bounded length"),
    ("T37", "seed", "a method of a namespace takes the option as call_tool does"),
)

_NAMESPACES: Final[tuple[Line, ...]] = (
    ("T38", "seed", "a listed method is the tool with its namespace before it; a mapped one is the tool that is named"),
    ("T39", "seed", "a method without arguments sends an empty object"),
    ("T41", "seed", "a bad namespace is found while the enclave is built"),
    ("T42", "seed", "methods and call_tool use up one budget"),
    ("T43", "seed", "methods are limited in rate and screened like call_tool"),
    ("T45", "seed", "a namespace shows its methods in order"),
    ("T46", "seed", "namespaces may be renamed, and methods taken out of them"),
    ("T47", "seed", "a method that was not configured is an AttributeError, and reaches no handler"),
    ("T49", "better", "a method with the name of a keyword is written with an underscore behind it"),
    ("T50", "src", "methods named like those of texts and patterns are methods"),
    ("T51", "src", "changing what an enclave was built of changes nothing in it"),
    ("T53", "src", "namespaces are the same on every engine", later(_JAVASCRIPT)),
    ("T54", "seed", "two enclaves do not see each other's namespaces"),
)

_REGISTRY: Final[tuple[Line, ...]] = (
    ("T55", "seed", "a registry behind the handler says which tool it does not know"),
    ("T57", "seed", "a handler's list of what is allowed holds for methods too"),
    ("T58", "src", "a pattern that allows and patterns that block decide before the handler, and block wins"),
    ("T59", "better", "names with control characters, spaces, paths, or of more than 256 characters reach no handler"),
    ("T61", "src", "a name is registered once, and what is registered can be listed"),
)

_LIMITS: Final[tuple[Line, ...]] = (
    ("T62", "seed", "the call after the last one allowed ends the run"),
    ("T63", "better", "a script that catches that refusal has failed all the same"),
    ("T65", "src", "the budget is a run's own, and calls side by side share it"),
    ("T66", "spec", "a script that spins is ended when its time is up"),
    ("T67", "better", "so is one that spins after it has awaited something"),
    ("T69", "src", "the deadline wins over a tool that is still at work"),
    ("T70", "spec", "a loop may take exactly its turns, and not one more"),
    ("T71", "better", "nested loops, recursion, callbacks of builtins, comprehensions and sort keys end as well"),
    ("T73", "better", "a single huge allocation ends its own run only"),
    ("T74", "src", "a script's value beyond the limit is an error with a code of its own"),
    ("T75", "src", "what is printed is in the result, up to a limit that ends the run"),
    ("T77", "src", "each level sets its figures, an option goes before them, and None leaves them"),
    ("T78", "better", "a limit that is no such number is refused by name"),
)

_DETECTORS: Final[tuple[Line, ...]] = (
    ("T79", "src", "reading and then sending is refused, and the pattern is named"),
    ("T81", "src", "reading a secret and then sending by the network is refused, the other order is not"),
    ("T82", "src", "work in bulk, and arguments without a bound, are refused; words that only look alike are not"),
    ("T83", "src", "reading and then deleting is refused, the other order is not"),
    ("T85", "better", "names are read word by word, and no word is found inside another"),
    ("T86", "src", "without the patterns the limits remain"),
    ("T87", "src", "a pattern of one's own sees name, arguments and what went before, and refuses also by failing"),
)

_GLOBALS: Final[tuple[Line, ...]] = (
    ("T89", "seed", "a function among the globals needs to be allowed, and the refusal says where it is"),
    ("T90", "seed", "an allowed function takes a date and answers with text"),
    ("T91", "seed", "no function, and no object with methods, is inside a collection"),
    ("T93", "src", "properties, reserved keys, what is too deep and what contains itself are refused"),
    ("T94", "seed", "functions have a budget of their own, ten times that of tools unless it is given; data has none"),
    ("T95", "src", "a budget of functions that is no whole number is refused"),
    ("T97", "seed", "a function's result is a copy of data, bounded like a tool's"),
    ("T98", "seed", "a function's exception is its name and message, and a function is no class"),
    ("T99", "seed", "after an abort no function is called"),
    ("T101", "seed", "functions work although the script is in another process"),
    ("T102", "better", "what a script gives a function arrives as a copy"),
)

_ENDS: Final[tuple[Line, ...]] = (
    ("T103", "seed", "one script can be run without an enclave of one's own"),
    ("T105", "seed", "a handler may answer with its error as data, and the script decides"),
    ("T106", "seed", "calls and duration are counted, also for runs that failed or never began"),
    ("T107", "src", "a mistake in the source is shown at the user's own line, in the user's own names"),
    ("T109", "src", "where traces are left out, no error shows a path, whichever stage it comes from"),
    ("T110", "src", "run raises for nothing that a script does"),
    ("T111", "src", "an enclave may be closed twice, and says so when it is used afterwards"),
    ("T113", "src", "what one run sets the next does not see"),
    ("T114", "seed", "a handler may ask a server and answer with what that says"),
    ("T115", "seed", "every example of the second seed runs"),
)

_ISOLATION: Final[tuple[Line, ...]] = (
    (
        "T116",
        "better",
        "an attack of each kind changes nothing in the host, and the next run works",
        later(_JAVASCRIPT),
    ),
    ("T117", "better", "whatever a script is given, it can walk to nothing of the host"),
    ("T118", "better", "a value with hostile methods makes the host run none of them", later(_JAVASCRIPT)),
)

_SECTIONS: Final[tuple[tuple[str, tuple[Line, ...]], ...]] = (
    ("4.1 handler and basic run", _HANDLER),
    ("4.2 arguments", _ARGUMENTS),
    ("4.3 results", _RESULTS),
    ("4.4 throwOnError", _OPTIONS),
    ("4.5 namespaces", _NAMESPACES),
    ("4.6 registry and securing access", _REGISTRY),
    ("4.7 limits and codes", _LIMITS),
    ("4.8 detectors", _DETECTORS),
    ("4.9 globals", _GLOBALS),
    ("4.10 one-shot, errors, statistics", _ENDS),
    ("4.11 isolation", _ISOLATION),
)

RECORDS: Final[tuple[Record, ...]] = tuple(
    one for section, lines in _SECTIONS for one in records(f"enclave catalogue, {section}", lines)
)
