"""Frames between the host and one jailed guest: their shapes, their limits, and how hostile bytes become values.

Every frame is four bytes of length (big-endian) and JSON text. The guest owns its process and may write anything, so
the host checks size before parsing, shape while parsing (typed, unknown fields refused), and order after it (call ids
count up from 1). Pure: knows neither sockets nor tools. `enclave.channel` drives it; `engines.python_unsafe` speaks
the other side with the standard library only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

import msgspec

from ringfence.errors import CODES, ErrorInfo
from ringfence.limits import KIB, RunLimits, ValueBudget

HEADER: Final = 4
ENVELOPE: Final = 64 * KIB
"""Bytes a frame may need around the one value it carries."""
MAX_CALL_NAME: Final = 256

_Name = Annotated[str, msgspec.Meta(max_length=MAX_CALL_NAME)]
_Short = Annotated[str, msgspec.Meta(max_length=512)]
_Text = Annotated[str, msgspec.Meta(max_length=8 * KIB)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_Line = Annotated[int, msgspec.Meta(ge=0, le=2**31)]

Kind = Literal["datetime", "date", "time", "timedelta", "decimal", "uuid", "bytes"]
"""Values that JSON lacks and that are restored where the language has them."""


class Frame(msgspec.Struct, tag_field="t", forbid_unknown_fields=True, frozen=True):
    """What a guest may say."""


class Ready(Frame, tag="ready", frozen=True):
    """The jail is closed; the child waits for a script."""


Tags = dict[Kind, list[list[str | int]]]
"""Which texts of a JSON value stand for values that JSON lacks: kind to paths (keys and positions) from the root.

The value itself stays plain JSON, so that digests, contracts and journals see no wrapping, and a language without the
kind keeps the text (decision on the value table; `enclave.table` holds the kinds).
"""


NOTHING: Final = msgspec.Raw(b"")
"""A part that is not there. (A union of Raw and None would take `null` only.)"""


class _Position(Frame, frozen=True):
    """What every call says of its place in the script."""

    id: _Count
    """Counts up from 1 over calls of both kinds."""
    line: _Line
    site: _Short
    task: _Short
    seq: _Count
    args: msgspec.Raw
    """Stays unparsed until its budget is checked."""
    tags: msgspec.Raw = NOTHING
    """`Tags`, unparsed as well."""
    fault: _Short | None = None
    """Set when the script's arguments were not data: the call is refused, and counts."""


class Call(_Position, tag="call", kw_only=True, frozen=True):
    """A tool call; `args` is an object."""

    name: _Name


class GlobalCall(_Position, tag="global", kw_only=True, frozen=True):
    """A call of a function in `globals`; `args` is `[positional, named]`, a list and an object."""

    function: _Count
    """Number in `RunRequest.globals`."""


class Print(Frame, tag="print", frozen=True):
    """Printed text."""

    text: str


class Done(Frame, tag="done", frozen=True):
    """The script ended with a value."""

    value: msgspec.Raw
    tags: msgspec.Raw = NOTHING
    """`Tags`, unparsed like all of this."""
    variables: msgspec.Raw = NOTHING
    """The script's own top-level names whose values are data, as an object, when the host asked to keep them."""
    variable_tags: msgspec.Raw = NOTHING
    unkept: Annotated[tuple[_Short, ...], msgspec.Meta(max_length=500)] = ()
    """Top-level names whose values are no data, or too much of it."""


