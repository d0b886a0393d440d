"""Hybrid parameters: the virtual impedances that complete a hardware spring to a required contact.

On the rig a part of the contact is a real spring; the rest is computed. Two virtual
spring-dashpots, from each body to a wall that moves with the centre of mass, make both bodies move
as with the required (ideal) contact.

References
----------
Zebenay, Boge, Lampariello, Choukroun: A new contact dynamics model tool for hardware-in-the-loop
docking simulation (EPOS 2.0), Eq 2-6. Changed: Eq 3 is a restoring force, -k2 (x2 - V t); the
right-hand sides of Eq 5 and 6 contain the stiffness of the HARDWARE and no damping of the ideal
contact; the second column of Eq 6 is -v2 + V. Added: the closed form, a hardware damping, more
than two instants (least squares) and the check of the conditioning.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from orchestrator import DescriptionError

CONDITION_LIMIT = 1e4  # states good to 1e-10 then give parameters good to 1e-6

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class HybridParameters:
    """Virtual impedances from the bodies to the wall that moves with the centre of mass.

    Parameters
    ----------
    k1, b1
        Stiffness, N/m, and damping, N s/m, of body 1 (chaser).
    k2, b2
        Stiffness, N/m, and damping, N s/m, of body 2 (target).
    """

    k1: float
    b1: float
    k2: float
    b2: float


@dataclass(frozen=True, eq=False)
class ContactStates:
    """States of the ideal impact at two or more instants in contact; arrays of one shape (n,).

    Parameters
    ----------
    time
        Time since first touch, s.
    x1, v1, a1
        Position, m, velocity, m/s, and acceleration, m/s^2, of body 1.
    x2, v2, a2
        The same of body 2. Positions count from the point of first touch.
    """

    time: ArrayLike
    x1: ArrayLike
    v1: ArrayLike
    a1: ArrayLike
    x2: ArrayLike
    v2: ArrayLike
    a2: ArrayLike


def hybrid_parameters_closed_form(
    *,
    mass1: float,
    mass2: float,
    stiffness: float,
    damping: float,
    hardware_stiffness: float,
    hardware_damping: float = 0.0,
) -> HybridParameters:
    """Return the virtual impedances in closed form.

    In the frame of the centre of mass x1 = m2/(m1+m2) d and x2 = -m1/(m1+m2) d with the
    penetration d, so Eq 5 and 6 hold at all instants with k1 = (kcs - k) (m1+m2)/m2,
    k2 = (kcs - k) (m1+m2)/m1, and the same for the dampings.

    Parameters
    ----------
    mass1, mass2
        Masses of chaser and target, kg.
    stiffness, damping
        Required contact: kcs, N/m, and bcs, N s/m.
    hardware_stiffness, hardware_damping
        Stiffness k, N/m, and damping, N s/m, of the hardware. A hardware stiffer than the
        required contact gives negative virtual stiffnesses.

    Returns
    -------
    HybridParameters
        The virtual impedances.

    Raises
    ------
    DescriptionError
        A mass is not positive.
    """
    _check_masses(mass1, mass2)
    spring = (stiffness - hardware_stiffness) * (mass1 + mass2)
    dashpot = (damping - hardware_damping) * (mass1 + mass2)
    return HybridParameters(spring / mass2, dashpot / mass2, spring / mass1, dashpot / mass1)


def hybrid_parameters_from_states(
    states: ContactStates,
    *,
    mass1: float,
    mass2: float,
    hardware_stiffness: float,
    hardware_damping: float = 0.0,
    wall_velocity: float | None = None,
    condition_limit: float = CONDITION_LIMIT,
) -> HybridParameters:
    """Determine the virtual impedances from states of the ideal impact, Eq 5 and 6.

    Parameters
    ----------
    states
        States at two instants t1, t2, analytic or sampled; more are used by least squares.
    mass1, mass2
        Masses of chaser and target, kg.
    hardware_stiffness, hardware_damping
        Stiffness, N/m, and damping, N s/m, of the hardware.
    wall_velocity
        Velocity of the centre of mass, m/s (Eq 4); by default that of the first of the states.
    condition_limit
        Largest accepted condition number: relative errors of the states appear in the result up
        to this factor larger.

    Returns
    -------
    HybridParameters
        The virtual impedances.

    Raises
    ------
    DescriptionError
        A mass is not positive, the arrays do not fit together, or the instants determine the
        parameters too badly.
    """
    _check_masses(mass1, mass2)
    t, x1, v1, a1, x2, v2, a2 = _checked(states)
    if wall_velocity is None:
        wall_velocity = float(mass1 * v1[0] + mass2 * v2[0]) / (mass1 + mass2)
    hardware = hardware_stiffness * (x2 - x1) + hardware_damping * (v2 - v1)
    k1, b1 = _solve("5 (chaser)", t, x1, v1, mass1 * a1 - hardware, wall_velocity, condition_limit)
    k2, b2 = _solve("6 (target)", t, x2, v2, mass2 * a2 + hardware, wall_velocity, condition_limit)
    return HybridParameters(k1, b1, k2, b2)


def _solve(
    equation: str, t: Floats, x: Floats, v: Floats, force: Floats, wall: float, limit: float
) -> tuple[float, float]:
    """Solve [-x + V t, -v + V] (k, b)' = force; columns are scaled, their units differ."""
    columns = np.column_stack([wall * t - x, wall - v])
    sizes = np.column_stack([np.abs(wall * t) + np.abs(x), np.abs(wall) + np.abs(v)])
    scale = np.max(np.abs(columns), axis=0)
    sizes[:, 0] = np.maximum(sizes[:, 0], scale[1] * np.abs(t))  # a position sums up a velocity
    condition = np.inf
    if np.all(scale > 0.0):
        # Digits lost where a difference to the wall is small are lost to the result too.
        cancellation = float(np.max(np.max(sizes, axis=0) / scale))
        condition = float(np.linalg.cond(columns / scale)) * cancellation
    if not condition <= limit:
        raise DescriptionError(
            f"hybrid parameters, Eq {equation}: the states at t = "
            f"{', '.join(f'{instant:.6g}' for instant in t)} s do not determine stiffness and "
            f"damping: condition number {condition:.3g}, at most {limit:.3g} is accepted; choose "
            "instants in contact that differ by about a quarter of the contact's period (half the "
            "contact time), not the same instant twice nor half a period apart, and take the "
            "states in a frame in which the bodies move slowly"
        )
    solution = np.linalg.lstsq(columns / scale, force, rcond=None)[0] / scale
    return float(solution[0]), float(solution[1])


def _checked(states: ContactStates) -> list[Floats]:
    """Return the arrays of the states, all of one shape (n,) with n >= 2, finite."""
    names = ("time", "x1", "v1", "a1", "x2", "v2", "a2")
    arrays = [np.asarray(getattr(states, name), dtype=float) for name in names]
    shape = arrays[0].shape
    problems = [
        f"hybrid parameters: {name} must be finite and of shape (n,), n >= 2, as time is "
        f"({shape}), got shape {array.shape}"
        for name, array in zip(names, arrays, strict=True)
        if array.ndim != 1 or array.size < 2 or array.shape != shape or not np.isfinite(array).all()
    ]
    if problems:
        raise DescriptionError(*problems)
    return arrays


def _check_masses(mass1: float, mass2: float) -> None:
    problems = [
        f"hybrid parameters: {name} must be finite and > 0 kg, got {value}"
        for name, value in (("mass1", mass1), ("mass2", mass2))
        if not (np.isfinite(value) and value > 0.0)
    ]
    if problems:
        raise DescriptionError(*problems)
