"""Cost of a step of an exported system against the same system in process.

usage: python benchmarks/system_fmu.py [--steps N] [--repeats N] [--json FILE]

The docking loop of three FMUs (examples/epos, case ideal, the contact as an FMU): run by the engine
in process, and exported and run as the only component of a system, with one and with ten own steps
in a communication step. The three take turns, so that what else the machine does meets all of them:
medians of the ratio to the run in process of the same turn, and the least time of all turns.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from runner import Benchmark, ratio, take_turns

from orchestrator.core.master import Execution
from orchestrator.core.simunits import fmu
from orchestrator.core.system import System
from orchestrator.export.system import export_system
from orchestrator.study import read_experiment
from orchestrator.study.prepare.prepare import prepare

ROOT = Path(__file__).resolve().parents[1]
STEP_NS = 1_000_000


def docking() -> System:
    """Return the system that is measured."""
    folder = ROOT / "examples" / "epos"
    case = read_experiment(folder / "experiment.toml").case["ideal"]
    contact = str(ROOT / "fmus" / "build" / "SpringDashpot.fmu")
    return prepare("ideal", case, folder, {"contact": contact}, {})


def per_step(system: System, every: int, steps: int) -> float:
    """Run a system and return the wall time in seconds for each own step of 1 ms."""
    with Execution(system, step=f"{every * STEP_NS} ns", record=[]) as run:
        run.advance(f"{20 * every * STEP_NS} ns")  # warm
        before = run.wall_seconds
        run.advance(f"{(20 * every + steps) * STEP_NS} ns")
        return (run.wall_seconds - before) / steps


def main() -> None:
    """Measure and print."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--steps", type=int, default=5_000, help="own steps of one turn")
    benchmark.argument("--repeats", type=int, default=41)
    options = benchmark.options()
    inside = docking()
    with tempfile.TemporaryDirectory() as folder:
        path = export_system(inside, Path(folder) / "docking.fmu", fmi=2, step="1 ms")
        outside = System("outer").add("docking", fmu(path))
        ways = {"in process": (inside, 1), "FMU, 1 ms": (outside, 1), "FMU, 10 ms": (outside, 10)}
        times = take_turns(
            {name: partial(per_step, *way, options.steps) for name, way in ways.items()},
            1 if options.quick else options.repeats,
        )
    rows = {
        name: {
            "least_us_per_step": 1e6 * min(taken),
            "median_ratio": ratio(taken, times["in process"]),
        }
        for name, taken in times.items()
    }
    benchmark.table(
        "",
        ["", "least us a step of 1 ms", "ratio to in process"],
        [(n, f"{r['least_us_per_step']:.3f}", f"{r['median_ratio']:.3f}") for n, r in rows.items()],
    )
    benchmark.finish(rows=rows)


if __name__ == "__main__":
    main()
