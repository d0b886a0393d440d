"""The systems of the ejection experiment; run it to write the .ssd files.

python examples/ejection/systems.py
"""

from __future__ import annotations

from pathlib import Path

from orchestrator import DefaultExperiment, System, block, fmu, write_ssd

HERE = Path(__file__).parent
FMUS = HERE / "plants" / "build"
RUN = DefaultExperiment(stop_ns=4_000_000_000, step_ns=10_000_000, algorithm="jacobi")
SAMPLED = DefaultExperiment(
    stop_ns=4_000_000_000, step_ns=1_000_000, algorithm="gauss-seidel", early_return=False
)


def plane() -> System:
    """Build the arm of three joints on a table that carries it on air; attitude 5."""
    text = "Ejection of the arm with joints 2, 4 and 6 on a table that carries it on air."
    return _ejection("plane", "PlanarArm", text)


def space() -> System:
    """Build the arm of seven joints in space; attitude 5."""
    return _ejection("space", "SpatialArm", "Ejection of the arm with seven joints in space.")


def bench(plant: str = "SpatialArm", joint: int = 4, fmus: Path = FMUS) -> System:
    """Build an arm whose ``joint`` is a motor on a bench, behind a gear of 100.

    In the simulation the joint has no friction of its own: it has that of the bench.
    """
    text = "Ejection of the arm in space, whose joint 4 is a motor on a bench."
    driven = f"torque[{joint}]"
    system = _ejection("bench", plant, text, driven=driven, run=SAMPLED, fmus=fmus)
    for of in ("static", "coulomb", "viscous"):
        system = system.set(f"arm.{of}[{joint}]", 0.0)
    lines = {
        f"arm.phi[{joint}]": "gear.joint",
        f"arm.rate[{joint}]": "gear.joint_rate",
        "joint4.angle": "gear.shaft",
        "joint4.shaft_rate": "gear.shaft_rate",
        "gear.load": "joint4.load",
        "gear.torque": f"arm.{driven}",
    }
    system = system.add("joint4", fmu(fmus / "BrakedBench.fmu"), voltage=0.0)
    system = system.add("gear", block("elastic_gear"))
    for source, target in lines.items():
        system = system.connect(source, target)
    return system


def friction() -> System:
    """Build the bench alone, with a slow torque on its shaft."""
    text = "The bench of joint 4 alone, with a torque that rises and falls."
    return (
        System("friction", experiment=SAMPLED, description=text)
        .add("joint4", fmu(FMUS / "BrakedBench.fmu"), voltage=0.0)
        .add("slow", block(f"{HERE}/rig_parts.py:SlowTorque"))
        .connect("slow.torque", "joint4.load")
    )


def _ejection(
    name: str,
    plant: str,
    text: str,
    *,
    driven: str = "",
    run: DefaultExperiment = RUN,
    fmus: Path = FMUS,
) -> System:
    arm = fmu(fmus / f"{plant}.fmu")
    system = System(name, experiment=run, description=text).add("arm", arm)
    inputs = [
        connector.name
        for connector in system.components["arm"].connectors.values()
        if connector.causality.value == "input" and connector.name != driven
    ]
    for connector in inputs:  # no drives, nothing touches base or end
        system = system.set(f"arm.{connector}", 0.0)
    return system


def systems() -> dict[str, System]:
    """Give all systems by the name of their file."""
    return {
        "plane.ssd": plane(),
        "space.ssd": space(),
        "bench.ssd": bench(),
        "friction.ssd": friction(),
    }


if __name__ == "__main__":
    for file, system in systems().items():
        write_ssd(system, HERE / file, connectors=False)
