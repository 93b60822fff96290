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
    ("E", "pydantic/monty#649", ("B73", "bug", "tasks that wait for each other very deeply end their own run at most")),
    ("E", "pydantic/monty#700", ("B74", "bug", "a slice of an endless generator takes what it needs, and no more")),
    ("E", "pydantic/monty#116", ("B76", "bug", "a value that is nested very deeply is refused as a result")),
    ("E", "pydantic/monty#112", ("B77", "bug", "a source that is nested very deeply is refused before it runs")),
    ("E", "pydantic/monty#439", ("B79", "bug", "exception types nested very deeply end their own run at most")),
    ("E", "pydantic/monty#529", ("B80", "bug", "a callback that calls itself through a builtin is a RecursionError")),
    ("E", "pydantic/monty#705", ("B82", "bug", "a text form that changes what it describes ends its own run at most")),
    ("E", "pydantic/monty#751", ("B83", "bug", "changing a dictionary while going through it is a RuntimeError")),
    ("E", "PrefectHQ/fastmcp#4263", ("B85", "bug", "a call that nobody awaits is no success")),
    (
        "E",
        "nowireless4u/hpe-networking-mcp#515",
        ("B86", "bug", "what Python has, scripts have; what it lacks is said by line"),
    ),
    ("E", "pydantic/pydantic-ai-harness#501", ("B88", "bug", "every limit is on by default")),
    ("E", "cloudflare/agents#1505", ("B89", "bug", "what a script prints is output, whatever it looks like")),
    (
        "E",
        "universal-tool-calling-protocol/code-mode",
        ("B91", "bug", "a call returned without await is an error in Python", later(_JAVASCRIPT)),
    ),
    (
        "H",
        "huggingface/smolagents#1375",
        ("B118", "bug", "a module reached through another leads to nothing of the host"),
    ),
    ("H", "huggingface/smolagents#1551", ("B119", "bug", "walking all classes leads to nothing of the host")),
    (
        "H",
        "huggingface/smolagents#2395",
        ("B121", "bug", "no code of a script runs after its end, and none in the host"),
    ),
    (
        "H",
        "huggingface/smolagents#2271",
        ("B122", "bug", "format fields that walk are refused where the level is strict"),
    ),
    ("H", "huggingface/smolagents#1637", ("B124", "bug", "nothing is ever unpickled")),
    (
        "H",
        "zopefoundation/RestrictedPython CVE-2023-37271",
        ("B125", "bug", "frames lead to the script's own process only"),
    ),
    (
        "H",
        "zopefoundation/RestrictedPython CVE-2024-47532",
        ("B127", "bug", "what an error carries is the script's own"),
    ),
    (
        "H",
        "zopefoundation/RestrictedPython CVE-2025-22153",
        ("B128", "bug", "groups of exceptions behave as in Python"),
    ),
    ("H", "lmfit/asteval#86", ("B130", "bug", "what a reduction returns is the script's own")),
    (
        "H",
        "danthedeckie/simpleeval#138",
        ("B131", "bug", "no object of the host is given to a script, so none leads back"),
    ),
    (
        "H",
        "pallets/jinja CVE-2024-56326",
        ("B133", "bug", "a format method kept in a variable is judged like one that is called"),
    ),
    ("H", "langflow-ai/langflow CVE-2025-3248", ("B134", "bug", "checking a script runs nothing of it")),
    ("H", "n8n CVE-2026-0863", ("B136", "bug", "formatting an exception gives text")),
    ("H", "n8n-io/n8n#21482", ("B137", "bug", "a name is judged as Python mangles it")),
    ("H", "n8n CVE-2025-68668", ("B139", "bug", "there is no bridge to another runtime")),
    ("H", "gristlabs/grist-core CVE-2026-24002", ("B140", "bug", "check and jail hold each on its own")),
    ("H", "NorthlandPositronics/Cogtrix#1246", ("B142", "bug", "code in C below Python opens no file either")),
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
