"""Rewritten sources, run by the real engine without a jail: what the tests of rewriting share."""

from __future__ import annotations

import importlib
import json
from typing import Any

from ringfence.enclave.agentscript.rewrite import Counted, rewrite
from ringfence.enclave.agentscript.syntax import parse
from tests.enclave.agentscript.kit import PARSER

QUICKJS: Any = importlib.import_module("_quickjs")

_DRIVER = """
(make, given) => {
  const said = { stopped: null, keys: [], kept: {} };
  const k = {
    stop(isOne, line) { said.stopped ??= [isOne, line]; throw new Error("stopped"); },
    key(given) { const text = typeof given === "number" || typeof given === "symbol" ? given : `${given}`; said.keys.push(String(text)); return text; },
    keep(thunks) { said.thunks = thunks; },
  };
  make(k, ...JSON.parse(given))().then((value) => { said.value = value; }, (error) => { said.error = `${error.name}: ${error.message}`; })
    .then(() => {
      for (const name of Object.keys(said.thunks ?? {})) {
        try { said.kept[name] = said.thunks[name](); } catch { said.kept[name] = "not yet"; }
      }
      delete said.thunks;
      globalThis.outcome = JSON.stringify(said);
    });
}
"""


def run(
    source: str,
    *,
    counted: Counted = "none",
    turns: int = 100,
    guarded: bool = False,
    variables: dict[str, Any] | None = None,
    keep: bool = False,
) -> dict[str, Any]:
    """What a source comes to: `value` or `error`, `stopped`, `keys`, `kept`.

    Raises:
        QUICKJS.JSException: the engine does not take the text.
    """
    given = variables or {}
    made = rewrite(
        parse(source, PARSER), PARSER, counted=counted, turns=turns, guarded=guarded, variables=given, keep=keep
    )
    assert made.text.startswith("((")
    assert len(made.text.splitlines()[0]) >= made.prefix
    context = QUICKJS.Context()
    context.eval(_DRIVER)(context.eval(made.text), json.dumps(list(given.values())))
    while context.execute_pending_job():
        pass
    return json.loads(context.eval("outcome"))


def value(source: str, **options: Any) -> Any:
    """The value that it returns; a failure fails the test."""
    outcome = run(source, **options)
    assert "error" not in outcome, outcome
    return outcome.get("value")
