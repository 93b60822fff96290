"""The run frame of a rehearsal: what the host could have sent, before it has sent anything.

Runs inside the jail, standard library only. A waiting child runs a small script of ours, so that its memory is its own
before the real one comes; all that the frame sets is set again by the real one. Both engines rehearse with it.
"""

from __future__ import annotations

from typing import Any


def rehearsed(source: str) -> dict[str, Any]:
    """The frame for one source."""
    return {
        "t": "run",
        "source": source,
        "mode": "run",
        "rules": "STANDARD",
        "counted": "none",
        "namespaces": {"tools": {"x": "x"}},
        "globals": {},
        "inputs": {},
        "inputs_tags": None,
        "variables": {},
        "variables_tags": None,
        "clock": 0,
        "frozen": False,
        "seed": "0",
        "max_value": 1 << 20,
        "max_nodes": 1 << 20,
        "max_depth": 100,
        "max_members": None,
        "max_iterations": 1000,
        "max_output": 1 << 20,
        "traces": True,
        "keep_variables": False,
    }
