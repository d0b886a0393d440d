"""Growth of a contact with compensations over the step: by the map of one period, and of runs.

python benchmarks/compensated_growth.py

A body of 100 kg at 5e4 N/m and 100 N s/m, as FMUs, grows with -0.5 1/s in continuous time. `energy`
divides by a signal, so it has no map: what is told of it is measured, with the share of the signal
that one exponential leaves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from runner import Benchmark

from orchestrator import Compensation, Extrapolation, System, fmu, simulate
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.loops import linear_system
from orchestrator.loops.compensation_choice import choose_compensation
from orchestrator.loops.step_choice import StepReference, choose_step
from orchestrator.study.measure import fit_growth

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
#: Of the compensations that make up for an integral, by the extrapolation of their lines.
ORDERS = (None, Extrapolation.LINEAR, Extrapolation.QUADRATIC)


@dataclass(frozen=True)
class Growth:
    """Growth rates in 1/s: ``predicted`` is NaN without a map; ``left`` is the fit's share."""

    predicted: float
    measured: float
    left: float


def contact(way: str, order: int = 0) -> System:
    """Make the body and the contact that stays closed."""
    motion, force = WAYS[way]
    ahead_motion = ORDERS[order] if motion else None
    ahead_force = ORDERS[order] if force else None
    return (
        System("contact")
        .add("body", fmu(FMUS / "Chaser.fmu"), m=M, virtual_force=0.0, thrust=0.0, v0=0.05)
        .add("wall", fmu(FMUS / "Compliance.fmu"), k=K, d=D, latched=True)
        .set("wall.position_b", 0.0)
        .set("wall.velocity_b", 0.0)
        .connect(
            "body.position", "wall.position_a", compensation=motion, extrapolation=ahead_motion
        )
        .connect(
            "body.velocity", "wall.velocity_a", compensation=motion, extrapolation=ahead_motion
        )
        .connect("wall.force_a", "body.force", compensation=force, extrapolation=ahead_force)
    )


def growth(way: str, order: int, algorithm: str, step: str) -> Growth:
    """Predict the growth and read it off a run."""
    return growth_of(contact(way, order), algorithm, step)


def growth_of(system: System, algorithm: str, step: str) -> Growth:
    """Predict the growth of a system and read it off a run."""
    linear = linear_system(system, step=step, algorithm=algorithm)
    try:
        predicted = linear.loop_accounts()[0].modes[0].growth
    except CapabilityError:
        predicted = math.nan
    run = simulate(system, stop="3 s", step=step, algorithm=algorithm)
    values = run["body.position"]
    fit = fit_growth(run.time, values, start=0.2)
    return Growth(predicted, fit.sigma, fit.residual_rms / float(np.std(values)))


def proposed(algorithm: str, tolerance: float) -> tuple[str, Growth]:
    """Tell what ``analyze step`` proposes for the held contact, and the growth of it by a run."""
    reference = StepReference.of(
        linear_system(contact("held"), step="1 ms", algorithm=algorithm), length_ns=3_000_000_000
    )
    choice = choose_step(reference, tolerance, algorithm=algorithm)
    found, _ = choose_compensation(reference, choice)
    if found is None or choice.step_ns is None:
        return f"{algorithm}: nothing", Growth(math.nan, math.nan, math.nan)
    ways = dict(found.lines)
    system = contact("held")
    lines = tuple(
        replace(line, compensation=ways[str(line)], extrapolation=ORDERS[found.order])
        if str(line) in ways
        else line
        for line in system.connections
    )
    system = replace(system, connections=lines)
    return f"{algorithm}: {found}", growth_of(system, algorithm, f"{choice.step_ns} ns")


def main() -> None:
    """Print the tables."""
    benchmark = Benchmark(__doc__)
    quick = benchmark.options().quick
    rows = []
    for way in list(WAYS)[: 1 if quick else None]:
        for order in (0, 1, 2) if way in {"nepce", "corrector"} else (0,):
            for algorithm in ALGORITHMS:
                for step in STEPS[-1:] if quick else STEPS:
                    found = growth(way, order, algorithm, step)
                    told = "-" if math.isnan(found.predicted) else f"{found.predicted:+.5f}"
                    last = f"{found.measured:+.5f}", f"{found.left:.0e}"
                    rows.append((way, order, algorithm, step, told, *last))
    columns = ["lines", "order", "algorithm", "H", "growth, map", "growth, run", "left by the fit"]
    benchmark.table("Growth, 1/s", columns, rows)
    offers = []
    for algorithm in () if quick else ALGORITHMS:
        text, found = proposed(algorithm, 0.5)
        offers.append((text, f"{found.predicted:+.5f}", f"{found.measured:+.5f}"))
    title = "Proposed for the held contact at the step with half of its growth off"
    benchmark.table(title, ["", "growth, map", "growth, run"], offers)
    benchmark.finish(rows=rows, proposed=offers)


if __name__ == "__main__":
    main()
