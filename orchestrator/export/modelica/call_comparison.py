"""Calls of the flat model compared with those of the sources, and the functions that they call.

rumoca gives calls the defaults of their functions, hands the members of records over one by one,
and makes a copy of a function for each function that is given to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchestrator.core.structs import replace
from orchestrator.export.modelica.comparison_parts import (
    Context,
    Different,
    Given,
    builtin_of,
    member_of,
    tree_of,
)
from orchestrator.export.modelica.expression_comparison import ExpressionComparison
from orchestrator.export.modelica.flat.shown import flat_as_text
from orchestrator.export.modelica.function_comparison import FunctionComparison
from orchestrator.export.modelica.source.class_keys import ClassKeys
from orchestrator.export.modelica.source.class_scope import (
    ClassMember,
    ClassScope,
    SourcePlace,
    in_order,
    with_bases,
)
from orchestrator.export.modelica.source.lookup import TypedComponent, unabbreviated
from orchestrator.export.modelica.source.statement_tree import Node, Part

Json = Any
#: Arguments of built-in functions by their names.
_NAMED = {"homotopy": ("actual", "simplified"), "smooth": ("p", "expr")}


class Comparison(ExpressionComparison):
    """Compares the expressions, calls and functions of a flat model."""

    def __init__(self, tree: Json) -> None:
        super().__init__(tree)
        self._functions: Json = tree["functions"]
        self._keys = ClassKeys()
        self._compared: set[object] = set()

    def _operator(self, body: Json, node: Node, context: Context) -> None:
        """An operator of an operator record: its function is one of that operator."""
        entry = self.flat_function(body["name"]["name"], node, context)
        if f"'{node.word}'" not in entry["name"].split("."):
            raise Different(context.source, node, flat_as_text({"FunctionCall": body}))
        kind = self._lookup.meaning(
            context.scope, _absolute(entry["name"]), SourcePlace(context.source, 0, 0)
        )
        if kind is None or kind.kind is None:
            raise Different(context.source, node, flat_as_text({"FunctionCall": body}))
        self.compare_function(entry, unabbreviated(kind.kind), {}, node, context)

    def _same_call(self, flat: Json, node: Node, context: Context) -> None:
        argument = context.arguments.get(node.names[0])
        if argument is not None and argument.function is not None:
            self._call(flat, node, argument.function, argument.captured, context)
            return
        meaning = self._meaning(node, context)
        builtin = node.names[0].lstrip(".") if meaning is None else builtin_of(meaning)
        if builtin and ("BuiltinCall" in flat or meaning is None):
            self._builtin(flat, builtin, node, context)
        elif meaning is not None and meaning.kind is not None:
            self._call(flat, node, unabbreviated(meaning.kind), {}, context)
        else:
            raise Different(context.source, node, flat_as_text(flat), "it is no function")

    def _builtin(self, flat: Json, name: str, node: Node, context: Context) -> None:
        if name == "String":
            self._part(flat, "StringConversion", node, context)
            return
        body = self._part(flat, "BuiltinCall", node, context)
        parameters, names = _NAMED.get(name, ()), [e.word for e in node.inside if e.kind == "named"]
        values = [
            written.inside[0] if written.kind == "named" else written for written in node.inside
        ]
        if names and len(parameters) == len(values):
            values = sorted(values, key=lambda written: _order(written, node, parameters))
        if body["function"].lower() != name.lower() or len(body["args"]) != len(values):
            raise Different(context.source, node, flat_as_text(flat))
        for argument, written in zip(body["args"], values, strict=True):
            self.compare(argument, written, context)

    def _call(
        self,
        flat: Json,
        node: Node,
        kind: ClassScope,
        captured: Mapping[str, Given],
        context: Context,
    ) -> None:
        body = self._part(flat, "FunctionCall", node, context)
        self.compare_call(body["name"]["name"], body["args"], node, kind, captured, context)

    def compare_call(
        self,
        name: str,
        arguments: Sequence[Json],
        node: Node,
        kind: ClassScope,
        captured: Mapping[str, Given],
        context: Context,
    ) -> None:
        """Compare a call: the function, and the arguments with the defaults."""
        kind = kind.expand()
        entry = self.flat_function(name, node, context)
        bound = self._arguments(node, kind, captured, context)
        functions = {
            name: binding for name, binding in bound.items() if binding.function is not None
        }
        self.compare_function(entry, kind, functions, node, context)
        expected: list[Given] = []
        for title, member in self._inputs(kind):
            if title in functions:
                continue
            if title not in bound:
                raise Different(context.source, node, name, f"'{title}' is given no value")
            expected += self._flattened(bound[title], self._typed(member, node, context))
        for binding in functions.values():
            expected += binding.captured.values()
        if len(arguments) > len(expected):
            raise Different(context.source, node, _call_shown(name, arguments))
        for argument, binding in zip(arguments, expected, strict=False):
            self.compare(argument, binding.node, binding.meaning)

    def _inputs(self, kind: ClassScope) -> Iterator[tuple[str, ClassMember]]:
        is_record = kind.tree.word == "record"
        for name, _ in in_order(kind):
            member = kind.components[name]
            if is_record or "input" in member.element.prefixes:
                yield name, member

    def _arguments(
        self,
        node: Node,
        kind: ClassScope,
        captured: Mapping[str, Given],
        context: Context,
    ) -> dict[str, Given]:
        """What each input is given: by the call, before it, or by its default."""
        arguments = dict(captured)
        inputs = dict(self._inputs(kind))
        open_ = [name for name in inputs if name not in arguments]
        for number, argument in enumerate(node.inside):
            name = (
                argument.word
                if argument.kind == "named"
                else (open_[number : number + 1] or [""])[0]
            )
            value = argument.inside[0] if argument.kind == "named" else argument
            if name not in inputs:
                raise Different(context.source, node, "", f"{kind.name} has no input for this")
            arguments[name] = self._argument(value, inputs[name], context)
        family = tuple(with_bases(kind))
        for name, member in inputs.items():
            changes = self._typed(member, node, context).changes
            if name in arguments or changes.value is None or changes.origin is None:
                continue
            inside = Context(changes.origin, changes.value.location.source, family, dict(arguments))
            arguments[name] = Given(tree_of(changes.value), inside)
        return arguments

    def _argument(self, node: Node, member: ClassMember, context: Context) -> Given:
        typed = self._typed(member, node, context)
        if typed.kind is None or typed.kind.tree.word != "function":
            return Given(node, context)
        bound = context.arguments.get(node.names[0]) if node.parts else None
        if bound is not None and bound.function is not None:
            function, captured = bound.function, dict(bound.captured)
        else:
            meaning = self._meaning(node, context) if node.parts else None
            if meaning is None or meaning.kind is None:
                raise Different(context.source, node, "", "it is no function")
            function, captured = unabbreviated(meaning.kind).expand(), {}
        inputs = dict(self._inputs(function))
        for inner in node.inside:
            if inner.word not in inputs:
                raise Different(context.source, node, "", f"{function.name} has no '{inner.word}'")
            captured[inner.word] = self._argument(inner.inside[0], inputs[inner.word], context)
        return Given(node, context, function, captured)

    def _flattened(self, argument: Given, typed: TypedComponent) -> list[Given]:
        """An argument, or its members one by one if it is a record."""
        if typed.kind is None or typed.kind.tree.word != "record":
            return [argument]
        members = []
        for name, _ in in_order(typed.kind):
            inside = self._lookup.typed(typed.kind.components[name])
            part = self._member_given(argument, name, inside)
            members += self._flattened(part, inside)
        return members

    def _member_given(self, argument: Given, name: str, typed: TypedComponent) -> Given:
        node = argument.node
        if node.kind != "call":
            return replace(argument, node=member_of(node, Part(name)))
        meaning = self._meaning(node, argument.meaning)
        kind = unabbreviated(meaning.kind).expand() if meaning and meaning.kind else None
        if kind is None or kind.tree.word != "record":
            return replace(argument, node=member_of(node, Part(name)))
        arguments = self._arguments(node, kind, {}, argument.meaning)
        return arguments.get(name, replace(argument, node=member_of(node, Part(name))))

    def flat_function(self, name: str, node: Node, context: Context) -> Json:
        """The flat function of a name, as the exporter finds it."""
        if name in self._functions:
            return self._functions[name]
        matches = [full for full in self._functions if full.endswith(f".{name}")]
        if len(matches) != 1:
            raise Different(context.source, node, name, f"{len(matches)} functions of that name")
        return self._functions[matches[0]]

    def compare_function(
        self,
        entry: Json,
        kind: ClassScope,
        functions: Mapping[str, Given],
        node: Node,
        context: Context,
    ) -> None:
        """Compare a function, for these functions as its inputs, once."""
        kind = kind.expand()
        key = (entry["name"], self._keys.of(kind), self._print(functions))
        if key in self._compared or entry["external"] is not None:
            return
        self._compared.add(key)
        if kind.tree.word not in {"function", "record"}:
            raise Different(context.source, node, entry["name"], f"{kind.name} is no function")
        FunctionComparison(self, entry, kind, functions, node, context).compare()

    def _print(self, functions: Mapping[str, Given]) -> object:
        return tuple(
            (
                name,
                self._keys.of(argument.function),
                tuple(argument.captured),
                self._print(argument.captured),
            )
            for name, argument in functions.items()
            if argument.function is not None
        )

    def members(self, kind: ClassScope) -> Iterator[tuple[str, TypedComponent]]:
        """Components of a function in order, with what modifies them."""
        for name, _ in in_order(kind):
            yield name, self._lookup.typed(kind.components[name])


def _order(value: Node, node: Node, parameters: Sequence[str]) -> int:
    for number, argument in enumerate(node.inside):
        if argument.kind == "named" and argument.inside[0] is value:
            return parameters.index(argument.word) if argument.word in parameters else number
        if argument is value:
            return number
    return 0


def _absolute(name: str) -> tuple[str, ...]:
    first, *parts = name.split(".")
    return (f".{first}", *parts)


def _call_shown(name: str, arguments: Sequence[Json]) -> str:
    return f"{name}({', '.join(map(flat_as_text, arguments))})"
