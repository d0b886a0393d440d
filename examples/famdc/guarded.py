"""The rigs with guards between simulation and robot; run it to write their .ssd files.

python examples/famdc/guarded.py
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from systems import axial, spatial

from orchestrator import Component, System, block, write_ssd

HERE = Path(__file__).parent

# Each guard takes a line of the rig apart: what went along it goes through the guard.
AXIS_COMMAND = {"dynamics.position": "robot.position_command"}
AXIS = {
    "dynamics.position": "command_guard.position force_guard.position",
    "dynamics.velocity": "command_guard.velocity",
    "command_guard.command": "robot.position_command",
    "command_guard.reason": "force_guard.stop",
    "sensor.measured": "force_guard.measured",
    "robot.position": "force_guard.actual",
    "force_guard.applied": "dynamics.force",
    "force_guard.reason": "command_guard.stop",
}
AXIS_IDENTIFIED = {
    "identifier.wrong_sign": "force_guard.wrong_sign",
    "identifier.converged": "force_guard.converged",
    "identifier.sensor_lost": "force_guard.sensor_lost",
}
POSE_COMMAND = {
    "point.position": "inverse.position",
    "point.velocity": "inverse.velocity",
    "dynamics.q": "inverse.q",
    "dynamics.w": "inverse.w",
}
POSE = {
    "point.position": "command_guard.position",
    "point.velocity": "command_guard.velocity",
    "dynamics.q": "command_guard.q",
    "dynamics.w": "command_guard.w wrench_guard.w",
    "dynamics.s": "wrench_guard.s",
    "command_guard.command": "inverse.position",
    "command_guard.rate": "inverse.velocity",
    "command_guard.attitude": "inverse.q",
    "command_guard.turn_rate": "inverse.w",
    "command_guard.reason": "wrench_guard.stop",
    "inverse.healthy": "command_guard.reachable",
    "inverse.margin": "command_guard.margin",
    "inverse.condition": "command_guard.condition",
    "forward.healthy": "command_guard.solved",
    "captured.offset": "wrench_guard.actual",
    "sensor.measured_force": "wrench_guard.measured_force",
    "sensor.measured_torque": "wrench_guard.measured_torque",
    "wrench_guard.applied_force": "dynamics.force",
    "wrench_guard.applied_torque": "dynamics.torque",
    "wrench_guard.reason": "command_guard.stop",
}
POSE_IDENTIFIED = {
    "identifier.wrong_sign": "wrench_guard.wrong_sign",
    "identifier.converged": "wrench_guard.converged",
    "lead.sensor_lost": "wrench_guard.sensor_lost",
}


def guarded_axis(rig: System) -> System:
    """Put the guards of command and force into a rig on one axis, compensated or not."""
    compensated = "compensation" in rig.components
    force = "compensation.force" if compensated else "sensor.measured"
    made = block("axis_guard").with_values({"healthy": True, "reset": False})
    system = _inserted(rig, "robot", "command_guard", made)
    system = system.add("force_guard", block("force_guard"), reset=False)
    if not compensated:
        for name, value in {"converged": True, "wrong_sign": False, "sensor_lost": False}.items():
            system = system.set(f"force_guard.{name}", value)
    lines = AXIS | (AXIS_IDENTIFIED if compensated else {})
    system = _rewired(system, AXIS_COMMAND | {force: "dynamics.force"}, lines)
    return system.connect(force, "force_guard.force")


def guarded_pose(rig: System) -> System:
    """Put the guards of pose and wrench into a rig in six degrees of freedom."""
    compensated = "compensation" in rig.components
    force, torque = (
        ("compensation.force", "compensation.torque")
        if compensated
        else ("sensor.measured_force", "sensor.measured_torque")
    )
    made = block("pose_guard").with_values({"reset": False})
    system = _inserted(rig, "inverse", "command_guard", made)
    # The guards end the motion where the kinematics would end the run.
    system = system.set("inverse.stop", value=False).set("forward.stop", value=False)
    system = system.add("wrench_guard", block("wrench_guard"), energy_limit=8.0, reset=False)
    if not compensated:
        system = system.set("wrench_guard.converged", (1.0, 1.0, 1.0))
        system = system.set("wrench_guard.wrong_sign", (0.0, 0.0, 0.0))
        system = system.set("wrench_guard.sensor_lost", value=False)
    taken = POSE_COMMAND | {force: "dynamics.force", torque: "dynamics.torque"}
    system = _rewired(system, taken, POSE | (POSE_IDENTIFIED if compensated else {}))
    return system.connect(force, "wrench_guard.force").connect(torque, "wrench_guard.torque")


def _inserted(system: System, before: str, name: str, what: Component) -> System:
    """Add a component where it is stepped: before the one that it commands."""
    parts = {}
    for key, component in system.components.items():
        if key == before:
            parts[name] = replace(what, name=name)
        parts[key] = component
    return replace(system, components=parts)


def _rewired(system: System, taken: Mapping[str, str], lines: Mapping[str, str]) -> System:
    for source, target in taken.items():
        system = system.disconnect(source, target)
    for source, targets in lines.items():
        for target in targets.split():
            system = system.connect(source, target)
    return system


def systems() -> dict[str, System]:
    """Give all guarded systems by the name of their file."""
    made = {
        "axial_guarded": guarded_axis(axial()),
        "axial_uncompensated_guarded": guarded_axis(axial("uncompensated")),
        "spatial_guarded": guarded_pose(spatial()),
        "spatial_uncompensated_guarded": guarded_pose(spatial(compensated=False)),
    }
    return {f"{name}.ssd": replace(system, name=name) for name, system in made.items()}


if __name__ == "__main__":
    for file, system in systems().items():
        write_ssd(system, HERE / file, version="2.0", connectors=False)
