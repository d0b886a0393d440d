"""A chain of one FMU in Softdock, in its peers and in a bare C loop.

usage: python benchmarks/peers [--output FOLDER] [--sizes N ...] [--turns N] [--limit SECONDS]
                               [--only PEER ...] [--python PEER=INTERPRETER ...]

Every measurement is a process of its own with a time limit; the peers take turns. CoFMPy needs an
older FMPy than Softdock, hence an environment of its own: --python cofmupy=PATH.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from pathlib import Path

from job import CHECK_STEPS, Job
from machine import fingerprint
from rich.console import Console
from rounds import PEERS, Row, measure_all
from tables import draw, show
from verdict import TOLERANCE

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.files.archive import extract
from orchestrator.core.simunits import read_fmu
from orchestrator.export import Solver, build_model

ROOT = Path(__file__).resolve().parents[2]
#: Its states settle at 1. One that settled at 0 would get there by subnormal numbers, which cost
#: some processors ten times the rest of the step, and would hide what a master costs.
MODEL = "TwoLags"
INPUT, OUTPUT = "command", "position"
STEP_NS = 1_000_000
BUDGET = 0.25


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/peers", description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "peers")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 10, 50, 200, 1000])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of one measurement")
    parser.add_argument("--only", nargs="+", choices=PEERS[1:], default=PEERS[1:], metavar="PEER")
    parser.add_argument("--python", nargs="+", default=[], metavar="PEER=INTERPRETER")
    options = parser.parse_args()
    if min(options.sizes) < 1 or options.turns < 1 or not options.limit > 0:
        parser.error("expected sizes and turns >= 1 and a limit > 0 s")
    for text in options.python:
        peer, _, interpreter = text.partition("=")
        if peer not in PEERS or not interpreter:
            parser.error(f"--python: expected one of {', '.join(PEERS)}, '=' and a path: '{text}'")
    return options


def _job(folder: Path) -> Job:
    """Build the FMU, which does one step of RK4 in a communication step, and the C loop."""
    solver = Solver("rk4", STEP_NS / 1e9)
    fmu = build_model(MODEL, [Path(__file__).parent], folder, solver=solver).path
    description = read_fmu(fmu)
    unpacked, floor = folder / "fmu", folder / "libfloor.so"
    unpacked.mkdir()
    extract(fmu, unpacked, FmuError)
    source = ROOT / "benchmarks" / "floor.c"
    command = ["gcc", "-O2", "-shared", "-fPIC", "-o", str(floor), str(source), "-ldl"]
    subprocess.run(command, check=True)
    return Job(
        fmu=str(fmu),
        folder=str(unpacked),
        guid=description.guid,
        library=description.library,
        input_name=INPUT,
        output_name=OUTPUT,
        input_reference=description.references[INPUT],
        output_reference=description.references[OUTPUT],
        floor=str(floor),
        work=str(folder / "work"),
        n=0,
        step_ns=STEP_NS,
        record=False,
        budget=BUDGET,
    )


def main() -> None:
    """Measure, print, write; ends with status 1 if a peer's outputs are wrong."""
    given = _arguments()
    console = Console(width=150, soft_wrap=True)
    pythons = dict(text.split("=", 1) for text in given.python)
    machine = fingerprint()
    given.output.mkdir(parents=True, exist_ok=True)
    settings = {
        "model": MODEL,
        "step_s": STEP_NS / 1e9,
        "turns": given.turns,
        "limit_s": given.limit,
        "check_steps": CHECK_STEPS,
        "tolerance": TOLERANCE,
    }

    def keep(rows: list[Row]) -> None:
        machine["load_average_after"] = fingerprint()["load_average"]
        text = json.dumps({"machine": machine, "settings": settings, "rows": rows}, indent=2)
        (given.output / "peers.json").write_text(text, encoding="utf-8")
        last = rows[-1]
        console.print(f"N = {last['n']}, {'all' if last['record'] else 'no'} outputs recorded")

    with tempfile.TemporaryDirectory(prefix="softdock-peers-") as name:
        rows = measure_all(
            _job(Path(name)), given.sizes, given.turns, given.limit, pythons, keep, given.only
        )
    show(rows, given.sizes, console)
    title = f"Chain of {MODEL}, H = 1 ms; {machine['cpu']}, {machine['cores']} cores"
    draw(rows, title, given.output / "peers.png")
    console.print(f"{given.output / 'peers.json'}\n{given.output / 'peers.png'}")
    wrong = {row["peer"] for row in rows if row.get("order") == "wrong"}
    if wrong:
        raise SystemExit(f"other outputs than the bare C loop: {', '.join(sorted(wrong))}")


if __name__ == "__main__":
    main()
