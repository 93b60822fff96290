"""What ringfence promises about tools, one record for each promise, and the decorator that ties tests to them.

Data only: it does not know the tests. `tests/architecture/test_requirements.py` holds it against them: a promise has a
test, or a reason why it cannot have one yet. Test files import `requirement`.

Where a promise comes from: the first seed (the document on tools and security), the catalogue of its behaviour (letters
and numbers such as `AC13` or `W7`), decisions that bind where documents differ (`D1` to `D12`), and public reports of
faults in comparable software (`B1`, with the report's address).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

import pytest

Kind = Literal["seed", "spec", "src", "better", "bug", "decision"]
"""`seed`, `spec`, `src`: said or done by what the seed describes; `better`: done well where that is silent or wrong;
`bug`: reported of others; `decision`: settled here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One promise."""

    source: str
    """Section of the document, or address of the report."""
    kind: Kind
    says: str
    """What holds, in one sentence."""
    gap: str | None = None
    """Why no test can exist yet, or what has taken the promise's place."""
    later: str | None = None
    """What the tests leave out, because that part of the product is not there yet."""


def requirement(*ids: str) -> pytest.MarkDecorator:
    """Say which promises a test proves; `pytest -m requirement` runs all of them."""
    return pytest.mark.requirement(*ids)


_AGENT: Final = "agents and their delegates are a later part of the product"
_MCP: Final = "MCP clients are a later part of the product"
_JOURNAL: Final = "the journal, and resuming from it, is a later part of the product"
_JAVASCRIPT: Final = "JavaScript scripts are a later part of the product"

_Line = tuple[str, Kind, str] | tuple[str, Kind, str, Mapping[str, str]]


def _gap(reason: str) -> Mapping[str, str]:
    return {"gap": reason}


def _later(reason: str) -> Mapping[str, str]:
    return {"later": reason}


_SEED: Final[tuple[tuple[str, _Line], ...]] = (
    ("Tools & Security", ("seed.tool", "seed", "a tool is a name, a description, a schema and a function")),
    ("Tools & Security", ("seed.name", "seed", "a name is lower snake case in ASCII, in full and nothing else")),
    ("Tools & Security", ("seed.numbers", "seed", "retries count from zero, and a timeout is finite and above it")),
    ("Tools & Security", ("seed.signal", "seed", "a tool hands the signal it was given to what it calls")),
    ("Tool schemas", ("seed.typed", "seed", "what the function receives has the type that its schema says")),
    ("Tool schemas", ("seed.neutral", "seed", "no schema library is preferred: two methods make a schema")),
    ("Required capabilities", ("seed.eager", "seed", "a schema that cannot do both halves fails at registration")),
    ("Required capabilities", ("seed.draft07", "seed", "draft-07 is really asked for while a tool is registered")),
    ("Required capabilities", ("seed.published", "seed", "a number in an object is published closed and required")),
    ("Required capabilities", ("seed.enforced", "seed", "what a schema publishes is enforced when a call comes in")),
    ("Required capabilities", ("seed.ask", "seed", "asking a model needs a validator only", _gap(_AGENT))),
    ("Execution order", ("seed.order", "seed", "validate, approve, announce, bound, run, report, repeat, fall back")),
    ("Execution order", ("seed.attempts", "seed", "one retry means two attempts at most")),
    ("Automatic approval", ("seed.auto", "seed", "a tool that says nothing of approval runs once it is validated")),
    ("Policy callback", ("seed.callback", "seed", "a callback judges validated input, the tool and the session")),
    ("Human approval", ("seed.human", "seed", "only a privileged handler decides, and it alone sees arguments")),
    ("Human approval", ("seed.mcp", "seed", "tools of an untrusted server need a person", _gap(_MCP))),
    ("Retry classification", ("seed.final", "seed", "five kinds of failure are never repeated")),
    ("Execution context", ("seed.context", "seed", "a tool learns its session and has a signal to look at")),
    ("Execution context", ("seed.cooperative", "seed", "a timeout asks a local tool to stop, and cannot force it")),
    ("Handle terminal errors", ("seed.fallback", "seed", "a fallback turns the last error into a result")),
    ("Handle terminal errors", ("seed.errors", "seed", "four error classes can be imported and told apart")),
    ("Secret handling", ("seed.secrets", "seed", "no credential and no argument is in what telemetry hears")),
    ("Sandbox security", ("seed.explicit", "seed", "nothing falls back to running in the host")),
    ("Register a sandbox", ("seed.precedence", "seed", "a tool's own sandbox is used before the common one")),
    ("Driver contract", ("seed.driver", "seed", "a driver of four members is enough to run tools")),
    ("Explicit local execution", ("seed.local", "seed", "running without isolation has to be acknowledged")),
    ("Secure defaults", ("seed.closes", "seed", "sandboxes are closed at the end")),
)

