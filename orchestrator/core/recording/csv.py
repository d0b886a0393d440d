"""Results as CSV: for every other tool."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from orchestrator.core.recording.result import TIME, Result
from orchestrator.core.recording.whole_folder import whole_file


def write_csv(result: Result, path: str | Path) -> None:
    """Write a result as CSV (UTF-8, lines end with a line feed).

    The header is ``time [s],chaser.position [m],...``. Numbers are the shortest text that reads
    back as the same float64.

    Raises
    ------
    SoftdockError
        If the file cannot be written; an earlier one is untouched.
    """
    import pyarrow as pa
    import pyarrow.csv

    header = io.StringIO()
    labels = [TIME, *map(result.label, result.names)]
    csv.writer(header, lineterminator="\n").writerow(labels)
    columns = [result.time, *(result.values[:, i] for i in range(len(result.names)))]
    table = pa.Table.from_arrays([pa.array(c) for c in columns], names=labels)
    options = pyarrow.csv.WriteOptions(include_header=False, batch_size=8192)
    with whole_file(path) as draft, draft.open("wb") as file:
        file.write(header.getvalue().encode())
        pyarrow.csv.write_csv(table, file, options)
