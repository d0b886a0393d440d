"""The instances and variables of a model, as its sources say."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from orchestrator.core.structs import Struct
from orchestrator.export.modelica.source.class_scope import (
    ClassMember,
    ClassScope,
    ClassTree,
    Element,
    SourcePlace,
)


class Instance(Struct):
    """A component that is a class with components, or the model itself.

    path: Its name in the flat model, without subscripts; empty for the model.
    scope: Its class.
    """

    path: str
    scope: ClassScope

    def members(self) -> Iterator[tuple[str, ClassMember]]:
        """Its components, with their names in the flat model."""
        for name, member in self.scope.components.items():
            yield f"{self.path}.{name}".lstrip("."), member


class Leaf(Struct):
    """A component of a predefined type.

    scope: Its type; the changes of it are the attributes and the value.
    given_whole: It belongs to a record that is given a value as a whole.
    """

    path: str
    member: ClassMember
    element: Element
    scope: ClassScope
    given_whole: bool


def walk(scope: ClassScope, names: Collection[str] | None = None) -> Iterator[Instance | Leaf]:
    """All instances and leaves below a model."""
    yield from _walk(scope.expand(), "", names, given_whole=False)


def external_objects(scope: ClassScope) -> Iterator[tuple[SourcePlace, str, str]]:
    """Place, name and class of each component whose class is foreign code."""
    for instance in walk(scope):
        if not isinstance(instance, Instance):
            continue
        for path, member in instance.members():
            kind = instance.scope.type_of(member)[1]
            if kind and any(base.type_name == "ExternalObject" for base in kind.tree.extends()):
                yield member.element.location, path, kind.tree.name


def _walk(
    scope: ClassScope,
    path: str,
    names: Collection[str] | None,
    *,
    given_whole: bool,
    around: tuple[ClassTree, ...] = (),
) -> Iterator[Instance | Leaf]:
    yield Instance(path, scope)
    around = (*around, scope.tree)
    for name, member in scope.components.items():
        below = f"{path}.{name}" if path else name
        if "outer" in member.element.prefixes or (names is not None and below not in names):
            continue
        element, kind = scope.type_of(member)
        if names is None and (element.conditional or (kind and kind.tree in around)):
            continue
        if kind is None or not kind.complete:
            continue
        if kind.predefined:
            yield Leaf(below, member, element, kind, given_whole)
        else:
            has_value = given_whole or kind.changes.value is not None
            yield from _walk(kind, below, names, given_whole=has_value, around=around)
