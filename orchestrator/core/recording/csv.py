"""Results as CSV: for every other tool."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from orchestrator.core.recording.result import TIME, Result
from orchestrator.core.recording.whole_folder import whole_file

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
