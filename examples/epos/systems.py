"""The systems of the EPOS experiment, built in Python; run it to write the .ssd files.

python examples/epos/systems.py
"""

from __future__ import annotations

from pathlib import Path

from orchestrator import DefaultExperiment, System, block, fmu, write_ssd
from python_blocks.contact.hybrid_parameters import hybrid_parameters_closed_form

HERE = Path(__file__).parent
FMUS = HERE.parents[1] / "fmus" / "build"

# Zebenay, Boge, Lampariello, Choukroun, Table 1 (m2 is printed "106" and means 1e6 kg).
M1, M2 = 750.0, 1e6  # kg
K, B = 3000.0, 40.0  # the desired contact, N/m and N.s/m
K_SHEET = 1000.0  # stiffness of the hardware, N/m
V1 = 0.03  # m/s, before the impact
THRUST = 10.0  # N, section 5.2
K_CAPTURE = 2510.0  # N/m, section 5.2

IMPACT = DefaultExperiment(stop_ns=2_000_000_000, step_ns=1_000_000, algorithm="gauss-seidel")
CAPTURE = DefaultExperiment(stop_ns=60_000_000_000, step_ns=1_000_000, algorithm="gauss-seidel")


def _bodies(name: str, description: str) -> System:
    return (
        System(name, experiment=IMPACT, description=description)
        .add("chaser", fmu(FMUS / "Chaser.fmu"), m=M1, v0=V1, virtual_force=0.0, thrust=0.0)
        .add("target", fmu(FMUS / "Target.fmu"), m=M2, v0=0.0, virtual_force=0.0)
    )


def ideal() -> System:
    """Two satellites and the contact that is to be emulated (Figure 3, Eq 1)."""
    return (
        _bodies("ideal", "Two satellites meet in an ideal spring-dashpot contact.")
        .add("contact", block("spring_dashpot"), k=K, d=B)
        # A delay of zero asks an exact master to take its own delay off these lines.
        .connect("chaser.position", "contact.position_a", delay=0.0)
        .connect("chaser.velocity", "contact.velocity_a", delay=0.0)
        .connect("target.position", "contact.position_b", delay=0.0)
        .connect("target.velocity", "contact.velocity_b", delay=0.0)
        .connect("contact.force_a", "chaser.force")
        .connect("contact.force_b", "target.force")
    )


def _impedances() -> dict[str, float]:
    """Virtual impedances that make of the metal sheet the contact."""
    virtual = hybrid_parameters_closed_form(
        mass1=M1, mass2=M2, stiffness=K, damping=B, hardware_stiffness=K_SHEET
    )
    return {"k1": virtual.k1, "b1": virtual.b1, "k2": virtual.k2, "b2": virtual.b2}


def hybrid() -> System:
    """Simulated satellites, a metal sheet and virtual impedances to a moving wall (Figure 4)."""
    system = (
        _bodies("hybrid", "A metal sheet and virtual impedances together act like the contact.")
        .add("sheet", fmu(FMUS / "Compliance.fmu"), k=K_SHEET, d=0.0)
        .add("wall", fmu(FMUS / "Target.fmu"), v0=M1 * V1 / (M1 + M2), force=0.0, virtual_force=0.0)
        .add("hybrid", block("hybrid_contact"), **_impedances())
        .connect("sheet.force_a", "hybrid.measured_force")
        .connect("hybrid.force_1", "chaser.force")
        .connect("hybrid.force_2", "target.force")
    )
    ports = {
        "chaser": ("position_a", "velocity_a", "position_1", "velocity_1"),
        "target": ("position_b", "velocity_b", "position_2", "velocity_2"),
    }
    for body, (at_sheet, speed_at_sheet, at_block, speed_at_block) in ports.items():
        system = (
            system.connect(f"{body}.position", f"sheet.{at_sheet}", delay=0.0)
            .connect(f"{body}.velocity", f"sheet.{speed_at_sheet}", delay=0.0)
            .connect(f"{body}.position", f"hybrid.{at_block}", delay=0.0)
            .connect(f"{body}.velocity", f"hybrid.{speed_at_block}", delay=0.0)
        )
    return system.connect("wall.position", "hybrid.wall_position", delay=0.0).connect(
        "wall.velocity", "hybrid.wall_velocity", delay=0.0
    )


