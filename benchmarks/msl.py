"""Examples of the Modelica Standard Library: built, run, and held against MAP-LIB's results.

usage: python benchmarks/msl.py LIBRARY REFERENCES [CLASS ...] [--processes N] [--json FILE]

LIBRARY is the folder that holds ``Modelica``, ``ModelicaServices`` and ``Complex.mo`` of
github.com/modelica/ModelicaStandardLibrary, REFERENCES a work tree of
github.com/modelica/MAP-LIB_ReferenceResults, both v4.1.0. Classes begin behind ``Modelica.``;
without any the list below is taken. Each is built and run in a process of its own, in steps of the
interval of its reference.

A signal agrees if all its values lie in the tube of csv-compare, which MAP-LIB uses, with its
tolerance of 2e-3: around each point of the reference stands a rectangle that is half as wide as
2e-3 of the duration, and half as high as 2e-3 of the range. The table shows by how much of the
range a value is at most off those that the reference has within that width.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from runner import Benchmark

TOLERANCE = 2e-3
LEAST_RANGE = 1e-3  # of csv-compare, for signals near zero
LIMIT = 900.0  # s of one class
MEMORY = 6 << 30  # bytes of one class, beside those of the front end
CLASSES = {
    "Blocks.Examples": "PID_Controller Filter FilterWithDifferentiation InverseModel"
    " ShowLogicalSources LogicalNetwork1 RealNetwork1 IntegerNetwork1 BooleanNetwork1"
    " SlewRateLimiter",
    "Electrical.Analog.Examples": "CauerLowPassAnalog CauerLowPassOPV CauerLowPassSC"
    " CharacteristicIdealDiodes CharacteristicThyristors DifferenceAmplifier HeatingMOSInverter"
    " HeatingNPN_NORGate HeatingPNP_NORGate HeatingRectifier InvertingAmp NandGate"
    " OvervoltageProtection ParallelResonance Rectifier Resistor SeriesResonance"
    " ShowSaturatingInductor ShowVariableResistor OpAmps.SchmittTrigger OpAmps.Multivibrator"
    " OpAmps.LowPass",
    "Electrical.Digital.Examples": "FlipFlop",
    "Mechanics.Rotational.Examples": "First FirstGrounded Friction CoupledClutches ElasticBearing"
    " Backlash LossyGearDemo1 OneWayClutch",
    "Mechanics.Translational.Examples": "Accelerate Damper Oscillator Sensors ElastoGap PreLoad",
    "Mechanics.MultiBody.Examples.Elementary": "Pendulum FreeBody PointGravity DoublePendulum"
    " SpringDamperSystem ThreeSprings PendulumWithSpringDamper SpringMassSystem",
    "Thermal.HeatTransfer.Examples": "TwoMasses ControlledTemperature",
    "StateGraph.Examples": "FirstExample ExecutionPaths",
}
Floats = NDArray[np.float64]
Row = dict[str, Any]


def deviation(times: Floats, values: Floats, reference_times: Floats, reference: Floats) -> float:
    """How far values are at most off those of the reference at about that time, of its range."""
    width = TOLERANCE * max(np.ptp(reference_times), abs(reference_times[0]))
    begins, ends = times - width, times + width
    low = np.minimum(*(np.interp(t, reference_times, reference) for t in (begins, ends)))
    high = np.maximum(*(np.interp(t, reference_times, reference) for t in (begins, ends)))
    first, last = (
        np.searchsorted(reference_times, begins),
        np.searchsorted(reference_times, ends, side="right"),
    )
    for i in np.flatnonzero(last > first):
        inside = reference[first[i] : last[i]]
        low[i], high[i] = min(low[i], inside.min()), max(high[i], inside.max())
    least = max(np.ptp(reference), abs(reference.min()), LEAST_RANGE)
    return max(0.0, float(np.max(np.maximum(low - values, values - high)) / least))


def read_reference(folder: Path) -> tuple[dict[str, Floats], list[str]]:
    """Columns of a result, and the names of those that are compared."""
    with next(folder.glob("*.csv")).open(encoding="utf-8", newline="") as file:
        head, *lines = csv.reader(file)
    table = np.array(lines, dtype=float)
    names = (folder / "comparisonSignals.txt").read_text(encoding="utf-8").split("\n")
    chosen = [name.strip() for name in names if name.strip() not in {"", "time"}]
    return dict(zip(head, table.T, strict=True)), chosen


def interval_of(folder: Path) -> float:
    """Interval of the output of a reference in s."""
    text = (folder / "creation.txt").read_text(encoding="utf-8", errors="replace")
    return float(re.findall(r"^Interval=([\d.eE+-]+)", text, re.MULTILINE)[0])


def measure(library: Path, references: Path, model: str) -> Row:
    """What one class gives."""
    from orchestrator import System, fmu, simulate
    from orchestrator.core.diagnostics import SoftdockError
    from orchestrator.export import Solver, build_model

    row: Row = {"class": model}
    folder = references.joinpath("Modelica", *model.split("."))
    reference, names = read_reference(folder)
    times = reference["time"]
    with tempfile.TemporaryDirectory(prefix="msl-") as output:
        begin = time.perf_counter()
        try:
            built = build_model(f"Modelica.{model}", library, output, solver=Solver("cvode"))
            row["built"] = time.perf_counter() - begin
            begin = time.perf_counter()
            system = System("msl").add("model", fmu(built.path))
            known = [name for name in names if name in system.components["model"].connectors]
            row |= {"lacking": [name for name in names if name not in known]}
            result = simulate(
                system,
                start=times[0],
                stop=times[-1],
                step=max(round(interval_of(folder), 9), 1e-9),
                record=[f"model.{name}" for name in known],
                progress=lambda _: None,
            )
            row["ran"] = time.perf_counter() - begin
        except SoftdockError as error:
            return row | {"reason": str(error)}
    off = {
        name: deviation(result.time, result[f"model.{name}"], times, reference[name])
        for name in known
    }
    if off:
        worst = max(off, key=lambda name: off[name])
        row |= {"compared": len(off), "deviation": off[worst], "worst": worst}
    return row


def limited(arguments: Iterable[str], model: str) -> Row:
    """What one class gives in a process of its own, within the limits."""
    process = subprocess.Popen(
        [sys.executable, __file__, *arguments, model, "--alone"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        told, error = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"class": model, "reason": f"nothing within {LIMIT:g} s"}
    try:
        row: Row = json.loads(told.splitlines()[-1])
    except (IndexError, ValueError):
        last = (error.strip().splitlines() or [""])[-1]
        row = {"class": model, "reason": f"CRASH {process.returncode}: {last}"}
    return row


def verdict(row: Mapping[str, Any]) -> str:
    """Whether a class agrees."""
    if "deviation" not in row:
        return "-"
    return "agrees" if row["deviation"] <= TOLERANCE else "DISAGREES"


def shown(row: Mapping[str, Any]) -> tuple[str, ...]:
    """A row of the table."""
    off = f"{row['deviation']:.1e} ({row['worst']})" if "deviation" in row else "-"
    cells = [f"{row[key]:.0f} s" if key in row else "no" for key in ("built", "ran")]
    reason = " ".join(row.get("reason", "").split())
    if row.get("lacking"):
        reason += f" not in the FMU: {', '.join(row['lacking'])}"
    compared = str(row.get("compared", "-"))
    return row["class"], *cells, verdict(row), compared, off, reason


def main() -> None:
    """Print the table."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("library", type=Path)
    benchmark.argument("references", type=Path)
    benchmark.argument("classes", nargs="*")
    benchmark.argument("--processes", type=int, default=2)
    benchmark.argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = benchmark.options()
    if options.alone:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
        print(json.dumps(measure(options.library, options.references, options.classes[0])))
        return
    classes = options.classes or [
        f"{package}.{name}" for package, names in CLASSES.items() for name in names.split()
    ]
    run = partial(limited, [str(options.library.resolve()), str(options.references.resolve())])
    with ThreadPoolExecutor(options.processes) as pool:
        rows = list(pool.map(run, classes[: 1 if options.quick else None]))
    columns = ["class", "built", "ran", "verdict", "signals", "largest deviation", "reason"]
    benchmark.table("", columns, map(shown, rows), texts=len(columns))
    built, ran = (sum(key in row for row in rows) for key in ("built", "ran"))
    agree, disagree = (sum(verdict(r) == v for r in rows) for v in ("agrees", "DISAGREES"))
    print(f"{len(rows)} classes: {built} built, {ran} ran, {agree} agree, {disagree} disagree")
    benchmark.finish(rows=rows)


if __name__ == "__main__":
    main()
