"""What a figure is: panels, curves, lines to compare with; drawn by a page or by Matplotlib.

Colours are those of Okabe and Ito, which people with any colour vision tell apart. Every further
curve of a panel also has another dash, so that curves which coincide stay visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.core.diagnostics import DescriptionError

Floats = NDArray[np.float64]
Log = Literal["", "x", "y", "xy"]
#: Okabe and Ito's palette, the lightest (yellow) left out: it is not seen on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
Dash = str | tuple[float, tuple[float, ...]]
#: The first curve is solid and wide, later ones lie on it as dashes.
DASHES: tuple[Dash, ...] = (
    "-",
    (0, (5, 2.2)),
    (0, (1.2, 1.6)),
    (0, (7, 2, 1.2, 2)),
    (0, (2.5, 1.5)),
    (0, (9, 3)),
    (0, (5, 1.5, 1.2, 1.5, 1.2, 1.5)),
)


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One line of a plot.

    Parameters
    ----------
    label
        What the legend says; an empty one is not listed.
    x, y
        Arrays of shape (n,): time in seconds and values, or the abscissa of a sweep.
    dash
        A matplotlib line style such as ``"--"``; chosen by the order if ``None``.
    colour
        Any matplotlib colour; chosen by the order if ``None``.
    band
        Least and largest value at each place, shaded; ``None``: no band.
    is_expected
        Whether it was computed and not found: among points it is a line without marks, below them.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    dash: Dash | None = None
    colour: str | None = None
    band: tuple[ArrayLike, ArrayLike] | None = None
    is_expected: bool = False

    def points(self) -> tuple[Floats, Floats]:
        """Both arrays as float64, checked."""
        x, y = np.asarray(self.x, dtype=np.float64), np.asarray(self.y, dtype=np.float64)
        if x.ndim != 1 or x.shape != y.shape:
            raise DescriptionError(
                f"curve '{self.label}': expected two arrays of equal length, found shapes"
                f" {x.shape} and {y.shape}"
            )
        return x, y


@dataclass(frozen=True, slots=True)
class Reference:
    """A horizontal or vertical line to compare with."""

    value: float
    label: str
    axis: Literal["x", "y"] = "y"


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Curves that share a vertical axis, whose label has the unit: ``"Position [m]"``.

    Parameters
    ----------
    ylabel, curves
        What is drawn.
    lines
        Lines to compare with.
    limits
        Of the vertical axis; what is outside is cut off. ``None``: all is shown.
    xlabel
        Of a panel with a horizontal axis of its own; empty: that of the figure.
    """

    ylabel: str
    curves: Sequence[Curve]
    lines: Sequence[Reference] = ()
    limits: tuple[float, float] | None = None
    xlabel: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which something was different, shaded in all panels; ``None``: to the end."""

    label: str
    begin: float
    end: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Plot:
    """A figure as plain values.

    Parameters
    ----------
    kind
        ``"time"``: samples over an abscissa that all panels share; ``"path"``: samples of one
        signal over another, in their order; ``"points"``: results of a sweep.
    panels
        At least one.
    title
        Above all panels; none if empty.
    xlabel
        With the unit.
    spans
        Times that are shaded.
    columns
        Panels in a row.
    log
        Which axes are logarithmic.
    ticks
        Places of the horizontal axis and their names, where they are no numbers.
    """

    kind: Literal["time", "path", "points"]
    panels: Sequence[Panel]
    title: str = ""
    xlabel: str = "Time [s]"
    spans: Sequence[Span] = ()
    columns: int = 1
    log: Log = ""
    ticks: tuple[Sequence[float], Sequence[str]] | None = None
