"""Whether two checkouts compute the examples equally, bit for bit.

Usage:

    python benchmarks/example_bits.py run results/new                        # this checkout
    python benchmarks/example_bits.py run results/old --checkout ../softdock-old
    python benchmarks/example_bits.py compare results/old results/new

``run`` runs all examples without devices one after the other, each by the ``softdock`` of the
checkout's ``.venv``, after its FMUs have been built (``softdock build fmus examples/*/plants``).
``compare`` compares every number of ``summary.json``, every column of every table and every line
of every ledger, and prints what differs. Numbers are equal if their bits are. Wall-clock times and
sentences are left out. Exit code 1: something differs or is missing.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[1]
#: Names of values that depend on the machine, at any depth of a summary.
TIMES = {"wall_s", "real_time_factor", "seconds", "files", "cpu_s"}
#: An experiment with one of these keys runs in real time or with devices.
WITH_DEVICES = re.compile(r"^\[(realtime|emulators|supervisor)", re.MULTILINE)
CASES = re.compile(r"^\[case\.", re.MULTILINE)
MOST_LINES = 12


def experiments(checkout: Path) -> list[Path]:
    """Return the experiments of a checkout that need no device."""
    texts = {path: path.read_text("utf-8") for path in checkout.glob("examples/*/*.toml")}
    return sorted(
        p for p, text in texts.items() if CASES.search(text) and not WITH_DEVICES.search(text)
    )


def run(checkout: Path, output: Path, only: list[str]) -> int:
    """Run the experiments of a checkout; return how many end with a code other than 0 and 3."""
    command = [str(checkout / ".venv/bin/softdock"), "run", "--no-animation"]
    failed = 0
    for path in experiments(checkout):
        name = f"{path.parent.name}-{path.stem}"
        if (only and name not in only) or (output / name / "summary.json").exists():
            continue
        folder = output / name
        done = subprocess.run(
            [*command, str(path.relative_to(checkout)), "--output", str(folder.resolve())],
            cwd=checkout,
            check=False,
            capture_output=True,
            text=True,
        )
        print(f"{name}: exit code {done.returncode}", flush=True)
        if done.returncode:
            print("\n".join(done.stderr.splitlines()[-5:]), flush=True)
        failed += done.returncode not in (0, 3)
    return failed


def numbers(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield the place and the bits of each number and truth value of a JSON value."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key not in TIMES:
                yield from numbers(item, f"{place}/{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from numbers(item, f"{place}/{index}")
    elif value is None or isinstance(value, bool | int):
        yield place, str(value)
    elif isinstance(value, float):
        yield place, f"{value!r} {struct.pack('>d', value).hex()}"


def of_summary(path: Path) -> dict[str, str]:
    """Return the numbers of a summary by their places."""
    return dict(numbers(json.loads(path.read_text("utf-8"))))


def of_table(path: Path) -> dict[str, Any]:
    """Return the columns of a table by their names."""
    table = pq.read_table(path)
    return {
        name: np.array(column.to_pylist() if pa.types.is_string(column.type) else column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    }


def difference(old: Any, new: Any) -> str:
    """Return how two values differ; empty if their bits are equal."""
    if not isinstance(old, np.ndarray) or not isinstance(new, np.ndarray):
        return "" if isinstance(old, str) and old == new else f"{old} -> {new}"
    if old.shape != new.shape or old.dtype != new.dtype:
        return f"{old.dtype}{old.shape} -> {new.dtype}{new.shape}"
    if old.tobytes() == new.tobytes():
        return ""
    if old.dtype.kind != "f":
        return "other values"
    unequal = (old != new) & ~(np.isnan(old) & np.isnan(new))
    if not unequal.any():
        return "equal but for signs of zero"
    largest = np.abs(new - old)[unequal].max()
    row = int(np.flatnonzero(unequal)[0])
    return (
        f"{unequal.sum()} of {len(old)} rows differ, first row {row}, by at most {largest:.3g}"
        f" of {np.nanmax(np.abs(old)):.3g}"
    )


def of_ledger(path: Path) -> dict[str, str]:
    """Return the lines of a CSV file by their numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return {str(number): ",".join(row) for number, row in enumerate(csv.reader(file))}


READERS = {".json": of_summary, ".parquet": of_table, ".csv": of_ledger}


def of_folder(folder: Path) -> dict[str, dict[str, Any]]:
    """Return what each file of results has, by the path below the folder."""
    return {
        str(path.relative_to(folder)): READERS[path.suffix](path)
        for path in sorted(folder.rglob("*"))
        if path.name == "summary.json" or path.suffix in (".parquet", ".csv")
    }


def compare(old: Path, new: Path, renamed: dict[str, str]) -> int:
    """Print what differs between two folders of results; return how many values do."""
    differing = compared = 0
    before, after = of_folder(old), of_folder(new)
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            print(f"{name}: only in {old if name in before else new}")
            differing += 1
            continue
        left, right = before[name], after[name]
        left = {"/".join(renamed.get(part, part) for part in k.split("/")): left[k] for k in left}
        texts = {p: difference(left.get(p), right.get(p)) for p in {**left, **right}}
        found = [f"{name}: {place}: {text}" for place, text in texts.items() if text]
        compared += len(texts)
        differing += len(found)
        print("\n".join(found[:MOST_LINES]), end="\n" if found else "")
        if len(found) > MOST_LINES:
            print(f"{name}: and {len(found) - MOST_LINES} more")
    print(f"{len(before)} files, {compared} values compared, {differing} differ")
    return differing


def main() -> int:
    """Read the command line and run or compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("run")
    runs.add_argument("output", type=Path)
    runs.add_argument("--checkout", type=Path, default=ROOT)
    runs.add_argument("--only", action="append", default=[], help="such as epos-experiment")
    compares = commands.add_parser("compare")
    compares.add_argument("old", type=Path)
    compares.add_argument("new", type=Path)
    compares.add_argument("--renamed", action="append", default=[], help="OLD=NEW, a key")
    options = parser.parse_args()
    if options.command == "run":
        return min(1, run(options.checkout.resolve(), options.output, options.only))
    return min(1, compare(options.old, options.new, dict(r.split("=") for r in options.renamed)))


if __name__ == "__main__":
    sys.exit(main())
