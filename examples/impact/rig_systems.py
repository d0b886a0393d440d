"""The systems with a real rope: robot, force sensor, and the simulated part.

python examples/impact/rig_systems.py
"""

from __future__ import annotations

from pathlib import Path

from capture_systems import arm, arm_mass, scale_for, target_mass
from rope_systems import M, V

from orchestrator import DefaultExperiment, System, block, fmu, write_ssd
from python_blocks.contact.hybrid_parameters import hybrid_parameters_closed_form

HERE = Path(__file__).parent
FMUS = HERE.parents[1] / "fmus" / "build"
PARTS = HERE.parent / "epos" / "rig_parts.py"

#: The required contact: Eq 46 without its square, and an assumed damping.
K, B = 2089.0, 10.0  # N/m, N.s/m
#: The piece of rope on the rig, assumed: so soft that the loop bears the robot's delay.
K_ROPE = 300.0  # N/m
RUN = DefaultExperiment(stop_ns=300_000_000, step_ns=1_000_000, algorithm="gauss-seidel")


def _on_rig(system: System, stiffness: float, *, latched: bool) -> System:
    """Add robot and sensor with what lies between them: 4 ms of the robot, 2 ms of the sensor."""
    return (
        system.add("robot", block(f"{PARTS}:Robot"))
        .add("sensor", block(f"{PARTS}:Sheet"), k=stiffness, latched=latched)
        .connect("robot.x", "sensor.x", delay="6 ms")
    )


def impact() -> System:
    """The rod of the arm and the target of Table 4, each as its effective mass, and the rope."""
    rod, target = arm_mass(arm(scale_for(M))), target_mass()
    virtual = hybrid_parameters_closed_form(
        mass1=rod, mass2=target, stiffness=K, damping=B, hardware_stiffness=K_ROPE
    )
    values = {name: getattr(virtual, name) for name in ("k1", "b1", "k2", "b2")}
    text = "A rope on a rig and virtual impedances act like the rope of the target."
    body = fmu(FMUS / "Target.fmu")
    system = System("rig_rope", experiment=RUN, description=text)
    for name, mass, speed in (("rod", rod, V), ("target", target, 0.0)):
        system = system.add(name, body, m=mass, v0=speed, virtual_force=0.0)
    drift = rod * V / (rod + target)
    system = (
        _on_rig(system, K_ROPE, latched=False)
        .add("wall", body, v0=drift, force=0.0, virtual_force=0.0)
        .add("overlap", block(f"{PARTS}:Difference"))
        .add("hybrid", block("hybrid_contact"), **values)
        .connect("rod.position", "overlap.a")
        .connect("target.position", "overlap.b")
        .connect("overlap.y", "robot.dx")
        .connect("sensor.fx", "hybrid.measured_force")
        .connect("hybrid.force_1", "rod.force")
        .connect("hybrid.force_2", "target.force")
        .connect("wall.position", "hybrid.wall_position", delay=0.0)
        .connect("wall.velocity", "hybrid.wall_velocity", delay=0.0)
    )
    for name, number in (("rod", 1), ("target", 2)):
        for what in ("position", "velocity"):
            line = (f"{name}.{what}", f"hybrid.{what}_{number}")
            system = system.connect(*line, delay=0.0)
    return system


def latched() -> System:
    """The loop whose stability decides: the reduced mass on a rope that it does not leave."""
    system = System("rig_latched", experiment=RUN, description="The loop of rod, robot and rope.")
    return (
        _on_rig(system, K_ROPE, latched=True)
        .add("rod", fmu(FMUS / "Target.fmu"), m=M, v0=V)
        .add("damper", block("virtual_damper"), b=B)
        .connect("rod.position", "robot.dx")
        .connect("sensor.fx", "rod.force")
        .connect("rod.velocity", "damper.velocity", delay=0.0)
        .connect("damper.force", "rod.virtual_force")
    )


if __name__ == "__main__":
    write_ssd(impact(), HERE / "rig_rope.ssd", connectors=False)
    write_ssd(latched(), HERE / "rig_latched.ssd", connectors=False)
