"""What `globals` may hold, judged and copied when the enclave is built, as the nodes that a guest reads.

Plain data becomes a read-only copy. A function stands behind a number and is called in the host; functions may be
values of plain mappings and methods of objects, never members of a list, a set or another collection, whose own
methods would hand them to the script (second seed, "Custom Globals"; enclave catalogue 1.F). Whatever runs code when it
is looked at or gone through is refused, and nothing of that kind is run here, but for a mapping behind a read-only
view, and the serialisers of models. Knows values only; `options` calls it, `functions` runs what it found, the guest
builds what scripts see. Pure.

Values that contain themselves are refused, although the original lets them pass: a copy of one has no JSON form.
"""

from __future__ import annotations

import io
import json
import sys
import types
import unicodedata
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Final, NoReturn, cast
from uuid import UUID

from ringfence.contract.calling import is_async
from ringfence.contract.output import dump_plain
from ringfence.contract.restorable import tags_of
from ringfence.enclave.languages import PROTOTYPES, PYTHON, Language
from ringfence.errors import ConfigError
from ringfence.limits import ValueBudget, read_mapping, shown
from ringfence.values import ValueRefused

DEEPEST: Final = 10
"""Steps from a global to any value below it (enclave catalogue, F2)."""
_BUDGET: Final = ValueBudget()
_LEAVES: Final = (type(None), str, int, float, Decimal, UUID, bytes, bytearray, date, time, timedelta, Enum)
_LISTS: Final = (list, tuple, deque)
_SETS: Final = (set, frozenset)
_MAPPINGS: Final = (dict, types.MappingProxyType)
_mro: Final[Callable[[type], tuple[type, ...]]] = type.__dict__["__mro__"].__get__
_vars: Final[Callable[[type], Mapping[str, Any]]] = type.__dict__["__dict__"].__get__
_flags: Final[Callable[[type], int]] = type.__dict__["__flags__"].__get__
_module: Final[Callable[[type], str]] = type.__dict__["__module__"].__get__
"""What is true of a class, whatever its metaclass says."""
_ROUTINES: Final = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodWrapperType)
_COMPILED: Final = (types.MethodDescriptorType, types.ClassMethodDescriptorType, types.GetSetDescriptorType)
"""What classes have in the place of methods and properties that were not written in Python."""
_NATIVE: Final = (
    types.NoneType,
    types.WrapperDescriptorType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
"""What is in the place of `__getattribute__` and `__dict__` where nobody has put code of their own; None for nothing."""
_WEAK: Final = frozenset({"weakref", "_weakref", "_weakrefset"})
"""Modules of references and collections whose contents may vanish."""
_HEAP_TYPE: Final = 1 << 9
"""Flag of classes that a `class` statement made (`Py_TPFLAGS_HEAPTYPE`), some of C's among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Function:
    """One function that scripts may call."""

    name: str
    """As scripts find it: `formatDate`, `utils.format_date`."""
    call: Callable[..., Any]
    is_async: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Globals:
    """All of an enclave's."""

    names: frozenset[str] = frozenset()
    nodes: bytes = b"{}"
    """JSON object of name to node, for `RunRequest.globals`."""
    functions: tuple[Function, ...] = ()
    """By number."""


def parse(given: object, *, allow_functions: bool, language: Language = PYTHON) -> Globals:
    """Judge and copy.

    Raises:
        ConfigError: naming the global, the path inside it (`root` for itself) and what is wrong there.
    """
    if given is None:
        return Globals()
    if type(given) not in _MAPPINGS:
        raise ConfigError(f"globals must be a plain mapping of names to values, not {type(given).__name__}")
    walk = _Walk(allow_functions)
    nodes: list[bytes] = []
    values = read_mapping(cast("Mapping[Any, Any]", given), "globals")
    for name, value in values.items():
        _check_name(name, language)
        nodes.append(b"%b:%b" % (_json(name), walk.written(name, value)))
    text = b"{%b}" % b",".join(nodes)
    if len(text) > _BUDGET.size:
        raise ConfigError(f"globals have {len(text)} bytes of JSON, more than {_BUDGET.size}")
    return Globals(names=frozenset(values), nodes=text, functions=tuple(walk.functions))


def _check_name(name: object, language: Language) -> None:
    if type(name) is not str:
        raise ConfigError(f"globals: the name {shown(name)} is not text but {type(name).__name__}", code="bad_name")
    reason = None
    if not language.is_name(name) or unicodedata.normalize("NFKC", name) != name:
        reason = "is no name that a script can write"
    elif name.startswith("__") or name in PROTOTYPES:
        reason = "is a reserved name"
    elif name in language.guest:
        reason = "is a name that every script has"
    if reason is not None:
        raise ConfigError(f"globals: {shown(name)} {reason}", code="bad_name", hint="choose another name")


# what was found: plain data as such, and what cannot be plain data


@dataclass(frozen=True, slots=True)
class _Data:
    value: Any


@dataclass(frozen=True, slots=True)
class _Function:
    number: int


@dataclass(frozen=True, slots=True)
class _Members:
    kind: str
    """`mapping` or `object`."""
    parts: Mapping[str, _Found]


_Found = _Data | _Function | _Members


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is."""

    name: str
    """The global's."""
    path: tuple[str, ...] = ()
    inside: str | None = None
    """The kind of collection around it, in which only plain data may be."""
    above: tuple[int, ...] = field(default=(), repr=False)
    """Identities of the containers around it."""

    def step(self, part: str, container: object, inside: str | None = None) -> _Place:
        return _Place(self.name, (*self.path, part), inside or self.inside, (*self.above, id(container)))

    @property
    def dotted(self) -> str:
        return ".".join((self.name, *self.path))


class _Walk:
    def __init__(self, allow_functions: bool) -> None:
        self._allow = allow_functions
        self.functions: list[Function] = []

    def written(self, name: str, value: object) -> bytes:
        """One global as a node."""
        return self._node(self._found(value, _Place(name)), name)

    def _found(self, value: Any, at: _Place) -> _Found:
        kind = cast("type[Any]", type(value))  # `isinstance` would ask the value itself for its class
        if issubclass(kind, _LEAVES):
            return _Data(value)
        if id(value) in at.above:
            _refuse(at, "contains itself, which a copy cannot", "leave the way back out, or name it by an id")
        if len(at.path) > DEEPEST:
            _refuse(at, f"is deeper than {DEEPEST} steps", "make it flatter")
        _refuse_active(value, at)
        if _defines(value, "__call__"):
            return self._function(value, at)
        if issubclass(kind, _MAPPINGS):
            return self._mapping(cast("Mapping[Any, Any]", value), at)
        if issubclass(kind, _LISTS):
            return self._collection(cast("Iterable[Any]", value), at, "a list", "{}")
        if issubclass(kind, _SETS):
            return self._collection(cast("Iterable[Any]", value), at, "a set", "values()[{}]")
        return self._object(value, at)

    def _collection(self, value: Iterable[Any], at: _Place, kind: str, step: str) -> _Data:
        found: list[Any] = []
        base = cast("type[Any]", next(one for one in (*_LISTS, *_SETS) if issubclass(type(value), one)))
        for number, one in enumerate(cast("Iterator[Any]", base.__iter__(value))):
            inner = self._found(one, at.step(step.format(number), value, kind))
            assert isinstance(inner, _Data)  # everything else has been refused
            found.append(inner.value)
        return _Data(found)

    def _function(self, value: Callable[..., Any], at: _Place) -> _Function:
        if at.inside is not None:
            fix = "make it a value of a plain dict, or a method"
            _refuse(at, f"is a function inside {at.inside}, where only plain data may be", fix)
        if not self._allow:
            _refuse(at, "is a function", "pass allow_functions_in_globals=True, or offer it as a tool")
        self.functions.append(Function(name=at.dotted, call=value, is_async=is_async(value)))
        return _Function(len(self.functions) - 1)

    def _mapping(self, value: Mapping[Any, Any], at: _Place) -> _Found:
        base = cast("type[Any]", next(one for one in _MAPPINGS if issubclass(type(value), one)))
        items = list(cast("Iterable[tuple[Any, Any]]", base.items(value)))
        if not all(type(key) is str for key, _ in items):
            self._refuse_keys(items, value, at)
        found: dict[str, _Found] = {}
        for key, one in items:
            if _is_reserved(key):
                _refuse(at.step(key, value), "is a reserved key", "choose another one")
            found[key] = self._found(one, at.step(key, value))
        return _joined("mapping", found)

    def _refuse_keys(self, items: list[tuple[Any, Any]], value: object, at: _Place) -> NoReturn:
        """A dictionary with other keys is a collection: say first what no collection may hold, then what is wrong."""
        for number, (key, one) in enumerate(items):
            self._found(key, at.step(f"keys()[{number}]", value, "a dict with keys that are no text"))
            shown_key = f'"{key}"' if type(key) is str else shown(key)
            self._found(one, at.step(f"get({shown_key})", value, "a dict with keys that are no text"))
        number, odd = next((number, key) for number, (key, _) in enumerate(items) if type(key) is not str)
        _refuse(at.step(f"keys()[{number}]", value), f"is a key of type {type(odd).__name__}", "use text as keys")

    def _object(self, value: object, at: _Place) -> _Found:
        kind = type(value)
        if _defines(value, "__pydantic_serializer__"):
            return _Data(value)
        if kind is not types.SimpleNamespace and not _flags(kind) & _HEAP_TYPE:
            _refuse(at, f"is a {kind.__name__}, which is no plain data", "pass plain data")
        if _defines(value, "__getattr__") or any(_makes_attributes(base) for base in _mro(kind)[:-1]):
            _refuse(at, f"is a {kind.__name__}, which makes its attributes when they are asked for", "pass plain data")
        members = dict(_members(value, at))
        methods = [name for name, one in members.items() if issubclass(type(one), _ROUTINES)]
        if not methods and _defines(value, "__dataclass_fields__"):
            parts = {name: self._found(one, at.step(name, value)) for name, one in members.items()}
            if all(isinstance(one, _Data) for one in parts.values()):
                return _joined("object", parts)
        if not members:
            _refuse(at, f"is a {kind.__name__} without public attributes or methods", "pass plain data")
        if at.inside is not None:
            what = "an object with methods" if methods else f"a {kind.__name__}"
            _refuse(at, f"is {what} inside {at.inside}, where only plain data may be", "pass a dict")
        return _Members("object", {name: self._found(one, at.step(name, value)) for name, one in members.items()})

    def _node(self, found: _Found, name: str) -> bytes:
        match found:
            case _Data(value):
                try:
                    text = dump_plain(value)
                except ValueRefused as refused:
                    place = refused.path.replace("[", ".").replace("]", "") or "root"
                    raise ConfigError(f"globals: {name!r} at {place}: {refused.reason}") from None
                return b'{"k":"data","v":%b,"tags":%b}' % (text, _json(tags_of(text)))
            case _Function(number):
                one = self.functions[number]
                return _json({"k": "function", "id": number, "async": one.is_async, "name": one.name})
            case _Members(kind, parts):
                inner = [b"%b:%b" % (_json(key), self._node(one, name)) for key, one in parts.items()]
                return b'{"k":"%b","m":{%b}}' % (kind.encode(), b",".join(inner))


def _joined(kind: str, parts: Mapping[str, _Found]) -> _Found:
    """Plain data where all parts are."""
    if all(isinstance(one, _Data) for one in parts.values()):
        return _Data({key: cast("_Data", one).value for key, one in parts.items()})
    return _Members(kind, parts)


def _refuse_active(value: object, at: _Place) -> None:
    """Whatever is no data although it looks like some, or does something when it is gone through."""
    kind = type(value)
    what: str | None = None
    if issubclass(kind, type):
        what = f"the class {cast('type', value).__name__}"
    elif issubclass(kind, types.ModuleType):
        what = f"the module {cast('types.ModuleType', value).__name__}"
    elif not _WEAK.isdisjoint(_module(base) for base in _mro(kind)):
        what = f"a {kind.__name__}, whose contents may vanish"
    elif issubclass(kind, io.IOBase) or _defines(value, "fileno"):
        what = f"an open file ({kind.__name__})"
    elif _defines(value, "__await__"):
        what = f"a {kind.__name__}, which can be awaited"
    elif _defines(value, "__next__") or _defines(value, "__anext__"):
        what = f"a {kind.__name__}, which can be gone through once"
    elif _defines(value, "__aiter__"):
        what = f"a {kind.__name__}, which is gone through asynchronously"
    if what is not None:
        _refuse(at, f"is {what}", "pass plain data, or a function that answers with it")


def _members(value: object, at: _Place) -> Iterator[tuple[str, Any]]:
    """Public attributes and methods of an instance, without running any code of its class."""
    own: dict[str, Any] = getattr(value, "__dict__", {})  # the real one: whoever makes it was refused
    for name, one in own.items():
        if not name.startswith("_"):
            yield name, one
    seen = set(own)
    for base in _mro(type(value))[:-1]:
        for name, one in _vars(base).items():
            if name in seen or name.startswith("_"):
                continue
            seen.add(name)
            kind = cast("type[Any]", type(one))
            if kind is types.MemberDescriptorType:
                if (held := getattr(value, name, _NOTHING)) is not _NOTHING:
                    yield name, held
            elif issubclass(kind, (types.FunctionType, classmethod, staticmethod)):
                yield name, getattr(value, name)
            elif kind in _COMPILED or (_defines(one, "__get__") and _is_standard(base)):
                what = f"is a {type(value).__name__}, which is no plain data"
                _refuse(at, what, "pass what you need of it, such as its text")
            elif _defines(one, "__get__"):
                _refuse(at.step(name, value), "is computed when it is read", "make it a method or plain data")
            else:
                yield name, one


_NOTHING: Final = object()


def _is_standard(kind: type) -> bool:
    """Whether the class is of Python's own library, whose attributes nobody makes methods of."""
    return _module(kind).partition(".")[0] in sys.stdlib_module_names


def _defines(value: object, name: str) -> bool:
    """Whether the value's class has the attribute; the value itself is not asked."""
    return any(name in _vars(base) for base in _mro(type(value)))


def _makes_attributes(kind: type) -> bool:
    """Whether the class has code of its own for looking up attributes, or for all of them at once."""
    own = _vars(kind)
    return type(own.get("__getattribute__")) not in _NATIVE or type(own.get("__dict__")) not in _NATIVE


def _is_reserved(key: str) -> bool:
    return (key.startswith("__") and key.endswith("__")) or key in PROTOTYPES


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _refuse(at: _Place, reason: str, fix: str) -> NoReturn:
    raise ConfigError(f"globals: {at.name!r} at {'.'.join(at.path) or 'root'} {reason}", hint=fix)
