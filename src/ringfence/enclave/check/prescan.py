"""What can be said about a source text before a parser sees it: its size, its nesting, and what its characters hide.

One pass of one regular expression that never goes back, so its time grows with the text and not faster. It knows of a
language no more than where strings and comments are. Pure, standard library only: it runs in the jailed guest.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from ringfence.enclave.check.findings import Findings, Found
from ringfence.enclave.check.text_limits import TEXT, TextLimits
from ringfence.enclave.rules import RULES, Rule

# Every alternative begins with one literal character, so the engine skips to the next candidate by itself.
_TOKEN: Final = re.compile(
    r"""
    \#[^\n]*
    |\"\"\"(?:[^"\\]++|\\.?|"(?!""))*+(?:\"\"\"|\Z)
    |'''(?:[^'\\]++|\\.?|'(?!''))*+(?:'''|\Z)
    |"(?:[^"\\\n]++|\\.?)*+"?
    |'(?:[^'\\\n]++|\\.?)*+'?
    |\(|\)|\[|\]|\{|\}
    |-[ \t+~-]*|\+[ \t+~-]*|~[ \t+~-]*
    """,
    re.VERBOSE | re.DOTALL,
)
_HIDDEN: Final = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_ENOUGH: Final = 200
"""Findings of one text; more say nothing new."""
_BIDI: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_OPENS: Final = {"\u202a": "\u202c", "\u202b": "\u202c", "\u202d": "\u202c", "\u202e": "\u202c"} | dict.fromkeys(
    "\u2066\u2067\u2068", "\u2069"
)
_JOINERS: Final = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Hold letters and emoji together, and choose between text and picture."""
_WORD: Final = re.compile(r"[^\W\d]\w*")
_ASCII_LETTER: Final = re.compile("[A-Za-z]")
_LOOKALIKES: Final = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеорсухіјѕԁԛԝһӏ" + "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧοϲϳ",
    "ABESIJKMHOPCTYXaeopcyxijsdqwhl" + "ABEZHIKMNOPTYXocj",
)
"""Cyrillic and Greek letters that cannot be told from ASCII ones; letters of formulas (α, ν, ρ, Δ) are not among them."""


def prescan(
    source: str,
    level: str,
    *,
    token: re.Pattern[str] = _TOKEN,
    comments: tuple[str, ...] = ("#",),
    rules: Mapping[str, Rule] = RULES,
) -> list[Found]:
    """Findings about the text. Nothing to say at a level that has no rules.

    Args:
        token: strings, comments, brackets, runs of signs; each begins with a character that tells which.
        comments: what comments begin with.
        rules: the language's, for messages and fixes.
    """
    if level not in TEXT:
        return []
    limits = TEXT[level]
    findings = Findings(level, rules)
    source = source.removeprefix("\ufeff")
    _sizes(source, limits, findings)
    ascii_only = source.isascii()
    if (
        not ascii_only
        or source.count("(") + source.count("[") + source.count("{") > limits.nesting
        or "\0" in source
        or any(sign in source for sign in ("--", "++", "~~", "- -", "+ +", "-+", "+-"))
    ):
        _Text(source, limits, findings, token, comments).scan(ascii_only)
    return findings.sorted()


def _sizes(source: str, limits: TextLimits, findings: Findings) -> None:
    size = len(source) if source.isascii() else len(source.encode("utf-8", "surrogatepass"))
    if size > limits.size:
        findings.add_at("SOURCE_TOO_LARGE", 1, 1, f"{size} bytes, more than {limits.size}")
    lines = source.split("\n")
    if len(lines) > limits.lines:
        findings.add_at("TOO_MANY_LINES", limits.lines + 1, 1, f"{len(lines)} lines, more than {limits.lines}")
    longest = max(lines, key=len)
    if len(longest) > limits.line:
        at = lines.index(longest) + 1
        findings.add_at("LINE_TOO_LONG", at, 1, f"{len(longest)} characters, more than {limits.line}")


