"""The paper's scheme with steps of 0.02 s next to the full dynamics, for the arm on the table.

python examples/ejection/recursive.py

References
----------
Cai et al., Robotica (2023), section 3, corrected. In each step all matrices are those of its
beginning, and velocity-dependent terms are left out. Eq 20: a mass on a spring, whose mass is the
equivalent one; the force is that of the recursion itself, which replaces what Eq 20d compensates.
Eq 24 to 30: the joints that slide under this force, all together, ``(H_r - H_br' H_br/M) qdd =
-H_br' F/M - tau_c sgn(qd) - B qd``, exactly by one matrix exponential: the printed ones divide by
a matrix. Eq 36, 37: the velocity, friction included. Eq 32 to 34 and 42 outside, with cumulative
rates and the inertia of the final attitude.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.linalg import expm
from scipy.optimize import brentq

from orchestrator import System, fmu, simulate
from python_blocks.kinematics.assumed_arm import attitude, seven_joint_arm

PLANT = Path(__file__).parent / "plants" / "build" / "PlanarArm.fmu"
STIFFNESS, COMPRESSION, STEP = 2 * 812.7, 0.086, 0.02  # N/m, m, s
STATIC, COULOMB, VISCOUS = 4.0, 2.0, 5.4  # N m, N m, N m s/rad
PLANE = [0, 2, 4]  # x, z and the angle about y among the coordinates of the base
COLUMNS = ("t_r [s]", "v_r [m/s]", "d2", "d4", "d6", "t_s [s]", "spin [deg/s]")
ARM = seven_joint_arm().with_locked({1: 0.0, 3: 0.0, 5: 0.0, 7: 0.0})
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Found:
    """Results of a method: s, m/s, rad/s; angles of joints 2, 4 and 6 in rad."""

    release_time: float
    release_speed: float
    release_phi: Floats
    rest_time: float
    spin: float


def recursive(phi: Floats, step: float = STEP) -> Found:
    """Run the scheme from joint angles, shape (3,), rad."""
    state = np.r_[-COMPRESSION, 0.0, 0.0, phi, np.zeros(3), 1.0]  # z, z', v, angles, rates, 1
    time = 0.0
    while True:
        flow = _flow(state)
        after = expm(step * flow) @ state
        if after[0] >= 0.0:
            last = _root(flow, state, 0, (0.0, step))
            state = expm(last * flow) @ state
            break
        state, time = after, time + step
    rest, final = _coast(state[3:6], state[6:9])
    angular, _ = _turning(state[3:6], state[6:9], state[2])
    _, inertia = _turning(final, np.zeros(3), 0.0)
    return Found(
        time + last, float(state[2]), state[3:6], time + last + rest, float(angular / inertia)
    )


def _flow(state: Floats) -> Floats:
    """Matrix of the linear equations of one step, in z, z', v, angles, rates and 1."""
    phi, rate = state[3:6], state[6:9]
    matrix = ARM.inertia_matrix(phi)
    mass, coupling, joints = matrix[2, 2], matrix[2, 6:], matrix[6:, 6:]
    push = -STIFFNESS * state[0]
    load = -coupling * push / mass
    slides = np.flatnonzero((rate != 0.0) | (np.abs(load) > STATIC))
    inner = (joints - np.outer(coupling, coupling) / mass)[np.ix_(slides, slides)]
    sense = np.where(rate != 0.0, np.sign(rate), np.sign(load))[slides]
    c = coupling[slides]
    equivalent = mass - c @ np.linalg.solve(joints[np.ix_(slides, slides)], c)
    flow = np.zeros((10, 10))
    flow[0, 1], flow[1, 0] = 1.0, -STIFFNESS / equivalent
    flow[3:6, 6:9] = np.eye(3)
    rates = 6 + slides
    flow[rates, 0] = np.linalg.solve(inner, c * STIFFNESS / mass)
    flow[np.ix_(rates, rates)] = -VISCOUS * np.linalg.inv(inner)
    flow[rates, 9] = -np.linalg.solve(inner, COULOMB * sense)
    flow[2] = -coupling @ flow[6:9] / mass
    flow[2, 0] -= STIFFNESS / mass
    return flow


