"""What the page says of an animation: its scales, and what its colours mean."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core.recording import Result
from orchestrator.pictures.animation.description import Animation
from orchestrator.pictures.animation.shapes import Arrow, Triad
from orchestrator.pictures.animation.signals import elements


def facts(table: Animation) -> list[str]:
    """Say in which way the picture differs from what happens."""
    factor, speed = table.exaggerate, table.speed
    told = []
    if factor != 1.0:
        told.append(f"motion from rest {factor:g} times as large, sizes true")
    else:
        told.append("motion and sizes true")
    told.append("real time" if speed == 1.0 else f"{speed:g} s of the run in 1 s")
    return told


def legend(
    table: Animation, results: Mapping[str, Result], titles: Mapping[str, str]
) -> list[dict[str, str | float]]:
    """List the parts that have a label, with their colours; of arrows the scale too."""
    items: dict[tuple[str, str], dict[str, str | float]] = {}
    for part in table.part.values():
        if part.label and not isinstance(part, Triad):  # a triad has colours of its own
            text = part.label
            if isinstance(part, Arrow):
                unit = unit_of(part, results) or ""
                text = f"{text}: 1 m is {1.0 / abs(part.scale):.4g} {unit}".rstrip()
            item: dict[str, str | float] = {
                "text": text,
                "colour": part.colour,
                "opacity": part.opacity,
            }
            items.setdefault((text, part.colour), item)
    ghosts = {getattr(part, "ghost", None) for part in table.part.values()} - {None}
    frames = [table.frame[name] for name in ghosts if name in table.frame]
    told = {table.case_of(frame, shown) for frame in frames for shown in table.cases}
    others = sorted(told - {*table.cases})
    if others:
        what = titles[others[0]] if len(others) == 1 else "what the case is compared with"
        text = f"translucent: {what}"
        items[(text, "")] = {"text": text, "colour": "#8899aa", "opacity": 0.2}
    return list(items.values())


def unit_of(arrow: Arrow, results: Mapping[str, Result]) -> str | None:
    """Return the unit of an arrow's vector, where a result has one."""
    named = [part for part in elements(arrow.vector, 3) if isinstance(part, str)]
    units = (result.units.get(part) for part in named for result in results.values())
    return next((unit for unit in units if unit is not None), None)
