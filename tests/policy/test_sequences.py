"""What the five detectors see, by each of the two judges, to the edge of their windows."""

from __future__ import annotations

import pytest

from ringfence.policy import sequences
from ringfence.policy.screen import Declared
from ringfence.policy.sequences import DECLARED, IDS, NAMED, NONE, PATTERNS, Memory, by_declaration, by_name
from tests.policy.kit import Run


def seen(memory: Memory, name: str, now: float, **arguments: object) -> list[tuple[str, int]]:
    traits = by_name(name)
    return [(pattern.id, evidence) for pattern, evidence in memory.seen(name, traits, arguments, now)]


def memory_of(*calls: tuple[str, float]) -> Memory:
    memory = Memory(30, {}, own=True)
    for name, at in calls:
        memory.note(name, by_name(name), at)
    return memory


def test_the_table_is_that_of_the_catalogue() -> None:
    assert IDS == (
        "EXFIL_LIST_SEND",
        "RAPID_ENUMERATION",
        "CREDENTIAL_EXFIL",
        "BULK_OPERATION",
        "DELETE_AFTER_ACCESS",
    )
    assert [pattern.window for pattern in PATTERNS] == [5.0, 5.0, 10.0, 0.0, 30.0]
    assert all(pattern.description and pattern.by_names and pattern.by_declarations for pattern in PATTERNS)


@pytest.mark.parametrize(
    ("first", "then", "pattern", "window"),
    [
        ("mail.list", "mail.send", "EXFIL_LIST_SEND", 5.0),
        ("users:get", "files:upload", "EXFIL_LIST_SEND", 5.0),
        ("fetchRows", "webhook_post", "EXFIL_LIST_SEND", 5.0),
        ("secret.open", "http.request", "CREDENTIAL_EXFIL", 10.0),
        ("vault.passwords", "slack.tell", "CREDENTIAL_EXFIL", 10.0),
        ("api_key.rotate", "sms:now", "CREDENTIAL_EXFIL", 10.0),
        ("users:get", "users:delete", "DELETE_AFTER_ACCESS", 30.0),
        ("search", "cache.wipe", "DELETE_AFTER_ACCESS", 30.0),
    ],
)
def test_a_pair_is_seen_within_the_whole_window_and_in_that_order(
    first: str, then: str, pattern: str, window: float
) -> None:
    memory = memory_of((first, 100.0))
    assert seen(memory, then, 100.0) == [(pattern, NAMED)]
    assert seen(memory, then, 100.0 + window - 0.001) == [(pattern, NAMED)]
    assert seen(memory, then, 100.0 + window) == []
    assert seen(memory_of((then, 100.0)), first, 100.0) == []


def test_calls_between_the_two_change_nothing() -> None:
    memory = memory_of(("users:list", 100.0), *((f"sum{'x' * at}", 101.0) for at in range(200)))
    assert seen(memory, "mail.send", 104.0) == [("EXFIL_LIST_SEND", NAMED)]


def test_one_call_is_no_pair() -> None:
    assert seen(memory_of(), "fetch_and_send", 1.0) == []
    assert seen(memory_of(), "get_token_by_http", 1.0) == []


def test_words_that_only_look_alike_are_no_pair() -> None:
    memory = memory_of(("users:list", 100.0))
    assert seen(memory, "posts:list", 101.0) == []
    assert seen(memory_of(("widget:update", 100.0)), "mail.send", 101.0) == []
    assert seen(memory_of(("author.name", 100.0)), "http.request", 101.0) == []


def test_the_name_of_a_key_is_no_interface() -> None:
    assert seen(memory_of(("api_key:open", 100.0)), "api_key:open", 101.0) == []


def test_enumeration_begins_with_the_call_after_the_threshold() -> None:
    memory = memory_of(*(("users:load", 100.0 + at / 10) for at in range(30)))
    assert seen(memory, "users:load", 103.0) == []
    memory.note("users:load", by_name("users:load"), 103.0)
    assert seen(memory, "users:load", 103.1) == [("RAPID_ENUMERATION", NAMED)]
    assert seen(memory, "users:save", 103.1) == []
    assert seen(memory, "users:load", 105.0) == []


def test_thresholds_may_differ_by_name() -> None:
    memory = Memory(1, {"slow": 0, "fast": 3}, own=True)
    for name in ("slow", "fast", "fast", "fast", "other", "other"):
        memory.note(name, by_name(name), 1.0)
    assert [seen(memory, name, 1.0) for name in ("slow", "fast", "other")] == [
        [("RAPID_ENUMERATION", NAMED)],
        [],
        [("RAPID_ENUMERATION", NAMED)],
    ]


@pytest.mark.parametrize("name", ["bulk:x", "bulk_export", "export_all", "exportAll", "massMail", "db.dump", "batch-9"])
def test_a_name_may_say_that_it_is_about_everything(name: str) -> None:
    assert seen(memory_of(), name, 1.0) == [("BULK_OPERATION", NAMED)]


