"""What benchmarks share: the command line, turns of the contestants, tables, the machine.

A benchmark is functions that measure, and a ``main`` of this form::

    benchmark = Benchmark(__doc__)
    benchmark.argument("--steps", type=int, default=5_000)
    options = benchmark.options()
    times = take_turns({"C loop": floor, "Softdock": softdock}, 1 if options.quick else 7)
    benchmark.table("s, and x of the C loop", ["", "s", "x"], rows)
    benchmark.finish(rows=rows)

Every benchmark takes ``--json FILE``, which writes the figures with the machine, and ``--quick``,
which measures as little as shows that it works. Its figures are of no use.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from rich.box import MARKDOWN
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
_T = TypeVar("_T")


class Benchmark:
    """The command line of one benchmark, and what it prints and writes.

    document: The docstring of its file, whose first line is its help.
    """

    def __init__(self, document: str) -> None:
        self.parser = argparse.ArgumentParser(description=document.splitlines()[0])
        self.argument = self.parser.add_argument
        self.argument("--json", type=Path, metavar="FILE", help="write the figures to this file")
        self.argument("--quick", action="store_true", help="measure as little as possible")
        self._file: Path | None = None

    def options(self) -> argparse.Namespace:
        """Return the options of the command line."""
        options = self.parser.parse_intermixed_args()
        self._file = options.json
        return options

    def table(
        self,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Sequence[object]],
        *,
        texts: int = 1,
    ) -> None:
        """Print a table in Markdown.

        texts: How many of the first columns are aligned to the left.
        """
        table = Table(title=title or None, title_justify="left", box=MARKDOWN)
        for number, column in enumerate(columns):
            table.add_column(column, justify="left" if number < texts else "right", no_wrap=True)
        for row in rows:
            table.add_row(*map(str, row))
        Console(width=220, markup=False, highlight=False).print(table)

    def finish(self, **figures: Any) -> None:
        """Print the machine, and write the figures if a file is named."""
        found = machine()
        print(", ".join(f"{name} {value}" for name, value in found.items()))
        if self._file is not None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"machine": found, **figures}, indent=2)
            self._file.write_text(text + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """Return what figures were measured on, and how busy it was."""
    return {
        "processor": processor(),
        "processors": len(os.sched_getaffinity(0)),
        "system": platform.platform(),
        "Python": platform.python_version(),
        "load": round(os.getloadavg()[0], 1),
    }


def processor() -> str:
    """Return the name of the processor."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.machine())


def take_turns(ways: Mapping[str, Callable[[], _T]], turns: int) -> dict[str, list[_T]]:
    """Call each way once a turn, so that what else the machine does meets all of them."""
    found: dict[str, list[_T]] = {name: [] for name in ways}
    for _ in range(turns):
        for name, way in ways.items():
            found[name].append(way())
    return found


def ratio(times: Sequence[float], base: Sequence[float]) -> float:
    """Return the median of the ratios of the same turns."""
    return statistics.median(a / b for a, b in zip(times, base, strict=True))


def processor_seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call in this process, s."""
    begin = time.process_time()
    call()
    return time.process_time() - begin


def wall_seconds(call: Callable[[], object]) -> float:
    """Return the time on the clock of a call, s."""
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def c_program(name: str, folder: Path, *libraries: str) -> Path:
    """Compile a C file of this folder, with optimisation."""
    program = folder / name
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run(["gcc", "-O2", "-o", str(program), str(source), *libraries], check=True)
    return program
