"""The systems in which an arm of three joints carries the rod against a free target.

python examples/impact/capture_systems.py
"""

from __future__ import annotations

from dataclasses import replace
from math import cos, sin
from pathlib import Path
from typing import Any

import numpy as np
from rope_systems import C_ROD, C_TOR, CLAMPED, M, V, clamped

from orchestrator import DefaultExperiment, System, block, fmu, write_ssd
from python_blocks.kinematics.assumed_arm import seven_joint_arm
from python_blocks.kinematics.manipulator_chain import ManipulatorChain
from python_blocks.kinematics.rotation import matrix
from python_blocks.ropes.rope_statics import equilibrium

HERE = Path(__file__).parent
FMUS = HERE.parents[1] / "fmus" / "build"
PLANTS = HERE / "plants" / "build"

#: Section 4.2: joint angles at the impact, rad.
PHI = (0.8727, -1.7453, 0.8727)
#: Table 4: the star target; kg, m, kg m^2. The table's frame is taken to be that of the rope's
#: middle, its z away from where the rope bows; its products are integrals of x y dm, so they enter
#: with the other sign, as in SpaceDocking.Bodies.GrappleTarget.
MASS, CENTROID = 41.7, (-0.040931, 0.00137, 0.342138)
INERTIA = (
    (3.40766, -0.00353, 0.08852),
    (-0.00353, 3.15477, -0.02253),
    (0.08852, -0.02253, 1.61416),
)
TURNED = (0.0, 1.0, 0.0, 0.0)  # half a turn about x: the table's z along -z
PLANE = ((1, "x"), (2, "z"))  # the rope's numbers of the world's axes
ROD = (0.0, 0.0, 0.3)  # m, from the last joint; assumed
RUN = DefaultExperiment(stop_ns=250_000_000, step_ns=100_000, algorithm="gauss-seidel")

#: SpaceDocking.Chains.PlanarArm, before it is scaled: the arm of examples/ejection.
PLANAR = seven_joint_arm().with_locked(dict.fromkeys((1, 3, 5, 7), 0.0))


def arm(scale: float) -> ManipulatorChain:
    """Return the planar arm with all masses and inertias scaled."""
    return replace(PLANAR, mass=scale * PLANAR.mass, inertia=scale * PLANAR.inertia)


def _tip(chain: ManipulatorChain) -> tuple[np.ndarray, np.ndarray]:
    """Return the end of the rod and the origins of the frames, from the base, (3,) and (4, 3)."""
    frames = chain.frames(np.array(PHI))
    return frames.origin[-1] + frames.rotation[-1] @ np.array(ROD), frames.origin


def arm_mass(chain: ManipulatorChain, *, locked: bool = False) -> float:
    """Effective mass of the arm along z at the end of the rod, kg; its base in the x-z plane."""
    tip, origin = _tip(chain)
    whole = chain.inertia_matrix(np.array(PHI))  # base turning, base moving, joints
    free = [0, 2, 4] + ([] if locked else [6, 7, 8])
    to_tip = [-(tip - o)[0] for o in origin]  # y cross arm, along z
    row = np.array([0.0, 1.0, *to_tip])[: len(free)]
    return float(1.0 / (row @ np.linalg.solve(whole[np.ix_(free, free)], row)))


def target_mass() -> float:
    """Effective mass of the target along z in the middle of the rope's chord, kg."""
    lever = np.cross(matrix(TURNED) @ -np.array(CENTROID), (0.0, 0.0, 1.0))
    inertia = matrix(TURNED) @ np.array(INERTIA) @ matrix(TURNED).T
    return float(1.0 / (1.0 / MASS + lever @ np.linalg.solve(inertia, lever)))


def scale_for(mass: float) -> float:
    """Scale of the arm at which arm and target together have the effective mass of the impact."""
    return (1.0 / (1.0 / mass - 1.0 / target_mass())) / arm_mass(arm(1.0))


