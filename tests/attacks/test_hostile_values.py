"""Values whose every hook is hostile leave a script as plain data, or not at all: none of it runs in the host (T118).

The sentinel is a folder on the host's import path and a name in its builtins: a hook that ran here could not resist.
"""

from __future__ import annotations

import builtins
import copy
import datetime
import decimal
import json
import pprint
import uuid
from typing import Any, Final

import pytest

import ringfence as rf
from tests.attacks.canary import Canary
from tests.attacks.host import furnish
from tests.attacks.trials import LIMITS
from tests.enclave.kit import Stage, code

SENTINEL: Final = "RINGFENCE_SENTINEL"

HOOKS: Final = """
import builtins, collections, dataclasses, datetime, decimal, enum, fractions, pathlib, types, uuid

NAMES = '''__str__ __repr__ __format__ __eq__ __ne__ __lt__ __hash__ __bool__ __len__ __iter__ __next__ __getitem__ __contains__
__getattr__ __getattribute__ __index__ __int__ __float__ __bytes__ __add__ __radd__ __call__ __reduce__ __reduce_ex__ __copy__
__deepcopy__ __getstate__ __dir__ __sizeof__ __del__ __await__ __enter__ __exit__ __fspath__ __instancecheck__ keys items
values isoformat utcoffset tzname as_tuple bit_length encode decode hex'''.split()


def ring(*args, **named):
    setattr(builtins, "RINGFENCE_SENTINEL", True)
    raise RuntimeError("a hook ran")


def hostile(base, names=NAMES, *args):
    kept = {name: ring for name in names if name not in ("__getattribute__", "__getattr__", "__del__", "__hash__")}
    kind = type("Hostile" + base.__name__, (base,), kept)
    return kind(*args)


class Everything:
    def __getattribute__(self, name):
        return ring


class Zone(datetime.tzinfo):
    utcoffset = tzname = dst = ring


@dataclasses.dataclass
class Record:
    a: int = 1

    __str__ = __repr__ = __eq__ = ring


class Colour(enum.Enum):
    RED = "red"

    __str__ = __repr__ = ring


values = {
    "everything": lambda: Everything(),
    "text": lambda: hostile(str, NAMES, "text"),
    "number": lambda: hostile(int, NAMES, 5),
    "float": lambda: hostile(float, NAMES, 5.5),
    "bytes": lambda: hostile(bytes, NAMES, b"bytes"),
    "list": lambda: hostile(list, NAMES, [1]),
    "dict": lambda: hostile(dict, NAMES, {"a": 1}),
    "tuple": lambda: hostile(tuple, NAMES, (1, 2)),
    "set": lambda: hostile(set, NAMES, {1}),
    "date": lambda: hostile(datetime.datetime, ["__str__", "__repr__", "__eq__", "isoformat"], 2026, 1, 1),
    "zone": lambda: datetime.datetime(2026, 1, 1, tzinfo=Zone()),
    "decimal": lambda: hostile(decimal.Decimal, ["__str__", "__repr__", "__eq__", "is_finite"], "1.5"),
    "id": lambda: hostile(uuid.UUID, ["__str__", "__repr__", "__eq__"], "00000000-0000-0000-0000-000000000001"),
    "record": lambda: Record(),
    "enumeration": lambda: Colour.RED,
    "ordered": lambda: collections.OrderedDict(a=hostile(str, NAMES, "x")),
    "counter": lambda: collections.Counter({"a": hostile(int, NAMES, 1)}),
    "key": lambda: {hostile(str, ["__str__", "__repr__", "encode", "__format__"], "key"): 1},
    "proxy": lambda: types.MappingProxyType(hostile(dict, NAMES, {"a": 1})),
    "nested": lambda: {"a": [hostile(str, NAMES, "x"), {"b": hostile(int, NAMES, 2)}]},
    "error": lambda: hostile(ValueError, NAMES, "x"),
    "class": lambda: type("Meta", (type,), {"__call__": ring, "__repr__": ring})("Made", (), {}),
    "lambda": lambda: lambda: ring(),
    "generator": lambda: (ring() for _ in [1]),
}
value = values[inputs["kind"]]()
"""
KINDS: Final = [
    line.split('"')[1] for line in HOOKS.splitlines() if line.startswith('    "') and "lambda" in line.partition(":")[2]
]
ENDS: Final = {
    "returned": "value",
    "inside": '{"list": [value], "dict": {"x": value}}',
    "printed": "print(value, [value], {1: value})\n0",
    "raised": "raise ValueError(value)",
    "sent": 'await call_tool("echo", {"v": value})',
    "called": "tag(value)",
    "as a name": "await call_tool(value, {})",
}
NO_DATA: Final = frozenset({"everything", "error", "class", "lambda", "generator"})
HOOKED: Final = frozenset({"list", "dict", "tuple", "set", "proxy", "zone"})
"""What can be read only by running its hooks, which happens in the guest."""
SHOWN: Final = frozenset({"everything", "lambda", "generator"})
"""What has the usual text."""


def expected(end: str, kind: str) -> str | None:
    """The code of a run that does this with that."""
    match end:
        case "raised" | "as a name":
            return "RUNTIME_ERROR"
        case "printed":
            return None if kind in SHOWN else "RUNTIME_ERROR"
        case "sent" if kind in NO_DATA:
            return "TOOL_ERROR"
        case _:
            return "RUNTIME_ERROR" if kind in NO_DATA | HOOKED else None


PLAIN: Final = frozenset(
    {type(None), bool, int, float, str, bytes, list, dict, datetime.datetime, datetime.date, datetime.time}
    | {decimal.Decimal, uuid.UUID}
)


def kinds(value: Any) -> set[type]:
    """Classes of everything in a value."""
    found: set[type] = {type(value)}
    if type(value) is dict:
        for key, inner in value.items():  # type: ignore[reportUnknownVariableType]
            found |= {type(key)} | kinds(inner)  # type: ignore[reportUnknownArgumentType]
    elif type(value) is list:
        for inner in value:  # type: ignore[reportUnknownVariableType]
            found |= kinds(inner)
    return found


def look(result: rf.RunResult, seen: list[tuple[str, Any]]) -> None:
    """Everything that a host, its log and its debugger do to a result."""
    error = None if result.error is None else result.error.as_dict()
    for value in (result.value, result.output, error, seen):
        str(value)
        repr(value)
        format(value)
        pprint.pformat(value)
        copy.deepcopy(value)
        json.dumps(value, default=str)
        assert value == value
    hash(result.output)
    bool(result.value)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_hostile_values_run_no_code_in_the_host(kind: str, arena: Stage, canary: Canary) -> None:
    furnish(arena)
    for end, script in ENDS.items():
        arena.seen.clear()
        inputs = {**canary.inputs(), "kind": kind}
        result = arena.script(HOOKS + script, inputs, **LIMITS, timeout=5.0, validate=False)
        assert (end, code(result)) == (end, expected(end, kind))
        reached = [args for _, args in arena.seen]
        assert kinds(result.value) | kinds(reached) <= PLAIN, end
        look(result, arena.seen)
        assert not hasattr(builtins, SENTINEL), end
    assert canary.state() == canary.intact()
