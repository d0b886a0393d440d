"""The block diagram of a system, to be saved as SVG or PNG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.core.system import System
from orchestrator.pictures.drawing.facts import Facts
from orchestrator.pictures.drawing.layout.measure import one_line, width_of
from orchestrator.pictures.drawing.scene.legend import legend
from orchestrator.pictures.drawing.scene.palette import INK, KINDS, PALE, TITLE_SIZE
from orchestrator.pictures.drawing.scene.parts import Level, level_of
from orchestrator.pictures.drawing.scene.picture import Placed, place
from orchestrator.pictures.drawing.scene.scene import Group, Rectangle, Shape, Text
from orchestrator.pictures.drawing.scene.svg import svg_document, svg_element

_MARGIN = 16.0
_TITLE = 28.0


@dataclass(frozen=True, slots=True)
class Drawing:
    """Shapes with their extent, in points.

    Parameters
    ----------
    title
        What it shows.
    shapes
        Painted in their order.
    width, height
        Extent, from the origin.
    """

    title: str
    shapes: Sequence[Shape]
    width: float
    height: float

    def svg(self) -> bytes:
        """Write as SVG; the same drawing gives the same bytes."""
        return svg_document(self.shapes, self.width, self.height, self.title).encode()

    def _repr_svg_(self) -> str:
        return self.svg().decode()

    def inline(self, label: str) -> str:
        """Write as an element of a page; ``label`` is for those who do not see it."""
        return svg_element(self.shapes, self.width, self.height, label)

    def png(self) -> bytes:
        """Paint as PNG with 150 dots to the inch, fewer if it is very large."""
        from orchestrator.pictures.drawing.scene.png import png_bytes

        return png_bytes(self.shapes, self.width, self.height)


@dataclass(frozen=True, slots=True)
class ValuedDrawing(Drawing):
    """A drawing whose lines say the last values of a run.

    ``values`` are for the page's script, and ``bare`` draws the same without values.
    """

    values: Mapping[str, Any]
    bare: Callable[[], Drawing]


def draw_system(
    system: System, facts: Facts | None = None, depth: int | None = None, title: str = ""
) -> Drawing:
    """Draw a system as a block diagram.

    Every component is a box with its inputs on the left and outputs on the right; every
    connection an arrow, dashed and labelled where it has a delay. Nested systems are frames with
    their own connectors on the border.

    Parameters
    ----------
    system
        Its components should be resolved, so that ports without a connection are seen too.
    facts
        Loops and order of the steps, which are marked and listed below the drawing.
    depth
        Systems nested deeper than this are drawn as closed boxes; ``None``: none are.
    title
        Stands above it; the system's name if empty.

    Raises
    ------
    UnknownNameError
        If an end of a connection does not exist.
    """
    facts = facts or Facts()
    level = level_of(system, facts, depth)
    placed = framed(level)
    listed = legend(level, facts)
    title = one_line(title or system.name or "system", 100)
    inner = max(placed.width, listed.width, width_of(title, TITLE_SIZE, bold=True))
    shift = (inner - placed.width) / 2
    shapes: list[Shape] = [
        Text(_MARGIN + inner / 2, _MARGIN + 8, title, TITLE_SIZE, INK, "middle", bold=True),
        Group("diagram", placed.shapes, at=(_MARGIN + shift, _MARGIN + _TITLE)),
    ]
    bottom = _MARGIN + _TITLE + placed.height
    if listed.shapes:
        bottom += 14
        shapes.append(Group("legend", listed.shapes, at=(_MARGIN, bottom)))
        bottom += listed.height
    return Drawing(title, shapes, inner + 2 * _MARGIN, bottom + _MARGIN)


def framed(level: Level) -> Placed:
    """Place the top of a system, in a frame if it has connectors of its own."""
    if not level.parts and not level.inputs and not level.outputs:
        text = "this system is empty"
        shapes = [Text(0.0, 12.0, text, 10.0, PALE)]
        return Placed(shapes, width_of(text, 10.0), 24.0, {}, {})
    if not level.inputs and not level.outputs:
        return place(level)
    edge = KINDS["system"][1]
    placed = place(level, edge=edge)
    pad = 12.0
    frame = Rectangle(0, 0, placed.width, placed.height + 2 * pad, "", edge, 1.2, 5.0)
    content = Group("content", placed.shapes, at=(0.0, pad))
    return Placed([frame, content], placed.width, placed.height + 2 * pad, {}, {})
