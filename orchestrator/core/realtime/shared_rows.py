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
#: And what somebody who looks asks of the run: a count, behind these.
_ASKED = 1


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
    grows
        Whether the system takes memory for values only when they are written.

    Attributes
    ----------
    times_ns
        int64 array of shape (rows,), ns.
    clocks_ns
        int64 array of shape (rows,): when they were written by CLOCK_MONOTONIC, of runs in real
        time.
    values
        float64 array of shape (rows, columns).
    told
        int64 array of shape (4,): overruns so far, how far the last step ended behind its deadline
        (below 0: before it) and its computing time, ns, and the longest that one ended behind it.
    asked
        int64 array of shape (1,): grows whenever somebody asks something of a run in real time,
        which then looks at what it is before its next step.
    file
        Descriptor of the memory, for the other process.
    """

    def __init__(
        self, rows: int, columns: int, file: int | None = None, *, grows: bool = False
    ) -> None:
        head = _TOLD + _ASKED
        size = 8 * (head + rows * (2 + columns))
        self.file = posix.shared_memory("rows", size) if file is None else file
        weakref.finalize(self, os.close, self.file)
        memory = mmap.mmap(self.file, size)
        self.told = np.frombuffer(memory, np.int64, _TOLD)
        self.asked = np.frombuffer(memory, np.int64, _ASKED, 8 * _TOLD)
        self.times_ns = np.frombuffer(memory, np.int64, rows, 8 * head)
        self.clocks_ns = np.frombuffer(memory, np.int64, rows, 8 * (head + rows))
        values = np.frombuffer(memory, np.float64, rows * columns, 8 * (head + 2 * rows))
        self.values = values.reshape(rows, columns)
        if file is None:  # every page is there before the first step
            self.times_ns.fill(_NOT_YET)
            if not grows:
                self.clocks_ns.fill(0)
                self.values.fill(np.nan)

    @property
    def written(self) -> int:
        """Number of rows that have a time; the last may lack values while it is being written."""
        return int(np.searchsorted(self.times_ns, _NOT_YET))
