"""Expressions of the flat model compared with those of the sources, node by node.

rumoca writes constants of packages out; all else in an expression without calls stays as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.core.structs import replace
from orchestrator.export.modelica.comparison_parts import (
    BINARY,
    SIGNED,
    Context,
    Different,
    Given,
    builtin_of,
    member_of,
    tree_of,
    unsigned,
    unsigned_flat,
)
from orchestrator.export.modelica.flat.model import tag_of
from orchestrator.export.modelica.flat.shown import (
    Numbers,
    flat_as_text,
    numbers_of,
    shown_reference,
)
from orchestrator.export.modelica.source.class_scope import ClassMember, SourcePlace
from orchestrator.export.modelica.source.lookup import (
    Lookup,
    Meaning,
    NotSpecialised,
    TypedComponent,
)
from orchestrator.export.modelica.source.statement_tree import Node, NoTree, Part

Json = Any


class ExpressionComparison(ABC):
    """Compares the flat model with its sources.

    tree: The flat model.
    """

    def __init__(self, tree: Json) -> None:
        self._tree = tree
        self._lookup = Lookup()

    @abstractmethod
    def _same_call(self, flat: Json, node: Node, context: Context) -> None:
        """Compare a call."""

    @abstractmethod
    def _operator(self, body: Json, node: Node, context: Context) -> None:
        """Compare an operator of operator records."""

    # Expressions.

    def compare(self, flat: Json, node: Node, context: Context) -> None:
        """Compare an expression.

        Raises Different: at the first part that differs.
        """
        try:
            self._same(flat, node, context)
        except Different:
            expected, got = self._number(node, context), numbers_of(flat, self._tree)
            if expected is None or got is None or not expected.agrees(got):
                raise

    def _same(self, flat: Json, node: Node, context: Context) -> None:
        (flat, minus), (node, negative) = unsigned_flat(flat), unsigned(node)
        if minus != negative:  # a constant may have the sign
            minus_flat = {"Unary": {"op": "Minus", "rhs": flat}}
            if node.kind == "name":
                self._same_name(minus_flat, node, context)
                return
            body = flat.get("Binary") if node.kind == "binary" and node.word in SIGNED else None
            if body is None or body["op"] != BINARY[node.word]:
                raise Different(context.source, node, flat_as_text(minus_flat))
            first = {"Unary": {"op": "Minus", "rhs": body["lhs"]}}
            self.compare(first, node.inside[0], context)
            self.compare(body["rhs"], node.inside[1], context)
            return
        visit = getattr(self, f"_same_{node.kind}", None)
        if visit is None:
            raise Different(context.source, node, flat_as_text(flat), "it is not understood")
        visit(flat, node, context)

    def _part(self, flat: Json, tag: str, node: Node, context: Context) -> Json:
        """The inside of a flat node that should be of a kind."""
        if not isinstance(flat, dict) or tag not in flat:
            raise Different(context.source, node, flat_as_text(flat))
        return flat[tag]

    def _same_number(self, flat: Json, node: Node, context: Context) -> None:
        value = next(iter(self._part(flat, "Literal", node, context)["value"].values()))
        if isinstance(value, bool | str) or float(value) != float(node.word):
            raise Different(context.source, node, flat_as_text(flat))

    def _same_truth(self, flat: Json, node: Node, context: Context) -> None:
        value = next(iter(self._part(flat, "Literal", node, context)["value"].values()))
        if value is not (node.word == "true"):
            raise Different(context.source, node, flat_as_text(flat))

    def _same_text(self, flat: Json, node: Node, context: Context) -> None:
        value = next(iter(self._part(flat, "Literal", node, context)["value"].values()))
        if "\\" not in node.word and value != node.word[1:-1]:
            raise Different(context.source, node, flat_as_text(flat))

    def _same_binary(self, flat: Json, node: Node, context: Context) -> None:
        if "FunctionCall" in flat:
            self._operator(flat["FunctionCall"], node, context)
            return
        body = self._part(flat, "Binary", node, context)
        if body["op"] != BINARY[node.word]:
            raise Different(context.source, node, flat_as_text(flat))
        self.compare(body["lhs"], node.inside[0], context)
        self.compare(body["rhs"], node.inside[1], context)

    def _same_unary(self, flat: Json, node: Node, context: Context) -> None:
        if "FunctionCall" in flat:
            self._operator(flat["FunctionCall"], node, context)
            return
        body = self._part(flat, "Unary", node, context)
        if body["op"] != "Not" or node.word != "not":
            raise Different(context.source, node, flat_as_text(flat))
        self.compare(body["rhs"], node.inside[0], context)

    def _same_if(self, flat: Json, node: Node, context: Context) -> None:
        *listed, last = node.inside
        pairs = list(zip(listed[::2], listed[1::2], strict=True))
        if "If" not in flat or len(flat["If"]["branches"]) != len(pairs):
            pairs, last = self._branches(node, context)  # it takes what constants decide
        if not pairs:
            self.compare(flat, last, context)
            return
        body = self._part(flat, "If", node, context)
        if len(body["branches"]) != len(pairs):
            raise Different(context.source, node, flat_as_text(flat))
        for (condition, value), (expected, branch) in zip(body["branches"], pairs, strict=True):
            self.compare(condition, expected, context)
            self.compare(value, branch, context)
        self.compare(body["else_branch"], last, context)

    def _branches(self, node: Node, context: Context) -> tuple[list[tuple[Node, Node]], Node]:
        """Conditions and values that constants do not decide, and the value without any of them."""
        *listed, last = node.inside
        pairs: list[tuple[Node, Node]] = []
        for condition, value in zip(listed[::2], listed[1::2], strict=True):
            decided = self._number(condition, context)
            if decided is None:
                pairs.append((condition, value))
            elif any(decided[1]):
                return pairs, value
        return pairs, last

    def _same_array(self, flat: Json, node: Node, context: Context) -> None:
        self._elements(self._part(flat, "Array", node, context), "Array", node, context)

    def _elements(self, body: Json, kind: str, node: Node, context: Context) -> None:
        if body["kind"] != kind or len(body["elements"]) != len(node.inside):
            raise Different(context.source, node, flat_as_text({"Array": body}))
        for element, written in zip(body["elements"], node.inside, strict=True):
            self.compare(element, written, context)

    def _same_matrix(self, flat: Json, node: Node, context: Context) -> None:
        body = self._part(flat, "Array", node, context)
        if body["kind"] == "Horizontal" and len(node.inside) == 1:
            self._elements(body, "Horizontal", node.inside[0], context)
        else:
            self._elements(body, "Vertical", node, context)

    def _same_row(self, flat: Json, node: Node, context: Context) -> None:
        self._elements(self._part(flat, "Array", node, context), "Horizontal", node, context)

    def _same_range(self, flat: Json, node: Node, context: Context) -> None:
        body = self._part(flat, "Range", node, context)
        parts = [part for part in (body["start"], body["step"], body["end"]) if part is not None]
        if len(parts) != len(node.inside):
            raise Different(context.source, node, flat_as_text(flat))
        for part, written in zip(parts, node.inside, strict=True):
            self.compare(part, written, context)

    def _same_comprehension(self, flat: Json, node: Node, context: Context) -> None:
        body = self._part(flat, "ArrayComprehension", node, context)
        expression, *loops = node.inside
        if len(loops) != len(body["indices"]):
            raise Different(context.source, node, flat_as_text(flat))
        inside = context
        for index, loop in zip(body["indices"], loops, strict=True):
            if index["name"] != loop.word:
                raise Different(context.source, node, flat_as_text(flat))
            if loop.inside:
                self.compare(index["range"], loop.inside[0], inside)
            inside = inside.inside_loop(loop.word)
        self.compare(body["expr"], expression, inside)

    def _same_field(self, flat: Json, node: Node, context: Context) -> None:
        """A member of what a call gives."""
        body = self._part(flat, "FieldAccess", node, context)
        if body["field"] != node.word:
            raise Different(context.source, node, flat_as_text(flat))
        self.compare(body["base"], node.inside[0], context)

    def _same_index(self, flat: Json, node: Node, context: Context) -> None:
        """Elements of what a call gives; a model's loops and slices are written out as numbers."""
        body = self._part(flat, "Index", node, context)
        base, *subscripts = node.inside
        if len(body["subscripts"]) != len(subscripts):
            raise Different(context.source, node, flat_as_text(flat))
        self.compare(body["base"], base, context)
        for entry, subscript in zip(body["subscripts"], subscripts, strict=True):
            is_plain = context.is_function or tag_of(entry) != "Index"
            if not is_plain:
                expected = self._number(subscript, context)
                is_plain = expected is not None and expected[0] == ()
            if is_plain:
                self.subscript(entry, subscript, context)

    def _same_captured(self, flat: Json, node: Node, context: Context) -> None:
        if shown_reference(flat) != (node.word, []):
            raise Different(context.source, node, flat_as_text(flat))

    # Names.

    def _same_name(self, flat: Json, node: Node, context: Context) -> None:
        first = node.names[0]
        if first in context.arguments:
            self._given_name(flat, node, context.arguments[first], context)
            return
        if first in context.unrolled:
            return
        meaning = None if first in context.loops else self._meaning(node, context)
        if meaning is None:
            if context.is_function or first in context.loops:
                self._reference(flat, node, context)
        elif meaning.literal:
            name = shown_reference(flat)[0]
            if name.rpartition(".")[2] != node.parts[meaning.used - 1].name:
                raise Different(context.source, node, flat_as_text(flat))
        elif meaning.member is not None:
            self._component(flat, node, meaning, context)

    def _component(self, flat: Json, node: Node, meaning: Meaning, context: Context) -> None:
        if meaning.level == 0 and any(meaning.owner is scope for scope in context.family):
            self._reference(flat, node, context)
        elif meaning.member is not None and self.is_constant(meaning):
            self._constant(flat, node, meaning, meaning.member, context)
        elif context.is_function:
            raise Different(context.source, node, flat_as_text(flat), "it is no constant")

    def is_constant(self, meaning: Meaning) -> bool:
        """Whether a component is a constant of a package or of a class around."""
        if meaning.member is None or meaning.owner is None or meaning.prefix:
            return False
        outside = meaning.level > 0 or meaning.owner.tree.word == "package"
        return outside and "constant" in meaning.member.changed()[0].prefixes

    def _given_name(self, flat: Json, node: Node, argument: Given, context: Context) -> None:
        members, first_part = node.parts[1:], node.parts[0]
        if argument.function is not None:
            raise Different(context.source, node, flat_as_text(flat), "it is a function")
        expected = argument.node
        for part in members:
            expected = member_of(expected, part)
        if first_part.subscripts:
            if expected.kind != "name":
                raise Different(context.source, node, flat_as_text(flat), "it is not understood")
            *before, last = expected.parts
            last = replace(last, subscripts=last.subscripts + first_part.subscripts)
            expected = replace(expected, parts=(*before, last))
        self.compare(flat, expected, argument.meaning)

    def _reference(self, flat: Json, node: Node, context: Context) -> None:
        """A variable of a function, or of a loop; members of records may be joined by ``_``."""
        name, subscripts = shown_reference(flat)
        if not name or name.replace(".", "_") != "_".join(node.names):
            raise Different(context.source, node, flat_as_text(flat))
        listed = [subscript for part in node.parts for subscript in part.subscripts]
        if len(subscripts) != len(listed):
            raise Different(context.source, node, flat_as_text(flat))
        for entry, subscript in zip(subscripts, listed, strict=True):
            self.subscript(entry, subscript, context)

    def subscript(self, entry: Json, node: Node, context: Context) -> None:
        """Compare a subscript or a size."""
        tag = tag_of(entry)
        if tag == "Colon" or node.kind == "colon":
            if tag != "Colon" or node.kind != "colon":
                raise Different(context.source, node, tag)
        elif tag == "Index":
            number = {"Literal": {"value": {"Integer": entry["Index"]["value"]}}}
            self.compare(number, node, context)
        else:
            self.compare(entry["Expr"]["expr"], node, context)

    def _same_end(self, flat: Json, node: Node, context: Context) -> None:
        body = self._part(flat, "BuiltinCall", node, context)
        if body["function"] != "Size":
            raise Different(context.source, node, flat_as_text(flat))
        self.compare(body["args"][0], node.inside[0], context)
        if numbers_of(body["args"][1], self._tree) != ((), (float(node.word),)):
            raise Different(context.source, node, flat_as_text(flat))

    def _constant(
        self, flat: Json, node: Node, meaning: Meaning, member: ClassMember, context: Context
    ) -> None:
        """A constant of a package: its value, with what modifies it."""
        typed = self._typed(member, node, context, flat)
        members = node.parts[meaning.used :]
        subscripts = node.parts[meaning.used - 1].subscripts
        value = self._value_of(typed, members)
        if value is None:
            raise Different(context.source, node, flat_as_text(flat), "it has no value")
        expression, inside = value
        if subscripts:
            got, expected = numbers_of(flat, self._tree), self._number(node, context)
            if expected is None and got is not None and not context.is_function:
                self._element_of_loop(flat, got, expression, inside)
            elif got is None or expected is None or not expected.agrees(got):
                self._indexed(flat, expression, subscripts, inside, node, context)
            return
        name, _ = shown_reference(flat)
        entry = self._tree["variables"].get(name)
        self.compare(entry["binding"] if entry and entry["binding"] else flat, expression, inside)

    def _element_of_loop(self, flat: Json, got: Numbers, expression: Node, inside: Context) -> None:
        """An element whose number is a variable of a loop that the front end has written out."""
        numbers = self._number(expression, inside)
        if numbers is None or not set(got[1]) <= set(numbers[1]):
            raise Different(inside.source, expression, flat_as_text(flat))

    def _indexed(
        self,
        flat: Json,
        expression: Node,
        subscripts: Sequence[Node],
        inside: Context,
        node: Node,
        context: Context,
    ) -> None:
        """An element of a constant array that is looked up by a variable."""
        body = self._part(flat, "Index", node, context)
        if len(body["subscripts"]) != len(subscripts):
            raise Different(context.source, node, flat_as_text(flat))
        self.compare(body["base"], expression, inside)
        for entry, subscript in zip(body["subscripts"], subscripts, strict=True):
            self.subscript(entry, subscript, context)

    def _value_of(
        self, typed: TypedComponent, members: Sequence[Part]
    ) -> tuple[Node, Context] | None:
        """The value of a constant, or of a member of one that is a record."""
        changes = typed.changes
        if changes.value is not None and changes.origin is not None:
            node = tree_of(changes.value)
            for part in members:
                node = member_of(node, part)
            return node, Context(changes.origin, changes.value.location.source)
        if not members or typed.kind is None or members[0].name not in typed.kind.components:
            return None
        return self._value_of(
            self._lookup.typed(typed.kind.components[members[0].name]), members[1:]
        )

    def _meaning(self, node: Node, context: Context) -> Meaning | None:
        location = SourcePlace(context.source, node.start, node.end)
        try:
            return self._lookup.meaning(context.scope, node.names, location)
        except NotSpecialised as error:
            raise Different(context.source, node, "", str(error)) from error

    def _typed(
        self, member: ClassMember, node: Node, context: Context, flat: Json = None
    ) -> TypedComponent:
        try:
            return self._lookup.typed(member)
        except NotSpecialised as error:
            raise Different(context.source, node, flat_as_text(flat), str(error)) from error

    def _number(self, node: Node, context: Context) -> Numbers | None:
        """Numbers of an expression of constants; None of another one."""
        try:
            return numbers_of(self._written_out(node, context), self._tree)
        except (Different, NoTree, KeyError):
            return None

    def _written_out(self, node: Node, context: Context) -> Json:
        """An expression of constants as the front end would write it."""
        if node.kind == "name":
            return self._constant_written_out(node, context)
        inside = [self._written_out(inner, context) for inner in node.inside]
        write = _WRITTEN.get(node.kind)
        if write is not None:
            return write(node.word, inside)
        meaning = self._meaning(node, context) if node.kind == "call" else None
        if node.kind != "call" or (meaning is not None and not builtin_of(meaning)):
            raise Different(context.source, node, "")
        name = builtin_of(meaning) if meaning else node.names[0].lstrip(".")
        return {"BuiltinCall": {"function": name[:1].upper() + name[1:], "args": inside}}

    def _constant_written_out(self, node: Node, context: Context) -> Json:
        is_loop = node.names[0] in context.loops | context.unrolled
        meaning = None if is_loop else self._meaning(node, context)
        if meaning is None or meaning.member is None or not meaning.used:
            raise Different(context.source, node, "")
        if "constant" not in meaning.member.changed()[0].prefixes:
            raise Different(context.source, node, "")
        value = self._value_of(
            self._typed(meaning.member, node, context), node.parts[meaning.used :]
        )
        if value is None:
            raise Different(context.source, node, "")
        flat = self._written_out(*value)
        subscripts = node.parts[meaning.used - 1].subscripts
        listed = [
            {"Expr": {"expr": self._written_out(subscript, context)}} for subscript in subscripts
        ]
        return {"Index": {"base": flat, "subscripts": listed}} if listed else flat


