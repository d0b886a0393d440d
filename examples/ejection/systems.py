"""The systems of the ejection experiment; run it to write the .ssd files.

python examples/ejection/systems.py
"""

from __future__ import annotations

from pathlib import Path

from orchestrator import DefaultExperiment, System, fmu, write_ssd

HERE = Path(__file__).parent
FMUS = HERE / "plants" / "build"
RUN = DefaultExperiment(stop_ns=4_000_000_000, step_ns=10_000_000, algorithm="jacobi")


def plane() -> System:
    """Build the arm of three joints on a table that carries it on air; attitude 5."""
    text = "Ejection of the arm with joints 2, 4 and 6 on a table that carries it on air."
    return _ejection("plane", "PlanarArm", text)


def space() -> System:
    """Build the arm of seven joints in space; attitude 5."""
    return _ejection("space", "SpatialArm", "Ejection of the arm with seven joints in space.")


def _ejection(name: str, plant: str, text: str) -> System:
    arm = fmu(FMUS / f"{plant}.fmu")
    system = System(name, experiment=RUN, description=text).add("arm", arm)
    inputs = [
        connector.name
        for connector in system.components["arm"].connectors.values()
        if connector.causality.value == "input"
    ]
    for connector in inputs:  # no drives, nothing touches base or end
        system = system.set(f"arm.{connector}", 0.0)
    return system


def systems() -> dict[str, System]:
    """Give all systems by the name of their file."""
    return {"plane.ssd": plane(), "space.ssd": space()}


if __name__ == "__main__":
    for file, system in systems().items():
        write_ssd(system, HERE / file, connectors=False)
