"""Results as Parquet: exact, compact, and with all that is known of the run in the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.coupling import FaultRecord
from orchestrator.errors import LoadError
from orchestrator.recording.atomic import whole_file
from orchestrator.recording.origin import origin
from orchestrator.recording.result import Result
from orchestrator.simunits import Notice

if TYPE_CHECKING:
    import pandas as pd

#: Key of the schema metadata; its value is the JSON of :func:`~orchestrator.recording.origin`.
KEY = b"softdock"


def write_parquet(result: Result, path: str | Path) -> None:
    """Write a result as Parquet.

    Columns are ``time [s]`` and the signals, all float64. Units, step, algorithm, delays of the
    loops and versions stand as JSON under ``softdock`` in the schema's metadata; each field
    carries its ``unit`` as well. ``pandas.read_parquet`` reads the file too.

    Raises
    ------
    SoftdockError
        If the file cannot be written; an earlier one is untouched.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Columns are turned here: to make a frame of 5 million values took longer than to write them.
    # Only the note for pandas on what the index is comes from one.
    columns = [*np.ascontiguousarray(np.transpose(result.values)), result.time]
    index = pa.Table.from_pandas(result.to_frame(slice(0))).schema
    fields = [
        field.with_metadata({"unit": result.units[field.name]})
        if field.name in result.units
        else field
        for field in index
    ]
    metadata = {**(index.metadata or {}), KEY: json.dumps(origin(result)).encode()}
    schema = pa.schema(fields, metadata=metadata)
    table = pa.Table.from_arrays([pa.array(column) for column in columns], schema=schema)
    with whole_file(path) as draft:
        # Measured values hardly repeat: a dictionary only costs time.
        pq.write_table(table, draft, compression="zstd", use_dictionary=False)


def read_parquet(path: str | Path) -> pd.DataFrame:
    """Read what :func:`write_parquet` or a :class:`~orchestrator.recording.Journal` has written.

    Parameters
    ----------
    path
        The file, or the folder of a journal.

    Returns
    -------
    pandas.DataFrame
        Indexed by time in seconds. ``attrs["units"]`` holds the units by column, ``attrs["run"]``
        the rest of the metadata.

    Raises
    ------
    LoadError
        If the file is missing, damaged or not written by Softdock.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        parts = sorted(Path(path).glob("part-*.parquet")) if Path(path).is_dir() else [path]
        tables = [pq.ParquetFile(part).read() for part in parts]
        run = json.loads(tables[-1].schema.metadata[KEY])
    except (OSError, pa.ArrowException, LookupError, ValueError, TypeError) as error:
        raise LoadError(
            f"{path}: expected a Parquet file that Softdock has written, but it cannot be read:"
            f" {error}"
        ) from error
    frame: pd.DataFrame = pa.concat_tables(tables).to_pandas()
    frame.attrs["units"] = run.pop("units")
    frame.attrs["run"] = run
    return frame


def read_result(path: str | Path) -> Result:
    """Read the signals of a result back, with their units and what went wrong in the run.

    Parameters
    ----------
    path
        As for :func:`read_parquet`.

    Raises
    ------
    LoadError
        If the file is missing, damaged or not written by Softdock.
    """
    frame = read_parquet(path)
    run = frame.attrs["run"]
    return Result(
        name=run["case"],
        time_ns=np.rint(frame.index.to_numpy(dtype=np.float64) * 1e9).astype(np.int64),
        names=tuple(map(str, frame.columns)),
        values=frame.to_numpy(dtype=np.float64),
        units=frame.attrs["units"],
        step_ns=run["step_ns"],
        algorithm=run["algorithm"],
        delay_mode=run["delay_mode"],
        faults=tuple(FaultRecord(**{**f, "lines": tuple(f["lines"])}) for f in run["faults"]),
        notices=tuple(Notice(**notice) for notice in run.get("notices", ())),
    )
