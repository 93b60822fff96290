"""What scripts find under the host's names: callable, frozen, and without anything that nobody configured."""

from __future__ import annotations

import asyncio
import collections.abc
import copy
import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ringfence.enclave.engines.guest_names import AwaitedFunction, BlockingFunction, CallTool, Namespace, namespace
from ringfence.enclave.source import FILENAME
from tests.enclave.engines.guest import Guest, guest


@pytest.fixture
def there() -> Iterator[Guest]:
    with guest() as made:
        yield made


@pytest.fixture
def mail(there: Guest) -> Any:
    return namespace(there.bridge, "mail", {"send": "mail.send", "list": "mail:list", "del_": "mail.del"})


REACHED = (
    "__class__ __dict__ __init__ __slots__ __getattribute__ __reduce_ex__ __module__ __doc__ __call__ __iter__ __copy__ "
    "constructor toString prototype members name _members _name bridge _bridge"
).split()


@pytest.mark.parametrize("name", REACHED)
def test_a_namespace_has_its_methods_and_nothing_else(mail: Any, name: str) -> None:
    """T45."""
    with pytest.raises(AttributeError, match=f"^mail has no tool '{name}'; it has send, list, del_$"):
        getattr(mail, name)
    with pytest.raises(AttributeError):
        object.__getattribute__(mail, "members")


def test_a_namespace_lists_its_methods_in_their_order(mail: Any) -> None:
    """T45."""
    assert (list(mail), mail.__dir__ if hasattr(mail, "__dir__") else None) == (["send", "list", "del_"], None)
    assert (sorted(dir(mail)), "list" in mail, "nothing" in mail) == (["del_", "list", "send"], True, False)
    assert repr(mail) == "<namespace mail: send, list, del_>"


def test_a_misspelt_method_names_the_namespace_and_the_nearest(mail: Any) -> None:
    """T47."""
    with pytest.raises(AttributeError, match=r"^mail has no tool 'lst'\. Did you mean mail\.list\?$"):
        _ = mail.lst


CHANGES: list[Callable[[Any], object]] = [
    lambda given: setattr(given, "list", None),
    lambda given: setattr(given, "new", None),
    lambda given: delattr(given, "list"),
    lambda given: object.__setattr__(given, "new", None),
    lambda given: object.__setattr__(given, "members", None),
]


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_of_a_namespace_can_be_changed(mail: Any, change: Callable[[Any], object]) -> None:
    """D3."""
    before = mail.list
    with pytest.raises(AttributeError):
        change(mail)
    assert mail.list is before
    assert copy.copy(mail) is mail


def test_a_namespace_is_no_mapping(mail: Any) -> None:
    with pytest.raises(TypeError, match=r"^mail is no mapping: write mail\.list\(\.\.\.\)$"):
        mail["list"]
    with pytest.raises(TypeError, match="not callable"):
        mail()


def test_methods_can_be_put_under_other_names(there: Guest, mail: Any) -> None:
    """T46."""
    again = mail
    send, listed = mail.send, again.list
    there.answer(1, [1])
    there.answer(2, "sent")

    async def script() -> Any:
        return [await listed({"unread": True}), await send(to="a")]

    assert there.run(script()) == [[1], "sent"]
    assert [(one["name"], one["args"]) for one in there.said()] == [
        ("mail:list", {"unread": True}),
        ("mail.send", {"to": "a"}),
    ]


def test_what_can_be_called_shows_its_name_and_no_more(there: Guest, mail: Any) -> None:
    shown = [
        (mail.list, "list", "mail.list", "<tool mail:list>"),
        (CallTool(there.bridge), "call_tool", "call_tool", "<function call_tool>"),
        (BlockingFunction(there.bridge, 1, "api.fmt"), "fmt", "api.fmt", "<function global api.fmt>"),
        (AwaitedFunction(there.bridge, 1, "fmt"), "fmt", "fmt", "<async function global fmt>"),
    ]
    for one, name, qualified, text in shown:
        assert (one.__name__, one.__qualname__, one.__doc__, repr(one)) == (name, qualified, None, text)
        assert one.__class__ is object
        for hidden in (
            "__self__",
            "__func__",
            "__globals__",
            "__closure__",
            "__code__",
            "__dict__",
            "bridge",
            "tool",
            "shown",
        ):
            with pytest.raises(AttributeError, match=rf"^{qualified} has no attribute '{hidden}'; call it: "):
                getattr(one, hidden)
            with pytest.raises(AttributeError):
                object.__getattribute__(one, hidden if hidden != "__dict__" else "bridge")
        with pytest.raises(AttributeError, match="cannot be changed"):
            one.cache = {}
        with pytest.raises(AttributeError, match="cannot be changed"):
            del one.cache
        assert (copy.deepcopy(one) is one, copy.copy(one) is one, callable(one)) == (True, True, True)


