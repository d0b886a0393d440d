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


# Seven joints, as the paper's conclusions wish: not of the paper, assumed. Roll, yaw, three times
# pitch, yaw, roll, straight out along x; each link is a thin rod with 0.05 kg.m2 about its length.
SEVEN_AXES = ("x", "z", "y", "y", "y", "z", "x")
SEVEN_LENGTHS = (0.2, 0.2, 0.89, 0.64, 0.2, 0.2, 0.2)  # m
SEVEN_MASSES = (10.0, 10.0, 41.7, 26.4, 10.0, 5.0, 5.0)  # kg


def seven() -> dict[str, tuple[float, ...]]:
    """Give the parameters of an arm with seven joints, without its rotors."""
    unit = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    inertia: list[float] = []
    for length, mass in zip(SEVEN_LENGTHS, SEVEN_MASSES, strict=True):
        across = mass * length**2 / 12
        inertia += [0.05, 0.0, 0.0, 0.0, across, 0.0, 0.0, 0.0, across]
    return {
        "link_axis": sum((unit[axis] for axis in SEVEN_AXES), ()),
        "link_offset": sum(((length, 0.0, 0.0) for length in (0.0, *SEVEN_LENGTHS[:-1])), ()),
        "link_mass": SEVEN_MASSES,
        "link_centre": sum(((length / 2, 0.0, 0.0) for length in SEVEN_LENGTHS), ()),
        "link_inertia": tuple(inertia),
        "tool": (SEVEN_LENGTHS[-1], 0.0, 0.0),
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
    """Arm and servos in one plant, in continuous time: the reference of the others."""
    command = {"rate_command[1]": COMMAND, "rate_command[2]": COMMAND}
    text = "Two-link arm with rigid-gearbox servos, in continuous time."
    return System("continuous", experiment=RUN, description=text).add(
        "arm", fmu(FMUS / "ServoArm.fmu"), **command
    )


def with_servo(system: System, n: int) -> System:
    """Let a servo turn a joint: it sends a torque to the arm and receives a rate."""
    return (
        system.add(f"servo{n}", servo())
        .connect(f"arm.velocity_{n}", f"servo{n}.rate")
        .connect(f"servo{n}.torque", f"arm.effort_{n}")
    )


def simulated() -> System:
    """Arm and servos apart (Figures 2 and 3)."""
    text = "Two-link arm, sampled, and the servos of its joints."
    system = System("simulated", experiment=RUN, description=text)
    system = system.add("arm", arm(2), rotor_1=ROTOR, **ARM)
    return with_servo(with_servo(system, 1), 2)


def bench(n: int, motion: str) -> dict[str, str]:
    """Give the lines of a bench for joint ``n``, with a block that makes its motion."""
    lines = {
        "tachometer.rate": f"servo{n}.noise",
        f"servo{n}.rate": f"controller{n}.rate motion.rate load.rate",
        f"controller{n}.voltage": f"servo{n}.voltage load.voltage",
        "motion.angle": f"arm.given_position_{n}",
        "motion.velocity": f"arm.given_velocity_{n}",
        "motion.acceleration": f"arm.given_acceleration_{n}",
        f"arm.inertia_{n}": "load.inertia",
        f"arm.bias_{n}": "load.bias",
        "load.load": f"servo{n}.load",
    }
    if motion == "shaft_observer":
        lines["load.load"] += " motion.load"
        lines["load.drive_torque"] = "motion.drive_torque"
    if motion == "shaft_accelerometer":
        lines[f"servo{n}.acceleration"] = "motion.measured"
    return lines


def with_bench(system: System, n: int, arm: Component, motion: str = "shaft_motion") -> System:
    """Let a motor with a load motor on its shaft be a joint of an arm (Figure 4)."""
    system = (
        system.add(f"servo{n}", fmu(FMUS / "MotorBench.fmu"))
        .add("tachometer", block(f"{HERE}/rig_parts.py:Quiet"))
        .add(f"controller{n}", block("rate_controller"), command=COMMAND)
        .add("motion", block(motion))
        .add("load", block("load_command"))
        .add("arm", arm)
    )
    for source, targets in bench(n, motion).items():
        for target in targets.split():
            system = system.connect(source, target)
    return system


def substituted(motion: str = "shaft_motion") -> System:
    """Joint 1 is on the bench; the block ``motion`` computes its motion from measurements."""
    text = "Joint 1 is a motor with a load motor on its shaft, joint 2 is simulated."
    system = System("substituted", experiment=RUN, description=text)
    return with_servo(with_bench(system, 1, arm(2, motion_of=1).with_values(ARM), motion), 2)


def seven_joints(on_bench: int | None) -> System:
    """Seven joints, all simulated or one of them on the bench."""
    text = "Arm with seven joints, all with servos, or one on a motor bench."
    joints = range(1, 8)
    rotors = {f"rotor_{n}": 0.0 if n == on_bench else ROTOR for n in joints}
    system = System("seven", experiment=RUN, description=text)
    whole = arm(7, motion_of=on_bench).with_values({**seven(), **rotors})
    system = with_bench(system, on_bench, whole) if on_bench else system.add("arm", whole)
    for n in joints:
        if n != on_bench:
            system = with_servo(system, n)
    return system


def systems() -> dict[str, System]:
    """Give all systems by the name of their file."""
    return {
        "SystemStructure.ssd": substituted(),
        "observed.ssd": substituted("shaft_observer"),
        "accelerometer.ssd": substituted("shaft_accelerometer"),
        "simulated.ssd": simulated(),
        "continuous.ssd": continuous(),
        "seven.ssd": seven_joints(None),
        "seven_base.ssd": seven_joints(1),
        "seven_shoulder.ssd": seven_joints(2),
        "seven_wrist.ssd": seven_joints(6),
    }


if __name__ == "__main__":
    for file, system in systems().items():
        write_ssd(system, HERE / file, version="2.0", connectors=False)
