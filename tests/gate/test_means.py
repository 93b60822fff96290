"""What the calls of one gate share is its own."""

from __future__ import annotations

from ringfence.gate.entries import LiveCall
from ringfence.gate.means import BUDGET, Means
from ringfence.limits import ValueBudget


def silent(call: LiveCall, fraction: float, message: str) -> None: ...


def test_every_gate_has_means_of_its_own() -> None:
    one, other = (
        Means(clock=lambda: 1.0, chance=lambda: 0.5, approval_timeout=None, progress=silent) for _ in range(2)
    )
    assert (one.clock(), one.chance(), one.approval_timeout, one.closing) == (1.0, 0.5, None, False)
    assert one.attempts is not other.attempts
    assert one.threads is not other.threads


def test_arguments_have_the_budget_of_every_value() -> None:
    assert ValueBudget() == BUDGET
