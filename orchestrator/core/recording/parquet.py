"""Results as Parquet: exact, compact, and with all that is known of the run in the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.plain_data import expect_memory, json_data, misfit
from orchestrator.core.optional_packages import optional_imports
from orchestrator.core.recording.origin import origin, result_of
from orchestrator.core.recording.result import TIME, Result
from orchestrator.core.recording.whole_folder import whole_file

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.parquet as pq

#: Key of the schema metadata; its value is the JSON of :func:`~orchestrator.core.recording.origin`.
KEY = b"softdock"
#: What is raised where content is not what it says that it is.
_WRONG = (ValueError, TypeError, LookupError, AttributeError, RecursionError)


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
    with optional_imports():
        import pyarrow as pa
        import pyarrow.parquet as pq

    # Columns are turned here: to make a frame of 5 million values took longer than to write them.
    columns = [*np.ascontiguousarray(np.transpose(result.values)), result.time]
    fields = []
    for name in (*result.names, TIME):
        unit = {"unit": result.units[name]} if name in result.units else None
        fields.append(pa.field(name, pa.float64(), metadata=unit))
    record = origin(result)
    metadata = {b"pandas": _for_pandas(result.names, record["versions"]), KEY: json.dumps(record)}
    schema = pa.schema(fields, metadata=metadata)
    count = len(result.time)  # from buffers: pyarrow's own way through arrays of numpy asks pandas
    arrays = [
        pa.Array.from_buffers(pa.float64(), count, [None, pa.py_buffer(column)])
        for column in columns
    ]
    table = pa.Table.from_arrays(arrays, schema=schema)
    with whole_file(path) as draft:
        # Measured values hardly repeat: a dictionary only costs time.
        pq.write_table(table, draft, compression="zstd", use_dictionary=False)


def _for_pandas(names: Sequence[str], versions: Mapping[str, str]) -> str:
    """Say which column is the index, as pandas does: to import it takes longer than a run."""
    columns = [
        {
            "name": name,
            "field_name": name,
            "pandas_type": "float64",
            "numpy_type": "float64",
            "metadata": None,
        }
        for name in (*names, TIME)
    ]
    note = {
        "index_columns": [TIME],
        "column_indexes": [],
        "columns": columns,
        "creator": {"library": "pyarrow", "version": versions.get("pyarrow", "")},
        "pandas_version": versions.get("pandas", ""),
    }
    return json.dumps(note)


@reads("expected a Parquet file that Softdock has written")
def read_parquet(path: str | Path) -> pd.DataFrame:
    """Read what :func:`write_parquet` or a :class:`~.journal.Journal` has written.

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
    with optional_imports():
        import pyarrow as pa
    with _readable(path) as files:
        _expect_memory(path, files, copies=_COPIES)
        table = pa.concat_tables([file.read() for file in files])
        run, units = _run_metadata(files)
        # The file tells pandas only which column is the index.
        frame: pd.DataFrame = table.to_pandas(ignore_metadata=True).set_index(TIME)
        frame.attrs["units"] = units
        frame.attrs["run"] = run
        return frame


#: Of a table and its frame.
_COPIES = 2.0
#: Rows that are read at once.
_BATCH = 4096


@contextmanager
def _readable(path: str | Path) -> Iterator[list[pq.ParquetFile]]:
    """Open a file, or the parts of a journal; what fails within is an error of the file."""
    with optional_imports():
        import pyarrow as pa
        import pyarrow.parquet as pq
    from pydantic import ValidationError

    try:
        parts = sorted(Path(path).glob("part-*.parquet")) if Path(path).is_dir() else [path]
        yield [pq.ParquetFile(part) for part in parts]
    except LoadError:
        raise
    except ValidationError as error:
        raise _unreadable(path, f"its units: {misfit(error)}") from error
    except KeyError as error:
        raise _unreadable(path, f"it has no {error}") from error
    except FileNotFoundError as error:
        raise LoadError.in_file(path, "no such file; expected a result") from error
    except pa.ArrowInvalid as error:
        raise _unreadable(path, "it is cut, damaged, or of another format") from error
    except (OSError, pa.ArrowException, MemoryError, *_WRONG) as error:
        raise _unreadable(path, str(error)) from error


def _expect_memory(path: str | Path, files: Sequence[pq.ParquetFile], copies: float = 1.0) -> None:
    rows = sum(file.metadata.num_rows for file in files)
    expect_memory(path, rows, max((file.metadata.num_columns for file in files), default=0), copies)


def _run_metadata(files: Sequence[pq.ParquetFile]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return what is known of the run, and the units of its signals."""
    from pydantic import TypeAdapter

    run = json_data((files[-1].schema_arrow.metadata or {})[KEY])  # it knows how the run ended
    return run, TypeAdapter(dict[str, str]).validate_python(run.pop("units"))


def _unreadable(path: str | Path, reason: str) -> LoadError:
    return LoadError.in_file(
        path, f"expected a Parquet file that Softdock has written, but it cannot be read: {reason}"
    )


@reads("expected a Parquet file that Softdock has written")
def read_parquet_result(path: str | Path) -> Result:
    """Read the signals of a result back, with their units and what went wrong in the run."""
    with _readable(path) as files:
        _expect_memory(path, files)
        record, units = _run_metadata(files)
        columns = files[0].schema_arrow.names
        names = [name for name in columns if name != TIME]
        indices = [columns.index(name) for name in (TIME, *names)] if TIME in columns else []
        if not indices:
            raise KeyError(TIME)
        rows = sum(file.metadata.num_rows for file in files)
        times, values = np.empty(rows), np.empty((rows, len(names)))
        at = 0
        for file in files:
            for batch in file.iter_batches(_BATCH):
                end = at + len(batch)
                times[at:end], *signals = (
                    batch.column(number).to_numpy(zero_copy_only=False) for number in indices
                )
                for number, signal in enumerate(signals):
                    values[at:end, number] = signal
                at = end
        return result_of(record, units, times, names, values)
