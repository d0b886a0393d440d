"""The checks that call an FMU: each returns a remark or raises; Skip says why it cannot run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orchestrator.simunits.inspection.probe import Probe

_STEPS = 20
_LOOSE = 1e-3  # two step sizes, and finite differences of unknown smoothness, agree to this


class Skip(Exception):  # noqa: N818 - no error: the FMU does not offer what is checked
    """The check does not apply to this FMU."""


class Bench:
    """Makes instances of one FMU and frees them.

    Parameters
    ----------
    description
        FMPy's model description.
    folder
        Where the FMU is unpacked.
    capabilities
        What the interface promises.
    exchange
        Model Exchange instead of Co-Simulation.
    """

    def __init__(
        self, description: Any, folder: str, capabilities: Mapping[str, Any], *, exchange: bool
    ) -> None:
        self.description = description
        self.folder = folder
        self.exchange = exchange
        self.capabilities = capabilities
        experiment = description.defaultExperiment
        self.start = float(getattr(experiment, "startTime", None) or 0.0)
        stop = float(getattr(experiment, "stopTime", None) or self.start + 1.0)
        fixed = capabilities.get("fixedInternalStepSize")
        proposed = getattr(experiment, "stepSize", None) or (stop - self.start) / 100
        self.step = float(fixed or proposed)
        if not self.step > 0:
            self.step = 0.01
        self.opened: list[Probe] = []

    def open(self, *, ready: bool = True) -> Probe:
        """Make an instance; if ready, go through its initialisation."""
        name = f"check{len(self.opened)}"
        probe = Probe(self.description, self.folder, name, exchange=self.exchange)
        self.opened.append(probe)
        if ready:
            probe.initialize(self.start)
            probe.excite()
        return probe

    def can(self, *names: str) -> bool:
        """Whether the interface has a capability, under one of its names in FMI 2.0 and 3.0."""
        return any(self.capabilities.get(name) is True for name in names)


def life_cycle(bench: Bench) -> str:
    """Instantiate, initialise, read everything, step, terminate, reset, begin anew, free."""
    probe = bench.open()
    probe.read_everything()
    probe.advance(bench.step, _STEPS)
    probe.read_everything()
    first = _finite(probe)
    probe.fmu.terminate()
    probe.fmu.reset()
    probe.initialize(bench.start)
    probe.excite()
    probe.advance(bench.step, _STEPS)
    if probe.result() != first:
        raise AssertionError(f"after a reset: {_difference(first, probe.result())}")
    probe.finish()
    return f"{_STEPS} steps of {bench.step:g} s; the same again after a reset"


def other_start_time(bench: Bench) -> str:
    """Start later than the default experiment, with a stop time."""
    probe = bench.open(ready=False)
    begin = bench.start + 1.5
    probe.initialize(begin, begin + _STEPS * bench.step)
    probe.advance(bench.step, _STEPS)
    _finite(probe)
    probe.finish()
    return f"from t = {begin:g} s to the stop time"


def start_values(bench: Bench) -> str:
    """Setting inputs and parameters to their own start values changes nothing, in either mode."""
    untouched = bench.open()
    untouched.advance(bench.step, _STEPS)
    expected = untouched.result()
    untouched.finish()
    count = 0
    for late in (False, True):
        probe = bench.open(ready=False)
        listed = [
            v
            for causality in ("parameter", "input")
            for v in probe.variables(causality)
            if v.start is not None
        ]
        count = len(listed)
        values = [float(v.start) for v in listed]
        if not late:
            probe.set(listed, values)
        probe.enter_initialization(bench.start)
        if late:
            probe.set(listed, values)
            probe.get(probe.variables("output"))
        probe.exit_initialization()
        probe.excite()
        probe.advance(bench.step, _STEPS)
        if probe.result() != expected:
            raise AssertionError(_difference(expected, probe.result()))
        probe.finish()
    return f"{count} Real parameters and inputs, before and during initialisation"


def several_instances(bench: Bench) -> str:
    """Two instances that take turns give what one gives alone."""
    if bench.can("canBeInstantiatedOnlyOncePerProcess"):
        raise Skip("canBeInstantiatedOnlyOncePerProcess")
    alone = bench.open()
    alone.advance(bench.step, _STEPS)
    pair = [bench.open(), bench.open()]
    pair[1].advance(bench.step, 3)
    for index in range(_STEPS):
        pair[0].advance(bench.step)
        if index < _STEPS - 3:
            pair[1].advance(bench.step)
    for probe in pair:
        if len(probe.result()) and not _close(probe.result(), alone.result(), 1e-12):
            raise AssertionError(_difference(alone.result(), probe.result()))
    for probe in (alone, *pair):
        probe.finish()
    return "two that take turns agree with one alone"


def saved_state(bench: Bench) -> str:
    """Going back to a saved state repeats the run bit by bit."""
    if not bench.can("canGetAndSetFMUstate", "canGetAndSetFMUState"):
        raise Skip("canGetAndSetFMUstate is false")
    probe = bench.open()
    probe.advance(bench.step, 5)
    state, time = probe.save(), probe.time
    probe.advance(bench.step, _STEPS)
    first = probe.result()
    probe.restore(state, time)
    probe.advance(bench.step, _STEPS)
    if probe.result() != first:
        raise AssertionError(_difference(first, probe.result()))
    remark = "bit by bit"
    if bench.can("canSerializeFMUstate", "canSerializeFMUState"):
        again = probe.from_bytes(probe.to_bytes(state))
        probe.restore(again, time)
        probe.advance(bench.step, _STEPS)
        if probe.result() != first:
            raise AssertionError(f"serialised: {_difference(first, probe.result())}")
        probe.forget(again)
        remark += ", serialised too"
    probe.forget(state)
    probe.finish()
    return remark


def directional_derivative(bench: Bench) -> str:
    """Directional derivatives agree with differences over the inputs (ME: and the states)."""
    if not bench.can("providesDirectionalDerivative", "providesDirectionalDerivatives"):
        raise Skip("providesDirectionalDerivative is false")
    probe = bench.open()
    probe.advance(bench.step, 3)
    outputs, inputs = probe.variables("output"), probe.movable_inputs()
    pairs = 0
    if outputs:
        for known in inputs:
            (value,) = probe.get([known])

            def outputs_at(x: float, known: Any = known) -> list[float]:
                probe.set([known], [x])
                return probe.get(outputs)

            _compare_slopes(probe, outputs, known, value, outputs_at)
            pairs += len(outputs)
    if bench.exchange:
        pairs += _state_slopes(probe)
    if not pairs:
        raise Skip("no Real input and output, no state")
    probe.finish()
    return f"{pairs} entries against differences"


def _state_slopes(probe: Probe) -> int:
    listed = [unknown.variable for unknown in probe.description.derivatives]
    if len(listed) != probe.states:
        return 0  # states that are arrays
    states = probe.continuous_states()
    for index, derivative in enumerate(listed):

        def slopes_at(x: float, index: int = index) -> list[float]:
            probe.write_states([*states[:index], x, *states[index + 1 :]])
            return probe.derivatives()

        _compare_slopes(probe, listed, derivative.derivative, states[index], slopes_at)
    return len(listed) ** 2


def _compare_slopes(
    probe: Probe,
    unknowns: Sequence[Any],
    known: Any,
    value: float,
    function: Callable[[float], list[float]],
) -> None:
    width = 1e-6 * max(1.0, abs(value))
    above, below, here = function(value + width), function(value - width), function(value)
    exact = probe.slope(unknowns, known)
    for unknown, a, b, middle, slope in zip(unknowns, above, below, here, exact, strict=True):
        # At a kink the slope of either side is right.
        estimates = ((a - b) / (2 * width), (a - middle) / width, (middle - b) / width)
        rounding = 1e-15 * max(abs(a), abs(b)) / width
        allowed = _LOOSE * max(abs(slope), abs(estimates[0])) + 100 * rounding + 1e-9
        if not any(abs(slope - estimate) <= allowed for estimate in estimates):
            raise AssertionError(
                f"d {unknown.name} / d {known.name} is {slope:.9g}, differences give"
                f" {estimates[0]:.9g}"
            )


def step_size(bench: Bench) -> str:
    """Half the communication step gives the same result up to the solver's error."""
    if bench.exchange:
        raise Skip("model exchange: the importer integrates")
    if not bench.can("canHandleVariableCommunicationStepSize"):
        raise Skip("canHandleVariableCommunicationStepSize is false")
    if "fixedInternalStepSize" in bench.capabilities:
        raise Skip("the FMU says that its internal step is fixed")
    results = []
    for divisor in (1, 2):
        probe = bench.open()
        begin = probe.result()
        probe.advance(bench.step / divisor, _STEPS * divisor)
        results.append(probe.result())
        probe.finish()
    if not results[0]:
        raise Skip("no Real output")
    worst = 0.0
    for whole, half, first in zip(*results, begin, strict=True):
        size = max(abs(whole), abs(half), abs(whole - first), 1e-6)
        worst = max(worst, abs(whole - half) / size)
    if not worst <= _LOOSE:
        raise AssertionError(f"H and H/2 differ by {worst:.2g} of the value; allowed {_LOOSE:g}")
    return f"H = {bench.step:g} s and H/2 differ by {worst:.1e}"


