"""Values: constants without one, names of short classes, enumerations."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.export.modelica.flat.model import FlatModel
from orchestrator.export.modelica.rules.finding import Finding, Model
from orchestrator.export.modelica.source.class_scope import Scope
from orchestrator.export.modelica.source.tree import Argument

_ATTRIBUTES = frozenset(("quantity", "min", "max", "start", "fixed"))


def value_findings(model: Model, flat: FlatModel) -> Iterator[Finding]:
    """Values that are missing, or that rumoca looks up in another class than where they stand."""
    for scope in model.classes:
        for element in scope.tree.elements:
            if element.declared is not None:
                yield from _short(scope, element.declared.name)
    for instance in model.instances:
        for name, member in instance.scope.components.items():
            path = f"{instance.path}.{name}".lstrip(".")
            entry = flat.tree["variables"].get(path)
            if entry is None or "Constant" not in str(list(entry["variability"])):
                continue
            if entry["binding"] is None and entry["start"] is None:
                yield member.element.place, f"constant '{path}' has no value"


def _short(scope: Scope, name: str) -> Iterator[Finding]:
    """A modification of a short class, whose names rumoca looks up in the class that it modifies."""
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
                            f"'{token.text}' is a component of {scope.tree.name}, where this stands, and"
                            f" of {found.tree.name}, where the front end looks it up; write"
                            f" {tree.word} {name} extends {found.tree.name}; .. with other names"
                        ),
                    )


def _all(arguments: tuple[Argument, ...]) -> Iterator[Argument]:
    for argument in arguments:
        yield argument
        yield from _all(argument.inner)
