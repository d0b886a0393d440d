"""Operating point: a run led to a moment, and linear models of FMUs by their own derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master import Execution
from orchestrator.core.master.schedule.schedule import Member
from orchestrator.core.simunits import (
    BlockUnit,
    ModelExchangeUnit,
    SimulationUnit,
    open_description,
)
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Backend, Component, SourceKind, System
from orchestrator.loops.block_model import Side, block_model, jacobian
from orchestrator.loops.loop_account import signal_names
from orchestrator.loops.periodic_model import (
    EXCITED,
    PulseTrial,
    Rewound,
    SampleTimes,
    StepGrid,
    common_period,
    hidden_period,
    missed_by,
    periodic_model,
)
from orchestrator.loops.response_model import response_model, rewinding
from orchestrator.loops.state_space import Floats, StateSpace, StepTransition, UnitModel


def exchange_model(unit: ModelExchangeUnit, inputs: Floats, side: Side = Side.MEAN) -> UnitModel:
    """Linearise a running unit about its present states.

    unit: Between two steps.
    inputs: What its bound inputs are now, float64 of shape (m,).
    side: What is taken at a kink.
    Raises CapabilityError: if the FMU gives no derivatives there.
    """
    model = unit.model
    expect(unit, unit.native.settle())  # what jumped before this point is an event that is due
    status, present = model.states()
    expect(unit, status)
    point = np.concatenate([present, inputs])
    n = len(present)

    def at(point: Floats) -> Floats:
        status, slopes, outputs = model.evaluate(point[:n].tolist(), point[n:].tolist())
        expect(unit, status)
        return np.array([*slopes, *outputs])

    nominals = np.abs(point)
    nominals[nominals == 0.0] = 1.0
    derivatives = jacobian(at, point, nominals, side)
    at(point)
    names = (*unit.state_names, *signal_names(unit.name, unit.inputs))
    matrix = derivatives.matrix
    space = StateSpace(
        matrix[:n, :n],
        matrix[:n, n:],
        matrix[n:, :n],
        matrix[n:, n:],
        tuple(f"{unit.name}.{name}" for name in unit.state_names),
        signal_names(unit.name, unit.inputs),
        signal_names(unit.name, unit.outputs),
    )
    return UnitModel(
        unit.name,
        "model exchange",
        space.states,
        steps_of(space),
        space,
        tuple(f"{names[i]} is at a kink: {side.description}" for i in derivatives.kinks),
        tuple(names[i] for i in derivatives.kinks),
    )


def steps_of(space: StateSpace) -> StepTransition:
    """Return the steps of a model; those asked for again are not computed again."""

    @lru_cache(maxsize=16)
    def step(step_ns: int, *, order: int) -> Floats:
        transition = space.transition(step_ns / 1e9, order=order)
        transition.flags.writeable = False
        return transition

    return step


def expect(unit: ModelExchangeUnit, status: int) -> None:
    """Raise CapabilityError if a call of the FMU failed."""
    if status > 1:
        raise CapabilityError(
            f"component '{unit.name}' cannot be linearised: its FMU gives no derivatives at this"
            f" point: {unit.failure_reason}"
        )


class Again(Protocol):
    """Leads another run to the point."""

    def __call__(self, as_run: Collection[str] = ()) -> AbstractContextManager[Execution]:
        """Lead it; the components ``as_run`` keep the interface that the system gives them."""


#: Of the integration up to the point, and of nothing else.
_TOLERANCE = 1e-9
#: Share of an excitation's answer that a model without samples may miss.
_MISSED = 1e-3


def by_model_exchange(system: System, but: Collection[str] = ()) -> System:
    """Return a system as it is run to be linearised.

    FMUs with both interfaces are run by Model Exchange, whose derivatives the models are made of,
    ``but`` some; everything runs in this process.
    """
    for name, component in system.components.items():
        system = system.with_options(name, **_options(component, as_run=name in but))
    return system


def unit_models(
    run: Execution,
    again: Again | None,
    side: Side = Side.MEAN,
    but: Collection[str] = (),
) -> dict[str, UnitModel]:
    """Linearise every component of a run where it stands, except omitted ones.

    ``again`` leads another run there, for units that cannot go back and for units that sample, if
    there may be another; ``side`` is what is taken at a kink.
    """
    models: dict[str, UnitModel] = {}
    refused: list[DescriptionError] = []
    with ExitStack() as stack:
        others = cache(lambda *names: stack.enter_context(again(names))) if again else None
        for unit, member in zip(run.units, run.schedule.members, strict=True):
            if unit.name in but:
                continue
            try:
                point = _Point(run, member, side, again, others)
                models[unit.name] = point.model(unit)
            except CapabilityError as error:
                refused.append(error)
    if refused:
        raise DescriptionError.collect(refused)
    return models


def _options(component: Component, *, as_run: bool) -> dict[str, Any]:
    """Return how a component is run to be linearised, where that is another way."""
    options: dict[str, Any] = {}
    if component.options.isolation is not None:
        options["isolation"] = None
    if as_run and component.options.interface != "me":
        return options
    if component.source.kind is not SourceKind.FMU or component.backend is not Backend.NATIVE:
        return options
    described = open_description(Path(component.source.location))
    if described.modelExchange is not None and not described.fmiVersion.startswith("1"):
        options["interface"] = "me"
        options["tolerance"] = component.options.tolerance or _TOLERANCE
    return options


class _Point(Struct):
    """Where a component of a run is linearised.

    run, member: Led to the point, and which of its members.
    side: What is taken at a kink.
    again: Leads another run there; ``None``: there may be none.
    others: Such a run that stays, by the names of the components that are as the system has them.
    """

    run: Execution
    member: Member
    side: Side
    again: Again | None
    others: Callable[..., Execution] | None

    @property
    def step_ns(self) -> int:
        step_ns, ticks = self.run.schedule.step_ns, self.member.ticks
        return step_ns if ticks == 1 else ticks * step_ns  # a fraction of nanoseconds stays exact

    @property
    def grid(self) -> StepGrid:
        return StepGrid.of(self.run.time_ns, self.run.schedule.step_ns, self.member.ticks)

    def inputs(self, unit: SimulationUnit) -> Floats:
        names = (f"{unit.name}.{c.name}" for c in unit.inputs)
        values = [value for name in names for value in np.ravel(self.run.get(name))]
        return np.array(values, dtype=np.float64)

    def model(self, unit: SimulationUnit) -> UnitModel:
        inputs = self.inputs(unit)
        if unit.native.due_ns is not None:
            self.refuse_event_mode(unit.name)
        if isinstance(unit, ModelExchangeUnit):
            model = exchange_model(unit, inputs, self.side)
            if math.isfinite(unit.native.next_event):
                return self._with_time_events(unit, inputs, model)
            return model
        if isinstance(unit, BlockUnit):
            return block_model(unit, self.run.time_ns, self.step_ns, self.side)
        fresh = None
        if self.others is not None:
            fresh = lambda: _unit_named(self.others(), unit.name)  # noqa: E731
        return response_model(
            unit, inputs, self.run.time_ns, self.step_ns, self._replayed(unit), fresh
        )

    def refuse_event_mode(self, name: str) -> NoReturn:
        raise CapabilityError(
            f"component '{name}' cannot be linearised: it has time events or clocks in event mode"
            " (FMI 3.0), in which the master exchanges signals between two steps, as no linear map"
            " of a step has it; run it by Model Exchange (interface 'me') if it has that"
        )

    def _replayed(self, unit: SimulationUnit, as_run: Collection[str] = ()) -> Rewound | None:
        if self.again is None:
            return None
        again = self.again

        @contextmanager
        def replayed() -> Iterator[SimulationUnit]:
            with again(as_run) as another:
                yield _unit_named(another, unit.name)

        return replayed

    def _with_time_events(
        self, unit: ModelExchangeUnit, inputs: Floats, frozen: UnitModel
    ) -> UnitModel:
        """Return the model of a unit that has a time event before it.

        Some change nothing of how it answers to its inputs, as those of a source do: its model is
        then that of its derivatives. Others sample its inputs.
        """
        grid, rewound = self.grid, rewinding(unit, self._replayed(unit))
        with rewound() as rewound_unit:
            native = (
                rewound_unit.native if isinstance(rewound_unit, ModelExchangeUnit) else unit.native
            )
            times = SampleTimes.of(rewound_unit, native, self.run.time_ns, self.step_ns)
        if len(times.times) < 3:
            when = f"{unit.native.next_event:.9g} s"
            message = (
                f"component '{unit.name}' has a time event at {when}: the model holds until then"
            )
            return replace(frozen, remarks=(*frozen.remarks, message))
        trial = PulseTrial(rewound, unit, inputs, grid, 0)
        reach = round((times.times[2] - self.run.time_ns / 1e9) * 1e9 / float(grid.step_ns)) + 2
        step = frozen.transition(self.step_ns, order=0)
        missed, _ = missed_by(trial, step, len(frozen.states), reach)
        if missed <= _MISSED:
            return frozen
        until = math.ceil((times.times[0] * 1e9 - self.run.time_ns) / float(grid.step_ns)) - 2
        if until >= EXCITED:
            missed, _ = missed_by(trial, step, len(frozen.states), longest=until)
            if missed > _MISSED:
                trial.refuse(
                    "how it answers to its inputs changes with time, also between its time events,"
                    f" of which the next are at {_listed(times)} s; keep constant what changes"
                )
        if not times.period:
            trial.refuse(
                "its time events change how it answers to its inputs and do not repeat: the next"
                f" are at {_listed(times)} s; linearise it"
                " at another time"
            )
        phases = common_period(unit.name, times.period, grid.step_ns)
        first_ns = (times.times[0] - times.period) * 1e9 + 1.0
        begin = max(grid.first, math.ceil(Fraction(first_ns) / grid.step_ns))
        return self._sampled(unit, inputs, times, phases, begin)

    def _sampled(
        self,
        unit: ModelExchangeUnit,
        inputs: Floats,
        times: SampleTimes,
        phases: int,
        begin: int,
    ) -> UnitModel:
        """Identify a unit that samples, by the interface that a run gives it."""
        name: str = unit.name
        run = self.run if self.others is None else self.others(name)
        stepped = _unit_named(run, name)
        if stepped.native.has_event_mode and run.schedule.events is not None:
            self.refuse_event_mode(name)
        rewound = rewinding(stepped, self._replayed(stepped, (name,)))
        order = stepped.description.capabilities.input_order
        trial = PulseTrial(rewound, stepped, inputs, self.grid, order)
        reason = f"samples every {times.period:g} s"
        try:
            return periodic_model(trial, phases, begin, reason)
        except CapabilityError:  # not all events do the same, as those of two clocks in one unit
            longer = hidden_period(trial, begin)
            if longer <= phases:
                raise
            return periodic_model(trial, longer, begin, "samples with several periods")


def _listed(times: SampleTimes) -> str:
    return ", ".join(f"{time:.9g}" for time in times.times[:4])


def _unit_named(run: Execution, name: str) -> SimulationUnit:
    return next(unit for unit in run.units if unit.name == name)
