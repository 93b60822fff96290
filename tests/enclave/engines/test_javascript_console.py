"""What scripts print, as Node.js prints it, without running their code, and within limits whatever they print."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.enclave.engines.prelude import log, world

ARROWS = "() => 1, async () => 1, function () {}, function* g() {}, async function* h() {}"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("", ""),
        ("'text', \"it's\"", "text it's"),
        ("1, -0, 1.5, 1e21, NaN, -Infinity, 10n", "1 -0 1.5 1e+21 NaN -Infinity 10n"),
        ("true, null, undefined, Symbol('s'), Symbol()", "true null undefined Symbol(s) Symbol()"),
        ("[1, 'two', [3, [4, [5, [6]]]]]", "[ 1, 'two', [ 3, [ 4, [Array] ] ] ]"),
        ("[], {}, [[]], [{}]", "[] {} [ [] ] [ {} ]"),
        ("{ a: 1, b: 'x', 'c-d': [null], 5: undefined }", "{ '5': undefined, a: 1, b: 'x', 'c-d': [ null ] }"),
        ("{ a: { b: { c: { d: 1 } } } }", "{ a: { b: { c: [Object] } } }"),
        ("{ a: { b: { c: {} } } }, { a: { b: { c: [] } } }", "{ a: { b: { c: {} } } } { a: { b: { c: [] } } }"),
        ("""["it's", 'a"\\'b', 'x\\ny\\t\\\\', '\\x1b\\ud800', 'é日']""", """[ "it's", `a"'b`, 'x\\ny\\t\\\\', '\\x1B\\ud800', 'é日' ]"""),
        ("[1.5, , 3], [, ,], Array(3), [1, , , 2]", "[ 1.5, <1 empty item>, 3 ] [ <2 empty items> ] [ <3 empty items> ] [ 1, <2 empty items>, 2 ]"),
        ("Object.assign([1, 2], { z: 1, [Symbol('k')]: 2 })", "[ 1, 2, z: 1, [Symbol(k)]: 2 ]"),
        ("new Map([['a', 1], [{ k: 1 }, new Map()]])", "Map(2) { 'a' => 1, { k: 1 } => Map(0) {} }"),
        ("new Set(['a', [1]]), new Set()", "Set(2) { 'a', [ 1 ] } Set(0) {}"),
        ("new Date(0), new Date(NaN), [new Date(1e12)]", "1970-01-01T00:00:00.000Z Invalid Date [ 2001-09-09T01:46:40.000Z ]"),
        ("/a\\/b/gi, [/x/]", "/a\\/b/gi [ /x/ ]"),
        (ARROWS, "[Function (anonymous)] [AsyncFunction (anonymous)] [Function (anonymous)] [GeneratorFunction: g] [AsyncGeneratorFunction: h]"),
        ("class A {}, class extends Map {}, [class B extends Array {}]", "[class A] [class (anonymous) extends Map] [ [class B extends Array] ]"),
        ("Object.assign(function f() {}, { a: 1 })", "[Function: f] { a: 1 }"),
        ("new (class Point { x = 1; #hidden = 2 })(), new (class Empty {})()", "Point { x: 1 } Empty {}"),
        ("new (class M extends Map {})([[1, 2]]), new (class L extends Array {})(1, 2)", "M(1) [Map] { 1 => 2 } L(2) [ 1, 2 ]"),
        ("Object.create(null), Object.assign(Object.create(null), { a: 1 })", "[Object: null prototype] {} [Object: null prototype] { a: 1 }"),
        ("[new Number(-0), new String('ab'), Object(1n), Object(Symbol('q'))], [new Boolean(false)]", "[ [Number: -0], [String: 'ab'], [BigInt: 1n], [Symbol: Symbol(q)] ] [ [Boolean: false] ]"),
        ("new Uint8Array([1, 2]), new Float64Array(), new BigInt64Array(1)", "Uint8Array(2) [ 1, 2 ] Float64Array(0) [] BigInt64Array(1) [ 0n ]"),
        ("new Uint8Array([1, 255]).buffer", "ArrayBuffer { [Uint8Contents]: <01 ff>, byteLength: 2 }"),
        ("new WeakMap(), Promise.resolve(1), (function* () {})()", "WeakMap { <items unknown> } Promise { <not awaited> } Object [Generator] {}"),
        ("{ get a() { return 1 }, set a(v) {}, get b() { return 1 }, set c(v) {} }", "{ a: [Getter/Setter], b: [Getter], c: [Setter] }"),
        ("(function () { return arguments })(1, 'a')", "[Arguments] [ 1, 'a' ]"),
        ("JSON, Math, console.log", "Object [JSON] {} Object [Math] {} [Function: log]"),
        ("Object.create(Date.prototype), Object.create(Map.prototype)", "Date {} Map {}"),
        ("[undefined, null], { f() {}, async g() {} }", "[ undefined, null ] { f: [Function: f], g: [AsyncFunction: g] }"),
    ],
)  # fmt: skip
def test_values_look_as_in_node(arguments: str, text: str) -> None:
    assert log("", arguments) == text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("{ a: 'x'.repeat(56), b: 1 }", "{ a: '" + "x" * 56 + "', b: 1 }"),
        ("{ a: 'x'.repeat(57), b: 1 }", "{\n  a: '" + "x" * 57 + "',\n  b: 1\n}"),
        ("[['a'.repeat(40)], ['b'.repeat(40)]]", "[\n  [ '" + "a" * 40 + "' ],\n  [ '" + "b" * 40 + "' ]\n]"),
        ("Array.from({ length: 27 }, (_, i) => i * 1000)",
         "[\n      0,  1000,  2000,  3000,  4000,\n   5000,  6000,  7000,  8000,  9000,\n"
         "  10000, 11000, 12000, 13000, 14000,\n  15000, 16000, 17000, 18000, 19000,\n"
         "  20000, 21000, 22000, 23000, 24000,\n  25000, 26000\n]"),
        ("['a', 'bb', 'ccc', 'd', 'e', 'f', 'g']", "[\n  'a', 'bb', 'ccc',\n  'd', 'e',  'f',\n  'g'\n]"),
        ("[true, false, true, false, true, false, true]", "[\n  true, false,\n  true, false,\n  true, false,\n  true\n]"),
        ("[1, 2, 3, 4, 5, 6]", "[ 1, 2, 3, 4, 5, 6 ]"),
        ("{ text: 'one\\n' + 'x'.repeat(80) }", "{\n  text: 'one\\n' +\n    '" + "x" * 80 + "'\n}"),
        ("{ users: [{ id: 1, name: 'Ann', tags: ['a'] }], total: 1 }",
         "{ users: [ { id: 1, name: 'Ann', tags: [Array] } ], total: 1 }"),
        ("{ a: { b: { c: 1 } }, d: 1 }", "{ a: { b: { c: 1 } }, d: 1 }"),
        ("[[[[]]]], { a: { b: { c: [1] } } }", "[ [ [ [] ] ] ] { a: { b: { c: [Array] } } }"),
    ],
)  # fmt: skip
def test_lines_break_as_in_node(arguments: str, text: str) -> None:
    assert log("", arguments) == text


