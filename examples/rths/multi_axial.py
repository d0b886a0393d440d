"""The multi-axial benchmark: a joint of a frame is moved and turned by two actuators.

python examples/rths/multi_axial.py [WAY ..] [--record kobe.csv] [--seeds 20] [--alone]
python examples/rths/multi_axial.py --write

Condori Uribe, Salmeron, Patino, Montoya, Dyke, Silva, Maghareh, Najarian, Montoya: Experimental
benchmark control problem for multi-axial real-time hybrid simulation, Frontiers in Built
Environment 9 (2023), 1270996. Criteria J1 to J10 under a record at 40 %, at 1024 Hz; J4 is J1. With
seeds the sensors have noise, and each seed has another control plant: means, as in the benchmark.
--alone adds an integration independent of Softdock; --write writes the file of the system.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from multi_axial_independent import DAMPED, Floats, Run, rayleigh, taken_out
from multi_axial_independent import shaken as alone
from parts import record
from systems import BUILT, HERE, PARTS, RUN

from orchestrator import System, block, fmu, simulate, write_ssd

STEP_NS, RATE = 976_562, 1024.0
#: The controller holds a command for a sample: half a one late on average.
HELD = f"{STEP_NS // 2} ns"
MORE = HERE / "multi_axial_parts.py"
SEEN = ("position", "rotation", "second", "second_rotation", "third", "third_rotation")


def building(*, out: bool) -> dict[str, float]:
    """Return the parameters of the structure, with or without the part in the laboratory."""
    by_mass, by_stiffness = rayleigh(*DAMPED)
    found = {"by_mass": by_mass, "by_stiffness": by_stiffness, "out": float(out)}
    if out:
        k, c, mass = taken_out()
        share = np.linalg.lstsq(
            np.column_stack([[k[1, 2], k[1, 1]], [0.0, 1.0]]), [c[1, 2], c[1, 1]], rcond=None
        )[0]
        found |= {
            "out_mass": mass,
            "out_xx": k[0, 0],
            "out_xt": k[0, 1],
            "out_tt": k[1, 1],
            "out_tf": k[1, 2],
            "out_by_stiffness": share[0],
            "out_by_mass": (c[0, 0] - share[0] * k[0, 0]) / mass,
        }
        found["out_turn_mass"] = share[1] / found["out_by_mass"]
    return {name: float(value) for name, value in found.items()}


def shaken(file: str = "el_centro.csv", seed: int = 0) -> System:
    """Return structure, laboratory and the whole structure, without compensation."""
    system = (
        System("two_axes")
        .add("building", fmu(BUILT / "Building.fmu"), **building(out=True))
        .add("axes", block(f"{MORE}:ToAxes"))
        .add("plant", fmu(BUILT / "ControlPlant.fmu"), **(perturbed(seed) if seed else {}))
        .add("measured", block(f"{MORE}:Measured"), seed=seed)
        .add("laboratory", block(f"{MORE}:Laboratory"))
        .add("ground", block(f"{PARTS}:Ground"), file=file)
        .add(
            "reference",
            fmu(BUILT / "Building.fmu"),
            force=0.0,
            moment=0.0,
            far_moment=0.0,
            **building(out=False),
        )
        .connect("ground.acceleration", "building.ground")
        .connect("ground.acceleration", "reference.ground")
    )
    for what in ("position", "rotation"):
        system = system.connect(f"building.{what}", f"axes.{what}")
        system = system.connect(f"measured.{what}", f"laboratory.{what}")
    for what in ("force", "moment", "far_moment"):
        system = system.connect(f"laboratory.{what}", f"building.{what}")
    for axis in (1, 2):
        system = system.connect(f"axes.axis_{axis}", f"plant.command_{axis}", delay=HELD)
        system = system.connect(f"plant.position_{axis}", f"measured.axis_{axis}")
    return system


def finite_response(system: System, *, learns: bool = True) -> System:
    """Send each actuator its requested position through the compensator of Quiroz et al."""
    for axis in (1, 2):
        system = (
            system.disconnect(f"axes.axis_{axis}", f"plant.command_{axis}")
            .add(f"ahead_{axis}", block(f"{MORE}:FiniteResponse"), axis=axis, learns=learns)
            .connect(f"axes.axis_{axis}", f"ahead_{axis}.wanted")
            .connect(f"measured.shown_{axis}", f"ahead_{axis}.measured")
            .connect(f"ahead_{axis}.command", f"plant.command_{axis}", delay=HELD)
        )
    return system


def at_once(system: System) -> System:
    """Put the actuators at their requested positions: the remaining errors are not their lag."""
    for axis in (1, 2):
        system = system.disconnect(f"axes.axis_{axis}", f"plant.command_{axis}")
        system = system.disconnect(f"plant.position_{axis}", f"measured.axis_{axis}")
        system = system.connect(f"axes.axis_{axis}", f"measured.axis_{axis}")
    return system.remove("plant")


WAYS: dict[str, Callable[[System], System]] = {
    "nothing": lambda system: system,
    "no lag": at_once,
    "finite response": lambda system: finite_response(system, learns=False),
    "adaptive": finite_response,
}
#: Standard deviations of the perturbed plants as shares of poles and zeros, by parameter.
SPREAD = {
    "zero_1": (120.0, 0.055),
    "zero_2": (90.0, 0.055),
    "pole_1": (2.65, 0.06),
    "pole_2": (40.0, 0.06),
    "zero_12": (3.0, 0.03),
    "pole_3": (3.5, 0.03),
    "pole_4": (18.5, 0.03),
    "zero_22": (5.0, 0.03),
}
FRAME, FRAME_SPREAD = {"decay": 50.0, "frequency": 63.0}, 0.05
#: Factors by which the gains of the plant grow and shrink at rest.
_GAINS = {
    "gain_11": ("pole_1", "pole_2", "/zero_1", "/zero_2"),
    "gain_21": ("pole_1", "pole_2", "/zero_1", "/zero_2"),
    "gain_12": ("pole_3", "pole_4", "/zero_12"),
    "gain_22": ("pole_3", "pole_4", "/zero_22"),
}
_GAIN = {"gain_11": 2165.2, "gain_21": 349.95, "gain_12": 4.5394e6, "gain_22": 1.9238e7}


def perturbed(seed: int) -> dict[str, float]:
    """Draw the parameters of the control plant; its gains at rest stay as they are."""
    drawn = np.random.default_rng([seed, 2]).standard_normal(len(SPREAD) + 1)
    shares = {
        name: 1.0 + SPREAD[name][1] * float(by) for name, by in zip(SPREAD, drawn, strict=False)
    }
    frame = 1.0 + FRAME_SPREAD * float(drawn[-1])
    found = {name: SPREAD[name][0] * share for name, share in shares.items()}
    found |= {name: value * frame for name, value in FRAME.items()}
    for gain, names in _GAINS.items():
        by = frame**2
        for name in names:
            by = by / shares[name[1:]] if name.startswith("/") else by * shares[name]
        found[gain] = _GAIN[gain] * by
    return found


def criteria(run: Run) -> dict[str, float]:
    """Return J1 in ms and the others in percent, by name and place (their published scripts)."""
    found: dict[str, float] = {}
    laboratory = run.laboratory
    local = np.array([1.0, -1.0])  # the laboratory counts rotations the other way round
    hybrid, whole = local * run.hybrid[:, :2], local * run.whole[:, :2]
    pairs = {
        ("J2", "J3"): (run.measured, run.wanted, "12"),
        ("J5", "J6"): (laboratory, hybrid, "xt"),
        ("J7", "J9"): (laboratory, whole, "xt"),
        ("J8", "J10"): (run.hybrid[:, 2:], run.whole[:, 2:], ("2x", "2t", "3x", "3t")),
    }
    for axis in range(2):
        late = [
            float(np.dot(run.measured[k:, axis], run.wanted[: len(run.wanted) - k, axis]))
            for k in range(_MOST_STEPS)
        ]
        found[f"J1,{axis + 1}"] = 1e3 / RATE * int(np.argmax(late))
    for (mean, most), (is_at, shall, places) in pairs.items():
        off = is_at - shall
        for i, place in enumerate(places):
            found[f"{mean},{place}"] = float(100.0 * np.std(off[:, i]) / np.std(shall[:, i]))
            peaks = np.abs(off[:, i]).max(), np.abs(shall[:, i]).max()
            found[f"{most},{place}"] = float(100.0 * peaks[0] / peaks[1])
    return found


_MOST_STEPS = 100


def run(way: str, file: str = "el_centro.csv", seed: int = 0, stop: float | None = None) -> Run:
    """Run it until the end of the record, in s, or until it has grown out of all bounds."""
    names = [f"{part}.{name}" for part in ("building", "reference") for name in SEEN]
    names += [f"axes.axis_{axis}" for axis in (1, 2)]
    names += [f"measured.{name}" for name in ("shown_1", "shown_2", "position", "rotation")]
    last = float(record(file)[0, -1]) if stop is None else stop
    result = simulate(
        WAYS[way](shaken(file, seed)),
        step=f"{STEP_NS} ns",
        stop=f"{int(last * RATE) * STEP_NS} ns",
        record=names,
    )
    columns: Floats = result.values[:, [result.names.index(name) for name in names]]
    columns[:, [1, 7]] *= -1.0  # as the structure counts it
    parts = np.split(columns, [6, 12, 14, 16], axis=1)
    return Run(*parts)


def described() -> System:
    """Return the system with its adaptive compensators under El Centro, as its file has it."""
    return replace(
        finite_response(shaken()),
        description="A joint of a frame is moved and turned by two actuators.",
        experiment=replace(RUN, step_ns=STEP_NS),
    )


def main() -> None:
    """Print a column for each way."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ways", nargs="*", metavar="WAY", help=", ".join(WAYS))
    parser.add_argument("--record", default="el_centro.csv", help="below records/")
    parser.add_argument("--seeds", type=int, default=0, help="noise, and perturbed plants")
    parser.add_argument("--alone", action="store_true", help="'adaptive' without Softdock, too")
    parser.add_argument("--write", action="store_true", help="write two_axes.ssd, and end")
    asked = parser.parse_args()
    if asked.write:
        write_ssd(described(), HERE / "two_axes.ssd", connectors=False)
        return
    if unknown := [way for way in asked.ways if way not in WAYS]:
        parser.error(f"no way '{unknown[0]}'; there are {', '.join(WAYS)}")
    seeds = range(1, asked.seeds + 1) if asked.seeds else (0,)
    found: dict[str, list[dict[str, float]]] = {
        way: [criteria(run(way, asked.record, seed)) for seed in seeds]
        for way in asked.ways or WAYS
    }
    if asked.alone:
        found["alone"] = [criteria(alone(asked.record))]
    print(" " * 6, *(f"{way:>16}" for way in found))  # noqa: T201
    for name in next(iter(found.values()))[0]:
        means = (np.mean([each[name] for each in runs]) for runs in found.values())
        print(f"{name:6}", *(f"{value:16.4g}" for value in means))  # noqa: T201


if __name__ == "__main__":
    main()
