"""Results in files: the registered formats, CSV, npz, MAT, and reading.

A MAT file holds the matrices ``Aclass``, ``name``, ``description``, ``dataInfo``, ``data_1`` (what
does not change: parameters) and ``data_2`` (what does: signals), transposed ("binTrans"): a column
is one name, or all values of one time. Row 1 of both data matrices is the time.
"""

from __future__ import annotations

import csv
import struct
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.columns import Arrays, csv_columns, csv_titles, read_arrays, write_arrays
from orchestrator.core.diagnostics import (
    DescriptionError,
    LoadError,
    PluginError,
    SoftdockError,
    UnknownNameError,
)
from orchestrator.core.recording.origin import ParameterRow, origin, result_of
from orchestrator.core.recording.result import TIME, Result
from orchestrator.core.recording.whole_folder import whole_file
from orchestrator.core.system import nearest
from orchestrator.core.wings import lacking, lacking_package, registered

#: Writes a result to a path: whole, or not at all (see :func:`~.whole_folder.whole_file`).
Writer = Callable[[Result, Path], None]


def format_names() -> list[str]:
    """Names of all registered formats (entry points ``softdock.sinks``), which end the files."""
    return sorted(entry.name for entry in registered("softdock.sinks"))


def default_format() -> str:
    """Name what a run is recorded as: ``npz`` where Arrow is not installed."""
    return "npz" if lacking("pyarrow") else "parquet"


def writer(name: str) -> Writer:
    """Find the writer of a format by name."""
    for entry in registered("softdock.sinks"):
        if entry.name != name:
            continue
        try:
            loaded: Writer = entry.load()
        except Exception as error:
            why = lacking_package(error) or error
            raise PluginError(f"format '{name}' cannot be imported: {why}") from error
        return loaded
    raise UnknownNameError(
        f"no format '{name}' for results{nearest(name, format_names())};"
        f" registered: {', '.join(format_names()) or 'none'}"
    )


#: That are turned into text at a time.
_ROWS = 8192


