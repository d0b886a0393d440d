"""Plots of signals over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orchestrator.diagnostics import DescriptionError
from orchestrator.recording.decimation import decimate
from orchestrator.recording.plot_parts import (
    WIDTH,
    Panel,
    Span,
    dress,
    headline,
    legend,
    literal,
    look_of,
    new_figure,
    straight,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Width of a letter of a label above a panel, as a share of the panel's.
_LETTER = 0.011


def plot_signals(
    panels: Sequence[Panel], title: str = "", spans: Sequence[Span] = (), *, columns: int = 1
) -> Figure:
    """Draw signals over time, one panel below the other with a shared time axis.

    Parameters
    ----------
    panels
        At least one.
    title
        Above all panels; none if empty.
    spans
        Times that are shaded, with their labels above the first panel.
    columns
        Panels in a row. With several, one legend below stands for all of them.

    Raises
    ------
    DescriptionError
        If there is no panel, or a curve's arrays differ in length.
    """
    if not panels:
        raise DescriptionError("a plot of signals: expected at least one panel, found none")
    rows = -(-len(panels) // columns)
    width = WIDTH if columns == 1 else 4.6 * columns
    figure = new_figure(width, 1.0 + 2.1 * rows**0.9)
    grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
    drawn = list(grid.flat)[: len(panels)]
    explained: list[str] = []
    for axes, panel in zip(drawn, panels, strict=True):
        _fill(axes, panel)
        labels = _labels(panel)
        if columns == 1 and labels != explained:  # one that repeats the one above says nothing
            legend(axes, labels)
        explained = labels
    for axes in list(grid.flat)[len(panels) :]:
        axes.remove()
    _shade(drawn, spans)
    figure.align_ylabels(drawn)
    for axes in drawn[-columns:]:
        axes.set_xlabel("Time [s]")
        axes.tick_params(labelbottom=True)
    headline(figure, title)
    if columns > 1:
        _common_legend(figure, drawn)
        figure.set_layout_engine("constrained", wspace=0.06)
    return figure


def _labels(panel: Panel) -> list[str]:
    return [curve.label for curve in panel.curves] + [line.label for line in panel.lines]


def _fill(axes: Axes, panel: Panel) -> None:
    for i, curve in enumerate(panel.curves):
        axes.plot(*decimate(*curve.points()), **look_of(curve, i))
    for i, line in enumerate(panel.lines):
        straight(axes, line, i, above=True)
    axes.set_ylabel(literal(panel.ylabel))
    axes.margins(x=0)
    if panel.limits is not None:
        axes.set_ylim(panel.limits)
    dress(axes)


def _shade(grid: Sequence[Axes], spans: Sequence[Span]) -> None:
    """Shade times; a line at the begin keeps short ones visible. All of the time is only named."""
    first, last = grid[0].get_xlim()
    free: list[float] = []  # up to where each row of labels is taken
    for span in sorted(spans, key=lambda one: one.begin):
        if not first <= span.begin <= last:
            continue
        end = last if span.end is None else min(span.end, last)
        for axes in grid if (span.begin, end) != (first, last) else ():
            axes.axvspan(span.begin, end, color="#888888", alpha=0.2, linewidth=0, zorder=0.5)
            axes.axvline(span.begin, color="#888888", linewidth=0.8, zorder=0.6)
        row = next((i for i, taken in enumerate(free) if taken <= span.begin), len(free))
        free[row : row + 1] = [span.begin + (last - first) * (_LETTER * len(span.label) + 0.02)]
        grid[0].annotate(
            literal(span.label),
            (span.begin, 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(0.0, 3.0 + 9.0 * row),
            textcoords="offset points",
            fontsize=7.5,
            color="#555555",
            annotation_clip=False,
        )
        for axes in grid:
            axes.set_xlim(first, last)


def _common_legend(figure: Figure, grid: Sequence[Axes]) -> None:
    """Put one legend below all panels; a label that several have is listed once."""
    lines = [(str(line.get_label()), line) for axes in grid for line in axes.lines]
    listed = {label: line for label, line in lines if label and not label.startswith("_")}
    if len(listed) > 1:
        figure.legend(
            list(listed.values()),
            list(listed),
            loc="outside lower center",
            ncols=min(len(listed), 4),
            frameon=False,
            fontsize=8.5,
            handlelength=3.2,
        )
