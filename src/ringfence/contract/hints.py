"""From a function's signature and type hints to the type of its arguments.

Reads declarations and answers with a `Declared`: which object a caller must send, which parameter takes the context,
what comes back. Knows nothing of JSON Schema or of validation (`contract.schema` builds both from the answer) and
never calls the function. `contract.tool` calls it at registration. Pure.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, NotRequired, Required, get_args, get_origin

from pydantic import BaseModel, ConfigDict, EncodedBytes, Field, RootModel
from pydantic.fields import FieldInfo
from typing_extensions import ReadOnly, TypedDict

from ringfence.contract.context import ToolContext
from ringfence.errors import ConfigError

UNDECLARED: Final = object()
"""In place of a return annotation that is missing or says `Any`."""

_EMPTY: Final = inspect.Parameter.empty


class Arguments:
    """Validated arguments of a decorated function: one attribute per parameter, also readable as items.

    It has no public method, so that a parameter may have any name (`items`, `json`, `copy`).
    """

    __slots__ = ("__dict__",)

    def __init__(self, values: dict[str, Any], /) -> None:
        self.__dict__ = values

    def __getitem__(self, name: str) -> Any:
        return self.__dict__[name]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Arguments) and self.__dict__ == other.__dict__

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Arguments({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What a function's signature says."""

    arguments: Any
    """Type of the arguments object: a TypedDict of the parameters, or the model that the only parameter takes."""
    parameters: Mapping[str, Any]
    """Parameter name to its annotated type, without the context."""
    whole: str | None
    """Name of the parameter that takes the arguments object itself; None when its fields become parameters."""
    context: str | None
    """Name of the parameter that takes the `ToolContext`."""
    returns: Any
    """The return annotation, or `UNDECLARED`."""


def read_function(
    function: Callable[..., Any],
    *,
    label: str,
    texts: Mapping[str, str],
    scope: Mapping[str, Any] | None = None,
) -> Declared:
    """Declaration of a function that passed `check_kind`.

    Args:
        label: How errors name the tool.
        texts: Descriptions of parameters, from the docstring; an explicit `Field(description=...)` wins.
        scope: Names besides the module's that string annotations may use (locals of the place of definition).

    Raises:
        ConfigError: an unusable kind of parameter, or a hint that is missing or cannot be resolved;
            the message names the parameter and the fix.
    """
    signature = _signature(function, label)
    hints = _resolve(function, signature, scope, label)
    context: str | None = None
    parameters: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        hint = _checked_hint(parameter, hints, label)
        if not is_context(hint):
            parameters[parameter.name] = _with_field(parameter, hint, texts.get(parameter.name))
            continue
        if context is not None:
            raise ConfigError(f"{label}: both {context!r} and {parameter.name!r} are a ToolContext", hint="keep one")
        context = parameter.name
    returns = hints.get("return", UNDECLARED)
    whole = _whole(signature, hints, context)
    return Declared(
        arguments=hints[whole] if whole else arguments_type(parameters),
        parameters=types.MappingProxyType(parameters),
        whole=whole,
        context=context,
        returns=UNDECLARED if returns is Any else returns,
    )


def check_kind(function: Any) -> None:
    """Refuse what `read_function` cannot describe.

    Raises:
        ConfigError: not a plain function or bound method, or one that yields.
    """
    for wrapper in (staticmethod, classmethod):
        if isinstance(function, wrapper):
            raise ConfigError(f"@tool cannot wrap a {wrapper.__name__}", hint="put @tool below it")
    if isinstance(function, functools.partial):
        raise ConfigError(
            "a functools.partial would publish its bound arguments as optional parameters",
            hint="write a def with only the parameters that a caller may set",
        )
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        shown = (
            f"the class {function.__name__}"
            if inspect.isclass(function)
            else f"something of type {type(function).__name__}"
        )
        raise ConfigError(
            f"@tool needs a function, not {shown}",
            hint="decorate a def, or write Tool(name, description, input, execute)",
        )
    if function.__name__ == "<lambda>":
        raise ConfigError("a lambda has neither name nor type hints", hint="write a def")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ConfigError(f"{function.__name__!r} is a generator, which has no single result", hint="return a list")


def parameter_names(function: Callable[..., Any], label: str) -> tuple[str, ...]:
    """Names of all parameters.

    Raises:
        ConfigError: the signature cannot be read.
    """
    return tuple(_signature(function, label).parameters)


def is_context(hint: object) -> bool:
    """Whether a parameter of this type receives the context: `ToolContext`, optional or annotated, or a subclass."""
    if get_origin(hint) is Annotated:
        return is_context(get_args(hint)[0])
    if get_origin(hint) in (typing.Union, types.UnionType):
        return any(is_context(choice) for choice in get_args(hint))
    return isinstance(hint, type) and issubclass(hint, ToolContext)


def is_model(hint: object) -> bool:
    """Whether a type is a pydantic model with named fields."""
    return isinstance(hint, type) and issubclass(hint, BaseModel) and not issubclass(hint, RootModel)


def _signature(function: Callable[..., Any], label: str) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except Exception as error:
        raise ConfigError(f"{label}: its signature cannot be read ({type(error).__name__}: {error})") from error