_CASES: Final[tuple[_Line, ...]] = (
    ("AC01", "seed", "names in lower snake case are accepted"),
    ("AC02", "seed", "names in any other form are refused, a final line break included"),
    ("AC03", "seed", "a description of blanks is refused"),
    ("AC05", "seed", "a timeout that is no finite number above zero is refused, and fractions are accepted"),
    ("AC06", "seed", "a schema that cannot validate is refused at registration"),
    ("AC07", "seed", "a schema that cannot be published is refused at registration"),
    ("AC09", "spec", "a second tool of the same name is refused as a duplicate", _later(_AGENT)),
    ("AC10", "better", "an approval that is empty, false or misspelt is refused, not read as automatic"),
    ("AC11", "better", "changing what a tool was made of changes no call"),
    ("AC13", "seed", "a call that needs no approval is announced, completed and answered"),
    ("AC14", "seed", "arguments that do not fit end the call: nobody asked, nothing run, repeated, told or recovered"),
    ("AC15", "src", "an empty list of issues is a failure"),
    ("AC17", "seed", "an approved call is announced as required, granted, called and completed, without more fields"),
    ("AC18", "seed", "no event holds an argument or a result"),
    ("AC19", "seed", "a tool that fails once is repeated once, and each attempt is announced"),
    ("AC21", "src", "a person is asked once, however often the tool is repeated"),
    ("AC22", "src", "functions that do not wait behave like those that do"),
    ("AC23", "seed", "calls of every origin take the same way", _later(f"{_AGENT}, and {_MCP}")),
    ("AC25", "seed", "a callback that says no ends the call, without grant and without repetition"),
    ("AC26", "seed", "a callback gets the validated input, and exactly tool and session"),
    ("AC27", "src", "of two handlers one approval is enough"),
    ("AC29", "better", "a true value that is not True does not approve"),
    ("AC30", "src", "a handler that fails does not stop another from approving"),
    ("AC31", "better", "a handler that raises denies, and its exception stays inside"),
    ("AC33", "better", "a question that nobody answers expires, and the session goes on"),
    (
        "AC34",
        "src",
        "a delegate's tools are judged by its own approvers",
        _gap("superseded by decision 29: approvals are routed by path"),
    ),
    ("AC35", "seed", "a timeout ends the call after one execution, and a fallback may answer it"),
    ("AC37", "seed", "an error of the tool's own that looks like a timeout is repeated"),
    ("AC38", "seed", "a caller who aborts is seen by the tool, and the failure is not repeated"),
    (
        "AC39",
        "src",
        "without timeout and caller's signal the context has none",
        _gap("superseded by decision 4: every context has a signal"),
    ),
    ("AC41", "src", "the time that a person takes is not the tool's"),
    ("AC42", "src", "each attempt has the whole timeout"),
    ("AC43", "better", "a signal that was aborted before the call ends it: nobody asked, nothing run"),
    ("AC45", "src", "the exception of a fallback is what the caller gets"),
    ("AC46", "seed", "no fallback for arguments that do not fit or a denied approval"),
    ("AC47", "src", "a fallback is not announced as a completion"),
    ("AC49", "seed", "without a sandbox the start fails and says so, and with one it works"),
    ("AC50", "src", "no common sandbox is needed where every tool has its own, or there is no tool"),
    ("AC51", "seed", "an MCP server needs a common sandbox", _gap(_MCP)),
    ("AC53", "spec", "a delegation runs in the delegate's sandbox, its tools in their own", _gap(_AGENT)),
    ("AC54", "seed", "only exactly True acknowledges running without isolation"),
    ("AC55", "seed", "a driver receives one input and a signal"),
    ("AC57", "better", "the local driver claims no protection"),
    ("AC58", "src", "a delegate without a sandbox is refused, and accepted once it has one", _gap(_AGENT)),
    ("AC59", "spec", "handlers that fail later change neither result nor trace"),
    ("AC61", "better", "handlers that fail at once change neither execution nor repetition nor fallback"),
    ("AC62", "src", "a delegate's events reach its parent once", _gap(_AGENT)),
    ("AC63", "spec", "a delegation that fails is announced as over", _gap(_AGENT)),
)

