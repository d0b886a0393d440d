"""The tables of an animation: what is drawn, what it looks like, and what is wrong with one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationInfo,
    model_validator,
)
from pydantic_core import PydanticCustomError, PydanticUndefined

from orchestrator.core.diagnostics import choices_for
from orchestrator.core.diagnostics.validation import Table, Time, valid
from orchestrator.core.files.plain_data import toml_file

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
        content = read(value)
        if content is None:
            raise PydanticCustomError("value", "expected {text}", {"text": text})
        return content

    return BeforeValidator(check, json_schema_input_type=form)


def _points(value: Any) -> tuple[tuple[float, ...], ...] | None:
    if (point := _numbers(value, 3)) is not None:
        return (point,)
    if not isinstance(value, list | tuple) or not value:
        return None
    several = [_numbers(part, 3) for part in value]
    return None if None in several else tuple(part for part in several if part is not None)


def _not_zero(value: Any, count: int) -> tuple[float, ...] | None:
    numbers = _numbers(value, count)
    return numbers if numbers is not None and any(numbers) else None


def _signals(
    value: Any, read: Callable[[Any], tuple[float, ...] | None]
) -> str | tuple[float | str, ...] | None:
    """Return a signal, or numbers and signals that could be read if all were numbers."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list | tuple):
        return None
    values = [1.0 if isinstance(part, str) else part for part in value]
    return None if read(values) is None else tuple(value)


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
Direction = Annotated[
    Three, _expected("a direction [x, y, z] that is not zero", lambda v: _not_zero(v, 3))
]
Quaternion = Annotated[
    Four, _expected("four numbers, scalar first, that are not all zero", lambda v: _not_zero(v, 4))
]
#: A signal with three elements, or three numbers and scalar signals.
Vector = Annotated[
    str | tuple[float | str, float | str, float | str],
    _expected(
        "an output with three elements, or a list of three numbers or outputs",
        lambda value: _signals(value, lambda v: _numbers(v, 3)),
    ),
]
#: A signal with four elements, or four numbers and scalar signals.
Attitude = Annotated[
    str | tuple[float | str, float | str, float | str, float | str],
    _expected(
        "an output with four elements, or four numbers or outputs, scalar first",
        lambda value: _signals(value, lambda v: _not_zero(v, 4)),
    ),
]
Colour = Annotated[
    str,
    _expected(
        "a colour such as '#1f4e79'",
        lambda v: v if isinstance(v, str) and re.fullmatch("#[0-9a-fA-F]{6}", v) else None,
    ),
]
#: Names of frames, parts and views; they are shown.
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_. -]*$", max_length=100)]


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


class Frame(Table):
    """A frame in another one: fixed, or moved by signals of a case.

    within: The frame that it is described in.
    position: Of its origin, m.
    attitude: Quaternion from its axes to those of the outer frame, scalar first: a signal with four
        elements, or four numbers or scalar signals.
    rest: Where the displacement is counted from that ``exaggerate`` scales, m; default: the start.
    case: The case whose signals move it; default: the case that is shown.
    reference: Moved by the reference of the case that is shown.
    """

    within: str = Field(WORLD, alias="in")
    position: Vector = (0.0, 0.0, 0.0)
    attitude: Attitude = (1.0, 0.0, 0.0, 0.0)
    rest: Point | None = None
    case: str | None = None
    reference: bool = False


class View(Table):
    """Where the camera is and what it looks at, m."""

    eye: Point
    target: Point


class ChartCurve(Table):
    """A signal under the picture; of the case that is shown if it names none."""

    signal: str
    label: str
    case: str | None = None
    reference: bool = False
    factor: Number = 1.0
    colour: Colour | None = None


class Chart(Table):
    """One strip of curves over time."""

    ylabel: str
    curves: Annotated[tuple[ChartCurve, ...], Field(min_length=1)]


class Scene(Table):
    """What several animations have in common: frames, parts, views and charts, in a file."""

    view: dict[Word, View] = Field(default={})
    frame: dict[Word, Frame] = Field(default={})
    part: dict[Word, Part] = Field(default={})
    chart: tuple[Chart, ...] = ()


_MERGED = ("frame", "part", "view")


def with_scenes(table: Any, folder: Path) -> Any:
    """Put what the scenes of an animation hold into its table, as TOML gives it.

    Later scenes win over earlier ones, and the animation's own content over all. Raises LoadError
    if a scene is missing or is no TOML, DescriptionError if it has other keys or wrong values.
    """
    files = table.get("scene") if isinstance(table, dict) else None
    if not isinstance(files, list) or not all(isinstance(file, str) for file in files):
        return table  # nothing to add, or wrong, which is said with the rest of the table
    if any(not isinstance(table.get(key, {}), dict) for key in _MERGED):
        return table
    scenes = [toml_file(folder / name, "no such scene", "a scene in TOML") for name in files]
    for name, scene in zip(files, scenes, strict=True):
        valid(Scene, scene, folder / name)
    merged = {
        key: {k: v for table_of in (*scenes, table) for k, v in table_of.get(key, {}).items()}
        for key in _MERGED
    }
    charts = table.get("chart", [chart for scene in scenes for chart in scene.get("chart", ())])
    return table | {key: value for key, value in merged.items() if value} | {"chart": charts}


def _without_parts_of_scenes(schema: dict[str, Any]) -> None:
    """Let a table be without parts in its schema: a scene may have them."""
    schema["required"].remove("part")


