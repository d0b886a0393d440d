"""Stability plane: the largest stable contact stiffness over damping and delay, and its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.loops.contact.contact_loop import ContactLoop

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = "viridis"
_SHOWN = 5  # curves in a projection


def stability_plane(
    mass: float, damping: ArrayLike, delay: ArrayLike, *, exact: bool = True
) -> NDArray[np.float64]:
    """Give the largest stable stiffness for all pairs of damping and delay.

    Parameters
    ----------
    mass
        Reduced mass, kg.
    damping
        Dampings b, shape (nb,), N s/m.
    delay
        Loop delays h, shape (nh,), s.
    exact
        Whether the limit is that of the delayed loop or of its first-order Pade approximation.

    Returns
    -------
    numpy.ndarray
        Limits, shape (nb, nh), N/m; 0 where no stiffness is stable, ``inf`` without delay.

    Raises
    ------
    DescriptionError
        A value is out of its range; see :class:`~.contact_loop.ContactLoop`.

    References
    ----------
    Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for
    hardware-in-the-loop docking simulation (EPOS 2.0), Eq 12 and Figure 7 (first-order Pade).
    """
    dampings, delays = np.atleast_1d(damping).astype(float), np.atleast_1d(delay).astype(float)
    limits = np.empty((dampings.size, delays.size))
    for row, b in enumerate(dampings):
        for column, h in enumerate(delays):
            loop = ContactLoop(mass, 0.0, float(b), float(h))
            limits[row, column] = (
                loop.stiffness_limit_exact if exact else loop.stiffness_limit_closed_form
            )
    return limits


def plot_stability_plane(
    mass: float = 750.0,
    damping: ArrayLike | None = None,
    delay: ArrayLike | None = None,
    *,
    exact: bool = True,
) -> Figure:
    """Draw the stability plane and its projections, as Figure 7 of the paper.

    Parameters
    ----------
    mass
        Reduced mass, kg.
    damping
        Dampings, shape (nb,), N s/m, increasing; by default 10 .. 200 N s/m.
    delay
        Loop delays, shape (nh,), s, increasing, above 0; by default 16 .. 32 ms.
    exact
        As in :func:`stability_plane`.

    Returns
    -------
    matplotlib.figure.Figure
        A figure of its own, not known to pyplot; save it with ``savefig``.
    """
    from matplotlib.figure import Figure

    b = np.linspace(10.0, 200.0, 39) if damping is None else np.asarray(damping, dtype=float)
    h = np.linspace(0.016, 0.032, 33) if delay is None else np.asarray(delay, dtype=float)
    limit = stability_plane(mass, b, h, exact=exact) / 1e3
    kind = "exact limit" if exact else "first-order Padé, Eq 12"
    figure = Figure(figsize=(11.5, 9.5), layout="constrained")
    figure.suptitle(f"Largest stable contact stiffness, reduced mass {mass:g} kg ({kind})")
    grid = figure.add_gridspec(2, 2, height_ratios=(1.25, 1.0))
    _draw_surface(figure.add_subplot(grid[0, 0], projection="3d"), b, h, limit)
    _draw_map(figure, figure.add_subplot(grid[0, 1]), b, h, limit)
    by_damping, by_delay = figure.add_subplot(grid[1, 0]), figure.add_subplot(grid[1, 1])
    _draw_curves(by_damping, b, limit, h * 1e3, "h = {:g} ms")
    by_damping.set_xlabel("damping b [N s/m]")
    _draw_curves(by_delay, h * 1e3, limit.T, b, "b = {:g} N s/m")
    by_delay.set_xlabel("loop delay h [ms]")
    return figure


def _draw_surface(
    axes: Any, b: NDArray[np.float64], h: NDArray[np.float64], limit: NDArray[np.float64]
) -> None:
    """Draw in 3-D; ``axes`` is an Axes3D, which matplotlib does not type."""
    from matplotlib.ticker import MaxNLocator

    b_grid, h_grid = np.meshgrid(b, h * 1e3, indexing="ij")
    axes.plot_surface(
        b_grid, h_grid, limit, cmap=_COLOURS, rcount=40, ccount=40, linewidth=0.2, edgecolor="0.35"
    )
    axes.set_xlabel("damping b [N s/m]")
    axes.set_ylabel("loop delay h [ms]")
    axes.set_zlabel("stiffness K [kN/m]")
    axes.set_title("stable below the surface", fontsize="medium")
    axes.set_zlim(bottom=0.0)
    axes.view_init(elev=24.0, azim=-128.0)
    axes.set_box_aspect((1.2, 1.2, 0.9), zoom=1.02)
    for axis in (axes.xaxis, axes.yaxis, axes.zaxis):
        axis.set_major_locator(MaxNLocator(5))
        axis.labelpad = 8.0


def _draw_map(
    figure: Figure,
    axes: Axes,
    b: NDArray[np.float64],
    h: NDArray[np.float64],
    limit: NDArray[np.float64],
) -> None:
    from matplotlib.ticker import MaxNLocator

    levels = MaxNLocator(14).tick_values(0.0, float(np.max(limit)))
    filled = axes.contourf(b, h * 1e3, limit.T, levels=levels, cmap=_COLOURS)
    lines = axes.contour(b, h * 1e3, limit.T, levels=levels[2::2], colors="w", linewidths=0.7)
    axes.clabel(lines, fmt="%g", fontsize="small")
    axes.set_xlabel("damping b [N s/m]")
    axes.set_ylabel("loop delay h [ms]")
    figure.colorbar(filled, ax=axes, label="stiffness limit K [kN/m]")


def _draw_curves(
    axes: Axes,
    abscissa: NDArray[np.float64],
    limit: NDArray[np.float64],
    parameter: NDArray[np.float64],
    label: str,
) -> None:
    """Draw columns of ``limit`` (N abscissa, M parameter) for a few of the parameter's values."""
    from matplotlib import colormaps

    chosen = np.unique(np.linspace(0, parameter.size - 1, _SHOWN).round().astype(int))
    colours = colormaps[_COLOURS](np.linspace(0.0, 0.88, chosen.size))
    for index, colour in zip(chosen, colours, strict=True):
        name = label.format(round(float(parameter[index]), 3))
        axes.plot(abscissa, limit[:, index], color=colour, label=name)
    axes.set_ylabel("stiffness limit K [kN/m]")
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(title="stable below", fontsize="small", title_fontsize="small")
