"""Waveform iteration: a step is repeated until the signals over it agree, not their means only."""

from __future__ import annotations

from dataclasses import replace

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.master.algorithms.fixed_point import ACCELERATIONS
from orchestrator.core.master.algorithms.plan import (
    Coupling,
    Iteration,
    Loops,
    Plan,
    is_within_step,
    iterated,
)
from orchestrator.core.system import Connection, System

_METHODS = {**ACCELERATIONS, "newton": Iteration.NEWTON}


def plan(
    system: System,
    method: str = "anderson",
    tolerance: float = 1e-9,
    most_iterations: int = 50,
) -> Plan:
    """Repeat every ring that no delay of a step cuts until the signals over the step agree.

    Units that take derivatives of their inputs are given the cubic through the last samples of each
    source and the one that the iteration has for the end of the step: waveform relaxation with the
    communication step as its window. With ``delay = "waveform"`` a delay shorter than the step is
    iterated likewise, as what arrives within the step depends on its end.

    Parameters
    ----------
    system
        What is to be stepped; its default experiment's step is the communication step.
    method
        ``"anderson"``, ``"aitken"``, ``"none"`` (plain relaxation, which converges only if the gain
        of the loop over one step is below 1), or ``"newton"`` with a Jacobian by differences.
    tolerance, most_iterations
        See :class:`Loops`.

    References
    ----------
    Lelarasmee, Ruehli, Sangiovanni-Vincentelli: The waveform relaxation method for time-domain
    analysis of large scale integrated circuits, 1982, doi 10.1109/TCAD.1982.1270004; here for
    windows of one step, with what a cubic keeps of each waveform.
    """
    if method not in _METHODS:
        raise UnknownNameError(f"method: expected one of {', '.join(_METHODS)}, found {method!r}")
    step_ns = system.experiment.step_ns or 0
    bound = tuple(_bound(line, step_ns) for line in system.connections)
    loops = Loops(_METHODS[method], tolerance, most_iterations)
    return iterated(replace(system, connections=bound), loops, Coupling.WAVEFORM)


def _bound(line: Connection, step_ns: int) -> Connection:
    """Return a line without its delay if some of what it brings is sent in the same step."""
    if line.delay is None or not is_within_step(line, step_ns):
        return line
    return replace(line, delay=None, interpolation=None, extrapolation=None)
