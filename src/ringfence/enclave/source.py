"""From a script as a model writes it to a coroutine function, with the user's line numbers kept.

A script may use `await` and `return` at top level, and its trailing expression is its value, also inside a trailing
`if __name__ == "__main__":`. The statements become the body of one coroutine function that declares every name it
binds as global, so functions, `global` statements and classes behave as in a module. Pure, standard library only:
it runs inside the jailed guest, which hands in the compiler. Knows nothing of tools; `check` does.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from itertools import takewhile
from types import CodeType
from typing import Final, Literal

from ringfence.enclave.check.tree import blocks
from ringfence.enclave.guards import HIDDEN, instrument

FILENAME: Final = "script.py"
ENTRY: Final = "__script__"

Counted = Literal["none", "bounded", "all"]
"""Loops that count their turns; `bounded`: all but `while True`, which only the clock bounds."""

Compiler = Callable[[ast.Module, int], CodeType]
"""Tree and compile flags to code object; raises what `compile` raises."""

_ANNOTATIONS: Final = 0x1000000
"""Compile flag of `from __future__ import annotations`."""
_BLOCKS: Final = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try, ast.TryStar, ast.Match)
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


class Rejected(Exception):
    """The source cannot run. `line` and `column` are 1-based, in the user's numbering."""

    def __init__(self, code: str, line: int, column: int, message: str, fix: str) -> None:
        super().__init__(message)
        self.code = code
        self.line = line
        self.column = column
        self.message = message
        self.fix = fix


def parse(source: str) -> ast.Module:
    """Syntax tree of a script. One that is indented as a whole, as in a string inside a function, is read as if it were
    not; places stay those of the text given.

    Raises:
        Rejected: not Python.
    """
    source = source.removeprefix("\ufeff")
    try:
        return ast.parse(source, FILENAME)
    except SyntaxError as error:
        if isinstance(error, IndentationError) and (margin := _margin(source)):
            return _parse_indented(source, margin)
        if (line := _bad_line(source)) is not None:
            raise _bad_character(line) from None
        raise _rejected(error) from None
    except (RecursionError, MemoryError):
        raise too_deep() from None
    except ValueError:  # what some Pythons raise for a NUL or a lone surrogate
        raise _bad_character(_bad_line(source) or 1) from None


def _margin(source: str) -> int:
    """Characters by which every line that is not empty is indented."""
    lines = [line for line in source.split("\n") if line.strip()]
    ends = zip(min(lines, default=""), max(lines, default=""), strict=False)  # all others lie between these two
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] and pair[0] in " \t", ends))


def _parse_indented(source: str, margin: int) -> ast.Module:
    try:
        tree = parse("\n".join(line[margin:] if line.strip() else "" for line in source.split("\n")))
    except Rejected as rejected:
        raise Rejected(rejected.code, rejected.line, rejected.column + margin, rejected.message, rejected.fix) from None
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.stmt, ast.excepthandler, ast.arg, ast.keyword, ast.alias, ast.pattern)):
            node.col_offset += margin
            node.end_col_offset = (node.end_col_offset or 0) + margin
    return tree


def _bad_character(line: int) -> Rejected:
    return Rejected("SYNTAX", line, 1, "a character that Python source cannot hold", "remove it")


def _bad_line(source: str) -> int | None:
    """Line of the first NUL or lone surrogate."""
    for number, line in enumerate(source.split("\n"), 1):
        if any(char == "\0" or "\ud800" <= char <= "\udfff" for char in line):
            return number
    return None


def compile_script(tree: ast.Module, compiler: Compiler, *, counted: Counted = "none") -> CodeType:
    """Code object of a module that defines the coroutine function `ENTRY`. Changes `tree`.

    `counted`: which of its loops take their turns from the names of `guards.counting`.

    Raises:
        Rejected: Python's compiler refuses it, or it would need a meaning that a script does not have.
    """
    try:
        return _compiled(tree, compiler, counted)
    except RecursionError:  # the parser can go deeper than what follows here
        raise too_deep() from None


def _compiled(tree: ast.Module, compiler: Compiler, counted: Counted) -> CodeType:
    body, flags = _without_future(tree.body)
    _return_trailing_value(body)
    _import_stars(body)
    if counted != "none":
        instrument(body, endless=counted == "all")
    wrapper = _coroutine_function(body)
    module = ast.Module(body=[wrapper], type_ignores=[])
    code = _compile(module, flags, compiler)
    first = next(const for const in code.co_consts if isinstance(const, CodeType) and const.co_name == ENTRY)
    if first.co_flags & inspect.CO_ASYNC_GENERATOR:
        raise _yields(_own_yield(body))
    names = {name for name in (*first.co_varnames, *first.co_cellvars) if not name.startswith(HIDDEN)}
    if not names:
        return code
    _unannotate(wrapper.body)
    wrapper.body.insert(0, ast.Global(names=sorted(names), lineno=1, col_offset=0, end_lineno=1, end_col_offset=0))
    return _compile(module, flags, compiler)


def _coroutine_function(body: list[ast.stmt]) -> ast.AsyncFunctionDef:
    wrapper = ast.parse(f"async def {ENTRY}(): pass").body[0]
    assert isinstance(wrapper, ast.AsyncFunctionDef)
    wrapper.body = body or wrapper.body
    return wrapper


