"""The names of the rules are those of the engine and of the grammar."""

from __future__ import annotations

import itertools
from typing import Any

import _quickjs
import tree_sitter
import tree_sitter_javascript

from ringfence.enclave.agentscript import vocabulary
from tests.architecture.source import PACKAGE, ROOT


def guest_globals() -> set[str]:
    """Names that a script finds, as the driver furnishes its context."""
    from ringfence.enclave.engines import javascript_unsafe

    folder = ROOT / "src" / PACKAGE / "enclave" / "engines" / "prelude"
    texts = [(folder / f"{part}.js").read_text(encoding="utf-8") for part in javascript_unsafe.PARTS]
    engine: Any = _quickjs
    context = engine.Context()
    context.eval('(() => { "use strict";\n' + "\n".join(texts) + "\n})()")
    return set(context.eval("Object.getOwnPropertyNames(globalThis).join(' ')").split())


def test_names_of_the_guest_are_those_that_scripts_find() -> None:
    there = guest_globals() - {"undefined"} - vocabulary.GUEST  # `undefined` is a literal to the grammar
    assert sorted(there) == sorted(vocabulary.ALL_NAMES - vocabulary.GUEST)


def test_every_kind_of_node_is_known_or_meant_to_be_refused() -> None:
    language = tree_sitter.Language(tree_sitter_javascript.language())
    kinds = {
        language.node_kind_for_id(at)
        for at in range(language.node_kind_count)
        if language.node_kind_is_named(at) and language.node_kind_is_visible(at)
    }
    foreign = {kind for kind in kinds if kind is not None and kind.startswith("jsx_")}
    left_out = {"comment", "html_comment", "hash_bang_line", "html_character_reference"}
    refused = {"decorator", "using_declaration"}
    assert kinds - foreign - left_out - refused == vocabulary.KNOWN_KINDS - {"ERROR"}


def test_what_is_disallowed_is_no_narrower_at_a_tighter_level() -> None:
    levels = list(vocabulary.DISALLOWED.values())
    assert all(wide <= tight for tight, wide in itertools.pairwise(levels))


def test_a_fix_belongs_to_a_name_that_something_is_said_about() -> None:
    refused = vocabulary.DISALLOWED["STRICT"] | vocabulary.CODE
    assert {name for name in vocabulary.STRICT_FIXES if name not in refused} <= vocabulary.ALL_NAMES
    assert not set(vocabulary.FIXES) & vocabulary.STRICT_NAMES
