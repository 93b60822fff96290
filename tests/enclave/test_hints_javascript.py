"""What a model is told after its JavaScript script raised: the texts are the engine's, so it is asked for them."""

from __future__ import annotations

import pytest

import ringfence as rf
from ringfence.enclave.agentscript.vocabulary import ALL_NAMES, DISALLOWED, FIXES, GLOBAL_OBJECT
from ringfence.enclave.hints_javascript import hint_for
from ringfence.enclave.protocol import Failed
from tests.enclave.kit import Stage

TABLE = [
    ("setTimeout(() => 1, 5)", "there are no timers: call what should run, and await it"),
    ("fetch('https://x')", "there is no network: call a tool"),
    ("require('fs')", "there are no modules: use what the language has, or call a tool"),
    ("print('x')", "write console.log(...)"),
    ("consol.log(1)", "did you mean console?"),
    ("return x1y2", "declare it with const or let"),
    ("return tools", "write: await callTool('name', {...})"),
    ("null.price", "the value before .price is missing: test for it first, or write ?.price"),
    ("inputs.rows[0]", "the value before [0] is missing: test for it first, or write ?.[0]"),
    ("inputs.rows['a b']", "the value before ['a b'] is missing: test for it first, or write ?.['a b']"),
    ("for (const row of inputs.rows);", "what is gone through is missing: test for it first, or write value ?? []"),
    ("[...inputs.rows]", "what is gone through is missing: test for it first, or write value ?? []"),
    ("inputs.totals.sum = 1", "make the object first: value ??= {}"),
    (
        "class A { constructor() { this.x } } class B extends A { constructor() { this.y = 1 } } new B()",
        "call super(...) first, before this is used",
    ),
    ("const fs = await import('fs')", "there are no modules: use what the language has, or call a tool"),
    ("BigInt('1.5')", "BigInt takes whole numbers only, such as '12'"),
    ("+1n", "convert one side: Number(big) or BigInt(number)"),
    ("Promise()", "write new before the class"),
    ("'a'.replaceAll(/a/, '')", "write the expression with g: /.../g"),
    ("({ get a() { return 1 } }).a = 2", "declare it with let, or change a copy: { ...value }"),
    ("JSON.parse('')", "JSON.parse needs JSON text; results of tools and inputs are values already"),
    ("JSON.parse('1 2')", "JSON.parse needs JSON text; results of tools and inputs are values already"),
    ("JSON.parse('[1,]')", "JSON.parse needs JSON text; results of tools and inputs are values already"),
    ("JSON.parse(inputs)", "JSON.parse needs JSON text; results of tools and inputs are values already"),
    ("eval('1 +')", None),
    ("new Function('return (')", None),
    ("new RegExp('(')", None),
    ("range(3)", "write for (let i = 0; i < n; i++), or Array.from({ length: n }, (_, i) => i)"),
    ("asyncio.gather()", "write await Promise.all([...]) for several calls at once"),
    ("json.loads('1')", "write JSON.parse(text) or JSON.stringify(value)"),
    ("throw Exception('no')", "write throw new Error('...')"),
    ("inputs.rows.length", "the value before .length is missing: test for it first, or write ?.length"),
    ("callTool('x', {}).map((x) => x)", "await a call before its result is used, and look up the method's name"),
    (
        "for (const x of { a: 1 });",
        "await a call before its result is used; of an object take the array inside, or Object.entries(...)",
    ),
    ("a; let a = 1", "declare it further up, before its first use"),
    ("const a = 1; a = 2", "declare it with let, or change a copy: { ...value }"),
    ("1n + 1", "convert one side: Number(big) or BigInt(number)"),
    ("JSON.stringify(1n)", "write String(value) for large whole numbers"),
    ("class A {} A()", "write new before the class"),
    ("[].reduce((a, b) => a)", "give reduce a start value"),
    ("JSON.parse('x')", "JSON.parse needs JSON text; results of tools and inputs are values already"),
    ("JSON.parse('{')", "JSON.parse needs JSON text; results of tools and inputs are values already"),
    ("function f() { f(); } f()", "use a loop"),
    ("new Date('x').toISOString()", "give Date a text such as 2026-01-31T12:00:00Z, or numbers"),
    ("BigInt(1.5)", "round first: BigInt(Math.round(value))"),
    ("let s = 'x'; while (true) s += s", "collect parts in an array, and less of them"),
    ("(1).toLocaleString('de-DE')", "use 'en-US' and 'UTC', or format with padStart and toFixed"),
    ("throw new Error('mine')", None),
]


@pytest.mark.parametrize(("source", "expected"), TABLE)
def test_a_common_mistake_has_its_fix(source: str, expected: str | None, stage: Stage) -> None:
    result = stage.script(source, language="javascript", validate=False)
    assert result.error is not None
    assert (result.error.code, result.error.hint) == ("RUNTIME_ERROR", expected)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("const p = callTool('x', {});\np.map((x) => x)", "p.map is not a function"),
        ("const o = { a: {} };\no.a.lookup(1)", "o.a.lookup is not a function"),
        ("const o = {}; new o.Thing()", "o.Thing is not a function"),
    ],
)
def test_what_is_no_function_is_named(source: str, message: str, stage: Stage) -> None:
    result = stage.script(source, language="javascript", validate=False)
    assert result.error is not None
    assert result.error.message == message


@pytest.mark.parametrize("name", ["print", "list", "x9"])
def test_a_tool_of_that_name_comes_before_what_the_name_means_elsewhere(name: str) -> None:
    frame = Failed(kind="raised", name="ReferenceError", message=f"{name} is not defined")
    assert hint_for(frame, [name]) == f"write: await tools.{name}({{...}})"


@pytest.mark.parametrize("name", sorted(FIXES))
def test_no_fix_stands_for_a_name_that_scripts_have_everywhere(name: str) -> None:
    assert name not in ALL_NAMES or name in DISALLOWED["STRICT"] | GLOBAL_OBJECT


def test_a_function_of_the_host_is_not_called_after_the_end(stage: Stage) -> None:
    heard: list[str] = []
    enclave = rf.Enclave(
        language="javascript", max_iterations=10, globals={"effect": heard.append}, allow_functions_in_globals=True
    )
    with enclave:
        result = enclave.run_sync("try { for (let i = 0; i < 20; i++); } catch {}\neffect('x')")
    assert result.error is not None
    assert (result.error.code, heard) == ("MAX_ITERATIONS", [])


@pytest.mark.parametrize(
    "tampering",
    [
        "Error.stackTraceLimit = 0;",
        "Object.defineProperty(Error.prototype, 'stack', { get() { return '(<input>:77:7)'; } });",
        "Object.defineProperty(Array.prototype, '0', { set() {}, configurable: true });",
        "try { Error.prepareStackTrace = (error, frames) => frames; } catch {}",
    ],
)
def test_what_a_script_does_to_stacks_and_lists_moves_no_call(tampering: str) -> None:
    async def echo(name: str, args: object) -> object:
        return args

    with rf.Enclave(language="javascript", tool_handler=echo, timeout=5) as enclave:
        result = enclave.run_sync(f"{tampering}\nconst said = await callTool('echo', {{ n: 1 }});\nreturn said.n")
    assert (result.error, result.value, [call.line for call in result.calls]) == (None, 1, [2])


def test_no_formatter_is_handed_the_functions_on_a_stack(stage: Stage) -> None:
    source = (
        "try { Error.prepareStackTrace = (error, frames) => frames } catch {}\n"
        "let found; new Date({ valueOf() { found = new Error().stack; return 0 } }); return typeof found"
    )
    assert stage.script(source, language="javascript", validate=False).value == "string"
