"""A tree of rigid links on joints that turn or slide, and its dynamics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from orchestrator import DescriptionError
from python_blocks.kinematics.rotation import Floats, matrix
from python_blocks.manipulators.recursion import place_joints, solve
from python_blocks.manipulators.tree import Found, Tree


class JointKind(Enum):
    """Kind of motion of a joint."""

    ROTATIONAL = "R"
    TRANSLATIONAL = "T"


@dataclass(frozen=True)
class Joint:
    """A joint, and the link that it carries; both have one frame, whose origin is on the axis.

    Parameters
    ----------
    kind
        Whether it turns or slides.
    parent
        Number of the joint that carries it, from 1; 0 is the base. Several may have the same.
    axis
        Of the joint, in its frame, of any length but zero.
    offset
        Origin in the parent's frame with the joint at 0, m.
    attitude
        Quaternion, scalar first, that turns the frame into the parent's with the joint at 0.
    mass, centre, inertia
        Of the link: kg; centre of mass in the frame, m; inertia about it, (3, 3), kg m2.
    rotor
        Inertia of the motor at the joint, ``N^2 J``, kg m2, of a sliding joint kg.
    """

    kind: JointKind = JointKind.ROTATIONAL
    parent: int = 0
    axis: Sequence[float] = (0.0, 0.0, 1.0)
    offset: Sequence[float] = (0.0, 0.0, 0.0)
    attitude: Sequence[float] = (1.0, 0.0, 0.0, 0.0)
    mass: float = 0.0
    centre: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Sequence[Sequence[float]] = ((0.0,) * 3,) * 3
    rotor: float = 0.0

    def problems(self, number: int) -> Iterable[str]:
        """Yield the problems of the joint ``number``."""
        label = f"joint {number}"
        if not 0 <= self.parent < number:
            yield f"{label}: parent: expected 0 to {number - 1}, found {self.parent}"
        if not np.linalg.norm(self.axis) > 0.0:
            yield f"{label}: axis: expected a vector other than zero, found {list(self.axis)}"
        if not np.linalg.norm(self.attitude) > 0.0:
            yield f"{label}: attitude: expected a quaternion, found {list(self.attitude)}"
        if not self.mass >= 0.0:
            yield f"{label}: mass: expected >= 0 kg, found {self.mass:g}"
        if not self.rotor >= 0.0:
            yield f"{label}: rotor: expected >= 0, found {self.rotor:g}"
        inertia = np.asarray(self.inertia, dtype=float)
        if not np.allclose(inertia, inertia.T, rtol=1e-9, atol=0.0):
            yield f"{label}: inertia: expected a symmetric matrix, found {inertia.tolist()}"
        elif np.linalg.eigvalsh(inertia)[0] < -1e-9 * np.abs(inertia).max():
            yield f"{label}: inertia: expected no negative principal one, found {inertia.tolist()}"


@dataclass(frozen=True)
class Motion:
    """Torques and accelerations of all joints, shape (n,), with inertia and bias.

    ``torque = inertia * acceleration + bias``, joint by joint: the torque of a joint over its own
    acceleration, with the given torques and accelerations of the others constant (Eq 9).
    """

    torque: Floats  # N.m, of sliding joints N
    acceleration: Floats  # rad/s2, m/s2
    inertia: Floats  # kg m2, kg
    bias: Floats  # N.m, N
    kinetic_energy: float  # J


class Chain:
    """Links on joints, and their dynamics joint by joint: forward, inverse, or both at once.

    Parameters
    ----------
    joints
        Each after the one that carries it; joint 1 is the first.
    gravity
        m/s2, in the base frame.

    Raises
    ------
    DescriptionError
        With all problems of the joints.

    References
    ----------
    Motor Substitution Test, Eq 1 to 9. Changed: the paper prints no matrices, so the recursion is
    that of :mod:`.recursion`; the inertia of a joint in the middle of the chain includes the joints
    before it, which ``J_eff`` of Eq 7, for the base joint, omits.
    """

    def __init__(self, joints: Sequence[Joint], gravity: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
        problems = [text for n, joint in enumerate(joints, 1) for text in joint.problems(n)]
        if problems or not joints:
            raise DescriptionError(*(problems or ["expected one joint or more, found none"]))
        axes = np.array([joint.axis for joint in joints], dtype=float)
        self.tree = Tree(
            np.array([float(joint.kind is JointKind.TRANSLATIONAL) for joint in joints]),
            np.array([joint.parent - 1.0 for joint in joints]),
            axes / np.linalg.norm(axes, axis=1)[:, None],
            np.array([joint.offset for joint in joints], dtype=float),
            np.array([matrix(joint.attitude) for joint in joints], dtype=float),
            np.array([joint.mass for joint in joints], dtype=float),
            np.array([joint.centre for joint in joints], dtype=float),
            np.array([joint.inertia for joint in joints], dtype=float),
            np.array([joint.rotor for joint in joints], dtype=float),
            np.array(gravity, dtype=float),
        )

    def __len__(self) -> int:
        return len(self.tree.masses)

    def solve(
        self,
        position: Sequence[float] | Floats,
        rate: Sequence[float] | Floats,
        *,
        torque: Mapping[int, float],
        acceleration: Mapping[int, float] | None = None,
    ) -> Motion:
        """Solve for the torque or the acceleration of each joint, whichever is not given.

        Parameters
        ----------
        position, rate
            Of the joints, shape (n,), rad and rad/s, of sliding ones m and m/s.
        torque, acceleration
            By numbers of joints, from 1: each joint in one of them.

        Raises
        ------
        DescriptionError
            If both or neither are given at a joint, a joint does not exist, or one with a given
            torque has no inertia.
        """
        accelerations = acceleration or {}
        is_accelerated = given_accelerations(len(self), torque, accelerations)
        prescribed = np.array([{**torque, **accelerations}[n + 1] for n in range(len(self))])
        state = np.array(position, dtype=float), np.array(rate, dtype=float)
        solution = Found(*np.empty((4, len(self))))
        prescribed = prescribed.astype(float)
        singular, energy = solve(self.tree, state, is_accelerated, prescribed, True, solution)  # noqa: FBT003
        if singular:
            raise DescriptionError(singular_joint(singular))
        return Motion(*solution, energy)

    def mass_matrix(self, position: Sequence[float] | Floats) -> Floats:
        """Return the joint-space mass matrix, (n, n), by unit accelerations one after the other."""
        joints = range(1, len(self) + 1)
        still = Chain.__new__(Chain)
        still.tree = self.tree._replace(gravity=np.zeros(3))
        columns = [
            still.solve(
                position,
                np.zeros(len(self)),
                torque={},
                acceleration={n: float(n == column) for n in joints},
            ).torque
            for column in joints
        ]
        return np.array(columns).T

    def frames(self, position: Sequence[float] | Floats) -> tuple[Floats, Floats]:
        """Return attitudes (n, 3, 3) and origins (n, 3), m, of all frames in the base frame."""
        n = len(self)
        turns, origins = np.empty((n, 3, 3)), np.empty((n, 3))
        place_joints(self.tree, np.array(position, dtype=float), turns, origins, np.empty((n, 6)))
        return turns, origins


def given_accelerations(count: int, torque: Iterable[int], acceleration: Iterable[int]) -> Floats:
    """Return 1 for each joint whose acceleration is given, 0 for each whose torque is, (count,).

    Raises
    ------
    DescriptionError
        With each joint at which both or neither are given, and each that does not exist.
    """
    torques, accelerations = set(torque), set(acceleration)
    problems = [
        f"joint {n}: expected one with a number from 1 to {count}"
        for n in sorted((torques | accelerations) - set(range(1, count + 1)))
    ]
    for n in range(1, count + 1):
        if (n in torques) == (n in accelerations):
            count_text = "both are" if n in torques else "neither is"
            problems.append(f"joint {n}: expected torque or acceleration to be given, {count_text}")
    if problems:
        raise DescriptionError(*problems)
    return np.array([float(n in accelerations) for n in range(1, count + 1)])


def singular_joint(number: int) -> str:
    """Return the error of a joint without inertia."""
    return (
        f"joint {number}: its torque is given, but what it carries has no inertia about its axis:"
        " expected mass, inertia or rotor > 0 beyond it, or its acceleration to be given"
    )