def _array(kind: str) -> Callable[[str, list[Json]], Json]:
    return lambda _, inside: {"Array": {"elements": inside, "kind": kind}}


def _operation(word: str, inside: list[Json]) -> Json:
    operation = {"-": "Minus", ".-": "Minus", "not": "Not"}.get(word, "Plus")
    return {"Unary": {"op": operation, "rhs": inside[0]}}


def _choice(_: str, inside: list[Json]) -> Json:
    branches = [inside[at : at + 2] for at in range(0, len(inside) - 1, 2)]
    return {"If": {"branches": branches, "else_branch": inside[-1]}}


def _range(_: str, inside: list[Json]) -> Json:
    step = inside[1] if len(inside) == 3 else None
    return {"Range": {"start": inside[0], "step": step, "end": inside[-1]}}


#: How the front end writes kinds of expressions, from their words and insides.
_WRITTEN: dict[str, Callable[[str, list[Json]], Json]] = {
    "number": lambda word, _: {"Literal": {"value": {"Real": float(word)}}},
    "text": lambda word, _: {"Literal": {"value": {"String": word[1:-1]}}},
    "truth": lambda word, _: {"Literal": {"value": {"Boolean": word == "true"}}},
    "binary": lambda word, inside: {
        "Binary": {"op": BINARY[word], "lhs": inside[0], "rhs": inside[1]}
    },
    "unary": _operation,
    "array": _array("Array"),
    "matrix": _array("Vertical"),
    "row": _array("Horizontal"),
    "if": _choice,
    "range": _range,
}
