"""What can be said about a JavaScript text before a parser sees it: `check.prescan`, with JavaScript's tokens.

A regular expression is told from a division by what stands before it; a template is text as a whole. Where that guess is
wrong, brackets are counted that are none; limits leave room for it, and the parser decides in the end. Pure, standard
library only.
"""

from __future__ import annotations

import re
from typing import Final

from ringfence.enclave.agentscript.rules import RULES
from ringfence.enclave.check import prescan as shared
from ringfence.enclave.check.findings import Found

_TOKEN: Final = re.compile(
    r"""
    //[^\n]*
    |/\*(?:[^*]++|\*(?!/))*+(?:\*/|\Z)
    |(?<=[(,=:\[!&|?{};+*%~^<>\n-])/(?![/*])(?:[^/\\\[\n]++|\\.|\[(?:[^\]\\\n]++|\\.)*+\]?)++/?
    |(?<=[(,=:\[!&|?{};+*%~^<>-]\ )/(?![/*])(?:[^/\\\[\n]++|\\.|\[(?:[^\]\\\n]++|\\.)*+\]?)++/?
    |"(?:[^"\\\n]++|\\.?)*+"?
    |'(?:[^'\\\n]++|\\.?)*+'?
    |`(?:[^`\\]++|\\.?)*+(?:`|\Z)
    |\(|\)|\[|\]|\{|\}
    |-[ \t+~-]*|\+[ \t+~-]*|~[ \t+~-]*
    """,
    re.VERBOSE | re.DOTALL,
)


def prescan(source: str, level: str) -> list[Found]:
    """Findings about the text. Nothing to say at a level that has no rules."""
    return shared.prescan(source, level, token=_TOKEN, comments=("//", "/*"), rules=RULES)