def states_and_nominals(bench: Bench) -> str:
    """States are written and read back, nominals are positive, derivatives finite."""
    if not bench.exchange:
        raise Skip("co-simulation")
    probe = bench.open()
    if not probe.states:
        raise Skip("no continuous state")
    if not all(x > 0 for x in probe.nominals()):
        raise AssertionError(f"nominal values are not positive: {probe.nominals()}")
    values = [x + 1e-3 for x in probe.continuous_states()]
    probe.write_states(values)
    if probe.continuous_states() != values:
        raise AssertionError(_difference(values, probe.continuous_states()))
    if not all(map(math.isfinite, probe.derivatives())):
        raise AssertionError(f"derivatives are not finite: {probe.derivatives()}")
    probe.finish()
    return f"{probe.states} states"


TRIALS: dict[str, Callable[[Bench], str]] = {
    "life cycle": life_cycle,
    "other start time": other_start_time,
    "start values": start_values,
    "several instances": several_instances,
    "saved state": saved_state,
    "directional derivative": directional_derivative,
    "step size": step_size,
    "states and nominals": states_and_nominals,
}


def _finite(probe: Probe) -> list[float]:
    values = probe.result()
    if not all(map(math.isfinite, values)):
        raise AssertionError(f"outputs are not finite at t = {probe.time:g} s: {values}")
    return values


def _close(one: Sequence[float], other: Sequence[float], tolerance: float) -> bool:
    return all(math.isclose(a, b, rel_tol=tolerance) for a, b in zip(one, other, strict=True))


def _difference(expected: Sequence[float], found: Sequence[float]) -> str:
    pairs = [(a, b) for a, b in zip(expected, found, strict=True) if a != b]
    return f"{len(pairs)} values differ; expected {pairs[0][0]!r}, got {pairs[0][1]!r}"
