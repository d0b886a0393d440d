"""Contact loop: the docking rig's loop m s^2 + (K + b s) exp(-s h) = 0, its limits and locus.

All delays of the loop (robot, sensor, coupling step) are summed up in ONE delay h.

References
----------
Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for hardware-in-the-loop
docking simulation (EPOS 2.0), Eq 7-12. Changed: Eq 7 and 9 show two delays, of which the
characteristic equation holds one; besides the first-order Pade limit of Eq 12 there are the limits
of any Pade order and of the delay itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.structs import Struct, replace
from orchestrator.loops.contact.quasi_polynomial import DelayMargin, QuasiPolynomial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def pade_coefficients(order: int, delay: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Give numerator and denominator of the diagonal Pade approximation of exp(-s delay).

    Parameters
    ----------
    order
        Degree n >= 1 of both polynomials.
    delay
        Delay tau, s.

    Returns
    -------
    numerator, denominator : numpy.ndarray
        Shape (order + 1,) each, highest power of s first, units s^k, both 1 at s = 0. The
        numerator is the denominator at -s, so the modulus on the imaginary axis is exactly 1.

    Raises
    ------
    DescriptionError
        The order is below 1 or the delay negative.

    References
    ----------
    Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for
    hardware-in-the-loop docking simulation (EPOS 2.0), Eq 10 for n = 1, here for any n.
    """
    if order < 1 or not (math.isfinite(delay) and delay >= 0.0):
        raise DescriptionError(
            f"Pade approximation of order {order} of a delay of {delay} s: the order must be at "
            "least 1 and the delay finite and not negative"
        )
    powers = np.arange(order, -1, -1)
    share = [
        math.comb(order, k) * math.factorial(2 * order - k) / math.factorial(2 * order)
        for k in powers.tolist()
    ]
    denominator = np.array(share) * delay**powers
    return denominator * (-1.0) ** powers, denominator


def pade_phase(order: int, angle: float) -> float:
    """Give the phase lag of the Pade approximation at the angle w tau.

    Parameters
    ----------
    order
        Degree n of the approximation.
    angle
        Frequency times delay, rad; the result is exact up to a lag of 2 pi.

    Returns
    -------
    float
        Phase lag, rad; it tends to ``angle`` as the order grows.
    """
    denominator = pade_coefficients(order, 1.0)[1]
    return 2.0 * float(np.angle(np.polyval(denominator, 1j * angle)))


def _rising_to(value: float, function: Callable[[float], float], low: float, high: float) -> float:
    """Bisect to where a rising function has a value; scipy takes longer to import than all this."""
    while low < (middle := 0.5 * (low + high)) < high:
        low, high = (middle, high) if function(middle) < value else (low, middle)
    return high


