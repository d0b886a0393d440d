"""The columns of a map that is known by what it does to vectors, found with few of them.

Most of what a run remembers is overwritten, kept, or handed on: samples become older by a period.
Numbers that may be of one such kind are tried together, by a vector of random numbers; what comes
back tells whether all of them are. Where they are not, halves are tried.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csc_array

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Vectors are drawn with it: the same ones each time.
_SEED = 20
#: So few are not tried together once that has failed.
_FEW = 8


@dataclass(frozen=True)
class Entries:
    """What a matrix has that is not zero.

    Parameters
    ----------
    rows, columns, values
        Of shape (k,); each place at most once.
    """

    rows: Places
    columns: Places
    values: Floats

    def dense(self, chosen: Places, size: int) -> Floats:
        """Return the part of the matrix among some of its ``size`` numbers, float64 (k, k)."""
        place = np.full(size, -1, dtype=np.intp)
        place[chosen] = np.arange(chosen.size)
        rows, columns = place[self.rows], place[self.columns]
        inner = (rows >= 0) & (columns >= 0)
        whole = np.zeros((chosen.size, chosen.size))
        whole[rows[inner], columns[inner]] = self.values[inner]
        return whole

    def sparse(self, chosen: Places, size: int) -> csc_array:
        """Return the same part as a sparse matrix."""
        from scipy.sparse import coo_array

        place = np.full(size, -1, dtype=np.intp)
        place[chosen] = np.arange(chosen.size)
        rows, columns = place[self.rows], place[self.columns]
        inner = (rows >= 0) & (columns >= 0)
        places = (rows[inner], columns[inner])
        return coo_array((self.values[inner], places), shape=(chosen.size, chosen.size)).tocsc()


def entries_of(
    apply: Callable[[Floats], Floats], groups: Sequence[Places], successors: Places
) -> Entries:
    """Find the columns of some numbers.

    Parameters
    ----------
    apply
        The map, of vectors of shape (size,).
    groups
        Numbers that are tried together at first; each number at most once.
    successors
        Where each number goes if it is handed on, shape (size,); -1: nowhere.
    """
    draw = np.random.default_rng(_SEED)
    pending = [group for group in groups if group.size]
    rows: list[Places] = []
    columns: list[Places] = []
    values: list[Floats] = []

    def take(into: Places, out_of: Places, factors: Floats) -> None:
        rows.append(into)
        columns.append(out_of)
        values.append(factors)

    while pending:
        group = pending.pop()
        before = np.zeros(successors.size)
        before[group] = 1.0 if group.size == 1 else draw.uniform(1.0, 2.0, group.size)
        after = apply(before)
        into = np.flatnonzero(after)
        if not into.size:
            continue
        if group.size == 1:
            take(into, np.repeat(group, into.size), after[into])
        elif np.array_equal(before, after):
            take(group, group, np.ones(group.size))
        elif np.array_equal(_handed_on(before, successors), after):
            kept = group[successors[group] >= 0]
            take(successors[kept], kept, np.ones(kept.size))
        elif group.size <= _FEW:
            pending += np.split(group, group.size)
        else:
            pending += [group[: group.size // 2], group[group.size // 2 :]]
    if not rows:
        nothing: Places = np.zeros(0, dtype=np.intp)
        return Entries(nothing, nothing, np.zeros(0))
    return Entries(np.concatenate(rows), np.concatenate(columns), np.concatenate(values))


def _handed_on(before: Floats, successors: Places) -> Floats:
    after = np.zeros(before.size)
    kept = successors >= 0
    after[successors[kept]] = before[kept]
    return after
