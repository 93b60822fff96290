"""The JavaScript guest: quickjs-ng, inside a process that the kernel has closed. Runs what a model wrote.

`prepare` runs once in the jailed zygote, `serve` in each forked child after its jail is closed (`sandbox.jail`).
The engine's module and the parser's are the only ones outside the standard library, loaded from the files that the host
names. One run per process: read the run frame, look for findings, run the script, send its value or its failure, leave.
What a script may touch is JavaScript (`prelude`); this file only moves text between it and the channel, and no function
of Python can be called from a script, but one, and only where `globals` holds synchronous functions. The engine has no
time limit of its own, which some of its loops would not obey: the kernel's and the host's stay.
"""

from __future__ import annotations

import dataclasses
import gc
import importlib.util
import json
import sys
from collections.abc import Callable, Mapping
from importlib.machinery import ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NoReturn

from ringfence.enclave.agentscript import blame, rewrite, script
from ringfence.enclave.check.findings import Found
from ringfence.enclave.check.known import Known
from ringfence.enclave.engines.guest_rehearsal import rehearsed
from ringfence.enclave.engines.guest_wire import Channel, dumps

CHANNEL: Final = 3
"""Descriptor of the channel in every child (`sandbox.jail.child_unsafe`)."""
PATIENCE: Final = 0.005
"""Seconds for the script of a run that had no waiting child: a busy host sends it after the fork that it asked for."""
STACK: Final = 1 << 20
"""Bytes of the engine's stack."""
SPARE: Final = 16 << 20
"""Bytes of the run's memory that are kept for text on its way to the host; a quarter at most."""
PRELUDE_LINE: Final = 1 << 21
"""First line of the prelude as the engine numbers it: more than a script can have, so that places tell them apart."""
PARTS: Final = tuple(
    "intrinsics values decode kinds layout inspect console world text clone numerals calendar collation query hosts url"
    " bridge main".split()
)
_WATCHED: Final = frozenset({"STRICT", "SECURE"})
"""Levels at which computed keys are looked at while the script runs."""
_NO_MEMORY: Final = '{"t":"failed","kind":"memory","name":"InternalError","message":"out of memory"}'
_ENDED: Final = "end"


_REHEARSED: Final = rehearsed("""
const rows = [{ n: 1, name: "one" }, { n: 2, name: "two" }];
class Kept extends Error {}
async function main({ limit = 2 } = {}) {
  const seen = new Map(rows.map((row) => [row.name, row]));
  let total = 0;
  for (const { n } of await Promise.all(rows.slice(0, limit).map((row) => tools.x({ number: row.n })))) {
    try {
      total += n > 2 ? n : 1;
    } catch (error) {
      if (error instanceof Kept) total = `${error.message}`;
    }
  }
  console.log("total", total);
  return { total, names: [...seen.keys()].sort(), text: JSON.stringify({ total }), at: new Date() };
}
await main()
""")


