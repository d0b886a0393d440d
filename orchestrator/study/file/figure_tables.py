"""``[figure.NAME]`` of an experiment file: what is drawn."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from orchestrator.study.file.sweep_table import AxisValue
from orchestrator.study.file.table import Angle, Table, Time


class SignalOf(Table):
    """One recorded signal of one case."""

    case: str
    signal: str


class Curve(Table):
    """One recorded signal of one case, or what it differs by from one of equal times."""

    case: str
    signal: str
    label: str
    angle: Angle = None
    factor: float = 1.0
    minus: SignalOf | None = None

    @property
    def cases(self) -> set[str]:
        """Names of the cases that it needs."""
        return {self.case} if self.minus is None else {self.case, self.minus.case}


class LevelLine(Table):
    """A horizontal line to compare with."""

    value: float
    label: str


class Panel(Table):
    """One set of axes over time; what is outside of ``ylim`` is cut off."""

    ylabel: str
    ylim: tuple[float, float] | None = None
    lines: tuple[LevelLine, ...] = ()
    curves: tuple[Curve, ...] = Field(min_length=1)


class TimeFigure(Table):
    """Signals over time: panels in rows of ``columns``."""

    kind: Literal["time"]
    title: str
    caption: str = ""
    columns: int = Field(1, ge=1, le=3)
    begin: Time | None = Field(None, alias="from")
    until: Time | None = None
    panels: tuple[Panel, ...] = Field(min_length=1)


class PhaseCurve(Table):
    """One recorded signal of a case over another of it."""

    case: str
    x: str
    y: str
    label: str
    x_factor: float = 1.0
    y_factor: float = 1.0


class PhaseFigure(Table):
    """Paths in the plane of two signals, such as velocity over deformation."""

    kind: Literal["phase"]
    title: str
    caption: str = ""
    xlabel: str
    ylabel: str
    begin: Time | None = Field(None, alias="from")
    until: Time | None = None
    curves: tuple[PhaseCurve, ...] = Field(min_length=1)


class SweepCurve(Table):
    """One measure over the values of a sweep."""

    sweep: str
    measure: str
    label: str
    what: Literal["value", "predicted"] = "value"


class SweepFigure(Table):
    """Measures over a swept quantity."""

    kind: Literal["sweep"]
    title: str
    caption: str = ""
    xlabel: str
    ylabel: str
    zero_line: str = ""
    curves: tuple[SweepCurve, ...] = Field(min_length=1)


class PlaneFigure(Table):
    """The critically stable plane of a delayed contact loop (closed form and exact)."""

    kind: Literal["stability-plane"]
    title: str
    caption: str = ""
    mass: float = Field(gt=0)
    damping: tuple[float, float]
    delay: tuple[Time, Time]


class MapPanel(Table):
    """One map: a case, and which value the axes have that are not drawn."""

    case: str
    title: str = ""
    at: dict[str, AxisValue] = Field({})


class _Drawn(Table):
    title: str
    caption: str = ""
    sweep: str
    measure: str
    x: str
    label: str = ""
    factor: float = 1.0
    limit: float | None = None
    reduce: Literal["median", "max", "share above limit"] = "median"


class MapFigure(_Drawn):
    """A measure over two axes, as colours; panels have one scale.

    ``limit`` draws the line of this value, and dashed where ``predicted`` of the measure has it.
    ``contour`` is a second measure, whose ``levels`` are drawn as lines.
    """

    kind: Literal["map"]
    y: str
    panels: tuple[MapPanel, ...] = Field(min_length=1)
    colours: Literal["linear", "log", "diverging"] = "linear"
    range: tuple[float, float] | None = None
    contour: str | None = None
    levels: tuple[float, ...] = ()


class LinesFigure(_Drawn):
    """A measure over one axis: a curve for each case, with the range over the seeds."""

    kind: Literal["lines"]
    curves: tuple[MapPanel, ...] = Field(min_length=1)
    log: Literal["", "x", "y", "xy"] = ""
    range: tuple[float, float] | None = None


Figure = Annotated[
    TimeFigure | PhaseFigure | SweepFigure | PlaneFigure | MapFigure | LinesFigure,
    Field(discriminator="kind"),
]