_WEAK: Final[tuple[_Line, ...]] = (
    ("W1", "better", "an exception in a handler is counted, and runs nothing twice"),
    ("W2", "better", "a handler that never ends does not hold a call up"),
    ("W3", "better", "events tell call, attempt, attempts allowed and duration"),
    ("W4", "better", "refused and denied calls are events for whoever asks for them"),
    ("W5", "better", "an approval is one of the forms there are, or a mistake at registration"),
    ("W6", "better", "one strict rule for callbacks and for people: only True approves"),
    ("W7", "better", "handlers are combined by a rule that has a name"),
    ("W8", "better", "a decision counts as soon as it is known, and who was still asked is cancelled"),
    ("W9", "better", "a question expires, is withdrawn when the caller aborts, and ends with the boundary"),
    (
        "W10",
        "better",
        "a waiting approval blocks no other call of its session",
        _later("deciding by id from outside, and waiting across restarts, comes with the inbox"),
    ),
    ("W11", "better", "handlers that fail at once or later have both not decided"),
    ("W12", "better", "a schema that changes what it reads is asked once"),
    ("W13", "better", "a registered tool cannot change"),
    ("W14", "better", "nobody who sees the arguments can change what runs"),
    ("W15", "better", "repetition has a key, a pause, a condition and a number that the tool can see"),
    ("W16", "better", "failures are told apart by whose they are, at any depth, never by name"),
    ("W17", "better", "stopping is looked for before validation, before approval and before each attempt"),
    ("W18", "better", "there is a longest timeout, and a longer one is refused"),
    (
        "W19",
        "better",
        "tools can be run by reference, with data in place of closures",
        _gap("drivers that cross a process come with permissions for tools"),
    ),
    ("W20", "better", "what the local driver enforces is nothing, and can be read"),
    (
        "W21",
        "better",
        "a sandbox is found when the call comes, whatever was declared first",
        _later("serving tools to others is a later part of the product"),
    ),
    ("W22", "better", "a fallback cannot hide a refusal or a missing sandbox"),
    ("W23", "better", "every sandbox that a tool brings is closed, and closed once"),
    ("W24", "better", "there is one common sandbox, and no way to give a second"),
    ("W25", "better", "closing takes no more calls, lets running ones end, and closes sandboxes last"),
    ("W26", "better", "a driver that runs a tool twice, late, or with other arguments is found out"),
    ("W27", "better", "results and simultaneous calls have limits"),
    (
        "W28",
        "better",
        "drivers can tell what they deny",
        _gap("no driver here denies anything yet; the jail for tools will"),
    ),
    ("W29", "better", "a schema describes an object, or is refused"),
    ("W30", "better", "both directions of a schema's publication are checked, and have to be plain JSON at once"),
    ("W31", "better", "definitions from elsewhere pass the same checks as one's own", _later(_MCP)),
    ("W32", "better", "a caller learns what was wrong with its arguments, and not their values"),
    ("W33", "better", "an exception's text reaches no caller unless the tool meant it to"),
    ("W34", "better", "a tool that returns nothing has null as its result"),
    ("W35", "better", "no issues listed is not the same as no issues"),
    (
        "W36",
        "better",
        "providers' strict modes are asked for where a schema allows it",
        _gap("model adapters are a later part of the product"),
    ),
)

