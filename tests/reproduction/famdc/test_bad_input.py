"""Bad input on the guarded rigs: each case of faults.toml, with its guards and without them."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reproduction.famdc.example import FOLDER

from orchestrator import Reason
from orchestrator.core.coupling import DEFAULT_DELAY
from orchestrator.core.recording import Result
from orchestrator.core.simulation import FailedRunError, simulate
from orchestrator.study import read_experiment
from orchestrator.study.experiment import Experiment
from orchestrator.study.prepare.prepare import merged, prepare
from orchestrator.study.prepare.prepared_case import faults_of

FILE = FOLDER / "faults.toml"
FAULT = 1.1  # s, when faults begin that do not begin with the run


@dataclass(frozen=True)
class Expected:
    """Who finds what, how long after the cause, in s."""

    finder: str
    reason: Reason
    within: float
    since: float = FAULT


CASES = {
    # The loop gains energy from the start; it has turned once when it has given too much.
    "uncompensated": Expected("force_guard", Reason.ENERGY, 0.5, since=0.0),
    # Five equal samples in motion, once the lead has settled to the last bit, and 10 ms.
    "sensor_drops_out": Expected("force_guard", Reason.SENSOR_STALE, 0.015),
    "sensor_is_stuck_from_the_start": Expected("force_guard", Reason.SENSOR_LOST, 0.03, since=0.0),
    "force_is_no_number": Expected("force_guard", Reason.FORCE_NOT_FINITE, 0.012),
    # From noise: it must first move enough for its stiffness to be surely negative.
    "wrong_sign": Expected("force_guard", Reason.WRONG_SIGN, 1.5, since=0.0),
    "force_jumps": Expected("force_guard", Reason.FORCE, 0.0011),
    "force_paths_disagree": Expected("force_guard", Reason.DISAGREEMENT, 0.012),
    "unknown_contact": Expected("force_guard", Reason.UNKNOWN_CONTACT, 0.6, since=0.0),
    "command_is_no_number": Expected("command_guard", Reason.COMMAND_NOT_FINITE, 0.0011),
    "command_jumps": Expected("command_guard", Reason.VELOCITY, 0.0011),
    "spatial_uncompensated": Expected("wrench_guard", Reason.ENERGY, 0.3, since=0.0),
    "spatial_sensor_drops_out": Expected("wrench_guard", Reason.SENSOR_STALE, 0.015),
    "spatial_force_is_no_number": Expected("wrench_guard", Reason.FORCE_NOT_FINITE, 0.012),
    # Two other directions take energy meanwhile; the estimates turn, and so are not believed.
    "spatial_wrong_sign": Expected("wrench_guard", Reason.UNKNOWN_CONTACT, 0.4),
    "leg_limits": Expected("command_guard", Reason.LEGS, 0.2, since=0.0),
    "unreachable_pose": Expected("command_guard", Reason.LEGS, 0.0011, since=0.0),
    "singular": Expected("command_guard", Reason.SINGULAR, 0.0011, since=0.0),
    "encoder_is_no_number": Expected("command_guard", Reason.KINEMATICS, 0.013),
    "quaternion_of_zeros": Expected("command_guard", Reason.COMMAND_NOT_FINITE, 0.0011),
}
UNHARMED = ("healthy", "ridden_through", "no_excitation", "spatial_healthy")
UNGUARDED = {
    "axial_guarded.ssd": "axial_compensated.ssd",
    "axial_uncompensated_guarded.ssd": "axial_uncompensated.ssd",
    "spatial_guarded.ssd": "SystemStructure.ssd",
    "spatial_uncompensated_guarded.ssd": "spatial_uncompensated.ssd",
}
PAST_THE_GUARD = {
    "dynamics.position -> command_guard.position": "dynamics.position -> robot.position_command",
    "dynamics.q -> command_guard.q": "dynamics.q -> inverse.q",
}


def ran(experiment: Experiment, name: str) -> Result:
    case = experiment.case[name]
    options = merged(case, experiment.defaults)
    return simulate(
        prepare(name, case, FOLDER),
        step=options.step,
        stop=options.stop,
        algorithm=options.algorithm,
        delay=options.delay or DEFAULT_DELAY,
        early_return=options.early_return,
        faults=faults_of(case),
        name=name,
    )


@pytest.fixture(scope="module")
def guarded(plants: Path) -> dict[str, Result]:
    """Every case of the file that ships."""
    assert plants.is_dir()
    experiment = read_experiment(FILE)
    return {name: ran(experiment, name) for name in experiment.case}


def unguarded(name: str) -> Result:
    """The same case with the same fault and without guards, for 5 s."""
    data: dict[str, Any] = tomllib.loads(FILE.read_text())
    case = data["case"][name]
    values = case.get("set", {})
    if "spatial" in case["system"]:
        values |= {"inverse.stop": False, "forward.stop": False}
    made = {
        "system": UNGUARDED[case["system"]],
        "set": {key: value for key, value in values.items() if "guard" not in key},
        "fault": {
            label: fault | {"on": PAST_THE_GUARD.get(fault["on"], fault["on"])}
            for label, fault in case.get("fault", {}).items()
        },
        "stop": "5 s",
    }
    defaults = data["defaults"]
    return ran(
        Experiment.model_validate({"title": "", "defaults": defaults, "case": {name: made}}), name
    )


def vector(result: Result, name: str) -> np.ndarray:
    """A signal of shape (n, 1) or (n, size)."""
    names = [n for n in result.names if n == name or n.startswith(f"{name}[")]
    return np.column_stack([result[n] for n in names])


def command(result: Result) -> tuple[np.ndarray, np.ndarray]:
    return vector(result, "command_guard.command"), vector(result, "command_guard.rate")


def test_every_case_of_the_file_is_here() -> None:
    assert set(read_experiment(FILE).case) == {*CASES, *UNHARMED}


@pytest.mark.parametrize("name", CASES)
def test_it_is_found_in_time_and_said(guarded: dict[str, Result], name: str) -> None:
    result, expected = guarded[name], CASES[name]
    (notice,) = result.safe_states
    assert notice.component == expected.finder
    assert notice.what.startswith(expected.reason.text)
    assert notice.advice == expected.reason.advice
    assert expected.since <= notice.time_ns / 1e9 <= expected.since + expected.within
    for guard in {expected.finder, "command_guard"}:  # the others follow with the same reason
        assert result[f"{guard}.reason"][-1] == expected.reason
        assert result[f"{guard}.since"][-1] - notice.time_ns / 1e9 <= 0.0011
    assert any(str(notice) == remark for remark in result.remarks)


@pytest.mark.parametrize("name", CASES)
def test_the_command_comes_to_rest_without_a_jump(guarded: dict[str, Result], name: str) -> None:
    result = guarded[name]
    position, rate = command(result)
    safe = result["command_guard.safe"].astype(bool)
    first = int(np.flatnonzero(safe)[0])
    step = 1e-3
    limit = 5.0 if rate.shape[1] == 3 else 2.0  # m/s2, the guards' defaults
    ways = np.diff(position, axis=0)
    # Each step of the position is that of the mean velocity: nothing jumps, at any time. It is not
    # by up to a h^2/8 in the step in which the command comes to rest, somewhere inside of it.
    mean = 0.5 * step * (rate[1:] + rate[:-1])
    np.testing.assert_allclose(ways, mean, rtol=0, atol=limit * step**2 / 8 * (1 + 1e-9))
    slopes = np.linalg.norm(np.diff(rate, axis=0), axis=1) / step
    assert slopes[first - 1 :].max() <= limit * (1 + 1e-9)
    fast = float(np.linalg.norm(rate[first - 1]))
    assert result["command_guard.standing"][-1] == 1.0
    assert not rate[-1].any()
    rested = int(np.flatnonzero(result["command_guard.standing"])[0])
    assert (rested - first) * step <= fast / limit + step
    away = float(np.linalg.norm(position[-1] - position[first - 1]))
    assert away == pytest.approx(fast**2 / (2 * limit), rel=1e-9, abs=1e-15)
    assert np.ptp(position[rested:], axis=0).max() == 0.0


@pytest.mark.parametrize("name", CASES)
def test_the_robot_stays_near_and_the_force_fades(guarded: dict[str, Result], name: str) -> None:
    result = guarded[name]
    if name.startswith(("spatial", "leg", "unreach", "singular", "encoder", "quat")):
        place, force = vector(result, "captured.offset"), "wrench_guard.applied_force"
    else:
        place, force = vector(result, "robot.position"), "force_guard.applied"
    assert np.abs(place).max() < 0.035  # 31 mm where one of three signs is wrong, else 22 mm
    forces = vector(result, force)
    assert not forces[-1].any()
    assert np.abs(forces).max() < 2000.0  # the limit of the guards
    guard = force.split(".")[0]
    first = int(np.flatnonzero(result[f"{guard}.safe"])[0])
    fade = np.abs(np.diff(forces[first:], axis=0)).max()
    assert fade <= np.abs(forces[first]).max() / 200 * (1 + 1e-9)  # 0.2 s in steps of 1 ms


@pytest.mark.parametrize("name", UNHARMED)
def test_no_false_alarm(guarded: dict[str, Result], name: str) -> None:
    result = guarded[name]
    assert not result.safe_states
    for guard in ("command_guard", "force_guard", "wrench_guard"):
        if f"{guard}.reason" in result.names:
            assert not result[f"{guard}.reason"].any()


def test_no_excitation_is_a_warning(guarded: dict[str, Result]) -> None:
    result = guarded["no_excitation"]
    (notice,) = result.notices
    assert not notice.safe
    assert notice.time_ns == pytest.approx(1e9, abs=2e6)  # unknown_time
    assert "still unknown" in notice.what
    assert np.abs(result["robot.position"]).max() < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "uncompensated",
        "sensor_drops_out",
        "sensor_is_stuck_from_the_start",
        "force_is_no_number",
        "wrong_sign",
        "unknown_contact",
        "spatial_uncompensated",
        "spatial_sensor_drops_out",
        "spatial_force_is_no_number",
        "spatial_wrong_sign",
    ],
)
def test_without_guards_the_robot_goes_far(plants: Path, name: str) -> None:
    """Further than the 35 mm that it never reaches with them."""
    result = unguarded(name)
    spatial = name.startswith("spatial")
    assert np.abs(vector(result, "captured.offset" if spatial else "robot.position")).max() > 0.05


def test_without_guards_a_spike_reaches_the_bodies(plants: Path) -> None:
    assert (
        np.abs(unguarded("force_jumps")["compensation.force"]).max() > 8e3
    )  # N: 2.8 times, by the lead


def test_without_guards_an_offset_moves_the_equilibrium(plants: Path) -> None:
    late = unguarded("force_paths_disagree")["robot.position"][1200:]
    assert np.abs(late).max() > 0.015  # 500 N are 10 mm of the contact


def test_without_guards_a_jump_reaches_the_robot(plants: Path) -> None:
    assert np.abs(unguarded("command_jumps")["sensor.measured"]).max() > 2000.0  # 50 mm x 5e4 N/m


def test_without_guards_a_command_that_is_no_number_ends_the_run(plants: Path) -> None:
    with pytest.raises(FailedRunError, match=r"'robot' failed in the step from t = 1\.1 s"):
        unguarded("command_is_no_number")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unreachable_pose", "singular", "encoder_is_no_number"])
def test_without_guards_the_robot_is_elsewhere_and_nothing_says_so(plants: Path, name: str) -> None:
    """The platform is further from where it should be than its lag explains, 2 mm."""
    result = unguarded(name)
    apart = vector(result, "forward.position") - vector(result, "point.position")
    assert np.linalg.norm(apart, axis=1).max() > 0.005
    assert not result.notices


@pytest.mark.slow
def test_without_guards_a_leg_at_its_limit_leaves_the_robot_behind(plants: Path) -> None:
    """Late in the run the lag is below 0.1 mm; a leg that is too short makes it 2 mm."""
    result = unguarded("leg_limits")
    apart = vector(result, "forward.position") - vector(result, "point.position")
    assert np.linalg.norm(apart[-500:], axis=1).max() > 0.002
    assert result["inverse.margin"].min() < -0.001
    assert not result.notices


def test_with_guards_no_leg_reaches_its_limit(guarded: dict[str, Result]) -> None:
    assert guarded["leg_limits"]["inverse.margin"].min() > 0.0


def test_without_guards_the_legs_stand_while_the_simulation_moves(plants: Path) -> None:
    result = unguarded("quaternion_of_zeros")
    late = slice(1101, None)
    assert not np.ptp(vector(result, "inverse.length")[late], axis=0).any()
    assert np.ptp(vector(result, "point.position")[late], axis=0).max() > 0.004
    assert not result.notices