def test_cycles_are_marked() -> None:
    text = log("const o = { name: 'n' }; o.self = o; o.list = [o, { o }];", "o")
    assert (
        text == "<ref *1> {\n  name: 'n',\n  self: [Circular *1],\n  list: [ [Circular *1], { o: [Circular *1] } ]\n}"
    )
    assert log("const m = new Map(); m.set('m', m);", "m, [m].length") == "<ref *1> Map(1) { 'm' => [Circular *1] } 1"
    assert log("const one = {}; ", "[one, one]") == "[ {}, {} ]"


def test_errors_show_their_text_the_scripts_own_frames_and_what_else_they_carry() -> None:
    thrown = "function f() { throw new TypeError('bad') }\ntry { f() } catch (error) { console.log(error) }"
    assert log(thrown) == "TypeError: bad\n    at f (script.js:1:26)\n    at <eval> (script.js:2:7)"
    inner = "const e = new RangeError('no'); e.stack = ''; const o = new Error('o', { cause: e }); o.stack = ''; o.code = 5;"
    assert log(inner, "o") == "[Error: o] { code: 5, [cause]: [RangeError: no] }"
    own = "class Refused extends Error {}; const e = new Refused('r'); e.stack = '';"
    assert log(own, "e, [e]") == "[Refused: r] [ [Refused: r] ]"
    named = "const e = new Error('n'); e.name = 'Mine'; e.stack = '';"
    assert log(named, "e") == "[Mine: n]"
    many = "const e = new AggregateError([new Error('a')], 'all'); e.stack = e.errors[0].stack = '';"
    assert log(many, "e") == "[AggregateError: all] { [errors]: [ [Error: a] ] }"


