"""The experiment file: which systems are run how, what is measured, and what is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    Field,
    StrictFloat,
    StrictInt,
    StrictStr,
    StringConstraints,
    model_validator,
)
from pydantic_core import PydanticCustomError

from orchestrator.core.diagnostics import choices_for
from orchestrator.core.diagnostics.validation import Table, Time, deferred
from orchestrator.core.system.experiment import WAY
from orchestrator.study.content import Angle
from orchestrator.study.upward import (
    Animation,
    ArmingTable,
    EmulatorTable,
    IdentificationTable,
    Prediction,
    SupervisorSettings,
)

if TYPE_CHECKING:
    from orchestrator.core.master import ExecutionSettings
    from orchestrator.core.system import System
    from orchestrator.study.figure_tables import AnySweep, Figure, ListedSweep, Sweep
    from orchestrator.study.tables import (
        DeviceTable,
        Expectation,
        LedgerTable,
        RealTimeTable,
        RestTable,
        TuningTable,
    )


# Most experiments have few of these tables, so their modules are imported for the first of each.


def _device() -> type[DeviceTable]:
    from orchestrator.study.tables import DeviceTable

    return DeviceTable


def _expectation() -> type[Expectation]:
    from orchestrator.study.tables import Expectation

    return Expectation


def _ledger() -> type[LedgerTable]:
    from orchestrator.study.tables import LedgerTable

    return LedgerTable


def _real_time() -> type[RealTimeTable]:
    from orchestrator.study.tables import RealTimeTable

    return RealTimeTable


def _rest_table() -> type[RestTable]:
    from orchestrator.study.tables import RestTable

    return RestTable


def _tuning() -> type[TuningTable]:
    from orchestrator.study.tables import TuningTable

    return TuningTable


def _figure() -> Any:
    from orchestrator.study.figure_tables import Figure

    return Figure


def _sweep() -> Any:
    from orchestrator.study.figure_tables import AnySweep

    return AnySweep


if not TYPE_CHECKING:
    DeviceTable = deferred(_device)
    Expectation = deferred(_expectation)
    LedgerTable = deferred(_ledger)
    RealTimeTable = deferred(_real_time)
    RestTable = deferred(_rest_table)
    TuningTable = deferred(_tuning)
    Figure = deferred(_figure)
    AnySweep = deferred(_sweep)

#: Names of cases, sweeps and figures become file names.
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", max_length=100)]
#: Names of recorders stand between that of the case and the ending.
Part = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]+$", max_length=100)]
Amount = StrictInt | StrictFloat | tuple[StrictInt | StrictFloat, ...]
Setting = bool | int | float | str | tuple[float, ...]

#: As a step: the largest one that leaves the loops of the system within a tolerance.
AUTO = "auto"

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


class Measure(Table):
    """One figure that is read off a finished case.

    ``peak`` and ``minimum`` of a signal with their time; its ``final`` value, ``rms`` and
    ``median``; the ``growth`` rate of its oscillation; the time of ``settling``, from which it
    stays ``within`` so much of zero; the largest ``difference`` and the ``rms_difference`` to a
    signal of another case of the same times. The signal is first multiplied by ``factor``, whose
    product has the ``unit`` that is given with it (none, if it is not given; a factor of -1 keeps
    the signal's), then replaced by its deviation from ``target`` in percent of that (a number, or a
    parameter or recorded signal), or by its percentage of ``percent_of``, last by its ``absolute``
    value.
    """

    kind: MeasureKind
    signal: str
    angle: Angle = None
    begin: Time | None = Field(None, alias="from")
    until: Time | None = None
    to: str | None = None
    to_signal: str | None = None
    predict: Prediction | None = None
    factor: float = 1.0
    unit: str | None = None
    target: float | str | None = None
    percent_of: float | None = None
    absolute: bool = False
    within: float | None = Field(None, gt=0)

    @property
    def changes_unit(self) -> bool:
        """Whether ``factor`` gives values in another unit than the signal's."""
        return abs(self.factor) != 1.0

    @property
    def is_difference(self) -> bool:
        """Whether it compares with another case."""
        return self.kind in ("difference", "rms_difference")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.within is None) == (self.kind == "settling"):
            raise PydanticCustomError("within", "expected together with kind 'settling' only")
        if self.unit is not None and not self.changes_unit:
            raise PydanticCustomError(
                "unit", "expected together with a 'factor' other than 1 and -1"
            )
        if self.percent_of == 0 or self.target == 0:
            raise PydanticCustomError("zero", "expected 'target' and 'percent_of' other than 0")
        if self.target is not None and self.percent_of is not None:
            raise PydanticCustomError("both", "expected 'target' or 'percent_of', found both")
        return self


class RunOptions(Table):
    """How a case is run; what is missing comes from ``[defaults]``, then from the system."""

    algorithm: str | None = None
    algorithm_options: dict[str, Setting] | None = None
    rates: dict[str, int] | None = None
    delay: Literal["waveform", "mean", "plain"] | None = None
    step: Time | None = None
    tolerance: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    start: Time | None = None
    stop: Time | None = None
    every: int | None = Field(None, ge=1)
    record: tuple[str, ...] | None = None
    formats: tuple[str, ...] | None = Field(None, min_length=1)
    flush: Time | None = None
    backend: Literal["native", "fmpy", "pyfmi"] | None = None
    debug: bool | None = None
    early_return: bool | None = None
    linearise: bool | None = None

    @property
    def given_step(self) -> Time | None:
        """The step that is written; ``None`` if it is to be chosen, too."""
        return None if self.step == AUTO else self.step

    @property
    def stepping(self) -> dict[str, Any]:
        """What decides on how it is stepped, by keyword of :class:`orchestrator.Execution`."""
        return {name: getattr(self, name) for name in WAY}

    def settings(self, system: System, **more: Any) -> ExecutionSettings:
        """Return how a system is run with them."""
        from orchestrator.core.master import ExecutionSettings

        return ExecutionSettings.of(system, **self.stepping, **more)


