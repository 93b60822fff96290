"""The pages made from the source are current."""

from __future__ import annotations

from scripts.write_docs import pages


def test_generated_pages_are_what_the_source_says() -> None:
    stale = [path.name for path, text in pages().items() if path.read_text(encoding="utf-8") != text]
    assert not stale, f"{stale} differ from the source; fix: make docs"
