"""What modifies a class or is redeclared in it: whether that is there and may be (section 7.3)."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.export.modelica.source.class_scope import (
    Changes,
    ClassScope,
    Element,
    SourcePlace,
    is_redeclaration,
    with_bases,
)
from orchestrator.export.modelica.source.lookup import NotSpecialised


def redeclaration_problems(scope: ClassScope) -> Iterator[NotSpecialised]:
    """What is wrong with the modifications and redeclarations of one class."""
    for base in with_bases(scope):
        yield from _redeclaring(base)
    for name, member in (*scope.classes.items(), *scope.components.items()):
        redeclared = member.changes.redeclared
        while redeclared is not None:
            old = redeclared.before.element if redeclared.before else member.element
            sized = redeclared.element.type_name and redeclared.element.type_name == old.type_name
            if "replaceable" not in old.prefixes and not sized:
                reason = f"'{name}' is redeclared here, but it is not replaceable"
                yield NotSpecialised(redeclared.element.location, reason, invalid=True)
            redeclared = redeclared.before
    if not scope.extended_by:  # a base has what modifies the class that extends it
        yield from unknown_names(scope, scope.given)
    for scope_level in with_bases(scope):
        for element, base in zip(_extends(scope_level), scope_level.bases, strict=False):
            names = {argument.path[0]: argument.location for argument in element.arguments}
            yield from _unknown(base, names)


def unknown_names(scope: ClassScope, changes: Changes) -> Iterator[NotSpecialised]:
    """Modifications of elements that a class does not have."""
    names = {
        name: location
        for name, change in changes.inner.items()
        if (location := change.location or _place_of(change)) is not None
    }
    yield from _unknown(scope, names)


def _unknown(scope: ClassScope, names: dict[str, SourcePlace]) -> Iterator[NotSpecialised]:
    scope.expand()
    if scope.predefined or not scope.complete or scope.tree.builtin:
        return
    for name, location in names.items():
        is_declared = name in scope.components or name in scope.classes
        if not is_declared and scope.local(name) is None:
            reason = f"{scope.tree.word} {scope.name} has no element '{name}' that this modifies"
            yield NotSpecialised(location, reason, invalid=True)


def _place_of(changes: Changes) -> SourcePlace | None:
    inside = (change.location or _place_of(change) for change in changes.inner.values())
    return next((location for location in inside if location is not None), None)


def _extends(scope: ClassScope) -> list[Element]:
    predefined = {"Real", "Integer", "Boolean", "String", "ExternalObject"}
    return [clause for clause in scope.tree.extends() if clause.type_name not in predefined]


def _redeclaring(scope: ClassScope) -> Iterator[NotSpecialised]:
    """Redeclarations and extensions in a class of what it does not inherit."""
    scope.expand()
    for element in scope.tree.elements if scope.complete else ():
        extending = element.declared is not None and element.declared.extending
        if is_redeclaration(element):
            if element.name not in {*scope.classes, *scope.components}:
                reason = f"'{element.name}' is no redeclaration of an inherited element"
                yield NotSpecialised(element.location, reason, invalid=True)
        elif extending:
            inherited = [
                base.classes[element.name] for base in scope.bases if element.name in base.classes
            ]
            if not any("replaceable" in member.changed()[0].prefixes for member in inherited):
                reason = f"'{element.name}' extends no inherited class that is replaceable"
                yield NotSpecialised(element.location, reason, invalid=True)
