"""Plots of one signal over another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orchestrator.recording.decimation import thin
from orchestrator.recording.plot_parts import (
    WIDTH,
    Curve,
    dress,
    headline,
    legend,
    literal,
    look_of,
    new_figure,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_phase(curves: Sequence[Curve], *, xlabel: str, ylabel: str, title: str = "") -> Figure:
    """Draw paths in a plane, such as velocity over deformation or the loop of a force.

    Parameters
    ----------
    curves
        Samples in their order; a path may come back.
    xlabel, ylabel
        With units.
    title
        Above the plot; none if empty.
    """
    figure = new_figure(WIDTH, 4.0)
    axes = figure.subplots()
    for i, curve in enumerate(curves):
        axes.plot(*thin(*curve.points()), **look_of(curve, i))
    axes.set_xlabel(literal(xlabel))
    axes.set_ylabel(literal(ylabel))
    dress(axes)
    legend(axes, [curve.label for curve in curves])
    headline(figure, title)
    return figure
