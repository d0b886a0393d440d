"""The two couplings of the benchmark, built in Python."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from orchestrator import DefaultExperiment, System, fmu, write_ssd

HERE = Path(__file__).parent
BUILT = HERE / "plants" / "build"
RUN = DefaultExperiment(stop_ns=10_000_000_000, step_ns=1_000_000, algorithm="jacobi")


def by_force(manoeuvre: int = 1) -> System:
    """Return the cylinder that gives a force: it passes the rate on at once."""
    return (
        System("by force")
        .add("arm", fmu(BUILT / "Arm.fmu"))
        .add("cylinder", fmu(BUILT / "Cylinder.fmu"), manoeuvre=manoeuvre)
        .connect("arm.s", "cylinder.s")
        .connect("arm.rate", "cylinder.rate")
        .connect("cylinder.force", "arm.force")
    )


def by_pressure(manoeuvre: int = 1) -> System:
    """Return the cylinder that gives its pressures: the piston belongs to the arm."""
    return (
        System("by pressure")
        .add("arm", fmu(BUILT / "PressedArm.fmu"))
        .add("cylinder", fmu(BUILT / "Cylinder.fmu"), manoeuvre=manoeuvre)
        .connect("arm.s", "cylinder.s")
        .connect("arm.rate", "cylinder.rate")
        .connect("cylinder.p1", "arm.p1")
        .connect("cylinder.p2", "arm.p2")
    )


COUPLINGS = {"force": by_force, "pressure": by_pressure}
SYSTEMS = {"SystemStructure.ssd": by_force, "by_pressure.ssd": by_pressure}

if __name__ == "__main__":
    for file, make in SYSTEMS.items():
        write_ssd(replace(make(), experiment=RUN), HERE / file, connectors=False)
