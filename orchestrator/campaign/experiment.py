"""The experiment file: which systems are run how, what is measured, and what is drawn."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    model_validator,
)
from pydantic_core import PydanticCustomError

from orchestrator.animation import Animation
from orchestrator.campaign.campaign_table import Campaign, LinesFigure, MapFigure
from orchestrator.campaign.ledger_table import LedgerTable
from orchestrator.campaign.sampled_prediction import SampledLoopSpec

Time = StrictStr | StrictInt | StrictFloat
#: Axis of an angle of a signal that is a quaternion, in degrees; ``None``: it is taken as it is.
Axis = Literal["x", "y", "z"] | None

#: Names of cases, sweeps and figures become file names.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=100)]
#: Names of recorders stand between that of the case and the ending.
Part = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$", max_length=100)]
Amount = StrictInt | StrictFloat | tuple[StrictInt | StrictFloat, ...]
Setting = bool | int | float | str | tuple[float, ...]


MeasureKind = Literal[
    "peak",
    "minimum",
    "final",
    "rms",
    "median",
    "growth",
    "settling",
    "difference",
    "rms_difference",
]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class ContactLoopSpec(_Table):
    """A linear contact loop, to predict a growth rate from the delay that a run reports.

    Each is a number (kg, N/m, N.s/m) or the parameter that holds it, ``"component.parameter"``.
    """

    mass: float | str
    stiffness: float | str
    damping: float | str


class Measure(_Table):
    """One figure that is read off a finished case.

    ``peak`` and ``minimum`` of a signal with their time; its ``final`` value, ``rms`` and
    ``median``; the ``growth`` rate of its oscillation; the time of ``settling``, from which it
    stays ``within`` so much of zero; the largest ``difference`` and the ``rms_difference`` to a
    signal of another case of the same times. The signal is first multiplied by ``factor``, then
    replaced by its deviation from ``target`` in percent of that (a number, or a parameter or
    recorded signal), or by its percentage of ``percent_of``, last by its ``absolute`` value.
    """

    kind: MeasureKind
    signal: str
    angle: Axis = None
    begin: Time | None = Field(None, alias="from")
    until: Time | None = None
    to: str | None = None
    to_signal: str | None = None
    predict: ContactLoopSpec | SampledLoopSpec | None = None
    factor: float = 1.0
    target: float | str | None = None
    percent_of: float | None = None
    absolute: bool = False
    within: float | None = Field(None, gt=0)

    @property
    def is_difference(self) -> bool:
        """Whether it compares with another case."""
        return self.kind in ("difference", "rms_difference")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.within is None) == (self.kind == "settling"):
            raise PydanticCustomError("within", "expected with kind 'settling', and only there")
        if self.percent_of == 0 or self.target == 0:
            raise PydanticCustomError("zero", "expected 'target' and 'percent_of' other than 0")
        if self.target is not None and self.percent_of is not None:
            raise PydanticCustomError("both", "expected 'target' or 'percent_of', found both")
        return self


class RunOptions(_Table):
    """How a case is run; what is missing comes from ``[defaults]``, then from the system."""

    algorithm: str | None = None
    algorithm_options: dict[str, Setting] | None = None
    rates: dict[str, int] | None = None
    delay: Literal["exact", "plain"] | None = None
    step: Time | None = None
    start: Time | None = None
    stop: Time | None = None
    every: int | None = Field(None, ge=1)
    record: tuple[str, ...] | None = None
    formats: tuple[str, ...] | None = Field(None, min_length=1)
    flush: Time | None = None
    backend: Literal["native", "fmpy", "pyfmi"] | None = None
    early_return: bool | None = None


class Recorder(_Table):
    """Further files of a case: some of the signals that it records, some of the rows."""

    record: tuple[str, ...] | None = None
    every: int | None = Field(None, ge=1)
    formats: tuple[str, ...] | None = Field(None, min_length=1)


class UnitTable(_Table):
    """How a component of a case is run; what is missing stays as the system has it."""

    interface: StrictStr | None = None
    solver: StrictStr | None = None
    tolerance: StrictInt | StrictFloat | None = None
    backend: StrictStr | None = None
    isolation: StrictStr | None = None
    step_timeout: Time | None = None
    on_failure: StrictStr | None = None
    restarts: StrictInt | None = None


class FaultTable(_Table):
    """What goes wrong in a case, where and when; which figures it needs depends on the kind."""

    kind: StrictStr
    on: StrictStr | Annotated[tuple[StrictStr, ...], Field(min_length=1)]
    begin: Time = Field(alias="from")
    until: Time | None = None
    value: Amount | None = None
    rate: Amount | None = None
    factor: Amount | None = None
    sigma: Amount | None = None
    seed: StrictInt | None = None
    delay: Time | None = None
    element: StrictInt | None = None


class InputTable(_Table):
    """A signal of a file that drives one of the system's own inputs."""

    file: str
    column: str
    interpolation: Literal["linear", "hold"] = "linear"