def capture() -> System:
    """An arm drifts towards a free target and meets its rope with the rod."""
    chain, rope = arm(scale_for(M)), clamped(CLAMPED)
    tip, _ = _tip(chain)
    rest = equilibrium(rope)
    chord = float(tip[2] + 1e-5 - rest[14, 1])
    own = matrix(TURNED)
    middle = np.array([0.0, tip[1], chord])
    center = middle + own @ np.array(CENTROID)
    half = np.array([0.5 * rope.span, 0.0, 0.0])
    ends = [own.T @ (middle + side * half - center) for side in (-1.0, 1.0)]
    ways = [own.T @ np.array([cos(a), 0.0, sin(a)]) for a in (rope.clamp_a, rope.clamp_b)]
    none, still = (0.0,) * 3, (0.0, 0.0, 0.0)
    values: dict[str, dict[str, Any]] = {
        "arm": {
            "guided": False,
            "m": chain.mass,
            "J": chain.inertia,
            "phi0": PHI,
            "tip": ROD,
            "v0": (0.0, 0.0, V),
            "static": none,
            "coulomb": none,
            "viscous": none,
            "torque": none,
            "base_force": still,
            "base_torque": still,
        },
        "rope": {
            "k_tes": rope.k_tes,
            "k_tor": rope.k_tor,
            "k_clamp": rope.k_clamp,
            "curvature": rope.curvature,
            "c_tor": C_TOR,
            "c_rod": C_ROD,
            "node": 16,
            **{f"x0[{i}]": float(x) - 0.5 * rope.span for i, x in enumerate(rest[:, 0], 1)},
            **{f"y0[{i}]": float(y) + chord for i, y in enumerate(rest[:, 1], 1)},
        },
        "target": {
            "m": MASS,
            "J": INERTIA,
            "q0": TURNED,
            "r0": center,
            "point_force": still,
            "point_torque": still,
        },
        "mount": dict(zip(("point_a", "point_b", "along_a", "along_b"), ends + ways, strict=True)),
        "balance": {"m": MASS},
    }
    sources = {
        "arm": fmu(PLANTS / "PlanarArm.fmi3.fmu"),
        "rod": block(f"{HERE}/capture_parts.py:ArmRod"),
        "rope": fmu(FMUS / "PlanarRope.fmu"),
        "target": fmu(FMUS / "AttachedBody.fmi3.fmu"),
        "mount": block(f"{HERE}/capture_parts.py:RopeMount"),
        "balance": block(f"{HERE}/capture_parts.py:Balance"),
    }
    text = "An arm of three joints meets the rope of a free target by its rod."
    system = System("capture", experiment=RUN, description=text)
    for part, source in sources.items():
        flat = {
            key: value if np.isscalar(value) else tuple(np.ravel(value).tolist())
            for key, value in values.get(part, {}).items()
        }
        system = system.add(part, source, **flat)
    return _connected(system)


def _connected(system: System) -> System:
    for one, other in (
        ("arm.tip_position", "rod.tip"),
        ("arm.position", "rod.joints"),
        ("arm.v", "rod.v"),
        ("arm.w", "rod.w"),
        ("arm.rate", "rod.rate"),
        ("rope.force", "rod.push"),
        ("rope.place[1]", "rod.place"),
        ("rod.force", "arm.tip_force"),
        ("rod.torque", "arm.tip_torque"),
        *((f"target.{key}", f"mount.{key}") for key in ("r", "v", "q", "w")),
        *((f"rope.force_{e}[{i}]", f"mount.force_{e}_{d}") for e in "ab" for i, d in PLANE),
        ("rope.torque_a", "mount.torque_a"),
        ("rope.torque_b", "mount.torque_b"),
        ("mount.force", "target.force"),
        ("mount.torque", "target.torque"),
        ("arm.momentum", "balance.arm_momentum"),
        ("arm.angular_momentum", "balance.arm_angular"),
        ("arm.center_of_mass", "balance.arm_center"),
        ("target.r", "balance.r"),
        ("target.v", "balance.v"),
        ("target.momentum", "balance.body_angular"),
        ("rope.momentum[1]", "balance.rope_momentum_x"),
        ("rope.momentum[2]", "balance.rope_momentum_z"),
        ("rope.angular_momentum", "balance.rope_angular"),
    ):
        system = system.connect(one, other)
    # The rope follows rod and ends within its step: held values would hit it again in each step.
    for one, other in (
        ("rod.position", "rope.position"),
        ("rod.velocity", "rope.velocity"),
        *(
            (f"mount.{key}_{e}_{d}", f"rope.{key}_{e}[{i}]")
            for key in ("end", "rate", "clamp")
            for e in "ab"
            for i, d in PLANE
        ),
    ):
        system = system.connect(one, other, extrapolation="linear")
    return system


if __name__ == "__main__":
    write_ssd(capture(), HERE / "capture.ssd", version="2.0", connectors=False)
    free, held = (arm_mass(arm(scale_for(M)), locked=locked) for locked in (False, True))
    print(  # noqa: T201
        f"scale of the arm {scale_for(M):.6g}; effective masses: arm {free:.6g} kg, with joints"
        f" that stick {held:.6g} kg, target {target_mass():.6g} kg"
    )
