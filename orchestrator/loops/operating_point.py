"""Operating point: a run that was led to the moment at which it is linearised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
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
from orchestrator.loops.block_model import block_model
from orchestrator.loops.exchange_model import exchange_model
from orchestrator.loops.jacobian import Side
from orchestrator.loops.response_model import response_model
from orchestrator.loops.state_space import Floats
from orchestrator.loops.unit_model import UnitModel

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
    known: Mapping[str, UnitModel] = MappingProxyType({}),
) -> dict[str, UnitModel]:
    """Linearise every component of a run where it stands, but those that are known.

    ``again`` leads another run there, for units that cannot go back, if there may be another;
    ``side`` is what is taken at a kink.
    """
    models: dict[str, UnitModel] = {}
    refused: list[DescriptionError] = []
    for unit, member in zip(run.units, run.schedule.members, strict=True):
        if unit.name in known:
            models[unit.name] = known[unit.name]
            continue
        try:
            step_ns = member.ticks * run.schedule.step_ns
            models[unit.name] = _model(unit, run, step_ns, side, again)
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
) -> UnitModel:
    inputs: Floats = np.array(
        [value for c in unit.inputs for value in np.ravel(run.get(f"{unit.name}.{c.name}"))],
        dtype=np.float64,
    )
    if isinstance(unit, ModelExchangeUnit):
        return exchange_model(unit, inputs, side)
    if isinstance(unit, BlockUnit):
        return block_model(unit, run.time_ns, step_ns, side)
    replayed = None if again is None else partial(_replayed, again, unit.name)
    return response_model(unit, inputs, run.time_ns, step_ns, replayed)


@contextmanager
def _replayed(again: Again, name: str) -> Iterator[SimulationUnit]:
    with again() as run:
        yield next(unit for unit in run.units if unit.name == name)