class Case(RunOptions):
    """One run of one system."""

    system: str
    variant: str | None = None
    parameters: tuple[str, ...] = ()
    title: str = ""
    set: dict[str, Setting] = {}
    input: dict[str, InputTable] = {}
    delays: dict[str, Time] = {}
    swap: dict[str, str] = {}
    unit: dict[str, UnitTable] = {}
    fault: dict[Part, FaultTable] = {}
    recorder: dict[Part, Recorder] = {}
    measure: dict[str, Measure] = {}


class Sweep(_Table):
    """One case, run again for every value of its step or of one or more parameters."""

    case: str
    over: str | tuple[str, ...]
    values: tuple[Time, ...] = Field(min_length=1)
    measures: tuple[str, ...] = Field(min_length=1)


class SignalOf(_Table):
    """One recorded signal of one case."""

    case: str
    signal: str


class Curve(_Table):
    """One recorded signal of one case, or what it differs by from one of equal times."""

    case: str
    signal: str
    label: str
    angle: Axis = None
    factor: float = 1.0
    minus: SignalOf | None = None

    @property
    def cases(self) -> set[str]:
        """Names of the cases that it needs."""
        return {self.case} if self.minus is None else {self.case, self.minus.case}


class LevelLine(_Table):
    """A horizontal line to compare with."""

    value: float
    label: str


class Panel(_Table):
    """One set of axes over time; what is outside of ``ylim`` is cut off."""

    ylabel: str
    ylim: tuple[float, float] | None = None
    lines: tuple[LevelLine, ...] = ()
    curves: tuple[Curve, ...] = Field(min_length=1)


class TimeFigure(_Table):
    """Signals over time: panels in rows of ``columns``."""

    kind: Literal["time"]
    title: str
    caption: str = ""
    columns: int = Field(1, ge=1, le=3)
    begin: Time | None = Field(None, alias="from")
    until: Time | None = None
    panels: tuple[Panel, ...] = Field(min_length=1)


class SweepCurve(_Table):
    """One measure over the values of a sweep."""

    sweep: str
    measure: str
    label: str
    what: Literal["value", "predicted"] = "value"


class SweepFigure(_Table):
    """Measures over a swept quantity."""

    kind: Literal["sweep"]
    title: str
    caption: str = ""
    xlabel: str
    ylabel: str
    zero_line: str = ""
    curves: tuple[SweepCurve, ...] = Field(min_length=1)


class PlaneFigure(_Table):
    """The critically stable plane of a delayed contact loop (closed form and exact)."""

    kind: Literal["stability-plane"]
    title: str
    caption: str = ""
    mass: float = Field(gt=0)
    damping: tuple[float, float]
    delay: tuple[Time, Time]


Figure = Annotated[
    TimeFigure | SweepFigure | PlaneFigure | MapFigure | LinesFigure, Field(discriminator="kind")
]


class Experiment(_Table):
    """Everything that one experiment file says."""

    title: str
    description: str = ""
    defaults: RunOptions = RunOptions()
    case: dict[Name, Case] = Field(min_length=1)
    sweep: dict[Name, Sweep] = {}
    campaign: dict[Name, Campaign] = {}
    figure: dict[Name, Figure] = {}
    ledger: dict[Name, LedgerTable] = {}
    animation: dict[Name, Animation] = {}
