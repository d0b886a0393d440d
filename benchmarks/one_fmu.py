"""A chain of one FMU, stepped by a bare C loop, by Softdock and by FMPy's functions.

usage: python benchmarks/one_fmu.py [--json FILE]

Every chain is fmus/build/PositionAxis.fmu, H = 1 ms, Jacobi, nothing recorded, the first input
held at 1 m. The contestants take turns; the table shows medians of microseconds per communication
step and FMU, and their ratio to the C loop of the same turn. All must reach the same position.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import platform
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from fmpy.fmi2 import FMU2Slave
from rich.console import Console
from rich.table import Table

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
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    target = parser.parse_args().json
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        extract(FMU, folder, FmuError)
        program = folder / "floor"
        source = Path(__file__).with_name("floor.c")
        subprocess.run(["gcc", "-O2", "-o", str(program), str(source), "-ldl"], check=True)
        for n, steps in STEPS.items():
            rows.append(measure(program, folder, n, steps))
    table = Table(title="us per communication step and FMU (x of the C loop of the same turn)")
    for column in ("N", "C loop", "Softdock", "FMPy, hand-written loop"):
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(
            str(row["n"]),
            f"{row['floor_us']:.3f}",
            *(f"{row[k + '_us']:.3f} ({row[k + '_ratio']:.2f}x)" for k in ("softdock", "fmpy")),
        )
    Console().print(table)
    if target is not None:
        machine = {
            "machine": platform.machine(),
            "system": platform.platform(),
            "python": platform.python_version(),
            "cpu": cpu(),
        }
        target.write_text(json.dumps({"machine": machine, "turns": TURNS, "rows": rows}, indent=2))


def cpu() -> str:
    """Name of the processor."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((s.split(":")[1].strip() for s in lines if s.startswith("model name")), "unknown")


def measure(program: Path, folder: Path, n: int, steps: int) -> dict[str, float]:
    """Let the contestants take turns on a chain of n FMUs."""
    turns = []
    for _ in range(TURNS):
        (bare, x0), (ours, x1), (theirs, x2) = (
            floor(program, folder, n, steps),
            softdock(n, steps),
            fmpy(folder, n, steps),
        )
        if not x0 == x1 == x2:
            raise SystemExit(f"N = {n}: different results: C {x0!r}, Softdock {x1!r}, FMPy {x2!r}")
        turns.append((bare, ours, theirs))
    scale = 1e6 / (n * steps)
    return {
        "n": n,
        "steps": steps,
        "floor_us": scale * statistics.median(t[0] for t in turns),
        "softdock_us": scale * statistics.median(t[1] for t in turns),
        "fmpy_us": scale * statistics.median(t[2] for t in turns),
        "softdock_ratio": statistics.median(t[1] / t[0] for t in turns),
        "fmpy_ratio": statistics.median(t[2] / t[0] for t in turns),
    }


if __name__ == "__main__":
    main()
