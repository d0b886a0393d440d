"""Signals over time in files: CSV, Parquet or npz."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.columns import read_arrays
from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.core.diagnostics.extras import of_an_extra
from orchestrator.core.plain_number import plain_number
from orchestrator.core.system import nearest

#: What a column of times is called.
_TIME = ("time", "time [s]")
#: Nanoseconds that 64 bits hold.
_LATEST_NS = 2.0**63


@dataclass(frozen=True, slots=True, eq=False)
class SignalFile:
    """One signal of a file.

    Parameters
    ----------
    times_ns
        In nanoseconds, increasing, int64 array of shape (n,).
    values
        float64 array of shape (n,).
    unit
        As the file says it; ``None`` if it does not.
    """

    times_ns: NDArray[np.int64]
    values: NDArray[np.float64]
    unit: str | None


def read_signal(path: Path, column: str) -> SignalFile:
    """Read one column of a file.

    Parameters
    ----------
    path
        ``.csv`` with one line of titles, ``.parquet`` or ``.npz``; one column is called ``time`` or
        ``time [s]`` and holds seconds, which are rounded to nanoseconds.
    column
        Title of the signal, with or without its unit in brackets.

    Raises
    ------
    LoadError
        If the file cannot be read.
    DescriptionError
        If there is no such column, a cell is no finite number, or times do not increase.
    """
    readers = {".csv": _csv, ".parquet": _parquet, ".npz": _npz}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise LoadError.in_file(
            path, "expected a file of signals that ends in .csv, .parquet or .npz"
        )
    titles, rows = reader(path)
    times = [i for i, title in enumerate(titles) if title in _TIME]
    if len(times) != 1:
        what = "a" if not times else "one"
        raise DescriptionError.in_file(
            path, f"expected {what} column 'time' in seconds, found: {', '.join(titles)}"
        )
    (time,) = times
    place = _place(path, titles, column)
    times_ns = [_time_ns(path, i, text) for i, text in enumerate(rows[time])]
    for number, (one, two) in enumerate(pairwise(times_ns), start=2):
        if two <= one:
            raise DescriptionError(
                f"{path}, row {number}: expected a time after {one / 1e9:.9g} s,"
                f" found {two / 1e9:.9g} s"
            )
    if not times_ns:
        raise DescriptionError.in_file(path, "expected at least one row of values, found none")
    values = np.array([_value(path, i, text) for i, text in enumerate(rows[place])])
    _, bracket, rest = titles[place].partition(" [")
    unit = rest.removesuffix("]") if bracket else None
    return SignalFile(np.array(times_ns, dtype=np.int64), values, unit)


def _csv(path: Path) -> tuple[list[str], list[list[str]]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file) if line]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise LoadError.in_file(path, f"cannot be read as CSV: {error}") from None
    titles = [cell.strip() for cell in lines[0]] if lines else []
    for number, line in enumerate(lines[1:], start=1):
        if len(line) != len(titles):
            raise LoadError(
                f"{path}, row {number}: expected {len(titles)} cells, found {len(line)}"
            )
    return titles, [list(cells) for cells in zip(*lines[1:], strict=True)] or [[] for _ in titles]


def _parquet(path: Path) -> tuple[list[str], list[list[str]]]:
    with of_an_extra():
        import pyarrow as pa
        import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path).read()
    except (OSError, pa.ArrowException, ValueError, RecursionError, MemoryError) as error:
        raise LoadError.in_file(path, f"cannot be read as Parquet: {error}") from None
    titles = []
    for field in table.schema:
        unit = _unit(path, field.name, (field.metadata or {}).get(b"unit", b""))
        titles.append(f"{field.name} [{unit}]" if unit else field.name)
    return titles, [[repr(cell) for cell in column.to_pylist()] for column in table.columns]


def _npz(path: Path) -> tuple[list[str], list[list[str]]]:
    found = read_arrays(path)
    units = found.units
    titles = [f"{n} [{units[n]}]" if n in units else n for n in found.names]
    columns = [found.time, *found.values.T]
    return ["time", *titles], [list(map(repr, column.tolist())) for column in columns]


def _place(path: Path, titles: Sequence[str], column: str) -> int:
    plain = [title.partition(" [")[0] for title in titles]
    for names in (titles, plain):
        found = [number for number, name in enumerate(names) if name == column]
        if len(found) > 1:
            raise DescriptionError.in_file(
                path,
                f"{len(found)} columns are called '{column}'; expected one: give each its own title"
                + (", or name it with its unit" if len({titles[n] for n in found}) > 1 else ""),
            )
        if found:
            return found[0]
    hint = nearest(column, plain) or f"; it has: {', '.join(plain)}"
    raise DescriptionError.in_file(path, f"no column '{column}'{hint}")


def _unit(path: Path, name: str, said: bytes) -> str:
    try:
        return said.decode()
    except UnicodeDecodeError:
        raise LoadError.in_file(
            path, f"column '{name}': expected a unit in UTF-8, found {said!r}"
        ) from None


def _time_ns(path: Path, row: int, text: str) -> int:
    value = _value(path, row, text) * 1e9
    if abs(value) >= _LATEST_NS:
        raise DescriptionError(
            f"{path}, row {row + 1}: expected a time within {_LATEST_NS / 1e9:.3g} s, found"
            f" '{text}'"
        )
    return round(value)


def _value(path: Path, row: int, text: str) -> float:
    value = plain_number(text.strip(" \t"))
    if value is None:
        raise DescriptionError(f"{path}, row {row + 1}: expected a finite number, found '{text}'")
    return value