class ContactLoop(Struct):
    """A free-floating mass against a spring and a damper whose force comes one delay late.

    Parameters
    ----------
    mass
        Reduced mass m1 m2 / (m1 + m2), kg.
    stiffness
        Contact stiffness K, N/m. The stiffness limits do not depend on it.
    damping
        Contact damping b, N s/m.
    delay
        Delay h of the whole loop, s.

    Raises
    ------
    DescriptionError
        The mass is not positive, or another value negative or not finite.
    """

    mass: float
    stiffness: float
    damping: float
    delay: float

    def __post_init__(self) -> None:
        problems = [
            f"contact loop: {name} must be finite and {'> 0' if positive else '>= 0'} {unit}, "
            f"got {value}"
            for name, value, unit, positive in (
                ("mass", self.mass, "kg", True),
                ("stiffness", self.stiffness, "N/m", False),
                ("damping", self.damping, "N s/m", False),
                ("delay", self.delay, "s", False),
            )
            if not math.isfinite(value) or value < 0.0 or (positive and value == 0.0)
        ]
        if problems:
            raise DescriptionError(*problems)

    @property
    def characteristic(self) -> QuasiPolynomial:
        """The characteristic quasi-polynomial."""
        return QuasiPolynomial((self.mass, 0.0, 0.0), (self.damping, self.stiffness), self.delay)

    @property
    def stiffness_limit_closed_form(self) -> float:
        """Largest stable stiffness after Eq 12 (first-order Pade), N/m; 0 if none is stable."""
        m, b, h = self.mass, self.damping, self.delay
        if b * h >= 2.0 * m:
            return 0.0
        if h == 0.0:
            return math.inf if b > 0.0 else 0.0
        return b * (4.0 * m - 2.0 * b * h) / (h * (4.0 * m - b * h))

    @property
    def stiffness_limit_exact(self) -> float:
        """Largest stable stiffness of the delayed loop itself, N/m; 0 if none is stable.

        On the axis, m w^2 exp(j w h) = K + j b w, so b = m w sin(w h) fixes the frequency and
        K = m w^2 cos(w h) the stiffness. Up to w h = pi/2, where K is 0, w sin(w h) rises, so the
        frequency is the only one in that bracket and its K the lowest.
        """
        return self._stiffness_limit(lambda angle: angle)

    def stiffness_limit_pade(self, order: int) -> float:
        """Give the largest stable stiffness with a Pade approximation of the delay.

        Parameters
        ----------
        order
            Order n of the diagonal approximation: 1 is Eq 12, a high order the exact limit. The
            approximation is an all-pass, so its phase takes the place of w h, without error.

        Returns
        -------
        float
            Stiffness, N/m; 0 if none is stable.

        Raises
        ------
        DescriptionError
            The order is below 1.
        """
        return self._stiffness_limit(lambda angle: pade_phase(order, angle))

    def _stiffness_limit(self, phase: Callable[[float], float]) -> float:
        """Solve b = m w sin(phase) below a phase of pi/2 and give K = m w^2 cos(phase)."""
        if self.damping == 0.0:
            return 0.0
        if self.delay == 0.0:
            return math.inf
        target = self.damping * self.delay / self.mass
        quarter = _rising_to(0.5 * math.pi, phase, 1.0, 2.5)
        if target >= quarter:
            return 0.0
        angle = _rising_to(target, lambda x: x * math.sin(phase(x)), 0.0, quarter)
        return self.mass * (angle / self.delay) ** 2 * math.cos(phase(angle))

    @property
    def delay_margin(self) -> DelayMargin:
        """Smallest delay that makes the loop oscillate undamped, and the remaining delay, s."""
        return self.characteristic.delay_margin()

    @property
    def rightmost_root(self) -> complex:
        """Rightmost root, of a pair the one with positive imaginary part, 1/s."""
        return complex(self.characteristic.rightmost_roots(1)[0])

    @property
    def growth_rate(self) -> float:
        """Real part of the rightmost root, 1/s; positive: the contact gains energy."""
        return self.rightmost_root.real

    @property
    def is_stable(self) -> bool:
        """Whether the contact oscillation dies out."""
        return self.growth_rate < 0.0


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


_MAP = "viridis"
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
        A value is out of its range; see :class:`ContactLoop`.

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
        b_grid, h_grid, limit, cmap=_MAP, rcount=40, ccount=40, linewidth=0.2, edgecolor="0.35"
    )
    axes.set(xlabel="damping b [N s/m]", ylabel="loop delay h [ms]", zlabel="stiffness K [kN/m]")
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
    filled = axes.contourf(b, h * 1e3, limit.T, levels=levels, cmap=_MAP)
    lines = axes.contour(b, h * 1e3, limit.T, levels=levels[2::2], colors="w", linewidths=0.7)
    axes.clabel(lines, fmt="%g", fontsize="small")
    axes.set(xlabel="damping b [N s/m]", ylabel="loop delay h [ms]")
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

    indices = np.unique(np.linspace(0, parameter.size - 1, _SHOWN).round().astype(int))
    colours = colormaps[_MAP](np.linspace(0.0, 0.88, indices.size))
    for index, colour in zip(indices, colours, strict=True):
        name = label.format(round(float(parameter[index]), 3))
        axes.plot(abscissa, limit[:, index], color=colour, label=name)
    axes.set_ylabel("stiffness limit K [kN/m]")
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.0)
    axes.grid(visible=True, alpha=0.3)
    axes.legend(title="stable below", fontsize="small", title_fontsize="small")
