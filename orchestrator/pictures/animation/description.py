"""The table ``[animation.NAME]`` of an experiment file: what is drawn, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import ConfigDict, Field, StrictFloat, StrictInt, StrictStr

from orchestrator.pictures.animation.shapes import (
    WORLD,
    Arrow,
    Attitude,
    Colour,
    Number,
    Part,
    Point,
    Size,
    Table,
    Vector,
    Word,
)

Time = StrictStr | StrictInt | StrictFloat


class Frame(Table):
    """A frame in another one: fixed, or moved by signals of a case.

    Parameters
    ----------
    within
        The frame that it is described in.
    position
        Of its origin, m.
    attitude
        Quaternion from its axes to those of the outer frame, scalar first: a signal with four
        elements, or four numbers or scalar signals.
    rest
        Where the displacement is counted from that ``exaggerate`` scales, m; default: the start.
    case
        The case whose signals move it; default: the case that is shown.
    reference
        Moved by the reference of the case that is shown.
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
        What the reader is told.
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

    def case_of(self, one: Frame | Arrow | ChartCurve, shown: str) -> str:
        """Return the case whose signals something has while a case is shown."""
        if one.reference:
            number = self.cases.index(shown)
            return self.reference[number if len(self.reference) > 1 else 0]
        return one.case or shown

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
        fixed = {one.case for _, one in self.owners() if one.case is not None}
        return fixed | {*self.cases, *self.reference}
