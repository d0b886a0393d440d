"""The seven-joint arm of the ejection example, assumed because the paper's tables are missing.

References
----------
Cai et al., Robotica (2023): the total mass of 116.1 kg, seven joints about z and y in turn. Masses,
lengths, offsets, and links that are solid rods along z are assumed. The plant ``SpatialArm`` of the
Modelica library has the same numbers.
"""

from __future__ import annotations

import numpy as np

from python_blocks.kinematics.manipulator_chain import ManipulatorChain
from python_blocks.kinematics.rotation import Floats

MASS = (14.3, 8.6, 15.2, 12.4, 16.8, 12.4, 15.6, 20.8)  # kg
OFFSET_YZ = ((0, 0.12), (0.10, 0.10), (0, 0.55), (-0.12, 0.35), (0, 0.55), (0.10, 0.35), (0, 0.12))
CENTER_YZ = (
    *((0, 0.05), (0.04, 0.05), (0, 0.25), (-0.05, 0.15)),
    *((0, 0.25), (0.04, 0.15), (0, 0.05), (0, 0.20)),
)
RADIUS = (0.12, 0.09, 0.09, 0.08, 0.09, 0.08, 0.09, 0.10)  # m
LENGTH = (0.12, 0.12, 0.60, 0.40, 0.60, 0.40, 0.16, 0.45)  # m
# Joints 2, 4 and 6 of the five attitudes, deg; the others are at zero.
ATTITUDES_DEG = ((-60, 120, -60), (60, 60, 30), (90, -90, 90), (-75, -30, 45), (0, 0, 0))


def seven_joint_arm() -> ManipulatorChain:
    """Return the arm: joints 1, 3, 5, 7 about z, joints 2, 4, 6 about y."""
    axis = np.array([(0.0, 0.0, 1.0), (0.0, 1.0, 0.0)] * 3 + [(0.0, 0.0, 1.0)])
    rods = [rod(m, r, h) for m, r, h in zip(MASS, RADIUS, LENGTH, strict=True)]
    return ManipulatorChain(
        axis, _beside_x(OFFSET_YZ), np.array(MASS), _beside_x(CENTER_YZ), np.array(rods)
    )


def attitude(number: int) -> Floats:
    """Return the joint angles of attitude 1 to 5, shape (7,), rad."""
    phi = np.zeros(7)
    phi[1::2] = np.radians(ATTITUDES_DEG[number - 1])
    return phi


def rod(mass: float, radius: float, length: float) -> Floats:
    """Return the inertia of a solid rod along z about its centre, shape (3, 3), kg m^2."""
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return np.diag([across, across, mass * radius**2 / 2.0])


def _beside_x(pairs: tuple[tuple[float, float], ...]) -> Floats:
    return np.array([(0.0, y, z) for y, z in pairs])
