"""Equivalent mass of a manipulator: inertia at its base while its joints give way.

References
----------
Cai et al., Robotica (2023), Eq 11 to 15 and 19, corrected: the inverse of H_br in Eq 11 and 15
does not exist, because H_br has one row and n columns. Eliminating the joint accelerations from
Eq 10 needs the inverse of H_r alone, and gives the Schur complement ``H_b - H_br H_r^-1 H_br'``.
H_r is positive definite in every attitude, so no attitude is singular.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from orchestrator import Block, DescriptionError, Input, Output, Parameter
from python_blocks.kinematics.assumed_arm import seven_joint_arm
from python_blocks.kinematics.manipulator_chain import ManipulatorChain
from python_blocks.kinematics.rotation import Floats

_ARM = seven_joint_arm()
_STEP = 1e-30  # of complex-step derivatives: no cancellation, so any tiny one is exact


def equivalent_mass(
    chain: ManipulatorChain,
    phi: Floats | Sequence[float],
    free: Sequence[int] | None = None,
    direction: Floats | Sequence[float] = (0.0, 0.0, 1.0),
) -> float:
    """Return the force per acceleration of the base along a rail, at rest and without friction.

    Parameters
    ----------
    chain
        The manipulator.
    phi
        Joint angles, shape (n,), rad.
    free
        Numbers of the joints that give way, from 1; all by default. On an air table
        these are the joints whose axes are normal to it.
    direction
        Of the rail in the frame of the base, a unit vector, shape (3,).

    Returns
    -------
    float
        kg; the whole mass if no joint gives way.

    Raises
    ------
    DescriptionError
        If the number of angles does not fit, or a joint does not exist.
    """
    return float(_schur(chain, _angles(chain, phi), _columns(chain, free), np.asarray(direction)))


def equivalent_mass_gradient(
    chain: ManipulatorChain,
    phi: Floats | Sequence[float],
    free: Sequence[int] | None = None,
    direction: Floats | Sequence[float] = (0.0, 0.0, 1.0),
) -> Floats:
    """Return the derivatives of :func:`equivalent_mass` by the joint angles, exactly.

    Parameters are the same; the result has shape (n,), kg/rad. Derivatives are taken by a complex
    step (Squire, Trapp, SIAM Review 40, 1998), which does not cancel.
    """
    angles, columns = _angles(chain, phi), _columns(chain, free)
    steps = 1j * _STEP * np.eye(chain.joints)
    masses = [_schur(chain, angles + s, columns, np.asarray(direction)) for s in steps]
    return np.array([mass.imag / _STEP for mass in masses])


def _angles(chain: ManipulatorChain, phi: Floats | Sequence[float]) -> Floats:
    angles = np.asarray(phi, dtype=np.float64)
    if angles.shape != (chain.joints,):
        raise DescriptionError(
            f"equivalent mass: expected {chain.joints} joint angles, found shape {angles.shape}"
        )
    return angles


def _columns(chain: ManipulatorChain, free: Sequence[int] | None) -> list[int]:
    joints = range(1, chain.joints + 1) if free is None else free
    problems = [
        f"equivalent mass: expected joints from 1 to {chain.joints}, found {joint}"
        for joint in joints
        if not 1 <= joint <= chain.joints
    ]
    if problems:
        raise DescriptionError(*problems)
    return [5 + joint for joint in joints]


def _schur(chain: ManipulatorChain, phi: Any, joints: list[int], direction: Floats) -> Any:
    matrix = chain.inertia_matrix(phi)
    along = direction @ matrix[:3, :3] @ direction
    if not joints:
        return along
    coupling = direction @ matrix[:3, joints]
    return along - coupling @ np.linalg.solve(matrix[np.ix_(joints, joints)], coupling)


@lru_cache(maxsize=8)
def _chain(axis: bytes, offset: bytes, m: bytes, center: bytes, inertia: bytes) -> ManipulatorChain:
    """Return the chain of a block's parameters; cached, because checks are slow."""
    parts = (axis, offset, m, center, inertia)
    shapes = ((7, 3), (7, 3), (8,), (8, 3), (8, 3, 3))
    arrays = (np.frombuffer(p).reshape(shape) for p, shape in zip(parts, shapes, strict=True))
    return ManipulatorChain(*arrays)


class EquivalentMass(Block):
    """Equivalent mass of a seven-joint manipulator along z of its base, and its gradient.

    ========= ========= ====== ==================================================
    connector causality unit   meaning
    ========= ========= ====== ==================================================
    phi       input     rad    joint angles, (7,)
    mass      output    kg     force per acceleration of the base
    gradient  output    kg/rad its derivatives by the joint angles, (7,)
    free      parameter 1      1 for joints that give way, else 0, (7,)
    axis      parameter 1      axes of the joints, unit vectors, (7, 3)
    offset    parameter m      origins of the frames, in the frames before, (7, 3)
    m         parameter kg     masses of base and links, (8,)
    center    parameter m      centres of mass in the frames of the links, (8, 3)
    inertia   parameter kg.m2  inertias about them, (8, 3, 3)
    ========= ========= ====== ==================================================

    At rest and without friction. On an air table joints 1, 3, 5 and 7 do not give way. The defaults
    are the assumed arm of ``SpatialArm``.

    References
    ----------
    Cai et al., Robotica (2023), Eq 11 to 15, corrected: the Schur complement of the joints.
    """

    phi: Floats = Input(unit="rad", shape=(7,), description="Joint angles")
    mass: float = Output(unit="kg", description="Equivalent mass along z of the base")
    gradient: Floats = Output(
        unit="kg/rad", shape=(7,), description="Derivatives of the mass by the joint angles"
    )
    free: Floats = Parameter(
        shape=(7,),
        start=1.0,
        unit="1",
        description="1 for each joint that gives way, 0 for a locked one",
    )
    axis: Floats = Parameter(
        unit="1", shape=(7, 3), start=_ARM.axis.tolist(), description="Axes of the joints"
    )
    offset: Floats = Parameter(
        unit="m", shape=(7, 3), start=_ARM.offset.tolist(), description="Origins of the frames"
    )
    m: Floats = Parameter(
        unit="kg", shape=(8,), start=_ARM.mass.tolist(), description="Masses of base and links"
    )
    center: Floats = Parameter(
        unit="m", shape=(8, 3), start=_ARM.center.tolist(), description="Centres of mass"
    )
    inertia: Floats = Parameter(
        unit="kg.m2", shape=(8, 3, 3), start=_ARM.inertia.tolist(), description="Inertias"
    )

    def step(self, t: float, h: float) -> None:
        """Evaluate the Schur complement; the block has no state."""
        free = [i for i, gives_way in enumerate(self.free.tolist(), 1) if gives_way > 0.5]
        parts = (self.axis, self.offset, self.m, self.center, self.inertia)
        chain = _chain(*(part.tobytes() for part in parts))
        self.mass = equivalent_mass(chain, self.phi, free)
        self.gradient[:] = equivalent_mass_gradient(chain, self.phi, free)
