"""Compute the quantiles of the pages from the sweeps of fifty seeds, into seeds.csv.

softdock sweep examples/famdc
softdock sweep examples/famdc/seeds.toml
softdock sweep examples/famdc/passivity.toml
python examples/famdc/lost_samples.py
python examples/famdc/quantiles.py

A row is a measure of a case at a point of a sweep. ``worst`` is the worst of three axes in each
run. A measure that cannot be evaluated, such as the settling time of a run that never settles,
counts as infinite. The mean of a measure with the values 0 and 1 is a share of runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
RESULTS = [Path("results/famdc"), Path("results/famdc-passivity"), Path("results/famdc-seeds")]
FIRST = ["sweep", "case", "at", "measure", "unit", "seeds", "mean"]
QUANTILES = ["least", "5 %", "median", "95 %", "largest"]


def quantiles(found: np.ndarray) -> list[float]:
    """Give mean, least, the 5 %, 50 % and 95 % quantile, and largest of the figures of seeds."""
    kept = np.where(np.isnan(found), np.inf, found)
    # Of 50 these are the third, the middle of the two in the middle, and the third but last.
    shares = np.quantile(kept, [0, 0.05, 0.5, 0.95, 1], method="hazen")
    return [float(kept.mean()), *map(float, shares)]


def measures(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """Give the figures of a case by measure, those of the worst axis too; details are left out."""
    taken = rows.drop(columns=["seed", "case", "status", "reason", "wall time [s]"])
    names = [name for name in taken.columns if ": " not in name and taken[name].notna().any()]
    found = {name: taken[name].to_numpy(float) for name in names}
    for name in names:
        others = [name.replace("_x", f"_{axis}") for axis in "xyz"]
        if "_x" in name and set(others) <= set(names):
            worst = np.abs([found[other] for other in others]).max(axis=0)
            found[name.replace("_x", "_worst")] = worst
    return found


def table_rows(path: Path) -> Iterator[list[object]]:
    """Give the rows of one sweep."""
    table = pd.read_parquet(path)
    if "seed" not in table:
        return
    axes = list(table.columns[: table.columns.get_loc("seed")])
    for key, rows in table.groupby(["case", *axes], sort=False):
        at = "; ".join(f"{name} {value}" for name, value in zip(axes, key[1:], strict=True))
        for name, found in measures(rows.drop(columns=axes)).items():
            measure, _, unit = name.removesuffix("]").partition(" [")
            yield [path.stem, key[0], at, measure, unit, len(found), *quantiles(found)]


def main() -> None:
    """Write seeds.csv."""
    paths = sorted(path for folder in RESULTS for path in folder.glob("*.parquet"))
    rows = [row for path in paths for row in table_rows(path)]
    table = pd.DataFrame(rows, columns=FIRST + QUANTILES)
    table.to_csv(HERE / "seeds.csv", index=False, float_format="%.5g", lineterminator="\n")


if __name__ == "__main__":
    main()
