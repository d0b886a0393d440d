"""The energy that the rig gives stays bounded with a passivity controller, with noise as well."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from reproduction.famdc.axial_rig import ideal
from reproduction.famdc.example import FOLDER, OFFSET, changed, example, noise, run

SEED = 7
STORE = 2.5  # J: of 50 kN/m, 10 mm out


def stored(case: str, measure: str) -> tuple[float, float]:
    """Least and largest of fifty seeds of 10 N of noise."""
    with (FOLDER / "seeds.csv").open(newline="") as file:
        (row,) = (
            row
            for row in csv.DictReader(file)
            if (row["sweep"], row["case"], row["measure"]) == ("passivity", case, measure)
            and " 10.0" in row["at"]
        )
    # five digits are stored
    return float(row["least"]) * (1 - 1e-4), float(row["largest"]) * (1 + 1e-4)


@pytest.mark.parametrize(
    ("case", "values"),
    [
        ("noisy_observed", {"passivity__acts": False}),
        ("noisy_passive", {}),
        ("noisy_passive_soft", {"passivity__damping_limit": 1000.0}),
    ],
)
def test_a_seed_is_within_what_fifty_had(
    plants: Path, case: str, values: dict[str, object]
) -> None:
    system = changed(example("axial_passive"), **values)
    columns = run(system, noise("sensor.measured", 10.0, SEED))
    error = (columns["dynamics.position"] - ideal(plants)) / OFFSET * 100.0
    low, high = stored(case, "rms_error")
    assert low <= np.sqrt((error**2).mean()) <= high
    given = columns["passivity.given"]
    low, high = stored(case, "given")
    assert low <= given.max() <= high
    # What a step overruns the store by is foreseen to a h / 2 of the velocity; see the block.
    if case == "noisy_passive":
        assert given.max() <= STORE * 1.01
        # The account that the block keeps is the work of what it applied, step by step.
        way = np.diff(columns["dynamics.position"])
        work = -np.cumsum(columns["passivity.applied"][:-1] * way)
        assert work.max() == pytest.approx(given.max(), rel=1e-3)
