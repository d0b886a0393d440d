"""The attitude that is ejected fastest within limits, and what uncertain friction makes of it.

``python examples/ejection/optimise.py`` takes a minute, with ``--robust`` some ten: then the 5 %
quantile of the speed is made as large as it can be with the 95 % quantile of the spin in its limit.

The plant is run as it is, with its events, so speed and spin are no smooth functions of the
attitude (joints break away or do not): COBYQA of SciPy, which needs values only, from three starts.
The spacecraft's surface is a plane without end at the height of the rail's foot; joints that come
below it are refused, the end of the arm may be there, which its clearance says.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import NonlinearConstraint, minimize
from scipy.stats import qmc

from orchestrator import System, fmu, simulate
from python_blocks.kinematics.assumed_arm import attitude, seven_joint_arm

PLANT = Path(__file__).parent / "plants" / "build" / "PlanarArm.fmu"
ARM = seven_joint_arm().with_locked({1: 0.0, 3: 0.0, 5: 0.0, 7: 0.0})
TIP = np.array([0.0, 0.0, 0.45])  # end of the last link in its frame, m
RANGE_DEG = (-120.0, 120.0)  # of each joint
CLEARANCE = 0.15  # of all joints and the end from the spacecraft's surface, m
SPIN = np.radians(5.0)  # rad/s
SAMPLES, SEED = 50, 1
# Coulomb friction and damping within a half and twice, mass of the last link within 20 %.
LOW, HIGH = (1.0, 2.7, 29.12), (4.0, 10.8, 43.68)

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Outcome:
    """Speed at the release, m/s; final spin, rad/s; the least height above the surface, m."""

    speed: float
    spin: float
    clearance: float


def heights(phi: Floats) -> list[float]:
    """Heights of joints and end above the spacecraft's surface at the start, m."""
    frames = ARM.frames(phi)
    end = frames.origin[-1] + frames.rotation[-1] @ TIP
    return [*frames.origin[1:, 2].tolist(), float(end[2])]


@cache
def eject(phi: tuple[float, ...], uncertain: tuple[float, ...] = ()) -> Outcome:
    """Eject from joint angles, rad, with friction N m, damping N m s/rad, payload kg if given."""
    *joints, end = heights(np.array(phi))
    if min(joints) < 0.0:  # the plant refuses what begins inside the spacecraft
        return Outcome(0.0, np.inf, min(joints))
    values = {f"phi0[{i}]": angle for i, angle in enumerate(phi, 1)}
    if uncertain:
        coulomb, viscous, payload = uncertain
        values |= {f"coulomb[{i}]": coulomb for i in (1, 2, 3)} | {"m[4]": payload}
        values |= {f"viscous[{i}]": viscous for i in (1, 2, 3)}
    system = System("table").add("arm", fmu(PLANT), **values)
    result = simulate(system, step="50 ms", stop="6 s")
    lowest = min(result[f"arm.position[{i},3]"].min() for i in (2, 3, 4))
    speed, spin = (float(result[f"arm.{name}"][-1]) for name in ("release_speed", "w[2]"))
    return Outcome(speed, abs(spin), min(float(lowest), end))


def samples() -> Floats:
    """Draw uncertain friction and payload, shape (50, 3)."""
    return qmc.scale(qmc.LatinHypercube(3, rng=SEED).random(SAMPLES), LOW, HIGH)


@cache
def robust(phi: tuple[float, ...]) -> Outcome:
    """Give the 5 % quantile of the speed, the 95 % quantile of the spin, the least clearance."""
    if min(heights(np.array(phi))[:-1]) < 0.0:
        return eject(phi)
    found = [eject(phi, tuple(one)) for one in samples().tolist()]
    speed = float(np.quantile([one.speed for one in found], 0.05))
    spin = float(np.quantile([one.spin for one in found], 0.95))
    return Outcome(speed, spin, min(one.clearance for one in found))


def best(judge: Any, evaluations: int) -> Floats:
    """Find the joint angles of the greatest speed within the limits, rad."""

    def outcome(phi: Floats) -> Outcome:
        result: Outcome = judge(tuple(float(a) for a in np.round(phi, 9)))
        return result

    def limits(phi: Floats) -> list[float]:
        found = outcome(phi)
        return [min(found.spin, 1.0), found.clearance]

    inside = NonlinearConstraint(limits, [-np.inf, CLEARANCE], [SPIN, np.inf])
    ends = np.radians(RANGE_DEG)
    found = [
        minimize(
            lambda phi: -outcome(phi).speed,
            np.radians(start),
            method="COBYQA",
            bounds=[ends] * 3,
            constraints=inside,
            options={"maxfev": evaluations, "initial_tr_radius": 0.3, "final_tr_radius": 1e-4},
        )
        for start in ((-60.0, 110.0, -60.0), (60.0, -110.0, 60.0), (70.0, -100.0, -30.0))
    ]
    feasible = [one for one in found if one.maxcv < 1e-6]
    if not feasible:
        raise ArithmeticError("no attitude within the limits was found; allow more spin")
    return np.asarray(min(feasible, key=lambda one: one.fun).x)


def table(*, robustly: bool) -> pd.DataFrame:
    """Compare the best attitude with those of the paper; angles in degrees."""
    attitudes = {f"attitude {i}": attitude(i)[1::2] for i in range(1, 6)}
    attitudes["best"] = best(eject, 150)
    if robustly:
        attitudes["robust best"] = best(robust, 60)
    rows = []
    for name, phi in attitudes.items():
        one, many = eject(tuple(phi.tolist())), robust(tuple(phi.tolist()))
        figures = (one.speed, np.degrees(one.spin), one.clearance, many.speed)
        rows.append((name, *np.degrees(phi), *figures, np.degrees(many.spin)))
    return pd.DataFrame(rows, columns=["", *COLUMNS])


COLUMNS = ("joint 2", "joint 4", "joint 6", "v [m/s]", "spin", "clear [m]", "v 5 %", "spin 95 %")

if __name__ == "__main__":
    print(table(robustly="--robust" in sys.argv).round(4).to_string(index=False))  # noqa: T201
