"""Figures that depend on the noise: quantiles over seeds, the stored ones and the pages'.

examples/famdc/seeds.csv has the quantiles of fifty seeds of everything; quantiles.py beside it says
how it is made. Here a part is run again, and the pages are held against it.
"""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import numpy as np
import pytest
from reproduction.famdc import spatial_rig
from reproduction.famdc.axial_rig import OFFSET, TABLES, ideal, noise, rig
from reproduction.famdc.example import FOLDER, run

from orchestrator.core.system import System

ROOT = FOLDER.parents[1]
PAGES = ["docs/explanation/famdc-limits.md", "docs/reference/famdc.md", "examples/famdc/README.md"]
ORDER = ("least", "5 %", "median", "95 %", "largest")
Row = dict[str, str]


@pytest.fixture(scope="module")
def stored() -> list[Row]:
    with (FOLDER / "seeds.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def figures(row: Row) -> list[float]:
    return [float(row[name]) for name in ORDER]


def row_of(stored: list[Row], sweep: str, case: str, measure: str, at: str = "") -> Row:
    (found,) = (
        row
        for row in stored
        if (row["sweep"], row["case"], row["measure"]) == (sweep, case, measure) and at in row["at"]
    )
    return found


def quantiles(found: np.ndarray) -> list[float]:
    return [float(x) for x in np.quantile(found, [0, 0.05, 0.5, 0.95, 1], method="hazen")]


def axial_errors(plants: Path, system: System, table: str, sigma: float, seeds: int) -> np.ndarray:
    """RMS and largest error, median error of k, when k stays within 2 %; a row for each seed."""
    wanted, k = ideal(plants, table), system.value("contact.k")
    rows = []
    for seed in range(1, seeds + 1):
        columns = run(system, noise(sigma, seed=seed))
        error = 100 * (columns["dynamics.position"] - wanted) / OFFSET
        deviation = 100 * (columns["identifier.stiffness"] / k - 1)
        outside = np.flatnonzero(np.abs(deviation) > 2)[-1] + 1
        settled = columns["time"][outside] if outside < len(deviation) else math.inf
        rows.append(
            [np.sqrt(np.mean(error**2)), abs(error).max(), np.median(deviation[400:]), settled]
        )
    return np.array(rows)


# --- The table is what comes out ---


def test_the_table_has_fifty_seeds_of_everything(stored: list[Row]) -> None:
    assert {row["seeds"] for row in stored} == {"50"}
    assert len(stored) > 300
    for row in stored:
        assert figures(row) == sorted(figures(row))


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_fifty_seeds_on_one_axis(plants: Path, stored: list[Row], table: str) -> None:
    found = axial_errors(plants, rig(plants, table), table, 1.0, 50)
    case = f"axial{'' if table == '1' else '_' + table.replace('-', '')}_compensated"
    names = ["rms_error", "largest_error", "stiffness_error", "stiffness_within_2_percent_from"]
    for name, values in zip(names, found.T, strict=True):
        wanted = figures(row_of(stored, "seeds", case, name))
        assert quantiles(values) == pytest.approx(wanted, rel=1e-3, abs=1e-3), name
    # What the derivation of the method promises holds for every seed; k by 0.4 s, for nearly all.
    assert found[:, 0].max() <= 0.6
    assert found[:, 1].max() <= 1.5
    assert np.abs(found[:, 2]).max() <= 0.3
    assert np.quantile(found[:, 3], 0.95) <= 0.5


@pytest.mark.slow
def test_seeds_in_six_degrees_of_freedom(plants: Path, stored: list[Row]) -> None:
    """Twelve of the fifty, which lie where those do; every one of the fifty is below 1 %."""
    system, wanted = spatial_rig.rig(plants), run(spatial_rig.ideal(plants))
    rms = np.array([spatial_errors(system, wanted, seed) for seed in range(1, 13)])
    for axis, values in zip("xyz", rms.T, strict=True):
        least, low, _, high, largest = figures(
            row_of(stored, "seeds", "spatial_compensated", f"rms_error_{axis}")
        )
        assert least * 0.999 <= values.min() <= values.max() <= largest * 1.001 <= 1.0
        assert low <= np.median(values) <= high


def spatial_errors(system: System, wanted: dict[str, np.ndarray], seed: int) -> list[float]:
    columns = run(system, spatial_rig.noise(seed=seed))
    return [
        100 * float(np.sqrt(np.mean(((columns[n] - wanted[n]) / OFFSET) ** 2)))
        for n in (f"dynamics.s[{i}]" for i in range(3))
    ]


def quiet_error(system: System, wanted: dict[str, np.ndarray]) -> float:
    """RMS error along y without noise, %."""
    error = run(system)["dynamics.s[1]"] - wanted["dynamics.s[1]"]
    return 100 * float(np.sqrt(np.mean((error / OFFSET) ** 2)))


def known(system: System) -> System:
    """The contact is told, not identified."""
    for name, value in {"stiffness": spatial_rig.K, "damping": spatial_rig.C}.items():
        system = system.disconnect(f"identifier.{name}", f"compensation.{name}")
        system = system.set(f"compensation.{name}", tuple(value))
    return system


@pytest.mark.slow
def test_scatter_is_that_of_the_measured_moments_not_of_the_identifier(plants: Path) -> None:
    """Along x and y, seed by seed, whether the contact is identified or told."""
    wanted = run(spatial_rig.ideal(plants))
    measured = spatial_rig.rig(plants).set("compensation.point_contact", value=False)
    seeds = (3, 7, 11, 15, 19, 23)  # 15 is the worst of sixty along y
    identified, told, point = (
        np.array([spatial_errors(system, wanted, seed)[:2] for seed in seeds])
        for system in (measured, known(measured), spatial_rig.rig(plants))
    )
    # Without noise: 0.62 % along y, and 0.48 % told, which is the rest of the sensor's lag.
    clean = [quiet_error(system, wanted) for system in (measured, known(measured))]
    assert clean == pytest.approx([0.617, 0.478], abs=0.01)
    assert identified.max() > 1.3
    assert np.corrcoef(identified.ravel(), told.ravel())[0, 1] > 0.97
    assert np.abs(identified - told).max() < 0.12
    assert np.ptp(point, axis=0).max() < 0.25 < 0.5 * np.ptp(told, axis=0).max()


@pytest.mark.slow
def test_noise_that_was_not_told_is_harmful_for_nearly_every_seed(
    plants: Path, stored: list[Row]
) -> None:
    """5 N taken for 1 N: seed 1 has 1.7 % of error, the median of fifty over 20 %."""
    found = axial_errors(plants, rig(plants), "1", 5.0, 20)[:, 0]
    row = row_of(stored, "untold", "rig", "error", " 5.0")
    assert found.min() >= float(row["least"]) * 0.999
    assert found.max() <= float(row["largest"]) * 1.001
    assert (found > 10.0).mean() >= 0.8
    assert float(row["median"]) > 20.0


# --- The pages say what the table has ---

BRACKETS = re.compile(r"(-?[\d.]+|never) \((-?[\d.]+), (-?[\d.]+|never); (-?[\d.]+|never)\)")


def shown(value: float) -> str:
    """Two digits, not more than two behind the point."""
    if math.isinf(value):
        return "never"
    digits = min(max(0, 1 - math.floor(math.log10(abs(value)))), 2) if value else 0
    text = f"{value:.{digits}f}"
    return "0" if float(text) == 0.0 else text


def brackets(row: Row, factor: float = 1.0) -> str:
    least, low, median, high, largest = (factor * value for value in figures(row))
    worst = least if abs(least) > abs(largest) else largest
    if row["unit"] == "s":  # shown in milliseconds
        return f"{median:.0f} ({low:.0f}, {high:.0f}; {worst:.0f})"
    return f"{shown(median)} ({shown(low)}, {shown(high)}; {shown(worst)})"


def factors(row: Row) -> list[float]:
    """What the pages multiply a figure by: s to ms, degrees, percent of another motion."""
    if row["unit"] == "s":
        return [1000.0]
    if row["unit"] == "deg":
        return [1000.0]
    if row["sweep"] == "amplitude":
        return [0.01 / (1e-3 * float(row["at"].rsplit(" ", 1)[1]))]
    return [1.0]


@pytest.mark.parametrize("page", PAGES)
def test_brackets_of_the_pages_are_in_the_table(page: str, stored: list[Row]) -> None:
    text = (ROOT / page).read_text()
    wanted = {brackets(row, factor) for row in stored for factor in factors(row)}
    found = [match.group(0) for match in BRACKETS.finditer(" ".join(text.split()))]
    assert len(found) > 15
    assert [figure for figure in found if figure not in wanted] == []
    assert "examples/famdc/seeds.csv" in text or "seeds.csv" in text
    assert "softdock sweep examples/famdc" in text


@pytest.mark.parametrize(
    ("page", "sweep", "case", "at", "measure", "begins"),
    [
        (0, "untold", "rig", " 5.0", "error", "| noise of 2, 3, 5, 10 N, set to 1 N"),
        (0, "untold", "rig", " 10.0", "error", "| noise of 2, 3, 5, 10 N, set to 1 N"),
        (0, "sampling", "rig", " 0.5", "error", "| sampling of 2, 0.5, 0.25 ms"),
        (0, "noise_behind_the_lead", "rig", " 0.1", "error", "| noise of 1 N, set to 0.1 N"),
        (0, "prior", "rig", " 1000.0", "error", "| first deviation (root of P0)"),
        (0, "encoder", "differences", " 10.0", "stiffness_error", "| 10 um |"),
        (0, "lost_samples", "rig", " 5", "error", "| samples lost"),
        (0, "moment", "spatial_compensated", "", "rms_error_y", "| measured moment |"),
        (1, "seeds", "axial_compensated", "", "rms_error", "| compensated, 1 N of noise, RMS |"),
        (1, "seeds", "axial_compensated", "", "stiffness_within_2_percent_from", "| k inside 2 %"),
        (1, "seeds", "spatial_compensated", "", "rms_error_y", "| Table 2, constant contact"),
        (1, "seeds", "spatial_compensated", "", "largest_error_y", "| largest error with"),
        (1, "seeds", "swing_compensated", "", "rms_error_y", "| contact that doubles, 10 mN"),
        (2, "seeds", "spatial_compensated", "", "rms_error_y", "| six degrees of freedom, Table 2"),
        (2, "seeds", "axial_compensated", "", "rms_error", "| with compensation the"),
    ],
)
def test_a_figure_stands_where_it_belongs(
    page: int, sweep: str, case: str, at: str, measure: str, begins: str, stored: list[Row]
) -> None:
    rows = [
        row
        for row in stored
        if (row["sweep"], row["case"], row["measure"]) == (sweep, case, measure)
        and row["at"].endswith(at)
    ]
    (line,) = (
        line for line in (ROOT / PAGES[page]).read_text().splitlines() if line.startswith(begins)
    )
    (row,) = rows
    assert brackets(row, factors(row)[0]) in line


def test_every_sweep_is_run_by_a_file_that_is_there(stored: list[Row]) -> None:
    files = ("experiment.toml", "seeds.toml", "passivity.toml")
    text = "".join((FOLDER / name).read_text() for name in files)
    script = (FOLDER / "lost_samples.py").read_text()
    for sweep in {row["sweep"] for row in stored}:
        assert f"[sweep.{sweep}]" in text or f"{sweep}.parquet" in script
