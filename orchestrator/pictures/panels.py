"""How signals share panels, what is shown unasked, and fewer points of series that look alike."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.recording import Result
from orchestrator.core.system import seconds
from orchestrator.study.content import PALETTE, Curve, Panel, Plot, Span

#: Curves of a panel that can still be told from each other.
_CURVES = len(PALETTE)
_SUBSCRIPT = re.compile(r"\[[^\[\]]*\]$")

Panels = list[tuple[str, list[str]]]


def panels_of(result: Result, names: Iterable[str]) -> Panels:
    """Let signals of one unit share a panel; where they are too many, those of one output."""
    by_unit: dict[str, list[str]] = {}
    for name in names:
        by_unit.setdefault(result.units.get(name, "1"), []).append(name)
    panels: Panels = []
    for unit, sharing in by_unit.items():
        if len(sharing) <= _CURVES:
            panels.append((unit, sharing))
            continue
        by_output: dict[str, list[str]] = {}
        for name in sharing:
            by_output.setdefault(_SUBSCRIPT.sub("", name), []).append(name)
        joined: list[list[str]] = []  # small ones that follow each other, as far as there is room
        for group in by_output.values():
            if joined and len(joined[-1]) + len(group) <= _CURVES:
                joined[-1] += group
            else:
                joined.append(group)
        for group in joined:
            panels += [(unit, group[i : i + _CURVES]) for i in range(0, len(group), _CURVES)]
    return panels


def axis_of(unit: str, names: Sequence[str]) -> str:
    """Title of a panel's axis: a legend names several curves, one alone is named by its axis."""
    return f"[{unit}]" if len(names) > 1 else f"{names[0]} [{unit}]"


#: Panels of a figure that can still be told from each other.
_PANELS = 12


def default_plots(result: Result) -> dict[str, tuple[Plot, str]]:
    """Show all recorded signals: in one figure where they fit, else in one for each component.

    Signals of one unit share a panel; where they are too many, those of one output do, and at
    most seven.
    """
    panels = panels_of(result, result.names)
    if not panels:
        return {}
    if len(panels) <= _PANELS:
        caption = f"All recorded signals of '{result.name}'."
        return {result.name: (signal_plot(result, result.name, panels), caption)}
    by_component: dict[str, list[str]] = {}
    for name in result.names:
        by_component.setdefault(name.partition(".")[0], []).append(name)
    return {
        f"{result.name}-{component.replace('/', '-')}": (
            signal_plot(result, f"{result.name}: {component}", panels_of(result, names)),
            f"All recorded signals of '{component}'.",
        )
        for component, names in by_component.items()
    }


def signal_plot(result: Result, title: str, panels: Panels) -> Plot:
    """Show signals over time, in the panels that they share."""
    shown_panels = [
        Panel(axis_of(unit, names), [Curve(name, result.time, result[name]) for name in names])
        for unit, names in panels
    ]
    return Plot("time", shown_panels, title, spans=spans_of([result]))


def spans_of(results: Sequence[Result]) -> list[Span]:
    """Times of faults, safe states and marks; those of one run among several name it."""
    cases_by_span: dict[tuple[str, float, float | None], list[str]] = {}
    for result in results:
        for fault in result.faults:
            until = None if fault.until_ns is None else seconds(fault.until_ns)
            cases_by_span.setdefault((fault.name, seconds(fault.begin_ns), until), []).append(
                result.name
            )
        for mark in result.marks:
            at = seconds(mark.time_ns)
            cases_by_span.setdefault((mark.text, at, at), []).append(result.name)
        if safe := result.safe_states:
            begin = seconds(safe[0].time_ns)
            cases_by_span.setdefault(("safe state", begin, None), []).append(result.name)
    return [
        Span(label if len(of) == len(results) else f"{label} ({', '.join(of)})", begin, end)
        for (label, begin, end), of in cases_by_span.items()
    ]


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
    indices = np.unique(
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
    return x[indices], y[indices]


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
    cells_of_points = np.column_stack([_cell(x, cells), _cell(y, cells)])
    is_kept = np.append(True, (cells_of_points[1:] != cells_of_points[:-1]).any(axis=1))
    is_kept[-1] = True
    return x[is_kept], y[is_kept]


def _cell(values: NDArray[np.float64], cells: int) -> NDArray[np.int64]:
    """Number of the cell of every value; -1 where there is none."""
    finite = np.isfinite(values)
    numbers = np.full(len(values), -1, dtype=np.int64)
    if finite.any():
        low, high = values[finite].min(), values[finite].max()
        scale = cells / (high - low) if high > low else 0.0
        numbers[finite] = (scale * (values[finite] - low)).astype(np.int64)
    return numbers
