"""An immutable collection of tools with unique names, and the views that make other collections of it.

Knows tools, not boundaries: it neither calls nor owns what is in it. Users build one; `boundary` and `enclave` read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import MappingProxyType
from typing import Any, cast

from ringfence.contract.names import check_tool_name, suggest
from ringfence.contract.tool import Tool
from ringfence.errors import ConfigError
from ringfence.ports import Approval

AnyTool = Tool[..., Any]


class Toolset:
    """Tools by name, in the order given. Toolsets inside are flattened."""

    __slots__ = ("_tools",)

    def __init__(self, tools: Iterable[AnyTool | Toolset]) -> None:
        """Collect tools.

        Raises:
            ConfigError: something that is not a tool, with its position; `duplicate_name` for a name given twice.
        """
        found: dict[str, AnyTool] = {}
        for tool in _flat(tools):
            if tool.name in found:
                raise ConfigError(
                    f"two tools are named {tool.name!r} (duplicate)",
                    code="duplicate_name",
                    hint="rename one with replace(name=...), or put one set behind Toolset.prefixed(...)",
                )
            found[tool.name] = tool
        self._tools = MappingProxyType(found)

    def __iter__(self) -> Iterator[AnyTool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __contains__(self, name: object) -> bool:
        """Whether a tool has this name, or this very tool is here."""
        if isinstance(name, Tool):
            return self._tools.get(name.name) is name
        return name in self._tools

    def __getitem__(self, name: str) -> AnyTool:
        """The tool of that name.

        Raises:
            KeyError: there is none; the text names the nearest.
        """
        if (tool := self._tools.get(name)) is not None:
            return tool
        near = suggest(name, self._tools)
        raise KeyError(f"no tool {name!r}; did you mean {near!r}?" if near else f"no tool {name!r}")

    def __repr__(self) -> str:
        return f"Toolset([{', '.join(self._tools)}])"

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names, in the order given."""
        return tuple(self._tools)

    def prefixed(self, prefix: str) -> Toolset:
        """The same tools as `prefix_name`.

        Raises:
            ConfigError: `bad_name`: the prefix, or a name with it, is not usable.
        """
        check_tool_name(prefix, "prefix")
        return Toolset(tool.replace(name=f"{prefix}_{tool.name}") for tool in self)

    def filtered(self, keep: Callable[[AnyTool], bool]) -> Toolset:
        """The tools for which `keep` answers truly."""
        return Toolset(tool for tool in self if keep(tool))

    def with_approval(self, approval: Approval) -> Toolset:
        """The same tools under one approval rule.

        Raises:
            ConfigError: not a rule.
        """
        return Toolset(tool.replace(approval=approval) for tool in self)


def _flat(tools: object) -> Iterator[AnyTool]:
    if isinstance(tools, str) or not isinstance(tools, Iterable):
        raise ConfigError(f"tools must be a list of tools, not {type(tools).__name__}", hint="write [tool_a, tool_b]")
    items = cast("Iterable[object]", tools)
    for position, item in enumerate(items):
        if isinstance(item, Toolset):
            yield from item
        elif isinstance(item, Tool):
            yield cast("AnyTool", item)
        else:
            named = getattr(item, "__name__", type(item).__name__)
            raise ConfigError(
                f"tools[{position}] is not a tool but {named!r}",
                hint="decorate it with @rf.tool" if callable(item) else "give a Tool or a Toolset",
            )