def _pushing(name: str, description: str) -> System:
    """A chaser that thrusts, a sheet that it is latched to, and a damper in software."""
    return (
        System(name, experiment=CAPTURE, description=description)
        .add("chaser", fmu(FMUS / "Chaser.fmu"), m=M1, v0=0.0, thrust=THRUST)
        .add(
            "sheet",
            fmu(FMUS / "Compliance.fmu"),
            k=K_CAPTURE,
            d=0.0,
            latched=True,
            velocity_a=0.0,
            position_b=0.0,
            velocity_b=0.0,
        )
        .add("damper", block("virtual_damper"), b=60.0)
        .connect("sheet.force_a", "chaser.force")
        .connect("damper.force", "chaser.virtual_force")
    )


def capture() -> System:
    """The loop of the stability analysis: one delay, 16 ms, between motion and force (Eq 7)."""
    return (
        _pushing("capture", "Constant thrust against a sheet; the robot is a delay of 16 ms.")
        .connect("chaser.position", "sheet.position_a", delay="16 ms")
        .connect("chaser.velocity", "damper.velocity", delay="16 ms")
    )


def capture_axis() -> System:
    """The same loop with a robot axis of finite bandwidth behind the delay of its controller."""
    return (
        _pushing("capture_axis", "The robot is a delay of 16 ms and a position-controlled axis.")
        .add("axis", fmu(FMUS / "PositionAxis.fmu"), bandwidth=15.0, zeta=0.7)
        .connect("chaser.position", "axis.position_command", delay="16 ms")
        .connect("axis.position", "sheet.position_a")
        .connect("axis.velocity", "damper.velocity")
    )


def _rig_parts(system: System, sheet_k: float, *, latched: bool) -> System:
    """Put the models of robot and sheet into a system, with what lies between them on the rig."""
    return (
        system.add("robot", block(f"{HERE}/rig_parts.py:Robot"))
        .add("sensor", block(f"{HERE}/rig_parts.py:Sheet"), k=sheet_k, latched=latched)
        # 16 ms of the robot, 2 ms of the sensor.
        .connect("robot.x", "sensor.x", delay="18 ms")
    )


def rig_contact() -> System:
    """The hybrid contact on a rig: the robot moves the probe by how far the bodies overlap."""
    system = _rig_parts(
        _bodies("rig_contact", "Robot and sheet of a rig, and virtual impedances."),
        K_SHEET,
        latched=False,
    )
    system = (
        system.add(
            "wall", fmu(FMUS / "Target.fmu"), v0=M1 * V1 / (M1 + M2), force=0.0, virtual_force=0.0
        )
        .add("overlap", block(f"{HERE}/rig_parts.py:Difference"))
        .add("hybrid", block("hybrid_contact"), **_impedances())
        .connect("chaser.position", "overlap.a")
        .connect("target.position", "overlap.b")
        .connect("overlap.y", "robot.dx")
        .connect("sensor.fx", "hybrid.measured_force")
        .connect("hybrid.force_1", "chaser.force")
        .connect("hybrid.force_2", "target.force")
        .connect("wall.position", "hybrid.wall_position")
        .connect("wall.velocity", "hybrid.wall_velocity")
    )
    for body, number in (("chaser", 1), ("target", 2)):
        system = system.connect(f"{body}.position", f"hybrid.position_{number}").connect(
            f"{body}.velocity", f"hybrid.velocity_{number}"
        )
    return system


def rig_capture() -> System:
    """The loop of the stability analysis on a rig; the damper is in software, as late as it was."""
    system = (
        System("rig_capture", experiment=CAPTURE, description="Constant thrust against a sheet.")
        .add("chaser", fmu(FMUS / "Chaser.fmu"), m=M1, v0=0.0, thrust=THRUST)
        .add("damper", block("virtual_damper"), b=100.0)
    )
    return (
        _rig_parts(system, K_CAPTURE, latched=True)
        .connect("chaser.position", "robot.dx")
        .connect("sensor.fx", "chaser.force")
        .connect("chaser.velocity", "damper.velocity", delay="16 ms")
        .connect("damper.force", "chaser.virtual_force")
    )


SYSTEMS = {
    "rig_contact.ssd": rig_contact,
    "rig_capture.ssd": rig_capture,
    "SystemStructure.ssd": hybrid,
    "ideal.ssd": ideal,
    "capture.ssd": capture,
    "capture_axis.ssd": capture_axis,
}

if __name__ == "__main__":
    for file, make in SYSTEMS.items():
        write_ssd(make(), HERE / file, connectors=False)
