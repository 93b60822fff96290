"""Names and members: what nobody declares, what stands for the host, what leads behind objects, what reaches tools."""

from __future__ import annotations

import pytest

from ringfence.enclave.check.findings import Found
from tests.enclave.agentscript.kit import codes, found, places
from tests.enclave.agentscript.test_folding import BEFORE, CONSTRUCTOR

PROTOTYPES = ["prototype", "__proto__"]


@pytest.mark.parametrize(
    "source",
    [
        "missing",
        "missing()",
        "missing = 1",
        "({ missing })",
        "`${missing}`",
        "{ let missing = 1 } missing",
        "const f = () => { const missing = 1 }; missing",
        "function f(missing) {} missing",
        "[missing] = [1]",
        "({ missing } = {})",
        "() => arguments",
    ],
)
def test_a_name_that_nothing_declares_is_found(source: str) -> None:
    assert codes(source) == ["UNKNOWN_GLOBAL"]
    assert [(one.code, one.severity) for one in found(source, "STANDARD")] == [("UNKNOWN_GLOBAL", "warning")]
    assert codes(source, "PERMISSIVE") == []


@pytest.mark.parametrize(
    "source",
    [
        "settings, inputs, mail, tools, callTool, console, parallel, ToolError, GlobalFunctionError",
        "undefined, NaN, Infinity, Math.max(1), JSON.stringify({}), [].map(String), Number('1'), new Date()",
        "f(); function f() {}",
        "var x; { x = 1 }",
        "label: for (const a of []) { continue label }",
        "({ a: 1 }).a.b.c",
        "typeof missing",
        "function f() { return arguments.length }",
        "class A { static n = 1; m() { return A.n } }",
        "try { } catch ({ message }) { message }",
        "new Map(), new Set(), Promise.all([]), new Error('x'), structuredClone({}), crypto.randomUUID()",
    ],
)
def test_a_name_that_is_there_is_not(source: str) -> None:
    assert codes(source) == []


@pytest.mark.parametrize(
    ("source", "fix"),
    [
        ("setTimeout(() => 1, 5)", "there are no timers: call what should run, and await it"),
        ("fetch('x')", "there is no network: call a tool"),
        ("fs.readFileSync('x')", "scripts have no files: call a tool, or pass the text as inputs"),
        ("require('fs')", "there are no modules: use what the language has, or call a tool"),
        ("process.env.KEY", "there is no process: pass what the script needs as inputs"),
        ("Buffer.from('x')", "use Uint8Array with TextEncoder, or btoa and atob"),
        ("window.x", "there is no window: use the name itself"),
        ("list({})", "write await tools.list(...)"),
        ("send({})", "write await mail.send(...)"),
        ("sorted([2, 1])", "write [...array].sort((a, b) => a - b)"),
        ("consle.log(1)", "did you mean console?"),
        ("const total = 1; totl", "did you mean total?"),
        ("total = 1", "declare it: let total = …"),
        ("{ const total = 1 } total", "declare it outside the block or function in which it is declared now"),
        ("print(1)", "write console.log(...)"),
        ("None", "write null"),
        ("qqqqqq", "declare it, or correct its spelling"),
    ],
)
def test_the_fix_is_the_smallest_that_helps(source: str, fix: str) -> None:
    assert [one.fix for one in found(source, "STANDARD")] == [fix]


@pytest.mark.parametrize(
    ("source", "fix"),
    [
        ("throw new Error('x')", "throw an object: throw { message: '…' }"),
        ("await Promise.all([])", "use parallel(items, async (item) => …), or await the calls one by one"),
        ("new Map()", "use an object: { key: value }"),
        ("new Set()", "use an array with includes"),
        ("parseInt('1')", "write Math.trunc(Number(text))"),
        ("const o = {}; o.module", "take it out with a pattern: const { module: value } = object"),
    ],
)
def test_what_only_strict_refuses_has_a_fix_as_well(source: str, fix: str) -> None:
    assert [one.fix for one in found(source, "STRICT")] == [fix]
    assert codes(source, "SECURE") == []


@pytest.mark.parametrize("name", ["process", "require", "module", "exports", "__dirname", "__filename", "Buffer"])
def test_names_of_a_host_are_refused_bare_and_at_strict_as_members(name: str) -> None:
    assert codes(name, "SECURE") == ["DISALLOWED_IDENTIFIER"]
    for source in (f"inputs.{name}", f"inputs['{name}']", f"inputs['{name[:2]}' + '{name[2:]}']"):
        assert codes(source, "STRICT") == ["DISALLOWED_IDENTIFIER"]
        assert codes(source, "SECURE") == []
    assert codes(f"const {name} = 1; {name}", "SECURE") == []


def test_a_tool_may_have_such_a_name() -> None:
    assert codes("await tools.get({}).then((r) => r)", "STRICT") == []
    assert codes("const { process: p } = inputs; p", "STRICT") == []


@pytest.mark.parametrize("expression", CONSTRUCTOR)
def test_the_constructor_is_found_however_it_is_written(expression: str) -> None:
    assert "NO_CONSTRUCTOR_ACCESS" in codes(f"{BEFORE}inputs[{expression}]")


@pytest.mark.parametrize(
    "source",
    [
        "inputs.constructor",
        "inputs?.constructor",
        "inputs['constructor']",
        "inputs.constructor = 1",
        "[].constructor.name",
        "(() => 1).constructor",
        "class A { m() { return this.constructor } }",
    ],
)
def test_the_constructor_is_refused_where_introspection_is(source: str) -> None:
    assert codes(source, "SECURE") == ["NO_CONSTRUCTOR_ACCESS"]
    assert [one.severity for one in found(source, "STANDARD")] == ["warning"]


