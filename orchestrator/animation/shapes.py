"""What the parts of an animation look like: shapes in a frame, and shapes between two points."""

from __future__ import annotations

from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, StrictFloat, StrictInt, StringConstraints

Number = StrictInt | StrictFloat
Size = Annotated[Number, Field(gt=0)]
Point = tuple[Number, Number, Number]
Quaternion = tuple[Number, Number, Number, Number]
Colour = Annotated[str, StringConstraints(pattern=r"^#[0-9a-fA-F]{6}$")]
#: Names of frames, parts and views; they are shown.
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_. -]*$", max_length=100)]
Places = Point | tuple[Point, ...]

#: The frame that all others stand in.
WORLD = "world"


class Table(BaseModel):
    """Base of all tables of an animation."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


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
    at: Places = (0.0, 0.0, 0.0)
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
    axis: Point = (0.0, 0.0, 1.0)


class Sphere(_Solid):
    """A sphere, m."""

    shape: Literal["sphere"]
    radius: Size


class Ring(_Solid):
    """A ring around ``axis``; ``radius`` of its middle and of its ``wire``, m."""

    shape: Literal["ring"]
    radius: Size
    wire: Size
    axis: Point = (0.0, 0.0, 1.0)


class Triad(_Solid):
    """Axes of a frame, red, green and blue for x, y and z; ``size`` in m."""

    shape: Literal["triad"]
    size: Size


class Anchor(Table):
    """One or more points that are fixed in a frame, m."""

    within: str = Field(WORLD, alias="in")
    at: Places = (0.0, 0.0, 0.0)


class _Between(_Part):
    """A shape from one point to another; lists of points make several."""

    begin: Anchor = Field(alias="from")
    end: Anchor = Field(alias="to")


class Line(_Between):
    """A round bar; ``span`` is the share of the way that is drawn, radius in m."""

    shape: Literal["line"]
    radius: Size
    span: tuple[float, float] = (0.0, 1.0)


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
    towards: Point
    radius: Size


class Arrow(_Part):
    """A vector such as a force: a signal in the axes of a frame, ``scale`` in m for its unit.

    Of the case that is shown if it names none.
    """

    shape: Literal["arrow"]
    within: str = Field(WORLD, alias="in")
    at: Point = (0.0, 0.0, 0.0)
    vector: str | tuple[Number | str, Number | str, Number | str]
    scale: Number
    radius: Size = 0.02
    case: str | None = None


Solid = Box | Cylinder | Sphere | Ring | Triad
Between = Line | Spring | Arm
Part = Annotated[
    Box | Cylinder | Sphere | Ring | Triad | Line | Spring | Arm | Arrow,
    Field(discriminator="shape"),
]


def places(at: Places) -> tuple[Point, ...]:
    """Return one or more points as a tuple of points."""
    return tuple(point for point in at if isinstance(point, tuple)) or (cast("Point", at),)
