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
import hashlib
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


def of_table(path: Path) -> dict[str, str]:
    """Return a digest of the bits of each column of a table, by its name."""
    table = pq.read_table(path)
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        plain = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([])
        if pa.types.is_floating(column.type):
            array = plain.to_numpy(zero_copy_only=False)
            columns[name] = f"{len(array)} rows, {hash_of(array)}"
        else:
            columns[name] = f"{len(plain)} rows, {hash_of(np.array(plain.to_pylist(), dtype=str))}"
    return columns


def hash_of(array: np.ndarray[Any, Any]) -> str:
    """Return a digest of the bytes of an array."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def of_ledger(path: Path) -> dict[str, str]:
    """Return the lines of a CSV file by their numbers."""
    with path.open(encoding="utf-8", newline="") as file:
        return {str(number): ",".join(row) for number, row in enumerate(csv.reader(file))}


READERS = {".json": of_summary, ".parquet": of_table, ".csv": of_ledger}


def of_folder(folder: Path) -> dict[str, dict[str, str]]:
    """Return what each file of results has, by the path below the folder."""
    return {
        str(path.relative_to(folder)): READERS[path.suffix](path)
        for path in sorted(folder.rglob("*"))
        if path.name == "summary.json" or path.suffix in (".parquet", ".csv")
    }


def compare(old: Path, new: Path) -> int:
    """Print what differs between two folders of results; return how many values do."""
    differing = compared = 0
    before, after = of_folder(old), of_folder(new)
    for name in sorted(before.keys() | after.keys()):
        if name not in before or name not in after:
            print(f"{name}: only in {old if name in before else new}")
            differing += 1
            continue
        left, right = before[name], after[name]
        places = [p for p in {**left, **right} if left.get(p) != right.get(p)]
        compared += len(left)
        differing += len(places)
        for place in places[:MOST_LINES]:
            print(f"{name}: {place}: {left.get(place, 'absent')} -> {right.get(place, 'absent')}")
        if len(places) > MOST_LINES:
            print(f"{name}: and {len(places) - MOST_LINES} more")
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
    given = parser.parse_args()
    if given.command == "run":
        return min(1, run(given.checkout.resolve(), given.output, given.only))
    return min(1, compare(given.old, given.new))


if __name__ == "__main__":
    sys.exit(main())
