"""Models with implicit equations, exported: unknowns left at run time, speed, build time.

usage: python benchmarks/exporter_blocks.py

One right-hand side is measured as in exporter.py. ``whole`` is the same without tearing.
"""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

from exporter import Plant, Unit, library
from runner import Benchmark

from orchestrator.export.dae import block_triangular as blocks
from orchestrator.export.dae.block_triangular import Torn
from orchestrator.export.recipe import Solver

ROOT = Path(__file__).with_name("blocks")
PLANTS = (
    Plant("DiodeLadder", {0: 1.0}, 1e-3),
    Plant("ResistorLadder", {0: 1.0}, 1e-3),
    Plant("RadiatingRod", {}, 1e-3),
    Plant("PipeNetwork", {}, 1e-3),
    Plant("FourBar", {}, 1e-3),
)


def measure(plant: Plant, folder: Path) -> list[str]:
    """Sizes of the blocks, nanoseconds of a right-hand side, seconds of two builds."""
    folder.mkdir()
    began = time.perf_counter()
    built = library(plant, Solver("dopri5"), folder, ROOT)
    seconds = time.perf_counter() - began
    text = (folder / "sources" / "model.h").read_text(encoding="utf-8")
    table = text.partition("model_blocks[] = {")[2].partition("};")[0]
    sizes = re.findall(r"\{\d+, (\d+),.* (BLOCK_\w+)", table)
    shown = ", ".join(f"{n} {kind[6:].lower()}" for n, kind in sizes if n != "0")
    return [shown or "-", f"{Unit(built, plant).rhs_ns():.0f}", f"{seconds:.1f}"]


def main() -> None:
    """Print the table."""
    benchmark = Benchmark(__doc__)
    rows = []
    plants = PLANTS[:1] if benchmark.options().quick else PLANTS
    with tempfile.TemporaryDirectory() as name:
        for plant in plants:
            torn = measure(plant, Path(name) / f"{plant.model}-torn")
            with patch.object(blocks, "tear", lambda e, u, _: Torn(list(u), list(e), {})):
                whole = measure(plant, Path(name) / f"{plant.model}-whole")
            rows.append((plant.model, *torn, *whole))
    columns = ["model", "torn", "ns", "build + library, s", "whole", "ns", "build + library, s"]
    benchmark.table("", columns, rows)
    benchmark.finish(rows=rows)


if __name__ == "__main__":
    main()
