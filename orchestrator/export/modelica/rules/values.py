"""Values: what parameters are given, and names in modifications of short classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.export.modelica.flat.model import FlatModel
from orchestrator.export.modelica.rules.finding import Finding, Model
from orchestrator.export.modelica.source.class_scope import Member, Scope
from orchestrator.export.modelica.source.tree import Argument

Json = Any


def value_findings(model: Model, flat: FlatModel) -> Iterator[Finding]:
    """Values that change, and names that rumoca looks up in another class than where they stand."""
    for scope in model.classes:
        for element in scope.tree.elements:
            if element.declared is not None:
                yield from _short(scope, element.declared.name)
    for instance in model.instances:
        for name, member in instance.scope.components.items():
            path = f"{instance.path}.{name}".lstrip(".")
            entry = flat.tree["variables"].get(path)
            if entry is None or not _is_fixed(entry):
                continue
            if _lacks_value(instance.scope, member):
                yield member.element.place, f"constant '{path}' has no value"
            for used in _variables(entry["binding"]):
                if used in flat.tree["variables"] and not _is_fixed(flat.tree["variables"][used]):
                    yield (
                        member.element.place,
                        f"'{path}' does not change in a run, but is given '{used}', which does",
                    )


def _lacks_value(scope: Scope, member: Member) -> bool:
    """Whether a constant has no value; records may be given theirs as a whole."""
    element, kind = scope.type_of(member)
    if kind is None or not kind.predefined or scope.tree.word == "record":
        return False
    return "constant" in element.prefixes and kind.changes.value is None


def _is_fixed(entry: Json) -> bool:
    return bool({"Parameter", "Constant"} & set(entry["variability"]))


def _variables(node: Json) -> Iterator[str]:
    """Variables of which an expression takes the value."""
    if isinstance(node, list):
        for each in node:
            yield from _variables(each)
    elif isinstance(node, dict):
        if "VarRef" in node:
            yield node["VarRef"]["name"]["name"]
        for key, each in node.items():
            if key != "BuiltinCall" or each["function"] != "Size":
                yield from _variables(each)


def _short(scope: Scope, name: str) -> Iterator[Finding]:
    """A modification of a short class: rumoca looks its names up in the class that it modifies."""
    member = scope.expand().classes.get(name)
    tree = member.element.declared if member else None
    if member is None or tree is None or not tree.short:
        return
    for base in tree.extends():
        found = scope.find(base.type_name)
        if found is None or found.tree is tree:
            continue
        inside = found.expand().components
        for argument in _all(base.arguments):
            for token in argument.value.tokens if argument.value else ():
                if token.kind == "name" and token.text in inside and token.text in scope.components:
                    yield (
                        argument.place,
                        (
                            f"'{token.text}' is a component of {scope.tree.name}, where this is,"
                            f" and of {found.tree.name}, where the front end looks it up; write"
                            f" {tree.word} {name} extends {found.tree.name}; .. with other names"
                        ),
                    )


def _all(arguments: tuple[Argument, ...]) -> Iterator[Argument]:
    for argument in arguments:
        yield argument
        yield from _all(argument.inner)
