"""How Matplotlib shows what plots are made of."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from orchestrator.pictures.figure import picture
from orchestrator.study.content import PALETTE, Curve, Reference
from orchestrator.study.content.plot import DASHES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = "osD^vP*"
WIDTH = 7.5


def literal(text: str) -> str:
    """Text that matplotlib shows as it is: one line, and no formulae between dollars."""
    return " ".join(text.split()).replace("$", r"\$")


def new_figure(width: float, height: float) -> Figure:
    """Make an empty figure, inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    vars(figure)["_repr_png_"] = partial(picture, figure, "png")  # a notebook shows it
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