_DECIDED: Final[tuple[_Line, ...]] = (
    ("D1", "decision", "arguments are judged strictly, once, as JSON, unless a tool asks for leniency"),
    ("D2", "decision", "an object with two methods is a schema, and published objects are closed and name their draft"),
    (
        "D3",
        "decision",
        "a driver is name, permissions, guarantees, run and close; each is owned and closed once",
        _later("running by reference comes with permissions for tools"),
    ),
    ("D4", "decision", "a context names call, attempt, key, deadline, session and principal, and always has a signal"),
    ("D5", "decision", "no timeout and no repetition by default, and none of an effect in doubt", _later(_MCP)),
    ("D6", "decision", "an effect that nobody declared counts as one", _later(_JOURNAL)),
    (
        "D7",
        "decision",
        "four classes decide besides True; whoever is missing or silent denies; waiting is nobody's time",
    ),
    ("D8", "decision", "a tool's own text passes, any other exception shows its class and a number"),
    ("D9", "decision", "an event is three fields and a place for the rest; further types come only when asked for"),
    ("D10", "decision", "tools are snake case, and names that a bridge carries have their own alphabet", _later(_MCP)),
    ("D11", "decision", "a result has a size, and a tool a number of calls at once"),
    ("D12", "decision", "threads that do not end are counted, bounded and reported"),
)

