"""Measures over what is swept, as curves: how every figure of lines over a sweep is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from orchestrator.recording import Curve, Reference, plot_xy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SweepLine:
    """One measure over the values of a sweep, shape (n,) each.

    Parameters
    ----------
    label, x, y
        What the legend says, and the points.
    is_prediction
        Whether it was expected and not measured.
    is_predicted
        Whether a prediction of it is drawn: then its runs are markers only, so that both are seen.
    colour
        The next one of the palette if ``None``.
    band
        Least and largest value of the seeds at each place.
    """

    label: str
    x: Floats
    y: Floats
    is_prediction: bool = False
    is_predicted: bool = False
    colour: str | None = None
    band: tuple[Floats, Floats] | None = None

    @property
    def curve(self) -> Curve:
        """The points with their look."""
        dash = "none" if self.is_predicted else None
        return Curve(self.label, self.x, self.y, colour=self.colour, dash=dash)


@dataclass(frozen=True, slots=True)
class SweepLook:
    """What stands around the lines; ``ticks`` are names of places, where those are no numbers."""

    title: str
    xlabel: str
    ylabel: str
    references: tuple[Reference, ...] = ()
    log: Literal["", "x", "y", "xy"] = ""
    ticks: tuple[Sequence[float], Sequence[str]] | None = None
    range: tuple[float, float] | None = None


def draw_lines(lines: Sequence[SweepLine], look: SweepLook) -> Figure:
    """Draw measures over a sweep: predictions as lines below, runs as markers, bands of seeds."""
    measured = [line for line in lines if not line.is_prediction]
    predicted = [line for line in lines if line.is_prediction]
    drawn = plot_xy(
        [line.curve for line in measured],
        xlabel=look.xlabel,
        ylabel=look.ylabel,
        title=look.title,
        references=look.references,
        reference_curves=[line.curve for line in predicted],
        log=look.log,
    )
    axes = drawn.axes[0]
    for line, shown in zip(measured, axes.lines[len(predicted) :], strict=False):
        if line.band is not None and (line.band[1] > line.band[0]).any():
            style: dict[str, Any] = {"color": shown.get_color(), "alpha": 0.18, "linewidth": 0.0}
            axes.fill_between(line.x, *line.band, **style)
    if look.ticks is not None:
        axes.set_xticks(*look.ticks)
    if look.range is not None:
        axes.set_ylim(*look.range)
    return drawn
