"""How fast the snare is: real-time factor, and where its time goes.

usage: python benchmarks/snare.py [--seconds S]

examples/snare in steps of 1 ms, without recording, while the ropes are open and while they are
tight. The share of a rope is that of a system that has nothing but it, with the target at rest.
Processor time of one thread; the least of the turns, as the machine may be busy.
"""

from __future__ import annotations

import time
from pathlib import Path

from runner import Benchmark

from orchestrator import Execution, System, read_system

EXAMPLE = Path(__file__).parents[1] / "examples" / "snare" / "SystemStructure.ssd"

STEP_S = 1e-3
TURNS = 3


def cost(system: System, begin: float, seconds: float, turns: int) -> float:
    """Return processor time for each second of simulation, from ``begin`` on."""
    found = []
    for _ in range(turns):
        with Execution(system, step=STEP_S, delay="plain", early_return=False, threads=1) as run:
            run.step(max(1, round(begin / STEP_S)))
            start = time.thread_time()
            run.step(round(seconds / STEP_S))
            found.append((time.thread_time() - start) / seconds)
    return min(found)


def without(system: System, *names: str) -> System:
    """Return a system without some components and their lines."""
    graph = system.graph.copy()
    graph.remove_nodes_from(names)
    return System.from_graph(graph)


def main() -> None:
    """Print the table."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--seconds", type=float, default=0.4, help="of simulation in a turn")
    options = benchmark.options()
    seconds, turns = (0.02, 1) if options.quick else (options.seconds, TURNS)
    whole = read_system(EXAMPLE)
    ropes = ("rope_1", "rope_2", "rope_3")
    rest = tuple(name for name in whole.components if name not in ropes)
    systems = {
        "ropes open": (whole, 0.1),
        "ropes tight": (whole, 2.2),
        "one rope by itself": (without(whole, *ropes[1:], *rest), 0.0),
        "all but the ropes": (without(whole, *ropes), 0.0),
    }
    taken = {name: cost(*system, seconds, turns) for name, system in systems.items()}
    benchmark.table(
        "",
        ["", "processor time for 1 s [s]", "times real time"],
        [(name, f"{cost_s:.3f}", f"{1 / cost_s:.2f}") for name, cost_s in taken.items()],
    )
    benchmark.finish(processor_seconds=taken)


if __name__ == "__main__":
    main()
