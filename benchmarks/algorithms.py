"""Every algorithm on two problems with closed forms: error against unit steps and wall time.

usage: python benchmarks/algorithms.py [--json FILE] [--plot FILE]

The two-mass oscillator and the quarter car of tests/benchmark_problems, whose units integrate
exactly: the error is that of the coupling alone, the largest of any output at any time, relative
to the output's largest value. Unit steps are all calls of a unit's step, repeated ones included.
The units are Python blocks, about 10 us a call; wall time is that of stepping, once, on a machine
that may do other things.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from runner import Benchmark

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from benchmark_problems import oscillator, quarter_car  # noqa: E402 - the tests' own problems
from benchmark_problems.problem import Problem, energy_error, error, run  # noqa: E402

mpl.use("Agg")
MS = 1_000_000


@dataclass(frozen=True)
class Case:
    """A problem, its longest step in ns, and the size of its largest output, in its unit."""

    problem: Problem
    step_ns: int
    scale: float


@dataclass(frozen=True)
class Way:
    """An algorithm with options; of fixed steps, or steered by tolerances."""

    algorithm: str
    options: Mapping[str, str]
    steered: bool = False


CASES = {
    "two-mass oscillator": Case(oscillator.BY_FORCE, 16 * MS, 10.0),
    "quarter car": Case(quarter_car.PROBLEM, 4 * MS, 750.0),
}
WAYS = {
    "jacobi": Way("jacobi", {}),
    "gauss-seidel": Way("gauss-seidel", {}),
    "fixed-point none": Way("fixed-point", {"acceleration": "none"}),
    "fixed-point aitken": Way("fixed-point", {"acceleration": "aitken"}),
    "fixed-point anderson": Way("fixed-point", {}),
    "newton": Way("newton", {}),
    "doubling jacobi": Way("step-doubling", {"base": "jacobi"}, steered=True),
    "doubling gauss-seidel": Way("step-doubling", {"base": "gauss-seidel"}, steered=True),
    "doubling newton": Way("step-doubling", {"base": "newton"}, steered=True),
    "embedded": Way("embedded", {}, steered=True),
    "ecco": Way("ecco", {}, steered=True),
}
DIVISIONS = (1, 2, 4, 8)
TOLERANCES = (3e-2, 1e-2, 1e-3, 1e-4)
FIRST_NS = MS // 100


def measure(case: Case, way: Way) -> list[dict[str, float]]:
    """Run one way at four steps or tolerances."""
    rows = []
    for division, tolerance in zip(DIVISIONS, TOLERANCES, strict=True):
        options: dict[str, Any] = dict(way.options)
        step_ns = case.step_ns // division
        if way.steered:
            step_ns = FIRST_NS
            options |= {"relative": tolerance, "absolute": tolerance * case.scale, "longest": 1.0}
        found = run(case.problem, way.algorithm, step_ns, **options)
        rows.append(
            {
                "setting": tolerance if way.steered else step_ns / 1e9,
                "error": float(error(case.problem, found)),
                "energy": float(energy_error(case.problem, found)),
                "unit_steps": found.unit_steps,
                "wall_seconds": found.wall_seconds,
            }
        )
    return rows


def table(found: Mapping[str, list[dict[str, float]]]) -> Iterator[tuple[object, ...]]:
    """One row for a run: setting, error, energy, cost."""
    for way, rows in found.items():
        for row in rows:
            unit = "" if WAYS[way].steered else " s"
            yield (
                way if row is rows[0] else "",
                f"{row['setting']:g}{unit}",
                f"{row['error']:.1e}",
                f"{row['energy']:+.1e}",
                f"{row['unit_steps']:.0f}",
                f"{1e3 * row['wall_seconds']:.1f}",
            )


def draw(found: Mapping[str, Mapping[str, list[dict[str, float]]]], path: Path) -> None:
    """Error over unit steps and over wall time, a row for each problem."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        len(found), 2, figsize=(11, 8.5), sharey="row", layout="constrained"
    )
    colours = plt.get_cmap("tab20").colors
    for line, (problem, ways) in zip(axes, found.items(), strict=True):
        for axis, cost, label in zip(
            line, ("unit_steps", "wall_seconds"), ("steps of units", "wall time / s"), strict=True
        ):
            for number, (way, rows) in enumerate(ways.items()):
                axis.loglog(
                    [row[cost] for row in rows],
                    [row["error"] for row in rows],
                    "o--" if WAYS[way].steered else "s-",
                    color=colours[number],
                    markersize=4,
                    label=way,
                )
            axis.set_xlabel(label)
            axis.set_title(problem)
            axis.grid(which="major", alpha=0.3)
        line[0].set_ylabel("largest error of any output, relative / 1")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside right upper", fontsize=8)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Run everything, print two tables, and draw."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--plot", type=Path, help="draw work and precision to this file")
    options = benchmark.options()
    cases = dict([next(iter(CASES.items()))]) if options.quick else CASES
    found = {
        name: {way: measure(case, how) for way, how in WAYS.items()} for name, case in cases.items()
    }
    for name, ways in found.items():
        columns = ["algorithm", "setting", "error", "energy", "unit steps", "ms"]
        benchmark.table(name, columns, table(ways))
    if options.plot is not None:
        options.plot.parent.mkdir(parents=True, exist_ok=True)
        draw(found, options.plot)
    benchmark.finish(problems=found)


if __name__ == "__main__":
    main()
