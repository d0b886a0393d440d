"""Results as MAT files of version 4 in the layout of Dymola and OpenModelica.

The file holds the matrices ``Aclass``, ``name``, ``description``, ``dataInfo``, ``data_1`` (what
does not change: parameters) and ``data_2`` (what does: signals), transposed ("binTrans"): a column
is one name, or all values of one time. Row 1 of both data matrices is the time.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import SoftdockError
from orchestrator.core.recording.parameters import ParameterRow
from orchestrator.core.recording.result import Result
from orchestrator.core.recording.whole_folder import whole_file

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
