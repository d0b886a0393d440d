"""The check of directional derivatives against differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.core.simunits.inspection.bench import LOOSE, Bench, Skip
from orchestrator.core.simunits.inspection.probe import Probe


def directional_derivative(bench: Bench) -> str:
    """Directional derivatives agree with differences over the inputs (ME: and the states)."""
    if not bench.can("providesDirectionalDerivative", "providesDirectionalDerivatives"):
        raise Skip("providesDirectionalDerivative is false")
    probe = bench.open()
    probe.advance(bench.step, 3)
    # Discrete ones change at events only: they have no derivative.
    outputs = [v for v in probe.variables("output") if v.variability != "discrete"]
    inputs = [v for v in probe.movable_inputs() if v.variability != "discrete"]
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
        allowed = LOOSE * max(abs(slope), abs(estimates[0])) + 100 * rounding + 1e-9
        if not any(abs(slope - estimate) <= allowed for estimate in estimates):
            raise AssertionError(
                f"d {unknown.name} / d {known.name} is {slope:.9g}, differences give"
                f" {estimates[0]:.9g}"
            )
