"""The inputs, variables and statements of one function compared with the sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from orchestrator.core.structs import replace
from orchestrator.export.modelica.comparison_parts import Context, Different, Given, tree_of
from orchestrator.export.modelica.flat.model import tag_of
from orchestrator.export.modelica.flat.shown import flat_as_text
from orchestrator.export.modelica.source.class_scope import ClassScope, with_bases
from orchestrator.export.modelica.source.lookup import NotSpecialised, TypedComponent
from orchestrator.export.modelica.source.statement_tree import Node, Part, statements_of

Json = Any


class Comparing(Protocol):
    """What compares the expressions of a function."""

    def compare(self, flat: Json, node: Node, context: Context) -> None:
        """Compare an expression."""

    def subscript(self, entry: Json, node: Node, context: Context) -> None:
        """Compare a subscript or a size."""

    def members(self, kind: ClassScope) -> Iterator[tuple[str, TypedComponent]]:
        """Components of a function in order, with what modifies them."""


class FunctionComparison:
    """Compares one function; the names of a function that it was given are those of ``entry``."""

    def __init__(
        self,
        comparison: Comparing,
        entry: Json,
        kind: ClassScope,
        functions: Mapping[str, Given],
        node: Node,
        context: Context,
    ) -> None:
        self._comparison = comparison
        self._entry = entry
        self._kind = kind
        self._caller = (node, context)
        self._family = tuple(with_bases(kind))
        self._given = {
            name: replace(function, captured=self._captured(name, function))
            for name, function in functions.items()
        }

    def _captured(self, name: str, argument: Given) -> dict[str, Given]:
        context = Context(self._kind, self._kind.tree.location.source, self._family)
        return {
            key: captured
            if captured.function is not None
            else Given(Node("captured", f"{name}__{key}"), context)
            for key, captured in argument.captured.items()
        }

    def _fail(self, got: str, reason: str) -> Different:
        node, context = self._caller
        return Different(context.source, node, got, reason)

    def compare(self) -> None:
        """Compare its inputs, outputs, other variables and statements."""
        entry = self._entry
        flat = [*entry["inputs"], *entry["outputs"], *entry["locals"]]
        flat_members = {member["name"].replace(".", "_"): member for member in flat}
        try:
            members = list(self._comparison.members(self._kind))
        except NotSpecialised as error:
            raise self._fail(entry["name"], str(error)) from error
        order = []
        for name, typed in members:
            if name in self._given:
                continue
            if name not in flat_members:
                inside = [key for key in flat_members if key.startswith(f"{name}_")]
                if not inside:
                    raise self._fail(entry["name"], f"{self._kind.name} has '{name}'")
                order += inside
                continue
            order.append(name)
            self._member(flat_members[name], typed)
        extra = [member for member in flat_members if member not in order and "__" not in member]
        if extra:
            raise self._fail(entry["name"], f"{self._kind.name} has no '{extra[0]}'")
        inputs = [member["name"] for member in entry["inputs"] if "__" not in member["name"]]
        if inputs != [name for name in order if name in inputs]:
            raise self._fail(entry["name"], f"the inputs of {self._kind.name} have another order")
        if not entry["is_constructor"]:
            self._body()

    def _context(self, scope: ClassScope, source: int) -> Context:
        return Context(scope, source, self._family, self._given)

    def _member(self, flat: Json, typed: TypedComponent) -> None:
        changes, location = typed.changes, typed.element.location
        here = Node(
            "name", parts=(Part(typed.element.name),), start=location.start, end=location.end
        )
        value = changes.value if changes.origin is not None else None
        if (value is None) != (flat["default"] is None):
            got = flat_as_text(flat["default"]) if flat["default"] else "no value"
            if value is None or changes.origin is None:
                raise Different(location.source, here, got)
            raise Different(value.location.source, tree_of(value), got)
        if value is not None and changes.origin is not None:
            context = self._context(changes.origin, value.location.source)
            self._comparison.compare(flat["default"], tree_of(value), context)
        sizes = typed.element.sizes
        shape = flat["shape_expr"] or [
            {"Index": {"value": dimension}} for dimension in flat["effective_type"]["dimensions"]
        ]
        if len(shape) < len(sizes):
            raise Different(location.source, here, f"{len(shape)} dimensions")
        for entry, size in zip(shape, sizes, strict=False):
            if size.text != ":" and tag_of(entry) != "Colon":
                context = self._context(typed.scope, size.location.source)
                self._comparison.subscript(entry, tree_of(size), context)

    def _body(self) -> None:
        statements: list[tuple[Node, Context]] = []
        for scope in reversed(self._family):
            for section in scope.tree.sections:
                context = self._context(scope, section.source)
                statements += [(node, context) for node in statements_of(section.tokens)]
        self._statements(self._entry["body"], statements)

    def _statements(self, flat: Sequence[Json], nodes: Sequence[tuple[Node, Context]]) -> None:
        flat = [flat_statement for flat_statement in flat if tag_of(flat_statement) != "Empty"]
        for statement, (node, context) in zip(flat, nodes, strict=False):
            self._statement(statement, node, context)
        if len(flat) != len(nodes):
            names = f"{self._kind.name} has {len(nodes)} statements"
            raise self._fail(f"{self._entry['name']} of {len(flat)}", names)

    def _block(self, flat: Sequence[Json], node: Node, context: Context) -> None:
        self._statements(flat, [(statement, context) for statement in node.inside])

    def _statement(self, flat: Json, node: Node, context: Context) -> None:
        tag = tag_of(flat)
        visit = {
            "assign": self._assign,
            "call": self._procedure,
            "choice": self._choice,
            "for": self._for,
            "while": self._while,
        }.get(node.kind)
        if visit is not None and isinstance(flat, dict):
            visit(flat, node, context)
        elif tag.lower() != node.kind:
            raise Different(context.source, node, tag)

    def _target(self, parts: Json, node: Node, context: Context) -> None:
        names = tuple(part["ident"] for part in parts)
        subscripts = [subscript for part in parts for subscript in part["subs"]]
        listed = [subscript for part in node.parts for subscript in part.subscripts]
        if names != node.names or len(subscripts) != len(listed):
            raise Different(context.source, node, ".".join(names))
        for entry, subscript in zip(subscripts, listed, strict=True):
            self._comparison.subscript(entry, subscript, context)

    def _assign(self, flat: Json, node: Node, context: Context) -> None:
        target, value = node.inside
        if "Assignment" in flat:
            self._target(flat["Assignment"]["comp"]["parts"], target, context)
            self._comparison.compare(flat["Assignment"]["value"], value, context)
            return
        if "FunctionCall" not in flat or value.kind != "call":
            raise Different(context.source, node, tag_of(flat))
        body = flat["FunctionCall"]
        targets = target.inside if target.kind == "tuple" else (target,)
        for output, written in zip(body["outputs"], targets, strict=False):
            if output is not None and written.kind == "name":
                self._target(output["parts"], written, context)
            elif (output is None) != (written.kind == "nothing"):
                raise Different(context.source, node, "another left side")
        call = {"name": {"name": body["comp"]["name"]}, "args": body["args"]}
        self._comparison.compare({"FunctionCall": call}, value, context)

    def _procedure(self, flat: Json, node: Node, context: Context) -> None:
        if "Assert" in flat and node.names == ("assert",):
            condition = next(
                (e.inside[0] for e in node.inside if e.kind == "named" and e.word == "condition"),
                node.inside[0],
            )
            self._comparison.compare(flat["Assert"]["condition"], condition, context)
        elif "FunctionCall" in flat and not flat["FunctionCall"]["outputs"]:
            body = flat["FunctionCall"]
            call = {"name": {"name": body["comp"]["name"]}, "args": body["args"]}
            self._comparison.compare({"FunctionCall": call}, node, context)
        else:
            raise Different(context.source, node, tag_of(flat))

    def _choice(self, flat: Json, node: Node, context: Context) -> None:
        if "If" not in flat:
            raise Different(context.source, node, tag_of(flat))
        blocks, last = flat["If"]["cond_blocks"], flat["If"]["else_block"]
        if 2 * len(blocks) + bool(last) != len(node.inside) and not (
            not last and len(node.inside) % 2 and not node.inside[-1].inside
        ):
            raise Different(context.source, node, f"if with {len(blocks)} branches")
        for number, block in enumerate(blocks):
            self._comparison.compare(block["cond"], node.inside[2 * number], context)
            self._block(block["stmts"], node.inside[2 * number + 1], context)
        if last:
            self._block(last, node.inside[-1], context)

    def _for(self, flat: Json, node: Node, context: Context) -> None:
        *loops, block = node.inside
        if "For" not in flat or len(flat["For"]["indices"]) != len(loops):
            raise Different(context.source, node, tag_of(flat))
        for index, loop in zip(flat["For"]["indices"], loops, strict=True):
            name = index["ident"]
            if (name if isinstance(name, str) else name["text"]) != loop.word:
                raise Different(context.source, node, str(name))
            if loop.inside:
                self._comparison.compare(index["range"], loop.inside[0], context)
            context = context.inside_loop(loop.word)
        self._block(flat["For"]["equations"], block, context)

    def _while(self, flat: Json, node: Node, context: Context) -> None:
        if "While" not in flat:
            raise Different(context.source, node, tag_of(flat))
        inside = flat["While"].get("block", flat["While"])
        self._comparison.compare(inside["cond"], node.inside[0], context)
        self._block(inside["stmts"], node.inside[1], context)
