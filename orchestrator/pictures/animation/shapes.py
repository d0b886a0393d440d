"""What the parts of an animation look like: shapes in a frame, and shapes between two points."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic_core import PydanticCustomError, PydanticUndefined

#: The frame that all others stand in.
WORLD = "world"


def _numbers(value: Any, count: int) -> tuple[float, ...] | None:
    """Return that many finite numbers, or nothing."""
    if not isinstance(value, list | tuple) or len(value) != count:
        return None
    if any(isinstance(part, bool) or not isinstance(part, int | float) for part in value):
        return None
    return tuple(map(float, value)) if all(map(isfinite, value)) else None


def _expected(
    text: str, read: Callable[[Any], Any], form: Any = PydanticUndefined
) -> BeforeValidator:
    def check(value: Any) -> Any:
        found = read(value)
        if found is None:
            raise PydanticCustomError("value", "expected {text}", {"text": text})
        return found

    return BeforeValidator(check, json_schema_input_type=form)


def _points(value: Any) -> tuple[tuple[float, ...], ...] | None:
    if (one := _numbers(value, 3)) is not None:
        return (one,)
    if not isinstance(value, list | tuple) or not value:
        return None
    several = [_numbers(part, 3) for part in value]
    return None if None in several else tuple(part for part in several if part is not None)


def _vector(value: Any) -> str | tuple[float | str, ...] | None:
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or len(value) != 3:
        return None
    kept = [0.0 if isinstance(part, str) else part for part in value]
    return None if _numbers(kept, 3) is None else tuple(value)


def _attitude(value: Any) -> str | tuple[float | str, ...] | None:
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple) or len(value) != 4:
        return None
    kept = [1.0 if isinstance(part, str) else part for part in value]
    return None if _quaternion(kept) is None else tuple(value)


def _quaternion(value: Any) -> tuple[float, ...] | None:
    four = _numbers(value, 4)
    return four if four is not None and any(four) else None


def _direction(value: Any) -> tuple[float, ...] | None:
    three = _numbers(value, 3)
    return three if three is not None and any(three) else None


def _colour(value: Any) -> str | None:
    return value if isinstance(value, str) and re.fullmatch("#[0-9a-fA-F]{6}", value) else None


Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Size = Annotated[Number, Field(gt=0)]
Three = tuple[float, float, float]
Four = tuple[float, float, float, float]
#: A point, m.
Point = Annotated[Three, _expected("three numbers [x, y, z]", lambda v: _numbers(v, 3))]
#: One or more points, m.
Places = Annotated[
    tuple[Three, ...],
    _expected("[x, y, z], or a list of these", _points, Three | tuple[Three, ...]),
]
Direction = Annotated[Three, _expected("a direction [x, y, z] that is not zero", _direction)]
Quaternion = Annotated[
    Four, _expected("four numbers, scalar first, that are not all zero", _quaternion)
]
#: A signal with three elements, or three numbers and scalar signals.
Vector = Annotated[
    str | tuple[float | str, float | str, float | str],
    _expected("an output with three elements, or a list of three numbers or outputs", _vector),
]
#: A signal with four elements, or four numbers and scalar signals.
Attitude = Annotated[
    str | tuple[float | str, float | str, float | str, float | str],
    _expected("an output with four elements, or four numbers or outputs, scalar first", _attitude),
]
Colour = Annotated[str, _expected("a colour such as '#1f4e79'", _colour)]
#: Names of frames, parts and views; they are shown.
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_. -]*$", max_length=100)]


class AnimationTable(BaseModel):
    """Base of all tables of an animation."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


Share = Annotated[Number, Field(ge=0, le=1)]
_ORIGIN = ((0.0, 0.0, 0.0),)


class _Part(AnimationTable):
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


class Anchor(AnimationTable):
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
