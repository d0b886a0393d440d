"""What flat text and source text are compared by: contexts, arguments and signs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.core.structs import Struct, field, replace
from orchestrator.export.modelica.source.class_scope import ClassScope, SourcePlace, Value
from orchestrator.export.modelica.source.lookup import Meaning, unabbreviated
from orchestrator.export.modelica.source.statement_tree import Node, Part, expression_of

Json = Any
#: Names of operators in the flat model.
BINARY = {
    "+": "Add",
    "-": "Sub",
    "*": "Mul",
    "/": "Div",
    "^": "Exp",
    ".+": "AddElem",
    ".-": "SubElem",
    ".*": "MulElem",
    "./": "DivElem",
    ".^": "ExpElem",
    "and": "And",
    "or": "Or",
    "<": "Lt",
    "<=": "Le",
    ">": "Gt",
    ">=": "Ge",
    "==": "Eq",
    "<>": "Neq",
}
#: Operators whose first operand has the sign of the whole.
SIGNED = {"*": "Mul", "/": "Div", ".*": "MulElem", "./": "DivElem"}


class Different(Exception):  # noqa: N818 - it never leaves the room
    """Flat text that is not what the sources say.

    source: Number of the file, and bytes from which to which it stands there.
    """

    def __init__(self, source: int, node: Node, got: str, reason: str = "") -> None:
        self.location = SourcePlace(source, node.start, node.end)
        self.got = got
        self.reason = reason
        super().__init__(got)


class Given(Struct):
    """An argument: an expression and what the names in it mean, or a function.

    function: The function, with arguments that it was given already.
    """

    node: Node
    meaning: Context
    function: ClassScope | None = None
    captured: Mapping[str, Given] = field(default_factory=dict)


class Context(Struct):
    """What names mean in some text.

    scope: The class in whose text they stand.
    source: Number of the file.
    family: The function with the bases of it; empty in the text of a model.
    arguments: Inputs of a function whose default this is, or functions that are inputs.
    loops: Variables of loops around.
    unrolled: Variables of a model's loops, in whose place the front end has written numbers.
    """

    scope: ClassScope
    source: int
    family: tuple[ClassScope, ...] = ()
    arguments: Mapping[str, Given] = field(default_factory=dict)
    loops: frozenset[str] = frozenset()
    unrolled: frozenset[str] = frozenset()

    @property
    def is_function(self) -> bool:
        """Whether it is the text of a function."""
        return bool(self.family)

    def inside_loop(self, name: str) -> Context:
        """The same inside a loop that the front end keeps."""
        return replace(self, loops=self.loops | {name}, unrolled=self.unrolled - {name})


def tree_of(value: Value) -> Node:
    """The tree of a value."""
    return expression_of(value.tokens)


def builtin_of(meaning: Meaning) -> str:
    """The built-in function that a function of the library is another name of."""
    kind = unabbreviated(meaning.kind) if meaning.kind is not None else None
    if kind is None or kind.tree.external is None:
        return ""
    return kind.tree.builtin_function


def member_of(node: Node, part: Part) -> Node:
    """A member of an expression."""
    if node.kind == "name":
        return replace(node, parts=(*node.parts, part))
    if node.kind == "call":
        for argument in node.inside:
            if argument.kind == "named" and argument.word == part.name:
                return argument.inside[0]
    return Node("field", part.name, (node,), start=node.start, end=node.end)


def unsigned(node: Node) -> tuple[Node, bool]:
    """An expression without its sign, which may be that of its first factor."""
    if node.kind == "unary" and node.word in {"+", ".+", "-", ".-"}:
        inside, minus = unsigned(node.inside[0])
        return inside, minus != (node.word in {"-", ".-"})
    if node.kind == "binary" and node.word in SIGNED:
        first, minus = unsigned(node.inside[0])
        if minus:
            return replace(node, inside=(first, node.inside[1])), True
    return node, False


def unsigned_flat(flat: Json) -> tuple[Json, bool]:
    """An expression of the flat model without its sign."""
    if "Unary" in flat and flat["Unary"]["op"] in {"Plus", "DotPlus", "Minus", "DotMinus"}:
        inside, minus = unsigned_flat(flat["Unary"]["rhs"])
        return inside, minus != flat["Unary"]["op"].endswith("Minus")
    if "Binary" in flat and flat["Binary"]["op"] in SIGNED.values():
        first, minus = unsigned_flat(flat["Binary"]["lhs"])
        if minus:
            return {"Binary": {**flat["Binary"], "lhs": first}}, True
    if "Literal" in flat:
        kind, value = next(iter(flat["Literal"]["value"].items()))
        if kind in {"Integer", "Real"} and value < 0:
            return {"Literal": {"value": {kind: -value}}}, True
    return flat, False
