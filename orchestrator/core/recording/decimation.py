"""Fewer points for drawing, with the same picture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def decimate(
    x: NDArray[np.float64], y: NDArray[np.float64], buckets: int = 1500
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Keep what a line of a long series shows: its peaks, its ends and its gaps.

    The series is cut into equal stretches; of each, the first, lowest, highest and last sample
    are kept, and one NaN if there is any. A stretch should be no wider than a pixel.

    x, y: Arrays of shape (n,); ``x`` does not fall.
    buckets: Number of stretches. A series of up to four times as many samples is returned as it is.
    Returns: Samples of the series, at most five a stretch, in order.

    References
    ----------
    Jugel et al., M4: A visualization-oriented time series data aggregation, VLDB 2014, section 4.
    Changed: a NaN is kept, so that gaps stay gaps.
    """
    count = len(y)
    if count <= 4 * buckets:
        return x, y
    width = -(-count // buckets)
    index = np.minimum(np.arange(-(-count // width) * width), count - 1).reshape(-1, width)
    stretch = y[index]
    gap = np.isnan(stretch)
    rows = np.arange(len(index))
    kept = np.unique(
        np.concatenate(
            [
                index[:, 0],
                index[:, -1],
                index[rows, np.where(gap, np.inf, stretch).argmin(axis=1)],
                index[rows, np.where(gap, -np.inf, stretch).argmax(axis=1)],
                index[rows, gap.argmax(axis=1)],  # the first sample where there is no gap
            ]
        )
    )
    return x[kept], y[kept]


def thin(
    x: NDArray[np.float64], y: NDArray[np.float64], cells: int = 2000
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Keep what a path in the plane shows: one of the samples that follow one another in a cell.

    x, y: Arrays of shape (n,), any path.
    cells: Into how many cells the range of each is cut; a cell should be no wider than a pixel.
    Returns: Samples of the path in order, the first and the last among them. A gap (NaN) stays one.
    """
    if len(x) <= 2:
        return x, y
    places = np.column_stack([_cell(x, cells), _cell(y, cells)])
    kept = np.append(True, (places[1:] != places[:-1]).any(axis=1))
    kept[-1] = True
    return x[kept], y[kept]


def _cell(values: NDArray[np.float64], cells: int) -> NDArray[np.int64]:
    """Number of the cell of every value; -1 where there is none."""
    finite = np.isfinite(values)
    found = np.full(len(values), -1, dtype=np.int64)
    if finite.any():
        low, high = values[finite].min(), values[finite].max()
        scale = cells / (high - low) if high > low else 0.0
        found[finite] = (scale * (values[finite] - low)).astype(np.int64)
    return found
