"""Results in files: CSV, npz, MAT, and reading."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import DescriptionError, LoadError, SoftdockError, first_of
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.columns import (
    Arrays,
    csv_columns,
    csv_titles,
    read_arrays,
    split_title,
    titled,
    write_arrays,
)
from orchestrator.core.files.mat_file import (
    DOUBLES,
    INTEGERS,
    TEXT,
    padded,
    read_mat_file,
    write_head,
    write_texts,
)
from orchestrator.core.recording.origin import origin, result_of
from orchestrator.core.recording.result import TIME, ParameterRow, Result
from orchestrator.core.recording.whole_folder import whole_file


def write_csv(result: Result, path: str | Path) -> None:
    """Write a result as CSV, as :meth:`Result.to_csv` does.

    The header is ``time [s],chaser.position [m],...``; numbers are the shortest text that reads
    back as the same float64. Of how the run went nothing but the units is kept.

    Raises
    ------
    SoftdockError
        If the file cannot be written; an earlier one is untouched.
    """
    result.to_csv(path)


def write_npz(result: Result, path: str | Path) -> None:
    """Write a result as an archive of numpy, not compressed.

    ``time`` is in s, ``names`` are those of the columns of ``values``, all float64; ``record`` is
    the JSON that Parquet files have in their metadata, with the units.

    Raises
    ------
    SoftdockError
        If the file cannot be written; an earlier one is untouched.
    """
    record = origin(result)
    units = record.pop("units")
    with whole_file(path) as draft:
        write_arrays(draft, Arrays(result.time, result.names, result.values, units, record))


def read_npz(path: Path) -> Result:
    """Read a result back, or what a journal has written until now, from its folder."""
    arrays = read_arrays(path)
    try:
        return result_of(arrays.metadata, arrays.units, arrays.time, arrays.names, arrays.values)
    except ValueError as error:
        raise LoadError.in_file(path, f"cannot be read as a result: {error}") from None


#: What can be read.
_SUFFIXES = ".parquet, .npz, .mcap, .csv, .mat, or the folder NAME.partial of a run"
#: What a journal is called that is one file.
GROWING = "rows.mcap"
#: What is raised where content is not what it says that it is.
_WRONG = (ValueError, TypeError, LookupError, OverflowError, MemoryError)


@reads("expected a result")
def read_result(path: str | Path) -> Result:
    """Read the signals of a result with their units and, if stored, the outcome of the run.

    Parameters
    ----------
    path
        ``.parquet``, ``.npz``, ``.mcap``, ``.csv`` or ``.mat``; or the folder of a journal. Of an
        MCAP file that is cut it is what can be read, with a note.

    Raises
    ------
    LoadError
        If the file is missing, damaged or of another kind.
    """
    path = Path(path)
    if (path / GROWING).is_file():
        path /= GROWING
    kind = path.suffix.lower()
    if kind == ".mcap":
        from orchestrator.core.recording.mcap import read_mcap

        return read_mcap(path)
    if path.is_dir():
        kind = _kind_of_journal(path)
    if kind in _READERS:
        return _READERS[kind](path)
    if kind != ".parquet" and path.is_file():
        description = f"its suffix is '{path.suffix}'" if path.suffix else "it has no suffix"
        raise LoadError.in_file(path, f"{description}; expected a result: {_SUFFIXES}")
    if not path.exists():  # whether or not Parquet can be read here
        alternative = kept_result(path.parent, path.stem)
        hint = f"; there is {alternative.name}" if alternative is not None else ""
        raise LoadError.in_file(path, f"no such file; expected a result{hint}")
    from orchestrator.core.recording.parquet import read_parquet_result

    return read_parquet_result(path)


def _kind_of_journal(folder: Path) -> str:
    """Return the suffix of a journal's files; raise LoadError where a folder is no journal."""
    for kind in (".parquet", ".npz"):
        if any(folder.glob(f"part-*{kind}")):
            return kind
    kinds = {".parquet", ".npz", ".mcap", ".mat"}  # a folder has other tables as CSV
    names = sorted(
        file.name
        for file in folder.iterdir()
        if file.suffix.lower() in kinds or (file.suffix == ".partial" and file.is_dir())
    )
    if not names:
        under_way = any(folder.resolve().parent.glob(f".{glob.escape(folder.name)}.*.part"))
        description = (
            "a run that writes this folder has kept no rows yet, or was killed before it did"
            if under_way
            else "it is a folder without a result"
        )
        raise LoadError.in_file(folder, f"{description}; expected {_SUFFIXES}")
    raise LoadError.in_file(
        folder, f"it is a folder; expected one of its results: {first_of(names, 8)}"
    )


def _read_csv(path: Path) -> Result:
    titles = csv_titles(path)
    values = csv_columns(path, range(len(titles)))
    if TIME not in titles:
        raise LoadError.in_file(path, f"expected a result, which has a column '{TIME}'")
    time = values[:, titles.index(TIME)]
    columns = [number for number, title in enumerate(titles) if title != TIME]
    parts = [split_title(titles[number]) for number in columns]
    names = tuple(name for name, _ in parts)
    if len(set(names)) < len(names):
        raise LoadError.in_file(path, "two columns have one name; expected one of each")
    units = {name: unit for name, unit in parts if unit}
    return _result(path, time, names, units, values[:, columns])


