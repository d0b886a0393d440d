"""Criteria J1 to J9 of the benchmark with its actuator, by what is done against its lag.

python examples/rths/criteria.py [WAY ..]

Partition 1 under El Centro at 40 %, the whole record, in steps of 1/4096 s. J1 is the delay between
wanted and measured displacement in ms, by the largest correlation; the others are errors in
percent.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from independent import C_E, K_E, Floats
from systems import actuated, shaken

from orchestrator import Result, System, block, simulate

CASE, STEP_NS, STOP = 1, 244_140, 41.18
#: Lag of the actuator at low frequencies, s: the slope of the phase of its transfer function.
LAG = 0.02507
_MOST_STEPS = 200


def nothing() -> System:
    """Send the actuator what the floor does."""
    return shaken(actuated(CASE), CASE)


def _between(what: System, name: str, *inputs: str) -> System:
    """Put a component between the frame and the actuator."""
    system = what.disconnect("frame.position", "actuator.command")
    system = system.connect(f"{name}.command", "actuator.command")
    for each in inputs:
        system = system.connect(f"frame.{each}", f"{name}.{each}")
    return system


def inverse() -> System:
    """Send it ahead by its lag, as over the last step."""
    return _between(nothing().add("ahead", block("inverse_delay"), delay=LAG), "ahead", "position")


def first_order() -> System:
    """Send it ahead by its lag times the velocity."""
    system = nothing().add("ahead", block("first_order_delay"), delay=LAG)
    return _between(system, "ahead", "position", "velocity")


def adaptive() -> System:
    """Learn the actuator's inverse while it moves."""
    system = nothing().add("ahead", block("adaptive_time_series"), delay=LAG)
    system = _between(system, "ahead", "position", "velocity", "acceleration")
    return system.connect("actuator.position", "ahead.measured")


def smith() -> System:
    """Replace the late part of the force by a model of the specimen."""
    known = {"delay": LAG, "stiffness": K_E, "damping": C_E}
    return (
        nothing()
        .disconnect("specimen.force", "frame.force")
        .add("model", block("smith_predictor"), **known)
        .connect("specimen.force", "model.measured")
        .connect("frame.position", "model.position")
        .connect("frame.velocity", "model.velocity")
        .connect("model.force", "frame.force")
    )


WAYS: dict[str, Callable[[], System]] = {
    "nothing": nothing,
    "first order": first_order,
    "inverse": inverse,
    "Smith predictor": smith,
    "adaptive time series": adaptive,
}


def criteria(result: Result) -> list[float]:
    """Return J1 in ms and J2 to J9 in percent (Silva et al. 2020, as their published scripts)."""

    def of(name: str) -> Floats:
        return result.values[:, result.names.index(name)]

    measured, wanted = of("actuator.position"), of("frame.position")

    def rms(found: Floats, right: Floats) -> float:
        return float(100.0 * np.std(found - right) / np.std(right))

    def peak(found: Floats, right: Floats) -> float:
        return float(100.0 * np.abs(found - right).max() / np.abs(right).max())

    alike = [
        np.corrcoef(measured[late:], wanted[: wanted.size - late])[0, 1]
        for late in range(_MOST_STEPS)
    ]
    floors = [(of(f"frame.{name}"), of(f"reference.{name}")) for name in ("second", "third")]
    reference = of("reference.position")
    return [
        int(np.argmax(alike)) * STEP_NS / 1e6,
        rms(measured, wanted),
        peak(measured, wanted),
        rms(measured, reference),
        peak(measured, reference),
        *(rms(*floor) for floor in floors),
        *(peak(*floor) for floor in floors),
    ]


def run(way: str) -> Result:
    """Run it until the end of the record, or until it has grown out of all bounds."""
    floors = [f"{part}.{name}" for part in ("frame", "reference") for name in _SEEN]
    return simulate(
        WAYS[way](), step=f"{STEP_NS} ns", stop=f"{STOP} s", record=[*floors, "actuator.position"]
    )


_SEEN = ("position", "second", "third")


def main() -> None:
    """Print a row for each way."""
    names = " ".join(f"{f'J{number}':>9}" for number in range(1, 10))
    print(f"{'':22} {names}")  # noqa: T201
    for way in sys.argv[1:] or WAYS:
        row = " ".join(f"{value:9.4g}" for value in criteria(run(way)))
        print(f"{way:22} {row}")  # noqa: T201


if __name__ == "__main__":
    main()
