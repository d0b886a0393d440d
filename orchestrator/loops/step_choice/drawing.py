"""Picture of a choice of step: the error over the step, by algorithm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from orchestrator.loops.step_choice.choice import StepChoice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_MARKS = "osD^vP"


def draw_choice(choices: Sequence[StepChoice], title: str) -> Figure:
    """Draw the largest error of all figures over the step, with the steps that were chosen."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.5), layout="constrained")
    axes = figure.add_subplot()
    for number, choice in enumerate(choices):
        colour = _COLOURS[number % len(_COLOURS)]
        shown = [one for one in choice.errors if 0.0 < one.share < math.inf]
        axes.loglog(
            [one.step_ns / 1e6 for one in shown],
            [one.share for one in shown],
            f"{_MARKS[number % len(_MARKS)]}-",
            color=colour,
            markersize=4,
            linewidth=1.0,
            label=choice.algorithm,
        )
        if choice.chosen is not None and choice.chosen.share > 0.0:
            at = choice.chosen.step_ns / 1e6, choice.chosen.share
            axes.plot(*at, "o", color=colour, markersize=13, fillstyle="none")
            axes.annotate(
                f"{at[0]:g} ms",
                at,
                xytext=(10, -14 - 12 * number),
                textcoords="offset points",
                color=colour,
            )
    if choices:
        tolerance = choices[0].tolerance
        axes.axhline(tolerance, color="0.35", linestyle="--", label=f"tolerance {tolerance:g}")
    axes.set_xlabel("communication step H [ms]")
    axes.set_ylabel("largest error of modes and margins, share of their size [-]")
    axes.set_title(title)
    axes.grid(visible=True, which="both", alpha=0.25)
    axes.legend()
    return figure
