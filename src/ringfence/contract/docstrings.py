"""From a docstring (Google, NumPy or Sphinx style) to the texts that a model reads.

Knows text and the parameter names to look for, not functions or schemas. `contract.tool` calls it at registration.
A docstring that nobody can parse is plain text: nothing here fails, prints or logs. Pure.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from griffe import DocstringSection

_PROSE: Final = frozenset({"text", "admonition"})
"""Kinds of section that any prose may look like; they do not speak for a style."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocTexts:
    """What one docstring says."""

    description: str = ""
    """Summary, explanation and notes. Sections on parameters, returns, errors and examples are left out."""
    parameters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Name to text, for the parameters asked for."""
    returns: str = ""


def read_docstring(text: str | None, names: Collection[str] = ()) -> DocTexts:
    """Texts of a docstring in whichever style explains most of the parameters `names`."""
    plain = inspect.cleandoc(text or "").strip()
    if "\n" not in plain and not plain.startswith(":"):
        return DocTexts(description=plain)  # one line has no sections; spares importing the parser
    best = DocTexts(description=plain)
    best_score = (0, 0)
    for sections in _readings(plain):
        texts = _collect(sections, names)
        score = (len(texts.parameters), sum(section.kind.value not in _PROSE for section in sections))
        if score > best_score:
            best, best_score = texts, score
    return best


def _readings(plain: str) -> list[list[DocstringSection]]:
    """The docstring as each style understands it, the commonest first."""
    import griffe  # imported late: it costs more than everything else here

    readings: list[list[DocstringSection]] = []
    for parse in (griffe.parse_google, griffe.parse_numpy, griffe.parse_sphinx):
        try:
            docstring = griffe.Docstring(plain)
            readings.append(parse(docstring, warnings=False, warn_unknown_params=False, warn_missing_types=False))
        except Exception:  # noqa: BLE001, S112 - a parser that stumbles over odd prose must not stop a registration
            continue
    return readings


def _collect(sections: list[DocstringSection], names: Collection[str]) -> DocTexts:
    prose: list[str] = []
    parameters: dict[str, str] = {}
    returns: list[str] = []
    for section in sections:
        match section.kind.value:
            case "text":
                prose.append(str(section.value).strip())
            case "admonition":
                title = section.title or section.value.kind.capitalize()
                prose.append(f"{title}: {_one_line(section.value.contents)}")
            case "parameters" | "other parameters":
                for item in section.value:
                    name = item.name.lstrip("*")
                    if name in names and item.description.strip():
                        parameters[name] = _one_line(item.description)
            case "returns":
                returns.extend(_one_line(item.description) for item in section.value if item.description.strip())
            case _:
                pass
    return DocTexts(
        description="\n\n".join(part for part in prose if part),
        parameters=MappingProxyType(parameters),
        returns="; ".join(returns),
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())
