"""`ringfence describe`: what a model needs to write scripts. Knows where tools and their stubs come from, no more."""

from __future__ import annotations

from ringfence.cli import exits
from ringfence.cli.load import load_tools
from ringfence.cli.streams import results_only
from ringfence.cli.text import safe
from ringfence.enclave.stubs import describe_python


def describe(tools: str) -> int:
    """Print the stubs of the tools that `MODULE[:NAME]` names.

    Raises:
        ConfigError: there are no such tools.
    """
    with results_only() as results:
        results.write(safe(describe_python(load_tools(tools)), keep="\n").rstrip("\n") + "\n")
    return exits.SUCCESS
