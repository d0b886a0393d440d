"""A diagram as one HTML file that needs nothing else: no network, own script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from orchestrator.core.coupling import LoopDelay
from orchestrator.core.system import System
from orchestrator.pictures.drawing.chains import chains_of, inside
from orchestrator.pictures.drawing.details import details_of
from orchestrator.pictures.drawing.drawing import framed
from orchestrator.pictures.drawing.facts import Facts, colour_of
from orchestrator.pictures.drawing.inline import embedded, environment
from orchestrator.pictures.drawing.scene.legend import legend
from orchestrator.pictures.drawing.scene.parts import Level, component_count, level_of
from orchestrator.pictures.drawing.scene.svg import FONTS, svg_shapes
from orchestrator.pictures.drawing.wording import path_of, sentence

_TEMPLATES = Path(__file__).with_name("templates")
_SCRIPTS = ("view.js", "facts.js", "start.js")
#: Room around a diagram, in points.
_ROOM = 12.0
#: A larger system is first shown with its nested systems closed.
_MOST_OPEN = 60
#: Levels that are opened one by one, and nested systems that have a picture of their own.
_MOST_LEVELS, _MOST_ALONE = 4, 50


@dataclass(frozen=True, slots=True)
class View:
    """One picture of the page: all to a depth, or one nested system alone.

    Parameters
    ----------
    name
        Path of the system that is shown alone, else empty.
    label
        What the button or heading says.
    svg
        Elements.
    width, height
        In points.
    """

    name: str
    label: str
    svg: str
    width: float
    height: float

    @property
    def box(self) -> str:
        """The view box."""
        room = 2 * _ROOM
        return f"{-_ROOM:g} {-_ROOM:g} {self.width + room:.10g} {self.height + room:.10g}"


def render_page(system: System, facts: Facts | None = None, notes: tuple[str, ...] = ()) -> str:
    """Return the HTML page of a system; all text in it is escaped.

    Parameters
    ----------
    system
        Resolved; may be nested.
    facts
        Of its flat form.
    notes
        Sentences for the reader, such as what a comparison found beside the diagram.
    """
    facts = facts or Facts()
    script = "\n".join((_TEMPLATES / name).read_text(encoding="utf-8") for name in _SCRIPTS)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    depths = list(_depths(system, facts))
    whole = level_of(system, facts)
    views = [*depths, *islice(_nested(whole, ""), _MOST_ALONE)]
    signs = legend(whole, replace(facts, loops=()), columns=1)
    data = {
        **details_of(system, facts),
        "loops": _loops(system, facts),
        "views": [{"name": view.name, "label": view.label} for view in views],
        "first": _first(system, depths),
    }
    return (
        environment(_TEMPLATES)
        .get_template("page.html.j2")
        .render(
            title=system.name or "system",
            description=system.description,
            notes=notes,
            views=views,
            signs=svg_shapes(signs.shapes),
            signs_box=f"-1 -1 {signs.width + 2:.10g} {signs.height + 2:.10g}",
            signs_width=f"{signs.width + 2:.10g}",
            data=embedded(data),
            script=script,
            digest=digest,
            fonts=FONTS,
        )
    )


def _depths(system: System, facts: Facts) -> Iterator[View]:
    """Everything with its nested systems closed, then one level open, up to all."""
    deepest = _depth(system)
    for depth in (*range(min(deepest, _MOST_LEVELS)), deepest):
        label = "all" if depth == deepest else ("closed" if depth == 0 else f"{depth}")
        yield _view("", label, level_of(system, facts, depth))


def _depth(system: System) -> int:
    return max((1 + _depth(inner) for inner in system.systems.values()), default=0)


def _first(system: System, depths: list[View]) -> int:
    return len(depths) - 1 if component_count(system) <= _MOST_OPEN else 0


def _nested(level: Level, path: str) -> Iterator[View]:
    """Every nested system as a picture of its own."""
    for name, part in level.parts.items():
        if part.level is not None:
            here = inside(path, name)
            yield _view(here, here, part.level)
            yield from _nested(part.level, here)


def _view(name: str, label: str, level: Level) -> View:
    placed = framed(level)
    return View(name, label, svg_shapes(placed.shapes), placed.width, placed.height)


def _loops(system: System, facts: Facts) -> list[dict[str, Any]]:
    chains = chains_of(system) if facts.loops else {}

    def keys(loop: LoopDelay) -> list[str]:
        found = (chains.get((line.source, line.target), ()) for line in loop.lines)
        return list(dict.fromkeys(segment.key for segments in found for segment in segments))

    return [
        {
            "path": path_of(loop),
            "text": sentence(loop),
            "algebraic": number in facts.algebraic,
            "colour": colour_of(number),
            "wires": keys(loop),
            "parts": list(dict.fromkeys(loop.components)),
        }
        for number, loop in enumerate(facts.loops)
    ]
