"""The user's tools: from `MODULE[:NAME]` to a list of `Tool`. Imports (thus runs) the user's module, in this process.

Knows nothing of boundaries and scripts. Called by every verb that takes `--tools`.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import importlib.util
import os
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from ringfence.cli.blame import place, said
from ringfence.contract.tool import Tool
from ringfence.contract.toolset import Toolset
from ringfence.errors import ConfigError, RingfenceError

AnyTool = Tool[..., Any]


def load_tools(spec: str) -> tuple[AnyTool, ...]:
    """Tools named by `MODULE[:NAME]`, each once, in the order of the module.

    MODULE is importable (the current directory comes first on the path) or the path of a `.py` file. NAME is a tool,
    a toolset or an iterable of tools; without it, all tools and toolsets of the module's namespace count.

    Raises:
        ConfigError: the module cannot be imported, has no such name, or holds no tools; two tools share a name.
    """
    target, name = _split(spec)
    module = _import(target)
    if name is None:
        found = [tool for value in vars(module).values() if _holds_tools(value) for tool in _tools(value)]
        missing = f"{target} defines no tool"
        hint = "decorate a function with @ringfence.tool, or name a toolset: MODULE:NAME"
    else:
        found = _named(module, target, name)
        missing = f"{target}:{name} holds no tool"
        hint = "it must be a Tool, a Toolset or an iterable of tools"
    tools = tuple({id(tool): tool for tool in found}.values())
    if not tools:
        raise ConfigError(missing, hint=hint)
    return tuple(Toolset(tools))


def _split(spec: str) -> tuple[str, str | None]:
    target, colon, name = spec.rpartition(":")
    if not colon:
        return spec, None
    if not target or not name.isidentifier():
        raise ConfigError(f"--tools {spec!r} is not MODULE[:NAME]", hint="write --tools package.module:NAME")
    return target, name


def _named(module: ModuleType, target: str, name: str) -> list[AnyTool]:
    try:
        value = getattr(module, name)
    except AttributeError:
        names = [key for key, item in vars(module).items() if _holds_tools(item)]
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "leave :NAME out to use every tool of the module"
        raise ConfigError(f"{target} has no attribute {name!r}", hint=hint) from None
    return _tools(value)


def _holds_tools(value: object) -> bool:
    return isinstance(value, Tool | Toolset)


def _tools(value: object) -> list[AnyTool]:
    if isinstance(value, Tool):
        return [value]
    if isinstance(value, Iterable):
        items = list(cast("Iterable[object]", value))
        if all(isinstance(item, Tool) for item in items):
            return cast("list[AnyTool]", items)
    return []


def _import(target: str) -> ModuleType:
    _put_first_on_path(Path.cwd())
    is_path = target.endswith(".py") or os.sep in target
    if not is_path and not all(part.isidentifier() for part in target.split(".")):
        raise _no_module(target)
    if is_path and not Path(target).is_file():
        raise ConfigError(f"there is no file {target!r}", hint="give the path of a .py file, or a module's name")
    # Whatever a module does while it is imported ends as one line; only Ctrl-C goes on.
    try:
        return _import_file(Path(target)) if is_path else importlib.import_module(target)
    except KeyboardInterrupt:
        raise
    except RingfenceError as error:
        raise ConfigError(f"{place(error) or target}: {error.message}", code=error.code, hint=error.hint) from None
    except BaseException as error:  # noqa: BLE001 - SystemExit and the like included
        raise _import_problem(target, error) from None


def _put_first_on_path(folder: Path) -> None:
    text = str(folder)
    with contextlib.suppress(ValueError):
        sys.path.remove(text)
    sys.path.insert(0, text)


def _import_file(path: Path) -> ModuleType:
    path = path.resolve()
    _put_first_on_path(path.parent)
    name = path.stem if path.stem.isidentifier() else "ringfence_tools"
    if name in sys.modules:
        name = f"ringfence_tools_{name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ConfigError(f"{str(path)!r} is not Python source", hint="the file's name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # pydantic and dataclasses look their own module up there
    spec.loader.exec_module(module)
    return module


def _import_problem(target: str, error: BaseException) -> ConfigError:
    if isinstance(error, ModuleNotFoundError) and error.name is not None and _is_part(error.name, target):
        return _no_module(target)
    message = f"{place(error) or target}: {said(error)}"
    command = shlex.join(["python", target] if target.endswith(".py") else ["python", "-c", f"import {target}"])
    hint = f"{command} shows the whole traceback"
    if isinstance(error, ImportError) and "relative import" in str(error):
        hint = "a file of a package is named by its module: --tools package.module"
    return ConfigError(f"the tools cannot be imported: {message}", hint=hint)


def _no_module(target: str) -> ConfigError:
    hint = "run from the folder that holds it, or give the path of its .py file"
    return ConfigError(f"there is no module {target!r}", hint=hint)


def _is_part(name: str, target: str) -> bool:
    return target == name or target.startswith(f"{name}.")


def argument_names(tool: AnyTool) -> frozenset[str]:
    """Names of the arguments that a tool takes, from its published schema."""
    properties: Any = tool.input.json_schema().get("properties", {})
    return frozenset(cast("dict[str, Any]", properties))
