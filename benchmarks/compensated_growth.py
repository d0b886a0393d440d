"""Growth of a contact with compensations over the step: by the map of one period, and of runs.

python benchmarks/compensated_growth.py

A body of 100 kg at 5e4 N/m and 100 N s/m, as FMUs, grows with -0.5 1/s in continuous time. `energy`
divides by a signal, so it has no map: what is told of it is measured, with the share of the signal
that one exponential leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from orchestrator import Compensation, System, fmu, simulate
from orchestrator.analysis import fit_growth
from orchestrator.diagnostics import CapabilityError
from orchestrator.linearisation import linear_system

FMUS = Path(__file__).parents[1] / "fmus" / "build"
M, K, D = 100.0, 5.0e4, 100.0
STEPS = ("1 ms", "2 ms", "4 ms", "8 ms")
ALGORITHMS = ("jacobi", "gauss-seidel")
#: Of the lines that bring motion to the contact, and of that which brings its force back.
WAYS: dict[str, tuple[Compensation | None, Compensation | None]] = {
    "held": (None, None),
    "nepce": (None, Compensation.NEPCE),
    "corrector": (Compensation.CORRECTOR, Compensation.NEPCE),
    "energy": (None, Compensation.ENERGY),
}


@dataclass(frozen=True)
class Growth:
    """Growth rates in 1/s: ``predicted`` is NaN without a map; ``left`` is the fit's share."""

    predicted: float
    measured: float
    left: float


def contact(way: str) -> System:
    """Make the body and the contact that stays closed."""
    motion, force = WAYS[way]
    return (
        System("contact")
        .add("body", fmu(FMUS / "Chaser.fmu"), m=M, virtual_force=0.0, thrust=0.0, v0=0.05)
        .add("wall", fmu(FMUS / "Compliance.fmu"), k=K, d=D, latched=True)
        .set("wall.position_b", 0.0)
        .set("wall.velocity_b", 0.0)
        .connect("body.position", "wall.position_a", compensation=motion)
        .connect("body.velocity", "wall.velocity_a", compensation=motion)
        .connect("wall.force_a", "body.force", compensation=force)
    )


def growth(way: str, algorithm: str, step: str) -> Growth:
    """Predict the growth and read it off a run."""
    system = contact(way)
    linear = linear_system(system, step=step, algorithm=algorithm)
    try:
        predicted = linear.loop_accounts()[0].modes[0].growth
    except CapabilityError:
        predicted = math.nan
    run = simulate(system, stop="3 s", step=step, algorithm=algorithm)
    values = run["body.position"]
    fit = fit_growth(run.time, values, start=0.2)
    return Growth(predicted, fit.sigma, fit.residual_rms / float(np.std(values)))


def main() -> None:
    """Print the table."""
    print("| lines | algorithm | H | growth, map | growth, run | left by the fit |")
    print("|---|---|---|---|---|---|")
    for way in WAYS:
        for algorithm in ALGORITHMS:
            for step in STEPS:
                found = growth(way, algorithm, step)
                told = "-" if math.isnan(found.predicted) else f"{found.predicted:+.5f}"
                print(
                    f"| {way} | {algorithm} | {step} | {told} | {found.measured:+.5f}"
                    f" | {found.left:.0e} |"
                )


if __name__ == "__main__":
    main()