def test_the_library_knows_what_has_to_be_awaited(there: Guest, mail: Any) -> None:
    calls = (
        mail.list,
        CallTool(there.bridge),
        AwaitedFunction(there.bridge, 1, "f"),
        BlockingFunction(there.bridge, 1, "f"),
    )
    known: Any = asyncio
    assert [known.iscoroutinefunction(one) for one in calls] == [True, True, True, False]


def test_decorators_of_scripts_take_methods(there: Guest, mail: Any) -> None:
    @functools.wraps(mail.list)
    async def retried(**named: Any) -> Any:
        return await mail.list(**named)

    there.answer(1, "ok")
    assert (retried.__name__, there.run(retried())) == ("list", "ok")


@pytest.mark.parametrize("gather", [False, True])
def test_a_method_that_was_not_called_says_how_to_call_it(there: Guest, mail: Any, gather: bool) -> None:
    async def script() -> None:
        await (asyncio.gather(mail.list) if gather else mail.list)

    with pytest.raises(TypeError, match=r"^mail\.list was not called: write await mail\.list\(\.\.\.\)$"):
        there.run(script())


def test_options_come_with_a_mapping_only(there: Guest, mail: Any) -> None:
    """Decision 21."""
    with pytest.raises(
        TypeError, match=r"pass the arguments as one mapping: await mail\.list\(\{\.\.\.\}, throw_on_error=False\)"
    ):
        mail.list(throw_on_error=False)
    with pytest.raises(TypeError, match=r"^mail\.list: pass one mapping or keyword arguments, not both$"):
        mail.list({}, a=1)
    with pytest.raises(TypeError, match=r"^mail\.list: options are keywords, as in throw_on_error=False$"):
        mail.list({}, {"throwOnError": False})
    with pytest.raises(TypeError, match=r"^call_tool: options are keywords"):
        CallTool(there.bridge)("a", {}, {"throwOnError": False})
    with pytest.raises(
        TypeError, match=r'^call_tool takes one object of arguments: call_tool\("a", \{"b": \.\.\.\}\)$'
    ):
        CallTool(there.bridge)("a", b=1)
    with pytest.raises(TypeError, match=r"^call_tool: the option is written throw_on_error=False$"):
        CallTool(there.bridge)("a", {}, throwOnError=False)
    assert (there.said(), there.bridge.unawaited()) == ([], None)


def test_a_call_in_no_known_form_says_the_forms(there: Guest, mail: Any) -> None:
    with pytest.raises(TypeError, match=r'^call_tool takes .*: await call_tool\("name", \{\.\.\.\}\)$'):
        CallTool(there.bridge)()
    with pytest.raises(TypeError, match=r"^mail\.list takes one mapping, or keywords: mail\.list\(\{\.\.\.\}\) or "):
        mail.list(1, 2)


def test_checks_of_kind_answer_instead_of_raising(mail: Any) -> None:
    assert (isinstance(mail, dict), isinstance(mail, Namespace)) == (False, True)
    method: object = mail.list
    assert (callable(method), isinstance(method, collections.abc.Mapping)) == (True, False)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("async def script():\n    call('a', {})", 2),
        ("async def script():\n    list(map(call, 'a', [{}]))", 2),
        ("import asyncio\nasync def script():\n    await asyncio.to_thread(call, 'a', {})", 3),
        ("import asyncio\nasync def script():\n    asyncio.get_running_loop().call_soon(call, 'a', {})\n    await asyncio.sleep(0)", 0),
    ],
)  # fmt: skip
def test_the_line_of_a_call_is_the_scripts_also_when_the_library_calls(there: Guest, source: str, line: int) -> None:
    made: list[Any] = []
    keep = made.append
    # the frame of `kept` is not the script's, so the call site is looked for above it
    call_tool = CallTool(there.bridge)

    def kept(*args: Any) -> None:
        keep(call_tool(*args))

    names: dict[str, Any] = {"call": kept}
    exec(compile(source, FILENAME, "exec"), names)  # the frames of a script
    there.run(names["script"]())
    assert there.bridge.unawaited() == ("a", line)
    for call in made:
        call.close()
