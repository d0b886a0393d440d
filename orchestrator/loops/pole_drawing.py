"""Picture of the poles of loops: in continuous time, and as a master steps them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from orchestrator.loops.drawing import EXACT, LIMIT, SAMPLED
from orchestrator.loops.loop_account import LoopAccount

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The slow ones are seen beside the fast ones: the axes are straight up to here and then
#: logarithmic, 1/s and Hz.
_STRAIGHT = 0.1


def draw_poles(accounts: Sequence[LoopAccount], title: str) -> Figure:
    """Draw the poles of the modes that accounts tell, upper half of the plane."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    figure.suptitle(title)
    axes = figure.add_subplot()
    axes.axvline(0.0, color=LIMIT, linewidth=0.8)
    modes = [mode for account in accounts for mode in account.modes]
    for label, marker, colour, roots in (
        ("continuous time", "o", EXACT, [m.exact for m in modes if m.exact is not None]),
        ("as the master steps it", "x", SAMPLED, [m.sampled for m in modes]),
    ):
        axes.plot(
            [root.real for root in roots],
            [abs(root.imag) / (2.0 * math.pi) for root in roots],
            marker,
            color=colour,
            markerfacecolor="none",
            label=label,
        )
    axes.set_xscale("symlog", linthresh=_STRAIGHT)
    axes.set_yscale("symlog", linthresh=_STRAIGHT)
    axes.set_ylim(bottom=-0.5 * _STRAIGHT)
    axes.set_xlabel("growth rate [1/s]")
    axes.set_ylabel("frequency [Hz]")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    return figure
