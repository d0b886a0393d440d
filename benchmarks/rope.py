"""The stiff planar rope by its two methods of fixed steps: speed, and error of an impact.

python benchmarks/rope.py

A rod of 2 kg meets the middle node at 0.06 m/s and leaves it; steps of 1 ms, 0.2 s. Speeds are
processor time of one thread, the best of rounds that alternate. Errors are those of the largest
force, of the impulse and of the speed afterwards, against rk4 with steps of 1 us.
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path

from runner import Benchmark, take_turns

from orchestrator import Execution, System, fmu, simulate
from orchestrator.export import Solver, build_model

ROOT = Path(__file__).resolve().parents[1]
ROPE = "SpaceDocking.Ropes.PlanarRope"
WAYS = {"rk4, 1 us": ("rk4", 1e-6), "rk4, 4 us": ("rk4", 4e-6)} | {
    f"verlet, {step * 1e6:g} us": ("verlet", step) for step in (1e-6, 2e-6, 3.2e-6)
}
TOP = 0.0661013344665  # m, of the middle node
ROUNDS, STEPS = 5, 100


def impact(path: Path) -> System:
    """A rod that comes from below."""
    return (
        System("impact")
        .add("rope", fmu(path))
        .add("rod", fmu(ROOT / "fmus" / "build" / "Chaser.fmu"), m=2.0, x0=TOP - 1e-4, v0=0.06)
        .connect("rod.position", "rope.position")
        .connect("rod.velocity", "rope.velocity")
        .connect("rope.force", "rod.force")
    )


def main() -> None:
    """Print the table."""
    benchmark = Benchmark(__doc__)
    rounds, ways = (
        (1, list(WAYS.items())[:1]) if benchmark.options().quick else (ROUNDS, [*WAYS.items()])
    )
    with tempfile.TemporaryDirectory() as folder:
        systems = {}
        for number, (name, (method, step)) in enumerate(ways):
            solver, target = Solver(method, step), Path(folder) / str(number)
            built = build_model(ROPE, [ROOT / "modelica"], target, solver=solver)
            systems[name] = impact(built.path)
        options = {"algorithm": "gauss-seidel", "delay": "plain"}
        runs = {n: Execution(s, step="1 ms", stop="10 s", **options) for n, s in systems.items()}
        turns = take_turns({name: partial(seconds, run) for name, run in runs.items()}, rounds)
        found = {}
        for name, system in systems.items():
            result = simulate(system, step="1 ms", stop="0.2 s", **options)
            signals = -result["rope.force"].min(), result["rope.impulse"][-1]
            found[name] = (*signals, result["rod.velocity"][-1])
    first = next(iter(found.values()))
    speed = {name: STEPS * 1e-3 / min(taken) for name, taken in turns.items()}
    benchmark.table(
        "",
        ["method", "times real time", "force", "impulse", "speed afterwards"],
        [
            (
                name,
                f"{speed[name]:.2f}",
                *(f"{a / b - 1.0:+.2%}" for a, b in zip(values, first, strict=True)),
            )
            for name, values in found.items()
        ],
    )
    benchmark.finish(times_real_time=speed, signals=found)


def seconds(run: Execution) -> float:
    """Step some more; return the processor time, s."""
    begin = time.thread_time()
    run.step(STEPS)
    return time.thread_time() - begin


if __name__ == "__main__":
    main()
