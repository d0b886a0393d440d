"""Steps that ``softdock analyze step`` proposes, run: growth and peak with that step and twice it.

python benchmarks/chosen_steps.py [--tolerance 0.01] [--json]

Each system is linearised once, the longest step within the tolerance is chosen by modes and
margins, as the command does, and the system is run with it and with twice it. What the loop's
account says of the growth rate with either step is held against what is fitted to the run, both as
shares of its size; the peak against that of a run with 0.1 ms under Gauss-Seidel.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from runner import Benchmark

from orchestrator import System, read_system, simulate
from orchestrator.loops import linear_system
from orchestrator.loops.loop_account import growth_size
from orchestrator.loops.run_account import LinearSystem
from orchestrator.loops.step_choice import StepReference, choose_step
from orchestrator.loops.step_error import at_step, step_error
from orchestrator.study.measure import fit_growth

EXAMPLES = Path(__file__).parents[1] / "examples"
REFERENCE_NS = 100_000


@dataclass(frozen=True)
class Case:
    """A system, how long it runs, and where its growth is fitted.

    Parameters
    ----------
    file
        Below ``examples``.
    signal
        An output in which the least damped mode of all loops is what is left from ``begin`` on.
    begin, stop
        In s.
    step, rates
        With which it is linearised, and how many such steps those of some components are long.
    """

    file: str
    signal: str
    begin: float
    stop: float
    step: str = "1 ms"
    rates: Mapping[str, int] = field(default_factory=dict)

    def system(self) -> System:
        """Read the system."""
        return read_system(EXAMPLES / self.file)


CASES = {
    "capture_axis": Case("epos/capture_axis.ssd", "chaser.position", 1.0, 30.0),
    "axial_uncompensated": Case("famdc/axial_uncompensated.ssd", "dynamics.position", 6.0, 12.0),
    "capture_axis, chaser every 6.4 ms": Case(
        "epos/capture_axis.ssd", "chaser.position", 1.0, 30.0, "3.2 ms", {"chaser": 2}
    ),
}
ALGORITHMS = ("gauss-seidel", "jacobi")


@dataclass(frozen=True)
class Run:
    """One step: shares of the exact growth rate's size, and of the peak.

    Parameters
    ----------
    step_ms
        The communication step, ms.
    predicted, measured
        How far the growth rate is off, as the loop's account and as a run has it.
    peak
        How far the largest absolute value is off.
    """

    step_ms: float
    predicted: float
    measured: float
    peak: float


@dataclass(frozen=True)
class Row:
    """A system under an algorithm.

    Parameters
    ----------
    name, algorithm, tolerance
        Which.
    exact
        Growth rate in continuous time, 1/s.
    decides, share
        The figure that is farthest off with the chosen step, and by how much.
    runs
        With the chosen step, and with twice it.
    """

    name: str
    algorithm: str
    tolerance: float
    exact: float
    decides: str
    share: float
    runs: tuple[Run, ...]


def rows(name: str, tolerance: float, algorithms: tuple[str, ...] = ALGORITHMS) -> Iterator[Row]:
    """Choose steps for a case, and run it with them and with twice them."""
    case = CASES[name]
    system = case.system()
    linear = linear_system(system, step=case.step, delay="mean", rates=dict(case.rates))
    reference = StepReference.of(linear, length_ns=round(case.stop * 1e9))
    root = max((root for loop in reference.modes for root in loop.roots), key=lambda s: s.real)
    _, fine = _run(case, at_step(linear, REFERENCE_NS, "gauss-seidel"))
    for algorithm in algorithms:
        choice = choose_step(reference, tolerance, algorithm=algorithm)
        if choice.effect is None:
            raise SystemExit(f"{name}: no step under {algorithm} is within {tolerance}")
        runs = []
        for step_ns in (choice.effect.step_ns, 2 * choice.effect.step_ns):
            here = at_step(linear, step_ns, algorithm)
            figures = step_error(here, reference.modes).deviations
            growth = next(
                figure for figure in figures if figure.exact == root.real and figure.unit == "1/s"
            )
            sigma, peak = _run(case, here)
            measured = abs(sigma - root.real) / growth_size(root)
            runs.append(Run(step_ns / 1e6, growth.share, measured, abs(peak / fine - 1.0)))
        decides = choice.effect.worst
        yield Row(name, algorithm, tolerance, root.real, decides.name, decides.share, tuple(runs))


def _run(case: Case, linear: LinearSystem) -> tuple[float, float]:
    """Run with the step and the algorithm of a linearised system: growth in 1/s, and peak."""
    length = round(case.stop * 1e9)
    result = simulate(
        case.system(),
        stop=f"{length - length % linear.step_ns} ns",
        step=f"{linear.step_ns} ns",
        algorithm=linear.master.algorithm,
        delay="mean",
        rates=dict(linear.master.rates),
    )
    values = result[case.signal]
    fit = fit_growth(result.time, values, start=case.begin)
    return fit.sigma, float(np.max(np.abs(values)))


def main() -> None:
    """Print the table."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--tolerance", type=float, default=0.01)
    options = benchmark.options()
    names = list(CASES)[: 1 if options.quick else None]
    found = [row for name in names for row in rows(name, options.tolerance)]
    first = ["system", "algorithm", "what decides", "its error"]
    benchmark.table(
        "",
        [*first, "H [ms]", "growth, predicted", "growth, run", "peak, run"],
        [
            (
                *(
                    (row.name, row.algorithm, row.decides, f"{row.share:.2e}")
                    if not n
                    else [""] * 4
                ),
                f"{run.step_ms:g}",
                *(f"{value:.2e}" for value in (run.predicted, run.measured, run.peak)),
            )
            for row in found
            for n, run in enumerate(row.runs)
        ],
        texts=3,
    )
    benchmark.finish(rows=[asdict(row) for row in found])


if __name__ == "__main__":
    main()
