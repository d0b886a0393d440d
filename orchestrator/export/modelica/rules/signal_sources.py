"""Sources of the signals of connections: each set has one at most (Modelica 3.6, section 9.3)."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.export.modelica.rules.connections import DEPTH, Joined, Sides, connects
from orchestrator.export.modelica.rules.finding import Finding, Model, with_bases
from orchestrator.export.modelica.rules.references import Reference, steps
from orchestrator.export.modelica.source.class_scope import Scope
from orchestrator.export.modelica.source.instances import Instance
from orchestrator.export.modelica.source.tree import Element, Place


def source_findings(model: Model) -> Iterator[Finding]:
    """Connections that let two sources give one signal."""
    for instance in model.instances:
        sets, sources = Joined(), dict[str, Place]()
        for scope in with_bases(instance.scope):
            for section in scope.tree.sections:
                if section.word != "equation" or section.initial:
                    continue
                for left, right, sure in connects(section):
                    place = Place(section.source, left.place.start, right.place.end)
                    if sure and not any(map(any, (*left.subscripts, *right.subscripts))):
                        _join(instance, (left, right), place, sets, sources)
        first: dict[str, str] = {}
        for name, place in sources.items():
            other = first.setdefault(sets.find(name), name)
            if other != name:
                said = f"connections let both '{other}' and '{name}' give one signal"
                yield place, f"{said}; a set has one source at most (Modelica 3.6, section 9.3)"


def _join(
    instance: Instance,
    pair: tuple[Reference, Reference],
    place: Place,
    sets: Joined,
    sources: dict[str, Place],
) -> None:
    """Add a connection to the sets, and those of its ends that give a signal."""
    ends = [Sides(instance, *pair).end(reference) for reference in pair]
    for reference, end in zip(pair, ends, strict=True):
        if end is None or not end[2]:
            return
        at, _ = next(steps(instance.scope, reference.parts))
        gives = "input" if at is not None and at.tree.word == "connector" else "output"
        for member, causality in _leaves(*end[:2]):
            if causality == gives:
                sources.setdefault(reference.text + member, place)
    for member, _ in _leaves(*ends[0][:2]) if ends[0] else ():
        sets.join([reference.text + member for reference in pair])


def _leaves(
    element: Element, scope: Scope, around: str = "", depth: int = 0
) -> Iterator[tuple[str, str]]:
    """Members that have a value, with a dot before, and whether each is an input or an output."""
    prefixes = {*element.prefixes}
    for each in with_bases(scope):
        if each.tree.short:
            prefixes |= {prefix for base in each.tree.extends() for prefix in base.prefixes}
    here = next((one for one in ("input", "output") if one in prefixes), around)
    if scope.predefined:
        yield "", here
    elif depth < DEPTH:
        for name, member in scope.components.items():
            part, inside = scope.type_of(member)
            if inside is not None and not part.conditional:
                for leaf, causality in _leaves(part, inside, here, depth + 1):
                    yield f".{name}{leaf}", causality
