"""Random schemas of every kind, random values: nothing breaks, and nothing runs that does not fit.

Some hundred schemas run with the suite; `RINGFENCE_FUZZ=1` means all of them (some minutes, longer than pytest's own
alarm: `-o faulthandler_timeout=7200`), a larger number how many, and `RINGFENCE_FUZZ_SEED` where to begin. Every schema
gets several values, through a boundary's own door.
"""

from __future__ import annotations

import asyncio
import os
import random
from typing import Any, Final, cast

import jsonschema_rs
import pytest

import ringfence as rf
from ringfence.enclave.stubs import describe_python
from tests.contract.shapes import CANARY, KINDS, Fields, anything, fields, near, wild

ALL: Final = 100_000
_ASKED: Final = int(os.environ.get("RINGFENCE_FUZZ", "600"))
SCHEMAS: Final = ALL if _ASKED == 1 else _ASKED
SEED: Final = int(os.environ.get("RINGFENCE_FUZZ_SEED", "7"))
BATCH: Final = 50
"""Tools in one boundary."""


class Ran:
    """A tool's function that remembers what it was called with."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    async def __call__(self, value: Any) -> None:
        self.values.append(value)


def check_shown(outcome: rf.Outcome, context: object) -> None:
    """A refusal is of the arguments, bounded, and without any of them."""
    assert outcome.error is not None, context
    assert outcome.error.code == "invalid_input", (outcome, context)
    assert outcome.error.issues, context
    said = "".join(issue["message"] for issue in outcome.error.issues)
    assert CANARY not in said, (said, context)
    assert len(said) < 15_000, context


async def judged(
    tools: list[rf.Tool[..., Any]], values: dict[str, list[Any]], ran: dict[str, Ran]
) -> dict[str, list[bool]]:
    """Which values of each tool ran. Every other one was refused properly, and did not run."""
    answers: dict[str, list[bool]] = {}
    async with rf.Boundary(tools=tools, sandbox=rf.local(unsafe=True)) as boundary:
        for one in tools:
            for value in values[one.name]:
                before = len(ran[one.name].values)
                outcome = await boundary.call(one.name, value)
                did_run = len(ran[one.name].values) - before
                assert did_run == (outcome.status == "succeeded"), (one.input.json_schema(), value, outcome)
                if not did_run:
                    check_shown(outcome, (one.input.json_schema(), value))
                answers.setdefault(one.name, []).append(bool(did_run))
    return answers


def plain(value: Any) -> Any:
    """A validated value as what was sent: a mapping of what is set."""
    if isinstance(value, dict):
        return cast("dict[str, Any]", value)
    of_struct: tuple[str, ...] = getattr(value, "__struct_fields__", ())
    names: list[str] = [*of_struct] or [*vars(value)]
    return {name: getattr(value, name) for name in names}


def registered(name: str, schema: Any, execute: Ran) -> rf.Tool[..., Any] | None:
    """The tool; None, when its schema was refused as such."""
    try:
        return rf.Tool(name, "A tool.", schema, execute)
    except rf.ConfigError as error:
        if error.code == "bad_schema":
            return None
        raise


def batches(count: int) -> list[int]:
    return [min(BATCH, count - start) for start in range(0, count, BATCH)]


@pytest.mark.slow
def test_fuzz_a_value_runs_exactly_when_it_fits_whatever_kind_of_schema_says_so() -> None:
    rng = random.Random(SEED)
    for size in batches(SCHEMAS // 2):
        tools: list[rf.Tool[..., Any]] = []
        shapes: dict[str, Fields] = {}
        values: dict[str, list[Any]] = {}
        ran: dict[str, Ran] = {}
        for at in range(size):
            name = f"t{at}"
            shapes[name] = of = fields(rng)
            fine = of.make(rng)
            values[name] = [fine, near(rng, fine), near(rng, fine), anything(rng, 2)]
            ran[name] = Ran()
            tools.append(rf.Tool(name, "A tool.", rng.choice(KINDS)(of), ran[name]))
        answers = asyncio.run(judged(tools, values, ran))
        for name, of in shapes.items():
            expected = [of.fits(value) for value in values[name]]
            assert answers[name] == expected, (of.schema, values[name], tools[int(name[1:])].input)
            fitting = [value for value in values[name] if of.fits(value)]
            for sent, got in zip(fitting, map(plain, ran[name].values), strict=True):
                assert {key: got[key] for key in sent} == sent
        compile(describe_python(tools), "stubs", "exec")


@pytest.mark.slow
def test_fuzz_any_json_schema_is_enforced_as_it_is_published_or_refused_as_a_schema() -> None:
    rng = random.Random(SEED)
    kept = 0
    for size in batches(SCHEMAS // 2):
        tools: list[rf.Tool[..., Any]] = []
        values: dict[str, list[Any]] = {}
        ran: dict[str, Ran] = {}
        for at in range(size):
            name, schema = f"t{at}", wild(rng)
            ran[name] = Ran()
            values[name] = [{key: anything(rng, 2) for key in rng.sample(("a", "b", "note", "x1"), 2)}, {}]
            made = registered(name, schema, ran[name])
            tools += [made] if made else []
        kept += len(tools)
        answers = asyncio.run(judged(tools, values, ran))
        for one in tools:
            both = [
                jsonschema_rs.validator_for(one.input.json_schema(target), validate_formats=True, offline=True)
                for target in ("2020-12", "draft-07")
            ]
            for validator in both:
                published = [validator.is_valid(value) for value in values[one.name]]
                assert answers[one.name] == published, (one.input.json_schema(), values[one.name])
        if tools:
            compile(describe_python(tools), "stubs", "exec")
    assert kept > SCHEMAS // 20
