"""What constants make of each other: the texts that an expression may be, as far as its source tells.

Keys are hidden in concatenations, joins, character codes, conditions, objects with `toString` and the like (enclave
catalogue, L1 and section 3.4); this finds what they come to. An expression may be several texts (`a ? 'x' : 'y'`), and
parts that are unknown leave it incomplete. Advice: what is not found here is looked at when the script runs
(`guards`). Pure, standard library only; nothing is evaluated, and the work for one expression is bounded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice, product
from typing import Final

from ringfence.enclave.agentscript import methods
from ringfence.enclave.agentscript.methods import LONGEST, UNDEFINED, Value, to_text
from ringfence.enclave.agentscript.tree import FUNCTIONS, Node, arguments, inner, number

_STEPS: Final = 400
"""Nodes that one expression may cost."""
_DEPTH: Final = 60
_MOST: Final = 8
"""Values that one expression may have."""
_TRIED: Final = 64
"""Combinations of values that are calculated."""
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}
_LITERALS: Final[dict[str, Value]] = {"true": True, "false": False, "null": None, "undefined": UNDEFINED}
_CONVERSIONS: Final = ("Symbol.toPrimitive", "toString", "valueOf")


@dataclass(frozen=True, slots=True)
class Folded:
    """Values that an expression may have. `whole`: it can have no others."""

    values: tuple[Value | Node, ...] = ()
    whole: bool = False


_UNKNOWN: Final = Folded()


def texts(node: Node | None) -> tuple[list[str], bool]:
    """Texts that an expression may be when it is used as a key, and whether these are all."""
    if node is None:
        return [], False
    folder = _Folder()
    folded = folder.fold(node, _DEPTH)
    found, whole = folder.texts(folded, _DEPTH)
    return list(dict.fromkeys(found)), whole


def text(node: Node | None) -> str | None:
    """The one text that an expression is."""
    found, whole = texts(node)
    return found[0] if whole and len(found) == 1 else None


def value(node: Node | None) -> Value | Node:
    """The one value that an expression has; UNDEFINED where that is not known."""
    folded = _Folder().fold(node, _DEPTH) if node is not None else _UNKNOWN
    return folded.values[0] if folded.whole and len(folded.values) == 1 else UNDEFINED


def literal(node: Node) -> str:
    """What a string or a template without substitutions says."""
    return "".join(
        _escaped(part.text) if part.kind == "escape_sequence" else part.text
        for part in node.children
        if part.kind in ("string_fragment", "escape_sequence")
    )


def _escaped(text: str) -> str:
    rest = text[1:]
    if rest[:1] in ("x", "u"):
        try:
            code = int(rest[1:].strip("{}"), 16)
            return chr(code)
        except (ValueError, OverflowError):
            return ""
    return _ESCAPES.get(rest, rest)


def returned(function: Node) -> Iterable[Node]:
    """Expressions that a function returns by itself, not by functions inside it."""
    body = function.parts.get("body")
    if body is None:
        return
    if body.kind != "statement_block":
        yield body
        return
    stack = [body]
    while stack:
        node = stack.pop()
        if node.kind == "return_statement":
            yield from node.children[:1]
        elif node is body or node.kind not in FUNCTIONS:
            stack += node.children


class _Folder:
    """The work for one expression."""

    def __init__(self) -> None:
        self._left = _STEPS

    def fold(self, node: Node, depth: int) -> Folded:
        self._left -= 1
        if depth <= 0 or self._left <= 0:
            return _UNKNOWN
        node = inner(node)
        if node.kind in _LITERALS:
            return Folded((_LITERALS[node.kind],), whole=True)
        make = _MAKERS.get(node.kind)
        return _UNKNOWN if make is None else _few(make(self, node, depth - 1))

    def texts(self, folded: Folded, depth: int) -> tuple[list[str], bool]:
        """As text, objects by their own methods."""
        found: list[str] = []
        whole = folded.whole
        for one in folded.values:
            if isinstance(one, Node):
                more, all_of_it = self._object_texts(one, depth - 1)
                found += more
                whole = whole and all_of_it
            else:
                found.append(to_text(one))
        return [text for text in found if len(text) <= LONGEST][:_MOST], whole

    def _object_texts(self, node: Node, depth: int) -> tuple[list[str], bool]:
        for name in _CONVERSIONS if depth > 0 else ():
            member = self._member(node, name, depth)
            if member is None:
                continue
            made = self._called(member, depth)
            if member.kind == "method_definition" and "get" in member.tokens:
                made = self._join(self._called(one, depth) for one in made.values if isinstance(one, Node))
            found, whole = self.texts(made, depth)
            if found:
                return found, whole
        return [], False

    def _member(self, node: Node, name: str, depth: int) -> Node | None:
        """The value of a member of an object literal, or the method."""
        for child in reversed(node.children):
            key = child.parts.get("key") or child.parts.get("name")
            if key is None:
                if child.kind == "shorthand_property_identifier" and child.text == name:
                    return child
            elif self._key(key, depth) == name:
                return child.parts.get("value") if child.kind == "pair" else child
        return None

    def _key(self, key: Node, depth: int) -> str | None:
        if key.kind == "computed_property_name":
            if key.children and key.children[0].text == "Symbol.toPrimitive":
                return "Symbol.toPrimitive"
            found, whole = self.texts(self.fold(key.children[0], depth - 1), depth) if key.children else ([], False)
            return found[0] if whole and len(found) == 1 else None
        return literal(key) if key.kind == "string" else key.text

    def _called(self, function: Node, depth: int) -> Folded:
        """What a function returns, whatever it is given."""
        function = self._target(function)
        if function.kind not in FUNCTIONS:
            return _UNKNOWN
        return self._join(self.fold(one, depth) for one in returned(function))

    @staticmethod
    def _target(node: Node) -> Node:
        """What a name stands for."""
        for _ in range(8):
            node = inner(node)
            binding = node.binding
            if binding is None or (constant := binding.constant) is None:
                break
            node = constant
        return node

    @staticmethod
    def _join(parts: Iterable[Folded]) -> Folded:
        """One of several."""
        values: list[Value | Node] = []
        whole = True
        for part in parts:
            values += part.values
            whole = whole and part.whole
        return Folded(tuple(values), whole and bool(values))

    # nodes

    def name(self, node: Node, depth: int) -> Folded:
        binding = node.binding
        if binding is None:
            return _UNKNOWN
        constant = binding.constant
        if constant is not None:
            return self.fold(constant, depth)
        if binding.value is None or not binding.is_whole:
            return _UNKNOWN
        return Folded(self.fold(binding.value, depth).values)  # set again somewhere

    def string(self, node: Node, _: int) -> Folded:
        return Folded((literal(node),), whole=True)

    def number(self, node: Node, _: int) -> Folded:
        read = number(node)
        return _UNKNOWN if read is None else Folded((read,), whole=True)

    def itself(self, node: Node, _: int) -> Folded:
        return Folded((node,), whole=True)

    def template(self, node: Node, depth: int) -> Folded:
        parts: list[tuple[list[str], bool]] = []
        for child in node.children:
            if child.kind == "template_substitution":
                parts.append(self.texts(self.fold(child.children[0], depth), depth) if child.children else ([], False))
            else:
                parts.append(([_escaped(child.text) if child.kind == "escape_sequence" else child.text], True))
        made = tuple("".join(one) for one in islice(product(*(part for part, _ in parts)), _MOST + 1))
        return Folded(made, all(whole for _, whole in parts))

    def array(self, node: Node, depth: int) -> Folded:
        folded: list[Folded] = []
        for child in node.children:
            if child.kind == "spread_element" and child.children:
                spread = self.fold(child.children[0], depth)
                if len(spread.values) != 1 or not isinstance(spread.values[0], (str, tuple)):
                    return _UNKNOWN
                folded += [Folded((one,), spread.whole) for one in spread.values[0]]
            else:
                folded.append(self.fold(child, depth))
        combinations = islice(product(*(self._plain(one, depth) for one in folded)), _MOST + 1)
        return Folded(tuple(combinations), all(one.whole for one in folded))

    def _plain(self, folded: Folded, depth: int) -> list[Value]:
        """Values with objects as the texts that they become."""
        plain: list[Value] = []
        for one in folded.values:
            plain += self._object_texts(one, depth)[0] if isinstance(one, Node) else [one]
        return plain[:_MOST]

    def last(self, node: Node, depth: int) -> Folded:
        return self.fold(node.children[-1], depth) if node.children else _UNKNOWN

    def right(self, node: Node, depth: int) -> Folded:
        return self.fold(node.parts["right"], depth) if "right" in node.parts else _UNKNOWN

    def either(self, node: Node, depth: int) -> Folded:
        return self._join(self.fold(node.parts[name], depth) for name in ("consequence", "alternative"))

    def binary(self, node: Node, depth: int) -> Folded:
        sides = [self.fold(node.parts[name], depth) for name in ("left", "right") if name in node.parts]
        if len(sides) != 2:
            return _UNKNOWN
        if node.operator in ("||", "&&", "??"):
            return self._join(sides)
        calculate = methods.OPERATORS.get(node.operator)
        if calculate is None:
            return _UNKNOWN
        left, right = (self._plain(side, depth) for side in sides)
        return self._each(calculate, [left, right], all(side.whole for side in sides))

    def unary(self, node: Node, depth: int) -> Folded:
        argument = self.fold(node.parts["argument"], depth) if "argument" in node.parts else _UNKNOWN
        calculate = methods.SIGNS.get(node.operator)
        return _UNKNOWN if calculate is None else self._each(calculate, [self._plain(argument, depth)], argument.whole)

    def _each(self, make: Callable[..., Value | None], given: list[list[Value]], whole: bool) -> Folded:
        """`make` of every combination; where it says None, nothing is known of that one."""
        made: list[Value | Node] = []
        for combination in islice(product(*given), _TRIED):
            result = make(*combination)
            if result is None:
                whole = False
            else:
                made.append(result)
        return Folded(tuple(made), whole and bool(made))

    def member(self, node: Node, depth: int) -> Folded:
        """`value[key]` and `value.key` of something that is written out."""
        target = node.parts.get("object")
        if target is None:
            return _UNKNOWN
        if node.kind == "member_expression":
            keys: tuple[list[str], bool] = (
                ([node.parts["property"].text], True) if "property" in node.parts else ([], True)
            )
        else:
            index = node.parts.get("index")
            keys = self.texts(self.fold(index, depth), depth) if index is not None else ([], False)
        base = self.fold(target, depth)
        return self._join(self._picked(one, key, depth) for one in base.values for key in keys[0])

    def _picked(self, base: Value | Node, key: str, depth: int) -> Folded:
        if isinstance(base, Node):
            found = self._member(base, key, depth) if base.kind == "object" else None
            return _UNKNOWN if found is None or found.kind == "method_definition" else self.fold(found, depth)
        picked = methods.item(base, key)
        return _UNKNOWN if picked is None else Folded((picked,), whole=True)

    def call(self, node: Node, depth: int) -> Folded:
        function = node.parts.get("function")
        if function is None:
            return _UNKNOWN
        function = inner(function)
        given = node.parts.get("arguments")
        if given is not None and given.kind == "template_string":
            return self.template(given, depth) if function.text == "String.raw" else _UNKNOWN
        if function.kind in ("member_expression", "subscript_expression"):
            return self._method(node, function, depth)
        if function.kind == "identifier" and function.binding is None:
            return self._global(function.text, arguments(node), depth)
        return self._called(function, depth)

    def _given(self, nodes: list[Node], depth: int) -> tuple[list[list[Value]], bool]:
        """Possible values of arguments; an array that is spread stands for its items."""
        given: list[list[Value]] = []
        whole = True
        for node in nodes:
            folded = self.fold(node.children[0] if node.kind == "spread_element" else node, depth)
            plain = self._plain(folded, depth)
            if node.kind == "spread_element":
                items = plain[0] if len(plain) == 1 and isinstance(plain[0], (tuple, str)) else ()
                given += [[one] for one in items]
            else:
                given.append(plain)
            whole = whole and folded.whole
        return given, whole

    def _global(self, name: str, nodes: list[Node], depth: int) -> Folded:
        make = methods.FUNCTIONS.get(name)
        if make is None:
            return _UNKNOWN
        given, whole = self._given(nodes, depth)
        return self._each(make, given, whole)

    def _method(self, node: Node, function: Node, depth: int) -> Folded:
        target = function.parts.get("object")
        names = self._method_names(function, depth)
        if target is None or not names:
            return _UNKNOWN
        nodes = arguments(node)
        if inner(target).binding is None and (path := f"{inner(target).text}.{names[0]}") in methods.FUNCTIONS:
            return self._global(path, nodes, depth)
        if names[0] in ("call", "apply") and len(nodes) == 2:  # String.fromCharCode.apply(null, codes)
            given = self._plain(self.fold(nodes[1], depth), depth)
            make = methods.FUNCTIONS.get(target.text)
            spread = [[one] for one in given[0]] if len(given) == 1 and isinstance(given[0], tuple) else [given]
            return _UNKNOWN if make is None else self._each(make, spread, whole=False)
        base = self.fold(target, depth)
        if inner(target).text == "Object" and names[0] == "keys":
            return self._keys(nodes, depth)
        if names[0] == "map" and nodes:
            return self._mapped(base, nodes[0], depth)
        for one in base.values:
            if isinstance(one, Node) and (member := self._member(one, names[0], depth)) is not None:
                return self._called(member, depth)
        return self._on_values(base, names, nodes, depth)

    def _on_values(self, base: Folded, names: list[str], nodes: list[Node], depth: int) -> Folded:
        given, whole = self._given(nodes, depth)
        plain = self._plain(base, depth)
        return self._join(
            self._each(partial(methods.call, name), [plain, *given], base.whole and whole) for name in names
        )

    def _method_names(self, function: Node, depth: int) -> list[str]:
        if function.kind == "member_expression":
            return [function.parts["property"].text] if "property" in function.parts else []
        index = function.parts.get("index")
        return self.texts(self.fold(index, depth), depth)[0] if index is not None else []

    def _keys(self, nodes: list[Node], depth: int) -> Folded:
        """`Object.keys({…})` of an object that is written out."""
        folded = self.fold(nodes[0], depth) if nodes else _UNKNOWN
        for one in folded.values:
            if isinstance(one, Node) and one.kind == "object":
                keys = [child.parts.get("key") or child.parts.get("name") or child for child in one.children]
                return Folded((tuple(self._key(key, depth) or "" for key in keys),))
        return _UNKNOWN

    def _mapped(self, base: Folded, function: Node, depth: int) -> Folded:
        """Items by a function of which only what `String.fromCharCode` makes is followed."""
        target = self._target(function)
        if "fromCharCode" not in target.text and "fromCodePoint" not in target.text:
            return _UNKNOWN
        made: list[Value | Node] = []
        for one in base.values:
            if isinstance(one, tuple):
                letters = [methods.FUNCTIONS["String.fromCharCode"](item) for item in one]
                if all(letter is not None for letter in letters):
                    made.append(tuple(letters))
        return Folded(tuple(made))


def _few(folded: Folded) -> Folded:
    if len(folded.values) <= _MOST:
        return folded
    return Folded(folded.values[:_MOST])


_MAKERS: Final[dict[str, Callable[[_Folder, Node, int], Folded]]] = {
    "identifier": _Folder.name,
    "shorthand_property_identifier": _Folder.name,
    "string": _Folder.string,
    "number": _Folder.number,
    "object": _Folder.itself,
    "arrow_function": _Folder.itself,
    "function_expression": _Folder.itself,
    "template_string": _Folder.template,
    "array": _Folder.array,
    "sequence_expression": _Folder.last,
    "assignment_expression": _Folder.right,
    "ternary_expression": _Folder.either,
    "binary_expression": _Folder.binary,
    "unary_expression": _Folder.unary,
    "member_expression": _Folder.member,
    "subscript_expression": _Folder.member,
    "call_expression": _Folder.call,
    "augmented_assignment_expression": _Folder.right,
}
