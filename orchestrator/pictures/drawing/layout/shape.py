"""What a layout places: boxes with ports, and wires between ports (points, y down)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Point = tuple[float, float]
#: All heights lie on this grid, so that facing ports can be joined by straight lines.
GRID = 8.0
#: Height of the place where a line passes a column.
PASS_HEIGHT = 16.0


@dataclass(frozen=True, slots=True)
class Box:
    """Something to place.

    Parameters
    ----------
    name
        Unique within the layout.
    width, height
        In points; the height on the grid.
    inputs, outputs
        Distance of every port from the top, on the grid; inputs are on the left edge.
    pin
        ``"left"`` and ``"right"``: stands on that border of the drawing.
    """

    name: str
    width: float
    height: float
    inputs: Mapping[str, float]
    outputs: Mapping[str, float]
    pin: Literal["", "left", "right"] = ""


@dataclass(frozen=True, slots=True)
class Wire:
    """A connection to route.

    Parameters
    ----------
    source, target
        Box and port.
    room
        Width that its label needs in front of the arrow head; 0 without one.
    """

    source: tuple[str, str]
    target: tuple[str, str]
    room: float = 0.0
