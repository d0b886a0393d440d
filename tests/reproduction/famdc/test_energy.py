"""The energy that the rig creates, before and after compensation, by the example's own ledgers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reproduction.famdc.example import FOLDER

from orchestrator.study import ExperimentOutcome, read_experiment, run_experiment
from orchestrator.study.energy import EnergyLedger, Kind


@pytest.fixture(scope="module")
def outcome(
    plants: Path, no_pictures_in_module: None, tmp_path_factory: pytest.TempPathFactory
) -> ExperimentOutcome:
    """Run some cases of the example for a shorter time, without pictures."""
    experiment = read_experiment(FOLDER / "experiment.toml")
    names = {
        "axial_ideal": "5 s",
        "axial_uncompensated": "8 s",
        "axial_compensated": "5 s",
        "axial_virtual_damper": "5 s",
        "spatial_compensated": "1 s",
        "swing_ideal": "5 s",
        "drag_ideal": "7 s",
        "drag_compensated": "7 s",
    }
    cases = {
        name: experiment.case[name].model_copy(update={"stop": stop, "measure": {}})
        for name, stop in names.items()
    }
    ledgers = {
        name: table.model_copy(update={"cases": tuple(c for c in table.cases if c in names)})
        for name, table in experiment.ledger.items()
    }
    short = experiment.model_copy(
        update={"case": cases, "ledger": ledgers, "sweep": {}, "expect": {}}
        | {key: {} for key in ("animation", "sweep") if hasattr(experiment, key)}
    )
    return run_experiment(short, FOLDER, tmp_path_factory.mktemp("energy"))


def ledger(outcome: ExperimentOutcome, name: str) -> EnergyLedger:
    found = outcome.cases[name].value("ledger")
    assert found is not None
    return found


def end(of: EnergyLedger, kind: Kind, name: str = "") -> float:
    return sum(float(e.energy[-1]) for e in of.of(kind) if name in ("", e.name))


def test_all_balances_close(outcome: ExperimentOutcome) -> None:
    """Dampers and the robot's bends between samples, 7e-4 of the contact's damper, are left."""
    assert not outcome.problems
    for name in outcome.cases:
        found = ledger(outcome, name)
        assert found.residual < 1e-3 * found.turnover, name
        assert not found.unchecked


def test_in_space_nothing_is_created(outcome: ExperimentOutcome) -> None:
    found = ledger(outcome, "axial_ideal")
    assert found.initial == pytest.approx(0.5 * 5e4 * 0.01**2, rel=1e-12)
    assert abs(end(found, Kind.CREATED)) < 1e-12
    for name in ("swing_ideal", "drag_ideal"):
        found = ledger(outcome, name)
        assert found.residual < 1e-5 * found.initial
        assert found.initial == pytest.approx(5.4, rel=1e-9)


def test_uncompensated_each_stage_creates_what_its_lag_does(outcome: ExperimentOutcome) -> None:
    """Phasors of the growing oscillation: forces turned by each lag, their work on the motion.

    On a motion X the force Z X does the work pi Im(Z) |X|^2 in a cycle, and the integral of v^2
    is pi w |X|^2. That it grows, by 26 % in a cycle, is in the transfer functions.
    """
    found, case = ledger(outcome, "axial_uncompensated"), outcome.cases["axial_uncompensated"]
    squared = np.trapezoid(case.result["dynamics.velocity"] ** 2, case.result.time)
    s, w, omega, lag = 0.956 + 2j * np.pi * 4.089, 2 * np.pi * 4.089, 30 * np.pi, 2e-3
    robot = omega**2 / (s**2 + 1.4 * omega * s + omega**2)
    force = (5e4 + 100.0 * s) * robot
    ways = [force * np.conj(robot), force, force / (1 + lag * s)]
    ways.append(ways[-1] * np.exp(-0.5e-3 * s))  # a hold of 1 ms
    works = [way.imag / w * squared for way in ways]
    # Before the mode that grows is alone there is another one of 0.7 Hz.
    for i, name in enumerate(("robot", "sensor", "hold")):
        assert end(found, Kind.PART, name) == pytest.approx(works[i] - works[i + 1], rel=0.02), name
    # For small lags it is stiffness times delay, as of a negative damper.
    delays = {"robot": 2 * 0.7 / omega, "sensor": lag, "hold": 0.5e-3}
    for name, delay in delays.items():
        assert end(found, Kind.PART, name) == pytest.approx(5e4 * delay * squared, rel=0.12), name
    assert end(found, Kind.CREATED) > 5000 * found.initial
    assert end(found, Kind.PART) == pytest.approx(end(found, Kind.CREATED), rel=1e-12)


def test_the_compensation_takes_out_what_the_robot_puts_in(outcome: ExperimentOutcome) -> None:
    found = ledger(outcome, "axial_compensated")
    put_in = sum(end(found, Kind.PART, name) for name in ("robot", "sensor", "hold"))
    taken = sum(end(found, Kind.PART, name) for name in ("lead", "compensation"))
    assert put_in > 1.5 * found.initial
    assert abs(put_in + taken) < 0.03 * found.initial
    lead, sensor = (end(found, Kind.PART, name) for name in ("lead", "sensor"))
    assert lead / sensor == pytest.approx(-0.9, abs=0.01)  # it leaves a tenth of the lag


def test_a_virtual_damper_lets_it_in_and_takes_it_out_elsewhere(
    outcome: ExperimentOutcome,
) -> None:
    found = ledger(outcome, "axial_virtual_damper")
    created, damped = end(found, Kind.CREATED), end(found, Kind.EXTERNAL, "virtual damper")
    assert created > found.initial
    assert damped == pytest.approx(-created, rel=0.05)


def test_six_degrees_of_freedom(outcome: ExperimentOutcome) -> None:
    """In the first second, in which the contact moves most."""
    found = ledger(outcome, "spatial_compensated")
    robot = end(found, Kind.PART, "robot")
    assert robot > found.initial
    assert abs(end(found, Kind.CREATED)) < 0.03 * robot
    bodies = next(e for e in found.of(Kind.RESIDUAL) if e.name == "bodies")
    # Torques are trapezoidal on turns; a wrong arm or frame would leave a share of the work.
    assert np.abs(bodies.energy).max() < 1e-5 * found.initial


def test_the_screw_works_against_ropes_that_the_robot_stretches(
    outcome: ExperimentOutcome,
) -> None:
    """On the rig the robot stays behind by v 2 zeta/omega; the screw works against that, too."""
    found = ledger(outcome, "drag_ideal")
    power = outcome.cases["drag_ideal"].result["dynamics.screw_power"]
    spent = np.trapezoid(power, found.time)
    assert end(found, Kind.GIVEN, "space: dynamics.screw_power") == pytest.approx(spent, rel=1e-12)
    assert spent == pytest.approx(0.1906, abs=5e-4)
    rig = end(ledger(outcome, "drag_compensated"), Kind.EXTERNAL, "screw")
    behind = 0.01 * 2 * 0.7 / (30 * np.pi)
    # Of 40 mm; what the noise and the error of the motion do to it is of the size of 0.01 J.
    assert rig + spent == pytest.approx(3.2e4 * behind * 0.04, abs=0.012)
