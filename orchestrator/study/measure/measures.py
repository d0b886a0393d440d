"""Measures: figures read off a window of a signal of a finished run, or compared with a target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.core.diagnostics import DescriptionError, counted
from orchestrator.core.recording import Result
from orchestrator.core.simunits.registry import clock_ns
from orchestrator.core.system import System, nanoseconds, signal_of
from orchestrator.study.content import Angle
from orchestrator.study.experiment import Measure
from orchestrator.study.measure.outcome import ExperimentOutcome, Measured
from orchestrator.study.prepare.prepared_case import PreparedCase

Floats = NDArray[np.float64]


def with_measures(
    case: PreparedCase,
    results: Mapping[str, Result],
    outcome: ExperimentOutcome,
    clock: str | None = None,
) -> tuple[Result, dict[str, Measured]]:
    """Read off what can be; what cannot is a problem of the outcome and a remark of the result.

    Of a rig that missed cycles, or a run that was stopped, it is a warning in the result.
    """
    measured: dict[str, Measured] = {}
    failed = []
    name = case.name
    for key, measure in case.case.measure.items():
        if measure.is_difference and measure.to not in results:
            failed.append(f"measure '{key}' needs case '{measure.to}', which was not run")
            continue
        try:
            measured[key] = evaluate(measure, results[name], case.system, results)
        except DescriptionError as error:
            steps = np.count_nonzero(missed_shares(case, results[name], clock))
            reason = f" (cycles were missed in {counted(int(steps), 'step')})" if steps else ""
            reason += f" ({outcome.stopped[name]})" if name in outcome.stopped else ""
            failed.append(f"{'warning: ' * bool(reason)}measure '{key}': {error}{reason}")
            if not reason:
                outcome.problems.append(f"case '{name}', measure '{key}': {error}")
    result = replace(results[name], notes=(*results[name].notes, *failed))
    return result, measured


def cardan_angles(q: ArrayLike) -> NDArray[np.float64]:
    """Turn quaternions into angles about x, y and z.

    The frame turns about the fixed x axis first, then y, then z. For small turns the angles are
    those of the rotation vector. The middle angle stays within a quarter turn, where the other two
    mean nothing; they have no jumps of a full turn from one attitude to the next.

    Parameters
    ----------
    q
        Quaternions, scalar first, shape (n, 4); their length does not matter.

    Returns
    -------
    ndarray
        Shape (n, 3), rad.
    """
    a, b, c, d = (np.asarray(q, dtype=np.float64) / np.linalg.norm(q, axis=1, keepdims=True)).T
    x = np.arctan2(2.0 * (a * b + c * d), 1.0 - 2.0 * (b * b + c * c))
    y = np.arcsin(np.clip(2.0 * (a * c - d * b), -1.0, 1.0))
    z = np.arctan2(2.0 * (a * d + b * c), 1.0 - 2.0 * (c * c + d * d))
    return np.column_stack([np.unwrap(x), y, np.unwrap(z)])


def names_of(signal: str, angle: Angle) -> tuple[str, ...]:
    """Names of the recorded columns that a signal needs."""
    return (signal,) if angle is None else tuple(f"{signal}[{i}]" for i in range(4))


def values_of(result: Result, signal: str, angle: Angle) -> NDArray[np.float64]:
    """Values of a signal, shape (n,)."""
    columns = [result[name] for name in names_of(signal, angle)]
    if angle is None:
        return columns[0]
    angles: NDArray[np.float64] = np.degrees(cardan_angles(np.column_stack(columns)))
    return angles[:, "xyz".index(angle)]


def unit_of(result: Result, signal: str, angle: Angle) -> str:
    """Unit of a signal, empty where none is declared."""
    return result.units.get(signal, "") if angle is None else "deg"


def _observed(
    measure: Measure, result: Result, system: System, reference: Result | None
) -> tuple[Floats, Floats, str]:
    """Return times in s and values of a measure's window, shape (n,), and their unit."""
    inside = _window(measure, result)
    values = measure.factor * values_of(result, measure.signal, measure.angle)
    unit = unit_of(result, measure.signal, measure.angle)
    if measure.changes_unit:
        unit = measure.unit or ""
    if reference is not None:
        values = values - values_of(reference, measure.to_signal or measure.signal, measure.angle)
    values = values[inside]
    if measure.target is not None:
        target: Floats | float | str = measure.target
        if isinstance(target, str):
            is_recorded = target in result.names
            target = result[target][inside] if is_recorded else target_value(target, system)
        if not np.all(target):
            raise DescriptionError("a deviation in percent of a target: the target is zero")
        values, unit = 100.0 * (values / target - 1.0), "%"
    if measure.percent_of is not None:
        values, unit = 100.0 * values / measure.percent_of, "%"
    return result.time[inside], np.abs(values) if measure.absolute else values, unit


def target_value(target: str, system: System) -> float:
    """Value of a parameter, or of one element of it: ``"contact.k[0]"``."""
    signal = signal_of(system, target)
    value = system.value(str(signal.end))
    if signal.index is not None and isinstance(value, tuple):
        value = value[signal.index]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DescriptionError(f"'{target}': expected a number, found {value!r}")
    return float(value)


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
    other_result = others.get(measure.to or "")
    if other_result is None:
        raise DescriptionError(
            f"case '{result.name}': the difference to case '{measure.to}' needs both runs"
        )
    if not np.array_equal(other_result.time_ns, result.time_ns):
        raise DescriptionError(
            f"case '{result.name}' and case '{other_result.name}' have different sample times; a"
            " difference needs the same step, every and stop"
        )
    return other_result


