"""Tools as methods of names that scripts find (enclave catalogue 1.D and 4.5; second seed, "Tool Namespaces")."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent
from types import MethodType, SimpleNamespace
from typing import Any, Final

import pytest

import ringfence as rf
from tests.enclave.kit import Stage, code, detail, echo, failing, outcomes
from tests.requirements import requirement

PREFIX: Final = "Invalid toolNamespaces: "
SEED: Final[dict[str, Any]] = {"mail": ["list", "send"], "users": {"get": "users:get"}}


def refused(namespaces: Any, **options: Any) -> rf.ConfigError:
    with pytest.raises(rf.ConfigError) as caught:
        rf.Enclave(tool_namespaces=namespaces, **options)
    assert caught.value.message.startswith(PREFIX)
    assert isinstance(caught.value, TypeError)
    return caught.value


@requirement("T41", "seed2.unsafe", "rec.8", "ns.a")
@pytest.mark.parametrize(
    "name", ["", "a b", "a-b", "1a", "a.b", "a:b", "ä", "名", "a\n", "$", "mail!", 7, None, b"mail"]
)
def test_a_namespace_is_an_identifier_of_ascii_letters(name: Any) -> None:
    assert refused({name: ["list"]}).code == "bad_name"


@requirement("T41", "ns.b")
@pytest.mark.parametrize("name", ["__proto__", "constructor", "prototype", "__mail", "__class__", "__builtins__"])
def test_a_namespace_has_no_reserved_name(name: str) -> None:
    error = refused({name: ["list"]})
    assert (error.code, "reserved name" in error.message) == ("bad_name", True)


@requirement("T41", "ns.c")
@pytest.mark.parametrize("name", ["class", "del", "import", "lambda", "None", "True", "await", "async", "yield"])
def test_a_namespace_is_no_reserved_word(name: str) -> None:
    error = refused({name: ["list"]})
    assert (error.code, "reserved word" in error.message) == ("bad_name", True)


@requirement("T41", "ns.d")
@pytest.mark.parametrize("name", ["print", "list", "dict", "call_tool", "inputs", "tools", "ToolError", "Exception"])
def test_a_namespace_hides_no_name_that_every_script_has(name: str) -> None:
    error = refused({name: ["list"]})
    assert (error.code, "hide" in error.message) == ("bad_name", True)


@requirement("T41", "ns.e")
@pytest.mark.parametrize("name", ["os", "sys", "subprocess", "builtins", "importlib", "socket"])
def test_a_namespace_is_no_name_that_scripts_may_not_use(name: str) -> None:
    error = refused({name: ["list"]})
    assert (error.code, "may not use" in error.message) == ("bad_name", True)


@requirement("T41", "ns.f")
def test_a_namespace_and_a_global_have_different_names() -> None:
    error = refused(SEED, globals={"mail": {"from": "ada"}})
    assert (error.code, "globals" in error.message) == ("bad_name", True)


@requirement("T41", "ns.g")
@pytest.mark.parametrize("methods", ["list", None, 7, {"list"}, object(), iter(["list"]), MethodType, True])
def test_a_namespace_is_a_list_or_a_mapping(methods: Any) -> None:
    assert refused({"mail": methods}).code == "bad_name"


@requirement("T41", "ns.g")
@pytest.mark.parametrize("given", [["mail"], "mail", 7, SimpleNamespace(mail=["list"]), [("mail", ["list"])]])
def test_namespaces_are_a_plain_mapping(given: Any) -> None:
    assert refused(given).code == "bad_name"


@requirement("T41", "ns.h", "T49")
@pytest.mark.parametrize("method", ["", "a b", "a.b", "1", "ä", 7, None, "__init__", "__x", "constructor", "gi_frame"])
def test_a_method_is_an_identifier_that_scripts_may_use(method: Any) -> None:
    assert refused({"mail": [method]}).code == "bad_name"
    assert refused({"mail": {method: "mail.x"}}).code == "bad_name"


@requirement("T41", "ns.i")
@pytest.mark.parametrize("methods", [["list", "list"], ["del", "del_"], ("a", "b", "a")])
def test_a_method_is_listed_once(methods: Any) -> None:
    assert refused({"mail": methods}).code == "duplicate_name"


@requirement("T41", "ns.j")
@pytest.mark.parametrize("tool", ["", None, 7, ["a"], "a" * 257])
def test_a_mapped_tool_name_is_text_of_a_bounded_length(tool: Any) -> None:
    assert refused({"mail": {"list": tool}}).code == "bad_name"


@requirement("T41", "ns.k", "seed2.carried")
@pytest.mark.parametrize("tool", ["1a", "_a", ":a", ".a", "a b", "a/b", "a\n", "ä", "a$", "a;b"])
def test_a_tool_name_is_one_that_every_adapter_can_carry(tool: str) -> None:
    assert "adapter" in refused({"mail": {"list": tool}}).message


@requirement("T41", "ns.k", "seed2.carried")
def test_that_holds_for_made_names_too_and_an_explicit_name_helps() -> None:
    assert "adapter" in refused({"_util": ["list"]}).message
    enclave = rf.Enclave(tool_namespaces={"_util": {"list": "util.list", "mail": "A:b_c-d.e"}})
    assert enclave.effective_config().tool_namespaces == {"_util": {"list": "util.list", "mail": "A:b_c-d.e"}}


@requirement("T41", "ns.l")
@pytest.mark.parametrize("methods", [[], (), {}])
def test_a_namespace_has_methods(methods: Any) -> None:
    assert "no methods" in refused({"mail": methods}).message


@requirement("ns.g", "U7")
@pytest.mark.parametrize("given", [None, {}])
def test_no_namespaces_are_no_mistake(given: Any) -> None:
    assert rf.Enclave(tool_namespaces=given).effective_config().tool_namespaces == {}


# what scripts find


@requirement("T38", "seed2.methods", "dec.21")
@pytest.mark.slow
@pytest.mark.parametrize("call", ["mail.list({'unread': True})", "mail.list(unread=True)"])
def test_a_listed_method_calls_its_namespace_and_name(stage: Stage, call: str) -> None:
    stage.tools["mail.list"] = echo
    assert stage.script(f"return await {call}", tool_namespaces=SEED).value == {"unread": True}
    assert stage.seen == [("mail.list", {"unread": True})]


@requirement("T38", "seed2.methods")
@pytest.mark.slow
def test_a_mapped_method_calls_the_tool_that_is_named(stage: Stage) -> None:
    stage.tools["users:get"] = echo
    result = stage.script("return await users.get({'id': 1})", tool_namespaces=SEED)
    assert (result.value, stage.seen) == ({"id": 1}, [("users:get", {"id": 1})])
    assert outcomes(result) == [("users:get", "succeeded", None)]


@requirement("T39")
@pytest.mark.slow
def test_a_method_without_arguments_sends_an_empty_object(stage: Stage) -> None:
    stage.tools["mail.list"] = echo
    assert stage.script("return await mail.list()", tool_namespaces=SEED).value == {}
    assert stage.seen == [("mail.list", {})]


@requirement("dec.21", "seed2.second")
@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "mail.list({'a': 1}, b=2)",
        "mail.list(unread=True, throw_on_error=False)",
        "mail.list({}, {})",
        "mail.list({}, {'throw_on_error': False})",
        "mail.list(1, 2, 3)",
    ],
)
def test_arguments_come_in_one_form_and_options_with_a_mapping(stage: Stage, call: str) -> None:
    stage.tools["mail.list"] = echo
    script = f"try:\n    await {call}\nexcept TypeError as error:\n    return 'refused'"
    result = stage.script(script, tool_namespaces=SEED)
    assert (result.value, result.stats.tool_call_count, stage.seen) == ("refused", 0, [])


@requirement("T42", "seed2.same", "T63")
@pytest.mark.slow
def test_methods_and_call_tool_use_up_one_budget(stage: Stage) -> None:
    stage.tools["mail.list"] = echo
    script = dedent("""
        made = []
        for n in range(2):
            made.append(await mail.list(n=n))
            made.append(await call_tool('mail.list', {'n': n}))
    """)
    result = stage.script(script, tool_namespaces=SEED, max_tool_calls=3)
    assert (code(result), detail(result)) == ("MAX_TOOL_CALLS", "limit_exceeded")
    assert len(stage.seen) == 3
    assert [(call.status, call.code) for call in result.calls] == [("succeeded", None)] * 3 + [
        ("refused", "limit_exceeded")
    ]


@requirement("seed2.same")
@pytest.mark.slow
def test_a_methods_failures_are_those_of_call_tool(stage: Stage) -> None:
    stage.tools["mail.send"] = failing(rf.ToolError("over quota", code="QUOTA"))
    script = dedent("""
        seen = []
        for call in (lambda: mail.send({'to': 'ada'}), lambda: call_tool('mail.send', {'to': 'ada'})):
            try:
                await call()
            except ToolError as error:
                seen.append([error.name, error.message, error.code, error.tool_name])
        return seen
    """)
    first, second = stage.script(script, tool_namespaces=SEED).value
    assert first == second == ["ToolError", "over quota", "QUOTA", "mail.send"]


@requirement("T45", "seed2.frozen")
@pytest.mark.slow
def test_a_namespace_shows_its_methods_in_order(stage: Stage) -> None:
    options: dict[str, Any] = {"tool_namespaces": {"mail": ["send", "list", "archive"]}}
    assert stage.script("return dir(mail)", **options).value == ["archive", "list", "send"]  # dir sorts
    assert stage.script("str(mail)", **options).value == "<namespace mail: send, list, archive>"


@requirement("T45", "seed2.frozen", "T117")
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["constructor", "prototype", "toString", "__dict__", "__proto__", "__globals__", "items"]
)
def test_a_namespace_inherits_nothing_of_a_mapping_or_an_object_with_state(stage: Stage, name: str) -> None:
    script = f"try:\n    mail.{name}\nexcept AttributeError as error:\n    return str(error)"
    assert name in stage.script(script, tool_namespaces=SEED, validate=False).value


@requirement("T45", "seed2.frozen")
@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        "mail.list = print", "mail.new = print", "del mail.list", "setattr(mail, 'list', print)", "delattr(mail, 'send')",
        "mail['list']", "mail['list'] = print", "mail.list.tool = 'other'", "mail.__dict__['list'] = print", "object.__setattr__(mail, 'list', print)",
    ],
)  # fmt: skip
def test_nothing_of_a_namespace_can_be_changed(stage: Stage, change: str) -> None:
    stage.tools["mail.list"] = echo
    script = f"try:\n    {change}\nexcept (AttributeError, TypeError) as error:\n    return [type(error).__name__, await mail.list(n=1)]"
    result = stage.script(script, tool_namespaces=SEED, validate=False)
    assert result.value is not None, result.error
    assert result.value[1] == {"n": 1}


@requirement("T46", "seed2.alias")
@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        "m = mail\nreturn await m.list({'n': 1})",
        "send = mail.list\nreturn await send({'n': 1})",
        "fetch, send = mail.list, mail.send\nreturn await fetch(n=1)",
        "return (await asyncio.gather(*(f({'n': 1}) for f in (mail.list,))))[0]",
        "async def use(box):\n    return await box.list(n=1)\nreturn await use(mail)",
        "from functools import partial\nreturn await partial(mail.list, n=1)()",
        "table = {'read': mail.list}\nreturn await table['read'](n=1)",
    ],
)
def test_namespaces_and_methods_may_be_given_other_names(stage: Stage, script: str) -> None:
    stage.tools["mail.list"] = echo
    assert stage.script("import asyncio\n" + script, tool_namespaces=SEED).value == {"n": 1}


@requirement("T47")
@pytest.mark.slow
@pytest.mark.parametrize(("name", "said"), [("lst", "Did you mean mail.list?"), ("delete", "it has list, send")])
def test_a_method_that_was_not_configured_is_an_attribute_error(stage: Stage, name: str, said: str) -> None:
    script = f"try:\n    await mail.{name}({{}})\nexcept AttributeError as error:\n    return str(error)"
    result = stage.script(script, tool_namespaces=SEED)
    assert result.value.startswith(f"mail has no tool '{name}'")
    assert said in result.value
    assert (stage.seen, result.stats.tool_call_count) == ([], 0)


@requirement("T49", "dec.21", "ns.h")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "tool"),
    [
        ("mail.del_(n=1)", "mail.del"),
        ("mail.from_(n=1)", "mail.from"),
        ("box.class_(n=1)", "mail:class"),
        ("mail.new(n=1)", "mail.new"),
        ("mail.delete(n=1)", "mail.delete"),
    ],
)
def test_a_method_with_the_name_of_a_keyword_has_an_underscore_behind_it(stage: Stage, call: str, tool: str) -> None:
    namespaces: Mapping[str, Any] = {
        "mail": ["del", "import", "from", "delete", "new"],
        "box": {"class": "mail:class"},
    }
    stage.tools[tool] = echo
    assert stage.script(f"return await {call}", tool_namespaces=namespaces).value == {"n": 1}
    assert stage.seen == [(tool, {"n": 1})]


@requirement("T50")
@pytest.mark.slow
def test_methods_named_like_those_of_texts_and_patterns_are_methods(stage: Stage) -> None:
    names = ["search", "match", "split", "replace", "format", "compile", "test", "exec", "eval", "get", "keys"]
    for name in names:
        stage.tools[f"text.{name}"] = echo
    script = "return [" + ", ".join(f"await text.{name}(n={at})" for at, name in enumerate(names)) + "]"
    expected = [{"n": at} for at in range(len(names))]
    for level in ("STANDARD", "SECURE"):
        options: dict[str, Any] = {"tool_namespaces": {"text": names}, "security_level": level}
        assert stage.script(script, **options).value == expected


@requirement("T51")
@pytest.mark.slow
def test_changing_what_an_enclave_was_built_of_changes_nothing(stage: Stage) -> None:
    stage.tools["mail.list"] = echo
    given: dict[str, Any] = {"mail": ["list"], "users": {"get": "users:get"}}

    async def body() -> tuple[Any, Any]:
        async with rf.Enclave(tool_handler=stage.handle, tool_namespaces=given) as enclave:
            given["mail"].append("send")
            given["users"]["get"] = "admin:get"
            given["more"] = ["x"]
            shown = {name: dict(methods) for name, methods in enclave.effective_config().tool_namespaces.items()}
            result = await enclave.run("return [await mail.list(n=1), hasattr(mail, 'send')]")
            return shown, result.value

    assert stage.run(body()) == (
        {"mail": {"list": "mail.list"}, "users": {"get": "users:get"}},
        [{"n": 1}, False],
    )


@requirement("T53")
@pytest.mark.slow
def test_governed_tools_are_found_in_namespaces_as_well(stage: Stage) -> None:
    @rf.tool(effect="read")
    def mail_list(unread: bool) -> list[str]:
        """List mail."""
        return [f"unread={unread}"]

    async def body() -> list[Any]:
        enclave = rf.Enclave(
            tools=[mail_list],
            sandbox=rf.local(unsafe=True),
            tool_namespaces={"mail": ["list"], "inbox": {"all": "mail_list"}},
        )
        async with enclave:
            script = (
                "return [await mail.list(unread=True), await inbox.all({'unread': False}), "
                "await tools.mail_list(unread=True), await call_tool('mail_list', {'unread': True})]"
            )
            result = await enclave.run(script)
            return [result.value, [call.name for call in result.calls]]

    answers = [["unread=True"], ["unread=False"], ["unread=True"], ["unread=True"]]
    assert stage.run(body()) == [answers, ["mail_list"] * 4]


@requirement("T54")
@pytest.mark.slow
def test_two_enclaves_do_not_see_each_others_namespaces(stage: Stage) -> None:
    script = "return ['mail' in globals(), 'calendar' in globals()]"
    options: dict[str, Any] = {"tool_namespaces": {"mail": ["list"]}, "validate": False}
    other: dict[str, Any] = {"tool_namespaces": {"calendar": ["list"]}, "validate": False}
    assert (stage.script(script, **options).value, stage.script(script, **other).value) == (
        [True, False],
        [False, True],
    )
    missing = stage.script("calendar.list()", **options)
    assert missing.error is not None
    assert (missing.error.code, missing.error.name) == ("RUNTIME_ERROR", "NameError")
