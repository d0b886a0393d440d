"""The docking rigs of examples/famdc against real time, and where their steps go.

usage: python benchmarks/famdc.py [--json FILE] [--require FACTOR]

Steps of 1 ms, Gauss-Seidel, all outputs recorded, one thread. A rig takes turns with its floor, the
same FMUs, connections and recording with blocks that do nothing, and with each of its components
alone, whose inputs are those of the rig at 0.3 s. The least processor time of each counts, as other
processes only ever add to it; where there are none it is the time on the clock. What the components
leave of the whole is the exchange between them. The ratio to the floor stands where a neighbour
slows both.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from runner import Benchmark, take_turns

from orchestrator import Block, Execution, System, block, read_system
from orchestrator.core.simunits import block_class, resolve
from orchestrator.core.system import Causality, Component, DataType, SourceKind

FOLDER = Path(__file__).resolve().parents[1] / "examples" / "famdc"
TURNS = 25  # uncompensated the rig leaves its workspace after 3.9 s
STEPS = 100  # in a turn: short enough to fall between the turns of other processes
BEGIN = 300  # before the first: 0.3 s
RIGS = {
    "six axes, compensated": "SystemStructure.ssd",
    "six axes, compensated and guarded": "spatial_guarded.ssd",
    "six axes, uncompensated": "spatial_uncompensated.ssd",
    "one axis, compensated": "axial_compensated.ssd",
}


def started(system: System) -> Execution:
    """Give an execution of one thread that records everything."""
    return Execution(system, step="1 ms", delay="plain", threads=1, early_return=False)


def turn(run: Execution) -> float:
    """Step some more, and return the processor time of a step in microseconds."""
    before = time.process_time()
    run.step(STEPS)
    return (time.process_time() - before) / STEPS * 1e6


def idle(kind: type[Block]) -> type[Block]:
    """Make a block with the same connectors that keeps its outputs as they are."""

    def step(self: Block, t: float, h: float) -> None:
        """Do nothing."""

    def initialise(self: Block, t: float) -> None:
        """Do nothing."""

    return type(f"Idle{kind.__name__}", (kind,), {"step": step, "initialise": initialise})


def without_blocks(system: System) -> System:
    """Put blocks that do nothing in place of all blocks; the system has been resolved."""
    parts = {}
    for name, part in system.components.items():
        if part.source.kind is SourceKind.BLOCK:
            made = block(idle(block_class(part.source.location)))
            part = replace(made, name=name, values=part.values)  # noqa: PLW2901
        parts[name] = part
    return replace(system, components=parts)


def alone(part: Component, inputs: Mapping[str, Any]) -> System:
    """Give a system of one component, whose inputs stand at given values."""
    system = System("alone", {part.name: part})
    for name, value in inputs.items():
        kept = tuple(np.ravel(value).tolist()) if isinstance(value, np.ndarray) else value
        if part.connectors[name].type is not DataType.REAL:
            kept = (bool if part.connectors[name].type is DataType.BOOLEAN else int)(value)
        system = system.set(f"{part.name}.{name}", kept)
    return system


def measure(system: System, count: int) -> dict[str, Any]:
    """Let a rig, its floor and its parts take turns."""
    system = resolve(system)
    with started(system) as run:
        run.step(BEGIN)
        singles = {
            name: alone(
                part, {c.name: run.get(f"{name}.{c.name}") for c in part.of(Causality.INPUT)}
            )
            for name, part in system.components.items()
        }
    runs = {"": started(system), "floor": started(without_blocks(system))}
    runs |= {name: started(single) for name, single in singles.items()}
    try:
        for run in runs.values():
            run.step(BEGIN)
        turns = take_turns({name: partial(turn, run) for name, run in runs.items()}, count)
    finally:
        for run in runs.values():
            run.close()
    least = {name: min(taken) for name, taken in turns.items()}
    whole, floor = least.pop(""), least.pop("floor")
    return {
        "step_us": whole,
        "real_time_factor": 1000.0 / whole,
        "floor_us": floor,
        "ratio": whole / floor,
        "parts_us": least,
        "blocks": [n for n, p in system.components.items() if p.source.kind is SourceKind.BLOCK],
        "exchange_us": whole - sum(least.values()),
    }


def show(benchmark: Benchmark, title: str, found: Mapping[str, Any]) -> None:
    """Print the parts of a rig."""
    times = {
        f"{name} ({'block' if name in found['blocks'] else 'FMU'})": value
        for name, value in found["parts_us"].items()
    }
    times |= {"exchange and recording": found["exchange_us"], "all": found["step_us"]}
    whole = found["step_us"]
    rows = [(name, f"{us:.2f}", f"{100 * us / whole:.0f} %") for name, us in times.items()]
    rows.append(("floor: without the blocks' work", f"{found['floor_us']:.2f}", ""))
    rows.append(("all / floor", f"{found['ratio']:.2f}", ""))
    title = f"{title}: {found['real_time_factor']:.1f} x real time"
    benchmark.table(title, ["part", "us in a step", "share"], rows)


def main() -> None:
    """Measure all rigs."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--require", type=float, help="fail if the first rig is slower than this")
    options = benchmark.options()
    rigs = dict([next(iter(RIGS.items()))]) if options.quick else RIGS
    turns = 1 if options.quick else TURNS
    found = {title: measure(read_system(FOLDER / file), turns) for title, file in rigs.items()}
    for title, figures in found.items():
        show(benchmark, title, figures)
    benchmark.finish(rigs=found)
    factor = found[next(iter(RIGS))]["real_time_factor"]
    if options.require and factor < options.require:
        raise SystemExit(f"expected {options.require:g} x real time, found {factor:.1f}")


if __name__ == "__main__":
    main()