def _resolve(
    function: Callable[..., Any], signature: inspect.Signature, scope: Mapping[str, Any] | None, label: str
) -> dict[str, Any]:
    """Type hints with strings evaluated; on failure an error that names the parameter."""
    names = {**(scope or {}), **_closure(function)}
    try:
        return typing.get_type_hints(function, localns=names, include_extras=True)
    except Exception as error:
        culprit = next((name for name, hint in resolve_each(function, names).items() if isinstance(hint, str)), None)
        where = "the return annotation" if culprit == "return" else f"the annotation of parameter {culprit!r}"
        hint = "define or import that name at module level, outside `if TYPE_CHECKING:`"
        raise ConfigError(
            f"{label}: {where if culprit else 'a type hint'} cannot be resolved ({type(error).__name__}: {error})",
            code="bad_schema",
            hint=hint if isinstance(error, NameError) else None,
        ) from error


def _closure(function: Callable[..., Any]) -> dict[str, Any]:
    """Names of enclosing functions that the body captured; cells that are still empty are left out."""
    inner = inspect.unwrap(function)
    found: dict[str, Any] = {}
    if inspect.ismethod(inner):
        inner = inner.__func__
    if inspect.isfunction(inner):
        for name, cell in zip(inner.__code__.co_freevars, inner.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):
                found[name] = cell.cell_contents
    return found


def resolve_each(function: Callable[..., Any], names: Mapping[str, Any]) -> dict[str, Any]:
    """Every hint by itself, with its text in place of one that cannot be resolved."""
    inner: Any = inspect.unwrap(function)
    annotations: dict[str, Any] = getattr(inner, "__annotations__", {})
    hints: dict[str, Any] = {}
    for name, annotation in annotations.items():

        def probe() -> None: ...

        probe.__annotations__ = {name: annotation}
        try:
            found = typing.get_type_hints(probe, getattr(inner, "__globals__", {}), dict(names), include_extras=True)
        except Exception:  # noqa: BLE001 - annotations are code, and may raise anything
            found = {name: str(annotation)}
        hints.update(found)
    return hints


def _checked_hint(parameter: inspect.Parameter, hints: Mapping[str, Any], label: str) -> Any:
    name = parameter.name
    match parameter.kind:
        case inspect.Parameter.VAR_POSITIONAL:
            raise ConfigError(f"{label}: *{name} has no name to call it by", hint=f"use `{name}: list[...]`")
        case inspect.Parameter.VAR_KEYWORD:
            raise ConfigError(f"{label}: **{name} would take any argument", hint=f"use `{name}: dict[str, ...]`")
        case inspect.Parameter.POSITIONAL_ONLY:
            raise ConfigError(f"{label}: parameter {name!r} is positional-only", hint="remove the `/`")
        case _:
            pass
    if name.startswith("__"):
        raise ConfigError(
            f"{label}: parameter {name!r} begins with two underscores",
            code="bad_name",
            hint=f"rename it to {name.strip('_') or 'value'!r}",
        )
    if parameter.annotation is not _EMPTY:
        _refuse_qualified(hints[name], name, label)
        return hints[name]
    if name in ("self", "cls"):
        raise ConfigError(
            f"{label}: parameter {name!r} has no type hint",
            hint="register the bound method: Tool.from_function(instance.method)",
        )
    raise ConfigError(f"{label}: parameter {name!r} has no type hint", hint=f"write `{name}: str`, or its real type")


def _refuse_qualified(hint: Any, name: str, label: str) -> None:
    """Words that say something about a class's field, and nothing about a parameter."""
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    for word in (NotRequired, Required, ReadOnly, typing.ClassVar, typing.Final):
        if hint is word or get_origin(hint) is word:
            shown = str(word).rpartition(".")[2]
            fix = f"write a default: `{name}: ... = None`" if word is NotRequired else f"remove {shown}"
            raise ConfigError(
                f"{label}: parameter {name!r} is {shown}, which only a field can be", code="bad_schema", hint=fix
            )


def _with_field(parameter: inspect.Parameter, hint: Any, text: str | None) -> Any:
    """The hint with description and default attached; later metadata wins over earlier."""
    before = (Field(description=text),) if text else ()
    after: tuple[FieldInfo, ...] = ()
    if isinstance(parameter.default, FieldInfo):
        after = (parameter.default,)
    elif parameter.default is not _EMPTY:
        after = (Field(default=parameter.default),)
    if get_origin(hint) is Annotated:
        base, *metadata = get_args(hint)
        return Annotated[(base, *before, *metadata, *after)]
    return Annotated[(hint, *before, *after)] if before or after else hint


def _whole(signature: inspect.Signature, hints: Mapping[str, Any], context: str | None) -> str | None:
    """The only parameter besides the context, when it is a required model: then its fields are the arguments."""
    others = [parameter for parameter in signature.parameters.values() if parameter.name != context]
    if len(others) == 1 and others[0].default is _EMPTY and is_model(hints[others[0].name]):
        return others[0].name
    return None


def arguments_type(parameters: Mapping[str, Any]) -> Any:
    """A closed TypedDict with these fields. Bytes are Base64 text in it, except where a type decodes text itself."""
    make: Any = TypedDict  # called, since only so a key may be any name
    arguments = make("Arguments", dict(parameters))
    encoding: Literal["utf8", "base64"] = "utf8" if any(map(_decodes, parameters.values())) else "base64"
    arguments.__pydantic_config__ = ConfigDict(extra="forbid", ser_json_bytes=encoding, val_json_bytes=encoding)
    return arguments


def _decodes(hint: Any) -> bool:
    """Whether pydantic's `Base64Bytes` or the like occurs in a type: decoded here as well, it would be so twice."""
    return isinstance(hint, EncodedBytes) or any(map(_decodes, get_args(hint)))
