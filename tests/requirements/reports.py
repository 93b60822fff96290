"""Public reports of faults in comparable software, and what holds here instead. Data only; `tests.requirements` joins the lists."""

from __future__ import annotations

from typing import Final

from tests.requirements.record import Line, Record, gap, later, record

_MCP: Final = "MCP clients are a later part of the product"
_JOURNAL: Final = "the journal, and resuming from it, is a later part of the product"
_JAVASCRIPT: Final = "JavaScript scripts are a later part of the product"


_REPORTS: Final[tuple[tuple[str, str, Line], ...]] = (
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
        ("B11", "bug", "schemas that contain each other are refused one by one", later(_MCP)),
    ),
    ("A", "jlowin/fastmcp#1164", ("B13", "bug", "a property may have the name of a keyword")),
    ("A", "pydantic/pydantic-ai#6314", ("B14", "bug", "true and false are schemas")),
    ("A", "earendil-works/pi#8943", ("B16", "bug", "a large whole number arrives exactly", later(_JAVASCRIPT))),
    ("A", "HexamindOrganisation/hexgate#134", ("B17", "bug", "no pattern makes judging an argument take for ever")),
    ("A", "cyborg-garden/hermes-agent-mt#76", ("B19", "bug", "text that is no Unicode ends a call, not the host")),
    ("A", "openai/openai-agents-python#3961", ("B20", "bug", "a default with strange equality is a default")),
    ("B", "openai/openai-agents-python#4257", ("B22", "bug", "a grant is for the arguments shown", later(_JOURNAL))),
    ("B", "openai/openai-agents-python#4256", ("B23", "bug", "a grant is for one tool, not for a name", later(_MCP))),
    ("B", "pydantic/pydantic-ai#3355", ("B25", "bug", "nothing in a stored history approves a call", gap(_JOURNAL))),
    ("B", "pydantic/pydantic-ai#6968", ("B26", "bug", "who approves sees the values that run")),
    ("B", "extra-org/extra#139", ("B28", "bug", "a repetition with other arguments is asked anew", gap(_JOURNAL))),
    (
        "B",
        "mcp-hangar/mcp-hangar#674",
        ("B29", "bug", "a grant that comes after the door has closed runs nothing", later("policies come later")),
    ),
    ("B", "cloudflare/agents#1818", ("B31", "bug", "the first decision counts, and a later one changes nothing")),
    ("B", "cloudflare/agents#956", ("B32", "bug", "a denied call has one end, with a code", later(_JOURNAL))),
    ("C", "pydantic/pydantic-ai#2978", ("B34", "bug", "a budget of calls is taken before each call, also in a batch")),
    ("C", "pydantic/pydantic-ai#3133", ("B35", "bug", "a hundred calls at once are counted as a hundred")),
    ("C", "MervinPraison/PraisonAI#4256", ("B37", "bug", "what must not happen twice is not repeated, and in doubt")),
    ("C", "langchain-ai/langchain#40686", ("B38", "bug", "an effect whose request may have arrived is not repeated")),
    ("C", "pydantic/pydantic-ai#4502", ("B40", "bug", "when one of a batch fails, the others end before that is told")),
    ("C", "pydantic/pydantic-ai#6426", ("B41", "bug", "a tool that will not be cancelled is left behind and counted")),
    ("C", "HKUDS/nanobot#4804", ("B43", "bug", "a cancellation that nobody asked for is the tool's failure")),
    ("C", "pydantic/pydantic-ai#6375", ("B44", "bug", "retries and timeouts that are no such numbers are refused")),
    ("C", "jlowin/fastmcp#2809", ("B46", "bug", "a tool's timeout is the one that holds, in any driver", later(_MCP))),
    ("C", "huggingface/smolagents#1910", ("B47", "bug", "a script that spins is ended, from whatever thread it began")),
    ("C", "huggingface/smolagents#2029", ("B49", "bug", "context managers of a script behave as everywhere")),
    ("K", "openai/openai-agents-python#4182", ("B158", "bug", "a refusal of arguments does not repeat them")),
    ("K", "openai/openai-agents-python#3910", ("B160", "bug", "what a tool's exception says is in no log")),
    (
        "K",
        "openai/openai-agents-python#4507",
        ("B161", "bug", "a result that is refused is kept nowhere", later(_JOURNAL)),
    ),
    ("K", "agentfront/enclave#33", ("B163", "bug", "traces show no path of the host, however long they are")),
)


RECORDS: Final[tuple[Record, ...]] = tuple(
    record(f"reports, group {group}: {address}", line) for group, address, line in _REPORTS
)
