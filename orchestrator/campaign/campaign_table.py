"""``[campaign.NAME]`` of an experiment file: cases that are run over a grid of values."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

Time = StrictStr | StrictInt | StrictFloat
#: More runs than this are a mistake in the file.
MOST_RUNS = 1_000_000
AxisValue = StrictBool | StrictInt | StrictFloat | StrictStr
#: Names of axes are keys of tables and of figures, such as ``bandwidth``.
AxisName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$", max_length=60)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Axis(_Table):
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


class Campaign(_Table):
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


class MapPanel(_Table):
    """One map: a case, and which value the axes have that are not drawn."""

    case: str
    title: str = ""
    at: dict[str, AxisValue] = {}


class _Drawn(_Table):
    title: str
    caption: str = ""
    campaign: str
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