class _Text:
    """One source, cut into code, strings and comments."""

    def __init__(
        self,
        source: str,
        limits: TextLimits,
        findings: Findings,
        token: re.Pattern[str],
        comments: tuple[str, ...],
    ) -> None:
        self._source = source
        self._token = token
        self._comments = comments
        self._limits = limits
        self._findings = findings
        self._added = 0

    def scan(self, ascii_only: bool) -> None:
        source = self._source
        depth = deepest = at = 0
        for match in self._token.finditer(source):
            first = source[match.start()]
            if first in "([{":
                depth += 1
                if depth > deepest:
                    deepest = depth
                    if depth == self._limits.nesting + 1:
                        self._add("TOO_DEEP", match.start(), f"brackets nested more than {depth - 1} deep")
            elif first in ")]}":
                depth -= 1
            elif first in "+-~":
                self._operators(match)
            elif not ascii_only:
                self._code(at, match.start())
                self._quoted(match.start(), match.end(), comment=match[0].startswith(self._comments))
                at = match.end()
        if not ascii_only:
            self._code(at, len(source))
        if (nul := source.find("\0")) >= 0:
            self._add("NULL_BYTE", nul, "")

    def _operators(self, match: re.Match[str]) -> None:
        signs = sum(char in "+-~" for char in match[0])
        if signs > self._limits.operators:
            self._add("OPERATOR_SPAM", match.start(), f"{signs} signs")

    def _code(self, start: int, end: int) -> None:
        """Between strings and comments: nothing hidden, no name that is another one."""
        piece = self._source[start:end]
        if piece.isascii():
            return
        for match in _HIDDEN.finditer(piece):
            code = "BIDI_CONTROL" if match[0] in _BIDI else "INVISIBLE_CHARACTER"
            self._add(code, start + match.start(), _shown(match[0]))
        for match in _WORD.finditer(piece):
            if not match[0].isascii() and is_confusable(match[0]):
                self._add("CONFUSABLE_NAME", start + match.start(), match[0])

    def _quoted(self, start: int, end: int, *, comment: bool) -> None:
        piece = self._source[start:end]
        if piece.isascii():
            return
        if any(char in _BIDI for char in piece):
            for at in self._bad_bidi(piece, comment):
                self._add("BIDI_CONTROL", start + at, _shown(piece[at]))
        if self._limits.quoted_invisible:
            return
        for match in _HIDDEN.finditer(piece):
            at = match.start()
            if match[0] not in _BIDI and not (match[0] in _JOINERS and at > 0 and ord(piece[at - 1]) > 127):
                self._add("INVISIBLE_CHARACTER", start + at, _shown(match[0]))

    def _bad_bidi(self, piece: str, comment: bool) -> Iterator[int]:
        """Places of direction characters that may not stand here."""
        if comment or not self._limits.quoted_bidi:
            yield from (at for at, char in enumerate(piece) if char in _BIDI)
            return
        opened: list[tuple[int, str]] = []
        for at, char in enumerate(piece):
            if char == "\n":  # a line ends what is open
                yield from (place for place, _ in opened)
                opened.clear()
            elif char in _OPENS:
                opened.append((at, _OPENS[char]))
            elif char in _BIDI:
                if opened and opened[-1][1] == char:
                    opened.pop()
                else:
                    yield at
        yield from (place for place, _ in opened)

    def _add(self, code: str, at: int, name: str) -> None:
        if self._added >= _ENOUGH:  # each costs a walk over the text before it
            return
        self._added += 1
        line = self._source.count("\n", 0, at) + 1
        column = at - self._source.rfind("\n", 0, at)
        self._findings.add_at(code, line, column, name)


def is_confusable(word: str) -> bool:
    """Whether a name that is not ASCII stands for, or looks like, one that is."""
    if unicodedata.normalize("NFKC", word).isascii():
        return True
    return bool(_ASCII_LETTER.search(word)) and word.translate(_LOOKALIKES).isascii()


def _shown(char: str) -> str:
    return f"U+{ord(char):04X} ({unicodedata.name(char, 'unnamed')})"
