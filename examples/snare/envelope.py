"""The capture envelope with half the step, and the residual energy of its ropes.

python examples/snare/envelope.py [NUMBER OF RUNS]

Points of maps.toml, drawn at random; prints those that end differently, and quantiles.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from ledger import HERE, ROPES, parts

from orchestrator import read_system, resolve, simulate

PLACES, RATES = np.linspace(-0.12, 0.12, 25), np.linspace(0.0, 0.19, 20)  # m, rad/s


def main() -> None:
    """Run and print."""
    system = resolve(read_system(HERE / "SystemStructure.ssd"))
    random = np.random.default_rng(1)
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    left, otherwise = [], 0
    for _ in range(number):
        place, rate = random.choice(PLACES), random.choice(RATES)
        moved = system.set("target.r0[2]", place).set("target.w0[1]", rate)
        ends = []
        for step in ("1 ms", "0.5 ms"):
            run = simulate(moved, step=step, stop="4 s", delay="mean")
            ends.append(bool(run["lock.locked"][-1]))
            left.append(max(abs(parts(run)[rope]) for rope in ROPES))
        if ends[0] != ends[1]:
            otherwise += 1
            print(f"y = {place:.2f} m, {rate:.2f} rad/s: locked {ends}", flush=True)  # noqa: T201
    middle, most, worst = np.quantile(left, [0.5, 0.95, 1.0])
    print(f"{otherwise} of {number} end otherwise with half the step")  # noqa: T201
    print(f"left open by the worst rope: {middle:.1g}, {most:.1g}, {worst:.1g} J")  # noqa: T201


if __name__ == "__main__":
    main()