class Recorder(Table):
    """Further files of a case: some of the signals that it records, some of the rows."""

    record: tuple[str, ...] | None = None
    every: int | None = Field(None, ge=1)
    formats: tuple[str, ...] | None = Field(None, min_length=1)


class UnitTable(Table):
    """How a component of a case is run; what is missing stays as the system has it."""

    interface: StrictStr | None = None
    solver: StrictStr | None = None
    tolerance: StrictInt | StrictFloat | None = None
    backend: StrictStr | None = None
    isolation: StrictStr | None = None
    process: StrictStr | None = None
    step_timeout: Time | None = None
    on_failure: StrictStr | None = None
    restarts: StrictInt | None = None
    debug: bool | None = None
    platform: StrictStr | None = None


class FaultTable(Table):
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


class InputTable(Table):
    """A signal of a file that drives one of the system's own inputs."""

    file: str
    column: str
    interpolation: Literal["linear", "hold"] = "linear"


class ParameterFile(Table):
    """A parameter set (.ssv), with the mapping (.ssm) that gives its names and the prefix."""

    file: str
    mapping: str | None = None
    prefix: str = ""


class Case(RunOptions):
    """One run of one system."""

    system: str
    variant: str | None = None
    parameters: tuple[str | ParameterFile, ...] = ()
    title: str = ""
    set: dict[str, Setting] = Field({})
    input: dict[str, InputTable] = Field({})
    delays: dict[str, Time] = Field({})
    swap: dict[str, str] = Field({})
    devices: dict[str, DeviceTable] = Field({})
    emulators: dict[str, EmulatorTable] = Field({})
    physical: tuple[str, ...] = ()
    rest: dict[str, RestTable] = Field({})
    arming: ArmingTable | None = None
    unit: dict[str, UnitTable] = Field({})
    fault: dict[Part, FaultTable] = Field({})
    recorder: dict[Part, Recorder] = Field({})
    measure: dict[str, Measure] = Field({})


class Experiment(Table):
    """Everything that one experiment file says."""

    title: str
    description: str = ""
    defaults: RunOptions = RunOptions()
    case: dict[Name, Case] = Field(min_length=1)
    realtime: RealTimeTable | None = None
    identification: IdentificationTable | None = None
    arming: ArmingTable | None = None
    supervisor: SupervisorSettings | None = None
    emulators: dict[str, EmulatorTable] = Field({})
    derived: dict[str, tuple[str, ...]] = Field({})
    tuning: dict[str, TuningTable] = Field({})
    sweep: dict[Name, AnySweep] = Field({})
    figure: dict[Name, Figure] = Field({})
    ledger: dict[Name, LedgerTable] = Field({})
    expect: dict[Name, Expectation] = Field({})
    animation: dict[Name, Animation] = Field({})
    extension: dict[Name, Any] = Field({})

    @model_validator(mode="after")
    def _tolerances(self) -> Self:
        for name, case in self.case.items():
            step = self.defaults.step if case.step is None else case.step
            tolerance = case.tolerance or self.defaults.tolerance
            if step == AUTO and tolerance is None:
                raise PydanticCustomError(
                    "tolerance", f"case '{name}': expected a tolerance with step = \"auto\""
                )
            if step != AUTO and case.tolerance is not None:
                raise PydanticCustomError(
                    "tolerance", f"case '{name}': expected step = \"auto\" with a tolerance"
                )
        return self

    @model_validator(mode="after")
    def _emulators(self) -> Self:
        devices = {component for case in self.case.values() for component in case.devices}
        for component in self.emulators:
            if component not in devices:
                raise PydanticCustomError(
                    "emulators",
                    f"emulators.{component}: no case has a device in place of"
                    f" '{component}'{choices_for(component, sorted(devices), 'device')}",
                )
        return self

    @property
    def stand_ins(self) -> list[tuple[str, str]]:
        """What stands for components in some case, or arms a device: component and source."""
        tables = [self.arming, *(case.arming for case in self.case.values())]
        swaps = [case.swap for case in self.case.values()]
        swaps += [table.models for table in tables if table is not None]
        return [(name, text) for swap in swaps for name, text in swap.items()]

    @property
    def names_twins(self) -> bool:
        """Whether a twin stands for a device in some case, or arms one."""
        return any(text.startswith("twin:") for _, text in self.stand_ins)

    @property
    def has_maps(self) -> bool:
        """Whether figures are drawn from sweeps with axes."""
        return any(figure.kind in {"map", "lines"} for figure in self.figure.values())

    @property
    def sweeps(self) -> dict[str, Sweep]:
        """All sweeps in the form with axes."""
        from orchestrator.study.figure_tables import ListedSweep

        faults = {name: case.fault for name, case in self.case.items()}
        return {
            name: s.with_axes(faults.get(s.case, ())) if isinstance(s, ListedSweep) else s
            for name, s in self.sweep.items()
        }

    @property
    def listed_sweeps(self) -> dict[str, ListedSweep]:
        """The sweeps that are run with the cases."""
        if not self.sweep:
            return {}
        from orchestrator.study.figure_tables import ListedSweep

        return {name: s for name, s in self.sweep.items() if isinstance(s, ListedSweep)}
