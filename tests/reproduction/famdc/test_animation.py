"""The pictures of the example show what was simulated: closed forms of the geometry, a momentum."""

from pathlib import Path

import numpy as np
import pytest

from orchestrator.pictures.animation.tracks import CaseSignals, tracks
from orchestrator.study import read_experiment, simulate
from orchestrator.study.prepare.prepare import merged, prepare
from orchestrator.study.prepare.prepared_case import faults_of
from python_blocks.kinematics.stewart import StewartGeometry

EXAMPLE = Path(__file__).parents[3] / "examples" / "famdc"
TABLE_2 = {"station": 50000.0, "effector": 300.0, "spacecraft": 2000.0}  # kg


@pytest.fixture(scope="module")
def experiment():
    return read_experiment(EXAMPLE / "animation.toml")


def ran(experiment, *names, stop="0.4 s"):
    results = {}
    for name in names:
        case = experiment.case[name]
        options = merged(case, experiment.defaults)
        results[name] = simulate(
            prepare(name, case, EXAMPLE, {}, {}),
            step=options.step,
            stop=stop,
            algorithm=options.algorithm,
            delay=options.delay,
            early_return=options.early_return,
            faults=faults_of(case),
            name=name,
        )
    return results


@pytest.fixture(scope="module")
def drawn(experiment, plants):
    """Frames and segments of the drag phase, as they are and as they are shown."""
    results = ran(experiment, "drag", "drag_ideal", stop="0.8 s")
    table = experiment.animation["docking"]
    times_ns = results["drag"].time_ns
    signals = {name: CaseSignals(result, times_ns) for name, result in results.items()}
    true = tracks(table.model_copy(update={"exaggerate": 1.0}), "drag", signals)
    return results["drag"], true, tracks(table, "drag", signals)


def vector(result, name):
    return np.column_stack([result[f"{name}[{i}]"] for i in range(3)])


def test_legs_are_as_long_as_the_robot_says(drawn):
    result, true, _ = drawn
    legs = np.array(true.segments["legs"])
    lengths = np.linalg.norm(legs[:, :, 3:] - legs[:, :, :3], axis=2)
    expected = [result[f"legs.length[{i}]"] for i in range(6)]
    # The joints are written down with six digits, and `forward` solves to 1e-10 m.
    np.testing.assert_allclose(lengths, expected, atol=2e-6)


def test_joints_stand_where_the_kinematics_has_them(experiment):
    legs, geometry = experiment.animation["docking"].part["legs"], StewartGeometry()
    np.testing.assert_allclose(legs.begin.at, geometry.base, atol=5e-7)
    np.testing.assert_allclose(legs.end.at, geometry.platform, atol=5e-7)


def test_the_rod_is_off_the_ropes_by_the_deformation_of_the_contact(drawn):
    result, true, _ = drawn
    rod = np.array(true.segments["rig_ropes"]).mean(axis=0)  # three ropes, from a ring to the rod
    np.testing.assert_allclose(
        rod[:, 3:] - rod[:, :3], vector(result, "captured.offset"), atol=1e-9
    )
    assert np.ptp(result["drag.drag[2]"]) > 3e-3  # m; the screw has moved the ring


def test_bodies_in_space_keep_their_centre_of_mass(drawn):
    """The force of the contact is internal, so the centre of mass of all three rests."""
    _, true, _ = drawn
    centre = sum(mass * true.frames[name][:, :3] for name, mass in TABLE_2.items())
    centre = centre / sum(TABLE_2.values())
    # Half a millimetre is what the spacecraft moves; the solver's tolerance is 1e-8.
    assert np.ptp(true.frames["spacecraft"][:, :3], axis=0).max() > 5e-4
    np.testing.assert_allclose(centre, centre[:1].repeat(len(centre), axis=0), atol=1e-9)


def test_the_spacecraft_seen_from_the_end_effector_is_what_the_robot_shows(drawn):
    result, true, _ = drawn
    seen = true.frames["spacecraft"][:, :3] - true.frames["effector"][:, :3]
    distance = np.linalg.norm(seen, axis=1)
    np.testing.assert_allclose(distance, np.linalg.norm(vector(result, "dynamics.s"), axis=1))


def test_the_exaggeration_is_ten_from_where_the_contact_rests(drawn, experiment):
    _, true, shown = drawn
    rest = np.array([6.0, -0.4, 0.12 + 1.8])
    assert experiment.animation["docking"].exaggerate == 10
    np.testing.assert_allclose(
        shown.frames["platform"][:, :3] - rest,
        10 * (true.frames["platform"][:, :3] - rest),
        atol=1e-12,
    )
