"""Results read back from any of the files that they are written to."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from orchestrator.core.columns import csv_columns, csv_titles
from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.core.recording.npz import read_npz
from orchestrator.core.recording.result import TIME, Result

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