def test_a_place_in_parsed_text_is_no_place_of_the_script() -> None:
    text = log("\ntry { JSON.parse('[1,') } catch (error) { console.log(error) }")
    assert text.split("\n")[1:] == ["    at <eval> (script.js:2:12)"]
    assert text.startswith("SyntaxError: ")


def test_an_error_inside_an_object_is_indented() -> None:
    source = "const e = new Error('x');"
    assert log(source, "{ e }") == (
        "{\n  e: Error: x\n      at <anonymous> (script.js:1:23)\n      at <eval> (script.js:2:17)\n}"
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("'%s is %d', 'x', '42', 'rest', [1]", "x is 42 rest [ 1 ]"),
        ("'%s|%s|%s|%s', { a: { b: 1 } }, 5n, -0, Symbol('q')", "{ a: [Object] }|5n|-0|Symbol(q)"),
        ("'%d|%d|%d|%i|%f', 5n, {}, '', 12.9, '1.5x'", "5n|NaN|0|12|1.5"),
        ("'%i|%f', {}, Symbol()", "NaN|NaN"),
        ("'%j|%j', { a: [1] }, undefined", '{"a":[1]}|undefined'),
        ("'%o|%O', { a: { b: { c: { d: 1 } } } }, { a: 1 }", "{\n  a: { b: { c: { d: 1 } } }\n}|{ a: 1 }"),
        ("'%c%s%c', 'color: red', 'x', ''", "x"),
        ("'%% %s', 1", "% 1"),
        ("'%%'", "%%"),
        ("'100%', 5", "100% 5"),
        ("'%x %s %s', 'a'", "%x a %s"),
        ("5, '%s', 1", "5 %s 1"),
        ("'%%s', 1", "%s 1"),
    ],
)
def test_templates_are_filled(arguments: str, text: str) -> None:
    assert log("", arguments) == text


def test_looking_at_a_value_runs_none_of_its_code() -> None:
    source = """
    let ran = 0;
    const run = () => { ran++; throw new Error("ran") };
    class Loud {
      get [Symbol.toStringTag]() { return run() }
      get value() { return run() }
      toString() { return run() }
      toJSON() { return run() }
      [Symbol.toPrimitive]() { return run() }
      inspect() { return run() }
      static get name() { return run() }
    }
    const own = { get a() { return run() }, toString: run, valueOf: run, constructor: { get name() { return run() } } };
    const failing = Object.create(Error.prototype, { message: { get: run }, stack: { get: run } });
    const error = new Error("e");
    Object.defineProperty(error, "stack", { get: run });
    Object.defineProperty(error, "message", { get: run });
    console.log(new Loud(), own, failing, [error], Loud.prototype);
    console.log("%s %d %i %f %o", new Loud(), new Loud(), own, own, own);
    console.table([new Loud(), own]);
    if (ran) throw new Error(`${ran} times`);
    """
    assert log(source).startswith("{} {\n  a: [Getter],\n  toString: [Function: run],")


def test_a_proxy_whose_traps_raise_is_not_shown() -> None:
    source = """
    const raise = () => { throw new Error("trap") };
    const proxy = new Proxy({}, { ownKeys: raise, getPrototypeOf: raise, getOwnPropertyDescriptor: raise });
    const list = new Proxy([1, 2], { get: raise, getOwnPropertyDescriptor: raise });
    """
    assert log(source, "proxy, [proxy, 1], list") == "<cannot be shown> [ <cannot be shown>, 1 ] <cannot be shown>"
    assert log(f"{source}; console.table(proxy); console.table([proxy]); console.dir(proxy)").splitlines()[0] == (
        "<cannot be shown>"
    )
    assert log("", "new Proxy({ a: 1 }, {}), new Proxy(function f() {}, {})") == "{ a: 1 } [Function: f]"


