"""Root locus over the delay: how the contact's growth rate rises with the loop delay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.loops.contact.contact_loop import ContactLoop

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def growth_over_delay(loop: ContactLoop, delay: ArrayLike) -> NDArray[np.float64]:
    """Give the real part of the rightmost root for each delay.

    Parameters
    ----------
    loop
        The loop; its own delay is not used.
    delay
        Delays, shape (n,), s.

    Returns
    -------
    numpy.ndarray
        Growth rates, shape (n,), 1/s.
    """
    delays = np.atleast_1d(np.asarray(delay, dtype=float))
    return np.array([replace(loop, delay=float(h)).growth_rate for h in delays])


def plot_growth_over_delay(
    loops: Sequence[ContactLoop] | None = None, delay: ArrayLike | None = None
) -> Figure:
    """Draw growth rates over the delay, with the delay margins and the loops' own delays.

    Parameters
    ----------
    loops
        Loops to compare; by default those of the paper's stability experiment (750 kg, 2510 N/m,
        16 ms, 20 and 60 N s/m).
    delay
        Delays, shape (n,), s; by default 0 .. 32 ms.

    Returns
    -------
    matplotlib.figure.Figure
        A figure of its own, not known to pyplot.

    References
    ----------
    Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for
    hardware-in-the-loop docking simulation (EPOS 2.0), section 5.2, Figures 11 and 12.
    """
    from matplotlib.figure import Figure

    if loops is None:
        loops = [ContactLoop(750.0, 2510.0, b, 0.016) for b in (20.0, 60.0)]
    delays = np.linspace(0.0, 0.032, 65) if delay is None else np.asarray(delay, dtype=float)
    figure = Figure(figsize=(8.0, 5.0), layout="constrained")
    axes = figure.add_subplot()
    axes.axhline(0.0, color="k", linewidth=0.8)
    for number, loop in enumerate(loops):
        colour = _COLOURS[number % len(_COLOURS)]
        margin = loop.delay_margin
        name = f"K = {loop.stiffness:g} N/m, b = {loop.damping:g} N s/m"
        axes.plot(delays * 1e3, growth_over_delay(loop, delays), color=colour, label=name)
        if delays[0] <= margin.delay <= delays[-1]:
            axes.plot(margin.delay * 1e3, 0.0, "o", color=colour)
            axes.annotate(
                f"margin {margin.delay * 1e3:.3f} ms",
                (margin.delay * 1e3, 0.0),
                xytext=(0, 14),
                textcoords="offset points",
                ha="right",
                color=colour,
            )
        if delays[0] <= loop.delay <= delays[-1]:
            axes.plot(loop.delay * 1e3, loop.growth_rate, "x", color=colour, markersize=9)
            axes.annotate(
                f"{loop.growth_rate:+.6f} 1/s",
                (loop.delay * 1e3, loop.growth_rate),
                xytext=(8, -14),
                textcoords="offset points",
                color=colour,
            )
    axes.set_xlabel("loop delay h [ms]")
    axes.set_ylabel("growth rate, real part of the rightmost root [1/s]")
    axes.set_title("Contact oscillation: dying out below zero, gaining energy above")
    axes.margins(x=0.0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(loc="upper left")
    return figure
