"""Redeclared functions and packages, of which the flat model keeps no variables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.export.modelica.source.class_scope import Changes, Redeclared, Scope
from orchestrator.export.modelica.source.instances import Instance
from orchestrator.export.modelica.source.source_map import SourceMap
from orchestrator.export.modelica.source.tree import ClassTree, Place

_WORDS = frozenset(("function", "package"))


def function_problems(instances: Sequence[Instance], sources: SourceMap) -> Iterator[str]:
    """What rumoca does otherwise than the sources say, each with its place."""
    chosen: dict[int, list[tuple[str, Redeclared | None]]] = {}
    for instance in instances:
        yield from _unread(instance.scope, sources)
        for name, member in instance.scope.classes.items():
            declared = member.element.declared
            if declared is not None and declared.word == "function":
                choice = (f"{instance.path}.{name}".lstrip("."), member.changes.redeclared)
                chosen.setdefault(id(member.element), []).append(choice)
    for choices in chosen.values():
        leaking = [made for _, made in choices if made and made.by_extends]
        others = [path for path, made in choices if made is None]
        if leaking and others:
            yield (
                f"{_at(sources, leaking[0].element.place)}: this redeclaration of a function in a"
                f" class that extends reaches '{others[0]}' as well"
            )


def _unread(scope: Scope, sources: SourceMap) -> Iterator[str]:
    for name, member in scope.classes.items():
        declared, changes = member.element.declared, member.changes
        if declared is None or declared.word not in _WORDS:
            continue
        made = changes.redeclared
        if changes.inner:
            place = _first(changes)
            yield f"{_at(sources, place)}: this modification of {declared.word} {name} is dropped"
        if made is None or made.element.declared is None:
            continue
        where = _at(sources, made.element.place)
        if made.depth > 1:
            yield f"{where}: this redeclaration of {declared.word} {name} is dropped: it is nested"
        elif _modified(made.element.declared) and (declared.word == "function" or made.by_extends):
            yield f"{where}: the modification in this redeclaration of {name} is dropped"


def _modified(declared: ClassTree) -> bool:
    return declared.short and any(base.arguments for base in declared.extends())


def _first(changes: Changes) -> Place | None:
    for inner in changes.inner.values():
        if place := inner.place or _first(inner):
            return place
    return None


def _at(sources: SourceMap, place: Place | None) -> str:
    return sources.locate(place.span) if place else ""
