"""What scripts find around them: the host's clock and chance, copies, bytes and text, and what is absent."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.enclave.engines.prelude import CLOCK, evaluated, value_in, world

# Clock


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("new Date()", "2026-01-02T03:04:05.678Z"),
        ("Date.now()", 1_767_323_045_678),
        ("Date()", "Fri Jan 02 2026 03:04:05 GMT+0000"),
        ("typeof Date(0)", "string"),
        ("new Date(0)", "1970-01-01T00:00:00.000Z"),
        ("new Date(2020, 1, 29, 12)", "2020-02-29T12:00:00.000Z"),
        ("new Date(undefined).getTime()", None),
        ("[Date.parse('2020-01-01'), Date.UTC(2020, 0)]", [1_577_836_800_000, 1_577_836_800_000]),
        ("[Date.name, Date.length, Date.now.name, Date.UTC.length]", ["Date", 7, "now", 7]),
        ("[new Date() instanceof Date, new Date().constructor === Date, Date.prototype.constructor === Date]", [True] * 3),
        ("[Object.keys(Date), Object.getOwnPropertyNames(Date).sort()]", [[], ["UTC", "length", "name", "now", "parse", "prototype"]]),
        ("[performance.now(), performance.timeOrigin]", [0, 1_767_323_045_678]),
        ("new Date().getTimezoneOffset()", 0),
        ("Reflect.getOwnPropertyDescriptor(globalThis, 'Date').enumerable", False),
    ],
)  # fmt: skip
def test_the_clock_is_the_hosts(source: str, value: Any) -> None:
    assert evaluated(source) == value


def test_dates_can_be_subclassed() -> None:
    source = """(() => {
      class Day extends Date { get month() { return this.getUTCMonth() + 1 } }
      const day = new Day(2020, 4, 1), today = new Day();
      return [day.month, today.toISOString(), day instanceof Day, day instanceof Date, day.constructor.name, Day.now()];
    })()"""
    assert evaluated(source) == [5, "2026-01-02T03:04:05.678Z", True, True, "Day", CLOCK // 10**6]


def test_nothing_leads_to_the_engines_own_clock() -> None:
    found = """(() => {
      const seen = new Set(), left = [globalThis, new Date(), class extends Date {}, Reflect.construct(Date, [])];
      while (left.length) {
        const at = left.pop();
        if ((typeof at !== 'object' && typeof at !== 'function') || at === null || seen.has(at)) continue;
        seen.add(at);
        left.push(Object.getPrototypeOf(at));
        for (const key of Reflect.ownKeys(at)) {
          const member = Object.getOwnPropertyDescriptor(at, key);
          left.push(member.value, member.get, member.set);
        }
      }
      const dates = [...seen].filter((one) => typeof one === 'function' && one.prototype === Date.prototype);
      const clocks = [...seen].filter((one) => typeof one === 'function' && one.name === 'now');
      return [dates.length, dates[0] === Date, clocks.map((clock) => clock()).sort()];
    })()"""
    assert evaluated(found) == [1, True, [0, CLOCK // 10**6]]


def test_a_frozen_clock_stands_still_and_another_one_runs() -> None:
    spin = (
        "(() => { const from = Date.now(); let i = 0; while (Date.now() === from && i < 1e6) i++; return i < 1e6 })()"
    )
    assert evaluated("Array.from({ length: 1000 }, () => Date.now()).every((one) => one === Date.now())") is True
    running = world(frozen=False)
    assert value_in(running, spin) is True
    assert (
        value_in(running, "performance.now() > 0 && performance.now() === Math.round(performance.now() * 10) / 10")
        is True
    )
    early, late = value_in(running, "[performance.now(), performance.now()]")
    assert 0 < early <= late


@pytest.mark.parametrize("clock", [0, 1_767_225_600_000_000_000, 1_767_225_600_123_999_000, 1_767_225_600_001_000_000])
def test_whole_milliseconds_stay_whole(clock: int) -> None:
    assert evaluated("Date.now()", clock=clock) == clock // 10**6


# Chance


def test_chance_and_ids_repeat_with_the_seed() -> None:
    source = "[Math.random(), Math.random(), crypto.randomUUID(), [...crypto.getRandomValues(new Uint8Array(5))]]"
    first = evaluated(source)
    assert first == evaluated(source)
    assert first != evaluated(source.replace("[Math", "[beginAgain('another'), Math"), tail=_RESEED)[1:]
    assert 0 <= first[0] < 1
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", first[2])


_RESEED = "globalThis.beginAgain = (seed) => beginWorld({ clock: 0, frozen: true, seed })"


def test_ids_do_not_depend_on_how_often_chance_was_asked() -> None:
    assert evaluated("crypto.randomUUID()") == evaluated("(Math.random(), Math.random(), crypto.randomUUID())")


def test_seeds_that_differ_in_one_bit_give_unrelated_numbers() -> None:
    source = "['00', '01', '02', '10', '0', ''].map((seed) => (beginAgain(seed), Math.random()))"
    numbers = evaluated(source, tail=_RESEED)
    assert len({round(number, 2) for number in numbers}) == 6


def test_chance_is_uniform() -> None:
    source = """(() => {
      const tens = Array(10).fill(0);
      for (let i = 0; i < 20000; i++) tens[Math.floor(Math.random() * 10)]++;
      return tens;
    })()"""
    tens = evaluated(source)
    assert sum((count - 2000) ** 2 / 2000 for count in tens) < 27.9  # chi-squared, nine degrees, one in a thousand
    bits = evaluated("[...crypto.getRandomValues(new Uint8Array(60000))].reduce((sum, byte) => sum + byte, 0) / 60000")
    assert 126 < bits < 129


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("crypto.getRandomValues(new Float64Array(1))", "TypeMismatchError: getRandomValues: pass a typed array of integers"),
        ("crypto.getRandomValues([1])", "TypeMismatchError: getRandomValues: pass a typed array of integers"),
        ("crypto.getRandomValues()", "TypeMismatchError: getRandomValues: pass a typed array of integers"),
        ("crypto.getRandomValues(new Uint32Array(16385))", "QuotaExceededError: getRandomValues: at most 65536 bytes at once"),
        ("(() => { const whole = new Uint8Array(8); crypto.getRandomValues(whole.subarray(4)); return [...whole.slice(0, 4)] })()", [0] * 4),
        ("[Math.random.name, Math.random.length, Object.keys(crypto), String(crypto), Object.isFrozen(crypto)]",
         ["random", 0, ["getRandomValues", "randomUUID"], "[object Crypto]", True]),
    ],
)  # fmt: skip
def test_crypto_has_only_what_gives_ids_and_bytes(source: str, value: Any) -> None:
    assert evaluated(source) == value


# What is absent, and what may be shadowed


@pytest.mark.parametrize(
    "name",
    "setTimeout setInterval setImmediate fetch require process module exports SharedArrayBuffer Atomics WeakRef"
    " FinalizationRegistry Intl WebAssembly XMLHttpRequest Worker navigator print std os bjson".split(),
)
def test_a_script_has_no(name: str) -> None:
    assert evaluated(f"typeof {name}") == "undefined"
    assert evaluated(name) == f"ReferenceError: {name} is not defined"


def test_what_is_added_does_not_show_and_can_be_replaced() -> None:
    names = "Date performance crypto structuredClone TextEncoder TextDecoder".split()
    descriptors = evaluated(
        f"{json.dumps(names)}.map((name) => Object.getOwnPropertyDescriptor(globalThis, name))"
        ".map(({ enumerable, writable, configurable }) => [enumerable, writable, configurable])"
    )
    assert descriptors == [[False, True, True]] * len(names)
    assert evaluated("Object.keys(globalThis).filter((name) => !['console', 'pieces', 'printed'].includes(name))") == []


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("atob(btoa('hi'))", "hi"),
        ("escape('é ')", "%E9%20"),
        ("typeof queueMicrotask", "function"),
        ("encodeURIComponent('é&')", "%C3%A9%26"),
        ("[eval('1 + 1'), Function('return 2')(), new Function('a', 'return a')(3)]", [2, 2, 3]),
    ],
)
def test_what_the_engine_has_of_a_runtime_stays(source: str, value: Any) -> None:
    assert evaluated(source) == value


# Dynamic code where it is locked

_LOCK = "globalThis.tried = []; lockDynamicCode((what) => { globalThis.tried.push(what) })"


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("eval('1')", "eval()"),
        ("(0, eval)('1')", "eval()"),
        ("globalThis.eval('1')", "eval()"),
        ("eval.call(null, '1')", "eval()"),
        ("Function('return 1')()", "Function()"),
        ("new Function('return 1')()", "Function()"),
        ("(() => 1).constructor('return 1')()", "Function()"),
        ("[].map.constructor('return 1')()", "Function()"),
        ("Object.constructor('return 1')()", "Function()"),
        ("(async () => 1).constructor('return 1')()", "AsyncFunction()"),
        ("(function* () {}).constructor('yield 1')()", "GeneratorFunction()"),
        ("(async function* () {}).constructor('yield 1')()", "AsyncGeneratorFunction()"),
        ("Object.getPrototypeOf(function* () {}).constructor('')()", "GeneratorFunction()"),
        ("Reflect.construct(Function, ['return 1'])()", "Function()"),
        (
            "Reflect.construct(Object, ['return 1'], Function) && Reflect.apply(Function, null, ['return 1'])",
            "Function()",
        ),
        ("new (class extends Function {})('return 1')()", "Function()"),
        ("new (class extends (async () => 1).constructor {})('return 1')()", "AsyncFunction()"),
    ],
)
def test_code_from_text_is_a_violation_where_it_is_locked(source: str, what: str) -> None:
    context = world(_LOCK)
    assert value_in(context, source) == f"EvalError: {what}: scripts may not make code from text"
    assert value_in(context, "tried") == [what]


def test_locked_constructors_cannot_be_put_back() -> None:
    context = world(_LOCK)
    unlock = "Object.defineProperty(Function.prototype, 'constructor', { value: 1 })"
    assert value_in(context, unlock).startswith("TypeError: ")
    assert value_in(context, "(() => 1) instanceof Function && Function.prototype === (() => 1).__proto__") is True
    assert value_in(context, "[Function.name, Function.length, eval.name, tried]") == ["Function", 1, "eval", []]


# structuredClone


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("[1, 'a', null, true]", "[ 1, 'a', null, true ]"),
        ("[undefined, 5n, -0, NaN]", "[ undefined, 5n, -0, NaN ]"),
        ("[1, , 3]", "[ 1, <1 empty item>, 3 ]"),
        ("Object.assign([1], { extra: 2 })", "[ 1, extra: 2 ]"),
        ("new Map([[{ k: 1 }, new Set([[2]])]])", "Map(1) { { k: 1 } => Set(1) { [ 2 ] } }"),
        ("new Date(5)", "1970-01-01T00:00:00.005Z"),
        ("/x/gi", "/x/gi"),
        ("[Object(1n), new Number(2), new String('s'), new Boolean(true)]", "[ [BigInt: 1n], [Number: 2], [String: 's'], [Boolean: true] ]"),
        ("new Uint16Array([1, 2]).subarray(1)", "Uint16Array(1) [ 2 ]"),
        ("new Uint8Array([1, 2]).buffer", "ArrayBuffer { [Uint8Contents]: <01 02>, byteLength: 2 }"),
        ("new (class Point { x = 1; get y() { return 2 } })()", "{ x: 1 }"),
        ("{ get a() { return [1] }, [Symbol('s')]: 1 }", "{ a: [ 1 ] }"),
        ("Object.create(null)", "{}"),
        ("Object.create({ inherited: 1 }, { own: { value: 1, enumerable: true }, hidden: { value: 2 } })", "{ own: 1 }"),
        ("JSON.parse('{\"__proto__\": 1}')", "{ ['__proto__']: 1 }"),
    ],
)  # fmt: skip
def test_copies_look_like_their_originals(source: str, value: str) -> None:
    context = world()
    context.eval(f"console.log(structuredClone({source}))")
    assert context.eval("printed()") == f"{value}\n"


def test_copies_share_and_cycle_as_their_originals_do() -> None:
    source = """(() => {
      const shared = { a: 1 }, bytes = new ArrayBuffer(4);
      const value = { one: shared, two: shared, map: new Map(), views: [new Uint8Array(bytes), new DataView(bytes, 1)] };
      value.self = value;
      value.map.set(value, new Set([value]));
      const copy = structuredClone(value);
      copy.views[0][1] = 7;
      const [[key, set]] = copy.map;
      return [copy !== value, copy.self === copy, copy.one === copy.two, copy.one !== shared, key === copy,
        set.has(copy), copy.views[1].getUint8(0), new Uint8Array(bytes)[1]];
    })()"""
    assert evaluated(source) == [True, True, True, True, True, True, 7, 0]


def test_errors_are_copied_with_what_they_say() -> None:
    source = """(() => {
      class Mine extends TypeError {}
      const error = Object.assign(new Mine('m', { cause: new RangeError('c') }), { code: 1 });
      const other = Object.assign(new Error('n'), { name: 'Custom' });
      const copy = structuredClone([error, other]);
      return [copy[0] instanceof TypeError, copy[0].constructor.name, copy[0].message, copy[0].cause.name,
        copy[0].stack === error.stack, 'code' in copy[0], copy[1].name, Object.keys(copy[0])];
    })()"""
    assert evaluated(source) == [True, "TypeError", "m", "RangeError", True, False, "Error", []]


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("() => 1", "[Function (anonymous)]"),
        ("{ f() {} }", "[Function: f]"),
        ("[class A {}]", "[class A]"),
        ("Symbol('s')", "Symbol(s)"),
        ("Promise.resolve()", "#<Promise>"),
        ("new WeakMap()", "#<WeakMap>"),
        ("(function* () {})()", "#<Generator>"),
    ],
)
def test_what_is_no_data_cannot_be_copied(source: str, what: str) -> None:
    assert evaluated(f"structuredClone({source})") == f"DataCloneError: {what} could not be cloned."


def test_nothing_is_transferred() -> None:
    assert evaluated("structuredClone(1, { transfer: [new ArrayBuffer(1)] })") == (
        "DataCloneError: structuredClone: transfer is not supported"
    )
    assert evaluated("[structuredClone(1, {}), structuredClone(1, { transfer: [] }), structuredClone.name]") == [
        1, 1, "structuredClone",
    ]  # fmt: skip


# Text and bytes


@pytest.mark.parametrize("text", ["", "a", "é", "日", "😀", "a\0é日😀\uffff", "\ufeffx", "x" * 5000])
def test_text_becomes_the_bytes_of_utf8_and_comes_back(text: str) -> None:
    literal = json.dumps(text)
    assert evaluated(f"[...new TextEncoder().encode({literal})]") == list(text.encode())
    decoded = f"new TextDecoder('utf-8', {{ ignoreBOM: true }}).decode(new TextEncoder().encode({literal}))"
    assert evaluated(decoded) == text


@pytest.mark.parametrize(
    "data",
    [
        b"\xff", b"a\xc0\x80b", b"\xe2\x82", b"\xe2\x82b", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
        b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\x80\x80", b"\xc3\xc3\xa9", b"\xf8\x88\x80\x80\x80", b"ok\xe2\x28\xa1",
    ],
)  # fmt: skip
def test_invalid_bytes_become_replacements_as_python_makes_them(data: bytes) -> None:
    array = f"new Uint8Array({list(data)})"
    assert evaluated(f"new TextDecoder().decode({array})") == data.decode("utf-8", "replace")
    assert evaluated(f"new TextDecoder('UTF-8', {{ fatal: true }}).decode({array})") == (
        "TypeError: The encoded data was not valid for encoding utf-8"
    )


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("[...new TextEncoder().encode('a\\ud800b')]", [97, 239, 191, 189, 98]),
        ("[...new TextEncoder().encode()]", []),
        ("[...new TextEncoder().encode(undefined)]", []),
        ("new TextEncoder().encodeInto('a€b', new Uint8Array(3))", {"read": 1, "written": 1}),
        ("new TextEncoder().encodeInto('😀b', new Uint8Array(5))", {"read": 3, "written": 5}),
        ("new TextEncoder().encodeInto('a', [])", "TypeError: TextEncoder: encodeInto writes into a Uint8Array"),
        ("new TextDecoder().decode()", ""),
        ("new TextDecoder().decode(new Uint8Array([239, 187, 191, 97]))", "a"),
        ("new TextDecoder().decode(new Uint16Array([24930]).buffer)", "ba"),
        ("new TextDecoder().decode(new DataView(new Uint8Array([97, 98, 99]).buffer, 1))", "bc"),
        ("new TextDecoder().decode(new Uint8Array([97, 98, 99]).subarray(1))", "bc"),
        ("new TextDecoder().decode('a')", "TypeError: TextDecoder: decode takes an ArrayBuffer or a view of one"),
        ("new TextDecoder('latin1')", "RangeError: TextDecoder: the encoding 'latin1' is not supported; there is utf-8"),
        ("(({ encoding, fatal, ignoreBOM }) => [encoding, fatal, ignoreBOM])(new TextDecoder(' UTF8 ', { fatal: 1 }))", ["utf-8", True, False]),
        ("[String(new TextEncoder()), new TextEncoder().encoding]", ["[object TextEncoder]", "utf-8"]),
    ],
)  # fmt: skip
def test_encoders_and_decoders_follow_their_standard(source: str, value: Any) -> None:
    assert evaluated(source) == value


def test_a_stream_is_decoded_in_pieces() -> None:
    source = """(() => {
      const decoder = new TextDecoder(), piece = (...bytes) => decoder.decode(new Uint8Array(bytes), { stream: true });
      const texts = [piece(0xef, 0xbb), piece(0xbf), piece(0xe2, 0x82), piece(0xac, 0xf0), decoder.decode()];
      return [...texts, decoder.decode(new Uint8Array([0xef, 0xbb, 0xbf, 97]))];
    })()"""
    assert evaluated(source) == ["", "", "", "€", "\ufffd", "a"]


# Scripts that replace built-ins


def test_what_a_script_replaces_does_not_reach_the_prelude() -> None:
    context = world()
    context.eval("""
      const shown = { a: [1, new Map([[1, new Set([2])]])], d: new Date(0), u: new Uint8Array([1, 2]), e: Symbol('s') };
      const { randomUUID } = crypto, { now } = Date, { log, table } = console;
      const amount = 1234.5, money = Number.prototype.toLocaleString, when = Date.prototype.toLocaleDateString;
      const order = String.prototype.localeCompare, bytes = TextEncoder.prototype.encode, encoder = new TextEncoder();
      const copy = structuredClone, { apply } = Reflect;
    """)
    context.eval("""{
      const raise = () => { throw new Error('replaced') };
      const owners = [Array.prototype, String.prototype, Map.prototype, Set.prototype, Number.prototype, Date.prototype,
        RegExp.prototype, Object.prototype, Symbol.prototype, Promise.prototype, Object.getPrototypeOf(Uint8Array.prototype),
        Object.getPrototypeOf(new Map().entries()), Object.getPrototypeOf([].values()), Object, Array, Reflect, JSON, Math,
        Function.prototype];
      const { ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect, count = owners.length;
      const kept = ['constructor', 'concat']; // the engine makes template literals by concat
      for (let i = 0; i < count; i++) {
        const names = ownKeys(owners[i]), size = names.length;
        for (let j = 0; j < size; j++) {
          const { configurable, value } = getOwnPropertyDescriptor(owners[i], names[j]);
          if (configurable && typeof value === 'function' && names[j] !== kept[0] && names[j] !== kept[1]) {
            defineProperty(owners[i], names[j], { value: raise });
          }
        }
      }
    }""")
    context.eval("log('%s %d', 'x', 5, shown, apply(money, amount, []), apply(order, 'a', ['é']))")
    assert context.eval("printed()") == (
        "x 5 {\n  a: [ 1, Map(1) { 1 => [Set] } ],\n  d: 1970-01-01T00:00:00.000Z,\n"
        "  u: Uint8Array(2) [ 1, 2 ],\n  e: Symbol(s)\n} 1,234.5 -1\n"
    )
    context.eval("table([shown.u]); log(apply(bytes, encoder, ['é']), apply(when, shown.d, []), copy(shown.a), now())")
    assert context.eval("printed()").endswith(
        f"Uint8Array(2) [ 195, 169 ] 1/1/1970 [ 1, Map(1) {{ 1 => Set(1) {{ 2 }} }} ] {CLOCK // 10**6}\n"
    )
    assert len(context.eval("randomUUID()")) == 36
