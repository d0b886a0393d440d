"""Compensations of undelayed lines on the same systems: errors over the communication step.

usage: python benchmarks/compensations.py [--json FILE] [--plot FILE]

The two-mass oscillator, cut by its motions (no direct feed-through) and by force and motion (the
force follows the motion at once), a body at a contact that stays closed, and one that meets a wall
by Hunt and Crossley's law; all of tests/benchmark_problems, whose units integrate exactly for held
inputs, so that errors are those of the coupling. They are held against matrix exponentials, and
against SciPy's DOP853 for the impact. ``growth`` is the error of the growth rate (1/s): half the
slope of the logarithm of the energy over the true one. ``energy`` is what the coupling made until
the end, by the energy at the start. ``peak`` is the largest error of any output at any time, by its
largest value. ``order`` is that of the peak between the two shortest steps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from runner import Benchmark

from orchestrator import Compensation, Extrapolation, System, TransportDelay, fmu
from orchestrator.core.master.plan import acting_at_once
from orchestrator.core.simunits import resolve

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from benchmark_problems import contact_loops, oscillator  # noqa: E402 - the tests' own problems
from benchmark_problems.problem import (  # noqa: E402
    Problem,
    Run,
    energy_error,
    error,
    run,
)

mpl.use("Agg")
MS = 1_000_000
DIVISIONS = (1, 2, 4, 8)


@dataclass(frozen=True)
class Case:
    """A problem, its longest step in ns, and the efforts that may take energy back."""

    problem: Problem
    step_ns: int
    efforts: tuple[str, ...]
    grows: bool = True
    derivatives: bool = False


@dataclass(frozen=True)
class Way:
    """What stands on the lines, and who steps them."""

    algorithm: str
    change: Callable[[System, Case], System] = lambda system, _: system
    options: Mapping[str, Any] = field(default_factory=dict)


def delayless(system: System, _: Case) -> System:
    """Declare a delay of zero everywhere, which makes an exact master predict."""
    return _changed(system, delay=TransportDelay(0))


def nepce(way: Extrapolation | None) -> Callable[[System, Case], System]:
    """Compensate all lines by their integrals, on top of an extrapolation."""

    def change(system: System, _: Case) -> System:
        return _changed(system, compensation=Compensation.NEPCE, extrapolation=way)

    return change


def nepce_on_states(system: System, _: Case) -> System:
    """Compensate the lines into inputs that act on no output at once."""
    acts_at_once = acting_at_once(system)
    lines = (
        line if acts_at_once(line) else replace(line, compensation=Compensation.NEPCE)
        for line in system.connections
    )
    return replace(system, connections=tuple(lines))


def corrector(system: System, _: Case) -> System:
    """Correct what inputs act on at once, and compensate the lines into states."""
    acts_at_once = acting_at_once(system)
    lines = (
        replace(
            line,
            compensation=Compensation.CORRECTOR if acts_at_once(line) else Compensation.NEPCE,
        )
        for line in resolve(system).connections
    )
    return replace(system, connections=tuple(lines))


def fmus() -> System:
    """Make the closed contact of FMUs, which take slopes and give derivatives."""
    built = ROOT / "fmus" / "build"
    (stiffness, damping), (depth, velocity) = contact_loops.CONTACT, contact_loops.START
    system = (
        System("closed contact of FMUs")
        .add("body", fmu(built / "Chaser.fmu"), m=contact_loops.MASS, x0=depth, v0=velocity)
        .add("wall", fmu(built / "Compliance.fmu"), k=stiffness, d=damping, latched=True)
        .connect("body.position", "wall.position_a")
        .connect("body.velocity", "wall.velocity_a")
        .connect("wall.force_a", "body.force")
    )
    held = ("body.thrust", "body.virtual_force", "wall.position_b", "wall.velocity_b")
    for name in held:
        system = system.set(name, 0.0)
    return resolve(system)


def energy(system: System, case: Case) -> System:
    """Let the efforts take back the energy of their bonds."""
    lines = (
        replace(line, compensation=Compensation.ENERGY)
        if str(line.source) in case.efforts
        else line
        for line in system.connections
    )
    return replace(system, connections=tuple(lines))


def _changed(system: System, **changes: Any) -> System:
    return replace(
        system, connections=tuple(replace(line, **changes) for line in system.connections)
    )


CASES = {
    "two masses, by motion": Case(oscillator.BY_MOTION, 16 * MS, ()),
    "two masses, by force": Case(oscillator.BY_FORCE, 16 * MS, ("two.force",)),
    "closed contact": Case(contact_loops.BONDED, 4 * MS, ("wall.force",)),
    "closed contact, FMUs": Case(
        replace(contact_loops.BONDED, make=fmus), 4 * MS, ("wall.force_a",), derivatives=True
    ),
    "impact": Case(contact_loops.IMPACT, 4 * MS, ("wall.force",), grows=False),
}
WAYS = {
    "hold": Way("jacobi"),
    "hold, Gauss-Seidel": Way("gauss-seidel"),
    "declared delay 0": Way("jacobi", delayless),
    "declared delay 0, Gauss-Seidel": Way("gauss-seidel", delayless),
    "nepce 0": Way("jacobi", nepce(None)),
    "nepce 1": Way("jacobi", nepce(Extrapolation.LINEAR)),
    "nepce 2": Way("jacobi", nepce(Extrapolation.QUADRATIC)),
    "nepce 0, Gauss-Seidel": Way("gauss-seidel", nepce(None)),
    "nepce on states, Gauss-Seidel": Way("gauss-seidel", nepce_on_states),
    "corrector": Way("jacobi", corrector),
    "energy": Way("jacobi", energy),
    "ecco": Way("ecco", options={"relative": 1e-3, "absolute": 1e-3}),
}


def growth_error(problem: Problem, found: Run) -> float:
    """Return by how much faster the amplitude grows than it should, in 1/s."""
    assert problem.energy is not None  # noqa: S101 - all cases have one
    right = problem.energy(problem.solution(found.times))
    ratio = problem.energy(found.rows) / right
    return float(np.polyfit(found.times, 0.5 * np.log(ratio), 1)[0])


def measure(case: Case, way: Way) -> list[dict[str, float]]:
    """Run one way at four steps; ECCO chooses its own, up to these."""
    problem = replace(case.problem, make=lambda: way.change(case.problem.make(), case))
    rows = []
    for division in DIVISIONS:
        step_ns, options = case.step_ns // division, dict(way.options)
        if way.algorithm == "ecco":
            options["longest"] = step_ns / 1e9
        found = run(problem, way.algorithm, step_ns, **options)
        row = {
            "step": step_ns / 1e9,
            "mean_step": float(found.times[-1] - found.times[0]) / (len(found.times) - 1),
            "energy": float(energy_error(problem, found)),
            "peak": float(error(problem, found)),
        }
        if case.grows:
            row["growth"] = growth_error(problem, found)
        rows.append(row)
    return rows


def possible(case: Case, way: Way) -> bool:
    """Whether there is a power bond, and derivatives, where they are needed."""
    if way.change is corrector:
        return case.derivatives
    return bool(case.efforts) or (way.change is not energy and way.algorithm != "ecco")


def order(rows: list[dict[str, float]]) -> float:
    """Return the order of the peak error between the two shortest steps."""
    long, short = rows[-2:]
    lengths = long["mean_step"] / short["mean_step"]
    return float(np.log(long["peak"] / short["peak"]) / np.log(lengths)) if lengths > 1 else 0.0


def table(found: Mapping[str, list[dict[str, float]]]) -> Iterator[tuple[object, ...]]:
    """One row for a way: the errors at the second step, and the order."""
    for way, rows in found.items():
        row = rows[1]
        yield (
            way,
            f"{row['growth']:+.1e}" if "growth" in row else "",
            f"{row['energy']:+.1e}",
            f"{row['peak']:.1e}",
            f"{order(rows):.1f}",
            f"{1e3 * row['mean_step']:.3g}",
        )


def draw(found: Mapping[str, Mapping[str, list[dict[str, float]]]], path: Path) -> None:
    """Draw the peak error of every way over the step, a plot for each problem."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(found), figsize=(16, 4.2), layout="constrained")
    colours = plt.get_cmap("tab20").colors
    for axis, (problem, ways) in zip(axes, found.items(), strict=True):
        for way, rows in ways.items():
            axis.loglog(
                [1e3 * row["mean_step"] for row in rows],
                [row["peak"] for row in rows],
                "o--" if "Gauss-Seidel" in way else "s-",
                color=colours[list(WAYS).index(way)],
                markersize=3.5,
                label=way,
            )
        steps = [1e3 * row["step"] for row in next(iter(ways.values()))]
        axis.set_xticks(steps, [f"{step:g}" for step in steps])
        axis.minorticks_off()
        axis.set_title(problem, fontsize=10)
        axis.set_xlabel("mean step / ms")
        axis.grid(which="major", alpha=0.3)
    axes[0].set_ylabel("largest error of any output, relative / 1")
    handles = axes[list(found).index("closed contact, FMUs")].get_legend_handles_labels()
    figure.legend(*handles, loc="outside right upper", fontsize=8)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    """Run everything, print a table for each problem, and draw."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--plot", type=Path, help="draw the errors over the step to this file")
    options = benchmark.options()
    cases = dict([next(iter(CASES.items()))]) if options.quick else CASES
    found = {
        name: {way: measure(case, how) for way, how in WAYS.items() if possible(case, how)}
        for name, case in cases.items()
    }
    for name, ways in found.items():
        step = next(iter(ways.values()))[1]["step"]
        columns = ["way", "growth 1/s", "energy", "peak", "order", "mean step ms"]
        benchmark.table(f"{name}, H = {1e3 * step:g} ms", columns, table(ways))
    if options.plot is not None:
        options.plot.parent.mkdir(parents=True, exist_ok=True)
        draw(found, options.plot)
    benchmark.finish(problems=found)


if __name__ == "__main__":
    main()
