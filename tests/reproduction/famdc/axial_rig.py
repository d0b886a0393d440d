"""The rig on one axis: simulated bodies, a robot, a contact, a sensor, and blocks between."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from orchestrator.master import Execution
from orchestrator.simunits import block, fmu
from orchestrator.system import Fault, FaultKind, System

OFFSET = 0.01  # m; what all runs begin with

# Docking parameters of single-DOF: Table 1, and both columns of Table 3; the contact apart.
TABLES = {
    "1": (
        {"m_c": 2000.0, "m_e": 300.0, "k_manipulator": 1.5e5, "c_manipulator": 200.0},
        {"k": 5e4, "d": 100.0},
    ),
    "3-I": (
        {"m_c": 1000.0, "m_e": 500.0, "k_manipulator": 2e4, "c_manipulator": 600.0},
        {"k": 5e4, "d": 120.0},
    ),
    "3-II": (
        {"m_c": 500.0, "m_e": 200.0, "k_manipulator": 1e5, "c_manipulator": 600.0},
        {"k": 5e4, "d": 120.0},
    ),
}


def rig(
    plants: Path,
    table: str = "1",
    *,
    compensated: bool = True,
    known: tuple[float, float] | None = None,
    command: str | None = None,
    force: str | None = None,
    damper: float | None = None,
    **values: float,
) -> System:
    """Build the rig; units are stepped in the order of this text.

    ``known`` stands for the identifier: stiffness and damping. ``command`` and ``force`` name
    blocks of baselines in the way to the robot and from the sensor, ``damper`` is a virtual damping
    in N s/m. Further values are set, with ``__`` for the dot.
    """
    bodies, contact = TABLES[table]
    system = (
        System("axial")
        .add("dynamics", fmu(plants / "AxialDocking.fmu"), **bodies)
        .add("robot", fmu(plants / "PositionAxis.fmu"), x0=OFFSET)
        .add("contact", fmu(plants / "Compliance.fmu"), latched=True, position_b=0.0, **contact)
        .add("sensor", fmu(plants / "ForceSensor.fmu"), force0=contact["k"] * OFFSET)
        .connect("robot.position", "contact.position_a")
        .connect("robot.velocity", "contact.velocity_a")
        .set("contact.velocity_b", 0.0)
        # The sensor is hardware: its input does not wait for samples.
        .connect("contact.force_b", "sensor.force", extrapolation="linear")
    )
    if command is None:
        system = system.connect("dynamics.position", "robot.position_command")
    else:
        system = (
            system.add("ahead", block(command))
            .connect("dynamics.position", "ahead.position")
            .connect("dynamics.velocity", "ahead.velocity")
            .connect("ahead.command", "robot.position_command")
        )
    if compensated:
        system = _compensated(system, known)
    elif force is not None:
        system = (
            system.add("filter", block(force))
            .connect("sensor.measured", "filter.measured")
            .connect("dynamics.position", "filter.position")
            .connect("dynamics.velocity", "filter.velocity")
            .connect("filter.force", "dynamics.force")
        )
    else:
        system = system.connect("sensor.measured", "dynamics.force")
    if damper is None:
        system = system.set("dynamics.virtual_force", 0.0)
    else:
        system = (
            system.add("damper", block("virtual_damper"), b=damper)
            .connect("dynamics.velocity", "damper.velocity")
            .connect("damper.force", "dynamics.virtual_force")
        )
    for name, value in values.items():
        system = system.set(name.replace("__", "."), value)
    return system


def _compensated(system: System, known: tuple[float, float] | None) -> System:
    system = system.add("lead", block("phase_lead")).connect("sensor.measured", "lead.measured")
    if known is None:
        system = system.add("identifier", block("identifier"))
    system = system.add("compensation", block("force_compensation"))
    lines = {
        "lead.force": "compensation.measured",
        "dynamics.position": "compensation.desired",
        "dynamics.velocity": "compensation.desired_velocity",
        "robot.position": "compensation.actual",
        "robot.velocity": "compensation.actual_velocity",
        "compensation.force": "dynamics.force",
    }
    if known is None:
        for source, target in {
            "lead.force": "force",
            "robot.position": "position",
            "robot.velocity": "velocity",
        }.items():
            system = system.connect(source, f"identifier.{target}")
        for name in ("stiffness", "damping", "wrong_sign"):
            lines[f"identifier.{name}"] = f"compensation.{name}"
    else:
        system = system.set("compensation.stiffness", known[0])
        system = system.set("compensation.damping", known[1])
        system = system.set("compensation.wrong_sign", value=False)
    for source, target in lines.items():
        system = system.connect(source, target)
    return system


def noise(sigma: float = 1.0, seed: int = 1) -> Fault:
    """White noise of the sensor, N."""
    return Fault(FaultKind.NOISE, "sensor.measured", 0, amount=sigma, seed=seed)


def run(
    system: System, *faults: Fault, stop: str = "5 s", algorithm: str = "gauss-seidel"
) -> dict[str, np.ndarray]:
    """Columns of a run in steps of 1 ms; held inputs stay held (``plain``)."""
    options = {"algorithm": algorithm, "delay": "plain", "early_return": False, "faults": faults}
    with Execution(system, step="1 ms", **options) as ran:
        ran.advance(stop)
        rows = ran.recording()
    columns = {name: rows.values[:, i] for i, name in enumerate(rows.names)}
    return columns | {"time": rows.time_ns / 1e9}


def ideal(plants: Path, table: str = "1", stop: str = "5 s") -> np.ndarray:
    """Position of the spacecraft from the end-effector as in space, m, every 1 ms."""
    bodies, contact = TABLES[table]
    values = bodies | {"k": contact["k"], "c": contact["d"]}
    system = System("space").add("space", fmu(plants / "AxialDockingIdeal.fmu"), **values)
    return run(system, stop=stop)["space.position"]