@pytest.mark.parametrize(
    ("arguments", "most"),
    [
        ("Array(1e9)", 100),
        ("new Array(1e6).fill(7)", 1000),
        ("'x'.repeat(1e5), ['x'.repeat(1e5)]", 111_000),
        ("Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]))", 20_000),
        ("new Set(Array.from({ length: 5000 }, (_, i) => i))", 1000),
        ("(() => { let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o })()", 100),
        ("Array(100).fill(Array(100).fill(Array(100).fill('x'.repeat(9999))))", 1 << 20),
        ("Object.create(Array.from({ length: 5000 }).reduce((above) => Object.create(above), null))", 1000),
    ],
)
def test_huge_values_are_cut(arguments: str, most: int) -> None:
    text = log("", arguments)
    assert 0 < len(text) <= most


def test_cuts_say_how_much_is_missing() -> None:
    assert log("", "new Array(101).fill(0)").endswith("... 1 more item\n]")
    assert log("", "new Set(Array.from({ length: 102 }, (_, i) => i))").endswith("  ... 2 more items\n}")
    assert log("", "['x'.repeat(10002)]") == "[\n  '" + "x" * 10000 + "'... 2 more characters\n]"
    members = log("", "Object.fromEntries(Array.from({ length: 1003 }, (_, i) => [`k${i}`, i]))")
    assert members.endswith("  k999: 999,\n  ... 3 more members\n}")
    assert log("", "new Uint8Array(52).buffer").endswith("00 ... 2 more bytes>,\n  byteLength: 52\n}")


def test_nothing_is_thrown_where_the_stack_is_nearly_full() -> None:
    source = "let depth = 0; function f() { depth++; try { f() } catch { if (depth) console.log({ a: [1] }); depth = 0 } } f()"
    assert log(source) in ("{ a: [ 1 ] }", "<cannot be shown>", "{ a: <cannot be shown> }")


# Methods


def test_every_method_prints_to_one_output() -> None:
    source = (
        "console.log(1); console.info(2); console.warn(3); console.error(4); console.debug({ a: 5 }); console.dirxml(6)"
    )
    assert log(source) == "1\n2\n3\n4\n{ a: 5 }\n6"


def test_methods_need_no_this_and_the_object_is_frozen() -> None:
    assert log("const { log, error } = console; [1, 2].forEach((x) => log(x)); error('e')") == "1\n2\ne"
    assert log("'use strict'; try { console.log = 0 } catch (e) { console.log(e.name) }") == "TypeError"
    assert log("", "Object.isFrozen(console), String(console), Object.keys(globalThis).includes('print')") == (
        "true [object console] false"
    )


def test_groups_indent() -> None:
    source = "console.group('G', 1); console.log('a\\nb'); console.group(); console.log([1]); console.groupEnd();"
    assert (
        log(f"{source} console.groupEnd(); console.groupEnd(); console.log('end')") == "G 1\n  a\n  b\n    [ 1 ]\nend"
    )


def test_counters_and_assertions() -> None:
    source = "console.count(); console.count('x'); console.count(); console.countReset(); console.count();"
    assert log(source) == "default: 1\nx: 1\ndefault: 2\ndefault: 1"
    source = "console.assert(true, 'no'); console.assert(false); console.assert(0, 'a %s', 1); console.assert(null, { a: 1 })"
    assert log(source) == "Assertion failed\nAssertion failed: a 1\nAssertion failed { a: 1 }"


def test_timers_follow_the_scripts_clock() -> None:
    source = "console.time(); console.timeLog('default', 'so far', [1]); console.timeEnd(); console.timeEnd('t')"
    assert log(source) == (
        "default: 0ms so far [ 1 ]\ndefault: 0ms\nWarning: No such label 't' for console.timeEnd()"
    )  # the clock of `log` stands still


