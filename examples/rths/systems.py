"""The systems of the benchmark, built in Python.

Silva, Gomez, Maghareh, Dyke, Spencer: Benchmark control problem for real-time hybrid simulation,
Mechanical Systems and Signal Processing 135, 106381 (2020). A frame of three floors shakes in the
computer; one frame of its first floor is in a laboratory, where an actuator moves it with its
delay.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from orchestrator import DefaultExperiment, System, block, fmu, write_ssd

HERE = Path(__file__).parent
BUILT = HERE / "plants" / "build"
PARTS = HERE / "parts.py"

RUN = DefaultExperiment(stop_ns=20_000_000_000, step_ns=2_000_000, algorithm="gauss-seidel")

#: Partitions of the benchmark: mass of a floor in kg, and damping in N s/m.
FLOORS = {1: 1000.0, 2: 1100.0, 3: 1300.0, 4: 1000.0}
DAMPING = {
    1: (14084.2757453, -7873.03146091, 440.45149884, 14943.6229379, -6348.67209631, 7223.1013168),
    2: (
        11817.42262042,
        -6606.21542331,
        369.67556223,
        12538.57756973,
        -5327.04737379,
        6060.31980985,
    ),
    3: (9635.01436336, -5386.0257742, 301.43864014, 10223.00681177, -4343.08470212, 4941.29882487),
    4: (8450.56544718, -4723.81887655, 264.27089931, 8966.17376274, -3809.20325778, 4333.86079008),
}
_ENTRIES = ("c11", "c12", "c13", "c22", "c23", "c33")
#: The whole structure: no part is in a laboratory.
WHOLE = {"m_e": 0.0, "k_e": 0.0, "zeta_e": 0.0}


def frame(case: int) -> dict[str, float]:
    """Return the parameters of a partition."""
    return {"m": FLOORS[case], **dict(zip(_ENTRIES, DAMPING[case], strict=True))}


def hybrid(case: int, delay: str | None, **start: float) -> System:
    """Return frame and specimen, which is moved as the first floor was a delay ago."""
    system = (
        System(f"partition {case}")
        .add("frame", fmu(BUILT / "Frame.fmu"), ground=0.0, **frame(case), **start)
        .add("specimen", fmu(BUILT / "Specimen.fmu"))
        .connect("specimen.force", "frame.force")
    )
    for what in ("position", "velocity", "acceleration"):
        system = system.connect(f"frame.{what}", f"specimen.{what}", delay=delay)
    return system


def shaken(system: System, case: int, **motion: float | str) -> System:
    """Let the ground move below a system and below the whole structure."""
    return (
        system.add("ground", block(f"{PARTS}:Ground"), **motion)
        .add("reference", fmu(BUILT / "Frame.fmu"), force=0.0, **frame(case), **WHOLE)
        .connect("ground.acceleration", "frame.ground")
        .connect("ground.acceleration", "reference.ground")
    )


def actuated(case: int) -> System:
    """Return the same with the actuator of the benchmark in the place of the delay."""
    system = (
        System(f"partition {case} with its actuator")
        .add("frame", fmu(BUILT / "Frame.fmu"), ground=0.0, **frame(case))
        .add("actuator", fmu(BUILT / "TransferSystem.fmu"))
        .add("specimen", fmu(BUILT / "Specimen.fmu"))
        .connect("frame.position", "actuator.command")
        .connect("specimen.force", "frame.force")
    )
    for what in ("position", "velocity", "acceleration"):
        system = system.connect(f"actuator.{what}", f"specimen.{what}")
    return system


#: Standard deviations of the benchmark's perturbed plants, by parameter of the actuator.
SPREAD = {"k_e": 50e3, "a3": 1.3, "beta1": 3.3, "beta2": 3.3e3}
_NOMINAL = {"k_e": 1190e3, "a3": 3.3, "beta1": 425.0, "beta2": 9.9976e4}


def perturbed(system: System, seed: int) -> System:
    """Draw the parameters of the control plant; the part in the laboratory is the same in it."""
    drawn = np.random.default_rng(seed).standard_normal(len(SPREAD))
    for (name, spread), by in zip(SPREAD.items(), drawn, strict=True):
        system = system.set(f"actuator.{name}", _NOMINAL[name] + spread * float(by))
        if name == "k_e":
            for part in ("frame", "specimen"):
                system = system.set(f"{part}.k_e", _NOMINAL[name] + spread * float(by))
    return system


def late() -> System:
    """Return partition 1 under El Centro at 40 %, its laboratory 8 ms late."""
    return _described("late", shaken(hybrid(1, "8 ms"), 1), "The laboratory is 8 ms late.")


def servo() -> System:
    """Return partition 1 under El Centro at 40 %, moved by the actuator of the benchmark."""
    return _described("servo", shaken(actuated(1), 1), "Nothing is done against its lag.")


def rig() -> System:
    """Return partition 1 on a rig: an actuator that shows its position moves a spring.

    Nothing shows an acceleration, so the mass in the laboratory stays in the computer.
    """
    system = (
        System("rig")
        .add("frame", fmu(BUILT / "Frame.fmu"), ground=0.0, m_e=0.0, **frame(1))
        .add("actuator", block(f"{PARTS}:Axis"))
        .add("specimen", fmu(BUILT / "Specimen.fmu"), m_e=0.0, velocity=0.0, acceleration=0.0)
        .connect("frame.position", "actuator.x_set")
        .connect("actuator.x", "specimen.position", delay="8 ms")
        .connect("specimen.force", "frame.force")
    )
    return _described("rig", shaken(system, 1), "The actuator is the rig's; 8 ms is assumed.")


def _described(name: str, system: System, text: str) -> System:
    return replace(system, name=name, description=text, experiment=RUN)


SYSTEMS = {"SystemStructure.ssd": late, "servo.ssd": servo, "rig.ssd": rig}

if __name__ == "__main__":
    for file, make in SYSTEMS.items():
        write_ssd(make(), HERE / file, connectors=False)
