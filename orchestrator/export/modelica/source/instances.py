"""The components of a model as its sources say them, all the way down."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from orchestrator.export.modelica.source.class_scope import Member, Scope
from orchestrator.export.modelica.source.tree import ClassTree, Element


@dataclass(frozen=True, slots=True)
class Instance:
    """A component that is a class with components, or the model itself.

    Attributes
    ----------
    path
        Its name in the flat model, without subscripts; empty for the model.
    scope
        Its class.
    """

    path: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class Leaf:
    """A component of a predefined type.

    Attributes
    ----------
    scope
        Its type; the changes of it are the attributes and the value.
    given_whole
        It belongs to a record that is given a value as a whole.
    """

    path: str
    member: Member
    element: Element
    scope: Scope
    given_whole: bool


def walk(scope: Scope, known: Collection[str] | None = None) -> Iterator[Instance | Leaf]:
    """All instances and leaves below a model."""
    yield from _walk(scope.expand(), "", known, given_whole=False)


def _walk(
    scope: Scope,
    path: str,
    known: Collection[str] | None,
    *,
    given_whole: bool,
    around: tuple[ClassTree, ...] = (),
) -> Iterator[Instance | Leaf]:
    yield Instance(path, scope)
    around = (*around, scope.tree)
    for name, member in scope.components.items():
        below = f"{path}.{name}" if path else name
        if "outer" in member.element.prefixes or (known is not None and below not in known):
            continue
        element, kind = scope.type_of(member)
        if known is None and (element.conditional or (kind and kind.tree in around)):
            continue
        if kind is None or not kind.complete:
            continue
        if kind.predefined:
            yield Leaf(below, member, element, kind, given_whole)
        else:
            whole = given_whole or kind.changes.value is not None
            yield from _walk(kind, below, known, given_whole=whole, around=around)