def write_csv(result: Result, path: str | Path) -> None:
    """Write a result as CSV (UTF-8, lines end with a line feed).

    The header is ``time [s],chaser.position [m],...``. Numbers are the shortest text that reads
    back as the same float64.

    Raises
    ------
    SoftdockError
        If the file cannot be written; an earlier one is untouched.
    """
    with whole_file(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        labels = [TIME, *map(result.label, result.names)]
        csv.writer(file, lineterminator="\n").writerow(labels)
        for begin in range(0, len(result.time), _ROWS):
            rows = slice(begin, begin + _ROWS)
            block = np.column_stack([result.time[rows], result.values[rows]])
            file.writelines(",".join(map(repr, row)) + "\n" for row in block.tolist())


def write_npz(result: Result, path: str | Path) -> None:
    """Write a result as an archive of numpy, not compressed.

    ``time`` is in s, ``names`` are those of the columns of ``values``, all float64; ``about`` is
    the JSON that Parquet files have in their metadata, with the units.

    Raises
    ------
    SoftdockError
        If the file cannot be written; an earlier one is untouched.
    """
    about = origin(result)
    units = about.pop("units")
    with whole_file(path) as draft:
        write_arrays(draft, Arrays(result.time, result.names, result.values, units, about))


def read_npz(path: Path) -> Result:
    """Read a result back, or what a journal has written until now, from its folder."""
    found = read_arrays(path)
    try:
        return result_of(found.about, found.units, found.time, found.names, found.values)
    except ValueError as error:
        raise LoadError.in_file(path, f"cannot be read as a result: {error}") from None


#: What a journal is called that is one file.
GROWING = "rows.mcap"
#: What is raised where content is not what it says that it is.
_WRONG = (ValueError, TypeError, LookupError, OverflowError, MemoryError)


def read_result(path: str | Path) -> Result:
    """Read the signals of a result back, with their units and, where it is told, how it went.

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
    if path.is_dir() and any(path.glob("part-*.npz")):
        kind = ".npz"
    elif path.is_dir():
        kind = ".parquet"
    if kind in _READERS:
        return _READERS[kind](path)
    from orchestrator.core.recording.parquet import read_parquet_result

    return read_parquet_result(path)


def _read_csv(path: Path) -> Result:
    titles = csv_titles(path)
    return _result(path, titles, csv_columns(path, range(len(titles))))


def _read_mat(path: Path) -> Result:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of numbers that may be wrong
            raw = loadmat(path, chars_as_strings=False)
        names, about = (_texts(raw[key]) for key in ("name", "description"))
        info, data = raw["dataInfo"].T.astype(int), raw["data_2"]
        titles, columns = [TIME], [data[0]]
        for name, text, (block, row, *_) in zip(names, about, info, strict=True):
            if block == 2:
                unit = text.rpartition("[")[2].removesuffix("]") if text.endswith("]") else ""
                titles.append(f"{name} [{unit}]" if unit else name)
                columns.append(np.sign(row) * data[abs(row) - 1])
        values = np.column_stack(columns)
    except (MatReadError, Warning, OSError, *_WRONG) as error:
        text = f"expected a MAT file in the layout of Dymola and OpenModelica: {error}"
        raise LoadError.in_file(path, text) from None
    return _result(path, titles, values)


def _texts(matrix: Any) -> list[str]:
    coded = ["".join(column).rstrip() for column in zip(*matrix, strict=True)]
    return [text.encode("latin-1").decode() for text in coded]


def _result(path: Path, titles: list[str], values: Any) -> Result:
    """Make a result of columns, whose titles end with their units."""
    if TIME not in titles:
        raise LoadError.in_file(path, f"expected a result, which has a column '{TIME}'")
    time = values[:, titles.index(TIME)]
    if not len(time) or not (np.abs(time) < 2.0**63 / 1e9).all() or not (np.diff(time) > 0).all():
        raise LoadError.in_file(path, f"'{TIME}': expected times that increase")
    kept = [number for number, title in enumerate(titles) if title != TIME]
    parts = [titles[number].partition(" [") for number in kept]
    names = tuple(name for name, _, _ in parts)
    units = {name: unit.removesuffix("]") for name, mark, unit in parts if mark}
    if len(set(names)) < len(names):
        raise LoadError.in_file(path, "two columns have one name; expected one of each")
    times_ns = np.rint(time * 1e9).astype(np.int64)
    return Result(path.stem, times_ns, names, np.ascontiguousarray(values[:, kept]), units)


_READERS = {".csv": _read_csv, ".mat": _read_mat, ".npz": read_npz}


def kept_result(folder: Path, stem: str) -> Path | None:
    """Return the file of a folder that keeps all of a result, if there is one."""
    found = (folder / f"{stem}.{kind}" for kind in ("parquet", "npz"))
    return next((path for path in found if path.is_file()), None)


def expect_other(source: Path, target: Path) -> None:
    """Expect that a file is not written over the one that is read."""
    if target.exists() and source.exists() and target.samefile(source):
        raise DescriptionError(f"{target}: expected another file than the one that is read")


#: Type codes of the format: little-endian; doubles, 32-bit integers, text in bytes.
_DOUBLES, _INTEGERS, _TEXT = 0, 20, 51
#: MATLAB reads no larger matrix of this version.
LARGEST_MATRIX = 2**31 - 1
_CHUNK = 16_384
_CLASS = ("Atrajectory", "1.1", "", "binTrans")


def write_mat(result: Result, path: str | Path) -> None:
    """Write a result as MAT file of version 4, as Dymola and OpenModelica do.

    ``data_1`` holds the numeric parameters, with the values at the first and at the last time;
    ``data_2`` the signals, both as doubles. Names are Softdock's own (elements of arrays count from
    0), the time is ``time``. Descriptions end with the unit: ``"Position of the body [m]"``. Text
    is UTF-8, padded with blanks.

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
    about = [_about("Time", "s"), *(text for _, text, _ in constants)]
    about += [_about(result.descriptions.get(n, ""), result.units.get(n, "")) for n in result.names]
    ends = result.time[[0, -1]] if len(result.time) else np.full(2, np.nan)
    fixed = np.array([ends, *([value, value] for _, _, value in constants)])
    with whole_file(path) as draft, draft.open("wb") as file:
        # Aclass alone is not transposed: its four rows are texts.
        rows = np.frombuffer(_padded(_CLASS), np.uint8).reshape(len(_CLASS), -1)
        _head(file, "Aclass", _TEXT, *rows.shape)
        file.write(rows.tobytes(order="F"))
        for title, texts in (("name", names), ("description", about)):
            content = _padded(texts)
            _head(file, title, _TEXT, len(content) // len(texts), len(texts))
            file.write(content)
        info = _info(len(constants), len(result.names))
        _head(file, "dataInfo", _INTEGERS, 4, len(info))
        file.write(info.tobytes())
        _head(file, "data_1", _DOUBLES, *fixed.shape)
        file.write(fixed.astype("<f8").tobytes(order="F"))
        _head(file, "data_2", _DOUBLES, 1 + len(result.names), len(result.time_ns))
        for first in range(0, len(result.time_ns), _CHUNK):
            part = slice(first, first + _CHUNK)
            table = np.column_stack([result.time[part], result.values[part]])
            file.write(table.astype("<f8", copy=False).tobytes())


def _head(file: BinaryIO, name: str, code: int, rows: int, columns: int) -> None:
    title = name.encode() + b"\0"
    file.write(struct.pack("<5i", code, rows, columns, 0, len(title)) + title)


def _padded(texts: Sequence[str]) -> bytes:
    """Texts one after the other, with blanks up to one length (of at least 1)."""
    coded = [text.encode() for text in texts]
    width = max(1, *(len(text) for text in coded))
    return b"".join(text.ljust(width) for text in coded)


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
    name, about = f"{row.component}.{row.name}", _about(row.description, row.unit)
    if isinstance(row.value, tuple):
        for i, element in enumerate(row.value):
            if not isinstance(element, (str, bytes)):
                yield f"{name}[{i}]", about, float(cast("float", element))
    elif row.value is not None and not isinstance(row.value, (str, bytes)):
        yield name, about, float(row.value)


def _about(description: str, unit: str) -> str:
    return f"{description} [{unit}]".lstrip() if unit else description