def _compile(module: ast.Module, flags: int, compiler: Compiler) -> CodeType:
    try:
        return compiler(module, flags)
    except SyntaxError as error:
        raise _rejected(error) from None
    except (RecursionError, MemoryError):
        raise too_deep() from None
    except ValueError as error:
        raise Rejected("SYNTAX", 1, 1, str(error), "rewrite the statement") from None


def too_deep() -> Rejected:
    """What is said of a source that overflows parser, compiler or check."""
    return Rejected("TOO_DEEP", 1, 1, "the source is nested too deeply", "split long expressions into steps")


_FIXES: Final = (
    ("'await' outside async function", "make the function `async def`, and await its calls"),
    ("'async for' outside async function", "make the function `async def`"),
    ("'async with' outside async function", "make the function `async def`"),
    ("import * only", "name what you need: from … import …"),
    ("was never closed", "close the bracket"),
    ("unterminated", "close the quotation mark"),
    ("expected an indented block", "indent the next line, or write `pass`"),
    ("unindent does not match", "align the line with its block"),
    ("unexpected indent", "remove the indentation"),
    ("inconsistent use of tabs", "indent with spaces only"),
    ("cannot assign to", "use `==` to compare"),
    ("meant '=='", "use `==` to compare"),
    ("too many nested parentheses", "split long expressions into steps"),
    ("too many statically nested blocks", "put the inner blocks into a function"),
)
_FIXES_BY_LINE: Final = tuple(
    (re.compile(pattern), fix)
    for pattern, fix in (
        (r"\s*```", "send the code alone, without ``` lines"),
        (r"[\s}]*else\s+if\b", "write elif"),
        (r"\s*(const|let|var)\s", "this is Python: write name = value"),
        (r"\s*function\b|.*=>", "this is Python: write def, or lambda"),
        (r"\s*print\s+[^\s(]", "write print(...)"),
        (r"\s*\w+(\+\+|--)", "write += 1 or -= 1"),
        (r".*(&&|\|\|)", "write and, or"),
    )
)
"""What other languages, and prose around the code, leave on a line."""


def _rejected(error: SyntaxError) -> Rejected:
    message = error.msg or "invalid syntax"
    if "in async generator" in message:
        fix = "put it into a function, or use return"
        return Rejected("YIELD", error.lineno or 1, 1, "yield outside a function", fix)
    fixes = [fix for part, fix in _FIXES if part in message]
    fixes += [fix for pattern, fix in _FIXES_BY_LINE if pattern.match(error.text or "")]
    usual = "end the line with a colon" if "expected ':'" in message else "correct the syntax on this line"
    fix = fixes[0] if fixes else usual
    return Rejected("SYNTAX", error.lineno or 1, max(error.offset or 1, 1), message, fix)


def _without_future(body: list[ast.stmt]) -> tuple[list[ast.stmt], int]:
    """`from __future__ import …` is legal at the head of a module only; it becomes a compile flag."""
    kept: list[ast.stmt] = []
    flags = 0
    for node in body:
        if isinstance(node, ast.ImportFrom) and node.module == "__future__" and node.level == 0:
            if any(alias.name == "annotations" for alias in node.names):
                flags |= _ANNOTATIONS
        else:
            kept.append(node)
    return kept, flags


def _own_yield(body: list[ast.stmt]) -> ast.Yield | ast.YieldFrom:
    """The yield that made the script a generator. There is one: the compiler said so."""
    stack: list[ast.AST] = list(body)
    while not isinstance(node := stack.pop(), (ast.Yield, ast.YieldFrom)):
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))
    return node


def _yields(node: ast.expr) -> Rejected:
    fix = "put it into a function, or use return"
    return Rejected("YIELD", node.lineno, node.col_offset + 1, "yield outside a function", fix)


def _return_trailing_value(body: list[ast.stmt]) -> None:
    if not body:
        return
    last = body[-1]
    if isinstance(last, ast.Expr):
        body[-1] = ast.copy_location(ast.Return(value=last.value), last)
    elif isinstance(last, ast.If) and _is_main_guard(last.test) and not last.orelse:
        _return_trailing_value(last.body)


def _is_main_guard(test: ast.expr) -> bool:
    return ast.unparse(test) in ("__name__ == '__main__'", "'__main__' == __name__")


def _unannotate(body: list[ast.stmt]) -> None:
    """`x: int = 1` at the script's own level becomes `x = 1`: a global may not be annotated in a function."""
    for at, node in enumerate(body):
        if isinstance(node, ast.AnnAssign):
            if isinstance(node.target, ast.Name):
                body[at] = ast.copy_location(_assignment(node.target, node.value), node)
        elif isinstance(node, _BLOCKS):
            for inner in blocks(node):
                _unannotate(inner)


def _import_stars(body: list[ast.stmt]) -> None:
    """`from math import *` is legal at a module's own level only: it becomes an `exec` of itself there."""
    for at, node in enumerate(body):
        if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names):
            call = ast.parse(f"exec({ast.unparse(node)!r}, globals())").body[0]
            for part in ast.walk(call):
                ast.copy_location(part, node)
            body[at] = call
        elif isinstance(node, _BLOCKS):
            for inner in blocks(node):
                _import_stars(inner)


def _assignment(target: ast.Name, value: ast.expr | None) -> ast.stmt:
    return ast.Pass() if value is None else ast.Assign(targets=[target], value=value)