def _coast(phi: Floats, rate: Floats) -> tuple[float, Floats]:
    """Time until all joints stick after the release, and their angles there; matrices frozen."""
    matrix = ARM.inertia_matrix(phi)
    base, cross, joints = matrix[np.ix_(PLANE, PLANE)], matrix[PLANE, 6:], matrix[6:, 6:]
    free = joints - cross.T @ np.linalg.solve(base, cross)
    state, time = np.r_[phi, rate, 1.0], 0.0
    while np.any(state[3:6]):
        slides = np.flatnonzero(state[3:6])
        sense = np.sign(state[3:6])
        inner = free[np.ix_(slides, slides)]
        flow = np.zeros((7, 7))
        flow[:3, 3:6] = np.eye(3)
        flow[np.ix_(3 + slides, 3 + slides)] = -VISCOUS * np.linalg.inv(inner)
        flow[3 + slides, 6] = -np.linalg.solve(inner, COULOMB * sense[slides])
        span, stopped = _first_stop(flow, state, sense, slides)
        state, time = expm(span * flow) @ state, time + span
        state[3 + stopped] = 0.0
    return time, state[:3]


def _first_stop(
    flow: Floats, state: Floats, sense: Floats, slides: Floats
) -> tuple[float, np.intp]:
    """When the first joint stops, s, and which."""
    once, after = expm(0.005 * flow), state
    for count in range(4000):
        after = once @ after
        stopped = [i for i in slides if sense[i] * after[3 + i] <= 0.0]
        if stopped:
            span = (0.005 * count, 0.005 * (count + 1))
            times = [_root(flow, state, 3 + i, span) for i in stopped]
            return min(times), stopped[int(np.argmin(times))]
    raise ArithmeticError("the joints do not come to rest within 20 s")


def _root(flow: Floats, state: Floats, index: int, between: tuple[float, float]) -> float:
    """When an element of the state passes zero, s."""
    root = brentq(lambda h: (expm(h * flow) @ state)[index], *between, xtol=1e-14)
    return float(root)


def _turning(phi: Floats, rate: Floats, speed: float) -> tuple[float, float]:
    """Angular momentum and inertia about the centre of mass and y, the base not turning."""
    matrix = ARM.inertia_matrix(phi)
    center = matrix[4, [0, 2]] / matrix[0, 0]  # z and -x of the centre of mass
    momentum = matrix @ np.r_[0.0, 0.0, speed, np.zeros(3), rate]
    angular = momentum[4] - center @ momentum[[0, 2]]
    return float(angular), float(matrix[4, 4] - matrix[0, 0] * center @ center)


def full(phi: Floats) -> Found:
    """Run the plant from joint angles, shape (3,), rad."""
    start = {f"phi0[{i}]": float(a) for i, a in enumerate(phi, 1)}
    system = System("table").add("arm", fmu(PLANT), **start)
    result = simulate(system, step="20 ms", stop="6 s", delay="mean")

    def last(name: str) -> float:
        return float(result[f"arm.{name}"][-1])

    angles = np.array([last(f"release_phi[{i}]") for i in (1, 2, 3)])
    return Found(
        last("release_time"), last("release_speed"), angles, last("rest_time"), last("w[2]")
    )


def table() -> pd.DataFrame:
    """Compare both for all attitudes; angles in degrees."""
    rows = []
    for number in range(1, 6):
        phi = attitude(number)[1::2]
        ways = {"full": full(phi), "0.02 s": recursive(phi), "0.002 s": recursive(phi, 0.002)}
        for name, found in ways.items():
            turned = np.degrees(found.release_phi - phi)
            figures = (found.release_time, found.release_speed, *turned, found.rest_time)
            rows.append((number, name, *figures, np.degrees(found.spin)))
    return pd.DataFrame(rows, columns=["attitude", "by", *COLUMNS])


if __name__ == "__main__":
    print(table().round(4).to_string(index=False))  # noqa: T201
