"""MAT files of version 4 in the layout of Dymola and OpenModelica.

A file holds the matrices ``Aclass``, ``name``, ``description``, ``dataInfo``, ``data_1`` (what does
not change: parameters) and ``data_2`` (what does: signals). Of ``binTrans`` they are transposed: a
column is one name, or all values of one time; of ``binNormal`` that is a row. Row 1 of both data
matrices is the time.
"""

from __future__ import annotations

import struct
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.columns import split_title
from orchestrator.core.structs import Struct

Floats = NDArray[np.float64]
#: Type codes of the format: little-endian; doubles, 32-bit integers, text in bytes.
DOUBLES, INTEGERS, TEXT = 0, 20, 51
#: What is raised where content is not what it says that it is.
_WRONG = (ValueError, TypeError, LookupError, OverflowError, MemoryError, OSError, Warning)


class MatTable(Struct, eq=False):
    """The signals of a MAT file.

    time: In seconds, float64 array of shape (n,), increasing.
    names: Of the signals.
    units: By name.
    values: float64 array of shape (n, len(names)).
    repeated: Rows that were left out, since another one of the same time came after them.
    """

    time: Floats
    names: tuple[str, ...]
    units: Mapping[str, str]
    values: Floats
    repeated: int


@reads("expected a MAT file in the layout of Dymola and OpenModelica")
def read_mat_file(path: Path) -> MatTable:
    """Read the signals of a file.

    Other tools write a row before and one after each event, and the last row twice: of rows of one
    time the last one is kept, which holds the values after the event.

    Raises
    ------
    LoadError
        If the file is missing, damaged or of another kind, or two signals have one name.
    """
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # of numbers that may be wrong
            raw = loadmat(path, chars_as_strings=False)
        is_transposed = "binNormal" not in ["".join(row).strip(" \0") for row in raw["Aclass"]]

        def turned(key: str) -> Any:
            return raw[key] if is_transposed else raw[key].T

        texts = zip(_texts(turned("name")), _texts(turned("description")), strict=True)
        info, data = turned("dataInfo").T.astype(int), np.asarray(turned("data_2"), np.float64)
        names, units, columns = [], {}, []
        for (name, text), (block, row, *_) in zip(texts, info, strict=True):
            if block != 2 or abs(row) == 1:  # a parameter, or the time
                continue
            names.append(name)
            columns.append(np.sign(row) * data[abs(row) - 1])
            if unit := split_title(text)[1]:
                units[name] = unit
        time = data[0]
    except (MatReadError, *_WRONG) as error:
        text = f"expected a MAT file in the layout of Dymola and OpenModelica: {error}"
        raise LoadError.in_file(path, text) from None
    if len(set(names)) < len(names):
        raise LoadError.in_file(path, "two signals have one name; expected one of each")
    last = np.append(np.diff(time) != 0.0, [True] * (len(time) > 0))
    values = np.column_stack(columns) if columns else np.empty((len(time), 0))
    left_out = int(np.count_nonzero(~last))
    return MatTable(time[last], tuple(names), units, values[last], left_out)


def _texts(matrix: Any) -> list[str]:
    """Read the columns of a matrix of characters: UTF-8, or Latin-1 as other tools write it."""
    coded = ["".join(column).encode("latin-1") for column in zip(*matrix, strict=True)]
    if all(len(text) == len(matrix) for text in coded):  # else by zeros, which are no characters
        coded = [text.rstrip(b" ") for text in coded]
    try:
        return [text.decode() for text in coded]
    except UnicodeDecodeError:
        return [text.decode("latin-1") for text in coded]


def write_head(file: BinaryIO, name: str, code: int, rows: int, columns: int) -> None:
    """Write what stands before the content of a matrix."""
    title = name.encode() + b"\0"
    file.write(struct.pack("<5i", code, rows, columns, 0, len(title)) + title)


def write_texts(file: BinaryIO, name: str, texts: Sequence[str]) -> None:
    """Write texts as a matrix of characters, of which each column is one."""
    content = padded(texts)
    write_head(file, name, TEXT, len(content) // len(texts), len(texts))
    file.write(content)


def padded(texts: Sequence[str]) -> bytes:
    """Return texts one after the other, filled up to one length of at least 1.

    They are filled with blanks, as Dymola does; with zeros, as OpenModelica does, if one of them
    ends with a blank.
    """
    coded = [text.encode() for text in texts]
    ends_blank = any(text.endswith(b" ") for text in coded)
    width = max(1, *(len(text) for text in coded)) + ends_blank
    return b"".join(text.ljust(width, b"\0" if ends_blank else b" ") for text in coded)
