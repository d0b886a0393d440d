"""The systems of the ejection experiment; run it to write the .ssd files.

python examples/ejection/systems.py
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchestrator import DefaultExperiment, System, block, fmu, write_ssd

HERE = Path(__file__).parent
FMUS = HERE / "plants" / "build"
LIBRARY = HERE.parents[1] / "fmus" / "build"
RUN = DefaultExperiment(stop_ns=4_000_000_000, step_ns=10_000_000, algorithm="jacobi")
RIG = DefaultExperiment(
    stop_ns=4_000_000_000, step_ns=1_000_000, algorithm="gauss-seidel", early_return=False
)

RATIO = 75.0  # turns of the bench's shaft for one of joint 4
COUPLING = {"stiffness": 2000.0, "damping": 40.0}  # N.m/rad, N.m.s/rad, at the joint
CIRCUIT = 4.0  # Ohm: the drive motor's 2.05 and a braking resistor of 1.95


def plane() -> System:
    """Build the arm of three joints on a table that carries it on air; attitude 5."""
    text = "Ejection of the arm with joints 2, 4 and 6 on a table that carries it on air."
    return _ejection("plane", "PlanarArm", text)


def space() -> System:
    """Build the arm of seven joints in space; attitude 5."""
    return _ejection("space", "SpatialArm", "Ejection of the arm with seven joints in space.")


def _ejection(
    name: str,
    plant: str,
    text: str,
    *,
    free: Sequence[str] = (),
    experiment: DefaultExperiment = RUN,
) -> System:
    arm = fmu(FMUS / f"{plant}.fmu")
    system = System(name, experiment=experiment, description=text).add("arm", arm)
    inputs = [
        connector.name
        for connector in system.components["arm"].connectors.values()
        if connector.causality.value == "input"
    ]
    for connector in inputs:  # no drives, nothing touches base or end
        if connector not in free:
            system = system.set(f"arm.{connector}", 0.0)
    return system


def bench() -> System:
    """Build the arm on the table with joint 4 on a motor bench: its friction is that of the shaft.

    The joint's motor has no power, and a resistor closes its circuit: it brakes.
    """
    text = "Ejection of the arm with joints 2, 4 and 6; joint 4 is a motor bench."
    lines = {
        "arm.phi[2]": "coupling.phi",
        "arm.rate[2]": "coupling.rate",
        "joint4.angle": "coupling.angle",
        "joint4.shaft_rate": "coupling.shaft_rate",
        "coupling.torque": "arm.torque[2]",
        "coupling.load": "joint4.load",
    }
    without_friction = {"static[2]": 0.0, "coulomb[2]": 0.0, "viscous[2]": 0.0}
    system = _ejection("bench", "PlanarArm", text, free=("torque[2]",), experiment=RIG)
    for name, value in without_friction.items():
        system = system.set(f"arm.{name}", value)
    system = system.add("coupling", block("virtual_coupling"), ratio=RATIO, **COUPLING).add(
        "joint4", fmu(LIBRARY / "MotorBench.fmu"), voltage=0.0, R=CIRCUIT
    )
    for source, target in lines.items():
        system = system.connect(source, target)
    return system


def systems() -> dict[str, System]:
    """Give all systems by the name of their file."""
    return {"plane.ssd": plane(), "space.ssd": space(), "bench.ssd": bench()}


if __name__ == "__main__":
    for file, system in systems().items():
        write_ssd(system, HERE / file, connectors=False)
