"""The rigs of one axis with devices in them; run it to write their .ssd files.

python examples/famdc/rig_systems.py
"""

from __future__ import annotations

from pathlib import Path

from systems import BODIES, C_AXIAL, FMUS, K_AXIAL, MANIPULATOR, OFFSET

from orchestrator import DefaultExperiment, System, block, fmu, write_ssd

HERE = Path(__file__).parent
RUN = DefaultExperiment(stop_ns=5_000_000_000, step_ns=4_000_000, algorithm="gauss-seidel")


def _rig(name: str, description: str) -> System:
    """Put bodies, robot and sheet together; devices begin at 0, where the bodies are at 10 mm."""
    return (
        System(name, experiment=RUN, description=description)
        .add("dynamics", fmu(FMUS / "AxialDocking.fmu"), **BODIES, **MANIPULATOR)
        .add("robot", block(f"{HERE}/rig_parts.py:Robot"))
        .add("sensor", block(f"{HERE}/rig_parts.py:Sheet"), k=K_AXIAL, d=C_AXIAL, preload=OFFSET)
        .set("dynamics.virtual_force", 0.0)
        # The hardware makes this connection; the sensor's newest sample is up to 1 ms old.
        .connect("robot.x", "sensor.x", delay="1 ms")
        .connect("robot.v", "sensor.v", delay="1 ms")
    )


def uncompensated() -> System:
    """The rig that diverges, with the guard of the command."""
    return (
        _rig("rig_uncompensated", "Docking on one axis with devices, without compensation.")
        .add(
            "guard", block("axis_guard"), healthy=True, reset=False, stop=0, travel=0.03, speed=0.2
        )
        .connect("dynamics.position", "guard.position")
        .connect("dynamics.velocity", "guard.velocity")
        .connect("guard.command", "robot.dx", offset=-OFFSET)
        .connect("sensor.fx", "dynamics.force", factor=-1.0)
    )


def compensated() -> System:
    """The same with the identified compensation; the rig measures no velocity."""
    return (
        _rig("rig_compensated", "Docking on one axis with devices, compensated.")
        .add("rate", block("differentiator"))
        .add("identifier", block("identifier"))
        .add("compensation", block("force_compensation"))
        .connect("dynamics.position", "robot.dx", offset=-OFFSET)
        .connect("dynamics.position", "compensation.desired")
        .connect("dynamics.velocity", "compensation.desired_velocity")
        .connect("robot.x", "rate.position", offset=OFFSET)
        .connect("robot.x", "identifier.position", offset=OFFSET)
        .connect("robot.x", "compensation.actual", offset=OFFSET)
        .connect("rate.velocity", "identifier.velocity")
        .connect("rate.velocity", "compensation.actual_velocity")
        .connect("sensor.fx", "identifier.force", factor=-1.0)
        .connect("sensor.fx", "compensation.measured", factor=-1.0)
        .connect("identifier.stiffness", "compensation.stiffness")
        .connect("identifier.damping", "compensation.damping")
        .connect("identifier.wrong_sign", "compensation.wrong_sign")
        .connect("compensation.force", "dynamics.force")
    )


if __name__ == "__main__":
    for make in (uncompensated, compensated):
        system = make()
        write_ssd(system, HERE / f"{system.name}.ssd", connectors=False)
