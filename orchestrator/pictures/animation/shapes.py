"""What the parts of an animation look like: shapes in a frame, and shapes between two points."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orchestrator.pictures.animation.values import (
    WORLD,
    Colour,
    Direction,
    Number,
    Places,
    Point,
    Quaternion,
    Size,
    Table,
    Vector,
)

Share = Annotated[Number, Field(ge=0, le=1)]
_ORIGIN = ((0.0, 0.0, 0.0),)


class _Part(Table):
    """What all parts have.

    ``opacity`` is 1 for what hides what is behind it. A ``label`` is shown beside the part and in
    the legend.
    """

    colour: Colour = "#8899aa"
    opacity: float = Field(1.0, gt=0, le=1)
    label: str = ""


class _Solid(_Part):
    """A shape that is fixed in a frame, at one or more points of it, in m.

    ``attitude`` turns the shape's axes into the frame's (scalar first). A ``ghost`` is a
    translucent copy in another frame.
    """

    within: str = Field(WORLD, alias="in")
    at: Places = _ORIGIN
    attitude: Quaternion = (1.0, 0.0, 0.0, 0.0)
    ghost: str | None = None


class Box(_Solid):
    """A box with its centre at the point; ``size`` along its axes, m."""

    shape: Literal["box"]
    size: tuple[Size, Size, Size]


class Cylinder(_Solid):
    """A cylinder along ``axis`` with its centre at the point; ``top``: radius of the far end, m."""

    shape: Literal["cylinder"]
    radius: Size
    top: Annotated[Number, Field(ge=0)] | None = None
    length: Size
    axis: Direction = (0.0, 0.0, 1.0)


class Sphere(_Solid):
    """A sphere, m."""

    shape: Literal["sphere"]
    radius: Size


class Ring(_Solid):
    """A ring around ``axis``; ``radius`` of its middle and of its ``wire``, m."""

    shape: Literal["ring"]
    radius: Size
    wire: Size
    axis: Direction = (0.0, 0.0, 1.0)


class Triad(_Solid):
    """Axes of a frame, red, green and blue for x, y and z; ``size`` in m."""

    shape: Literal["triad"]
    size: Size


class Anchor(Table):
    """One or more points that are fixed in a frame, m."""

    within: str = Field(WORLD, alias="in")
    at: Places = _ORIGIN


class _Between(_Part):
    """A shape from one point to another; lists of points make several."""

    begin: Anchor = Field(alias="from")
    end: Anchor = Field(alias="to")


class Line(_Between):
    """A round bar; ``span`` is the share of the way that is drawn, radius in m."""

    shape: Literal["line"]
    radius: Size
    span: tuple[Share, Share] = (0.0, 1.0)


class Spring(_Between):
    """A coil; its radius and that of its ``wire`` in m."""

    shape: Literal["spring"]
    radius: Size
    wire: Size
    turns: int = Field(6, ge=1, le=50)


class Arm(_Between):
    """A sketch of an arm: two ``links`` (m) whose elbow is ``towards`` a side of the world."""

    shape: Literal["arm"]
    links: tuple[Size, Size]
    towards: Direction
    radius: Size


class Arrow(_Part):
    """A vector such as a force: a signal in the axes of a frame, ``scale`` in m for its unit.

    Of the case that is shown if it names none.
    """

    shape: Literal["arrow"]
    within: str = Field(WORLD, alias="in")
    at: Point = _ORIGIN[0]
    vector: Vector
    scale: Number
    radius: Size = 0.02
    case: str | None = None
    reference: bool = False


Part = Annotated[
    Box | Cylinder | Sphere | Ring | Triad | Line | Spring | Arm | Arrow,
    Field(discriminator="shape"),
]
