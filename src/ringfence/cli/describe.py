"""`ringfence describe`: what a model needs to write scripts. Knows where tools and their stubs come from, no more."""

from __future__ import annotations

from ringfence.cli import exits
from ringfence.cli.load import load_tools
from ringfence.cli.script import language_of
from ringfence.cli.streams import results_only
from ringfence.cli.text import safe
from ringfence.enclave.stubs import describe_python
from ringfence.enclave.stubs_typescript import describe_typescript


def describe(tools: str, language: str | None) -> int:
    """Print the stubs of the tools that `MODULE[:NAME]` names, for scripts in a language; Python is the default.

    Raises:
        ConfigError: there are no such tools, or no such language.
    """
    stubs = describe_python if language_of("-", language) == "python" else describe_typescript
    with results_only() as results:
        results.write(safe(stubs(load_tools(tools)), keep="\n").rstrip("\n") + "\n")
    return exits.SUCCESS
