"""Two systems as one drawing: what is in either, with marks where they differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from orchestrator.core.system import Connection, System
from orchestrator.pictures.drawing.chains import wire_key
from orchestrator.pictures.drawing.difference import Change, Field
from orchestrator.pictures.drawing.facts import Facts

Item = TypeVar("Item")


def union_of(before: System, after: System, name: str = "") -> System:
    """Return a system with all that is in either; where both have it, as in the later one."""
    systems = _both(before.systems, after.systems)
    for both in before.systems.keys() & after.systems.keys():
        systems[both] = union_of(before.systems[both], after.systems[both])
    # A name is given once: what became of another kind is drawn as it is now.
    now = {**after.components, **after.systems, **after.buses}
    return replace(
        after,
        name=name or after.name,
        components=_kept(_both(before.components, after.components), after.components, now),
        systems=_kept(systems, after.systems, now),
        buses=_kept(_both(before.buses, after.buses), after.buses, now),
        connections=tuple(_both(_lines(before), _lines(after)).values()),
        connectors=_both(before.connectors, after.connectors),
        values=_both(before.values, after.values),
    )


def _kept(
    every: Mapping[str, Item], own: Mapping[str, Item], now: Mapping[str, object]
) -> dict[str, Item]:
    return {name: item for name, item in every.items() if name in own or name not in now}


def _both(before: Mapping[str, Item], after: Mapping[str, Item]) -> dict[str, Item]:
    return {**before, **after}


def _lines(system: System) -> dict[str, Connection]:
    return {wire_key("", line): line for line in system.connections}


def marked(changes: Sequence[Change]) -> Facts:
    """Facts for the drawing of :func:`union_of`: marks, labels of changed lines, and details."""
    marks: dict[str, str] = {}
    labels: dict[str, str] = {}
    details: dict[str, dict[str, str]] = {}
    for change in changes:
        if change.what in {"experiment", "options of the run", "value", "power port", "connector"}:
            continue
        marks[change.name] = change.kind
        if change.kind == "changed":
            details[change.name] = {
                f"Was {field.name}": f"{field.before} → {field.after}" for field in change.fields
            }
            if change.what == "connection":
                labels[change.name] = "; ".join(map(_short, change.fields))
    return Facts(marks=marks, labels=labels, details=details)


def _short(field: Field) -> str:
    """A change in few words: of a delay the figure, if that is what differs."""
    before, after = (text.partition(",")[0] for text in (field.before, field.after))
    if before == after:
        before, after = field.before, field.after
    return f"{before} → {after}"
