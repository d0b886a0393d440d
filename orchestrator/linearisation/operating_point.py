"""Operating point: a run that was led to the moment at which it is linearised."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.coupling import DelayMode
from orchestrator.linearisation.block_model import block_model
from orchestrator.linearisation.exchange_model import exchange_model
from orchestrator.linearisation.response_model import response_model
from orchestrator.linearisation.state_space import Floats
from orchestrator.linearisation.unit_model import UnitModel
from orchestrator.master.run.execution import Execution
from orchestrator.simunits import BlockUnit, ModelExchangeUnit, SimulationUnit, open_description
from orchestrator.system import Backend, Component, SourceKind, System

#: Of the integration up to the point, and of nothing else.
_TOLERANCE = 1e-9


def unit_models(
    system: System,
    *,
    step: str | float,
    at: str | float = 0.0,
    algorithm: str = "gauss-seidel",
    delay: DelayMode | str = DelayMode.EXACT,
    options: Mapping[str, Any] | None = None,
    rates: Mapping[str, int] | None = None,
    start: str | float = 0.0,
) -> dict[str, UnitModel]:
    """Run a system as far as a time, and linearise every component there.

    FMUs with both interfaces are run by Model Exchange for it, whose derivatives the models are
    made of; everything runs in this process.

    Parameters
    ----------
    system, step, algorithm, delay, options, rates, start
        As of a run.
    at
        When, on the grid of communication steps; seconds or text.

    Raises
    ------
    SoftdockError
        If the system does not run as far as that, or a component cannot be linearised; all of
        those are named.
    """
    inside = system
    for name, component in system.components.items():
        inside = inside.with_options(name, **_options(component))
    with Execution(
        inside,
        step=step,
        start=start,
        algorithm=algorithm,
        delay=delay,
        algorithm_options=options,
        rates=rates,
        record=(),
    ) as run:
        if at != start:
            run.advance(at)
        members = {member.name: member for member in run.schedule.members}
        return {
            unit.name: _model(unit, run, members[unit.name].ticks * run.schedule.step_ns)
            for unit in run.units
        }


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


def _model(unit: SimulationUnit, run: Execution, step_ns: int) -> UnitModel:
    inputs: Floats = np.array(
        [value for c in unit.inputs for value in np.ravel(run.get(f"{unit.name}.{c.name}"))],
        dtype=np.float64,
    )
    if isinstance(unit, ModelExchangeUnit):
        return exchange_model(unit, inputs)
    if isinstance(unit, BlockUnit):
        return block_model(unit, run.time_ns, step_ns)
    return response_model(unit, inputs, run.time_ns, step_ns)
