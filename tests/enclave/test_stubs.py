"""Stubs: exact, valid, compact, the same for the same tools."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, JsonValue, PlainSerializer

from ringfence.contract.tool import Tool, tool
from ringfence.enclave.stubs import describe_python, describe_python_handler, method_name


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Line(BaseModel):
    sku: Annotated[str, Field(description="Stock code.", min_length=1)]
    price: Annotated[float, Field(ge=0)]


class Order(BaseModel):
    """An order."""

    id: int
    lines: list[Line]
    color: Color | None = None
    parent: Order | None = None
    extra: dict[str, Any] = {}


class Odd(BaseModel):
    kind: int = Field(alias="class")
    key: str = Field(alias="my-key")


@tool(approval="human")
async def refund(
    order_id: Annotated[int, Field(ge=1)],
    amount: float,
    reason: str | None = None,
    mode: Literal["full", "part"] = "full",
) -> Order:
    """Give money back.

    Args:
        order_id: The number.
        reason: Why.
    """
    raise NotImplementedError


@tool
def find(order: Order, colors: list[Color], limit: int = 10) -> list[Order]:
    """Find orders like one."""
    return [order] * limit * len(colors)


def never(arguments: object, info: object) -> bool:
    del arguments, info
    return False


def remove() -> None:
    """Remove everything."""


EVERYTHING: list[Tool[..., Any]] = [
    refund,
    find,
    Tool.from_function(remove, name="del", approval=never),
    Tool("list", "List them.", Line, lambda line: line.sku, output=dict[str, Line]),
    Tool("odd", 'Say "odd".', Odd, lambda odd: odd.kind, output=tuple[int, str]),
    Tool("json", "Take anything.", Order, lambda order: order.extra, output=JsonValue),
]


def test_one_tool_reads_like_this() -> None:
    assert (
        describe_python([refund])
        == '''\
# Tools for your script. Call them with `await`:
#   await tools.refund(order_id=..., amount=...)
#   await tools.refund({"order_id": ..., "amount": ...})  # the same arguments as one object
#   await call_tool("refund", {"order_id": ..., "amount": ...}, throw_on_error=True)  # the same by name
# A failing tool raises ToolError (.code, .message). With throw_on_error=False, beside one object of arguments, you get
#   {"success": True, "data": result} or {"success": False, "error": {"name", "message", "code", "tool_name"}} instead.
# Top-level `await` and `return` work. The value of `return`, or of the last expression, is the script's result.
# `inputs` holds the caller's data; print() goes to the output. `asyncio.gather` runs calls side by side.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

class Order(TypedDict):  # An order.
    id: int
    lines: list[Line]
    color: Color | None
    parent: Order | None
    extra: dict[str, Any]  # default {}

class Line(TypedDict):
    sku: str  # Stock code; length >= 1
    price: float  # >= 0

Color: TypeAlias = Literal['red', 'blue']

class tools:
    @staticmethod
    async def refund(*, order_id: int, amount: float, reason: str | None = None, mode: Literal['full', 'part'] = 'full') -> Order:
        """Give money back.

        order_id: The number; >= 1.
        reason: Why.
        Waits for approval.
        """
        ...
'''
    )


def methods(text: str) -> dict[str, str]:
    """Method name to its signature and docstring."""
    (namespace,) = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef) and node.name == "tools"]
    found = [node for node in namespace.body if isinstance(node, ast.AsyncFunctionDef)]
    return {one.name: f"({ast.unparse(one.args)}) -> {ast.unparse(one.returns or one)}" for one in found}


def test_every_kind_of_tool_has_an_exact_signature() -> None:
    assert methods(describe_python(EVERYTHING)) == {
        "del_": "() -> None",
        "find": "(*, order: Order2, colors: builtins.list[Color], limit: int=10) -> builtins.list[Order]",
        "json": "(*, id: int, lines: builtins.list[Line], color: Color | None=None, parent: Order2 | None=None, "
        "extra: dict[str, Any]=...) -> Any",
        "list": "(*, sku: str, price: float) -> dict[str, Line]",
        "odd": "(arguments: Odd, /) -> builtins.list[int | str]",
        "refund": "(*, order_id: int, amount: float, reason: str | None=None, mode: Literal['full', 'part']='full') "
        "-> Order",
    }


def test_approval_is_announced() -> None:
    text = describe_python(EVERYTHING)
    assert text.count("Waits for approval.") == 1
    assert text.count("May wait for approval.") == 1


def test_the_order_of_the_tools_does_not_matter() -> None:
    assert describe_python(EVERYTHING) == describe_python(reversed(EVERYTHING))


def test_no_tools_are_said_to_be_none() -> None:
    text = describe_python([])
    assert text.startswith("# There are no tools to call.\n")
    assert [word for word in ("`return`", "`inputs`", "print()") if word not in text] == []


def test_the_example_calls_a_tool_that_takes_arguments_if_there_is_one() -> None:
    assert "#   await tools.refund(order_id=..., amount=...)" in describe_python([EVERYTHING[2], refund])
    assert "#   await tools.del_()" in describe_python([EVERYTHING[2]])


def test_a_keyword_gets_an_underscore() -> None:
    assert [method_name(name) for name in ("del", "match", "lookup")] == ["del_", "match", "lookup"]


def test_what_a_tool_returns_is_said_where_its_type_does_not() -> None:
    @tool
    def count(text: str) -> int:
        """Count.

        Returns:
            How many.
        """
        return len(text)

    assert "        Returns: How many.\n" in describe_python([count])


@pytest.mark.parametrize(
    "text", ['Ends with "', '"""', "\\", "a\\", 'tab\there\x00 and "" """" \\"""', "a\r\nb", "é ud"]
)
def test_no_description_breaks_out_of_its_docstring(text: str) -> None:
    def function(a: Annotated[int, Field(description=text)]) -> int:
        return a

    source = describe_python(
        [
            Tool.from_function(function, name="f", description=f"x{text}x"),
            Tool.from_function(function, name="g", description=text),
        ]
    )
    assert list(methods(source)) == ["f", "g"]
    exec(compile(source, "stubs", "exec"), {})


