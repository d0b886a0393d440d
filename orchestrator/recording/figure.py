"""Plots for people: time signals and sweeps, drawn with matplotlib's object interface.

Colours are those of Okabe and Ito, which people with any colour vision tell apart. Every further
curve of a panel also has another dash, so that curves which coincide stay visible.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from orchestrator.errors import DescriptionError
from orchestrator.recording.atomic import whole_file
from orchestrator.recording.decimation import decimate

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
_MARKERS = "osD^vP*"
_WIDTH = 7.5
#: Width of a letter of a label above a panel, as a share of the panel's.
_LETTER = 0.011


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


@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Curves that share a vertical axis, whose label has the unit: ``"Position [m]"``."""

    ylabel: str
    curves: Sequence[Curve]


@dataclass(frozen=True, slots=True)
class Reference:
    """A horizontal or vertical line to compare with."""

    value: float
    label: str
    axis: Literal["x", "y"] = "y"


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which something was different, shaded in all panels; ``None``: to the end."""

    label: str
    begin: float
    end: float | None = None


def literal(text: str) -> str:
    """Text that matplotlib shows as it is: one line, and no formulae between dollars."""
    return " ".join(text.split()).replace("$", r"\$")


def plot_signals(panels: Sequence[Panel], title: str = "", spans: Sequence[Span] = ()) -> Figure:
    """Draw signals over time, one panel below the other with a shared time axis.

    Parameters
    ----------
    panels
        At least one.
    title
        Above all panels; none if empty.
    spans
        Times that are shaded, with their labels above the first panel.

    Raises
    ------
    DescriptionError
        If there is no panel, or a curve's arrays differ in length.
    """
    if not panels:
        raise DescriptionError("a plot of signals: expected at least one panel, found none")
    figure = new_figure(_WIDTH, 1.0 + 2.1 * len(panels) ** 0.9)
    grid = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    explained: list[str] = []
    for axes, panel in zip(grid, panels, strict=True):
        for i, curve in enumerate(panel.curves):
            axes.plot(*decimate(*curve.points()), **_look(curve, i))
        axes.set_ylabel(literal(panel.ylabel))
        axes.margins(x=0)
        _dress(axes)
        labels = [curve.label for curve in panel.curves]
        if labels != explained:  # a legend that only repeats the one above says nothing
            _legend(axes, labels)
        explained = labels
    _shade(list(grid), spans)
    figure.align_ylabels(list(grid))
    grid[-1].set_xlabel("Time [s]")
    put_title(figure, title)
    return figure


def plot_xy(
    curves: Sequence[Curve],
    *,
    xlabel: str,
    ylabel: str,
    title: str = "",
    references: Iterable[Reference] = (),
    reference_curves: Sequence[Curve] = (),
    log: Literal["", "x", "y", "xy"] = "",
) -> Figure:
    """Draw results of a sweep: markers joined by lines.

    Parameters
    ----------
    curves
        What was found; drawn with markers.
    xlabel, ylabel
        With units.
    title
        Above the plot; none if empty.
    references
        Straight lines with a label, such as a limit.
    reference_curves
        What was expected; drawn as lines without markers, below the curves.
    log
        Which axes are logarithmic.
    """
    figure = new_figure(_WIDTH, 4.0)
    axes = figure.subplots()
    references = list(references)
    labels = [curve.label for curve in (*reference_curves, *curves)]
    labels += [line.label for line in references]
    for i, curve in enumerate(reference_curves):
        axes.plot(*curve.points(), **{**_look(curve, i + 1), "color": curve.colour or "#555555"})
    for i, curve in enumerate(curves):
        marker: dict[str, Any] = {"marker": _MARKERS[i % len(_MARKERS)], "markersize": 5}
        axes.plot(*curve.points(), **_look(curve, i), **marker)
    for i, line in enumerate(references):
        draw = axes.axhline if line.axis == "y" else axes.axvline
        look = _look(Curve(line.label, (), (), colour="#888888"), i + 1)
        draw(line.value, **{**look, "linewidth": 1.2, "zorder": 1.5})
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    axes.set_xlabel(literal(xlabel))
    axes.set_ylabel(literal(ylabel))
    _dress(axes)
    _legend(axes, labels)
    put_title(figure, title)
    return figure


def picture(figure: Figure, kind: Literal["png", "svg"]) -> bytes:
    """Draw a figure as PNG (150 dpi) or SVG.

    The same figure gives the same bytes: no date, no random identifiers.
    """
    import matplotlib as mpl

    metadata = {"Date": None} if kind == "svg" else {"Software": None}
    content = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "softdock"}):
        figure.savefig(content, format=kind, dpi=150, facecolor="white", metadata=metadata)
    return content.getvalue()


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure as PNG or SVG, by the file's suffix; see :func:`picture`.

    Raises
    ------
    DescriptionError
        If the suffix is neither ``.png`` nor ``.svg``.
    SoftdockError
        If the file cannot be written; an earlier one is untouched.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in {".png", ".svg"}:
        raise DescriptionError(f"{path}: expected a picture's name to end in .png or .svg")
    content = picture(figure, "svg" if suffix == ".svg" else "png")
    with whole_file(path) as draft:
        draft.write_bytes(content)


def _shade(grid: Sequence[Axes], spans: Sequence[Span]) -> None:
    """Shade times; a line at the begin keeps short ones visible."""
    first, last = grid[0].get_xlim()
    free: list[float] = []  # up to where each row of labels is taken
    for span in sorted(spans, key=lambda one: one.begin):
        if not first <= span.begin <= last:
            continue
        end = last if span.end is None else min(span.end, last)
        for axes in grid:
            axes.axvspan(span.begin, end, color="#888888", alpha=0.2, linewidth=0, zorder=0.5)
            axes.axvline(span.begin, color="#888888", linewidth=0.8, zorder=0.6, label="")
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


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure, in inches, that no window shows."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def put_title(figure: Figure, title: str) -> None:
    """Write the title above everything; none if it is empty."""
    if title:
        figure.suptitle(literal(title), fontsize=11, fontweight="bold")


def _look(curve: Curve, place: int) -> dict[str, Any]:
    return {
        "color": curve.colour or PALETTE[place % len(PALETTE)],
        "linestyle": curve.dash or DASHES[place % len(DASHES)],
        "linewidth": 2.2 if place == 0 else 1.5,
        "dash_capstyle": "butt",
        "label": literal(curve.label),
    }


def _dress(axes: Axes) -> None:
    axes.grid(visible=True, color="#DDDDDD", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(labelsize=8.5, color="#888888")


def _legend(axes: Axes, labels: Sequence[str]) -> None:
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
