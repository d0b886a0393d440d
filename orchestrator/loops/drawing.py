"""Pictures of linear loops: poles, Bode, Nyquist, root locus, stability map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.loops.delayed_loop import Complex
from orchestrator.loops.loop_account import LoopAccount
from orchestrator.loops.loop_transfer import Margins, OpenLoop
from orchestrator.loops.state_space import Floats
from orchestrator.loops.sweep import SweepPoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Colours: continuous time, as a master steps it, and limits.
EXACT, SAMPLED, LIMIT = "#0072b2", "#d55e00", "0.35"
#: Axis labels and factors of what is swept; a parameter has its own name and unit.
_AXES = {"delay": ("delay [ms]", 1e3), "gain": ("gain factor [-]", 1.0), "step": ("step [ms]", 1e3)}
_REACH = 3.0  # of the picture of Nyquist's curve, around -1
_LEAST = 1e-4  # of the magnitudes that are drawn, and the inverse of the largest


def draw_bode(loop: OpenLoop, margins: Margins) -> Figure:
    """Draw the open loop over the frequency, with where its margins are read."""
    from matplotlib.figure import Figure

    frequency, values = _plotted_response(loop)
    phases = np.unwrap(np.angle(values))
    phases -= 2.0 * math.pi * math.ceil(phases[0] / (2.0 * math.pi))
    figure = Figure(figsize=(8.0, 6.5), layout="constrained")
    figure.suptitle(f"Open loop, cut at {loop.line}")
    size, phase = figure.subplots(2, 1, sharex=True)
    size.loglog(frequency, np.abs(values), color=EXACT)
    size.axhline(1.0, color=LIMIT, linewidth=0.8)
    phase.semilogx(frequency, np.degrees(phases), color=EXACT)
    for margin, name, height in (
        (margins.gain, f"gain margin {margins.gain.value:.4g}", 8),
        (margins.phase, f"phase margin {math.degrees(margins.phase.value):.4g}°", 24),
    ):
        if frequency[0] < margin.frequency < frequency[-1]:
            for axes in (size, phase):
                axes.axvline(margin.frequency, color=SAMPLED, linewidth=0.8, linestyle="--")
            size.annotate(
                name,
                (margin.frequency, 1.0),
                xytext=(4, height),
                textcoords="offset points",
                color=SAMPLED,
            )
    size.set(ylabel="magnitude of L [-]")
    phase.set(ylabel="phase of L [°]", xlabel="frequency [Hz]")
    for axes in (size, phase):
        axes.grid(visible=True, which="both", alpha=0.25)
        axes.margins(x=0.0)
    return figure


def _plotted_response(loop: OpenLoop) -> tuple[Floats, Complex]:
    """Return the frequencies at which the loop is neither huge nor gone, and L there."""
    frequency = loop.frequencies()
    values = loop.response(frequency)
    size = np.abs(values)
    indices = np.flatnonzero((size > _LEAST) & (size < 1.0 / _LEAST))
    if indices.size < 2:
        return frequency, values
    window = slice(int(indices[0]), int(indices[-1]) + 1)
    return frequency[window], values[window]


def draw_nyquist(loop: OpenLoop, margins: Margins) -> Figure:
    """Draw the open loop in the complex plane, as a whole and near -1."""
    from matplotlib.figure import Figure

    _, values = _plotted_response(loop)
    figure = Figure(figsize=(11.0, 5.5), layout="constrained")
    figure.suptitle(f"Open loop, cut at {loop.line}")
    near = margins.distance.value
    angle = np.linspace(0.0, 2.0 * np.pi, 361)
    for axes, reach in zip(figure.subplots(1, 2), (_REACH, 3.0 * near), strict=True):
        axes.plot(values.real, values.imag, color=EXACT, label="L, rising frequency")
        axes.plot(
            values.real, -values.imag, color=EXACT, linewidth=0.7, linestyle="--", label="mirror"
        )
        axes.plot(-1.0, 0.0, "+", color=SAMPLED, markersize=14, markeredgewidth=2.0, label="-1")
        axes.plot(
            -1.0 + near * np.cos(angle),
            near * np.sin(angle),
            color=SAMPLED,
            linewidth=0.8,
            label=f"nearest: {near:.4g} at {margins.distance.frequency:.4g} Hz",
        )
        axes.set(xlim=(-1.0 - reach, -1.0 + reach), ylim=(-reach, reach), aspect="equal")
        axes.set(xlabel="real part of L [-]", ylabel="imaginary part of L [-]")
        axes.grid(visible=True, alpha=0.3)
    figure.axes[0].legend(loc="upper right")
    return figure


def draw_sweep(points: Sequence[SweepPoint], kind: str, title: str) -> Figure:
    """Draw the growth rate of the fastest growing mode over what was swept, and all roots."""
    from matplotlib.figure import Figure

    label, factor = _AXES.get(kind, (kind, 1.0))
    values = np.array([point.value for point in points]) * factor
    figure = Figure(figsize=(11.0, 5.0), layout="constrained")
    figure.suptitle(title)
    growth, plane = figure.subplots(1, 2)
    growth.axhline(0.0, color=LIMIT, linewidth=0.8)
    growth.plot(values, [p.exact for p in points], color=EXACT, label="continuous time")
    growth.plot(
        values, [p.sampled for p in points], "--", color=SAMPLED, label="as the master steps it"
    )
    growth.set(xlabel=label, ylabel="growth rate of the fastest growing mode [1/s]")
    growth.margins(x=0.0)
    growth.grid(visible=True, alpha=0.3)
    growth.legend()
    for style, colour, roots in (
        ("o-", EXACT, [p.exact_root for p in points]),
        ("x--", SAMPLED, [p.sampled_root for p in points]),
    ):
        path = np.array([root for root in roots if root is not None])
        if path.size:
            hertz = path.imag / (2.0 * np.pi)
            plane.plot(path.real, hertz, style, color=colour, markersize=4, linewidth=0.7)
    for value, root in ((values[0], points[0].sampled_root), (values[-1], points[-1].sampled_root)):
        if root is not None:
            at = (root.real, root.imag / (2.0 * math.pi))
            plane.annotate(f"{value:.4g}", at, xytext=(4, 4), textcoords="offset points")
    plane.axvline(0.0, color=LIMIT, linewidth=0.8)
    plane.set(xlabel="growth rate [1/s]", ylabel="frequency [Hz]")
    plane.set_title("its root", fontsize="medium")
    plane.grid(visible=True, alpha=0.3)
    return figure


def draw_map(
    first: tuple[str, Floats], second: tuple[str, Floats], growth: Floats, exact: Floats, title: str
) -> Figure:
    """Draw where the system is stable over two quantities.

    first, second: Kind and values of the abscissa (n) and of the ordinate (m).
    growth, exact: Growth rates as sampled and in continuous time, float64 of shape (m, n), 1/s.
    title: Of the picture.
    """
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    figure = Figure(figsize=(8.0, 6.0), layout="constrained")
    axes = figure.add_subplot()
    (x_label, width), (y_label, height) = (_AXES.get(k, (k, 1.0)) for k, _ in (first, second))
    x, y = first[1] * width, second[1] * height
    largest = float(np.nanmax(np.abs(growth))) or 1.0
    filled = axes.pcolormesh(
        x, y, growth, cmap="RdBu_r", vmin=-largest, vmax=largest, shading="nearest"
    )
    figure.colorbar(filled, ax=axes, label="growth rate as sampled [1/s]")
    for values, colour, style in ((exact, EXACT, "-"), (growth, SAMPLED, "--")):
        if np.nanmin(values) < 0.0 < np.nanmax(values):
            axes.contour(x, y, values, levels=[0.0], colors=colour, linestyles=style)
    axes.legend(
        handles=[
            Line2D([], [], color=EXACT, label="limit in continuous time"),
            Line2D([], [], color=SAMPLED, linestyle="--", label="limit as sampled"),
        ],
        loc="upper right",
    )
    axes.set(xlabel=x_label, ylabel=y_label, title=title)
    return figure


#: Slow and fast modes are visible together: the axes are straight up to here and then
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
    axes.set(xlabel="growth rate [1/s]", ylabel="frequency [Hz]")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    return figure
