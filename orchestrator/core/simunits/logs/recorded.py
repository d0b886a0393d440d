"""What a result file has of one component."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import LoadError, UnknownNameError, nearest
from orchestrator.core.system.naming import listed_names

if TYPE_CHECKING:
    import pyarrow as pa

#: What the column of times is called in the files of results.
_TIME = "time [s]"
_LATEST = 2.0**63 / 1e9


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """The recorded signals of one component.

    Parameters
    ----------
    file
        Where they stand.
    times_ns
        In nanoseconds, increasing, int64 array of shape (n,).
    columns
        Names within the component, with ``[i]`` for elements of an array.
    values
        float64 array of shape (n, len(columns)), row by row in memory.
    units
        By column, where one was recorded.
    """

    file: Path
    times_ns: NDArray[np.int64]
    columns: tuple[str, ...]
    values: NDArray[np.float64]
    units: dict[str, str]

    def column(self, name: str) -> int:
        """Return the number of a column, or -1 if it was not recorded."""
        return self.columns.index(name) if name in self.columns else -1


def read_recorded(path: Path, component: str) -> Recorded:
    """Read the signals of a component from a file of results, or the folder of a journal.

    Parameters
    ----------
    path
        ``.parquet``, ``.csv`` or ``.mcap``, as results are written, or the folder of a journal.
    component
        Its name in that run.

    Raises
    ------
    LoadError
        If the file cannot be read, or is no recording.
    UnknownNameError
        If it has nothing of the component.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise LoadError.in_file(path, f"no such recording: {error.strerror or error}") from None
    return _read(path, component, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=8)
def _read(path: Path, component: str, changed_ns: int, size: int) -> Recorded:
    del changed_ns, size  # of the file that was read: another one is read anew
    table = _table(path)
    titles = {}  # column of the table and unit, by the signal's name
    for number, field in enumerate(table.schema):
        name, _, rest = field.name.partition(" [")
        if name in titles:
            raise LoadError.in_file(path, f"two columns are called '{name}'; expected one")
        unit = (field.metadata or {}).get(b"unit", b"").decode(errors="replace")
        titles[name] = number, unit or rest.removesuffix("]")
    if _TIME not in table.schema.names:
        raise LoadError.in_file(path, f"expected a recording, which has a column '{_TIME}'")
    times = _numbers(path, table, table.schema.names.index(_TIME))
    own = {n.removeprefix(f"{component}."): n for n in titles if n.startswith(f"{component}.")}
    if not own:
        known = list(dict.fromkeys(n.partition(".")[0] for n in titles if "." in n))
        raise UnknownNameError(
            f"{path} has no signals of a component '{component}'{nearest(component, known)};"
            f" it has some of: {listed_names(known, component)}; '?component=NAME' behind the file"
            " says which"
        )
    if not len(times) or not (np.abs(times) < _LATEST).all() or not (np.diff(times) > 0).all():
        raise LoadError.in_file(path, f"'{_TIME}': expected times that increase")
    columns = [_numbers(path, table, titles[name][0]) for name in own.values()]
    return Recorded(
        path,
        np.rint(times * 1e9).astype(np.int64),
        tuple(own),
        np.ascontiguousarray(np.column_stack(columns)),
        {name: titles[full][1] for name, full in own.items() if titles[full][1]},
    )


def _table(path: Path) -> pa.Table:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    try:
        growing = path / "rows.mcap"
        if path.suffix == ".mcap" or growing.is_file():
            return _mcap_table(growing if growing.is_file() else path)
        if path.is_dir():
            return pa.concat_tables([pq.ParquetFile(part).read() for part in _parts(path)])
        if path.suffix == ".parquet":
            return pq.ParquetFile(path).read()
        if path.suffix == ".csv":
            table = pyarrow.csv.read_csv(path)
            table.schema.names  # noqa: B018 - decoded here: a title that is no UTF-8 is an error
            return table
    except (OSError, pa.ArrowException, ValueError, MemoryError) as error:
        raise LoadError.in_file(path, f"cannot be read as a recording: {error}") from None
    raise LoadError.in_file(path, "expected a recording that ends in .parquet, .csv or .mcap")


def _mcap_table(path: Path) -> pa.Table:
    import pyarrow as pa

    try:
        from orchestrator.core.mcap.reading import read_mcap_file
    except ModuleNotFoundError as missing:
        raise LoadError.in_file(
            path, f"MCAP needs the package '{missing.name}': pip install 'softdock[mcap]'"
        ) from None
    found = read_mcap_file(path)
    fields = [
        pa.field(name, pa.float64(), metadata={"unit": found.units.get(name, "")})
        for name in found.names
    ]
    columns = [*found.values.T, found.times_ns / 1e9]
    arrays = [pa.array(column) for column in columns]
    return pa.Table.from_arrays(arrays, schema=pa.schema([*fields, pa.field(_TIME, pa.float64())]))


def _parts(folder: Path) -> Iterator[Path]:
    yield from sorted(folder.glob("part-*.parquet"))


def _numbers(path: Path, table: pa.Table, number: int) -> NDArray[np.float64]:
    name = table.schema.names[number]
    try:
        values = table.column(number).to_numpy().astype(np.float64)
    except (ValueError, TypeError):
        raise LoadError.in_file(path, f"column '{name}': expected numbers") from None
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise LoadError.in_file(path, f"column '{name}', row {row + 1}: expected a finite number")
    return np.asarray(values, dtype=np.float64)