def test_depth_can_be_chosen() -> None:
    value = "{ a: { b: { c: { d: 1 } } } }"
    assert log(f"console.dir({value}, {{ depth: 0 }})") == "{ a: [Object] }"
    assert log(f"console.dir({value}, {{ depth: null }})") == "{\n  a: { b: { c: { d: 1 } } }\n}"
    assert log(f"console.dir({value})") == "{ a: { b: { c: [Object] } } }"


def test_a_trace_shows_where_the_script_is() -> None:
    assert log("function f() {\n  console.trace('at', 1)\n}\nf()") == (
        "Trace: at 1\n    at f (script.js:2:11)\n    at <eval> (script.js:4:1)"
    )


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        ("[{ a: 1, b: 'x' }, { a: 2, c: true }]", [
            "┌─────────┬───┬─────┬──────┐",
            "│ (index) │ a │ b   │ c    │",
            "├─────────┼───┼─────┼──────┤",
            "│ 0       │ 1 │ 'x' │      │",
            "│ 1       │ 2 │     │ true │",
            "└─────────┴───┴─────┴──────┘",
        ]),
        ("[1, [5, { k: 1 }]]", [
            "┌─────────┬───┬──────────┬────────┐",
            "│ (index) │ 0 │ 1        │ Values │",
            "├─────────┼───┼──────────┼────────┤",
            "│ 0       │   │          │ 1      │",
            "│ 1       │ 5 │ { k: 1 } │        │",
            "└─────────┴───┴──────────┴────────┘",
        ]),
        ("new Map([['a', 1]])", [
            "┌───────────────────┬─────┬────────┐",
            "│ (iteration index) │ Key │ Values │",
            "├───────────────────┼─────┼────────┤",
            "│ 0                 │ 'a' │ 1      │",
            "└───────────────────┴─────┴────────┘",
        ]),
        ("{ x: { a: '日本', b: 2 } }, ['a']", [
            "┌─────────┬────────┐",
            "│ (index) │ a      │",
            "├─────────┼────────┤",
            "│ x       │ '日本' │",
            "└─────────┴────────┘",
        ]),
        ("5", ["5"]),
        ("'text'", ["text"]),
    ],
)  # fmt: skip
def test_tables(arguments: str, lines: list[str]) -> None:
    assert log(f"console.table({arguments})").split("\n") == lines


# Limits of the output


def _printed(context: Any, source: str) -> tuple[str, str]:
    """What a script printed, and the error that ended it."""
    context.eval("globalThis.ended = 'not'")
    context.eval(f"try {{ {source} }} catch (error) {{ globalThis.ended = error.message }}")
    return context.eval("printed()"), context.eval("ended")


@pytest.mark.parametrize(
    ("source", "text", "ended"),
    [
        ("console.log('123456789')", "123456789\n", "not"),
        ("console.log('1234567890')", "1234567890\n", "too much"),
        ("console.log('1234'); console.log('56789')", "1234\n56789\n", "too much"),
        ("console.log('12345678901234567890')", "12345678901", "too much"),
        ("console.log('ééééé')", "ééééé\n", "too much"),
        ("console.log('éééééééé')", "éééééé", "too much"),
        ("console.log('日日日日日')", "日日日日", "too much"),
        ("console.log('😀😀😀😀')", "😀😀😀", "too much"),
        ("console.log('1'.repeat(30)); console.log('later')", "11111111111", "too much"),
    ],
)
def test_what_exceeds_the_limit_ends_the_run_and_one_byte_of_it_is_kept(source: str, text: str, ended: str) -> None:
    assert _printed(world(max_output=10), source) == (text, ended)


def test_nothing_is_collected_after_the_limit() -> None:
    context = world(max_output=3)
    assert _printed(context, "console.log('abcdef')") == ("abcd", "too much")
    assert _printed(context, "console.log('x')") == ("", "not")


def test_output_leaves_in_pieces_of_whole_characters() -> None:
    context = world(max_output=1 << 22)
    context.eval("console.log('x'.repeat(262143) + '😀'.repeat(3) + '\\ud800 \\udc00')")
    pieces = json.loads(context.eval("JSON.stringify(pieces())"))
    assert [len(piece) for piece in pieces] == [262_143, 7]
    assert pieces[1] == "😀😀😀\ufffd \ufffd\n"
    assert context.eval("JSON.stringify(pieces())") == "[]"