class _Payloads(Channel):
    """A channel whose frames stay text: what they hold is for the script's side to read."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd)
        self.payloads: list[str] = []

    def hear(self, payload: bytes | bytearray) -> None:
        self.payloads.append(payload.decode())

    def take(self) -> list[str]:
        """Wait for what the host says next, at least one frame."""
        while not self.payloads:
            self.read()
        taken, self.payloads = self.payloads, []
        return taken


class _Machine:
    """The engine with our prelude in it, before a script. Built in the zygote, so that a fork finds it ready."""

    def __init__(self, engine: ModuleType, parser: Any) -> None:
        self.engine: Any = engine
        self.parser = parser
        self.context: Any = self.engine.Context()
        self.context.set_max_stack_size(STACK)
        folder = Path(__file__).parent / "prelude"
        texts = [(folder / f"{part}.js").read_text(encoding="utf-8") for part in PARTS]
        body = "\n".join(texts)
        made = self.context.eval(
            "\n" * PRELUDE_LINE
            + f'(() => {{ "use strict";\n{body}\nreturn [begin, start, drain, hear, rehearse, forget, whereFailed]; }})()'
        )
        pick = self.context.eval("(list, at) => list[at]")
        self.begin, self.start, self.drain, self.hear, self._rehearse, self._forget, self.where = (
            pick(made, at) for at in range(7)
        )

    def rehearse(self) -> None:
        """Read, rewrite and run a small script of our own, so that its memory is this process's before the real one
        comes: a fork shares every page until it is written to.
        """
        text = dumps(_REHEARSED)
        known = Known(namespaces=_REHEARSED["namespaces"], names=())
        admitted = script.admit(_REHEARSED["source"], _REHEARSED["rules"], known, self.parser)
        assert not isinstance(admitted, list)
        made = rewrite.rewrite(admitted, self.parser, counted="bounded", turns=1000, variables=["tools"])
        function = self.context.eval(made.text)
        json.loads(text)
        tools = self._rehearse(text)
        self.start(self.context.eval("(make, tools) => (k) => make(k, tools)")(function, tools), "[]")
        while self.context.execute_pending_job():
            pass
        for frame in self.drain().split("\n")[1:]:
            frame.encode()
        self.hear('[{"t":"ok","id":1,"value":{"n":2}},{"t":"ok","id":2,"value":{"n":3}}]')
        while self.context.execute_pending_job():
            pass
        self.drain()
        self._forget()


_machines: Final[list[_Machine]] = []


def prepare(*, engine: str, parser: str, grammar: str) -> None:
    """Load the engine and the parser from their files, while files can still be opened, and furnish a context.

    Args:
        engine: file of quickjs-ng's compiled module.
        parser: file of tree-sitter's.
        grammar: file of its JavaScript grammar.
    """
    tree_sitter = _load("tree_sitter._binding", parser)
    sys.modules["tree_sitter"] = tree_sitter
    language: Any = _load("tree_sitter_javascript._binding", grammar)
    made: Any = tree_sitter
    _machines.append(_Machine(_load("_quickjs", engine), made.Parser(made.Language(language.language()))))
    gc.freeze()


def _load(name: str, path: str) -> ModuleType:
    loader = ExtensionFileLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def serve(fd: int) -> None:
    """Run one script over the channel `fd`; does not return."""
    channel = _Payloads(fd)
    machine = _machines[0]
    if not channel.has_input(PATIENCE):  # nobody is in a hurry
        machine.rehearse()
    run = _Run(channel, machine)
    channel.queue('{"t":"ready"}')
    channel.flush()
    (text,) = channel.take()
    run.execute(text)


def _finding(one: Found) -> dict[str, Any]:
    return {**dataclasses.asdict(one), "message": one.message[:500], "fix": one.fix[:500]}


def _blocks(node: Mapping[str, Any]) -> bool:
    """Whether a global is, or holds, a function that scripts do not await."""
    if node["k"] == "function":
        return not node["async"]
    return node["k"] != "data" and any(_blocks(part) for part in node["m"].values())


class _Run:
    """One script."""

    def __init__(self, channel: _Payloads, machine: _Machine) -> None:
        self._channel = channel
        self._machine = machine
        self._text = ""
        """What the engine runs."""

    def execute(self, text: str) -> NoReturn:
        request: dict[str, Any] = json.loads(text)
        known = Known(namespaces=request["namespaces"], names=frozenset((*request["globals"], *request["variables"])))
        if request["mode"] == "check":
            self._check(request, known)
        try:
            self._run(text, request, known)
        except MemoryError:
            self._channel.end(_NO_MEMORY)
        except self._machine.engine.StackOverflow as error:
            self._failed("raised", "RangeError", _first_line(error))
        except self._machine.engine.JSException as error:  # outside of any script: the engine itself had no memory
            if "out of memory" in str(error) or str(error).strip() == "null":
                self._channel.end(_NO_MEMORY)
            raise

    def _run(self, text: str, request: dict[str, Any], known: Known) -> NoReturn:
        admitted = script.admit(request["source"], request["rules"], known, self._machine.parser)
        if isinstance(admitted, list):
            self._rejected([self._explained(one, request["source"]) for one in admitted])
        made = rewrite.rewrite(
            admitted,
            self._machine.parser,
            counted=request["counted"],
            turns=request["max_iterations"],
            guarded=request["rules"] in _WATCHED,
            variables=list(request["variables"]),
            keep=request["keep_variables"],
        )
        self._text = made.text
        context = self._machine.context
        try:
            function = context.eval(made.text)
        except self._machine.engine.JSException as error:
            self._rejected([_syntax(str(error), made.prefix)])
        context.set_memory_limit(request["memory"] - min(SPARE, request["memory"] // 4))
        blocking = any(_blocks(node) for node in request["globals"].values())
        self._machine.begin(text, self._exchanger() if blocking else None)
        self._machine.start(function, dumps(list(request["variables"])))
        self._loop(context.execute_pending_job)

    def _loop(self, work: Callable[[], bool]) -> NoReturn:
        """Run the script's jobs, then say and hear what there is, until it has ended."""
        drain, hear, channel = self._machine.drain, self._machine.hear, self._channel
        while True:
            while work():
                pass
            head, *frames = drain().split("\n")
            if head == _ENDED:
                last = self._named(frames.pop())
                self._queue(frames)
                channel.end(last)
            self._queue(frames)
            channel.flush()
            hear(f"[{','.join(channel.take())}]")

    def _named(self, last: str) -> str:
        """The last frame, with the name of what was no function where the engine leaves it out."""
        if not last.startswith('{"t":"failed"') or not any(f'"message":"{text}"' in last for text in blame.NAMELESS):
            return last
        line, _, column = self._machine.where().partition(":")
        name = blame.callee(self._text, int(line), int(column), self._machine.parser) if line else None
        if name is None:
            return last
        frame: dict[str, Any] = json.loads(last)
        said = frame["message"]
        frame["message"] = f"{name} is {said}"
        if "trace" in frame:
            frame["trace"] = frame["trace"].replace(said, frame["message"], 1)
        return dumps(frame)

    def _queue(self, frames: list[str]) -> None:
        for frame in frames:
            self._channel.queue(frame)

    def _exchanger(self) -> Any:
        """The one function of ours in a context: sends frames, and gives the answers up to that of the last one."""

        def exchange(text: str) -> str:
            frames = text.split("\n")
            wanted = json.loads(frames[-1])["id"]
            self._queue(frames)
            self._channel.flush()
            heard: list[str] = []
            while True:
                new = self._channel.take()
                heard += new
                if any(json.loads(one)["id"] == wanted for one in new):
                    return f"[{','.join(heard)}]"

        context = self._machine.context
        context.add_callable(".exchange", exchange)
        return context.eval('((made) => (delete globalThis[".exchange"], made))(globalThis[".exchange"])')

    def _check(self, request: dict[str, Any], known: Known) -> NoReturn:
        found = script.report(request["source"], request["rules"], known, self._machine.parser, self._complaints)
        reach = [dataclasses.asdict(one) for one in found.reach]
        self._channel.end(
            dumps({"t": "checked", "findings": [_finding(one) for one in found.findings], "reach": reach})
        )

    def _complaints(self, admitted: Any) -> Found | None:
        """What the engine says of a script that the parser takes."""
        made = rewrite.rewrite(admitted, self._machine.parser)
        try:
            self._machine.context.eval(made.text)
        except self._machine.engine.JSException as error:
            return _syntax(str(error), made.prefix)
        return None

    def _explained(self, found: Found, source: str) -> Found:
        """What the parser does not take, in the words of the engine, which knows better what it expected."""
        if found.code != "SYNTAX":
            return found
        head = "async () => {'use strict';"
        ours = source.count("\n") + 3  # the line of a sign that no script has, so that nothing of this text ever runs
        try:
            self._machine.context.eval(f"({head}{source}\n}})\n@")
        except self._machine.engine.JSException as error:
            said = _syntax(str(error), len(head) + 1)
            last = source.rstrip().count("\n") + 1
            if said.line >= ours:
                return found
            return said if said.line <= last else _unclosed(found, last)
        return found

    def _rejected(self, found: list[Found]) -> NoReturn:
        findings = [_finding(one) for one in found]
        first = findings[0]
        self._failed("rejected", "ScriptRejected", first["message"], line=first["line"], findings=findings)

    def _failed(self, kind: str, name: str, message: str, **more: Any) -> NoReturn:
        self._channel.end(dumps({"t": "failed", "kind": kind, "name": name, "message": message[:4000], **more}))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].partition(": ")[2]


def _unclosed(found: Found, last: int) -> Found:
    """What the engine met beyond the source, in what we put around it: the source does not close what it opens."""
    named = found.message.startswith("missing ")
    return dataclasses.replace(
        found,
        line=last,
        column=found.column if found.line == last else 1,
        message=found.message if named else "the script ends inside of something that it opens",
        fix="close every (, [ and { that is open",
    )


def _syntax(text: str, prefix: int) -> Found:
    """The engine's own complaint as a finding."""
    message, _, place = text.partition("\n")
    line, column = 1, 1
    if "<input>:" in place:
        numbers = place.partition("<input>:")[2].rstrip(")\n ").partition("\n")[0].split(":")
        line, column = int(numbers[0]), int(numbers[1].rstrip(")"))
    if line == 1:
        column = max(1, column - prefix)
    return Found(
        code="SYNTAX",
        line=line,
        column=column,
        message=message.partition(": ")[2] or message,
        fix="correct the syntax on this line",
    )