@pytest.mark.slow
@given(st.text(min_size=1).filter(str.strip), st.text())
def test_no_text_at_all_breaks_the_stubs(description: str, remark: str) -> None:
    def function(a: Annotated[str, Field(description=remark)] = remark) -> str:
        return a

    source = describe_python([Tool.from_function(function, name="f", description=description)])
    assert list(methods(source)) == ["f"]


def test_the_stubs_can_be_executed() -> None:
    exec(compile(describe_python(EVERYTHING), "stubs", "exec"), {})


@pytest.mark.slow
def test_the_stubs_type_check_and_so_does_a_script_written_against_them(tmp_path: Path) -> None:
    script = """
async def script() -> None:
    order = await tools.refund(order_id=1, amount=2.5, mode="part")
    lines = [line["sku"] for line in order["lines"]]
    await tools.find(order={"id": 1, "lines": []}, colors=["red"])
    await tools.odd({"class": 1, "my-key": "a"})
    await tools.refund(order_id="1", amount=2.5)  # error
    await tools.refnd(order_id=1, amount=2.5)  # error
    order["total"]  # error
    await tools.find(order={"id": 1}, colors=["green"])  # error
"""
    source = describe_python(EVERYTHING) + script
    file = tmp_path / "stubs.py"
    file.write_text(source)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard", "pythonVersion": "3.11"}')
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "-p", str(tmp_path)]
    report = json.loads(subprocess.run(command, capture_output=True, check=False).stdout)
    marked = {number for number, line in enumerate(source.splitlines(), 1) if line.endswith("# error")}
    errors = {
        item["range"]["start"]["line"] + 1 for item in report["generalDiagnostics"] if item["severity"] == "error"
    }
    assert report["summary"]["filesAnalyzed"] == 1
    assert (errors, len(marked)) == (marked, 4)


def test_a_handler_is_described_without_naming_tools() -> None:
    text = describe_python_handler()
    ast.parse(text)
    assert text.startswith("# Call a tool by its name")


ODD_NAMES = [
    "a b", "class", "$ref", '"', "'\"\"\"", "a\nimport os", "\\", "é", "__x", "", "0", "others", "None", "list", "a" * 300,
    "\u2028", "\x1b[31m", "#", "tools", "x: int = 1) -> None: ...\nimport os\nasync def y(",
]  # fmt: skip


def raw(properties: dict[str, Any], **more: Any) -> Tool[..., Any]:
    return Tool("act", "Act.", {"type": "object", "properties": properties, **more}, dict)


def statements(text: str) -> list[str]:
    return [type(node).__name__ for node in ast.parse(text).body]


def test_names_and_texts_of_a_foreign_schema_stay_names_and_texts() -> None:
    said = {
        "title": 'A\n"""\nimport os',
        "description": '"""\nimport os',
        "default": 'b"""',
        "enum": ["\nimport os", None],
    }
    text = describe_python([raw({name: {"type": "string", **said} for name in ODD_NAMES}, title="x\nimport os")])
    assert [name for name in statements(text) if name != "ImportFrom"] == ["Assign", "ClassDef"]
    assert not [line for line in text.splitlines() if line.strip().startswith(("import", "async def y"))]


