"""The ejection on the table written down again, with Pinocchio's matrices and SciPy's events.

Coordinates are x, z and the angle about y of the base, and the three joints. What does not move has
no column: the base on the rail but for z, and joints that stick.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from scipy.integrate import solve_ivp

from python_blocks.kinematics.assumed_arm import ATTITUDES_DEG, seven_joint_arm

STIFFNESS, COMPRESSION = 2 * 812.7, 0.086


@dataclass
class Ejection:
    """One attitude with its friction; ``run`` fills in what happened."""

    number: int
    static: float = 4.0
    coulomb: float = 2.0
    viscous: float = 5.4
    release: tuple[float, np.ndarray, np.ndarray] | None = None
    stuck: list[tuple[float, int]] = field(default_factory=list)
    broke_away: list[tuple[float, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        chain = seven_joint_arm().with_locked({1: 0.0, 3: 0.0, 5: 0.0, 7: 0.0})
        model = pin.Model()
        model.gravity.linear[:] = 0.0
        joint, nothing = 0, pin.SE3.Identity()
        for kind in (pin.JointModelPX(), pin.JointModelPZ(), pin.JointModelRY()):
            joint = model.addJoint(joint, kind, nothing, str(joint))
        links = [
            pin.Inertia(*link) for link in zip(chain.mass, chain.center, chain.inertia, strict=True)
        ]
        model.appendBodyToJoint(joint, links[0], nothing)
        for offset, link in zip(chain.offset, links[1:], strict=True):
            place = pin.SE3(np.eye(3), offset)
            joint = model.addJoint(joint, pin.JointModelRY(), place, str(joint))
            model.appendBodyToJoint(joint, link, nothing)
        self.model, self.data = model, model.createData()
        self.mode, self.free = np.zeros(3, dtype=int), False

    def motion(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Accelerations, and loads on what stands still."""
        q, v = state[:6], state[6:12]
        upper = np.triu(pin.crba(self.model, self.data, q))
        matrix = upper + np.triu(upper, 1).T
        force = -pin.nle(self.model, self.data, q, v)
        force[3:] -= self.coulomb * self.mode + self.viscous * v[3:]
        if not self.free:
            force[1] += STIFFNESS * (COMPRESSION - q[1])
        moves = np.flatnonzero([self.free, True, self.free, *self.mode])
        acceleration = np.zeros(6)
        acceleration[moves] = np.linalg.solve(matrix[np.ix_(moves, moves)], force[moves])
        return acceleration, force - matrix @ acceleration

    def settle(self, time: float, state: np.ndarray) -> None:
        """Let joints break away, the one with the largest load first."""
        while True:
            load = np.where(self.mode == 0, self.motion(state)[1][3:], 0.0)
            joint = int(np.argmax(np.abs(load)))
            if abs(load[joint]) <= self.static:
                return
            self.mode[joint] = np.sign(load[joint])
            self.broke_away.append((time, joint))

    def margins(self, state: np.ndarray) -> np.ndarray:
        """Positive until something happens: sliding joints, sticking joints, the rail."""
        load = self.motion(state)[1][3:]
        slides = self.mode != 0
        joints = np.where(slides, self.mode * state[9:12] + 1e-13, self.static - np.abs(load))
        return np.append(joints, 1.0 if self.free else COMPRESSION - state[1])

    def run(self, stop: float) -> np.ndarray:
        """Integrate to ``stop`` s; returns coordinates and velocities there."""
        state, time = np.zeros(12), 0.0
        state[3:6] = np.radians(ATTITUDES_DEG[self.number - 1])
        self.settle(time, state)
        while time < stop:
            events = [lambda t, x, i=i: self.margins(x)[i] for i in range(4)]
            for event in events:
                event.terminal, event.direction = True, -1
            right = lambda t, x: np.r_[x[6:], self.motion(x)[0]]  # noqa: E731
            found = solve_ivp(
                right, (time, stop), state, "DOP853", rtol=1e-11, atol=1e-13, events=events
            )
            time, state = float(found.t[-1]), found.y[:, -1].copy()
            self._happen(time, state, [len(times) > 0 for times in found.t_events])
        return state

    def _happen(self, time: float, state: np.ndarray, events: list[bool]) -> None:
        if events[3]:
            self.free = True
            self.release = (time, state[6:].copy(), state[3:6].copy())
        for joint in np.flatnonzero(events[:3]):
            if self.mode[joint] != 0:
                self.mode[joint], state[9 + joint] = 0, 0.0
                self.stuck.append((time, int(joint)))
        self.settle(time, state)