@pytest.mark.parametrize("name", ["install", "updateAll", "all", "export", "massage", "bulky", "dumps"])
def test_other_names_do_not(name: str) -> None:
    assert seen(memory_of(), name, 1.0) == []


def test_arguments_may_say_so_too() -> None:
    assert seen(memory_of(), "rows", 1.0, limit=10_000) == [("BULK_OPERATION", NAMED)]
    assert seen(memory_of(), "rows", 1.0, limit=10, id=12_345) == []


def test_one_call_may_complete_several_patterns() -> None:
    memory = memory_of(("secrets:list", 100.0))
    assert seen(memory, "email_send_batch_and_purge", 101.0) == [
        ("EXFIL_LIST_SEND", NAMED),
        ("CREDENTIAL_EXFIL", NAMED),
        ("BULK_OPERATION", NAMED),
        ("DELETE_AFTER_ACCESS", NAMED),
    ]


# declarations


def test_a_declared_effect_silences_the_name() -> None:
    assert by_declaration("send_everything_bulk", "read", ()) == by_declaration("x", "read", ())
    assert by_declaration("list_tokens", "write", ()).reads == NONE
    assert by_declaration("list_tokens", "write", ()).sends == DECLARED


def test_a_tool_without_an_effect_is_what_its_name_suggests() -> None:
    assert by_declaration("list_tokens", None, ()) == by_name("list_tokens")


def test_tags_are_the_authors_word_whatever_the_effect() -> None:
    traits = by_declaration("x", None, ("secret", "network", "destructive", "bulk"))
    assert (traits.credentials, traits.outside, traits.deletes, traits.bulk) == (DECLARED,) * 4
    assert (traits.reads, traits.sends) == (NONE, NONE)


TOOLS = {
    "look": Declared(effect="read"),
    "peek": Declared(effect="read"),
    "put": Declared(effect="write"),
    "read_and_put": Declared(effect="write"),
    "drop": Declared(effect="write", tags=("destructive",)),
    "vault": Declared(effect="read", tags=("secret",)),
    "web": Declared(effect="read", tags=("network",)),
    "everything": Declared(effect="read", tags=("bulk",)),
    "get_token": Declared(effect=None),
    "send_email": Declared(effect=None),
}


@pytest.mark.parametrize(
    ("names", "outcomes", "flags"),
    [
        (("look", "put"), ["allow", "allow"], ("EXFIL_LIST_SEND",)),
        (("look", "peek"), ["allow", "allow"], ()),
        (("put", "look"), ["allow", "allow"], ()),
        (("look", "drop"), ["allow", "allow"], ("EXFIL_LIST_SEND", "DELETE_AFTER_ACCESS")),
        (("vault", "web"), ["allow", "suspicious_sequence"], ("CREDENTIAL_EXFIL",)),
        (("web", "vault"), ["allow", "allow"], ()),
        (("get_token", "send_email"), ["allow", "allow"], ("EXFIL_LIST_SEND", "CREDENTIAL_EXFIL")),
        (("vault", "send_email"), ["allow", "allow"], ("EXFIL_LIST_SEND", "CREDENTIAL_EXFIL")),
        (("look", "everything"), ["allow", "allow"], ("BULK_OPERATION",)),
        (("look", "unheard_of_send"), ["allow", "allow"], ()),
    ],
)
def test_governed_tools_are_flagged_and_only_tagged_credentials_refused(
    names: tuple[str, ...], outcomes: list[str], flags: tuple[str, ...]
) -> None:
    run = Run(TOOLS)
    last = [run.call(name) for name in names]
    assert [one.error.code if one.error else one.action for one in last] == outcomes
    assert last[-1].flags == flags


def test_writing_by_the_tool_that_read_is_no_sequence() -> None:
    tools = {
        "sheet": Declared(effect=None),
        "other_list": Declared(effect="read"),
        "get_and_send": Declared(effect=None),
    }
    run = Run(tools)
    assert run.call("get_and_send").flags == ()
    assert run.call("get_and_send", after=1.0).flags == ()
    assert run.call("other_list", after=1.0).flags == ()
    assert run.call("get_and_send", after=1.0).flags == ("EXFIL_LIST_SEND",)
    assert run.call("get_and_send", after=1.0).flags == ("EXFIL_LIST_SEND",)
    assert run.call("get_and_send", after=3.5).flags == ()


def test_by_names_it_is_one() -> None:
    assert Run().calls("get_and_send", "get_and_send") == ["allow", "suspicious_sequence"]


def test_what_no_tool_is_called_is_nothing() -> None:
    assert set(vars_of(sequences.NOTHING)) == {NONE}


def vars_of(traits: sequences.Traits) -> list[int]:
    return [getattr(traits, name) for name in traits.__slots__]