#: Share of a signal's spread that a growth fit may leave. In two maps of a docking rig (401 runs)
#: fits that left less than 0.05 were within 0.024 1/s of the prediction, most above 0.3 far off.
_UNEXPLAINED = 0.25


def evaluate(
    measure: Measure, result: Result, system: System, others: Mapping[str, Result]
) -> Measured:
    """Read one figure off a result."""
    other_result = comparison_result(measure, result, others) if measure.is_difference else None
    time, values, unit = _observed(measure, result, system, other_result)
    if measure.kind == "growth":
        return _growth(measure, result, system, time, values)
    if measure.kind == "settling":
        return _settling(measure, result, time, values, unit)
    if measure.kind == "final":
        return Measured(float(values[-1]), unit, {"time_s": float(time[-1])})
    if measure.kind in ("rms", "rms_difference"):
        return Measured(float(np.sqrt(np.mean(values**2))), unit)
    if measure.kind == "median":
        return Measured(float(np.median(values)), unit)
    if measure.kind == "difference":
        values = np.abs(values)
    at = int(np.argmin(values) if measure.kind == "minimum" else np.argmax(values))
    return Measured(float(values[at]), unit, {"time_s": float(time[at])})


def _settling(
    measure: Measure, result: Result, time: Floats, values: Floats, unit: str
) -> Measured:
    """Give the first time from which the signal stays near zero until the end of the window."""
    outside = np.flatnonzero(~(np.abs(values) < measure.within))
    first = outside[-1] + 1 if outside.size else 0
    if first == time.size:
        raise DescriptionError(
            f"case '{result.name}', '{measure.signal}': expected to stay within {measure.within:g}"
            f" {unit}, found {values[-1]:g} at the end of the window"
        )
    return Measured(float(time[first]), "s")


def _growth(
    measure: Measure, result: Result, system: System, time: Floats, values: Floats
) -> Measured:
    from orchestrator.study.measure import fit_growth

    try:
        fit = fit_growth(time, values)
    except DescriptionError as error:
        raise DescriptionError(f"case '{result.name}', '{measure.signal}': {error}") from None
    share = fit.residual_rms / float(np.std(values))
    if share > _UNEXPLAINED:
        raise DescriptionError(
            f"case '{result.name}', '{measure.signal}': one oscillation that grows leaves"
            f" {share:.0%} of the signal unexplained, expected at most {_UNEXPLAINED:.0%}:"
            " several oscillations overlap, or one is limited; start the window later or end it"
            " earlier"
        )
    details = {
        "frequency_hz": fit.frequency,
        "omega_rad_s": fit.omega,
        "residual_rms": fit.residual_rms,
        "residual_share": share,
    }
    if measure.predict is not None:
        later = _later(measure, result)
        details["predicted"] = measure.predict.growth_rate(result, system, later)
    return Measured(fit.sigma, "1/s", details)


def _later(measure: Measure, result: Result) -> dict[str, int]:
    """By how much faults make connections later in the window of a measure, in nanoseconds."""
    first = int(result.time_ns[0] if measure.begin is None else nanoseconds(measure.begin, "from"))
    last = int(result.time_ns[-1] if measure.until is None else nanoseconds(measure.until, "until"))
    later: dict[str, int] = {}
    for fault in result.faults:
        until_ns = last if fault.until_ns is None else fault.until_ns
        if not fault.extra_delay_ns or fault.begin_ns >= last or until_ns <= first:
            continue
        if fault.begin_ns > first or until_ns < last:
            raise DescriptionError(
                f"case '{result.name}': the delay changes within the window of the measure, since"
                f" fault '{fault.name}' acts {fault.times}; expected a window inside or outside of"
                " that"
            )
        later |= dict.fromkeys(fault.lines, fault.extra_delay_ns)
    return later


_COUNTS = ("samples", "lost", "late")


def counts_of(system: System) -> tuple[str, ...]:
    """Name the signals of a system that tell which cycles were missed."""
    return tuple(f"{device}.{count}" for device in _devices(system) for count in _COUNTS)


def missed_shares(case: PreparedCase, result: Result, clock: str | None) -> Floats:
    """Return by which share of its time each step and its device may be apart, shape (n - 1,).

    A step stands for as many cycles of the device that is the clock as fit into it. If the device
    counts more or fewer, the motion that was measured is that of another time. A sample that was
    lost or late is a cycle, too, of any device. What a cycle changed is read in the next step of
    each component, and answered in the one after that: so a step has all that was missed since
    twice the longest step before.
    """
    steps = np.diff(result.time)
    missed = np.zeros(len(steps))
    for device in _devices(case.system):
        if not all(f"{device}.{count}" in result.names for count in _COUNTS):
            continue  # a case that records its own choice, and has no ledger
        cycles = steps * (1e9 / (clock_ns(case.system.component(device).source) or 1))
        samples, lost, late_samples = (np.diff(result[f"{device}.{count}"]) for count in _COUNTS)
        missed_samples = np.abs(lost) + np.abs(late_samples)
        if device == clock:
            off = np.abs(samples + lost - cycles)
            missed_samples = np.maximum(missed_samples, np.where(off >= 1.0 - 1e-9, off, 0.0))
        missed = np.maximum(missed, missed_samples / cycles)
    window = 1 + 2 * max((case.options.rates or {}).values(), default=1)
    spread: Floats = np.convolve(missed, np.ones(window))[: len(missed)]
    return spread


def _devices(system: System) -> Iterator[str]:
    return (name for name, component in system.components.items() if clock_ns(component.source))
