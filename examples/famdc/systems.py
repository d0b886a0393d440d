"""The systems of the manipulator docking experiment; run it to write the .ssd files.

python examples/famdc/systems.py
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from orchestrator import Component, DefaultExperiment, System, block, fmu, write_ssd
from python_blocks.kinematics.stewart import StewartGeometry, leg_lengths

HERE = Path(__file__).parent
FMUS = HERE.parents[1] / "fmus" / "build"
RUN = DefaultExperiment(
    stop_ns=5_000_000_000, step_ns=1_000_000, algorithm="gauss-seidel", early_return=False
)

OFFSET = 0.01  # m in each direction: what every run begins with

# Yu, Han, Yang, Xu, Qu, Table 1; Tables 3-I and 3-II are the .ssv files in this folder.
BODIES = {"m_s": 50000.0, "m_c": 2000.0, "m_e": 300.0}  # kg
MANIPULATOR = {"k_manipulator": 1.5e5, "c_manipulator": 200.0}  # N/m, N.s/m
K_AXIAL, C_AXIAL = 5e4, 100.0  # the contact, N/m and N.s/m
STORED = 0.5 * K_AXIAL * OFFSET**2  # in the contact when a run begins, J

# Table 2; its bodies are the defaults of the plants. Table 4 is an .ssv file.
K = (4e4, 3.6e4, 3.2e4)  # N/m
C = (400.0, 240.0, 320.0)  # N.s/m
START = (OFFSET, OFFSET, 2.5 + OFFSET)  # spacecraft from end-effector, m

#: Delay for compensations that must know it: 14.9 ms of the robot, 2 ms of the sensor.
KNOWN_DELAY = 16.9e-3


class Way(NamedTuple):
    """The blocks between the sensor and the simulated bodies, and before the robot."""

    blocks: Mapping[str, Component]
    lines: Mapping[str, str]


COMMAND = {"dynamics.position": "robot.position_command"}
CORRECTED = COMMAND | {
    "sensor.measured": "lead.measured",
    "lead.force": "compensation.measured",
    "dynamics.position": "robot.position_command compensation.desired",
    "dynamics.velocity": "compensation.desired_velocity",
    "robot.position": "compensation.actual",
    "robot.velocity": "compensation.actual_velocity",
    "compensation.force": "dynamics.force",
}
IDENTIFIED = CORRECTED | {
    "lead.force": "identifier.force compensation.measured",
    "robot.position": "identifier.position compensation.actual",
    "robot.velocity": "identifier.velocity compensation.actual_velocity",
    "identifier.stiffness": "compensation.stiffness",
    "identifier.damping": "compensation.damping",
    "identifier.wrong_sign": "compensation.wrong_sign",
}

DIFFERENCED = {
    name: targets for name, targets in IDENTIFIED.items() if name != "robot.velocity"
} | {
    "robot.position": "rate.position identifier.position compensation.actual",
    "rate.velocity": "identifier.velocity compensation.actual_velocity",
}


def ways() -> dict[str, Way]:
    """Give all rigs on one axis, by name."""
    lead, compensation = block("phase_lead"), block("force_compensation")
    known = compensation.with_values(
        {"stiffness": K_AXIAL, "damping": C_AXIAL, "wrong_sign": False}
    )
    return {
        "uncompensated": Way({}, COMMAND | {"sensor.measured": "dynamics.force"}),
        "compensated": Way(
            {"lead": lead, "identifier": block("identifier"), "compensation": compensation},
            IDENTIFIED,
        ),
        # A rig that measures no velocity.
        "differenced": Way(
            {
                "rate": block("differentiator"),
                "lead": lead,
                "identifier": block("identifier"),
                "compensation": compensation,
            },
            DIFFERENCED,
        ),
        "known": Way({"lead": lead, "compensation": known}, CORRECTED),
        "lead_only": Way(
            {"lead": lead},
            COMMAND | {"sensor.measured": "lead.measured", "lead.force": "dynamics.force"},
        ),
        "first_order_delay": Way(
            {"ahead": block("first_order_delay").with_values({"delay": KNOWN_DELAY})},
            {
                "dynamics.position": "ahead.position",
                "dynamics.velocity": "ahead.velocity",
                "ahead.command": "robot.position_command",
                "sensor.measured": "dynamics.force",
            },
        ),
        "smith_predictor": Way(
            {
                "filter": block("smith_predictor").with_values(
                    {"delay": KNOWN_DELAY, "stiffness": K_AXIAL, "damping": C_AXIAL}
                )
            },
            {
                "dynamics.position": "robot.position_command filter.position",
                "dynamics.velocity": "filter.velocity",
                "sensor.measured": "filter.measured",
                "filter.force": "dynamics.force",
            },
        ),
        # Removes the energy that the rig gives beyond the initial energy of the contact.
        "passive": Way(
            {"passivity": block("passivity_controller").with_values({"store": STORED})},
            {
                "dynamics.position": "robot.position_command passivity.position",
                "dynamics.velocity": "passivity.velocity",
                "sensor.measured": "passivity.force",
                "passivity.applied": "dynamics.force",
            },
        ),
        "virtual_damper": Way(
            {"damper": block("virtual_damper").with_values({"b": 870.0})},
            COMMAND
            | {
                "sensor.measured": "dynamics.force",
                "dynamics.velocity": "damper.velocity",
                "damper.force": "dynamics.virtual_force",
            },
        ),
    }


def axial(way: str = "compensated") -> System:
    """Build a rig on one axis; components are in the order of the signal flow."""
    blocks, lines = ways()[way]
    text = f"Docking on one axis with a robot and a sensor that are late: {way.replace('_', ' ')}."
    system = (
        System(f"axial_{way}", experiment=RUN, description=text)
        .add("dynamics", fmu(FMUS / "AxialDocking.fmu"), **BODIES, **MANIPULATOR)
        .add("robot", fmu(FMUS / "PositionAxis.fmu"), bandwidth=15.0, zeta=0.7, x0=OFFSET)
        .add("contact", fmu(FMUS / "Compliance.fmu"), k=K_AXIAL, d=C_AXIAL, latched=True)
        .add("sensor", fmu(FMUS / "ForceSensor.fmu"), force0=K_AXIAL * OFFSET)
        .set("contact.position_b", 0.0)
        .set("contact.velocity_b", 0.0)
        .connect("robot.position", "contact.position_a")
        .connect("robot.velocity", "contact.velocity_a")
        # The sensor is hardware: its input does not wait for samples.
        .connect("contact.force_b", "sensor.force", extrapolation="linear")
    )
    for name, what in blocks.items():
        system = system.add(name, what)
    if "damper" not in blocks:
        system = system.set("dynamics.virtual_force", 0.0)
    return joined(system, lines)


def axial_ideal() -> System:
    """Build the same masses with the contact inside: the motion in space."""
    text = "Docking on one axis as in space: the contact acts without any rig."
    values = {**BODIES, **MANIPULATOR, "k": K_AXIAL, "c": C_AXIAL}
    return System("axial_ideal", experiment=RUN, description=text).add(
        "space", fmu(FMUS / "AxialDockingIdeal.fmu"), **values
    )


ROBOT = {
    "point.position": "inverse.position",
    "point.velocity": "inverse.velocity",
    "inverse.length": "legs.length_command",
    "legs.length": "forward.length",
    "legs.velocity": "forward.rate",
    "drag.drag": "captured.drag contact.drag",
    "drag.drag_rate": "captured.drag_rate",
}
PLAIN = ROBOT | {
    "dynamics.s": "point.s",
    "dynamics.q": "point.q inverse.q",
    "dynamics.v": "point.v",
    "dynamics.w": "point.w inverse.w",
    "forward.position": "captured.position",
    "forward.q": "captured.q",
    "forward.velocity": "captured.velocity",
    "forward.w": "captured.w",
    "captured.offset": "contact.position",
    "captured.rate": "contact.velocity",
    "sensor.measured_force": "dynamics.force",
    "sensor.measured_torque": "dynamics.torque",
}
COMPENSATED = ROBOT | {
    "dynamics.s": "point.s compensation.s",
    "dynamics.q": "point.q inverse.q compensation.q",
    "dynamics.v": "point.v compensation.v",
    "dynamics.w": "point.w inverse.w compensation.w",
    "forward.position": "captured.position compensation.position",
    "forward.q": "captured.q compensation.actual_q",
    "forward.velocity": "captured.velocity compensation.velocity",
    "forward.w": "captured.w compensation.actual_w",
    "captured.offset": "contact.position identifier.position",
    "captured.rate": "contact.velocity identifier.velocity",
    "sensor.measured_force": "lead.measured_force",
    "sensor.measured_torque": "lead.measured_torque",
    "lead.force": "identifier.force compensation.measured_force",
    "lead.torque": "compensation.measured_torque",
    "identifier.stiffness": "compensation.stiffness",
    "identifier.damping": "compensation.damping",
    "identifier.wrong_sign": "compensation.wrong_sign",
    "compensation.force": "dynamics.force",
    "compensation.torque": "dynamics.torque",
}


def plant(name: str) -> Component:
    """Give a plant with vectors as connectors (FMI 3.0)."""
    return fmu(FMUS / f"{name}.fmi3.fmu")


DRIVEN = COMPENSATED | {
    "forward.q": "captured.q compensation.actual_q reaction.q",
    "contact.force": "reaction.contact",
    "reaction.force": "legs.force",
    "reaction.torque": "legs.torque",
}


def spatial(*, compensated: bool = True, driven: bool = False) -> System:
    """Build the rig in six degrees of freedom, in the order in which the signal runs.

    ``driven``: the legs are a platform with mass and six servo drives, which feels the contact.
    """
    place = (OFFSET, OFFSET, 1.8 + OFFSET)  # of the control point
    length = leg_lengths(StewartGeometry(), place, [1.0, 0.0, 0.0, 0.0])
    force = tuple(k * OFFSET for k in K)
    torque = tuple(np.cross([OFFSET, OFFSET, 1.0 + OFFSET], force).tolist())
    kind = "compensated" if compensated else "uncompensated"
    text = f"Docking in six degrees of freedom on a Stewart platform: {kind}."
    if driven:
        kind, legs = "drives", plant("StewartRobot").with_values({"p0": place})
        text = "The compensated rig with a platform that has mass, and six servo drives."
    else:
        values = {"bandwidth": 15.0, "zeta": 0.7, "length0": tuple(length)}
        legs = plant("ReducedLegs").with_values(values)
    system = (
        System(f"spatial_{kind}", experiment=RUN, description=text)
        .add("dynamics", plant("ManipulatorDocking"), s0=START)
        .add("point", block("control_point"))
        .add("inverse", block("stewart_inverse"), stop=True)
        .add("legs", legs)
        .add("forward", block("stewart_forward"), stop=True)
        .add("drag", plant("DragScrew"), lead=5e-3)
        .add("captured", block("capture_point"))
        .add("contact", plant("CaptureContact"), k=K, c=C, rest=(0.0, 0.0, 1.0))
        .add("sensor", plant("WrenchSensor"), force0=force, torque0=torque)
        # The sensor is hardware: its inputs do not wait for samples.
        .connect("contact.force", "sensor.force", extrapolation="linear")
        .connect("contact.torque", "sensor.torque", extrapolation="linear")
    )
    if driven:
        system = system.add("reaction", block("contact_reaction"))
    if compensated:
        system = (
            system.add("lead", block("wrench_phase_lead"))
            .add("identifier", block("triple_identifier"))
            .add("compensation", block("force_moment_compensation"), point_contact=True)
        )
    return joined(system, DRIVEN if driven else COMPENSATED if compensated else PLAIN)


def spatial_ideal() -> System:
    """Build the same bodies with the contact inside: the motion in space."""
    text = "Docking in six degrees of freedom as in space: the contact acts without any rig."
    system = (
        System("spatial_ideal", experiment=RUN, description=text)
        .add("dynamics", plant("ManipulatorDockingIdeal"), s0=START)
        .add("point", block("control_point"))  # where a robot without delay would be
    )
    return joined(system, {f"dynamics.{name}": f"point.{name}" for name in "sqvw"})


def joined(system: System, lines: Mapping[str, str]) -> System:
    """Connect each output with its targets, which are separated by blanks."""
    for source, targets in lines.items():
        for target in targets.split():
            system = system.connect(source, target)
    return system


def systems() -> dict[str, System]:
    """Give all systems by the name of their file."""
    return {
        "SystemStructure.ssd": spatial(),
        "spatial_uncompensated.ssd": spatial(compensated=False),
        "spatial_drives.ssd": spatial(driven=True),
        "spatial_ideal.ssd": spatial_ideal(),
        "axial_ideal.ssd": axial_ideal(),
        **{f"axial_{way}.ssd": axial(way) for way in ways()},
    }


if __name__ == "__main__":
    for file, system in systems().items():
        write_ssd(system, HERE / file, version="2.0", connectors=False)
