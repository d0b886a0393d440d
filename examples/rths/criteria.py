"""Criteria J1 to J9 of the benchmark with its actuator, by compensator.

python examples/rths/criteria.py [WAY ..] [--record kobe.csv] [--seeds 50]

Partition 1 under a record at 40 %, all of it, in steps of 1/4096 s. J1 is the delay between
requested and measured displacement in ms, by the largest correlation; the others are errors in
percent. With seeds the sensors have noise, and each seed has another control plant: medians, and in
a second row the 90 % quantiles.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from independent import C_E, K_E, Floats
from parts import FORCE_NOISE, record
from systems import PARTS, actuated, perturbed, shaken

from orchestrator import Result, System, block, simulate

CASE, STEP_NS = 1, 244_140
RECORDS = ("el_centro.csv", "kobe.csv", "morgan_hill.csv")
#: Lag of the actuator at low frequencies, s: the slope of the phase of its transfer function.
LAG = 0.02507
_MOST_STEPS = 200
_SEEN = ("position", "second", "third")


def nothing(file: str = RECORDS[0], seed: int = 0) -> System:
    """Send the actuator the motion of the floor."""
    system = shaken(actuated(CASE), CASE, file=file)
    if seed:
        system = perturbed(system, seed)
    return (
        system.add("sensors", block(f"{PARTS}:Sensors"), seed=seed)
        .disconnect("specimen.force", "frame.force")
        .connect("actuator.position", "sensors.position")
        .connect("specimen.force", "sensors.force")
        .connect("sensors.shown_force", "frame.force")
    )


def _between(system: System, *inputs: str) -> System:
    """Put a component between the frame and the actuator."""
    system = system.disconnect("frame.position", "actuator.command")
    system = system.connect("ahead.command", "actuator.command")
    for each in inputs:
        system = system.connect(f"frame.{each}", f"ahead.{each}")
    return system


def phase_lead(system: System) -> System:
    """Control it as the benchmark's sample does: a phase lead, and PI on the measured error."""
    system = _between(system.add("ahead", block(f"{PARTS}:SampleController")), "position")
    return system.connect("sensors.shown_position", "ahead.measured")


def inverse(system: System) -> System:
    """Send it ahead by its lag, as over the last step."""
    return _between(system.add("ahead", block("inverse_delay"), delay=LAG), "position")


def first_order(system: System) -> System:
    """Send it ahead by its lag times the velocity."""
    system = system.add("ahead", block("first_order_delay"), delay=LAG)
    return _between(system, "position", "velocity")


def adaptive(system: System) -> System:
    """Learn the actuator's inverse while it moves."""
    system = system.add("ahead", block("adaptive_time_series"), delay=LAG)
    system = _between(system, "position", "velocity", "acceleration")
    return system.connect("sensors.shown_position", "ahead.measured")


def smith(system: System) -> System:
    """Replace the late part of the force by a model of the specimen."""
    known = {"delay": LAG, "stiffness": K_E, "damping": C_E}
    return (
        system.disconnect("sensors.shown_force", "frame.force")
        .add("model", block("smith_predictor"), **known)
        .connect("sensors.shown_force", "model.measured")
        .connect("frame.position", "model.position")
        .connect("frame.velocity", "model.velocity")
        .connect("model.force", "frame.force")
    )


def force(system: System) -> System:
    """Identify the specimen, and add the force that is missing because of the lag."""
    learn = {"noise": FORCE_NOISE, "stiffness0": 0.8 * K_E, "stiffness_spread": 0.4 * K_E}
    system = (
        system.disconnect("sensors.shown_force", "frame.force")
        .add("learned", block("identifier"), integrated=True, **learn)
        .add("added", block("force_compensation"))
        .connect("actuator.velocity", "learned.velocity")
        .connect("sensors.shown_position", "learned.position")
        .connect("sensors.shown_force", "learned.force")
        .connect("sensors.shown_force", "added.measured")
        .connect("frame.position", "added.desired")
        .connect("frame.velocity", "added.desired_velocity")
        .connect("sensors.shown_position", "added.actual")
        .connect("actuator.velocity", "added.actual_velocity")
        .connect("added.force", "frame.force")
    )
    for name in ("stiffness", "damping", "wrong_sign"):
        system = system.connect(f"learned.{name}", f"added.{name}")
    return system


WAYS: dict[str, Callable[[System], System]] = {
    "nothing": lambda system: system,
    "phase lead and PI": phase_lead,
    "first order": first_order,
    "inverse": inverse,
    "Smith predictor": smith,
    "force compensation": force,
    "adaptive time series": adaptive,
    "adaptive and force": lambda system: force(adaptive(system)),
}


def criteria(result: Result) -> list[float]:
    """Return J1 in ms and J2 to J9 in percent (Silva et al. 2020, as their published scripts)."""

    def of(name: str) -> Floats:
        return result.values[:, result.names.index(name)]

    measured, wanted = of("sensors.shown_position"), of("frame.position")

    def rms(found: Floats, right: Floats) -> float:
        return float(100.0 * np.std(found - right) / np.std(right))

    def peak(found: Floats, right: Floats) -> float:
        return float(100.0 * np.abs(found - right).max() / np.abs(right).max())

    alike = [
        np.corrcoef(measured[late:], wanted[: wanted.size - late])[0, 1]
        for late in range(_MOST_STEPS)
    ]
    floors = [(of(f"frame.{name}"), of(f"reference.{name}")) for name in ("second", "third")]
    reference = of("reference.position")
    return [
        int(np.argmax(alike)) * STEP_NS / 1e6,
        rms(measured, wanted),
        peak(measured, wanted),
        rms(measured, reference),
        peak(measured, reference),
        *(rms(*floor) for floor in floors),
        *(peak(*floor) for floor in floors),
    ]


def run(way: str, file: str = RECORDS[0], seed: int = 0) -> Result:
    """Run it until the end of the record, or until it has grown out of all bounds."""
    floors = [f"{part}.{name}" for part in ("frame", "reference") for name in _SEEN]
    stop = round(float(record(file)[0, -1]), 6)
    names = [*floors, "sensors.shown_position"]
    return simulate(
        WAYS[way](nothing(file, seed)), step=f"{STEP_NS} ns", stop=f"{stop} s", record=names
    )


def main() -> None:
    """Print a row for each way, or two with seeds."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ways", nargs="*", metavar="WAY", help=", ".join(WAYS))
    parser.add_argument("--record", default=RECORDS[0], help="below records/")
    parser.add_argument("--seeds", type=int, default=0, help="noise, and perturbed plants")
    asked = parser.parse_args()
    if unknown := [way for way in asked.ways if way not in WAYS]:
        parser.error(f"no way '{unknown[0]}'; there are {', '.join(WAYS)}")
    names = " ".join(f"{f'J{number}':>9}" for number in range(1, 10))
    print(f"{asked.record:22} {names}")  # noqa: T201
    for way in asked.ways or WAYS:
        seeds = range(1, asked.seeds + 1) if asked.seeds else (0,)
        found = np.array([criteria(run(way, asked.record, seed)) for seed in seeds])
        for share in (0.5, 0.9) if asked.seeds else (0.5,):
            row = " ".join(f"{value:9.4g}" for value in np.quantile(found, share, axis=0))
            print(f"{way if share == 0.5 else '':22} {row}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
