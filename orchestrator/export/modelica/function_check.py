"""Compare functions and constants of the flat model with the meaning of the sources.

rumoca keeps one function and one constant of a name. So each call of the flat model is looked up
where it is written, and the function that it calls is compared with the one that the sources mean
there, with its defaults, constants and the functions that it calls; so is each constant of a
package in the equations.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import product
from typing import Any

from orchestrator.export.modelica.call_comparison import Comparison
from orchestrator.export.modelica.comparison_parts import Context, Different
from orchestrator.export.modelica.flat.model import FlatModel
from orchestrator.export.modelica.source.class_scope import ClassScope, with_bases
from orchestrator.export.modelica.source.instances import Leaf, walk
from orchestrator.export.modelica.source.lookup import iterators
from orchestrator.export.modelica.source.statement_tree import Node, NoTree, expression_of
from orchestrator.export.modelica.source.text import Token, closing, tokens

Json = Any
_TREES = (
    "equations",
    "initial_equations",
    "algorithms",
    "initial_algorithms",
    "when_chains",
    "assert_equations",
)
_COMPARED = frozenset(
    ("FunctionCall", "Literal", "Array", "Binary", "Unary", "BuiltinCall", "If", "VarRef", "Index")
)
_VALUES = ("binding", "start", "min", "max", "nominal")


def function_findings(flat: FlatModel, scope: ClassScope) -> Iterator[str]:
    """What differs, each with its place and both meanings."""
    yield from _Check(flat, scope).findings()


class _Check:
    def __init__(self, flat: FlatModel, scope: ClassScope) -> None:
        self._flat = flat
        self._comparison = Comparison(flat.tree)
        self._texts: dict[int, tuple[list[Token], list[int]]] = {}
        self._loops: dict[int, list[tuple[str, int, int]]] = {}
        self._scopes: dict[int, list[ClassScope]] = {}
        self._trees: dict[tuple[int, int, int, bool], Node | None] = {}
        visited: set[int] = set()
        for scope_inside in walk(scope):
            self._add(scope_inside.scope, visited)
            if isinstance(scope_inside, Leaf):
                self._add(scope_inside.member.owner, visited)

    def _add(self, scope: ClassScope | None, visited: set[int]) -> None:
        """Take a class, its bases and those around it."""
        while scope is not None and id(scope.tree) not in visited:
            visited.add(id(scope.tree))
            if not scope.tree.short and not scope.tree.builtin:
                self._scopes.setdefault(scope.tree.location.source, []).append(scope)
                for base in with_bases(scope):
                    self._add(base, visited)
            scope = scope.outer

    def findings(self) -> Iterator[str]:
        tree = self._flat.tree
        for key in _TREES:
            for entry in tree[key]:
                yield from self._look(entry)
        for entry in tree["variables"].values():
            for key in _VALUES:
                yield from self._look(entry[key])

    def _look(self, flat: Json) -> Iterator[str]:
        """Go through a tree, and compare calls and what stands for a constant."""
        if isinstance(flat, list):
            for flat_node in flat:
                yield from self._look(flat_node)
        elif isinstance(flat, dict):
            for tag, body in flat.items():
                if isinstance(body, dict) and tag in _COMPARED and not _is_position(tag, body):
                    yield from self._node(tag, body)
                yield from self._look(body)

    def _node(self, tag: str, body: Json) -> Iterator[str]:
        if tag == "VarRef" and body["name"]["name"] in self._flat.tree["variables"]:
            return
        span = body.get("span") or body.get("comp", {}).get("span")
        node = self._node_at(span, tag, body) if span else None
        if node is None:
            return
        difference, unrolled = None, self._loops_at(span)
        nodes = (
            (node, self._tree_at(span, with_subscripts=True)) if node.kind == "name" else (node,)
        )
        for scope, candidate in product(self._at(span), nodes):
            context = Context(scope, span["source"], unrolled=unrolled)
            try:
                self._compare({tag: body}, candidate or node, context)
            except Different as error:
                difference = error
            except NoTree as error:
                difference = Different(span["source"], node, "", f"{error} is not understood")
            else:
                return
        if difference is not None:
            yield self._difference_text(difference, span)

    def _node_at(self, span: Json, tag: str, body: Json) -> Node | None:
        """The call, element of one or name that a flat node is; an element has the call's span."""
        node = self._tree_at(span, is_statement="comp" in body)
        if tag == "Index" and node is not None and node.kind == "call":
            node = self._tree_at(span, with_subscripts=True)
            return node if node is not None and node.kind == "index" else None
        is_call = tag == "FunctionCall"
        return node if node is not None and is_call != (node.kind == "name") else None

    def _compare(self, flat: Json, node: Node, context: Context) -> None:
        ((tag, body),) = flat.items()
        if tag != "FunctionCall" or "comp" not in body:
            self._comparison.compare(flat, node, context)
            return
        call = {"name": {"name": body["comp"]["name"]}, "args": body["args"]}
        self._comparison.compare({"FunctionCall": call}, node, context)

    def _tree_at(
        self, span: Json, *, is_statement: bool = False, with_subscripts: bool = False
    ) -> Node | None:
        """The expression at a span; None if it is neither a name nor has a call."""
        key = (span["source"], span["start"], span["end"], with_subscripts)
        if key not in self._trees:
            listed, starts = self._tokens(span["source"])
            begin = bisect_left(starts, span["start"])
            end = bisect_left(starts, span["end"])
            if is_statement or (with_subscripts and listed[end].text == "["):
                end = closing(listed, end)
            inside = listed[begin:end]
            node = None
            if len(inside) > 0 and (inside[0].kind == "name" or len(inside) > 1):
                try:
                    node = expression_of(inside)
                except NoTree:
                    node = None
            self._trees[key] = node
        return self._trees[key]

    def _loops_at(self, span: Json) -> frozenset[str]:
        """Variables of the loops around a span."""
        source = span["source"]
        listed, starts = self._tokens(source)
        if source not in self._loops:
            self._loops[source] = iterators(listed)
        at = bisect_left(starts, span["start"])
        return frozenset(name for name, low, high in self._loops[source] if low <= at < high)

    def _tokens(self, source: int) -> tuple[list[Token], list[int]]:
        if source not in self._texts:
            listed = tokens(self._flat.sources.text_of(source))
            self._texts[source] = (listed, [token.start for token in listed])
        return self._texts[source]

    def _at(self, span: Json) -> list[ClassScope]:
        """The classes in whose own text a span lies, in each way in which they are used."""
        around = [s for s in self._scopes.get(span["source"], ()) if s.tree.location.meets(span)]
        if not around:
            return []
        innermost = min(around, key=lambda s: s.tree.location.end - s.tree.location.start).tree
        declared = (
            element.declared for element in innermost.elements if element.declared is not None
        )
        if any(element.location.meets(span) and not element.short for element in declared):
            return []
        return [scope for scope in around if scope.tree is innermost]

    def _difference_text(self, error: Different, span: Json) -> str:
        sources = self._flat.sources
        used, location = sources.locate(span), sources.locate(error.location.span)
        text = " ".join(sources.text(error.location.span).split())
        at = "" if location == used else f"{location}: "
        got = f", and the front end has '{error.got}'" if error.got else ""
        reason = f" ({error.reason})" if error.reason else ""
        return f"{used}: '{sources.text(span)}': {at}the sources say '{text}'{reason}{got}"


def _is_position(tag: str, body: Json) -> bool:
    """Whether it is the number of an element, which has the span of what it was calculated from."""
    return tag == "Index" and "base" not in body
