"""What a measure looks at: a window of a signal, as it is or compared with a target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.recording import Result
from orchestrator.core.system import System, nanoseconds, signal_of
from orchestrator.study.file.experiment import Measure
from orchestrator.study.measure.signals import unit_of, values_of

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """Times in s and values of a measure's window, arrays of shape (n,), with their unit."""

    time: Floats
    values: Floats
    unit: str


def observation(
    measure: Measure, result: Result, system: System, other: Result | None
) -> Observation:
    """Take the window of a measure."""
    inside = _window(measure, result)
    values = measure.factor * values_of(result, measure.signal, measure.angle)
    unit = unit_of(result, measure.signal, measure.angle)
    if measure.changes_unit:
        unit = measure.unit or ""
    if other is not None:
        values = values - values_of(other, measure.to_signal or measure.signal, measure.angle)
    values = values[inside]
    if measure.target is not None:
        values, unit = _deviation(values, _target(measure.target, result, system, inside)), "%"
    if measure.percent_of is not None:
        values, unit = 100.0 * values / measure.percent_of, "%"
    return Observation(result.time[inside], np.abs(values) if measure.absolute else values, unit)


def target_value(target: str, system: System) -> float:
    """Value of a parameter, or of one element of it: ``"contact.k[0]"``."""
    signal = signal_of(system, target)
    value = system.value(str(signal.end))
    if signal.index is not None and isinstance(value, tuple):
        value = value[signal.index]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DescriptionError(f"'{target}': expected a number, found {value!r}")
    return float(value)


def _target(
    target: float | str, result: Result, system: System, inside: NDArray[np.bool_]
) -> Floats | float:
    if not isinstance(target, str):
        return target
    return result[target][inside] if target in result.names else target_value(target, system)


def _deviation(values: Floats, target: Floats | float) -> Floats:
    """How far values are from a target, in percent of it."""
    if not np.all(target):
        raise DescriptionError("a deviation in percent of a target: the target is zero")
    shares: Floats = 100.0 * (values / target - 1.0)
    return shares


def _window(measure: Measure, result: Result) -> NDArray[np.bool_]:
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
    return inside


def comparison_result(measure: Measure, result: Result, others: Mapping[str, Result]) -> Result:
    """Give the result that a difference is taken to."""
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
    return other
