"""Columns of numbers in files: as text (CSV), and as arrays of numpy (npz)."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.diagnostics import LoadError, counted
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.plain_data import json_data
from orchestrator.core.structs import Struct

Floats = NDArray[np.float64]
#: What is raised where content is not what it says that it is.
_WRONG = (
    *(OSError, ValueError, LookupError, MemoryError, EOFError, zipfile.BadZipFile),
    *(TypeError, AttributeError, NotImplementedError, RuntimeError),
)


#: A title that ends with a unit; ``\\`` stands before brackets and bars in a unit.
_UNIT = re.compile(r"(?P<name>.*?)(?P<gap>^| )\[(?P<unit>(?:[^\[\]\\]|\\.)*)\]", re.DOTALL)
#: What ends a unit: the display unit behind a bar, or a remark on the type, as Dymola writes them.
_END = re.compile(r"(?<!\\)\||:#")
_TO_ESCAPE = re.compile(r"[\[\]\\|]|(?<=:)#")


def titled(name: str, unit: str | None) -> str:
    """Return a name with its unit behind it, from which :func:`split_title` finds both again.

    ``"speed"`` in ``"rpm"`` is ``"speed [rpm]"``. A name without a unit that looks as if it had one
    has an empty unit: ``"speed [rpm] []"``.
    """
    if unit:
        gap = " " if name else ""
        return f"{name}{gap}[{_TO_ESCAPE.sub(_escaped, unit)}]"
    return f"{name} []" if _UNIT.fullmatch(name) else name


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[0]}"


def split_title(title: str) -> tuple[str, str]:
    """Return name and unit of a title; the unit may be empty.

    Of ``[m|mm]`` the unit is ``m``: the second one is for display. Of ``[m:#(type=Real)]`` as well.
    """
    match = _UNIT.fullmatch(title)
    if match is None:
        return title, ""
    unit = _END.split(match["unit"], maxsplit=1)[0]
    return match["name"], re.sub(r"\\(.)", r"\1", unit)


@reads("cannot be read as CSV")
def csv_titles(path: Path) -> list[str]:
    """Read the first line of a CSV file, in UTF-8."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return next(csv.reader(file), [])
    except (OSError, ValueError, csv.Error) as error:
        raise LoadError.in_file(path, f"cannot be read as CSV: {error}") from None


@reads("cannot be read as CSV")
def csv_columns(path: Path, columns: Sequence[int]) -> Floats:
    """Read columns of a CSV file below its line of titles, as an array with a column for each."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            next(csv.reader(file), None)
            text = file.read()
        if not text.strip():
            return np.empty((0, len(columns)))
        return np.loadtxt(
            io.StringIO(text), delimiter=",", usecols=columns, ndmin=2, quotechar='"', comments=None
        )
    except (OSError, ValueError, csv.Error, MemoryError) as error:
        raise LoadError.in_file(path, f"cannot be read as CSV: {error}") from None


class Arrays(Struct, eq=False):
    """What an npz file of Softdock holds.

    time: In seconds, float64 array of shape (n,).
    names: Of the signals.
    values: float64 array of shape (n, len(names)).
    units: By name.
    metadata: Where they come from, as plain data.
    """

    time: Floats
    names: tuple[str, ...]
    values: Floats
    units: Mapping[str, str]
    metadata: Mapping[str, Any]


@reads("expected an npz file that Softdock has written, but it cannot be read")
def read_arrays(path: Path) -> Arrays:
    """Read a file that :func:`write_arrays` has written, or a folder of its parts."""
    if path.is_dir():
        parts = [read_arrays(part) for part in sorted(path.glob("part-*.npz"))]
        if not parts or any(part.names != parts[0].names for part in parts):
            raise LoadError.in_file(path, "expected files 'part-*.npz' of the same signals")
        time = np.concatenate([part.time for part in parts])
        values = np.concatenate([part.values for part in parts])
        last = parts[-1]  # it knows how the run ended
        return Arrays(time, last.names, values, last.units, last.metadata)
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in file.zip.infolist()):
                raise ValueError("it is compressed, so that its size says nothing of its content")
            time, names, values, metadata = (
                file[key] for key in ("time", "names", "values", "about")
            )
        details = json_data(str(metadata[()]))
        units = {str(name): str(unit) for name, unit in details.pop("units").items()}
        arrays = Arrays(time, tuple(map(str, names)), values, units, details)
    except _WRONG as error:
        raise _foreign(path, str(error)) from None
    if time.dtype != np.float64 or values.dtype != np.float64 or time.ndim != 1:
        raise _foreign(path, "its arrays are not of float64")
    if values.shape != (len(time), len(arrays.names)):
        raise _foreign(
            path,
            f"{counted(len(arrays.names), 'name')} and {counted(len(time), 'time')} of"
            f" {values.shape}",
        )
    return arrays


def _foreign(path: Path, reason: str) -> LoadError:
    return LoadError.in_file(
        path, f"expected an npz file that Softdock has written, but it cannot be read: {reason}"
    )


def write_arrays(path: Path, arrays: Arrays) -> None:
    """Write arrays as npz: ``time``, ``names``, ``values`` and ``about``."""
    names = np.array(arrays.names, dtype=np.str_)
    metadata = json.dumps({"units": dict(arrays.units), **arrays.metadata})
    with path.open("wb") as file:
        np.savez(file, time=arrays.time, names=names, values=arrays.values, about=metadata)