_BUGS: Final[tuple[tuple[str, str, _Line], ...]] = (
    ("A", "openai/openai-agents-python#4545", ("B1", "bug", "a policy judges the values that hold, defaults included")),
    ("A", "openai/openai-agents-python#3867", ("B2", "bug", "arguments that are no object of JSON reach no callback")),
    ("A", "pydantic/pydantic-ai#6541", ("B4", "bug", "parameters that no name can bind are refused at registration")),
    ("A", "cloudflare/agents#962", ("B5", "bug", "a script's call is validated like any other")),
    ("A", "guardrails-ai/guardrails#1627", ("B7", "bug", "the word false is not the value true")),
    ("A", "openai/openai-agents-python#3838", ("B8", "bug", "a schema that grows without bound is refused quickly")),
    ("A", "PrefectHQ/fastmcp#3893", ("B10", "bug", "a reference into a schema's own middle works or is named")),
    (
        "A",
        "withcoral/coral#1306",
        ("B11", "bug", "schemas that contain each other are refused one by one", _later(_MCP)),
    ),
    ("A", "jlowin/fastmcp#1164", ("B13", "bug", "a property may have the name of a keyword")),
    ("A", "pydantic/pydantic-ai#6314", ("B14", "bug", "true and false are schemas")),
    ("A", "earendil-works/pi#8943", ("B16", "bug", "a large whole number arrives exactly", _later(_JAVASCRIPT))),
    ("A", "HexamindOrganisation/hexgate#134", ("B17", "bug", "no pattern makes judging an argument take for ever")),
    ("A", "cyborg-garden/hermes-agent-mt#76", ("B19", "bug", "text that is no Unicode ends a call, not the host")),
    ("A", "openai/openai-agents-python#3961", ("B20", "bug", "a default with strange equality is a default")),
    ("B", "openai/openai-agents-python#4257", ("B22", "bug", "a grant is for the arguments shown", _later(_JOURNAL))),
    ("B", "openai/openai-agents-python#4256", ("B23", "bug", "a grant is for one tool, not for a name", _later(_MCP))),
    ("B", "pydantic/pydantic-ai#3355", ("B25", "bug", "nothing in a stored history approves a call", _gap(_JOURNAL))),
    ("B", "pydantic/pydantic-ai#6968", ("B26", "bug", "who approves sees the values that run")),
    ("B", "extra-org/extra#139", ("B28", "bug", "a repetition with other arguments is asked anew", _gap(_JOURNAL))),
    (
        "B",
        "mcp-hangar/mcp-hangar#674",
        ("B29", "bug", "a grant that comes after the door has closed runs nothing", _later("policies come later")),
    ),
    ("B", "cloudflare/agents#1818", ("B31", "bug", "the first decision counts, and a later one changes nothing")),
    ("B", "cloudflare/agents#956", ("B32", "bug", "a denied call has one end, with a code", _later(_JOURNAL))),
    ("C", "pydantic/pydantic-ai#2978", ("B34", "bug", "a budget of calls is taken before each call, also in a batch")),
    ("C", "pydantic/pydantic-ai#3133", ("B35", "bug", "a hundred calls at once are counted as a hundred")),
    ("C", "MervinPraison/PraisonAI#4256", ("B37", "bug", "what must not happen twice is not repeated, and in doubt")),
    ("C", "langchain-ai/langchain#40686", ("B38", "bug", "an effect whose request may have arrived is not repeated")),
    ("C", "pydantic/pydantic-ai#4502", ("B40", "bug", "when one of a batch fails, the others end before that is told")),
    ("C", "pydantic/pydantic-ai#6426", ("B41", "bug", "a tool that will not be cancelled is left behind and counted")),
    ("C", "HKUDS/nanobot#4804", ("B43", "bug", "a cancellation that nobody asked for is the tool's failure")),
    ("C", "pydantic/pydantic-ai#6375", ("B44", "bug", "retries and timeouts that are no such numbers are refused")),
    ("C", "jlowin/fastmcp#2809", ("B46", "bug", "a tool's timeout is the one that holds, in any driver", _later(_MCP))),
    ("C", "huggingface/smolagents#1910", ("B47", "bug", "a script that spins is ended, from whatever thread it began")),
    ("C", "huggingface/smolagents#2029", ("B49", "bug", "context managers of a script behave as everywhere")),
    ("K", "openai/openai-agents-python#4182", ("B158", "bug", "a refusal of arguments does not repeat them")),
    ("K", "openai/openai-agents-python#3910", ("B160", "bug", "what a tool's exception says is in no log")),
    (
        "K",
        "openai/openai-agents-python#4507",
        ("B161", "bug", "a result that is refused is kept nowhere", _later(_JOURNAL)),
    ),
    ("K", "agentfront/enclave#33", ("B163", "bug", "traces show no path of the host, however long they are")),
)


def _records() -> Iterable[tuple[str, Requirement]]:
    for section, line in _SEED:
        yield _record(f"first seed, {section}", line)
    for line in _CASES:
        yield _record("catalogue, acceptance cases", line)
    for line in _WEAK:
        yield _record("catalogue, weak spots", line)
    for line in _DECIDED:
        yield _record("decisions", line)
    for group, address, line in _BUGS:
        yield _record(f"reports, group {group}: {address}", line)


def _record(source: str, line: _Line) -> tuple[str, Requirement]:
    name, kind, says, *rest = line
    return name, Requirement(source=source, kind=kind, says=says, **(rest[0] if rest else {}))


LINES: Final[tuple[tuple[str, Requirement], ...]] = tuple(_records())
"""Every promise, in order; `REQUIREMENTS` cannot show a name that was used twice."""

REQUIREMENTS: Final[Mapping[str, Requirement]] = MappingProxyType(dict(LINES))
