"""The prelude's value table in this process: what it makes of what a script's function returns, and of JSON text."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.enclave.engines.prelude import world

TAIL = """
const DEFAULTS = { __proto__: null, size: 5242880, nodes: 1000000, depth: 64, members: null, tags: MOST_TAGGED,
  tagNodes: 1000000, anyKeys: false };
globalThis.outcome = (value, options) => {
  try {
    const made = encode(value, { ...DEFAULTS, __proto__: null, ...options });
    return stringify({ __proto__: null, ...made, size: sizeOfEncoded(made), nodes, tagged: tags, tagNodes });
  } catch (error) {
    if (!(error instanceof NotData)) throw error;
    const { path, reason, large, excess } = error;
    return stringify({ __proto__: null, path, reason, large, excess });
  }
};
globalThis.encodeAgain = (value) => encode(value, DEFAULTS).text;
globalThis.received = (text, tags) => {
  const value = parseAnswer(text);
  return tags === undefined ? value : decode(value, parseAnswer(tags));
};
globalThis.frozen = (text) => deepFreeze(parseAnswer(text));
"""


def outcome(source: str, context: Any = None, **options: Any) -> dict[str, Any]:
    """What `encode` makes of what a function's body returns: text, tags and counts, or place and reason."""
    made = context or world(TAIL)
    made.set_memory_limit(256 << 20)
    text: str = made.eval(f"outcome((() => {{ {source} }})(), {json.dumps(options)})")
    return json.loads(text)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=3), inner, max_size=5),
    max_leaves=20,
)
