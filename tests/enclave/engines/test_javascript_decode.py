"""From JSON text and tags of the host's to what a JavaScript script gets, and all the way back."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from typing import Any

import pytest
from hypothesis import given

from ringfence.enclave import table
from ringfence.enclave.engines import guest_values
from tests.enclave.engines.encoding import JSON_VALUES, TAIL, outcome
from tests.enclave.engines.prelude import world


@pytest.fixture(scope="module")
def shared() -> Any:
    """One context for the many examples of a property."""
    return world(TAIL)


READ = """globalThis.shape = (value) => {
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Date) return `Date ${value.toISOString()}`;
  if (value instanceof Uint8Array) return `Uint8Array ${[...value]}`;
  if (Array.isArray(value)) return value.map(shape);
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype) return 'not plain';
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shape(member)]));
};"""


def seen(text: str, tags: str = "") -> Any:
    """What a script sees of a value of the host's."""
    arguments = ", ".join(map(json.dumps, [text, tags] if tags else [text]))
    context = world(TAIL + READ)
    return json.loads(context.eval(f"JSON.stringify(shape(received({arguments})))"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740991", 2**53 - 1),
        ("-9007199254740991", 1 - 2**53),
        ("9007199254740992", "9007199254740992n"),
        ("-9007199254740992", "-9007199254740992n"),
        ("[18446744073709551616]", ["18446744073709551616n"]),
        ("[null, 9007199254740993]", [None, "9007199254740993n"]),
        ('{"a":-12345678901234567890}', {"a": "-12345678901234567890n"}),
        ("9" * 4300, "9" * 4300 + "n"),
        ("[0.30000000000000004,1e+21,1e22,10000000000000000.0]", [0.30000000000000004, 1e21, 1e22, 1e16]),
        ('["12345678901234567890",12345678901234567890]', ["12345678901234567890", "12345678901234567890n"]),
        ('{"a":"x,12345678901234567890"}', {"a": "x,12345678901234567890"}),
        ('[0.' + "1" * 30 + "," + "7" * 16 + "," + "8" * 17 + "]", [float("0." + "1" * 30), int("7" * 16), "8" * 17 + "n"]),
    ],
)  # fmt: skip
def test_integers_of_the_host_are_exact(text: str, value: Any) -> None:
    assert seen(text) == value


def test_a_long_integer_is_found_at_every_place() -> None:
    context = world(TAIL + READ)
    for before in range(40):
        for digits in (15, 16, 17, 20):
            number = "9" * digits
            text = json.dumps(["x" * before, 1, int(number)], separators=(",", ":"))
            found = context.eval(f"shape(received({json.dumps(text)})[2]) + ''")
            assert found == (number if digits == 15 else f"{number}n"), (before, digits)


def test_digits_without_end_take_no_time_by_the_square(shared: Any) -> None:
    text = json.dumps(["1" * 300_000, "." + "2" * 300_000])
    assert shared.eval(f"received({json.dumps(text)})[1].length") == 300_001


@pytest.mark.parametrize(
    "row", [row for row in table.ROWS if row.example and row.javascript], ids=lambda row: row.value
)
def test_every_row_of_the_table_reaches_a_script_and_comes_back(row: table.Row) -> None:
    value = eval(row.example, {"datetime": datetime, "decimal": decimal, "uuid": uuid})
    made = guest_values.encode(value)  # as the host writes it: `test_table` holds both to the table
    arguments = ", ".join(map(json.dumps, [made.text, made.tags] if made.tags else [made.text]))
    kind = outcome(f"""const value = received({arguments});
      return value === null ? 'null' : typeof value === 'object' ? value.constructor.name : typeof value""")
    names = {"Array": "Array", "plain object": "Object", "`BigInt`": "bigint", "`null`": "null", "its text": "string",
             "`Uint8Array`": "Uint8Array", "`Date` where it has an offset, else its text": "Date"}  # fmt: skip
    assert json.loads(kind["text"]) == names.get(row.javascript, row.javascript)
    back = outcome(f"return received({arguments})")
    restored = table.restore(json.loads(back["text"]), json.loads(back["tags"] or "{}"))
    plain = json.loads(made.text)
    assert restored == (plain if row.javascript == "its text" else table.restore(plain, json.loads(made.tags or "{}")))


@pytest.mark.parametrize(
    ("text", "seen_as"),
    [
        ("2026-01-02T03:04:05+00:00", "Date 2026-01-02T03:04:05.000Z"),
        ("2026-01-02T03:04:05.678901-02:30", "Date 2026-01-02T05:34:05.678Z"),
        ("0001-01-01T00:00:00Z", "Date 0001-01-01T00:00:00.000Z"),
        ("2026-01-02T03:04:05", "2026-01-02T03:04:05"),
        ("2026-01-02T03:04:05+01:02:03", "2026-01-02T03:04:05+01:02:03"),
    ],
)
def test_datetimes_with_an_offset_become_dates(text: str, seen_as: str) -> None:
    assert seen(json.dumps({"at": [text]}), '{"datetime":[["at",0]]}') == {"at": [seen_as]}


def test_tags_are_restored_in_place() -> None:
    text = '{"a":["__4=",{"__proto__":"2026-01-02T00:00:00Z"}],"d":"2026-01-02"}'
    tags = '{"bytes":[["a",0]],"datetime":[["a",1,"__proto__"]],"date":[["d"]]}'
    context = world(TAIL)
    found = context.eval(f"""(() => {{
      const value = received({json.dumps(text)}, {json.dumps(tags)}), own = value.a[1];
      return JSON.stringify([[...value.a[0]], Object.getPrototypeOf(own) === Object.prototype, Object.keys(own),
        Object.getOwnPropertyDescriptor(own, '__proto__').value.getTime(), value.d]);
    }})()""")
    assert json.loads(found) == [[255, 254], True, ["__proto__"], 1_767_312_000_000, "2026-01-02"]
    assert seen('"AAEC"', '{"bytes":[[]]}') == "Uint8Array 0,1,2"


def test_frozen_data_cannot_be_changed_at_any_depth() -> None:
    context = world(TAIL)
    found = context.eval("""(() => {
      "use strict";
      const data = frozen('{"a":[{"b":1}],"__proto__":{"c":2}}');
      const tries = [() => { data.x = 1 }, () => { data.a.push(1) }, () => { data.a[0].b = 2 }, () => { delete data.a },
        () => { Object.getOwnPropertyDescriptor(data, '__proto__').value.c = 3 }];
      const failed = tries.map((attempt) => { try { attempt(); return 'changed' } catch (error) { return error.name } });
      return JSON.stringify([failed, data]);
    })()""")
    assert json.loads(found) == [["TypeError"] * 5, {"a": [{"b": 1}], "__proto__": {"c": 2}}]


@pytest.mark.slow
@given(JSON_VALUES)
def test_what_python_writes_comes_back_the_same(shared: Any, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False)
    found = outcome(f"return received({json.dumps(text)})", shared)
    assert is_same(json.loads(found["text"]), value)
    assert found["size"] == len(found["text"].encode())


def is_same(found: Any, value: Any) -> bool:
    """Whole numbers to the last digit. Those that were written with a point or an exponent are numbers of that size."""
    if isinstance(value, float):
        return float(found) == value
    if type(found) is not type(value):
        return False
    if isinstance(found, list):
        return len(found) == len(value) and all(map(is_same, found, value))  # type: ignore[reportUnknownArgumentType]
    if isinstance(found, dict):
        return found.keys() == value.keys() and all(is_same(found[key], value[key]) for key in value)  # type: ignore[reportUnknownMemberType,reportUnknownArgumentType]
    return found == value
