"""From a JavaScript script's values to JSON text and tags: the value table, its places, its bounds, hostile shapes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringfence import values
from ringfence.enclave import received, table
from ringfence.limits import ValueBudget
from tests.enclave.engines.encoding import JSON_VALUES, TAIL, outcome
from tests.enclave.engines.prelude import world


@pytest.fixture(scope="module")
def shared() -> Any:
    """One context for the many examples of a property."""
    return world(TAIL)


def written(source: str, **options: Any) -> str:
    """The text alone."""
    found = outcome(f"return ({source})", **options)
    return found.get("text") or f"{found['path']}: {found['reason']}"


def refused(source: str, **options: Any) -> tuple[str, str]:
    found = outcome(source, **options)
    assert "text" not in found, found
    assert (found["large"], found["excess"]) == (False, False)
    return found["path"], found["reason"]


# What leaves a script


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("null", "null"),
        ("undefined", "null"),
        ("[true, false]", "[true,false]"),
        ("[-0, 0.1, 1e21, 2**53 - 1]", "[0,0.1,1e+21,9007199254740991]"),
        ("[5n, -(2n ** 64n)]", "[5,-18446744073709551616]"),
        ("10n ** 4300n - 1n", "9" * 4300),
        ("1n - 10n ** 4300n", "-" + "9" * 4300),
        ("'é\\u2028\\0'", '"é\u2028\\u0000"'),
        ("'\\ud83d\\ude00'", '"\U0001f600"'),
        ("['\\\\ud800', {'\\\\ud800': 1}]", '["\\\\ud800",{"\\\\ud800":1}]'),
        ("[undefined, 1]", "[null,1]"),
        ("[1, , 3]", "[1,null,3]"),
        ("Object.assign([1], {extra: 2})", "[1]"),
        ("({b: 1, a: {c: []}})", '{"b":1,"a":{"c":[]}}'),
        ("({a: undefined, b: {c: undefined}})", '{"b":{}}'),
        ("({[Symbol('s')]: 1, a: 2})", '{"a":2}'),
        ("({['__proto__']: 1})", '{"__proto__":1}'),
        ("Object.create(null)", "{}"),
        ("Object.defineProperty({a: 1}, 'hidden', {value: () => 1})", '{"a":1}'),
        ("({get total() { return 3 }})", '{"total":3}'),
        ("new Map([['b', 1], ['a', new Map()], ['__proto__', 2], ['c', undefined]])", '{"b":1,"a":{},"__proto__":2}'),
        ("new Set(['b', new Set(['a']), undefined])", '["b",["a"],null]'),
        ("[Object(1), Object('s'), Object(false), Object(5n)]", '[1,"s",false,5]'),
        ("new Int16Array([1, -2])", "[1,-2]"),
        ("[new BigUint64Array([2n ** 64n - 1n]), new Float32Array([0.5])]", "[[18446744073709551615],[0.5]]"),
        ("new Uint8ClampedArray([300])", "[255]"),
        ("new Error('boom')", '{"name":"Error","message":"boom"}'),
        ("new (class Lost extends TypeError { name = 'Lost'; code = 4 })('gone')", '{"name":"Lost","message":"gone"}'),
        ("new DOMException('gone', 'AbortError')", '{"name":"AbortError","message":"gone"}'),
        ("new (class Point { x = 1; #hidden = 2; get sum() { return 3 } })()", '{"x":1}'),
        ("new (class Row extends (class { a = 1 }) { b = [2] })()", '{"a":1,"b":[2]}'),
        ("(class List extends Array {}).of(1, 2)", "[1,2]"),
        ("new (class Index extends Map {})([['a', 1]])", '{"a":1}'),
        ("Object.groupBy([1, 2, 3], (n) => n % 2 ? 'odd' : 'even')", '{"odd":[1,3],"even":[2]}'),
        ("(function () { return arguments })(1)", '{"0":1}'),
        ("new URL('https://a.example/b')", '"https://a.example/b"'),
        ("[JSON.rawJSON('12345678901234567890'), JSON.rawJSON('\"x\"')]", '[12345678901234567890,"x"]'),
        ("new Proxy({a: 1}, {})", '{"a":1}'),
        ("new Proxy([1, [2]], {})", "[1,[2]]"),
    ],
)  # fmt: skip
def test_values_become_json_text(source: str, text: str) -> None:
    found = outcome(f"return ({source})")
    assert (found["text"], found["tags"], found["size"]) == (text, "", len(text.encode()))


TAGGED: list[Any] = [
    ("new Date(0)", '"1970-01-01T00:00:00.000Z"', {"datetime": [[]]}),
    ("new Date(-62135596800000)", '"0001-01-01T00:00:00.000Z"', {"datetime": [[]]}),
    ("new Date(253402300799999)", '"9999-12-31T23:59:59.999Z"', {"datetime": [[]]}),
    ("new (class Day extends Date {})(0)", '"1970-01-01T00:00:00.000Z"', {"datetime": [[]]}),
    ("({a: [1, new Date(0)]})", '{"a":[1,"1970-01-01T00:00:00.000Z"]}', {"datetime": [["a", 1]]}),
    ("new Map([['a', new Set([new Date(0)])]])", '{"a":["1970-01-01T00:00:00.000Z"]}', {"datetime": [["a", 0]]}),
    ("[new Uint8Array([255, 254])]", '["__4="]', {"bytes": [[0]]}),
    ("new Uint8Array([1, 2, 3, 4]).subarray(1, 3)", '"AgM="', {"bytes": [[]]}),
    ("[new ArrayBuffer(1), new DataView(new ArrayBuffer(3), 2)]", '["AA==","AA=="]', {"bytes": [[0], [1]]}),
    ("({'é,[{': new Uint8Array(), d: new Date(0)})", '{"é,[{":"","d":"1970-01-01T00:00:00.000Z"}',
     {"datetime": [["d"]], "bytes": [["é,[{"]]}),
]  # fmt: skip


@pytest.mark.parametrize(("source", "text", "tags"), TAGGED)
def test_dates_and_bytes_are_tagged(source: str, text: str, tags: Any) -> None:
    found = outcome(f"return ({source})")
    assert (found["text"], json.loads(found["tags"])) == (text, tags)
    assert found["size"] == len(text.encode()) + len(found["tags"].encode())
    assert found["tagged"] == sum(map(len, tags.values()))
    table.judge(json.loads(text), tags)


def test_to_json_says_once_what_is_written() -> None:
    assert written("{toJSON: () => ({a: 1, toJSON: undefined})}") == '{"a":1}'
    assert written("[new (class { n = 1; toJSON() { return this } })()]") == '[{"n":1}]'
    assert written("{a: [new (class { toJSON(key) { return [key] } })()]}") == '{"a":[["0"]]}'
    assert written("new (class { toJSON(key) { return {key} } })()") == '{"key":""}'
    assert written("[{toJSON: () => undefined}, {a: {toJSON: () => undefined}}]") == "[null,{}]"
    assert written("new (class extends Error { toJSON() { return this.message } })('m')") == '"m"'
    assert written("(class extends Array { toJSON() { return this.length } }).of(1, 2)") == "2"
    assert written("new (class extends Date { toJSON() { return 'day' } })(0)") == '"day"'
    assert written("{toJSON: () => NaN}") == ": is NaN, which no JSON number says; use null"
    tagged = outcome("return [{toJSON: () => ({at: new Date(0)})}]")
    assert json.loads(tagged["tags"]) == {"datetime": [[0, "at"]]}


# What does not


REFUSED: list[tuple[str, str, str]] = [
    ("NaN", "", "is NaN, which no JSON number says; use null"),
    ("{a: [1, -Infinity]}", "a[1]", "is -Infinity, which no JSON number says; use null"),
    ("new Float64Array([1, NaN])", "[1]", "is NaN, which no JSON number says; use null"),
    ("10n ** 4300n", "", "is a whole number of more than 4300 digits; use text"),
    ("[-(10n ** 4300n)]", "[0]", "is a whole number of more than 4300 digits; use text"),
    ("{items: [{}, {price: () => 1}]}", "items[1].price", "is a function; use what it returns"),
    ("[async () => 1]", "[0]", "is a function; use what it returns"),
    ("[new Proxy(() => 1, {})]", "[0]", "is a function; use what it returns"),
    ("{a: class A {}}", "a", "is a class; use the fields of an instance"),
    ("[new (class A { render = () => 1 })()]", "[0].render", "is a function; use what it returns"),
    ("console", "log", "is a function; use what it returns"),
    ("[Symbol('s')]", "[0]", "is a symbol; use its description"),
    ("Object(Symbol('s'))", "", "is a symbol; use its description"),
    ("{a: Promise.resolve(1)}", "a", "is a promise; use await"),
    ("[new (class Later { then() {} })()]", "[0]", "is a promise; use await"),
    ("(function* () {})()", "", "is an iterator; use [...iterator]"),
    ("[[1].values()]", "[0]", "is an iterator; use [...iterator]"),
    ("new Map().entries()", "", "is an iterator; use [...iterator]"),
    ("[1].values().map((n) => n)", "", "is an iterator; use [...iterator]"),
    ("(async function* () {})()", "", "is an asynchronous iterator; use await Array.fromAsync(iterator)"),
    ("{a: /x/}", "a", "is a regular expression; use its source"),
    ("[new WeakMap()]", "[0]", "is a WeakMap, whose members nobody can list; use a Map"),
    ("[new WeakSet()]", "[0]", "is a WeakSet, whose members nobody can list; use a Set"),
    ("[new Date(NaN)]", "[0]", "is an invalid date; use null"),
    ("new Date(-62135596800001)", "", "is a date outside the years 1 to 9999; use its text"),
    ("new Date(253402300800000)", "", "is a date outside the years 1 to 9999; use its text"),
    ("'\\ud800'", "", "is text with a lone surrogate, which is not Unicode; use toWellFormed()"),
    ("{a: [{b: 'x\\udc00'}]}", "a[0].b", "is text with a lone surrogate, which is not Unicode; use toWellFormed()"),
    ("[{['k\\ud800']: 1}]", "[0]", "has a key that is text with a lone surrogate, which is not Unicode; use toWellFormed()"),
    ("[new (class Money { #cents = 1 })()]", "[0]",
     "is an instance of Money without fields of its own; use its parts, or give the class a toJSON method"),
    ("new URLSearchParams('a=1')", "",
     "is an instance of URLSearchParams without fields of its own; use its parts, or give the class a toJSON method"),
    ("new Proxy(new Map([['a', 1]]), {})", "",
     "is an instance of Map without fields of its own; use its parts, or give the class a toJSON method"),
    ("((b) => (b.transfer(), [b]))(new ArrayBuffer(1))", "[0]", "is a buffer that was transferred away; use a copy"),
    ("((b) => (b.buffer.transfer(), b))(new Uint8Array(1))", "", "is a buffer that was transferred away; use a copy"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "path", "reason"), REFUSED)
def test_what_is_no_data_is_refused_with_its_place_and_its_fix(source: str, path: str, reason: str) -> None:
    assert refused(f"return ({source})") == (path, reason)


CYCLE = "contains itself; leave the way back out, or name what it leads to by an id"


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("const a = []; a.push(a); return a", "[0]"),
        ("const a = {x: {y: []}}; a.x.y.push(1, a); return a", "x.y[1]"),
        ("const a = {}; a.b = {c: a}; return [{}, a]", "[1].b.c"),
        ("const a = new Map(); a.set('self', new Set([a])); return {a}", "a.self[0]"),
        ("const a = {rows: Array(40000).fill(1)}; a.self = a; return a", "self"),
        ("const a = {text: 'x'.repeat(300000)}; a.self = a; return a", "self"),
        ("const a = {n: 10n ** 4000n}; a.self = a; return a", "self"),
        ("const a = {n: 1, toJSON() { return {next: this} }}; return a", "next.next.next.next.next.next.next.next"),
    ],
)
def test_a_value_that_contains_itself_is_refused_where_it_does(source: str, path: str) -> None:
    found = outcome(source)
    is_new_each_time = "toJSON" in source
    reason = "is nested deeper than 64 levels" if is_new_each_time else CYCLE
    assert found == {"path": path, "reason": reason, "large": is_new_each_time, "excess": False}


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        ("1", "1"),
        ("NaN", "NaN"),
        ("true", "true"),
        ("null", "null"),
        ("undefined", "undefined"),
        ("5n", "a BigInt"),
        ("{}", "an object"),
        ("new Date(0)", "an object"),
        ("Symbol()", "a symbol"),
        ("() => 1", "a function"),
    ],
)
def test_keys_of_maps_are_text(key: str, shown: str) -> None:
    reason = f"is a Map with a key that is {shown}, not text; use text as keys: String(key)"
    assert refused(f"return [new Map([['a', 1], [{key}, 2]])]") == ("[0]", reason)


def test_keys_in_results_may_be_numbers_and_the_like() -> None:
    source = "new Map([[1, 'a'], [1.5, 'b'], [null, 'c'], [true, 'd'], [5n, 'e'], [new Date(0), 'f']])"
    text = '{"1":"a","5":"e","1.5":"b","null":"c","true":"d","1970-01-01T00:00:00.000Z":"f"}'
    assert json.loads(written(source, anyKeys=True)) == json.loads(text)
    for key in ("NaN", "undefined", "{}", "Symbol()"):
        assert refused(f"return new Map([[{key}, 1]])", anyKeys=True)[1].endswith("; use text as keys: String(key)")
    twice = 'is a Map with two keys that become the text "1"; use keys that differ as text'
    assert refused("return [new Map([[1, 'a'], ['1', 'b']])]", anyKeys=True) == ("[0]", twice)
    invalid = "is a Map with a key that is an invalid date; use null"
    assert refused("return new Map([[new Date(NaN), 1]])", anyKeys=True) == ("", invalid)


def test_places_are_cut_and_stay_unicode() -> None:
    path, _ = refused("return {['x'.repeat(199) + '\\u{1f600}'.repeat(1e5)]: {['k'.repeat(1e6)]: NaN}}")
    assert path == "x" * 199 + "\ufffd"


# How much


@pytest.mark.slow
@given(
    JSON_VALUES,
    st.integers(1, 60),
    st.integers(1, 30),
    st.integers(1, 5),
    st.none() | st.integers(1, 4),
)
def test_the_bounds_are_those_of_the_host(
    shared: Any, value: Any, size: int, nodes: int, depth: int, members: int | None
) -> None:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    budget = ValueBudget(size=size, nodes=nodes, depth=depth, members=members)
    found = outcome(
        f"return received({json.dumps(text)})", shared, size=size, nodes=nodes, depth=depth, members=members
    )
    # what the script sends; the host's own text may write the same number at another length
    sent = outcome(f"return received({json.dumps(text)})", shared)["text"].encode()
    assert ("text" in found, found.get("large")) == ((True, None) if is_taken(sent, budget) else (False, True)), found


def is_taken(data: bytes, budget: ValueBudget) -> bool:
    try:
        values.parse(data, budget)
    except values.ValueRefused:
        return False
    return True


@pytest.mark.parametrize(
    ("source", "limits", "path", "reason"),
    [
        ("return {abc: 123}", {"size": 10}, None, "11 bytes of JSON, more than 10"),
        ("return 'é'.repeat(4)", {"size": 9}, None, "10 bytes of JSON, more than 9"),
        ("return [new Date(0)]", {"size": 40}, None, "46 bytes of JSON, more than 40"),
        ("return ['aaaa', 'bbbb', 'cccc']", {"size": 11}, None, "more than 11 bytes of JSON"),
        ("return [1, 2, 3]", {"nodes": 3}, None, "more than 3 values"),
        ("return [[], []]", {"nodes": 3}, None, "more than 3 values"),
        ("return {a: {b: []}}", {"depth": 2}, "a.b", "is nested deeper than 2 levels"),
        ("return [{x: {a: 1, b: 2, c: 3}}]", {"members": 2}, "[0].x", "is an object of more than 2 members"),
        ("return new Map([['a', 1], ['b', 2]])", {"members": 1}, "", "is an object of more than 1 members"),
        ("return [new Date(0), new Date(1)]", {"tags": 1}, None,
         "more than 1 dates, decimals, ids and bytes; send some of them as text"),
        ("return [[new Date(0)], [new Date(1)]]", {"tagNodes": 12}, None,
         "too many dates, decimals, ids and bytes; send some of them as text"),
    ],
)  # fmt: skip
def test_what_is_too_large_is_said(source: str, limits: Any, path: str | None, reason: str) -> None:
    whole = {"path": path or "", "reason": reason, "large": True, "excess": path is None}
    assert outcome(source, **limits) == whole


@pytest.mark.parametrize(
    ("source", "limits"),
    [
        ("return {abc: 123}", {"size": 11}),
        ("return 'é'.repeat(4)", {"size": 10}),
        ("return [new Date(0)]", {"size": 46}),
        ("return [1, 2]", {"nodes": 3}),
        ("return {a: {b: new Date(0)}}", {"depth": 2}),
        ("return {a: 1, b: 2, c: undefined}", {"members": 2}),
        ("return [new Date(0)]", {"tags": 1, "tagNodes": 8}),
    ],
)
def test_what_just_fits_is_taken(source: str, limits: Any) -> None:
    assert "text" in outcome(source, **limits)


def test_no_tags_are_more_than_the_host_takes(shared: Any) -> None:
    found = outcome("return Array.from({length: 3}, () => [[new Date(0), new Uint8Array(1)]])", shared)
    tags: str = found["tags"]
    assert tags.count(",") + tags.count("[") + tags.count("{") + 1 <= found["tagNodes"]
    assert outcome("return MOST", world(TAIL + "globalThis.MOST = MOST_TAGGED"))["text"] == str(received.MOST_TAGGED)


# Hostile shapes


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("const a = []; a.length = 4e9; return {a}", "more than 1000000 values"),
        ("return new Proxy([], {get: (t, k) => k === 'length' ? 4e9 : t[k]})", "more than 1000000 values"),
        ("let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return a", "more than 1000000 values"),
        ("const o = {}; for (let i = 0; i < 1000; i++) o['k' + i] = undefined; return Array(1e5).fill(o)",
         "more than 1000000 values"),
        ("return Array(1e4).fill('x'.repeat(1e6))", "more than 5242880 bytes of JSON"),
        ("return Array(1e3).fill(new Uint8Array(1e6))", "more than 5242880 bytes of JSON"),
        ("return Array(100).fill(10n ** 4000n)", "more than 100000 digits in long whole numbers"),
        ("return Array(2e5).fill(new Date(0))",
         "more than 100000 dates, decimals, ids and bytes; send some of them as text"),
        ("return 'x'.repeat(5242879)", "5242881 bytes of JSON, more than 5242880"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_little_that_looks_like_much_is_refused(source: str, reason: str) -> None:
    assert outcome(source) == {"path": "", "reason": reason, "large": True, "excess": True}


@pytest.mark.parametrize("wrap", ["[a]", "{a}", "new Set([a])", "new Map([['a', a]])"])
def test_depth_without_end_is_refused(wrap: str) -> None:
    found = outcome(f"let a = 1; for (let i = 0; i < 100000; i++) a = {wrap}; return a")
    assert (found["reason"], found["large"]) == ("is nested deeper than 64 levels", True)
    assert outcome(f"let a = 1; for (let i = 0; i < 64; i++) a = {wrap}; return a")["nodes"] == 65


def test_the_largest_value_is_taken() -> None:
    assert outcome("return 'x'.repeat(5242878)")["size"] == 5_242_880


@pytest.mark.slow
def test_long_keys_end_with_the_memory() -> None:
    with pytest.raises(Exception, match="out of memory"):
        outcome("const o = {['k'.repeat(1e6)]: 1}; return Array(1000).fill(o)")


def test_members_are_read_once() -> None:
    counted = (
        "let n = 0; const o = {get a() { return ++n }, get b() { return [++n] }}; return [o, {get n() { return n }}]"
    )
    assert outcome(counted)["text"] == '[{"a":1,"b":[2]},{"n":2}]'
    proxy = """const seen = [];
    const o = new Proxy({a: 1}, {get: (t, k) => { if (k !== 'toJSON') seen.push(k); return t[k] }});
    return [o, seen]"""
    assert outcome(proxy)["text"] == '[{"a":1},["a"]]'
    surrogates = "let n = 0; return [{get a() { return ++n + '\\\\ud800' }}, {get n() { return n }}]"
    assert outcome(surrogates)["text"] == '[{"a":"1\\\\ud800"},{"n":1}]'


def test_what_changes_while_it_is_read_stays_what_was_read() -> None:
    grown = "const m = new Map(); m.set('a', {toJSON: () => { m.set('b' + m.size, 1); return 1 }}); return m"
    assert outcome(grown)["text"] == '{"a":1}'
    cut = "const a = [{toJSON: () => { a.length = 1; return 1 }}, 2, 3]; return a"
    assert outcome(cut)["text"] == "[1,null,null]"
    late = """const o = {get a() { Array.prototype.toJSON = () => 'bad'; return [1] }, get b() { return new Date(0) }};
    return [[2], o]"""
    assert (outcome(late)["text"], outcome(late)["tags"]) == (
        '[[2],{"a":"bad","b":"1970-01-01T00:00:00.000Z"}]', '{"datetime":[[1,"b"]]}',
    )  # fmt: skip


def test_errors_of_the_scripts_own_getters_are_its_own() -> None:
    context = world(TAIL)
    with pytest.raises(Exception, match="RangeError: mine"):
        outcome("return {get a() { throw new RangeError('mine') }}", context)
    with pytest.raises(Exception, match="revoked proxy"):
        outcome("const p = Proxy.revocable({}, {}); p.revoke(); return [p.proxy]", context)
    assert outcome("return [1]", context)["text"] == "[1]"


def test_a_getter_may_send_values_itself() -> None:
    source = """
    const inner = {get deep() { return [new Date(0), encodeAgain([1, 2, [3]]), new Date(1)] }, bad: null};
    const fails = {get x() { try { return encodeAgain([NaN]) } catch { return 'failed' } }};
    return {first: new Date(2), inner, fails, last: new Date(3)}"""
    found = outcome(source)
    assert json.loads(found["text"])["inner"]["deep"][1] == "[1,2,[3]]"
    assert json.loads(found["text"])["fails"] == {"x": "failed"}
    paths = [["first"], ["inner", "deep", 0], ["inner", "deep", 2], ["last"]]
    assert (json.loads(found["tags"]), found["nodes"]) == ({"datetime": paths}, 11)


def test_patched_built_ins_change_nothing() -> None:
    patches = """
    for (const name of ['keys', 'values', 'entries', 'getPrototypeOf', 'hasOwn']) Object[name] = () => { throw 1 };
    JSON.stringify = JSON.parse = Array.isArray = () => { throw 2 };
    for (const kind of [Array, Map, Set, Date, String, RegExp, Uint8Array, BigInt, Error]) {
      for (const name of Object.getOwnPropertyNames(kind.prototype)) {
        if (name === 'constructor' || name === 'length') continue;
        try { kind.prototype[name] = () => { throw name } } catch {}
      }
    }
    delete Array.prototype[Symbol.iterator]; delete Map.prototype[Symbol.iterator];
    BigInt.prototype.toJSON = Date.prototype.toJSON = undefined;
    return value"""
    value = "{m: new Map([['a', new Set([1n])]]), d: new Date(0), b: new Uint8Array([1]), s: 'x\\\\ud800'}"
    found = outcome(f"const value = {value}; {patches}")
    assert found["text"] == '{"m":{"a":[1]},"d":"1970-01-01T00:00:00.000Z","b":"AQ==","s":"x\\\\ud800"}'
    assert json.loads(found["tags"]) == {"datetime": [["d"]], "bytes": [["b"]]}
