"""A chain of one FMU, stepped by a bare C loop, by Softdock and by FMPy's functions.

usage: python benchmarks/one_fmu.py [--json FILE]

Every chain is fmus/build/PositionAxis.fmu, H = 1 ms, Jacobi, nothing recorded, the first input
held at 1 m. The contestants take turns; the table shows medians of microseconds per communication
step and FMU, and their ratio to the C loop of the same turn. All must reach the same position.
"""

from __future__ import annotations

import ctypes
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from fmpy.fmi2 import FMU2Slave
from runner import Benchmark, c_program, ratio, take_turns

import orchestrator
from orchestrator.core.diagnostics import FmuError
from orchestrator.core.files.archive import extract
from orchestrator.core.simunits import fmu, read_fmu

ROOT = Path(__file__).resolve().parents[1]
FMU = ROOT / "fmus" / "build" / "PositionAxis.fmu"
INPUT, OUTPUT = "position_command", "position"
H = 1e-3
TURNS = 7
STEPS = {2: 50_000, 10: 20_000, 50: 4_000}  # FMPy is the slow one: keep a turn near a second


def floor(program: Path, folder: Path, n: int, steps: int) -> tuple[float, float]:
    """Bare C loop."""
    description = read_fmu(FMU)
    references = (str(description.references[name]) for name in (INPUT, OUTPUT))
    printed = subprocess.run(
        [
            str(program),
            str(folder / description.library),
            description.guid,
            (folder / "resources").as_uri(),
            str(n),
            str(steps),
            str(H),
            *references,
        ],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    return float(printed[0]), float(printed[1])


def softdock(n: int, steps: int) -> tuple[float, float]:
    """Softdock's engine, from Python."""
    system = orchestrator.System("chain")
    for i in range(n):
        values = {INPUT: 1.0} if i == 0 else {}
        system = system.add(f"axis{i}", fmu(FMU), **values)
        if i:
            system = system.connect(f"axis{i - 1}.{OUTPUT}", f"axis{i}.{INPUT}")
    last = f"axis{n - 1}.{OUTPUT}"
    with orchestrator.Execution(
        system, step=H, algorithm="jacobi", record=[last], every=steps
    ) as execution:
        execution.advance(f"{steps} ms")
        position = execution.get(last)
    return execution.wall_seconds, float(position)


def fmpy(folder: Path, n: int, steps: int) -> tuple[float, float]:
    """FMPy's ctypes functions in a hand-written loop with prepared arguments."""
    description = read_fmu(FMU)
    units = []
    for i in range(n):
        unit = FMU2Slave(
            guid=description.guid,
            unzipDirectory=str(folder),
            modelIdentifier=Path(description.library).stem,
            instanceName=f"axis{i}",
        )
        unit.instantiate()
        unit.setupExperiment(startTime=0.0)
        unit.enterInitializationMode()
        unit.exitInitializationMode()
        units.append(unit)
    source = (ctypes.c_uint * 1)(description.references[INPUT])
    target = (ctypes.c_uint * 1)(description.references[OUTPUT])
    values = [(ctypes.c_double * 1)() for _ in range(n + 1)]
    values[0][0] = 1.0
    began = time.perf_counter()
    for k in range(steps):
        for unit, value in zip(units, values, strict=False):
            unit.fmi2SetReal(unit.component, source, 1, value)
            unit.doStep(k * H, H)
        for unit, value in zip(units, values[1:], strict=True):
            unit.fmi2GetReal(unit.component, target, 1, value)
    return time.perf_counter() - began, values[n][0]


def main() -> None:
    """Run the turns and print the table."""
    benchmark = Benchmark(__doc__)
    options = benchmark.options()
    turns, shorter = (1, 20) if options.quick else (TURNS, 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        extract(FMU, folder, FmuError)
        program = c_program("floor", folder, "-ldl")
        rows = [measure(program, folder, n, steps // shorter, turns) for n, steps in STEPS.items()]
    benchmark.table(
        "us per communication step and FMU (x of the C loop of the same turn)",
        ["N", "C loop", "Softdock", "FMPy, hand-written loop"],
        [
            (
                row["n"],
                f"{row['floor_us']:.3f}",
                *(f"{row[k + '_us']:.3f} ({row[k + '_ratio']:.2f}x)" for k in ("softdock", "fmpy")),
            )
            for row in rows
        ],
    )
    benchmark.finish(turns=turns, rows=rows)


def measure(program: Path, folder: Path, n: int, steps: int, turns: int) -> dict[str, float]:
    """Let the contestants take turns on a chain of n FMUs."""
    found = take_turns(
        {
            "floor": lambda: floor(program, folder, n, steps),
            "softdock": lambda: softdock(n, steps),
            "fmpy": lambda: fmpy(folder, n, steps),
        },
        turns,
    )
    positions = {name: {position for _, position in row} for name, row in found.items()}
    if len(set().union(*positions.values())) > 1:
        raise SystemExit(f"N = {n}: different results: {positions}")
    seconds = {name: [taken for taken, _ in row] for name, row in found.items()}
    row: dict[str, float] = {"n": n, "steps": steps}
    for name, taken in seconds.items():
        row[f"{name}_us"] = 1e6 / (n * steps) * statistics.median(taken)
        row[f"{name}_ratio"] = ratio(taken, seconds["floor"])
    return row


if __name__ == "__main__":
    main()
