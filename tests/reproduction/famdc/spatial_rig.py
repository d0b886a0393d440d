"""The rig in six degrees of freedom: simulated bodies, Stewart platform, ropes, sensor, blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from orchestrator.simunits import block, fmu
from orchestrator.system import Fault, FaultKind, Source, System
from python_blocks.kinematics.stewart import StewartGeometry, leg_lengths

OFFSET = 0.01  # m, in each direction
K, C = np.array([4e4, 3.6e4, 3.2e4]), np.array([400.0, 240.0, 320.0])
HARDWARE = {
    "dynamics.s": "point.s",
    "dynamics.q": "point.q inverse.q",
    "dynamics.v": "point.v",
    "dynamics.w": "point.w inverse.w",
    "point.position": "inverse.position",
    "point.velocity": "inverse.velocity",
    "inverse.length": "legs.length_command",
    "legs.length": "forward.length",
    "legs.velocity": "forward.rate",
    "forward.position": "captured.position",
    "forward.q": "captured.q",
    "forward.velocity": "captured.velocity",
    "forward.w": "captured.w",
    "captured.offset": "contact.position",
    "captured.rate": "contact.velocity",
}
PLAIN = {
    "sensor.measured_force": "dynamics.force",
    "sensor.measured_torque": "dynamics.torque",
}
COMPENSATED = {
    "sensor.measured_force": "lead.measured_force",
    "sensor.measured_torque": "lead.measured_torque",
    "lead.force": "identifier.force compensation.measured_force",
    "lead.torque": "compensation.measured_torque",
    "captured.offset": "contact.position identifier.position",
    "captured.rate": "contact.velocity identifier.velocity",
    "identifier.stiffness": "compensation.stiffness",
    "identifier.damping": "compensation.damping",
    "identifier.wrong_sign": "compensation.wrong_sign",
    "dynamics.s": "point.s compensation.s",
    "dynamics.q": "point.q inverse.q compensation.q",
    "dynamics.v": "point.v compensation.v",
    "dynamics.w": "point.w inverse.w compensation.w",
    "forward.position": "captured.position compensation.position",
    "forward.q": "captured.q compensation.actual_q",
    "forward.velocity": "captured.velocity compensation.velocity",
    "forward.w": "captured.w compensation.actual_w",
    "compensation.force": "dynamics.force",
    "compensation.torque": "dynamics.torque",
}
START = (OFFSET, OFFSET, 2.5 + OFFSET)


def rig(plants: Path, *, compensated: bool = True, swing: bool = False) -> System:
    """Build the rig of Table 2; with ``swing`` the contact varies by as much as it is."""
    length = leg_lengths(StewartGeometry(), [OFFSET, OFFSET, 1.8 + OFFSET], [1.0, 0.0, 0.0, 0.0])
    force = K * OFFSET
    torque = np.cross([OFFSET, OFFSET, 1.0 + OFFSET], force)
    contact = {"k_swing": tuple(K), "c_swing": tuple(C)} if swing else {}
    settled = {"force0": tuple(force), "torque0": tuple(torque)}

    def plant(name: str) -> Source:
        return fmu(plants / f"{name}.fmi3.fmu")

    system = (
        System("spatial")
        .add("dynamics", plant("ManipulatorDocking"), s0=START)
        .add("point", block("control_point"))
        .add("inverse", block("stewart_inverse"), stop=True)
        .add("legs", plant("ReducedLegs"), length0=tuple(length))
        .add("forward", block("stewart_forward"), stop=True)
        .add("captured", block("capture_point"), drag=(0.0,) * 3, drag_rate=(0.0,) * 3)
        .add("contact", plant("CaptureContact"), rest=(0.0, 0.0, 1.0), **contact)
        .add("sensor", plant("WrenchSensor"), **settled)
    )
    lines = HARDWARE | (COMPENSATED if compensated else PLAIN)
    system = system.connect("contact.force", "sensor.force", extrapolation="linear")
    system = system.connect("contact.torque", "sensor.torque", extrapolation="linear")
    if compensated:
        system = (
            system.add("lead", block("wrench_phase_lead"))
            .add("identifier", block("triple_identifier"))
            .add("compensation", block("force_moment_compensation"))
        )
    for source, targets in lines.items():
        for target in targets.split():
            system = system.connect(source, target)
    return system


def ideal(plants: Path, *, swing: bool = False) -> System:
    """The same motion as in space, with the contact inside."""
    values = {"contact.k_swing": tuple(K), "contact.c_swing": tuple(C)} if swing else {}
    system = System("space").add("dynamics", fmu(plants / "ManipulatorDockingIdeal.fmi3.fmu"))
    for name, value in values.items():
        system = system.set(f"dynamics.{name}", value)
    return system


def noise(sigma: float = 1.0, seed: int = 1) -> Fault:
    """White noise of the three forces, N."""
    return Fault(FaultKind.NOISE, "sensor.measured_force", 0, amount=sigma, seed=seed)
