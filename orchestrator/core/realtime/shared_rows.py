"""Rows that a run in real time records, in memory that another process reads meanwhile."""

from __future__ import annotations

import mmap
import os
import weakref

import numpy as np

from orchestrator.core import posix

#: The time of a row that is not written yet: later than any.
_NOT_YET = np.iinfo(np.int64).max
#: Numbers that a step in real time leaves for whoever looks, in front of all rows.
_TOLD = 4


class SharedRows:
    """Times and values of the rows of a run, all allotted before it begins.

    The engine writes the values of a row first and its time last, so a row whose successor has a
    time is whole.

    Parameters
    ----------
    rows, columns
        How many rows there is room for, and scalar signals in each.
    file
        Descriptor of such memory that is there; ``None``: it is made, and empty.

    Attributes
    ----------
    times_ns
        int64 array of shape (rows,), ns.
    values
        float64 array of shape (rows, columns).
    told
        int64 array of shape (4,): overruns so far, how far the last step ended behind its deadline
        (below 0: before it) and its computing time, ns, and the longest that one ended behind it.
    file
        Descriptor of the memory, for the other process.
    """

    def __init__(self, rows: int, columns: int, file: int | None = None) -> None:
        size = 8 * (_TOLD + rows * (1 + columns))
        self.file = posix.shared_memory("rows", size) if file is None else file
        weakref.finalize(self, os.close, self.file)
        memory = mmap.mmap(self.file, size)
        self.told = np.frombuffer(memory, np.int64, _TOLD)
        self.times_ns = np.frombuffer(memory, np.int64, rows, 8 * _TOLD)
        values = np.frombuffer(memory, np.float64, rows * columns, 8 * (_TOLD + rows))
        self.values = values.reshape(rows, columns)
        if file is None:  # every page is there before the first step
            self.times_ns.fill(_NOT_YET)
            self.values.fill(np.nan)

    @property
    def written(self) -> int:
        """Number of rows that have a time; the last may lack values while it is being written."""
        return int(np.searchsorted(self.times_ns, _NOT_YET))