def _read_mat(path: Path) -> Result:
    table = read_mat_file(path)
    result = _result(path, table.time, table.names, table.units, table.values)
    if not table.repeated:
        return result
    rows = f"{table.repeated} row{'s' if table.repeated > 1 else ''}"
    note = f"{path.name}: {rows} left out, as another one of the same time follows (events)"
    return replace(result, notes=(note,))


def _result(
    path: Path,
    time: NDArray[np.float64],
    names: tuple[str, ...],
    units: Mapping[str, str],
    values: NDArray[np.float64],
) -> Result:
    if not len(time) or not (np.abs(time) < 2.0**63 / 1e9).all() or not (np.diff(time) > 0).all():
        raise LoadError.in_file(path, f"'{TIME}': expected times that increase")
    times_ns = np.rint(time * 1e9).astype(np.int64)
    return Result(path.stem, times_ns, names, np.ascontiguousarray(values), dict(units))


_READERS = {".csv": _read_csv, ".mat": _read_mat, ".npz": read_npz}


def kept_result(folder: Path, stem: str) -> Path | None:
    """Return the file of a folder that keeps all of a result, if there is one."""
    candidates = (folder / f"{stem}.{kind}" for kind in ("parquet", "npz"))
    return next((path for path in candidates if path.is_file()), None)


def expect_other(source: Path, target: Path) -> None:
    """Expect that a file is not written over the one that is read."""
    if target.exists() and source.exists() and target.samefile(source):
        raise DescriptionError(f"{target}: expected another file than the one that is read")


#: MATLAB reads no larger matrix of this version.
LARGEST_MATRIX = 2**31 - 1
_CHUNK = 16_384
_CLASS = ("Atrajectory", "1.1", "", "binTrans")


def write_mat(result: Result, path: str | Path) -> None:
    """Write a result as MAT file of version 4, as Dymola and OpenModelica do.

    ``data_1`` holds the numeric parameters, with the values at the first and at the last time;
    ``data_2`` the signals, both as doubles. Names are Softdock's own (elements of arrays count from
    0), the time is ``time``. Descriptions end with the unit: ``"Position of the body [m]"``, or
    with ``[]`` where they would end like one. Text is UTF-8, padded with blanks, or with zeros if a
    text ends with a blank.

    Raises
    ------
    SoftdockError
        If a matrix would have more than 2 GiB, or the file cannot be written; an earlier one is
        untouched.
    """
    size = 8 * len(result.time_ns) * (1 + len(result.names))
    if size > LARGEST_MATRIX:
        raise SoftdockError(
            f"{path}: data_2 would have {size} bytes; expected at most {LARGEST_MATRIX}, which is"
            " what MAT files of version 4 can hold: record fewer outputs or every n-th step, or"
            " choose Parquet"
        )
    constants = [item for row in result.parameters for item in _numbers(row)]
    names = ["time", *(name for name, _, _ in constants), *result.names]
    titles = [titled("Time", "s"), *(text for _, text, _ in constants)]
    titles += [titled(result.descriptions.get(n, ""), result.units.get(n)) for n in result.names]
    ends = result.time[[0, -1]] if len(result.time) else np.full(2, np.nan)
    fixed = np.array([ends, *([value, value] for _, _, value in constants)])
    with whole_file(path) as draft, draft.open("wb") as file:
        # Aclass alone is not transposed: its four rows are texts.
        rows = np.frombuffer(padded(_CLASS), np.uint8).reshape(len(_CLASS), -1)
        write_head(file, "Aclass", TEXT, *rows.shape)
        file.write(rows.tobytes(order="F"))
        write_texts(file, "name", names)
        write_texts(file, "description", titles)
        info = _info(len(constants), len(result.names))
        write_head(file, "dataInfo", INTEGERS, 4, len(info))
        file.write(info.tobytes())
        write_head(file, "data_1", DOUBLES, *fixed.shape)
        file.write(fixed.astype("<f8").tobytes(order="F"))
        write_head(file, "data_2", DOUBLES, 1 + len(result.names), len(result.time_ns))
        for first in range(0, len(result.time_ns), _CHUNK):
            part = slice(first, first + _CHUNK)
            table = np.column_stack([result.time[part], result.values[part]])
            file.write(table.astype("<f8", copy=False).tobytes())


def _info(constants: int, signals: int) -> NDArray[np.int32]:
    """Matrix, row in it, interpolation, and what holds outside: one row for each name.

    0 in the first place is the abscissa; 0 in the third is linear; in the fourth, 0 keeps the
    value and -1 leaves it undefined.
    """
    rows = [(0, 1, 0, -1)]
    rows += [(1, 2 + i, 0, 0) for i in range(constants)]
    rows += [(2, 2 + i, 0, -1) for i in range(signals)]
    return np.array(rows, dtype="<i4")


def _numbers(row: ParameterRow) -> Iterator[tuple[str, str, float]]:
    """Name, description and value of each number of a parameter; texts and unknowns have none."""
    name, title = f"{row.component}.{row.name}", titled(row.description, row.unit)
    if isinstance(row.value, tuple):
        for i, element in enumerate(row.value):
            if not isinstance(element, (str, bytes)):
                yield f"{name}[{i}]", title, float(cast("float", element))
    elif row.value is not None and not isinstance(row.value, (str, bytes)):
        yield name, title, float(row.value)