class Animation(Scene):
    """A page with a moving picture of one or more cases.

    Parameters
    ----------
    scene
        Files whose frames, parts and views it has, too; its own win. Without charts of its own it
        has theirs.
    title, caption
        Text for the reader.
    cases
        Shown one at a time, or all with ``beside``: how far the next one stands, m.
    reference
        What the cases are compared with: one case for each of them, or one for all.
    exaggerate
        Factor of all displacements and rotations from rest; sizes stay.
    speed
        Seconds of the run in one second of the picture.
    fps
        Pictures in one second.
    begin, until
        The part of the run that is shown; default: all.
    """

    model_config = ConfigDict(json_schema_extra=_without_parts_of_scenes)

    scene: tuple[str, ...] = ()
    title: str = ""
    caption: str = ""
    cases: Annotated[tuple[str, ...], Field(min_length=1)]
    reference: tuple[str, ...] = ()
    beside: Point | None = None
    exaggerate: Size = 1.0
    speed: Size = 1.0
    fps: Annotated[Size, Field(le=120)] = 30.0
    begin: Time | None = Field(None, alias="from")
    until: Time | None = None
    part: Annotated[dict[Word, Part], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _with_scenes(cls, table: Any, info: ValidationInfo) -> Any:
        """Read the scenes; the context has the ``folder`` that their paths are relative to."""
        return with_scenes(table, info.context["folder"]) if info.context else table

    def case_of(self, item: Frame | Arrow | ChartCurve, case: str) -> str:
        """Return the case whose signals something has while a case is shown."""
        if item.reference:
            number = self.cases.index(case)
            return self.reference[number if len(self.reference) > 1 else 0]
        return item.case or case

    def owners(self) -> Iterator[tuple[str, Frame | Arrow | ChartCurve]]:
        """Give all that signals of a case move or draw, by key."""
        yield from ((f"frame.{key}", frame) for key, frame in self.frame.items())
        for key, part in self.part.items():
            if isinstance(part, Arrow):
                yield f"part.{key}", part
        for number, chart in enumerate(self.chart):
            yield from ((f"chart.{number}.curves.{i}", c) for i, c in enumerate(chart.curves))

    def needed(self) -> set[str]:
        """Names of all cases that it shows."""
        fixed = {item.case for _, item in self.owners() if item.case is not None}
        return fixed | {*self.cases, *self.reference}

    def loose_ends(self, name: str) -> Iterator[tuple[str, str]]:
        """Say where names of frames lead nowhere, and where points have no partner."""
        table_key = f"animation.{name}"
        yield from _compared(table_key, self)
        if WORLD in self.frame:
            yield f"{table_key}.frame.{WORLD}", "the world is there already: choose another name"
        frames = [WORLD, *self.frame]
        for key, frame in self.frame.items():
            here = f"{table_key}.frame.{key}.in"
            yield from _unknown_frames(here, frame.within, frames)
            passed: set[str] = set()
            outer = frame.within
            while outer in self.frame and outer != key and outer not in passed:
                passed.add(outer)
                outer = self.frame[outer].within
            if outer == key:
                yield here, f"the frame stands in itself, by way of '{frame.within}'"
        for key, part in self.part.items():
            here = f"{table_key}.part.{key}"
            if isinstance(part, Line | Spring | Arm):
                yield from _unknown_frames(f"{here}.from.in", part.begin.within, frames)
                yield from _unknown_frames(f"{here}.to.in", part.end.within, frames)
                begin, end = len(part.begin.at), len(part.end.at)
                if begin != end:
                    yield (
                        here,
                        f"expected as many points in 'from' as in 'to', found {begin} and {end}",
                    )
                continue
            yield from _unknown_frames(f"{here}.in", part.within, frames)
            if not isinstance(part, Arrow) and part.ghost is not None:
                yield from _unknown_frames(f"{here}.ghost", part.ghost, frames)


#: What a page may hold; beyond it a browser takes long to open it.
MOST_PICTURES = 20_000


def _compared(table_key: str, table: Animation) -> Iterator[tuple[str, str]]:
    if len(table.reference) not in {0, 1, len(table.cases)}:
        text = (
            f"expected one case, or one for each of the {len(table.cases)} cases, found"
            f" {len(table.reference)}"
        )
        yield f"{table_key}.reference", text
    for key, item in table.owners():
        if item.reference and item.case is not None:
            yield f"{table_key}.{key}", "expected 'case' or 'reference', found both"
        elif item.reference and not table.reference:
            yield f"{table_key}.{key}.reference", "the animation names no 'reference'"


def _unknown_frames(key: str, name: str, frames: Sequence[str]) -> Iterator[tuple[str, str]]:
    if name not in frames:
        yield key, f"no frame '{name}'{choices_for(name, frames, 'frame')}"


def pictures(table: Animation, length_ns: int) -> int:
    """Return how many pictures a run of some length has."""
    return int(length_ns * table.fps / (1e9 * table.speed) + 1e-9) + 1


def too_many(name: str, table: Animation, length_ns: int) -> Iterator[str]:
    """Say whether a run would give more pictures than a page should hold."""
    count = pictures(table, length_ns)
    if count > MOST_PICTURES:
        yield (
            f"animation '{name}': {length_ns / 1e9:.6g} s at speed {table.speed:g} and"
            f" {table.fps:g} pictures a second are {count} pictures; expected at most"
            f" {MOST_PICTURES}: show a part with 'from' and 'until', or raise 'speed'"
        )
