"""Linear model of an FMU that has a Model Exchange interface: by its own derivatives."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits import ModelExchangeUnit
from orchestrator.loops.jacobian import Side, jacobian
from orchestrator.loops.loop_account import signal_names
from orchestrator.loops.state_space import Floats, StateSpace
from orchestrator.loops.unit_model import Transition, UnitModel


def exchange_model(unit: ModelExchangeUnit, inputs: Floats, side: Side = Side.MEAN) -> UnitModel:
    """Linearise a running unit about its present states.

    Parameters
    ----------
    unit
        Between two steps.
    inputs
        What its bound inputs are now, float64 of shape (m,).
    side
        What is taken at a kink.

    Raises
    ------
    CapabilityError
        If the FMU gives no derivatives there.
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
        _steps(space),
        space,
        tuple(f"{names[i]} stands at a kink: {side.what}" for i in found.kinks),
        tuple(names[i] for i in found.kinks),
    )


def _steps(space: StateSpace) -> Transition:
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
