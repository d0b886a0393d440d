"""Results as arrays of numpy: exact, and what runs are recorded as where Arrow is not installed."""

from __future__ import annotations

from pathlib import Path

from orchestrator.core.columns import Arrays, read_arrays, write_arrays
from orchestrator.core.diagnostics import LoadError
from orchestrator.core.recording.origin import origin
from orchestrator.core.recording.result import Result
from orchestrator.core.recording.run_record import result_of
from orchestrator.core.recording.whole_folder import whole_file


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
