"""Lose samples of the sensor at random, fifty seeds each; quantiles.py evaluates the runs.

python examples/famdc/lost_samples.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from orchestrator import Execution, Fault, System, read_system, resolve

HERE = Path(__file__).parent
TARGET = Path("results/famdc-seeds/lost_samples.parquet")
SHARES = (5, 10, 20, 30, 50)  # %
SEEDS = range(1, 51)
MS = 1_000_000


def run(system: System, *faults: Fault) -> dict[str, np.ndarray]:
    """Give the columns of 5 s in steps of 1 ms."""
    options = {"algorithm": "gauss-seidel", "delay": "plain", "early_return": False}
    with Execution(system, step="1 ms", faults=faults, **options) as ran:
        ran.advance("5 s")
        rows = ran.recording()
    columns = rows.values.T  # noqa: PD011 - an array, no data frame
    return dict(zip(rows.names, columns, strict=True))


def lost(share: float, seed: int) -> list[Fault]:
    """Lose each sample with a probability; the previous one is held."""
    line = "sensor.measured -> lead.measured"
    times = np.flatnonzero(np.random.default_rng(seed).random(5000) < share) * MS
    gaps = [Fault.of("drop", line, f"{n} ns", f"{n + MS} ns") for n in times.tolist()]
    return [*gaps, Fault.of("noise", "sensor.measured", "0 s", sigma=1.0, seed=seed)]


def main() -> None:
    """Write the table as a sweep would."""
    system, space = (
        resolve(read_system(HERE / f"axial_{name}.ssd")).flat() for name in ("compensated", "ideal")
    )
    wanted = run(space)["space.position"]
    rows = []
    for share in SHARES:
        for seed in SEEDS:
            columns = run(system, *lost(share / 100, seed))
            error = (columns["dynamics.position"] - wanted) / 0.01
            row = {"Samples lost [%]": share, "seed": seed, "case": "rig"}
            row["error [%]"] = 100 * float(np.sqrt(np.mean(error**2)))
            row["known"] = float(columns["identifier.converged"][-1])
            row["known_share"] = float(columns["identifier.converged"][1000:].mean())
            rows.append(row | {"status": "done", "reason": "", "wall time [s]": 0.0})
    TARGET.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(TARGET)


if __name__ == "__main__":
    main()
