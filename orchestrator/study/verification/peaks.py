"""Peak values of outputs with a step and with half of it: what no linear model knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from orchestrator.core.master import ExecutionSettings
from orchestrator.core.recording import Result
from orchestrator.core.system import System
from orchestrator.study.prepare.simulate import simulate_with
from orchestrator.study.verification.kinds import kinds_of
from orchestrator.study.verification.refinement import Refinement

#: An output whose peak is no larger, as a share of the largest of its component, is zero.
_ZERO = 1e-9
#: The error with H is at most so many times the difference to H/2, if it falls with the first
#: power of H or faster.
_WHOLE = 2.0


@dataclass(frozen=True, slots=True)
class PeakError:
    """How far the peak values of a run are off.

    Parameters
    ----------
    step_ns
        The communication step H, ns.
    output
        That which is farthest off; empty if there is none with a peak.
    peaks
        Its largest magnitudes with H and with H/2, in its own unit.
    share
        The error with H as a share of the peak: twice the difference.
    wall_seconds
        That the run with H took.
    """

    step_ns: int
    output: str
    peaks: tuple[float, float]
    share: float
    wall_seconds: float


@dataclass(frozen=True, slots=True)
class PeakChoice:
    """The step that peak values leave.

    Parameters
    ----------
    step_ns
        The largest one that was run and is within the tolerance; ``None`` if there is none.
    runs
        In the order in which they were made, the longest step first.
    """

    step_ns: int | None
    runs: tuple[PeakError, ...]


def peak_error(system: System, settings: ExecutionSettings) -> PeakError:
    """Run a system with a step and with half of it, and compare the peaks of what is recorded.

    Integers, Booleans and outputs that depend on draws have none.
    """
    refinement = Refinement.of(system, settings)
    coarse = simulate_with(system, settings)
    fine = simulate_with(system, replace(refinement.with_step_divided(2), every=settings.every))
    kinds = kinds_of(system, coarse.names, settings.faults)
    names = [n for n in coarse.names if n not in kinds.discrete and n not in kinds.random]
    before, after = _peaks(coarse, names), _peaks(fine, names)
    largest: dict[str, float] = {}
    for name, peak in after.items():
        component = name.partition(".")[0]
        largest[component] = max(peak, largest.get(component, 0.0))
    shares = {
        name: _WHOLE * abs(before[name] - peak) / peak
        for name, peak in after.items()
        if peak > _ZERO * largest[name.partition(".")[0]]
    }
    if not shares:
        return PeakError(refinement.step_ns, "", (0.0, 0.0), 0.0, coarse.wall_seconds)
    worst = max(shares, key=shares.__getitem__)
    return PeakError(
        refinement.step_ns,
        worst,
        (before[worst], after[worst]),
        shares[worst],
        coarse.wall_seconds,
    )


def choose_by_peaks(
    run: Callable[[int], PeakError], steps: Sequence[int], tolerance: float
) -> PeakChoice:
    """Run with one step after the other until the peaks are within a tolerance.

    Parameters
    ----------
    run
        Runs with a step in nanoseconds and with half of it.
    steps
        The longest first.
    tolerance
        Of the peaks, as a share of them.
    """
    runs = []
    for step_ns in steps:
        runs.append(run(step_ns))
        if runs[-1].share <= tolerance:
            return PeakChoice(step_ns, tuple(runs))
    return PeakChoice(None, tuple(runs))


def _peaks(result: Result, names: Sequence[str]) -> dict[str, float]:
    return {name: float(np.abs(result[name]).max()) for name in names}
