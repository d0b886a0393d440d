"""Shapes of a drawing, in points (72 to the inch), y down; painted in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.pictures.drawing.layout.shape import Point


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle with round corners; an empty colour is none."""

    x: float
    y: float
    width: float
    height: float
    fill: str = ""
    edge: str = ""
    line: float = 1.0
    radius: float = 0.0
    dashed: bool = False


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through corners, each rounded by ``bend``."""

    points: tuple[Point, ...]
    colour: str
    width: float = 1.3
    dash: tuple[float, ...] = ()
    bend: float = 5.0


@dataclass(frozen=True, slots=True)
class Polygon:
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str


@dataclass(frozen=True, slots=True)
class Disc:
    """A filled circle, perhaps with an edge."""

    x: float
    y: float
    radius: float
    fill: str
    edge: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """One line of text; ``y`` is its middle."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Shapes that belong together.

    Parameters
    ----------
    role
        What they are: ``part``, ``wire``, ...; the class in SVG.
    shapes
        In their order.
    data
        Facts for programs, as attributes ``data-*`` in SVG.
    title
        Shown by viewers where the mouse rests.
    at
        Where the origin of its shapes is.
    """

    role: str
    shapes: Sequence[Shape]
    data: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    at: Point = (0.0, 0.0)


Shape = Rectangle | Stroke | Polygon | Disc | Text | Group
