"""``[figure.NAME]`` and ``[sweep.NAME]`` of an experiment file: what is run over axes and drawn."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StrictBool, StrictFloat, StrictInt, StrictStr, Tag

from orchestrator.core.diagnostics.validation import Table, Time
from orchestrator.study.content import Angle

#: More runs than this are a mistake in the file.
MOST_RUNS = 1_000_000
#: Figures of a fault that are times.
FAULT_TIMES = ("from", "until", "delay")
AxisValue = StrictBool | StrictInt | StrictFloat | StrictStr
#: Names of axes are keys of tables and of figures, such as ``bandwidth``.
AxisName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=60)]


class Axis(Table):
    """What is varied together, and over which values.

    Numbers are in ``unit``, which converts to that of each parameter; what is a time is seconds, or
    text such as ``"5 ms"``. With ``scale`` they are factors of what each case has.
    ``proportional`` are parameters that change by the same factor as the first of ``set``.
    """

    label: str = ""
    unit: str | None = None
    set: tuple[StrictStr, ...] = ()
    proportional: tuple[StrictStr, ...] = ()
    delay: tuple[StrictStr, ...] = ()
    fault: tuple[StrictStr, ...] = ()
    step: bool = False
    option: StrictStr | None = None
    rate: tuple[StrictStr, ...] = ()
    scale: bool = False
    values: tuple[AxisValue, ...] | None = Field(None, min_length=1)
    first: Time | None = Field(None, alias="from")
    last: Time | None = Field(None, alias="to")
    count: int | None = Field(None, ge=1, le=MOST_RUNS)
    spacing: Literal["linear", "log"] = "linear"


class Sweep(Table):
    """Every case at every point of a design over some axes, for every seed."""

    title: str = ""
    description: str = ""
    cases: tuple[StrictStr, ...] = Field(min_length=1)
    measures: tuple[StrictStr, ...] = Field(min_length=1)
    over: dict[AxisName, Axis] = Field(min_length=1)
    seeds: StrictInt | tuple[StrictInt, ...] | None = None
    design: Literal["grid", "latin-hypercube", "random"] = "grid"
    count: int | None = Field(None, ge=1, le=MOST_RUNS)
    seed: int = Field(0, ge=0)
    stop: Time | None = None
    record: tuple[StrictStr, ...] | None = None
    every: int | None = Field(None, ge=1)


class ListedSweep(Table):
    """The short form: one case, over listed values of its step or of one or more parameters.

    It is the sweep of this case over one axis, ``value``, that :meth:`with_axes` returns.
    ``softdock run`` runs it with the cases.
    """

    case: str
    over: str | tuple[str, ...]
    values: tuple[Time, ...] = Field(min_length=1)
    measures: tuple[str, ...] = Field(min_length=1)

    @property
    def paths(self) -> tuple[str, ...]:
        """What it varies together."""
        return (self.over,) if isinstance(self.over, str) else self.over

    def with_axes(self, faults: Collection[str]) -> Sweep:
        """Return the same in the long form."""
        prefixes = {f"fault.{label}" for label in faults}
        figures = [path for path in self.paths if path.rpartition(".")[0] in prefixes]
        settable = tuple(path for path in self.paths if path != "step" and path not in figures)
        times = [path for path in figures if path.rpartition(".")[2] in FAULT_TIMES]
        is_timed = "step" in self.paths or bool(times)
        axis = Axis(
            label=", ".join(self.paths),
            unit="s" if is_timed and (settable or times != figures) else None,
            set=settable,
            fault=tuple(path.removeprefix("fault.") for path in figures),
            step="step" in self.paths,
            values=self.values,
        )
        return Sweep(cases=(self.case,), measures=self.measures, over={"value": axis})


def _form(table: Any) -> str:
    """Tell the forms of a sweep apart: the short one has a single case."""
    listed = "case" in table if isinstance(table, dict) else isinstance(table, ListedSweep)
    return "listed" if listed else "axes"


#: Either form of a sweep.
AnySweep = Annotated[
    Annotated[ListedSweep, Tag("listed")] | Annotated[Sweep, Tag("axes")], Discriminator(_form)
]


class SignalOf(Table):
    """One recorded signal of one case."""

    case: str
    signal: str


class CurveTable(Table):
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


class PanelTable(Table):
    """One set of axes over time; what is outside of ``ylim`` is cut off."""

    ylabel: str
    ylim: tuple[float, float] | None = None
    lines: tuple[LevelLine, ...] = ()
    curves: tuple[CurveTable, ...] = Field(min_length=1)


class TimeFigure(Table):
    """Signals over time: panels in rows of ``columns``."""

    kind: Literal["time"]
    title: str
    caption: str = ""
    columns: int = Field(1, ge=1, le=3)
    begin: Time | None = Field(None, alias="from")
    until: Time | None = None
    panels: tuple[PanelTable, ...] = Field(min_length=1)


class PhaseCurveTable(Table):
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
    curves: tuple[PhaseCurveTable, ...] = Field(min_length=1)


class SweepCurveTable(Table):
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
    curves: tuple[SweepCurveTable, ...] = Field(min_length=1)


class PlaneFigure(Table):
    """The critically stable plane of a delayed contact loop (closed form and exact)."""

    kind: Literal["stability-plane"]
    title: str
    caption: str = ""
    mass: float = Field(gt=0)
    damping: tuple[float, float]
    delay: tuple[Time, Time]


class MapPanelTable(Table):
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
    panels: tuple[MapPanelTable, ...] = Field(min_length=1)
    colours: Literal["linear", "log", "diverging"] = "linear"
    range: tuple[float, float] | None = None
    contour: str | None = None
    levels: tuple[float, ...] = ()


class LinesFigure(_Drawn):
    """A measure over one axis: a curve for each case, with the range over the seeds."""

    kind: Literal["lines"]
    curves: tuple[MapPanelTable, ...] = Field(min_length=1)
    log: Literal["", "x", "y", "xy"] = ""
    range: tuple[float, float] | None = None


Figure = Annotated[
    TimeFigure | PhaseFigure | SweepFigure | PlaneFigure | MapFigure | LinesFigure,
    Field(discriminator="kind"),
]
