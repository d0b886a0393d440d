"""The table ``[animation.NAME]`` of an experiment file: what is drawn, and how it is shown."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictFloat, StrictInt, StrictStr

from orchestrator.animation.shapes import Arrow, Part
from orchestrator.animation.values import (
    WORLD,
    Attitude,
    Colour,
    Number,
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
        elements, or four numbers.
    rest
        Where the displacement is counted from that ``exaggerate`` scales, m; default: the start.
    case
        The case whose signals move it; default: the case that is shown.
    """

    within: str = Field(WORLD, alias="in")
    position: Vector = (0.0, 0.0, 0.0)
    attitude: Attitude = (1.0, 0.0, 0.0, 0.0)
    rest: Point | None = None
    case: str | None = None


class View(Table):
    """Where the camera is and what it looks at, m."""

    eye: Point
    target: Point


class ChartCurve(Table):
    """A signal under the picture; of the case that is shown if it names none."""

    signal: str
    label: str
    case: str | None = None
    factor: Number = 1.0
    colour: Colour | None = None


class Chart(Table):
    """One strip of curves over time."""

    ylabel: str
    curves: Annotated[tuple[ChartCurve, ...], Field(min_length=1)]


class Animation(Table):
    """A page with a moving picture of one or more cases.

    Parameters
    ----------
    title, caption
        What the reader is told.
    cases
        Shown one at a time, or all with ``beside``: how far the next one stands, m.
    exaggerate
        Factor of all displacements and rotations from rest; sizes stay.
    speed
        Seconds of the run in one second of the picture.
    fps
        Pictures in one second.
    begin, until
        The part of the run that is shown; default: all.
    frame, part, view, chart
        See their classes.
    """

    title: str = ""
    caption: str = ""
    cases: Annotated[tuple[str, ...], Field(min_length=1)]
    beside: Point | None = None
    exaggerate: Size = 1.0
    speed: Size = 1.0
    fps: Annotated[Size, Field(le=120)] = 30.0
    begin: Time | None = Field(None, alias="from")
    until: Time | None = None
    view: dict[Word, View] = Field(default={})
    frame: dict[Word, Frame] = Field(default={})
    part: Annotated[dict[Word, Part], Field(min_length=1)]
    chart: tuple[Chart, ...] = ()

    def needed(self) -> set[str]:
        """Names of all cases that it shows."""
        curves = (curve for chart in self.chart for curve in chart.curves)
        arrows = (part for part in self.part.values() if isinstance(part, Arrow))
        owners: tuple[Frame | Arrow | ChartCurve, ...] = (*self.frame.values(), *arrows, *curves)
        named = {one.case for one in owners} | {*self.cases}
        return {name for name in named if name is not None}
