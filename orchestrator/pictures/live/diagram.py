"""The block diagram of a run, with room for the values on its lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from orchestrator.core.system import System
from orchestrator.pictures.drawing import Facts, draw_system
from orchestrator.pictures.drawing.chains import chains_of, inside, wire_key
from orchestrator.pictures.drawing.layout.measure import has_font
from orchestrator.pictures.drawing.scene.parts import connector_of
from orchestrator.pictures.drawing.wording import wire_label

#: As wide as any value that the page writes, and its age.
_ROOM = "-8.888e-88"
_ROOM_OF_AGE = " 888 ms old"


def live_diagram(system: System, facts: Facts, title: str) -> dict[str, Any] | None:
    """Draw a system whose lines say values; ``None`` without the font that measures texts.

    Returns
    -------
    dict
        ``svg``, an element; ``width`` in points; ``wires``: by the key of a line, its own label,
        the source, ``component.connector``, whose value it carries, and for a device's the signals
        that say how old its sample is and whether it can be used; else empty.
    """
    if not has_font():
        return None
    own = dict(_labels(system, ""))
    sources = {
        segment.key: ends[0] for ends, segments in chains_of(system).items() for segment in segments
    }
    known = dict(_components(system, ""))
    wires = {}
    for key, label in own.items():
        if key in sources:
            end = sources[key]
            age, valid = (
                f"{end.component}.{name}" if name in known.get(end.component, ()) else ""
                for name in ("sample_age", "valid")
            )
            wires[key] = {"label": label, "source": str(end), "age": age, "valid": valid}
    labels = {
        key: f"{own[key]} {_ROOM}{_ROOM_OF_AGE if wire['age'] else ''}".strip()
        for key, wire in wires.items()
    }
    drawing = draw_system(system, replace(facts, labels={**facts.labels, **labels}), title=title)
    label = f"Block diagram of {title} with values"
    return {"svg": drawing.inline(label), "width": drawing.width, "wires": wires}


def _labels(system: System, path: str) -> Iterator[tuple[str, str]]:
    """Yield what stands on each line by itself."""
    for line in system.connections:
        ends = (connector_of(system, line.source), connector_of(system, line.target))
        yield wire_key(path, line), wire_label(line, *ends)
    for name, inner in system.systems.items():
        yield from _labels(inner, inside(path, name))


def _components(system: System, path: str) -> Iterator[tuple[str, set[str]]]:
    for name, component in system.components.items():
        yield inside(path, name), set(component.connectors)
    for name, inner in system.systems.items():
        yield from _components(inner, inside(path, name))
