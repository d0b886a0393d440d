"""The figures that are drawn from sweeps: maps, and lines with bands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from orchestrator.experiment.file.figure_tables import LinesFigure, MapFigure
from orchestrator.experiment.sweep.cells import (
    axis_of,
    cells_of,
    detail,
    each,
    label_of_measure,
    missing,
    other,
    reduced,
    safe,
    values_in,
)
from orchestrator.experiment.sweep.runner import FinishedSweep
from orchestrator.recording import (
    PALETTE,
    Curve,
    MapLook,
    MapPanel,
    Reference,
    plot_maps,
    plot_xy,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


def draw_sweep(figure: MapFigure | LinesFigure, outcome: FinishedSweep) -> Figure:
    """Draw a figure of a sweep.

    Raises
    ------
    DescriptionError
        If there is nothing to draw.
    """
    if isinstance(figure, MapFigure):
        return _map(figure, outcome)
    return _lines(figure, outcome)


def _map(figure: MapFigure, outcome: FinishedSweep) -> Figure:
    over = outcome.plan.context.sweep.over
    panels = []
    for panel in figure.panels:
        cells = cells_of(panel, (figure.y, figure.x), outcome)
        panels.append(
            MapPanel(
                panel.title or panel.case,
                each(cells, partial(reduced, figure)),
                missing(figure, cells),
                safe(cells),
                each(cells, partial(detail, figure, "predicted")),
                each(cells, partial(other, figure.contour)) if figure.contour else None,
            )
        )
    label = label_of_measure(figure, outcome)
    contour = (figure.contour or "").replace("_", " ")
    look = MapLook(label, figure.colours, figure.limit, figure.range, contour, figure.levels)
    if figure.reduce == "share above limit":
        look = MapLook(f"Share of runs with {label} above {figure.limit:g}", limits=(0.0, 1.0))
    x, y = (axis_of(name, over[name]) for name in (figure.x, figure.y))
    return plot_maps(panels, x, y, look, figure.title)


def _lines(figure: LinesFigure, outcome: FinishedSweep) -> Figure:
    over = outcome.plan.context.sweep.over
    axis = axis_of(figure.x, over[figure.x])
    curves: list[Curve] = []
    predicted: list[Curve] = []
    bands: list[tuple[Floats, Floats]] = []
    for curve in figure.curves:
        cells = cells_of(curve, (figure.x,), outcome)
        label = curve.title or curve.case
        expected = each(cells, partial(detail, figure, "predicted"))[0]
        dash = None
        if np.isfinite(expected).any():  # a line; the runs are markers only, so that both are seen
            colour, dash = PALETTE[len(curves) % len(PALETTE)], "none"
            predicted.append(Curve(f"{label}, predicted", axis.centres, expected, colour=colour))
        values = each(cells, partial(reduced, figure))[0]
        curves.append(Curve(label, axis.centres, values, dash=dash))
        bands.append(_band([values_in(figure, cell) for cell in cells[0]]))
    drawn = plot_xy(
        curves,
        xlabel=axis.label,
        ylabel=label_of_measure(figure, outcome),
        title=figure.title,
        references=[] if figure.limit is None else [Reference(figure.limit, f"{figure.limit:g}")],
        reference_curves=predicted,
        log=figure.log,
    )
    axes = drawn.axes[0]
    for line, (low, high) in zip(axes.lines[len(predicted) :], bands, strict=False):
        if (high > low).any():
            look: dict[str, Any] = {"color": line.get_color(), "alpha": 0.18, "linewidth": 0.0}
            axes.fill_between(axis.centres, low, high, **look)
    if axis.is_named:
        axes.set_xticks(axis.centres, axis.values)  # type: ignore[arg-type]
    if figure.range is not None:
        axes.set_ylim(*figure.range)
    return drawn


def _band(cells: list[Floats]) -> tuple[Floats, Floats]:
    """Least and largest value of the seeds at each place, NaN where there is none."""
    finite = [values[np.isfinite(values)] for values in cells]
    low = [values.min() if len(values) else np.nan for values in finite]
    high = [values.max() if len(values) else np.nan for values in finite]
    return np.array(low), np.array(high)
