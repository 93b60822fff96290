"""From a script's values to JSON text, with the place of the first value that is not data.

Runs inside the jail, standard library only. The fast path is the C encoder; only its hook and the keys of objects
need Python. Values of the kinds that `enclave.table` holds are rare: the hook stops at the first one, and the value is
walked, so that text and tags come from one look at it. Knows nothing of calls or frames.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import fractions
import json
import math
import pathlib
import types
from collections import abc
from collections.abc import Callable, Iterable
from typing import Any, Final, NoReturn, cast

from ringfence.enclave import table
from ringfence.enclave.engines.guest_bounds import Encoded, Path

MAX_STEPS: Final = 2_000_000
_CONTAINERS: Final = (dict, list, tuple)
_ITERABLES: Final = (set, frozenset, abc.KeysView, abc.ValuesView, range, collections.deque, collections.UserList)


class NotData(Exception):
    """A value that cannot leave the script. `path` is where, `""` for the whole value; `large` where it is data, and
    only too much of it."""

    def __init__(self, path: str, reason: str, value: object = None, *, large: bool = False) -> None:
        super().__init__(f"{path}: {reason}" if path else reason)
        self.path = path
        self.reason = reason
        self.value = value
        self.large = large


def _is(item: object, kinds: type | tuple[type, ...]) -> bool:
    """`isinstance` by the object's class, whatever the object says that its class is."""
    return issubclass(type(item), kinds)


class _Refused(Exception):
    def __init__(self, value: object) -> None:
        super().__init__()
        self.value = value


class _Tagged(Exception):
    """There is a value of one of the table's kinds."""


class _OddKeys(Exception):
    """An object has keys that are not text."""


def encode(value: object, *, any_keys: bool = False) -> Encoded:
    """JSON text with its tags. Sets, tuples and arrays become lists, dataclasses objects, members of enumerations their
    values, what the value table calls a kind its text.

    `any_keys`: keys that are numbers, None, dates or ids become text, since `{row["id"]: total}` is what scripts return.

    Raises:
        NotData: NaN, infinity, a lone surrogate, a cycle, keys that are not text, functions, classes, generators,
            coroutines, files, and objects of other classes.
    """
    try:
        return _encoded(value)
    except _OddKeys:
        if not any_keys:
            raise _locate(value) from None
    return _encoded(_with_text_keys(value))


def simple(value: object, most: int) -> str | None:
    """JSON text of what most arguments are: JSON's own types, at most so many bytes. None: `encode` has to look at it."""
    if not _plain_keys(value):
        return None
    try:
        text = "".join(_encode(value, 0))
        size = len(text) if text.isascii() else len(text.encode())
    except Exception:  # noqa: BLE001 - whatever it is, `encode` finds it again and says it
        return None
    return text if size <= most else None


def _encoded(value: object) -> Encoded:
    if not _plain_keys(value):
        raise _OddKeys
    try:
        text = "".join(_encode(value, 0))
    except _Tagged:
        return _with_tags(value)
    except _Refused as refused:
        raise _locate(value, refused) from None
    except (ValueError, TypeError, RecursionError):
        raise _locate(value) from None
    if text.isascii():
        return Encoded(text, len(text))
    try:
        return Encoded(text, len(text.encode()))
    except UnicodeEncodeError:
        raise _locate(value) from None


def _with_tags(value: object) -> Encoded:
    paths: dict[str, list[Path]] = {}
    try:
        plain = _plain(value, [], paths)
    except _Refused as refused:
        raise _locate(value, refused) from None
    except (ValueError, TypeError, RecursionError):
        raise _locate(value) from None
    made = _encoded(plain)
    tags = "".join(_encode(paths, 0))
    return Encoded(made.text, made.size + len(tags.encode()), tags, paths)


def _plain(item: Any, path: Path, paths: dict[str, list[Path]]) -> Any:
    """The value in JSON's own types. `path`: to it; `paths`: what was found, by kind."""
    if item is None or _is(item, (str, int, float)):
        return item
    if _is(item, dict):
        members: dict[str, Any] = {}
        for key, child in item.items():
            if not isinstance(key, str):
                raise _OddKeys
            path.append(key)
            members[key] = _plain(child, path, paths)
            path.pop()
        return members
    if _is(item, (list, tuple)):
        items: list[Any] = []
        for child in item:
            path.append(len(items))
            items.append(_plain(child, path, paths))
            path.pop()
        return items
    if _is(item, table.TYPES):
        kind, text = table.write(item)
        paths.setdefault(kind, []).append(path.copy())
        return text
    return _plain(_convert(item), path, paths)


