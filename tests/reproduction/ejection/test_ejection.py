"""Ejection on the table: known figures, an independent engine, and conservation laws.

Figures for attitudes 1, 2 and 5 are those of another prototype with the same assumed arm.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from fmpy import simulate_fmu
from reproduction.ejection.reference import Ejection

from orchestrator import Result, StepError, System, fmu, read_experiment, run_experiment, simulate
from orchestrator.loops import trajectory_sensitivity
from python_blocks.kinematics.assumed_arm import ATTITUDES_DEG, seven_joint_arm

EXAMPLE = Path(__file__).parents[3] / "examples" / "ejection"
SPRINGS = 0.5 * 2 * 812.7 * 0.086**2  # J
FRICTIONLESS = {f"{n}[{i}]": 0.0 for n in ("static", "coulomb", "viscous") for i in (1, 2, 3)}


@pytest.fixture(scope="module")
def arm(arms: tuple[Path, ...]) -> Path:
    return arms[0]


@pytest.fixture(scope="module")
def eject(arm: Path):
    @cache
    def run(number: int, step: str = "20 ms", stop: str = "1.6 s", **values: float) -> Result:
        system = System("table").add("arm", fmu(arm), **(attitude(number) | values))
        return simulate(system, step=step, stop=stop)

    return run


def attitude(number: int) -> dict[str, float]:
    angles = np.radians(ATTITUDES_DEG[number - 1])
    return {f"phi0[{i}]": float(a) for i, a in enumerate(angles, 1)}


def last(result: Result, *names: str) -> list[float]:
    return [float(result[f"arm.{name}"][-1]) for name in names]


def angles(name: str) -> list[str]:
    return [f"{name}[{i}]" for i in (1, 2, 3)]


# Time and speed of the release, joints 2 and 4 until then: +-0.3 % and +-0.05 deg.
@pytest.mark.parametrize(
    ("number", "time", "speed", "turned"),
    [
        (1, 0.2591, 0.5071, (-4.11, 6.48)),
        (2, 0.2542, 0.5307, (4.06, -1.57)),
        (5, 0.4198, 0.3218, (0.0, 0.0)),  # a rigid body: a quarter of a period
    ],
)
def test_release(eject, number: int, time: float, speed: float, turned: tuple[float, ...]) -> None:
    result = eject(number)
    assert last(result, "release_time", "release_speed") == pytest.approx([time, speed], rel=3e-3)
    found = np.degrees(last(result, *angles("release_phi"))) - ATTITUDES_DEG[number - 1]
    np.testing.assert_allclose(found, [*turned, 0.0], atol=0.05)


def test_final_spin_of_attitude_2(eject) -> None:
    assert np.degrees(last(eject(2), "w[2]")) == pytest.approx([18.37], rel=3e-3)


@pytest.mark.usefixtures("arm", "no_pictures")
def test_all_expectations_of_the_file_are_kept(tmp_path: Path) -> None:
    experiment = read_experiment(EXAMPLE / "experiment.toml")
    cases = {case for one in experiment.expect.values() for case in one.cases}
    outcome = run_experiment(experiment, EXAMPLE, tmp_path, only=cases)
    assert outcome.broken == []
    assert cases == {"plane_1", "plane_2", "plane_5"}


def test_a_rigid_body_has_a_closed_form(eject) -> None:
    """No joint of the straight arm breaks away: a mass on a spring."""
    time, speed = last(eject(5), "release_time", "release_speed")
    omega = np.sqrt(2 * 812.7 / 116.1)
    assert time == pytest.approx(np.pi / 2 / omega, abs=1e-9)
    assert speed == pytest.approx(0.086 * omega, abs=1e-9)


@pytest.mark.parametrize("number", [3, 4])
def test_attitudes_of_which_no_figures_are_known(eject, number: int) -> None:
    """Sticking, sliding, the rail and coasting, as Pinocchio and SciPy have them."""
    result, ejection = eject(number), Ejection(number)
    state = ejection.run(1.6)
    time, velocities, phi = ejection.release
    assert last(result, "release_time") == pytest.approx([time], abs=1e-9)
    assert last(result, *angles("release_phi")) == pytest.approx(phi.tolist(), abs=1e-8)
    assert last(result, "release_speed") == pytest.approx([velocities[1]], abs=1e-8)
    assert last(result, "rest_time") == pytest.approx([ejection.stuck[-1][0]], abs=1e-8)
    assert last(result, *angles("phi")) == pytest.approx(state[3:6].tolist(), abs=1e-8)
    assert last(result, *angles("rate")) == [0.0, 0.0, 0.0]  # exactly still
    ours = last(result, "r[1]", "r[3]", "v[1]", "v[3]", "w[2]")
    assert ours == pytest.approx(state[[0, 1, 6, 7, 8]].tolist(), abs=1e-8)
    modes = np.stack([result[f"arm.mode[{i}]"] for i in (1, 2, 3)])
    # The first row is that of initialisation mode, before the events of the start.
    changes = np.count_nonzero(np.diff(modes[:, 1:], axis=1))
    later = sum(time > 0.0 for time, _ in ejection.broke_away)
    assert changes == len(ejection.stuck) + later, "nothing chatters"


@pytest.mark.parametrize("rate", [0.05, -0.05])
def test_a_joint_that_turns_at_the_start_slides(arm: Path, rate: float) -> None:
    """Friction is against its motion from the first row on; it is not taken for one that sticks."""
    values = {"guided": False, "rate0[2]": rate, "torque[2]": -0.5 * np.sign(rate)}
    system = System("table").add("arm", fmu(arm), **values)
    result = simulate(system, step="1 ms", stop="2 ms")
    assert result["arm.mode[2]"].tolist() == [np.sign(rate)] * 3
    assert result["arm.rate[2]"][0] == rate
    assert np.all(result["arm.friction[2]"] * rate < 0.0)


@pytest.mark.parametrize("number", [3, 4])
def test_without_friction(eject, number: int) -> None:
    result = eject(number, stop="0.4 s", **FRICTIONLESS)
    state = Ejection(number, 0.0, 0.0, 0.0).run(0.4)
    ours = last(result, "r[1]", "r[3]", *angles("phi"), "v[1]", "v[3]", "w[2]", *angles("rate"))
    assert ours == pytest.approx(state[[0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11]].tolist(), abs=1e-7)


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_what_is_conserved(eject, number: int) -> None:
    result = eject(number)
    free = result["arm.released"] > 0.5
    for name in ("momentum[1]", "momentum[3]", "angular_momentum[2]"):
        assert np.ptp(result[f"arm.{name}"][free]) < 1e-9
    ledger = sum(result[f"arm.{name}"] for name in ("energy", "spring_energy", "friction_heat"))
    np.testing.assert_allclose(ledger, SPRINGS, rtol=0, atol=1e-6)
    assert np.all(np.diff(result["arm.friction_heat"]) >= 0.0)


@pytest.mark.parametrize("step", ["1 ms", "0.8 s"])
def test_events_do_not_depend_on_the_step(eject, step: str) -> None:
    names = ("release_time", "release_speed", "rest_time", "w[2]", *angles("phi"))
    assert last(eject(3, step), *names) == pytest.approx(last(eject(3), *names), abs=1e-8)


def test_fmpy_gives_the_same_bits(arm: Path, eject) -> None:
    names = ["phi[1]", "phi[2]", "rate[2]", "v[3]", "w[2]", "rest_time", "energy"]
    found = simulate_fmu(
        str(arm),
        stop_time=1.0,
        step_size=1 / 64,  # without rounding: FMPy adds up steps, we count nanoseconds
        output_interval=1 / 64,
        start_values=attitude(2),
        output=names,
        fmi_type="CoSimulation",
    )
    ours = eject(2, "15.625 ms", "1 s")
    for name in names:
        np.testing.assert_array_equal(found[name], ours[f"arm.{name}"])


def test_fmi_3_gives_the_same_bits(arms: tuple[Path, ...], eject) -> None:
    system = System("table").add("arm", fmu(arms[1]), phi0=tuple(attitude(3).values()))
    result = simulate(system, step="20 ms", stop="1.6 s")
    ours = eject(3)
    for name in ("rest_time", "energy"):
        np.testing.assert_array_equal(result[f"arm.{name}"], ours[f"arm.{name}"])
    for name in ("phi", "rate", "v", "w"):  # arrays, whose elements count from 0
        for i in range(3):
            np.testing.assert_array_equal(result[f"arm.{name}[{i}]"], ours[f"arm.{name}[{i + 1}]"])


def test_gradients_through_the_events(arm: Path, eject) -> None:
    """Speed of the release and final rates, by seven events: against differences of runs."""
    start, width = attitude(1), 1e-5
    sensitivity = trajectory_sensitivity(
        arm, start, ["v[3]", "w[2]", "spring_energy"], stop=4.0, step=0.02
    )
    release = next(event for event in sensitivity.events if event.value[2] < 1e-12)
    ahead, behind = (
        eject(1, "50 ms", "4 s", **(start | {"phi0[2]": start["phi0[2]"] + moved}))
        for moved in (width, -width)
    )
    names = ("release_time", "release_speed", "v[3]", "w[2]")
    moves = np.subtract(last(ahead, *names), last(behind, *names)) / (2.0 * width)
    ours = [release.moves[1], release.derivative[0, 1], *sensitivity.derivative[-1, :2, 1]]
    # The width's square, steps of 20 ms against an integration to 1e-10.
    np.testing.assert_allclose(ours, moves, rtol=2e-5)


def test_the_plant_has_the_numbers_of_the_assumed_arm(arm: Path) -> None:
    chain = seven_joint_arm().with_locked({1: 0.0, 3: 0.0, 5: 0.0, 7: 0.0})
    values = fmu(arm).connectors
    for i in range(4):
        assert values[f"m[{i + 1}]"].start == pytest.approx(chain.mass[i], rel=1e-14)
        for j in range(3):
            assert values[f"center[{i + 1},{j + 1}]"].start == pytest.approx(
                chain.center[i, j], abs=1e-14
            )
            for k in range(3):
                found = values[f"J[{i + 1},{j + 1},{k + 1}]"].start
                assert found == pytest.approx(chain.inertia[i, j, k], abs=1e-14)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"m[3]": 0.0}, "the mass of link 2 is not positive"),
        ({"J[4,1,1]": -1.0}, "the inertia of link 3 is not positive definite"),
        ({"J[2,1,2]": 0.1}, "the inertia of link 1 is not symmetric"),
        ({"static[2]": 1.0}, "the static friction of joint 2 is below its Coulomb friction"),
        ({"phi_max[1]": -1.5}, "joint 1 begins at -1.0472 rad, outside of its limits"),
        # Straight down along (0, 0.1 - 0.12 s, 0.22 - 0.9 s): deepest where it is as far from the
        # middle in y as in z, s = 0.92/1.02; 0.6 + 0.09 m less 0.12 s - 0.1 m.
        (
            {"phi0[1]": np.pi, "phi0[2]": 0.0, "phi0[3]": 0.0},
            r"link 1 begins 0.6817[67]\d* m deep in the spacecraft",  # 0.681765 m
        ),
        ({"rotor[2]": -1.0}, "the rotor of joint 2 has a negative inertia"),
        ({"compression": 0.0}, "its springs are released already"),
        ({"w0[2]": 0.1}, "the base turns at the start"),
    ],
)
def test_bad_input(arm: Path, values: dict[str, float], told: str) -> None:
    system = System("table").add("arm", fmu(arm), **(attitude(1) | values))
    with pytest.raises(StepError, match=told):
        simulate(system, step="20 ms", stop="40 ms")
