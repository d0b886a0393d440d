"""Operating point: a run led to a moment, and linear models of FMUs by their own derivatives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import (
    BlockUnit,
    ModelExchangeUnit,
    SimulationUnit,
    open_description,
)
from orchestrator.core.system import Backend, Component, SourceKind, System
from orchestrator.loops.block_model import Side, block_model, jacobian
from orchestrator.loops.loop_account import signal_names
from orchestrator.loops.response_model import response_model
from orchestrator.loops.state_space import Floats, StateSpace, StepTransition, UnitModel


def exchange_model(unit: ModelExchangeUnit, inputs: Floats, side: Side = Side.MEAN) -> UnitModel:
    """Linearise a running unit about its present states.

    unit: Between two steps.
    inputs: What its bound inputs are now, float64 of shape (m,).
    side: What is taken at a kink.
    Raises CapabilityError: if the FMU gives no derivatives there.
    """
    model = unit.model
    status, present = model.states()
    expect(unit, status)
    point = np.concatenate([present, inputs])
    n = len(present)

    def at(where: Floats) -> Floats:
        status, slopes, outputs = model.evaluate(where[:n].tolist(), where[n:].tolist())
        expect(unit, status)
        return np.array([*slopes, *outputs])

    nominals = np.abs(point)
    nominals[nominals == 0.0] = 1.0
    found = jacobian(at, point, nominals, side)
    at(point)
    names = (*unit.state_names, *signal_names(unit.name, unit.inputs))
    whole = found.matrix
    space = StateSpace(
        whole[:n, :n],
        whole[:n, n:],
        whole[n:, :n],
        whole[n:, n:],
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
        tuple(f"{names[i]} stands at a kink: {side.what}" for i in found.kinks),
        tuple(names[i] for i in found.kinks),
    )


def steps_of(space: StateSpace) -> StepTransition:
    """Return the steps of a model; those asked for again are not computed again."""

    @lru_cache(maxsize=16)
    def step(step_ns: int, *, order: int) -> Floats:
        found = space.transition(step_ns / 1e9, order=order)
        found.flags.writeable = False
        return found

    return step


def expect(unit: ModelExchangeUnit, status: int) -> None:
    """Raise CapabilityError if a call of the FMU failed."""
    if status > 1:
        raise CapabilityError(
            f"component '{unit.name}' cannot be linearised: its FMU gives no derivatives at this"
            f" point: {unit.native.failure or f'status {status}'}"
        )


#: Leads another run to the point.
Again = Callable[[], AbstractContextManager[Execution]]
#: Of the integration up to the point, and of nothing else.
_TOLERANCE = 1e-9


def by_model_exchange(system: System) -> System:
    """Return a system as it is run to be linearised.

    FMUs with both interfaces are run by Model Exchange, whose derivatives the models are made of;
    everything runs in this process.
    """
    for name, component in system.components.items():
        system = system.with_options(name, **_options(component))
    return system


def unit_models(
    run: Execution,
    again: Again | None,
    side: Side = Side.MEAN,
    but: Collection[str] = (),
) -> dict[str, UnitModel]:
    """Linearise every component of a run where it stands, but those that are left out.

    ``again`` leads another run there, for units that cannot go back, if there may be another;
    ``side`` is what is taken at a kink.
    """
    models: dict[str, UnitModel] = {}
    refused: list[DescriptionError] = []
    with ExitStack() as stack:
        other = None if again is None else cache(lambda: stack.enter_context(again()))
        for unit, member in zip(run.units, run.schedule.members, strict=True):
            if unit.name in but:
                continue
            try:
                step_ns = member.ticks * run.schedule.step_ns
                models[unit.name] = _model(unit, run, step_ns, side, again, other)
            except CapabilityError as error:
                refused.append(error)
    if refused:
        raise DescriptionError.collect(refused)
    return models


def _options(component: Component) -> dict[str, Any]:
    """Return how a component is run to be linearised, where that is another way."""
    options: dict[str, Any] = {}
    if component.options.isolation is not None:
        options["isolation"] = None
    if component.source.kind is not SourceKind.FMU or component.backend is not Backend.NATIVE:
        return options
    described = open_description(Path(component.source.location))
    if described.modelExchange is not None and not described.fmiVersion.startswith("1"):
        options["interface"] = "me"
        options["tolerance"] = component.options.tolerance or _TOLERANCE
    return options


def _model(
    unit: SimulationUnit,
    run: Execution,
    step_ns: int,
    side: Side,
    again: Again | None,
    other: Callable[[], Execution] | None,
) -> UnitModel:
    inputs: Floats = np.array(
        [value for c in unit.inputs for value in np.ravel(run.get(f"{unit.name}.{c.name}"))],
        dtype=np.float64,
    )
    if isinstance(unit, ModelExchangeUnit):
        return exchange_model(unit, inputs, side)
    if isinstance(unit, BlockUnit):
        return block_model(unit, run.time_ns, step_ns, side)
    if again is None or other is None:
        return response_model(unit, inputs, run.time_ns, step_ns, None)

    def named(of: Execution) -> SimulationUnit:
        return next(one for one in of.units if one.name == unit.name)

    @contextmanager
    def replayed() -> Iterator[SimulationUnit]:
        with again() as another:
            yield named(another)

    return response_model(unit, inputs, run.time_ns, step_ns, replayed, lambda: named(other()))