# what JSON does not have


def _hook(value: Any) -> Any:
    """Called by the encoder for what it does not know."""
    if _is(value, table.TYPES):
        raise _Tagged
    made = _convert(value)
    if not _plain_keys(made):
        raise _OddKeys
    return made


def _convert(value: Any) -> Any:
    """One step towards JSON's own types. Looks at the class and not at what the value says its class is."""
    kind: Any = cast("Any", type(value))
    if issubclass(kind, _ITERABLES):
        return list(value)
    if issubclass(kind, abc.ItemsView):
        return [list(pair) for pair in value]
    if issubclass(kind, fractions.Fraction):
        return str(value)
    if issubclass(kind, enum.Enum):
        return value.value
    if issubclass(kind, (types.MappingProxyType, collections.ChainMap, collections.UserDict)):
        return dict(value)
    if dataclasses.is_dataclass(kind):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    if kind.__module__ == "numpy" and hasattr(kind, "tolist") and value.dtype.kind not in "mM":
        return value.tolist()  # arrays and their numbers; its dates become numbers there
    raise _Refused(value)


_encoder: Any = json.encoder  # its C half is not in the type stubs
# the C encoder itself, made once: JSONEncoder makes one per call. No markers: a cycle ends as a RecursionError
_encode: Final[Callable[[object, int], Iterable[str]]] = _encoder.c_make_encoder(
    None, _hook, json.encoder.encode_basestring, None, ":", ",", False, False, False
)


# keys


def _plain_keys(value: object) -> bool:
    """Whether every object below has text keys; the C encoder would turn others into text silently."""
    if type(value) is dict and _is_flat(value):  # pyright: ignore[reportUnknownArgumentType]
        return True
    stack: list[Any] = [value]
    seen: set[int] = set()
    while stack:
        item = stack.pop()
        if id(item) in seen:  # shared, or a cycle, which the encoder refuses
            continue
        seen.add(id(item))
        kind: Any = cast("Any", type(item))
        if issubclass(kind, dict):
            if not all(isinstance(key, str) for key in item):
                return False
            item = item.values()
        elif not issubclass(kind, (list, tuple)):  # it only says that it is one
            continue
        stack.extend(child for child in item if isinstance(child, _CONTAINERS))  # pyright: ignore[reportUnknownArgumentType]
    return True


def _is_flat(value: dict[Any, Any]) -> bool:
    for key, child in value.items():  # noqa: SIM110 - a generator costs twice as much, in every call
        if type(key) is not str or type(child) in _CONTAINERS:
            return False
    return True


def _with_text_keys(value: object) -> object:
    """Numbers, booleans and None become what `json.dumps` writes; dates, ids and the like, their text as values."""
    try:
        return _rekey(value, "", {})
    except RecursionError:
        raise NotData("", "is nested too deeply", large=True) from None


def _rekey(item: Any, path: str, made: dict[int, tuple[object, object] | None]) -> Any:
    """`made`: what was converted already, by identity, so that what is shared stays shared; None while it is underway."""
    if item is None or _is(item, (str, int, float, *table.TYPES)):
        return item
    number = id(item)
    if number in made:
        if (done := made[number]) is None:
            raise NotData(path, "contains itself")
        return done[1]
    made[number] = None
    children: Any
    if _is(item, dict):
        children = {}
        for key, child in item.items():
            text = _key_text(key, path)
            if text in children:
                raise NotData(path, f"two object keys become the text {text!r}; use keys that differ as text")
            children[text] = _rekey(child, f"{path}.{text}" if path else text, made)
    elif _is(item, (list, tuple)):
        children = [_rekey(child, f"{path}[{at}]", made) for at, child in enumerate(item)]
    else:
        try:
            children = _rekey(_convert(item), path, made)
        except _Refused:
            children = item  # the encoder will say so
    made[number] = item, children  # the item too, so that its number stays its own
    return children


