"""Figures that are read off finished runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from orchestrator.analysis import ContactLoop, fit_growth
from orchestrator.campaign.experiment import Measure
from orchestrator.campaign.outcome import Measured
from orchestrator.errors import DescriptionError
from orchestrator.recording import Result
from orchestrator.system import System, nanoseconds

Floats = NDArray[np.float64]


def evaluate(
    measure: Measure, result: Result, system: System, others: Mapping[str, Result]
) -> Measured:
    """Read one figure off a result.

    Parameters
    ----------
    measure
        What to read.
    result, system
        The finished case, and what was run.
    others
        Results by case name, for a ``difference``.

    Raises
    ------
    DescriptionError
        If the signal does not exist, the window is empty, or the data do not hold the figure.
    """
    time, values = _window(measure, result)
    unit = result.units.get(measure.signal, "")
    if measure.kind == "growth":
        return _growth(measure, result, system, time, values)
    if measure.kind == "difference":
        return _difference(measure, result, others, unit)
    if measure.kind == "final":
        return Measured(float(values[-1]), unit, {"time_s": float(time[-1])})
    at = int(np.argmax(values) if measure.kind == "peak" else np.argmin(values))
    return Measured(float(values[at]), unit, {"time_s": float(time[at])})


def _window(measure: Measure, result: Result) -> tuple[Floats, Floats]:
    inside = np.ones(result.time_ns.shape, dtype=bool)
    if measure.begin is not None:
        inside &= result.time_ns >= nanoseconds(measure.begin, "from")
    if measure.until is not None:
        inside &= result.time_ns <= nanoseconds(measure.until, "until")
    if not inside.any():
        raise DescriptionError(
            f"case '{result.name}': the window from {measure.begin} until {measure.until} of"
            f" '{measure.signal}' holds no sample; the run covers {result.time[0]:g} to"
            f" {result.time[-1]:g} s"
        )
    return result.time[inside], measure.factor * result[measure.signal][inside]


def _growth(
    measure: Measure, result: Result, system: System, time: Floats, values: Floats
) -> Measured:
    try:
        fit = fit_growth(time, values)
    except DescriptionError as error:
        raise DescriptionError(f"case '{result.name}', '{measure.signal}': {error}") from None
    details = {
        "frequency_hz": fit.frequency,
        "omega_rad_s": fit.omega,
        "residual_rms": fit.residual_rms,
    }
    if measure.predict is not None:
        details["predicted"] = _predicted(measure, result, system)
    return Measured(fit.sigma, "1/s", details)


def _predicted(measure: Measure, result: Result, system: System) -> float:
    """Growth rate of the linear loop with the delay that the run reports for its delayed loops."""
    loop = measure.predict
    assert loop is not None  # noqa: S101 - the caller has looked
    later = _later(measure, result)
    totals = {
        round(entry.total_ns) + sum(later.get(str(line), 0) for line in ring.connections)
        for entry in result.loops
        for ring in entry.loops
        if entry.physical_ns
    }
    if len(totals) != 1:
        found = ", ".join(f"{total / 1e6:g} ms" for total in sorted(totals)) or "none"
        raise DescriptionError(
            f"case '{result.name}': a prediction needs one delay common to all delayed loops,"
            f" found: {found}"
        )
    mass, stiffness, damping = (
        float(system.value(given) if isinstance(given, str) else given)  # type: ignore[arg-type]
        for given in (loop.mass, loop.stiffness, loop.damping)
    )
    return ContactLoop(mass, stiffness, damping, totals.pop() / 1e9).growth_rate


def _later(measure: Measure, result: Result) -> dict[str, int]:
    """By how much faults make connections later in the window of a measure, in nanoseconds."""
    first = int(result.time_ns[0] if measure.begin is None else nanoseconds(measure.begin, "from"))
    last = int(result.time_ns[-1] if measure.until is None else nanoseconds(measure.until, "until"))
    later: dict[str, int] = {}
    for fault in result.faults:
        until_ns = last if fault.until_ns is None else fault.until_ns
        if not fault.later_ns or fault.begin_ns >= last or until_ns <= first:
            continue
        if fault.begin_ns > first or until_ns < last:
            raise DescriptionError(
                f"case '{result.name}': the delay changes within the window of the measure, since"
                f" fault '{fault.name}' acts {fault.times}; expected a window inside or outside of"
                " that"
            )
        later |= dict.fromkeys(fault.lines, fault.later_ns)
    return later


def _difference(
    measure: Measure, result: Result, others: Mapping[str, Result], unit: str
) -> Measured:
    other = others.get(measure.to or "")
    if other is None:
        raise DescriptionError(
            f"case '{result.name}': to take the difference to case '{measure.to}', run both"
        )
    if not np.array_equal(other.time_ns, result.time_ns):
        raise DescriptionError(
            f"case '{result.name}' and case '{other.name}' have different sample times; a"
            " difference needs the same step, every and stop"
        )
    error = np.abs(
        measure.factor * result[measure.signal] - other[measure.to_signal or measure.signal]
    )
    at = int(np.argmax(error))
    return Measured(float(error[at]), unit, {"time_s": float(result.time[at])})
