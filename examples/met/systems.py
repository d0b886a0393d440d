"""The systems of the motor substitution test; run it to write the .ssd files.

python examples/met/systems.py
"""

from __future__ import annotations

from pathlib import Path

from orchestrator import Component, DefaultExperiment, System, block, fmu, write_ssd

HERE = Path(__file__).parent
FMUS = HERE.parents[1] / "fmus" / "build"
RUN = DefaultExperiment(
    stop_ns=5_000_000_000, step_ns=10_000_000, algorithm="gauss-seidel", early_return=False
)

COMMAND = 0.03  # rad/s, of both joints
RATIO = 1570.0
SHAFT = 6.38e-5  # kg.m2, Table 1: "Combined Motor Shaft Inertia"
ROTOR = RATIO**2 * SHAFT  # kg.m2, what a joint feels of it

# Figure 1; the centres of mass are assumed at mid-link, and the inertias about them.
LENGTHS = (0.89, 0.64)  # m
ARM = {
    "link_parent": (0.0, 1.0),
    "link_offset": (0.0, 0.0, 0.0, LENGTHS[0], 0.0, 0.0),
    "link_mass": (41.7, 26.4),
    "link_centre": (LENGTHS[0] / 2, 0.0, 0.0, LENGTHS[1] / 2, 0.0, 0.0),
    "link_inertia": (*[0.0] * 8, 2.78, *[0.0] * 8, 0.9),
    "tool": (LENGTHS[1], 0.0, 0.0),
    "rotor_2": ROTOR,
}


def servo() -> Component:
    """Give a servo of Table 1, commanded to turn."""
    return fmu(FMUS / "RigidGearboxServo.fmu").with_values({"rate_command": COMMAND})


def arm(count: int, motion_of: int | None = None) -> Component:
    """Give an arm to whose joint ``motion_of`` the motion is given, to the others the torque.

    Inputs that it then does not use are zero.
    """
    joints = range(1, count + 1)
    torques = [n for n in joints if n != motion_of]
    unused = {f"effort_{n}": 0.0 for n in joints if n == motion_of}
    for n in torques:
        unused |= {f"given_{of}_{n}": 0.0 for of in ("position", "velocity", "acceleration")}
    kinds = {2: "two_joint_arm", 7: "seven_joint_arm"}
    return block(kinds[count]).with_values(
        {
            "torque_joints": " ".join(map(str, torques)),
            "acceleration_joints": "" if motion_of is None else str(motion_of),
            **unused,
        }
    )


def continuous() -> System:
    """Arm and servos in one plant, in continuous time: what the others are compared with."""
    command = {"rate_command[1]": COMMAND, "rate_command[2]": COMMAND}
    text = "Two-link arm with rigid-gearbox servos, in continuous time."
    return System("continuous", experiment=RUN, description=text).add(
        "arm", fmu(FMUS / "ServoArm.fmu"), **command
    )


def simulated() -> System:
    """Arm and servos apart: torques go to the arm, rates come back (Figures 2 and 3)."""
    text = "Two-link arm, sampled, and the servos of its joints."
    system = System("simulated", experiment=RUN, description=text).add(
        "arm", arm(2), rotor_1=ROTOR, **ARM
    )
    for n in (1, 2):
        system = (
            system.add(f"servo{n}", servo())
            .connect(f"arm.velocity_{n}", f"servo{n}.rate")
            .connect(f"servo{n}.torque", f"arm.effort_{n}")
        )
    return system


def substituted(motion: str = "shaft_motion") -> System:
    """Joint 1 is a motor on a bench, whose load motor stands for the arm (Figure 4).

    ``motion`` is the block that makes angle, rate and acceleration of what is measured.
    """
    text = "Joint 1 is a motor with a load motor on its shaft, joint 2 is simulated."
    system = (
        System("substituted", experiment=RUN, description=text)
        .add("servo1", fmu(FMUS / "MotorBench.fmu"))
        .add("tachometer", block(f"{HERE}/rig_parts.py:Quiet"))
        .add("controller1", block("rate_controller"), command=COMMAND)
        .add("motion", block(motion))
        .add("load", block("load_command"))
        .add("arm", arm(2, motion_of=1), **ARM)
        .add("servo2", servo())
    )
    lines = {
        "tachometer.rate": "servo1.noise",
        "servo1.rate": "controller1.rate motion.rate load.rate",
        "controller1.voltage": "servo1.voltage load.voltage",
        "motion.angle": "arm.given_position_1",
        "motion.velocity": "arm.given_velocity_1",
        "motion.acceleration": "arm.given_acceleration_1",
        "arm.inertia_1": "load.inertia",
        "arm.bias_1": "load.bias",
        "load.load": "servo1.load",
        "arm.velocity_2": "servo2.rate",
        "servo2.torque": "arm.effort_2",
    }
    if motion == "shaft_observer":
        lines["load.load"] += " motion.load"
        lines["load.drive_torque"] = "motion.drive_torque"
    if motion == "shaft_accelerometer":
        lines["servo1.acceleration"] = "motion.measured"
    for source, targets in lines.items():
        for target in targets.split():
            system = system.connect(source, target)
    return system


def systems() -> dict[str, System]:
    """Give all systems by the name of their file."""
    return {
        "SystemStructure.ssd": substituted(),
        "observed.ssd": substituted("shaft_observer"),
        "accelerometer.ssd": substituted("shaft_accelerometer"),
        "simulated.ssd": simulated(),
        "continuous.ssd": continuous(),
    }


if __name__ == "__main__":
    for file, system in systems().items():
        write_ssd(system, HERE / file, version="2.0")