def _key_text(key: Any, path: str) -> str:
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (int, float)):
        if (reason := _scalar_problem(key)) is not None:
            raise NotData(path, f"an object key is {reason}")
        return json.dumps(key)
    if isinstance(key, table.TYPES) and not isinstance(key, (bytes, bytearray)):
        try:
            return table.write(key)[1]
        except table.Unwritable as error:
            raise NotData(path, f"an object key: {error}") from None
    if isinstance(key, (enum.Enum, fractions.Fraction)) or type(key).__module__ == "numpy":
        return _key_text(_converted_key(key, path), path)
    raise _odd_key(key, path)


def _converted_key(key: object, path: str) -> Any:
    try:
        return _convert(key)
    except _Refused:
        raise _odd_key(key, path) from None


def _odd_key(key: object, path: str) -> NotData:
    return NotData(path, f"an object key is of type {type(key).__name__}, not text; use str(key)")


# what is wrong


def _locate(value: object, refused: _Refused | None = None) -> NotData:
    """Walk slowly to the first offender, for its path."""
    stack: list[tuple[Any, str, tuple[int, ...]]] = [(value, "", ())]
    steps = 0
    while stack and steps < MAX_STEPS:
        item, path, above = stack.pop()
        steps += 1
        if id(item) in above:
            return NotData(path, "contains itself")
        if len(above) > 500:
            return NotData(path[:200], "is nested too deeply", large=True)
        try:
            children = _children(item, path)
        except NotData as error:
            return error
        inner = (*above, id(item))
        stack.extend((child, place, inner) for child, place in reversed(children))
    if refused is not None:
        return NotData("", f"a value of type {type(refused.value).__name__} is not data", refused.value)
    return NotData("", "is too large or too deep to leave the script", large=True)


def _children(item: Any, path: str) -> list[tuple[Any, str]]:
    """What is inside a value, with the places.

    Raises:
        NotData: it is itself the offender.
    """
    if (reason := _scalar_problem(item)) is not None:
        raise NotData(path, reason, item)
    if item is None or _is(item, (str, int, float)):
        return []
    if _is(item, dict):
        for key in item:
            if not isinstance(key, str):
                raise _odd_key(key, path)  # type: ignore[reportUnknownArgumentType]
            if (reason := _scalar_problem(key)) is not None:
                raise NotData(path, f"an object key is {reason}")
        return [(child, f"{path}.{key}" if path else key) for key, child in item.items()]
    if _is(item, (list, tuple)):
        return [(child, f"{path}[{at}]") for at, child in enumerate(item)]
    if _is(item, table.TYPES):
        try:
            table.write(item)
        except table.Unwritable as error:
            raise NotData(path, str(error), item) from None
        return []
    try:
        return [(_convert(item), path)]
    except _Refused:
        _refuse(item, path)


_FIXES: Final[tuple[tuple[tuple[type, ...], str], ...]] = (
    ((types.GeneratorType, map, filter, zip, enumerate, reversed), "use list(...)"),
    ((BaseException,), "use str(error)"),
    ((pathlib.PurePath,), "use str(path)"),
)
_BY_NAME: Final = {
    "NAType": "use None",
    "datetime64": "use str(value)",
    "timedelta64": "use str(value)",
    "ndarray": "use .astype(str).tolist()",  # of dates, as all others are data
    "Period": "use str(value)",
    "Interval": "use str(value)",
}
"""Of NumPy and pandas, which are not there everywhere."""
_HOST_NAMES: Final = "ringfence.enclave.engines.guest_names"


def _refuse(item: object, path: str) -> NoReturn:
    kind = type(item)
    if kind.__module__ == _HOST_NAMES:
        raise NotData(path, f"{item!r} is not data; use {'what it returns' if callable(item) else 'its parts'}", item)
    fix = next((f"; {fix}" for kinds, fix in _FIXES if issubclass(kind, kinds)), "")
    if kind.__module__.partition(".")[0] in ("numpy", "pandas"):
        fix = f"; {_BY_NAME.get(kind.__name__, 'use .to_dict() or .tolist()')}"
    raise NotData(path, f"a value of type {kind.__name__} is not data{fix}", item)


def _scalar_problem(item: Any) -> str | None:
    if _is(item, float) and not math.isfinite(item):
        return f"{item!r} is not a finite number"
    if _is(item, int) and item.bit_length() > 14_000 and abs(item) >= 10**table.MOST_DIGITS:
        return f"a whole number of more than {table.MOST_DIGITS} digits"
    if _is(item, str):
        try:
            item.encode()
        except UnicodeEncodeError:
            return "text with a lone surrogate, which is not Unicode"
    return None
