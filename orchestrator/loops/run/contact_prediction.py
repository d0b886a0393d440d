"""Growth of a linear contact loop, predicted with the values and the delays of a finished run.

    m s^2 + b s exp(-s h_b) + K exp(-s h_K) = 0

Spring and damper each have the delay of the loops that go through their component: a damper in
software may have none where the spring is hardware.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result
from orchestrator.core.system import System
from orchestrator.loops import StateSpace
from orchestrator.loops.contact import ContactLoop
from orchestrator.loops.delayed_loop import DelayedLoop
from orchestrator.loops.run.sampled_loop_table import SampledLoopSpec, number_of
from orchestrator.loops.run.sampled_prediction import predict_sampled, totals_of
from orchestrator.study.file.experiment import ContactLoopSpec


def predict(
    spec: ContactLoopSpec | SampledLoopSpec,
    result: Result,
    system: System,
    later: Mapping[str, int],
) -> float:
    """Predict the growth rate of a finished run, 1/s.

    Parameters
    ----------
    spec
        Figures of the loop: numbers, or the parameters that hold them.
    result, system
        The run, for its delays, and what was run.
    later
        By how much faults make connections later, in nanoseconds.

    Raises
    ------
    DescriptionError
        If a figure is none, or the loops of spring or damper have no common delay.
    """
    if isinstance(spec, SampledLoopSpec):
        return predict_sampled(spec, result, system, later)
    mass, stiffness, damping = (
        number_of(figure, system) for figure in (spec.mass, spec.stiffness, spec.damping)
    )
    spring = _delay("stiffness", spec.stiffness, result, later)
    damper = _delay("damping", spec.damping, result, later)
    loop = ContactLoop(mass, stiffness, damping, spring)
    return loop.growth_rate if damper == spring else _growth_rate(loop, damper)


def _growth_rate(loop: ContactLoop, damper: float) -> float:
    """Growth rate with another delay of the damper, s, than the loop's, which is the spring's."""
    body = StateSpace(
        np.array([[0.0, 1.0], [0.0, 0.0]]),
        np.array([[0.0], [1.0 / loop.mass]]),
        np.eye(2),
        np.zeros((2, 1)),
        ("position", "velocity"),
        ("force",),
        ("position", "velocity"),
    )
    gains = {
        loop.delay: np.array([[-loop.stiffness, 0.0]]),
        damper: np.array([[0.0, -loop.damping]]),
    }
    return DelayedLoop.closed(body, gains).roots(1)[0].real


def _delay(name: str, figure: float | str, result: Result, later: Mapping[str, int]) -> float:
    """Delay of all loops through the component that holds a figure, s; of a number, of all."""
    rings = [(entry, ring) for entry in result.loops for ring in entry.loops]
    component = figure.rpartition(".")[0] if isinstance(figure, str) else None
    through = [(entry, ring) for entry, ring in rings if component in entry.components]
    totals = {total for entry, ring in through or rings for total in totals_of(entry, ring, later)}
    if len(totals) == 1:
        return totals.pop() / 1e9
    found = ", ".join(f"{total / 1e6:g} ms" for total in sorted(totals)) or "none"
    those = f"the loops through '{component}'" if through else "the loops"
    name_it = "" if through else "; name the parameter of a component that is in one of them"
    raise DescriptionError(
        f"case '{result.name}', predict.{name}: expected one delay of all {those}, found:"
        f" {found}{name_it}"
    )
