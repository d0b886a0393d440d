"""Plots for people: results of sweeps, and any plot as a file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from orchestrator.diagnostics import DescriptionError
from orchestrator.recording.atomic import whole_file
from orchestrator.recording.plot_parts import (
    MARKERS,
    WIDTH,
    Curve,
    Reference,
    dress,
    headline,
    legend,
    literal,
    look_of,
    new_figure,
    straight,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    figure = new_figure(WIDTH, 4.0)
    axes = figure.subplots()
    references = list(references)
    labels = [curve.label for curve in (*reference_curves, *curves)]
    labels += [line.label for line in references]
    for i, curve in enumerate(reference_curves):
        axes.plot(*curve.points(), **{**look_of(curve, i + 1), "color": curve.colour or "#555555"})
    for i, curve in enumerate(curves):
        marker: dict[str, Any] = {"marker": MARKERS[i % len(MARKERS)], "markersize": 5}
        axes.plot(*curve.points(), **look_of(curve, i), **marker)
    for i, line in enumerate(references):
        straight(axes, line, i)
    if "x" in log:
        axes.set_xscale("log")
    if "y" in log:
        axes.set_yscale("log")
    axes.set_xlabel(literal(xlabel))
    axes.set_ylabel(literal(ylabel))
    dress(axes)
    legend(axes, labels)
    headline(figure, title)
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
        raise DescriptionError.in_file(path, "expected a picture's name to end in .png or .svg")
    content = picture(figure, "svg" if suffix == ".svg" else "png")
    with whole_file(path) as draft:
        draft.write_bytes(content)