@pytest.mark.parametrize(
    "source",
    [
        "class A { constructor() { } }",
        "const a = { constructor: 1 }",
        "inputs['con' + inputs.x]",
        "inputs[inputs.key]",
        "'constructor'",
        "// x.constructor",
    ],
)
def test_what_is_no_access_to_the_constructor_is_left_alone(source: str) -> None:
    assert "NO_CONSTRUCTOR_ACCESS" not in codes(source)


@pytest.mark.parametrize(
    "source",
    ["inputs.prototype", "inputs.__proto__", "inputs['__pro' + 'to__']", "({ __proto__: null })", "Array.prototype"],
)
def test_prototypes_are_refused(source: str) -> None:
    assert codes(source, "SECURE") == ["DISALLOWED_IDENTIFIER"]


def test_legacy_accessors_are_machinery() -> None:
    assert codes("inputs.__defineGetter__('x', () => 1)") == ["NO_META_PROGRAMMING"]


@pytest.mark.parametrize(
    "source",
    [
        "const { constructor } = inputs",
        "const { constructor: c } = inputs",
        "const { 'constructor': c } = inputs",
        "const { ['con' + 'structor']: c } = inputs",
        "const { a: { __proto__: p } } = inputs",
        "const { prototype = 1 } = inputs",
        "let c; ({ constructor: c } = inputs)",
        "const f = ({ constructor: c }) => c",
        "for (const { constructor: c } of []) {}",
        "try {} catch ({ constructor: c }) {}",
    ],
)
def test_destructuring_takes_out_ordinary_members_only(source: str) -> None:
    assert "NO_DANGEROUS_DESTRUCTURING" in codes(source)


def test_computed_keys_in_patterns_are_refused_at_strict_and_watched_elsewhere() -> None:
    source = "const { [inputs.key]: value, ...rest } = inputs"
    assert codes(source, "STRICT") == ["NO_COMPUTED_DESTRUCTURING"]
    assert codes(source, "SECURE") == []


@pytest.mark.parametrize("name", ["globalThis", "window", "self", "global"])
def test_the_global_object_is_refused_in_every_use(name: str) -> None:
    assert codes(f"{name}.x") == ["NO_GLOBAL_ACCESS"]
    assert codes(f"Object.keys({name})") == ["NO_GLOBAL_ACCESS"]
    assert codes(f"const {{ x }} = {name}") == ["NO_GLOBAL_DESTRUCTURE"]
    assert codes(f"const {name} = inputs; {name}.x") == []


def test_this_is_refused_where_it_is_not_the_scripts_own() -> None:
    assert codes("this.x") == ["NO_GLOBAL_ACCESS"]
    assert codes("this['x']") == ["NO_GLOBAL_ACCESS"]
    assert codes("const { x } = this") == ["NO_GLOBAL_DESTRUCTURE"]
    assert codes("() => this.x") == ["NO_GLOBAL_ACCESS"]
    assert codes("class A { #n = 1; m() { return this.#n } }") == []
    assert codes("class A { n = this.x }", "STRICT") == ["NO_GLOBAL_ACCESS"]
    assert codes("this", "STRICT") == []


@pytest.mark.parametrize(
    "source",
    ["const __ag_x = 1", "const __safe_x = 1", "inputs.__ag_x = 1", "(__safe_x) => 1", "function __ag_f() {}"],
)
def test_prefixes_of_the_runtime_are_reserved(source: str) -> None:
    assert "RESERVED_PREFIX" in codes(source)


def test_reading_such_a_member_is_ordinary() -> None:
    assert codes("inputs.__ag_x") == []


@pytest.mark.parametrize(
    "source", ["const mail = 1", "function callTool() {}", "mail = 1", "callTool = 1", "let ToolError", "tools++"]
)
def test_names_through_which_tools_are_reached_stay_at_the_top_level(source: str) -> None:
    assert codes(source) == ["REBOUND_NAME"]


@pytest.mark.parametrize("source", ["(mail) => mail", "{ const mail = 1; mail }", "function f(callTool) {}"])
def test_inside_a_function_another_meaning_is_a_warning(source: str) -> None:
    assert [(one.code, one.severity) for one in found(source)] == [("SHADOWED_NAME", "warning")]
    assert "SHADOWED_NAME" in codes(source, "STRICT")
    assert codes(source, "STANDARD") == []


def test_code_from_text_by_name() -> None:
    for name in ("eval", "Function", "AsyncFunction", "GeneratorFunction"):
        assert codes(f"{name}('1')") == ["NO_EVAL"]
    assert codes("new Function('a', 'return a')") == ["NO_EVAL"]
    assert codes("Reflect.get({}, 'a')") == ["NO_REFLECT_API"]


def test_findings_are_whole_and_stand_at_the_name() -> None:
    assert found("const a = 1;\n  a.constructor", "SECURE") == [
        Found(
            code="NO_CONSTRUCTOR_ACCESS",
            line=2,
            column=5,
            message=".constructor leads from a value to the function that made it",
            fix="use typeof, Array.isArray or instanceof",
        )
    ]
    assert places("'é😀'; missing") == [("UNKNOWN_GLOBAL", 1, 7)]
