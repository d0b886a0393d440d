"""Friction of joint 4 from a record of the rig, and the ejection with it and no bench.

softdock run examples/ejection/rig.toml --no-animation
python examples/ejection/friction.py [RECORD]        # default: results/rig/line.parquet

While the shaft turns, what it gains of momentum is what the torques of both motors bring, less
friction: J dw = int (load + drive) dt - coulomb sgn(w) dt - viscous dphi. Over windows that is
linear in J, coulomb and viscous, and nothing is differentiated. Intervals are of 95 %.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from systems import RATIO, plane

from orchestrator import simulate

#: Rates below are left out, rad/s: there the shaft sticks. Windows, samples.
SLOWEST, WINDOW = 1.0, 20


def windows(record: pd.DataFrame) -> list[np.ndarray]:
    """Give the samples of windows in which the shaft turns one way, as indices."""
    rate = record["joint4.shaft_rate"].to_numpy()
    found = []
    for first in range(0, len(rate) - WINDOW, WINDOW):
        inside = np.arange(first, first + WINDOW + 1)
        if np.abs(rate[inside]).min() > SLOWEST:
            found.append(inside)
    return found


def fit(record: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Give inertia, Coulomb and viscous friction of the shaft with half their intervals.

    ``brake`` is the torque of the drive motor over the rate: its circuit is closed.

    Raises
    ------
    SystemExit
        If the shaft turns in less than ten windows.
    """
    rate, angle = (record[f"joint4.{n}"].to_numpy() for n in ("shaft_rate", "angle"))
    torque = (record["joint4.load_torque"] + record["joint4.drive_torque"]).to_numpy()
    time = record.index.to_numpy()
    rows, right = [], []
    for inside in windows(record):
        first, last = inside[0], inside[-1]
        lasts = time[last] - time[first]
        way = angle[last] - angle[first]
        rows.append((rate[last] - rate[first], math.copysign(lasts, way), way))
        right.append(np.trapezoid(torque[inside], time[inside]))
    if len(rows) < 10:
        raise SystemExit(
            f"joint4 turns faster than {SLOWEST:g} rad/s in {len(rows)} windows of {WINDOW}"
            " samples; expected at least 10: is it a record of a run in which joint 4 moves?"
        )
    matrix, asked = np.array(rows), np.array(right)
    values, *_ = np.linalg.lstsq(matrix, asked, rcond=None)
    left = asked - matrix @ values
    variance = left @ left / (len(rows) - 3) * np.linalg.inv(matrix.T @ matrix)
    half = 1.96 * np.sqrt(np.diag(variance))
    turning = np.abs(rate) > SLOWEST
    drive = record["joint4.drive_torque"].to_numpy()[turning]
    brake = -float(rate[turning] @ drive / (rate[turning] @ rate[turning]))
    spread = np.std(drive + brake * rate[turning])
    names = ("inertia", "coulomb", "viscous")
    found = {name: (float(v), float(h)) for name, v, h in zip(names, values, half, strict=True)}
    found["brake"] = brake, float(1.96 * spread / np.linalg.norm(rate[turning]))
    return found


def main() -> None:
    """Print the friction, and the ejection with it beside that of the record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("record", type=Path, nargs="?", default=Path("results/rig/line.parquet"))
    file = parser.parse_args().record
    if not file.is_file():
        raise SystemExit(f"{file}: no such record: run examples/ejection/rig.toml first")
    record = pd.read_parquet(file)
    missing = {f"joint4.{n}" for n in ("shaft_rate", "angle", "load_torque", "drive_torque")}
    if missing := missing - set(record):
        raise SystemExit(
            f"the record has no {', '.join(sorted(missing))}: expected a run on the line"
        )
    found = fit(record)
    units = {
        "inertia": ("kg.m2", RATIO**2),
        "coulomb": ("N.m", RATIO),
        "viscous": ("N.m.s/rad", RATIO**2),
        "brake": ("N.m.s/rad", RATIO**2),
    }
    told = ["| | of the shaft | at the joint |", "|---|---|---|"]
    for name, (value, half) in found.items():
        unit, factor = units[name]
        told.append(f"| {name} | {value:.4g} +- {half:.1g} {unit} | {factor * value:.4g} {unit} |")
    coulomb = RATIO * found["coulomb"][0]
    viscous = RATIO**2 * (found["viscous"][0] + found["brake"][0])
    start = {f"phi0[{j}]": record[f"arm.phi[{j}]"].iloc[0] for j in (1, 2, 3)}
    friction = {"static[2]": coulomb, "coulomb[2]": coulomb, "viscous[2]": viscous}
    system = plane()
    for name, value in (start | friction).items():
        system = system.set(f"arm.{name}", float(value))
    alone = simulate(system, step="10 ms", stop=float(record.index[-1]))
    told += ["", "| | on the rig | arm with that friction, no rotor |", "|---|---|---|"]
    for name in ("release_time", "release_speed", "release_phi[2]", "phi[2]", "w[2]"):
        rig, arm = record[f"arm.{name}"].iloc[-1], alone[f"arm.{name}"][-1]
        told.append(f"| {name} | {rig:.5g} | {arm:.5g} |")
    sys.stdout.write("\n".join(told) + "\n")


if __name__ == "__main__":
    main()