def test_titles_that_are_keywords_or_taken_get_names_of_their_own() -> None:
    inner = {"type": "object", "properties": {"n": {"type": "integer"}}}
    text = describe_python([raw({f"p{at}": {**inner, "title": name} for at, name in enumerate(ODD_NAMES)})])
    classes = [node.name for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    assert len(set(classes)) == len(classes)
    assert "None" not in classes


def test_an_open_object_takes_further_arguments() -> None:
    text = describe_python([raw({"others": {"type": "string"}}, additionalProperties={"type": "integer"})])
    assert "async def act(*, others: str = ..., **others_: int) -> Any:" in text
    assert "async def act(**others: Any) -> Any:" in describe_python([raw({}, additionalProperties=True)])


def test_a_long_chain_and_a_dense_net_of_definitions_are_cut_where_nobody_reads_on() -> None:
    chain: dict[str, Any] = {
        f"D{at}": {"type": "object", "properties": {"next": {"$ref": f"#/$defs/D{at + 1}"}}} for at in range(400)
    }
    text = describe_python([raw({"x": {"$ref": "#/$defs/D0"}}, **{"$defs": {**chain, "D400": {"type": "object"}}})])
    assert "    next: NotRequired[Any]" in text
    assert text.count("TypedDict):") < 100


def test_boolean_nodes_and_foreign_literals_are_anything() -> None:
    text = describe_python([raw({"any": True, "never": False, "odd": {"enum": [1.5, {"a": 1}]}}, required=["any"])])
    assert "async def act(*, any: Any, never: Any = ..., odd: Any = ...) -> Any:" in text


@pytest.mark.parametrize("text", ['Say "hi"', '"', 'a """', 'ends \\"', '"hi" first'])
def test_a_description_may_begin_and_end_with_quotation_marks(text: str) -> None:
    made = Tool("t", text, {"type": "object"}, len)
    compile(describe_python([made]), "stubs", "exec")


def test_a_name_that_python_reads_as_another_is_written_in_quotes() -> None:
    schema = {"type": "object", "properties": {"\ufb01": {"type": "integer"}, "fi": {"type": "integer"}}}
    compile(describe_python([Tool("t", "A tool.", schema, len)]), "stubs", "exec")


class Stay(BaseModel):
    guest: UUID
    arrives: date
    leaves: datetime | None = None
    price: Decimal


@tool
def stays(like: list[Stay], limit: int = 5) -> list[Stay]:
    """Stays like some."""
    return like[:limit]


def test_a_result_shows_the_classes_that_a_script_gets_and_arguments_the_texts_that_it_sends() -> None:
    text = describe_python([stays])
    assert "import datetime\nimport decimal\nimport uuid\n" in text
    assert "    guest: uuid.UUID\n    arrives: datetime.date\n    leaves: datetime.datetime | None\n" in text
    assert "    guest: str  # format uuid\n    arrives: str  # format date\n" in text
    assert "async def stays(*, like: list[Stay2], limit: int = 5) -> list[Stay]:" in text


def test_a_result_under_a_json_schema_shows_text() -> None:
    output = {"type": "object", "properties": {"when": {"type": "string", "format": "date"}}}
    raw = Tool("raw", "Raw.", {"type": "object"}, lambda args: args, output=output)
    assert "when: NotRequired[str]  # format date" in describe_python([raw])


def test_a_method_that_is_called_like_a_module_hides_its_classes() -> None:
    named = Tool("datetime", "When.", {"type": "object"}, lambda args: args, output=datetime)
    assert "async def datetime() -> Any:" in describe_python([named])


@tool
async def store(data: bytes, more: list[bytes] | None = None, default: bytes = b"abc") -> bytes:
    """Keep bytes."""
    return data + default + b"".join(more or [])


def test_bytes_are_bytes_in_both_directions() -> None:
    text = describe_python([store])
    assert "async def store(*, data: bytes, more: list[bytes] | None = None, default: bytes = ...) -> bytes:" in text
    assert "format" not in text


def test_a_text_that_only_says_that_it_is_a_date_stays_a_text_in_the_stub() -> None:
    class Said(BaseModel):
        text: Annotated[str, Field(json_schema_extra={"format": "date-time"})]
        written: Annotated[datetime, PlainSerializer(lambda value: f"at {value}", return_type=str)]
        real: datetime
        days: dict[str, date | None]

    def say() -> Said:
        """Say it."""
        raise NotImplementedError

    stub = describe_python([Tool.from_function(say)])
    fields = (
        "text: str",
        "written: str",
        "real: datetime.datetime",
        "days: dict[str, datetime.date | None]",
    )
    assert [field for field in fields if f"    {field}" not in stub] == []
