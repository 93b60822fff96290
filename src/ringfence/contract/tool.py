"""What a tool is: an immutable, completely checked record of one callable and the rules for calling it.

Everything that can be wrong with a tool is found while it is built, as a `ConfigError` that names the field. Knows
schemas and signatures; does not know boundaries, gates, approvers or sandboxes beyond their ports, and never runs
`execute` on its own. Users write `@tool` and `Tool(...)`; the gate reads the fields and calls `call_with`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, Final, Generic, cast, overload

from pydantic import TypeAdapter
from typing_extensions import ParamSpec, TypeVar, Unpack

from ringfence.contract import calling, rules
from ringfence.contract.backoff import Backoff
from ringfence.contract.context import ToolContext
from ringfence.contract.docstrings import read_docstring
from ringfence.contract.door import as_input_schema, as_output_schema
from ringfence.contract.function import FunctionInput
from ringfence.contract.hints import UNDECLARED, check_kind, parameter_names, read_function
from ringfence.contract.names import check_tool_name, suggest
from ringfence.contract.neutral import LooseSchema, ToolSchema
from ringfence.contract.rules import OnError, Rules
from ringfence.errors import ConfigError
from ringfence.limits import KIB, ValueBudget
from ringfence.ports import Approval, Driver, Effect, InputSchema, OutputSchema
from ringfence.values import ValueRefused, canonical, digest

_DIGEST_BUDGET: Final = ValueBudget(size=1024 * KIB, depth=80)

P = ParamSpec("P", default=...)
R = TypeVar("R", default=Any, covariant=True)
M = TypeVar("M")
T = TypeVar("T")


class ToolOptions(Rules, total=False):
    """Options of `@tool` and `Tool.from_function`: these also replace what the function itself says."""

    name: str
    description: str


_FIELDS: Final = ("name", "description", "input", "execute", *Rules.__annotations__)


class Tool(Generic[P, R]):
    """A named, described, schema-carrying function that a caller may ask for (first seed, "Tools & Security").

    The fields cannot change; `replace` makes another tool.
    """

    __slots__ = (
        "approval",
        "backoff",
        "call_with",
        "definition_digest",
        "description",
        "effect",
        "execute",
        "idempotent",
        "input",
        "is_async",
        "lax",
        "max_concurrency",
        "max_result",
        "name",
        "on_error",
        "output",
        "retries",
        "retry_on",
        "sandbox",
        "tags",
        "takes_context",
        "timeout",
        "total_timeout",
    )

    name: str
    """Lower snake case."""
    description: str
    input: InputSchema
    output: OutputSchema
    execute: Callable[P, R]
    """The function as it was given: call it in unit tests, where no rule shall apply."""
    timeout: float | None
    """Seconds for one attempt; None does not bound it."""
    retries: int
    """Attempts after the first."""
    retry_on: rules.RetryOn | None
    """Exceptions that another attempt may mend; None leaves that to the rules for the tool's effect."""
    backoff: Backoff | None
    """Pauses between attempts; None makes the next one at once."""
    total_timeout: float | None
    """Seconds for all attempts and the pauses between them; None does not bound them."""
    approval: Approval
    on_error: OnError | None
    """Makes a fallback result out of the last exception, when all attempts failed."""
    sandbox: Driver | None
    """Where it runs; None leaves that to the boundary."""
    effect: Effect | None
    """`read` may be repeated freely; None, undeclared, is treated as `write`."""
    idempotent: bool | None
    """Whether running twice does no more than running once; None, undeclared, is treated as no."""
    lax: bool
    """Whether arguments are converted where that makes sense (`"7"` to 7), in place of being refused."""
    max_concurrency: int | None
    """Calls of it that a boundary runs at the same time; further ones wait their turn, except that a call from within a
    call of the tool is refused where it would wait. None does not bound them."""
    max_result: int | None
    """Bytes that the JSON text of a result may have. None: 5 MiB, where it is written at all, which is for a declared
    result and for a script; what a tool without a declared result hands to the host is its own object, unchecked."""
    tags: tuple[str, ...]
    is_async: bool
    """Whether `execute` is a coroutine function."""
    takes_context: bool
    """Whether `execute` gets a `ToolContext`."""
    definition_digest: str
    """Names what the tool promises: its name, description, schemas and effect."""
    call_with: calling.Call
    """Calls `execute` with validated arguments and a context, which may be None where none is taken. For the gate: no
    rule is applied here. Gives what `execute` returned: an awaitable, when `is_async`."""

    @overload
    def __init__(
        self: Tool[[M], T],
        name: str,
        description: str,
        input: type[M] | TypeAdapter[M] | ToolSchema[M],
        execute: Callable[[M], T],
        **options: Unpack[Rules],
    ) -> None: ...
    @overload
    def __init__(
        self: Tool[[M, ToolContext], T],
        name: str,
        description: str,
        input: type[M] | TypeAdapter[M] | ToolSchema[M],
        execute: Callable[[M, ToolContext], T],
        **options: Unpack[Rules],
    ) -> None: ...
    @overload
    def __init__(
        self: Tool[[dict[str, Any]], T],
        name: str,
        description: str,
        input: Mapping[str, Any],
        execute: Callable[[dict[str, Any]], T],
        **options: Unpack[Rules],
    ) -> None: ...
    @overload
    def __init__(
        self: Tool[[dict[str, Any], ToolContext], T],
        name: str,
        description: str,
        input: Mapping[str, Any],
        execute: Callable[[dict[str, Any], ToolContext], T],
        **options: Unpack[Rules],
    ) -> None: ...
    @overload
    def __init__(
        self,
        name: str,
        description: str,
        input: InputSchema | LooseSchema,
        execute: Callable[P, R],
        **options: Unpack[Rules],
    ) -> None: ...

    def __init__(
        self,
        name: Any,
        description: Any,
        input: Any,  # noqa: A002
        execute: Any,
        **options: Any,
    ) -> None:
        """Check and keep everything, in the order name, description, numbers, rules, schemas.

        Args:
            name: Lower snake case, at most 128 characters.
            description: What a model reads; not blank.
            input: What describes an object with named fields: a pydantic model, a dataclass, a TypedDict, a
                TypeAdapter of one, a msgspec Struct, a JSON Schema (a mapping; draft 4 to 2020-12), or a
                `ToolSchema`, the validator and converter of any other library.
            execute: `execute(arguments)` or `execute(arguments, context)`, sync or async. Its parameter has the type
                that `input` makes: a dictionary under a JSON Schema.
            output: Type of the result, or a schema of any of these kinds; None checks only that it can be dumped.
            timeout: Seconds, above zero.
            retries: Attempts after the first, at least zero.
            retry_on: Exception classes, or a function of the exception that answers True, for which another attempt
                is made; None: every failure that the tool's effect allows to repeat.
            backoff: Pauses between attempts: a `Backoff`, seconds, or None for none.
            total_timeout: Seconds for all attempts together with their pauses, above zero.
            approval: `"auto"`, `"human"`, a callback that answers True (or another decision) to approve, or several
                under `any_of`, `all_of` or `veto`.
            on_error: Called with the last exception; what it returns becomes the result.
            sandbox: A driver; None uses the boundary's.
            effect: `"read"` or `"write"`.
            idempotent: Whether a repetition does no further harm.
            lax: Convert arguments where that makes sense, in place of refusing them. Only for what pydantic and
                msgspec validate.
            max_concurrency: Calls at the same time, at least 1.
            max_result: Bytes, or a text such as `"64KB"`.
            tags: Words for filters and policies.

        Raises:
            ConfigError: the first field that is wrong, with the smallest fix.
        """
        label = f"tool {check_tool_name(name)!r}"
        set_field = super().__setattr__
        set_field("name", str(name))
        set_field("description", rules.check_description(description, label))
        output = options.pop("output", None)
        for rule, value in rules.checked(options, label).items():
            set_field(rule, value)
        set_field("input", as_input_schema(input, f"{label}: input", lax=self.lax))
        if not callable(execute):
            raise ConfigError(f"{label}: execute must be callable, not {type(execute).__name__}")
        set_field("execute", execute)
        set_field("is_async", calling.is_async(execute))
        convention = self._convention(label)
        set_field("takes_context", convention.takes_context)
        set_field("call_with", convention.call)
        set_field("output", as_output_schema(UNDECLARED if output is None else output, f"{label}: output"))
        set_field("definition_digest", _digest(self, label))

    @classmethod
    def from_function(cls, function: Callable[P, R], **options: Unpack[ToolOptions]) -> Tool[P, R]:
        """The tool that a function's signature, type hints and docstring declare; see `tool`.

        Raises:
            ConfigError: the function cannot be a tool; the message names the parameter and the fix.
        """
        return _from_function(function, options, _scope(function, inspect.currentframe()))

    def replace(self, **changes: Any) -> Tool[..., Any]:
        """Another tool with some of the constructor's fields changed, checked again.

        Raises:
            ConfigError: an unknown field, or a value that the constructor refuses.
        """
        fields: dict[str, Any] = {name: getattr(self, name) for name in _FIELDS}
        for name in changes:
            if name not in _FIELDS:
                near = suggest(name, _FIELDS)
                raise ConfigError(f"a tool has no field {name!r}", hint=f"use {near!r}" if near else None)
        fields.update(changes)
        make = cast("Callable[..., Tool[..., Any]]", Tool)  # no overload can be chosen for a mapping
        return make(**fields)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Always refuses: a tool is called through a boundary, where its rules apply."""
        del args, kwargs
        raise ConfigError(
            f"tool {self.name!r} cannot be called directly",
            hint=f"await boundary.call({self.name!r}, {{...}}); in a unit test call its `.execute`",
        )

    def __setattr__(self, name: str, value: object) -> None:
        del value
        raise AttributeError(f"a tool cannot change: {name}; use replace({name}=...)")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a tool cannot change: {name}")

    def __copy__(self) -> Tool[P, R]:
        return self

    def __deepcopy__(self, memo: object) -> Tool[P, R]:
        del memo
        return self

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"

    def _convention(self, label: str) -> calling.Convention:
        if isinstance(self.input, FunctionInput):
            return calling.spread(self.execute, self.input.declared)
        return calling.whole(self.execute, f"{label}: execute")


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(**options: Unpack[ToolOptions]) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(function: Any = None, /, **options: Any) -> Any:
    """Make a function a tool: `@tool`, or `@tool(timeout=2.0, approval="human")`.

    The name is the function's, the description its docstring's, the arguments its parameters' with their type hints,
    defaults, `Annotated[..., Field(...)]` and docstring texts. A parameter of type `ToolContext` receives the context
    and is not published. A function whose only other parameter is a pydantic model takes that model's fields. The
    return annotation is the type of the result.

    Raises:
        ConfigError: the function cannot be a tool; the message names the parameter and the fix.
    """
    if function is not None:
        if isinstance(function, str):
            raise ConfigError("@tool takes its name as an option", hint=f"@tool(name={function!r})")
        return _from_function(function, options, _scope(function, inspect.currentframe()))

    def decorate(function: Callable[..., Any]) -> Tool[..., Any]:
        return _from_function(function, options, _scope(function, inspect.currentframe()))

    return decorate


def _from_function(function: Any, options: Mapping[str, Any], scope: Mapping[str, Any] | None) -> Tool[..., Any]:
    known = ToolOptions.__annotations__
    for option in options:
        if option not in known:
            near = suggest(option, known)
            raise ConfigError(f"@tool has no option {option!r}", hint=f"use {near!r}" if near else None)
    if isinstance(function, Tool):
        raise ConfigError(f"{function!r} is a tool already", hint="use its replace(...) to change an option")
    check_kind(function)
    rest = dict(options)
    name = check_tool_name(rest.pop("name", function.__name__), f"name of {function.__qualname__}")
    label = f"tool {name!r}"
    texts = read_docstring(function.__doc__, parameter_names(function, label))
    description = rest.pop("description", texts.description)
    if not description:
        raise ConfigError(f"{label} has no description", hint="write a docstring, or give description=")
    declared = read_function(function, label=label, texts=texts.parameters, scope=scope)
    output = rest.pop("output", None)
    returns = as_output_schema(declared.returns if output is None else output, f"{label}: output", texts.returns)
    arguments = FunctionInput(declared, label, lax=rest.get("lax") is True)
    return Tool(name, description, arguments, function, output=returns, **rest)


def _scope(function: object, frame: FrameType | None) -> Mapping[str, Any] | None:
    """Locals of the caller of `frame`, where a function inside a function may have found its types."""
    if frame is None or frame.f_back is None or "<locals>" not in getattr(function, "__qualname__", ""):
        return None
    return dict(frame.f_back.f_locals)


def _digest(tool: Tool[..., Any], label: str) -> str:
    definition = {
        "name": tool.name,
        "description": tool.description,
        "input": tool.input.json_schema(),
        "output": tool.output.json_schema(),
        "effect": tool.effect,
    }
    try:
        return digest(canonical(definition, _DIGEST_BUDGET))
    except ValueRefused as error:
        raise ConfigError(f"{label}: its definition cannot be published: {error}", code="bad_schema") from None
