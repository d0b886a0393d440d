"""Kinematics of a Stewart platform: lengths of its legs from its pose, and the inverse.

References
----------
Yu et al.: Force and moment compensation method based on three degree-of-freedom stiffness-damping
identification, IEEE Access (2018), section III B and the Jacobian of Eq 22 and 23. The paper gives
no geometry: the defaults are assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import cos, isfinite, radians, sin
from typing import Any

import numpy as np

from orchestrator import DescriptionError
from python_blocks.kinematics import stewart_motion
from python_blocks.kinematics.rotation import Floats, rotation_rows


@dataclass(frozen=True)
class StewartGeometry:
    """Positions of the joints: pairs at 0, 120 and 240 degrees, legs numbered by pairs.

    Parameters
    ----------
    base_radius, platform_radius
        Radii of the circles of the lower and the upper joints, m.
    base_half, platform_half
        Half the angles between the joints of the two legs of a pair, rad.

    Raises
    ------
    DescriptionError
        If a radius is not positive and finite, or an angle not finite.
    """

    base_radius: float = 1.5
    platform_radius: float = 1.0
    base_half: float = radians(15.0)
    platform_half: float = radians(45.0)

    def __post_init__(self) -> None:
        problems = [
            f"Stewart geometry: {name}: expected > 0 m, found {value}"
            for name, value in (
                ("base_radius", self.base_radius),
                ("platform_radius", self.platform_radius),
            )
            if not (isfinite(value) and value > 0.0)
        ]
        problems += [
            f"Stewart geometry: {name}: expected a finite angle, found {value} rad"
            for name, value in (
                ("base_half", self.base_half),
                ("platform_half", self.platform_half),
            )
            if not isfinite(value)
        ]
        if problems:
            raise DescriptionError(*problems)

    @cached_property
    def base(self) -> Floats:
        """Lower joints in the frame of the base, shape (6, 3), m."""
        return _circle(self.base_radius, self.base_half)

    @cached_property
    def platform(self) -> Floats:
        """Upper joints from the control point, in the platform's frame, shape (6, 3), m."""
        return _circle(self.platform_radius, self.platform_half)


@dataclass(frozen=True, eq=False)
class Pose:
    """Result of the forward kinematics.

    Parameters
    ----------
    position
        Of the control point in the frame of the base, shape (3,), m.
    q
        Quaternion from the platform's frame to the base frame, scalar first, shape (4,).
    residual
        Largest difference of a length, m.
    iterations
        Steps of Newton's method.
    condition
        Condition number of the Jacobian there; see :func:`condition`.
    rates
        The Jacobian there, shape (6, 6); see :func:`jacobian`.
    """

    position: Floats
    q: Floats
    residual: float
    iterations: int
    condition: float
    rates: Floats

    def solves(self, tolerance: float) -> bool:
        """Whether the pose has the requested lengths within a tolerance, m."""
        return self.residual <= tolerance


def leg_vectors(
    geometry: StewartGeometry, position: Sequence[Any], q: Sequence[Any]
) -> list[list[Any]]:
    """Return the vectors from the lower to the upper joints; takes symbols of CasADi as well.

    Parameters
    ----------
    geometry
        Of the robot.
    position
        Of the control point in the frame of the base, shape (3,), m.
    q
        Quaternion of the platform, shape (4,).

    Returns
    -------
    list of list
        Shape (6, 3), m, in the frame of the base.
    """
    rows = rotation_rows(q)
    return [
        [
            position[i] + row[0] * upper[0] + row[1] * upper[1] + row[2] * upper[2] - lower[i]
            for i, row in enumerate(rows)
        ]
        for upper, lower in zip(geometry.platform.tolist(), geometry.base.tolist(), strict=True)
    ]


def leg_lengths(geometry: StewartGeometry, position: Sequence[Any], q: Sequence[Any]) -> list[Any]:
    """Return the lengths of the legs (inverse kinematics); takes symbols of CasADi as well.

    Parameters and units are those of :func:`leg_vectors`; the result has shape (6,).
    """
    vectors = leg_vectors(geometry, position, q)
    return [(x * x + y * y + z * z) ** 0.5 for x, y, z in vectors]


def jacobian(geometry: StewartGeometry, position: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return the lengths and their Jacobian by the motion of the platform.

    Returns
    -------
    ndarray
        Lengths of the legs, shape (6,), m.
    ndarray
        Shape (6, 6): rates of the lengths, m/s, for the velocity of the control point, m/s, and
        the angular velocity, rad/s, both in the frame of the base.
    """
    lengths, rates = np.empty(6), np.empty((6, 6))
    stewart_motion.legs(geometry.base, geometry.platform, position, q, lengths, rates)
    return lengths, rates


def condition(geometry: StewartGeometry, rates: Floats) -> float:
    """Return the condition number of a Jacobian, turns counted in radii of the platform.

    Infinite in a singular pose, in which the platform can move although all legs are held.
    """
    return stewart_motion.condition(rates, geometry.platform_radius)


def forward(
    geometry: StewartGeometry,
    lengths: Floats,
    position: Floats,
    q: Floats,
    *,
    tolerance: float = 1e-10,
    most_iterations: int = stewart_motion.MOST_STEPS,
) -> Pose:
    """Find the pose that has given lengths, by Newton's method from a pose nearby.

    A step moves a joint by at most a fifth of the platform's radius. Up to 40 poses have the same
    lengths; the result is on the branch of the start if the start is near.

    Parameters
    ----------
    geometry
        Of the robot.
    lengths
        Shape (6,), m.
    position, q
        Start of the search: the last pose.
    tolerance
        Largest difference of a length at the solution, m.
    most_iterations
        Steps after which the search ends; the result then does not solve the equations.

    Returns
    -------
    Pose
        The best pose; :meth:`~Pose.solves` tells whether it is a solution.
    """
    pose = stewart_motion.find_pose(
        geometry.base, geometry.platform, lengths, position, q, tolerance, most_iterations
    )
    *_, rates, residual, count = pose
    return Pose(pose[0], pose[1], residual, count, condition(geometry, rates), rates)


def _circle(radius: float, half: float) -> Floats:
    angles = [radians(120.0 * pair) + side * half for pair in range(3) for side in (1.0, -1.0)]
    return np.array([[radius * cos(a), radius * sin(a), 0.0] for a in angles])
