"""Impact of two satellite simulators as it ships, against the re-derived figures of the paper.

Figures: Cai, Chen, Luo, Wang, Aerospace 8, 381 (2021), Table 1, where it agrees with itself.
"""

from pathlib import Path

import pytest

from orchestrator import read_system, simulate
from orchestrator.study import read_experiment, run_experiment
from python_blocks.contact.damping_numbers import DAMPING_NUMBERS
from python_blocks.contact.normal_impact import NormalImpact

EXAMPLE = Path(__file__).parents[3] / "examples" / "impact"
M = 38.4 * 21.85 / (38.4 + 21.85)


def run(name, **values):
    system = read_system(EXAMPLE / name)
    for place, value in values.items():
        system = system.set(place.replace("__", "."), value)
    return simulate(system, stop="30 ms")


@pytest.mark.parametrize(
    ("speed", "leaving", "force"),
    [(94.83, 62.87, 201.5), (124.5, 82.54, 279.4), (81.2, 53.83, 167.3)],
)
def test_rows_of_table_1(plants, speed, leaving, force):
    found = run("SystemStructure.ssd", passive__v0=speed / 1e3, passive__x0=-1e-6 * speed)
    # The paper's digits; the run is within 1e-5 of the closed form.
    assert 1e3 * found["encounter.rate"][-1] == pytest.approx(leaving, abs=0.006)
    assert found["contact.force_b"].max() == pytest.approx(force, abs=0.06)
    impact = NormalImpact(M, speed / 1e3, 1.2e7, DAMPING_NUMBERS["zhiying_qishao_table"](0.55))
    left = impact.restitution * impact.speed
    assert found["encounter.rate"][-1] == pytest.approx(left, rel=1e-5)
    momentum = found["encounter.momentum"]
    assert abs(momentum - momentum[0]).max() < 1e-12 * momentum[0]
    # What is left over is what the contact took; trapezoids of 10 us.
    taken = found["contact.dissipation"][1:].sum() * 1e-5
    kinetic = found["passive.energy"] + found["active.energy"]
    assert kinetic[0] - kinetic[-1] == pytest.approx(taken, rel=1e-4)


def test_constant_friction_of_eq_10(plants):
    found = run("constant.ssd")
    assert 1e3 * found["encounter.rate"][-1] == pytest.approx(60.67, abs=0.006)
    assert found["contact.force_b"].max() == pytest.approx(207.94, rel=5e-4)


def test_the_simulator_stops_where_its_friction_says(plants):
    result = simulate(
        read_system(EXAMPLE / "slide.ssd"), delay="mean"
    )  # as the experiment has it: a push
    top = 0.5 * (27.7 / 38.4 - 0.088)
    way = 0.25 * top + 0.5 * top**2 / 0.088
    assert result["passive.velocity"].max() == pytest.approx(top, rel=1e-9)
    assert result["passive.position"][-1] == pytest.approx(way, rel=1e-9)


@pytest.mark.usefixtures("plants", "no_pictures")
def test_all_expectations_of_the_file_are_kept(tmp_path):
    experiment = read_experiment(EXAMPLE / "experiment.toml")
    cases = {case for one in experiment.expect.values() for case in one.cases}
    outcome = run_experiment(experiment, EXAMPLE, tmp_path, only=cases)
    assert outcome.broken == []
    assert len(cases) == 4


def test_the_experiment_covers_the_laws(plants):
    cases = read_experiment(EXAMPLE / "experiment.toml").case
    assert {f"row_{i}" for i in range(1, 7)} | {"row_1_printed", "friction"} <= set(cases)
    assert {case.swap["contact"] for case in cases.values() if case.swap} >= {
        f"block:{law}" for law in ("gonthier", "flores", "kelvin_voigt", "volumetric_contact")
    }
