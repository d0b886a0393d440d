"""The figures that are drawn from sweeps: maps, and lines with bands."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from orchestrator.pictures import plot_maps
from orchestrator.study.content import PALETTE, Curve, MapLook, MapPanel, Panel, Plot, Reference
from orchestrator.study.file.figure_tables import LinesFigure, MapFigure
from orchestrator.study.sweep import FinishedSweep
from orchestrator.study.sweep.cells import (
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

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


def draw_sweep(figure: MapFigure | LinesFigure, outcome: FinishedSweep) -> Plot | Figure:
    """Make a figure of a sweep; maps are drawn by Matplotlib.

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


def _lines(figure: LinesFigure, outcome: FinishedSweep) -> Plot:
    axis = axis_of(figure.x, outcome.plan.context.sweep.over[figure.x])
    x = axis.centres
    curves: list[Curve] = []
    for number, curve in enumerate(figure.curves):
        cells = cells_of(curve, (figure.x,), outcome)
        label = curve.title or curve.case
        expected = each(cells, partial(detail, figure, "predicted"))[0]
        is_predicted = bool(np.isfinite(expected).any())
        if is_predicted:
            colour = PALETTE[number % len(PALETTE)]
            text = f"{label}, predicted"
            curves.append(Curve(text, x, expected, colour=colour, is_expected=True))
        values = each(cells, partial(reduced, figure))[0]
        low, high = _band([values_in(figure, cell) for cell in cells[0]])
        band = (low, high) if (high > low).any() else None
        dash = "none" if is_predicted else None  # marks only, so that both are seen
        curves.append(Curve(label, x, values, dash, band=band))
    limit = () if figure.limit is None else (Reference(figure.limit, f"{figure.limit:g}"),)
    panel = Panel(label_of_measure(figure, outcome), curves, limit, figure.range)
    ticks = (x.tolist(), [str(value) for value in axis.values]) if axis.is_named else None
    return Plot("points", [panel], figure.title, axis.label, log=figure.log, ticks=ticks)


def _band(cells: list[Floats]) -> tuple[Floats, Floats]:
    """Least and largest value of the seeds at each place, NaN where there is none."""
    finite = [values[np.isfinite(values)] for values in cells]
    low = [values.min() if len(values) else np.nan for values in finite]
    high = [values.max() if len(values) else np.nan for values in finite]
    return np.array(low), np.array(high)
