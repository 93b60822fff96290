"""The quick look says yes wherever the rules would refuse at a wide level, and no for scripts as models write them."""

from __future__ import annotations

import pytest

from ringfence.enclave.agentscript.script import rules
from ringfence.enclave.agentscript.suspects import suspicious
from ringfence.enclave.agentscript.syntax import parse
from tests.enclave.agentscript.kit import KNOWN, PARSER
from tests.enclave.agentscript.test_constructs import STRICT_SCRIPTS
from tests.enclave.agentscript.test_promises import AWAITED, DATA, DROPPED, WAITED_FOR

NEVER = ["import 'a'", "export const a = 1", "await import('a')", "with (inputs) {}", "import.meta.url"]


def quick(source: str) -> bool:
    return suspicious(parse(source, PARSER), KNOWN)


@pytest.mark.parametrize("source", [*DATA, *AWAITED, *DROPPED, *WAITED_FOR, *NEVER, *STRICT_SCRIPTS])
def test_nothing_that_is_refused_escapes(source: str) -> None:
    script = parse(source, PARSER)
    errors = [one for one in rules(script, "STANDARD", KNOWN) if one.severity == "error"]
    assert quick(source) or not errors


@pytest.mark.parametrize("source", STRICT_SCRIPTS)
def test_scripts_as_models_write_them_cost_no_more(source: str) -> None:
    assert not quick(source)


@pytest.mark.parametrize(
    "source",
    [
        "const text = 'callTool(x).items'; // mail.list().items",
        "const o = { mail: 1 }; o.mail.x",
        "const mailbox = 1; mailbox.x",
        "async function main() { return 1 } return await main()",
        "const main = async () => { await mail.list() }; main()",
        "const [a, b] = await Promise.all([mail.list(), mail.send({})])",
        "const rows = await Promise.all([1].map((n) => tools.get({ n })))",
    ],
)
def test_names_elsewhere_are_no_reason(source: str) -> None:
    assert not quick(source)


def test_many_places_are_left_to_the_rules() -> None:
    assert quick("await mail.list();\n" * 2_100)
