"""What all plots are made of: curves, panels, lines to compare with, and how they look.

Colours are those of Okabe and Ito, which people with any colour vision tell apart. Every further
curve of a panel also has another dash, so that curves which coincide stay visible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from orchestrator.diagnostics import DescriptionError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
MARKERS = "osD^vP*"
WIDTH = 7.5


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
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    dash: Dash | None = None
    colour: str | None = None

    def points(self) -> tuple[Any, Any]:
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
        Horizontal lines to compare with.
    limits
        Of the vertical axis; what is outside is cut off. ``None``: all is shown.
    """

    ylabel: str
    curves: Sequence[Curve]
    lines: Sequence[Reference] = ()
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which something was different, shaded in all panels; ``None``: to the end."""

    label: str
    begin: float
    end: float | None = None


def literal(text: str) -> str:
    """Text that matplotlib shows as it is: one line, and no formulae between dollars."""
    return " ".join(text.split()).replace("$", r"\$")


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure, inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def headline(figure: Figure, title: str) -> None:
    """Put a title above all panels; none if it is empty."""
    if title:
        figure.suptitle(literal(title), fontsize=11, fontweight="bold")


def look_of(curve: Curve, place: int) -> dict[str, Any]:
    """Say how the curve at a place among others is drawn."""
    return {
        "color": curve.colour or PALETTE[place % len(PALETTE)],
        "linestyle": curve.dash or DASHES[place % len(DASHES)],
        "linewidth": 2.2 if place == 0 else 1.5,
        "dash_capstyle": "butt",
        "label": literal(curve.label),
    }


def dress(axes: Axes) -> None:
    """Give axes a grid, and no frame."""
    axes.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, color="#888888")


def legend(axes: Axes, labels: Sequence[str]) -> None:
    """List the labels right of the axes, if there are several."""
    listed = [
        (line, literal(label)) for line, label in zip(axes.lines, labels, strict=True) if label
    ]
    if len(listed) > 1:
        axes.legend(
            [line for line, _ in listed],
            [label for _, label in listed],
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            borderaxespad=0.0,
            frameon=False,
            fontsize=8.5,
            handlelength=3.2,
        )


def straight(axes: Axes, line: Reference, place: int, *, above: bool = False) -> None:
    """Draw a horizontal or vertical line, the nth of its axes, below or above the curves."""
    draw = axes.axhline if line.axis == "y" else axes.axvline
    look = look_of(Curve(line.label, (), (), colour="#222222" if above else "#888888"), place + 1)
    draw(line.value, **{**look, "linewidth": 1.2, "zorder": 2.5 if above else 1.5})