class Finding(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Something in the source that cannot work or may not run here, found before any tool ran."""

    code: _Short
    line: _Line
    column: _Line
    message: _Text
    fix: _Text
    severity: Literal["error", "warning"] = "error"
    """A script with an error is refused; a warning refuses nothing."""


class Site(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """One place in the source that calls a tool."""

    tool: _Name | None
    """None where the name is made at run time."""
    line: _Line
    column: _Line
    loops: _Count
    """Loops around it, comprehensions included."""
    arguments: msgspec.Raw
    """Object of the arguments that are constants in the source."""
    dynamic: tuple[_Short, ...] = ()
    """Names of the other arguments; `*` where even the names are made at run time."""


class Checked(Frame, tag="checked", frozen=True):
    """What there is to say about a source that was not run."""

    findings: tuple[Finding, ...]
    reach: tuple[Site, ...]


FailureKind = Literal[
    "raised", "rejected", "memory", "unawaited", "value", "large", "deadlock", "iterations", "violation"
]


class Failed(Frame, tag="failed", frozen=True):
    """The script ended without a value. Everything here is the guest's word, except what the host can look up."""

    kind: FailureKind
    name: _Short
    message: _Text
    line: _Line | None = None
    trace: _Text = ""
    call: _Count | None = None
    """Id of the call whose failure the script did not catch; the host uses its own record of that call."""
    findings: tuple[Finding, ...] = ()


GuestFrame = Ready | Call | GlobalCall | Print | Done | Failed | Checked

Raw = msgspec.Raw
"""JSON text inside a frame, not parsed yet."""

_decoder: Final = msgspec.json.Decoder(GuestFrame)
_tags: Final = msgspec.json.Decoder(Tags | None)


class WireViolation(Exception):
    """The guest broke the protocol. The text never holds what the guest sent."""


class FrameReader:
    """Cuts a byte stream into frames, with the size checked as soon as the header is there."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()

    @property
    def buffered(self) -> int:
        """Bytes of a frame that is not complete yet."""
        return len(self._buffer)

    def feed(self, data: bytes | memoryview) -> Iterator[bytes | memoryview]:
        """Complete payloads, valid until the next one is asked for. Holds less than one frame's limit beyond `data`.

        Raises:
            WireViolation: a frame is announced that is larger than the limit.
        """
        if self._buffer:
            self._buffer += data
            stream = memoryview(bytes(self._buffer)) if self._complete() else None
            if stream is None:
                return
            self._buffer.clear()
        else:
            stream = memoryview(data)
        at = 0
        while (size := self._size(stream, at)) is not None and len(stream) - at - HEADER >= size:
            at += HEADER + size
            yield stream[at - size : at]
        self._buffer += stream[at:]

    def _size(self, stream: memoryview | bytearray, at: int) -> int | None:
        """Announced size of the frame at `at`; None when its header is not complete."""
        if len(stream) - at < HEADER:
            return None
        size = int.from_bytes(stream[at : at + HEADER], "big")
        if size > self._limit:
            raise WireViolation(f"a frame of {size} bytes, more than {self._limit}")
        return size

    def _complete(self) -> bool:
        """Whether the first frame of the buffer is there; large frames arrive in many pieces."""
        size = self._size(self._buffer, 0)
        return size is not None and len(self._buffer) - HEADER >= size


def decode(payload: bytes | memoryview) -> GuestFrame:
    """A frame that a guest sent.

    Raises:
        WireViolation: not JSON, an unknown kind, a missing, wrong or extra field.
    """
    try:
        return _decoder.decode(payload)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise WireViolation(f"not a frame ({type(error).__name__})") from None


def decode_tags(data: bytes) -> Tags | None:
    """Tags that a guest sent; None for none. Their size and number have been checked.

    Raises:
        WireViolation: they are none.
    """
    try:
        return _tags.decode(data) or None
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise WireViolation(f"not tags ({type(error).__name__})") from None


def frame(payload: bytes) -> bytes:
    """Payload with its header."""
    return len(payload).to_bytes(HEADER, "big") + payload


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What a guest is told about its run."""

    run_id: str
    source: str
    inputs: bytes
    """JSON object."""
    namespaces: Mapping[str, Mapping[str, str]]
    """Namespace to method to tool name."""
    effects: Mapping[str, str | None]
    """Tool name to declared effect."""
    clock: int
    """Nanoseconds since the epoch when the run began: the guest's clock starts here."""
    seed: str
    """Hexadecimal seed of the guest's randomness and ids."""
    mode: Literal["run", "check"] = "run"
    """`check`: answer with a `Checked` frame and run nothing."""
    rules: str = "off"
    """The security level whose rules the source is held to before it runs; `off` for syntax alone."""
    inputs_tags: Tags | None = None
    globals: bytes = b"{}"
    """JSON object of name to node (`enclave.globals`)."""
    variables: bytes = b"{}"
    """JSON object: top-level names that the script finds."""
    variables_tags: Tags | None = None
    keep_variables: bool = False
    """Send the script's top-level data back with its value."""
    taken: frozenset[str] = frozenset()
    """Names that are no variables since they stand for something else. For the host; not sent."""
    language: str = "python"
    """What the source is written in. For the host; a guest knows."""
    frozen: bool = False
    """The guest's clock stands still."""
    max_iterations: int = 0
    """Turns of one counted loop."""
    counted: Literal["none", "bounded", "all"] = "none"
    """Which loops count their turns (`enclave.source`)."""
    traces: bool = True
    """Whether a failure carries the traceback of the script's frames."""
    memory: int = 0
    """Bytes that the script may use, for an engine that counts them itself."""
    max_output: int = 0
    """Bytes that the script may print."""


def run_frame(request: RunRequest, budget: ValueBudget) -> bytes:
    """The frame that starts a script."""
    head = {
        "t": "run",
        "mode": request.mode,
        "rules": request.rules,
        "run": request.run_id,
        "source": request.source,
        "namespaces": {name: dict(methods) for name, methods in request.namespaces.items()},
        "effects": dict(request.effects),
        "clock": request.clock,
        "frozen": request.frozen,
        "seed": request.seed,
        "max_value": budget.size,
        "max_nodes": budget.nodes,
        "max_depth": budget.depth,
        "max_members": budget.members,
        "max_iterations": request.max_iterations,
        "counted": request.counted,
        "traces": request.traces,
        "memory": request.memory,
        "max_output": request.max_output,
        "keep_variables": request.keep_variables,
        "inputs_tags": request.inputs_tags,
        "variables_tags": request.variables_tags,
    }
    body = msgspec.json.encode(head)
    values = b',"inputs":%b,"globals":%b,"variables":%b}' % (request.inputs, request.globals, request.variables)
    return frame(body[:-1] + values)


def answer_frame(call_id: int, value: bytes, tags: Mapping[Any, Any] | None = None) -> bytes:
    """The result of a call; `value` is JSON text made by the host."""
    if tags:
        return frame(b'{"t":"ok","id":%d,"tags":%b,"value":%b}' % (call_id, msgspec.json.encode(tags), value))
    return frame(b'{"t":"ok","id":%d,"value":%b}' % (call_id, value))


def error_frame(call_id: int, tool: str, error: ErrorInfo, *, terminal: bool, returnable: bool) -> bytes:
    """The error of a call, as data only."""
    body: dict[str, Any] = {
        "t": "err",
        "id": call_id,
        "tool": tool,
        "code": own_code(error) or error.code,
        "name": (error.name or "ToolError")[:128],
        "message": clip(error.message, 4096),
        "hint": error.hint and clip(error.hint, 1024),
        "terminal": terminal,
        "returnable": returnable,
    }
    return frame(json.dumps(body).encode())


def own_code(error: ErrorInfo) -> str | None:
    """The code that a tool gave its own failure (`rf.ToolError(code=…)`). Host codes cannot be replaced by it."""
    code = error.data.get("code")
    return code if error.code == "tool_raised" and isinstance(code, str) and code not in CODES else None


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, the last one an ellipsis when something was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def frame_limit(limits: RunLimits) -> int:
    """Largest frame a guest may send, in bytes."""
    return max(limits.value.size, limits.output) + ENVELOPE


def print_allowance(limits: RunLimits) -> int:
    """How many print frames a run may send. An honest guest sends one per 4 KiB, per call, and per tenth of a second."""
    return 64 + limits.output // KIB + 4 * limits.max_tool_calls + int(20 * limits.timeout)
