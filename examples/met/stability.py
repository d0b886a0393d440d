"""Stability of the sampled two-rate loops from their matrices, without a run.

python examples/met/stability.py [FOLDER]

Prints, for servos at several sampling times and arm dynamics a whole number of them apart, how the
slowest-decaying mode grows per second; the longest stable step of the arm over the inertia of the
rotors; and what differencing and filtering do to a sampled rate. Writes ``rates.png`` and
``differentiation.png`` into the folder. A mode is a multiplier of the map of one period.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

from orchestrator import System, prepare, read_experiment
from orchestrator.loops import linear_system

HERE = Path(__file__).parent
CASES = {"simulated": "both joints simulated", "frictionless": "joint 1 on the bench"}
SERVO_MS = (1, 2, 5, 10, 20, 30)
EVERY = (1, 2, 4, 8)
ROTORS = (0.03, 0.1, 0.3, 1.0, 3.0)
MOST = 256  # servo samples in a step of the arm
CORNER = 50.0  # Hz, of the tachometer's filter


def with_rotors(system: System, factor: float) -> System:
    """Scale the inertias of the rotors, in the arm and on the bench."""
    for path in ("arm.rotor_1", "arm.rotor_2", "servo1.J", "load.J"):
        component, name = path.split(".")
        part = system.components.get(component)
        if part is None or name not in part.connectors:
            continue
        value = part.values.get(name, part.connectors[name].start)
        system = system.set(path, factor * float(value))
    return system


def growth(system: System, servo_ms: float, every: int) -> float:
    """Give how the least damped mode grows, 1/s, without those of angles that nothing holds."""
    found = linear_system(
        system,
        step=f"{round(1e6 * servo_ms)} ns",
        algorithm="gauss-seidel",
        delay="plain",
        rates={"arm": every},
    ).period_map()
    sizes = np.abs(np.linalg.eigvals(found.matrix()))
    moving = sizes[np.abs(sizes - 1.0) > 1e-6]  # an angle keeps its value: exactly 1
    return math.log(float(moving.max())) / found.period


def longest_arm_step(system: System, servo_ms: float) -> float:
    """Give the longest step of the arm, a whole number of servo samples, that is stable, s.

    It is found by halving: that longer steps than an unstable one are unstable, too, is taken for
    granted.
    """
    stable, unstable = 0, MOST
    while unstable - stable > 1:
        middle = (stable + unstable) // 2
        if growth(system, servo_ms, middle) < 0.0:
            stable = middle
        else:
            unstable = middle
    return stable * servo_ms / 1e3


def difference_response(frequency: NDArray[np.float64], h: float) -> NDArray[np.complex128]:
    """Return the gain of a backward difference on the rate of a sine: 1 would be exact."""
    z = np.exp(2j * np.pi * frequency * h)
    return (1.0 - 1.0 / z) / h / (2j * np.pi * frequency)


def filter_response(frequency: NDArray[np.float64]) -> NDArray[np.complex128]:
    """Give the second-order Butterworth filter of the tachometer."""
    s = 1j * frequency / CORNER
    return 1.0 / (s * s + math.sqrt(2.0) * s + 1.0)


def differentiation_rows() -> Iterator[str]:
    """Yield a table: delay at low frequencies, and noise of the acceleration."""
    yield "| sampling | delay of filter [ms] | of difference [ms] | noise over that of rate [1/s] |"
    yield "|---|---|---|---|"
    low = np.array([0.01])
    for h in (0.01, 0.002, 0.001):
        delays = [
            -1e3 * float(np.angle(response(low))[0]) / (2 * np.pi * 0.01)
            for response in (filter_response, lambda f, h=h: difference_response(f, h))
        ]
        noise = math.sqrt(2.0) / h
        yield f"| {1e3 * h:g} ms | {delays[0]:.2f} | {delays[1]:.2f} | {noise:.0f} |"


def draw_differentiation(file: Path) -> None:
    """Draw gain and phase of filter and difference together, over frequency."""
    figure, (top, bottom) = plt.subplots(2, 1, sharex=True, figsize=(7, 5), layout="constrained")
    for h, style in ((0.01, "-"), (0.002, "--"), (0.001, ":")):
        frequency = np.geomspace(0.1, 0.5 / h, 400)
        response = filter_response(frequency) * difference_response(frequency, h)
        label = f"{1e3 * h:g} ms"
        top.loglog(frequency, np.abs(response), style, label=label)
        bottom.semilogx(frequency, np.degrees(np.unwrap(np.angle(response))), style, label=label)
    top.set_ylabel("Gain [-]")
    bottom.set_ylabel("Phase [deg]")
    bottom.set_xlabel("Frequency [Hz]")
    top.set_title("Filter of 50 Hz and difference of samples, against the true acceleration")
    for axis in (top, bottom):
        axis.grid(visible=True, alpha=0.3)
        axis.legend(title="sampling time")
    figure.savefig(file, dpi=120)


def draw_rates(limits: dict[str, dict[float, list[float]]], file: Path) -> None:
    """Draw the longest stable step of the arm over the inertia of the rotors."""
    figure, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 4), layout="constrained")
    for axis, (case, rows) in zip(axes, limits.items(), strict=True):
        for (servo_ms, steps), marker in zip(rows.items(), "osx", strict=True):
            shown = [1e3 * step if step > 0.0 else math.nan for step in steps]
            axis.loglog(ROTORS, shown, f"{marker}-", label=f"{servo_ms:g} ms")
        axis.set_xlabel("Rotors' inertia, times that of the paper [-]")
        axis.set_title(CASES[case])
        axis.grid(visible=True, which="both", alpha=0.3)
        axis.legend(title="servo")
    axes[0].set_ylabel("Longest stable step of the arm [ms]")
    figure.savefig(file, dpi=120)


def main() -> None:
    """Print the tables and draw."""
    mpl.use("agg")
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("results/met-stability")
    folder.mkdir(parents=True, exist_ok=True)
    experiment = read_experiment(HERE / "experiment.toml")
    limits: dict[str, dict[float, list[float]]] = {}
    for case in CASES:
        system = prepare(case, experiment.case[case], HERE)
        print(f"{case}: growth of the least damped mode [1/s]")  # noqa: T201
        print("| servo |", " | ".join(f"arm every {n}" for n in EVERY), "|")  # noqa: T201
        print("|---" * (len(EVERY) + 1) + "|")  # noqa: T201
        for servo_ms in SERVO_MS:
            cells = [f"{growth(system, servo_ms, every):+.2f}" for every in EVERY]
            print(f"| {servo_ms:g} ms |", " | ".join(cells), "|")  # noqa: T201
        limits[case] = {
            servo_ms: [longest_arm_step(with_rotors(system, f), servo_ms) for f in ROTORS]
            for servo_ms in (1, 5, 10)
        }
        for servo_ms, steps in limits[case].items():
            shown = ", ".join(f"{1e3 * step:g}" for step in steps)
            print(f"servo {servo_ms} ms, rotors x {ROTORS}: arm at most {shown} ms")  # noqa: T201
    print(*differentiation_rows(), sep="\n")  # noqa: T201
    draw_rates(limits, folder / "rates.png")
    draw_differentiation(folder / "differentiation.png")


if __name__ == "__main__":
    main()
