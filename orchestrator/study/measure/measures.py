"""Figures that are read off finished runs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result
from orchestrator.core.system import System, nanoseconds
from orchestrator.core.wings import of_wing
from orchestrator.study.file.experiment import Measure
from orchestrator.study.measure import fit_growth
from orchestrator.study.measure.observation import Observation, comparison_result, observation
from orchestrator.study.measure.outcome import Measured

#: Share of a signal's spread that a growth fit may leave. In two maps of a docking rig (401 runs)
#: fits that left less than 0.05 were within 0.024 1/s of the prediction, most above 0.3 far off.
_UNEXPLAINED = 0.25


def evaluate(
    measure: Measure, result: Result, system: System, others: Mapping[str, Result]
) -> Measured:
    """Read one figure off a result."""
    other = comparison_result(measure, result, others) if measure.is_difference else None
    seen = observation(measure, result, system, other)
    if measure.kind == "growth":
        return _growth(measure, result, system, seen)
    if measure.kind == "settling":
        return _settling(measure, result, seen)
    time, values = seen.time, seen.values
    if measure.kind == "final":
        return Measured(float(values[-1]), seen.unit, {"time_s": float(time[-1])})
    if measure.kind in ("rms", "rms_difference"):
        return Measured(float(np.sqrt(np.mean(values**2))), seen.unit)
    if measure.kind == "median":
        return Measured(float(np.median(values)), seen.unit)
    if measure.kind == "difference":
        values = np.abs(values)
    at = int(np.argmin(values) if measure.kind == "minimum" else np.argmax(values))
    return Measured(float(values[at]), seen.unit, {"time_s": float(time[at])})


def _settling(measure: Measure, result: Result, seen: Observation) -> Measured:
    """Give the first time from which the signal stays near zero until the end of the window."""
    outside = np.flatnonzero(~(np.abs(seen.values) < measure.within))
    first = outside[-1] + 1 if outside.size else 0
    if first == seen.time.size:
        raise DescriptionError(
            f"case '{result.name}', '{measure.signal}': expected to stay within {measure.within:g}"
            f" {seen.unit}, found {seen.values[-1]:g} at the end of the window"
        )
    return Measured(float(seen.time[first]), "s")


def _growth(measure: Measure, result: Result, system: System, seen: Observation) -> Measured:
    try:
        fit = fit_growth(seen.time, seen.values)
    except DescriptionError as error:
        raise DescriptionError(f"case '{result.name}', '{measure.signal}': {error}") from None
    share = fit.residual_rms / float(np.std(seen.values))
    if share > _UNEXPLAINED:
        raise DescriptionError(
            f"case '{result.name}', '{measure.signal}': one oscillation that grows leaves"
            f" {share:.0%} of the signal unexplained, expected at most {_UNEXPLAINED:.0%}: several"
            " move at once, or it is limited; measure it from a later time or until an earlier one"
        )
    details = {
        "frequency_hz": fit.frequency,
        "omega_rad_s": fit.omega,
        "residual_rms": fit.residual_rms,
        "residual_share": share,
    }
    if measure.predict is not None:
        later = _later(measure, result)
        details["predicted"] = of_wing("loops.predict")(measure.predict, result, system, later)
    return Measured(fit.sigma, "1/s", details)


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
