"""The scripts that `bench_guest` and `bench_compute` run in the jail, once in each language, where they say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """The scripts that are measured, in one language. They say the same."""

    name: str
    title: str
    started: str
    """Calls `mark` first."""
    alternate: str
    thousand: str
    gathered: str
    large: str
    timed: str
    """Body of a script that gives the seconds of `{work}`."""
    work: dict[str, str]
    """What is computed, by what it is; statements of a function's body."""


PYTHON: Final = Language(
    name="python",
    title="Python",
    started="mark()",
    alternate="""
import time
ours, bare = [], []
for _ in range(inputs["blocks"]):
    begin = time.perf_counter()
    for i in range(inputs["block"]):
        await tools.echo(number=i)
    ours.append((time.perf_counter() - begin) / inputs["block"])
    bare.append(await tools.bare_echo())
return [ours, bare]
""",
    thousand="""
import time
begin = time.perf_counter()
for i in range(1000):
    await tools.echo(number=i)
return time.perf_counter() - begin
""",
    gathered="""
import asyncio, time
begin = time.perf_counter()
await asyncio.gather(*[tools.wait(seconds=0.1) for _ in range(1000)])
return time.perf_counter() - begin
""",
    large="""
import time
begin = time.perf_counter()
rows = await tools.rows()
return [time.perf_counter() - begin, len(rows)]
""",
    timed="""
import time
def work():
{work}
begin = time.perf_counter()
work()
return time.perf_counter() - begin
""",
    work={
        "10,000 rows grouped, sorted, as JSON": """
    import json
    rows = [{"id": i, "group": f"group {i % 97}", "total": i * 7919 % 10007 / 4} for i in range(10_000)]
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    best = []
    for name, members in groups.items():
        members.sort(key=lambda row: (-row["total"], row["id"]))
        best.append({"name": name, "first": members[0]["id"], "sum": sum(row["total"] for row in members)})
    text = json.dumps([rows, best])
    return len(json.loads(text)[1])
""",
        "a million turns of a loop": """
    total = 0
    for i in range(1_000):
        for k in range(1_000):
            total += i ^ k
    return total
""",
    },
)
JAVASCRIPT: Final = Language(
    name="javascript",
    title="JavaScript",
    started="mark()",
    alternate="""
const ours = [], bare = [];
for (let n = 0; n < inputs.blocks; n++) {
  const begin = performance.now();
  for (let i = 0; i < inputs.block; i++) await tools.echo({ number: i });
  ours.push((performance.now() - begin) / 1000 / inputs.block);
  bare.push(await tools.bare_echo());
}
return [ours, bare];
""",
    thousand="""
const begin = performance.now();
for (let i = 0; i < 1000; i++) await tools.echo({ number: i });
return (performance.now() - begin) / 1000;
""",
    gathered="""
const begin = performance.now();
await Promise.all(Array.from({ length: 1000 }, () => tools.wait({ seconds: 0.1 })));
return (performance.now() - begin) / 1000;
""",
    large="""
const begin = performance.now();
const rows = await tools.rows();
return [(performance.now() - begin) / 1000, rows.length];
""",
    timed="""
function work() {
{work}
}
const begin = performance.now();
work();
return (performance.now() - begin) / 1000;
""",
    work={
        "10,000 rows grouped, sorted, as JSON": """
  const rows = [];
  for (let i = 0; i < 10_000; i++) rows.push({ id: i, group: `group ${i % 97}`, total: ((i * 7919) % 10007) / 4 });
  const groups = new Map();
  for (const row of rows) {
    if (!groups.has(row.group)) groups.set(row.group, []);
    groups.get(row.group).push(row);
  }
  const best = [];
  for (const [name, members] of groups) {
    members.sort((one, other) => other.total - one.total || one.id - other.id);
    best.push({ name, first: members[0].id, sum: members.reduce((sum, row) => sum + row.total, 0) });
  }
  const text = JSON.stringify([rows, best]);
  return JSON.parse(text)[1].length;
""",
        "a million turns of a loop": """
  let total = 0;
  for (let i = 0; i < 1_000; i++) {
    for (let k = 0; k < 1_000; k++) total += i ^ k;
  }
  return total;
""",
    },
)
LANGUAGES: Final = (PYTHON, JAVASCRIPT)
