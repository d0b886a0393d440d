"""Arms of rigid links as blocks: at each joint its torque or its motion is given."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from orchestrator import Block, DescriptionError, Input, Output, Parameter, State, StepError
from python_blocks.kinematics.rotation import Floats
from python_blocks.manipulators.chain import (
    Chain,
    Joint,
    JointKind,
    given_accelerations,
    singular_joint,
)
from python_blocks.manipulators.recursion import solve
from python_blocks.manipulators.tree import Found

#: Unit of the position of a joint, its rate, its acceleration, its torque and its inertia.
_UNITS = {
    JointKind.ROTATIONAL: ("rad", "rad/s", "rad/s2", "N.m", "kg.m2"),
    JointKind.TRANSLATIONAL: ("m", "m/s", "m/s2", "N", "kg"),
}


class PartialArm(Block):
    """Arm with any number of joints; ``class Crane(PartialArm, joints="RRT")`` has three.

    ``R`` is a joint that turns, ``T`` one that slides. Each has these connectors, with its number n
    from 1:

    - ``effort_n``, input: torque or force on it, if given;
    - ``given_position_n``, ``given_velocity_n``, ``given_acceleration_n``, input: its motion at
      the end of the step, if given; the arm uses it unchanged;
    - ``position_n``, ``velocity_n``, ``acceleration_n``, ``joint_effort_n``, output: its motion,
      and its torque;
    - ``inertia_n``, ``bias_n``, output: ``joint_effort = inertia * acceleration + bias``, for the
      given values of the other joints;
    - ``position0_n``, ``velocity0_n``, ``rotor_n``: parameter: its initial motion, and the rotor's
      inertia at the joint.

    Joints with given torques are integrated by the Modified Euler method: accelerations at both
    ends of the step, with the torques held. It is of second order, and unstable if a torque that
    depends on the rate is held too long.

    References
    ----------
    Motor Substitution Test: recursive dynamics of G. Nasser, Eq 1 to 4; integration "Modified
    Euler". See :mod:`.recursion` for the changes.
    """

    #: Kinds of the joints, as ``joints="RRT"`` of the class says.
    kinds: tuple[JointKind, ...] = ()

    energy: float = Output(unit="J", description="Kinetic energy of links and rotors")
    tip: Floats = Output(unit="m", shape=(3,), description="Tip of the last link, base frame")
    acceleration_joints: str = Parameter(
        start="", description="Numbers of joints with a given motion"
    )
    torque_joints: str
    gravity: Floats = Parameter(
        start=0.0, shape=(3,), unit="m/s2", description="Gravity in the base frame"
    )
    tool: Floats = Parameter(
        start=0.0, shape=(3,), unit="m", description="Tip in the frame of the last joint"
    )
    positions: Floats = State(start=(), description="Of all joints")
    velocities: Floats = State(start=(), description="Of all joints")
    accelerations: Floats = State(start=(), description="That were given last")

    def __init_subclass__(cls, joints: str = "", **kwargs: Any) -> None:
        if joints:
            if unknown := sorted(set(joints) - {kind.value for kind in JointKind}):
                raise DescriptionError(
                    f"block {cls.__name__}: joints={joints!r}: expected R and T, found {unknown}"
                )
            cls.kinds = tuple(JointKind(letter) for letter in joints)
            for name, declared in _connectors(cls.kinds):
                setattr(cls, name, declared)
        super().__init_subclass__(**kwargs)

    def initialise(self, t: float) -> None:
        """Begin at the parameters, or at the given motion."""
        self.positions = self._all("position0")
        self.velocities = self._all("velocity0")
        self._take_given()
        self._show(t, self.chain())

    def step(self, t: float, h: float) -> None:
        """Integrate by Modified Euler."""
        chain, is_accelerated = self.chain(), self.is_prescribed() == 1.0
        before = self.positions.copy(), self.velocities.copy()
        effort = self._all("effort")
        prescribed = np.where(is_accelerated, self.accelerations, effort)
        first = self._solve(t, chain, before, prescribed, felt=False)
        self.positions = before[0] + h * before[1]
        self.velocities = before[1] + h * first.acceleration
        self._take_given()
        prescribed = np.where(is_accelerated, self.accelerations, effort)
        last = self._solve(t, chain, (self.positions, self.velocities), prescribed, felt=False)
        mean = 0.5 * (first.acceleration + last.acceleration)
        moved = before[0] + 0.5 * h * (before[1] + self.velocities)
        self.positions = np.where(is_accelerated, self.positions, moved)
        self.velocities = np.where(is_accelerated, self.velocities, before[1] + h * mean)
        self._show(t + h, chain)

    def chain(self) -> Chain:
        """Return the arm of the parameters.

        Raises
        ------
        DescriptionError
            With all problems of the parameters.
        """
        names = ("parent", "axis", "offset", "attitude", "mass", "centre", "inertia", "rotor")
        rows = tuple(tuple(self._row(name)) for name in names)
        return _chain(self.kinds, rows, tuple(self.gravity.tolist()))

    def is_prescribed(self) -> Floats:
        """Return 1 for joints with a given motion, 0 for those with a given torque.

        Raises
        ------
        DescriptionError
            If both or neither is given at a joint, or a joint does not exist.
        """
        return _mask_of_numbers(len(self.kinds), self.torque_joints, self.acceleration_joints)

    def _row(self, name: str) -> list[Any]:
        if name == "rotor":
            return list(self._all("rotor").tolist())
        held: Floats = getattr(self, f"link_{name}")
        if name == "parent":
            return [int(number) for number in held.tolist()]
        rows: list[Any] = held.tolist()
        return [_frozen(row) for row in rows]

    def _all(self, name: str) -> Floats:
        return np.array([getattr(self, f"{name}_{n}") for n in range(1, len(self.kinds) + 1)])

    def _take_given(self) -> None:
        is_accelerated = self.is_prescribed() == 1.0
        self.accelerations = np.where(is_accelerated, self._all("given_acceleration"), 0.0)
        self.positions = np.where(is_accelerated, self._all("given_position"), self.positions)
        self.velocities = np.where(is_accelerated, self._all("given_velocity"), self.velocities)

    def _solve(
        self,
        t: float,
        chain: Chain,
        state: tuple[Floats, Floats],
        prescribed: Floats,
        *,
        felt: bool,
    ) -> Found:
        solution = Found(*np.empty((4, len(prescribed))))
        singular, self.energy = solve(
            chain.tree, state, self.is_prescribed(), prescribed, felt, solution
        )
        if singular:
            raise StepError(f"t = {t:.9g} s: {singular_joint(singular)}")
        return solution

    def _show(self, t: float, chain: Chain) -> None:
        prescribed = np.where(self.is_prescribed() == 1.0, self.accelerations, self._all("effort"))
        solution = self._solve(t, chain, (self.positions, self.velocities), prescribed, felt=True)
        outputs = {
            "position": self.positions,
            "velocity": self.velocities,
            "acceleration": solution.acceleration,
            "joint_effort": solution.torque,
            "inertia": solution.inertia,
            "bias": solution.bias,
        }
        for name, values in outputs.items():
            for n, value in enumerate(values.tolist(), 1):
                setattr(self, f"{name}_{n}", value)
        turns, origins = chain.frames(self.positions)
        self.tip[:] = origins[-1] + turns[-1] @ self.tool


def _frozen(row: Any) -> Any:
    return tuple(_frozen(item) for item in row) if isinstance(row, list) else row


@lru_cache(maxsize=64)
def _chain(
    kinds: tuple[JointKind, ...], rows: tuple[Any, ...], gravity: tuple[float, ...]
) -> Chain:
    joints = [Joint(kind, *row) for kind, *row in zip(kinds, *rows, strict=True)]
    return Chain(joints, gravity)


@lru_cache(maxsize=64)
def _mask_of_numbers(count: int, torque: str, acceleration: str) -> Floats:
    sets = []
    for name, text in (("torque_joints", torque), ("acceleration_joints", acceleration)):
        words = text.replace(",", " ").split()
        if bad_words := [word for word in words if not word.isdecimal()]:
            raise DescriptionError(f"{name}: expected numbers of joints, found {bad_words}")
        sets.append([int(word) for word in words])
    return given_accelerations(count, *sets)


def _connectors(kinds: tuple[JointKind, ...]) -> Iterator[tuple[str, Any]]:
    """Yield name and declaration of the connectors that depend on the number of joints."""
    n = len(kinds)
    every = " ".join(str(number) for number in range(1, n + 1))
    text = "Numbers of joints with a given torque"
    yield "torque_joints", Parameter(start=every, description=text)
    arrays = (
        ("parent", (n,), "1", list(range(n)), "Number of the joint before, 0: the base"),
        ("axis", (n, 3), "1", (0.0, 0.0, 1.0), "Axes of the joints in their frames"),
        ("offset", (n, 3), "m", 0.0, "Origins of the frames in those of the joints before"),
        ("attitude", (n, 4), "1", (1.0, 0.0, 0.0, 0.0), "Quaternions into the frames before"),
        ("mass", (n,), "kg", 1.0, "Masses of the links"),
        ("centre", (n, 3), "m", 0.0, "Centres of mass in the joints' frames"),
        ("inertia", (n, 3, 3), "kg.m2", np.eye(3), "Inertias about the centres of mass"),
    )
    for name, shape, unit, start, text in arrays:
        yield f"link_{name}", Parameter(shape=shape, unit=unit, start=start, description=text)
    for number, kind in enumerate(kinds, 1):
        yield from _of_joint(number, kind)


def _of_joint(n: int, kind: JointKind) -> Iterator[tuple[str, Any]]:
    angle, rate, acceleration, torque, inertia = _UNITS[kind]
    suffix = f"of joint {n}"
    yield f"effort_{n}", Input(unit=torque, description=f"Torque or force {suffix}")
    motion = (("position", angle), ("velocity", rate), ("acceleration", acceleration))
    for name, unit in motion:
        yield f"given_{name}_{n}", Input(unit=unit, description=f"Given {name} {suffix}")
    for name, unit in motion:
        ends = None if name == "acceleration" else (f"given_{name}_{n}",)
        text = f"{name.capitalize()} {suffix}"
        yield f"{name}_{n}", Output(unit=unit, description=text, depends_on=ends)
    yield f"joint_effort_{n}", Output(unit=torque, description=f"Torque {suffix}, given or found")
    yield f"inertia_{n}", Output(unit=inertia, description=f"Inertia felt at joint {n}")
    yield f"bias_{n}", Output(unit=torque, description=f"Torque {suffix} without acceleration")
    yield f"position0_{n}", Parameter(start=0.0, unit=angle, description=f"Start {suffix}")
    yield f"velocity0_{n}", Parameter(start=0.0, unit=rate, description=f"First rate {suffix}")
    yield (
        f"rotor_{n}",
        Parameter(start=0.0, unit=inertia, minimum=0.0, description=f"Rotor's inertia {suffix}"),
    )
