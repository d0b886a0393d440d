"""Arming of the rigs in examples, with models in the place of their devices; nothing is opened."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from orchestrator import (
    ArmingError,
    DescriptionError,
    UnknownNameError,
    read_experiment,
    run_experiment,
)
from orchestrator.experiment.file.identification_table import IdentificationTable
from orchestrator.experiment.prepare.run_settings import RunSettings
from orchestrator.experiment.prepare.system_reader import SystemReader
from orchestrator.experiment.run.arming import armed
from orchestrator.experiment.runner import prepared_cases
from orchestrator.identification.clock import by_clock
from orchestrator.identification.twin_file import TwinFile, twin_text

EXAMPLES = Path(__file__).parents[3] / "examples"
pytestmark = pytest.mark.usefixtures("plants")


def armings(file, *cases, identified=None):
    experiment, reader = read_experiment(EXAMPLES / file), SystemReader((EXAMPLES / file).parent)
    settings = RunSettings(only=cases)
    experiment, prepared, _ = prepared_cases(experiment, reader, settings)
    return armed(experiment, prepared, reader, settings, identified)


def robot_of(delay_ms):
    """Return what would be identified of a robot that is so late."""
    sure = {"value": 0.0, "low": 0.0, "high": 0.0}
    late = dict.fromkeys(sure, delay_ms * 0.001)
    one = dict.fromkeys(sure, 1.0)
    pair = {
        "command": "dx",
        "response": "x",
        "command_unit": "m",
        "response_unit": "m",
        "provenance": "identified",
        "delay": late,
        "transit": dict.fromkeys(sure, 0.004),
        "dynamics": {"order": 0},
        "gain": one,
        "offset": 0.0,
        "noise": sure,
        "quantisation": 0.0,
        "jitter": sure,
        "sample_rate": dict.fromkeys(sure, 250.0),
        "excitation": "prbs",
        "samples": 100,
        "validation": {"excitation": "step", "samples": 100, "residual": 0.0, "fit": 1.0},
    }
    return TwinFile(
        software="a test",
        date="2026-11-23",
        component="robot",
        device="kuka_rsi",
        step=0.004,
        confidence=0.95,
        pair=(pair,),
    )


def test_capture_is_granted_and_grows_as_its_simulation():
    (found,) = armings("epos/rig.toml", "capture").values()
    assert found.is_granted
    (line,) = found.lines
    assert line.growth == pytest.approx(-0.0298748, rel=1e-4)  # simulated, fitted over 20 s
    assert line.margins.delay.value == pytest.approx(17.85e-3, rel=1e-3)


def test_the_longer_of_declared_and_identified_delay_counts():
    longer, shorter = (
        armings("epos/rig.toml", "capture", identified={"capture": (robot_of(ms),)})["capture"]
        for ms in (30.0, 10.0)
    )
    ends = "robot.x -> sensor.x"
    assert f"{ends}: 30 ms identified, 18 ms declared; margins are those with 30 ms" in longer.notes
    assert (
        f"{ends}: 10 ms identified, 18 ms declared; margins are those with 18 ms" in shorter.notes
    )
    left, declared = (one.lines[0].margins.delay.value for one in (longer, shorter))
    assert declared - left == pytest.approx(12e-3, rel=1e-2)  # the delay that came to it


def test_a_twin_in_place_of_the_robot_grows_as_the_rig(tmp_path, no_pictures):
    """The recipe of docs/howto/identify.md; the emulated rig grew with -0.02977 1/s."""
    file, twin = EXAMPLES / "epos/rig.toml", tmp_path / "robot.twin.toml"
    twin.write_text(twin_text(by_clock(robot_of(16.0).model_copy(update={"rate": 250.0}), -22.0)))
    how = {"only": ["capture_simulated"], "swaps": {"robot": f"twin:{twin}"}}
    experiment = read_experiment(file)
    ends = "robot.x -> sensor.x"
    with pytest.raises(DescriptionError, match=rf"{ends}: .*twice: component 'robot'.* 18 ms"):
        run_experiment(experiment, file.parent, tmp_path / "out", **how)
    outcome = run_experiment(
        experiment, file.parent, tmp_path / "out", delays={ends: "2 ms"}, **how
    )
    case = outcome.cases["capture_simulated"]
    assert case.measures["growth"].value == pytest.approx(-0.02987, abs=1e-4)


def test_identified_delays_count_by_the_clock_of_the_run():
    """The robot is the clock, and its 4 ms are 3.96 ms: what took 29.7 ms took 30 ms of its own."""
    pair = robot_of(29.7).pair[0]
    rate = pair.sample_rate.scaled(1.0 / 0.99)
    twin = robot_of(29.7).model_copy(
        update={"rate": 250.0, "pair": (pair.model_copy(update={"sample_rate": rate}),)}
    )
    found = armings("epos/rig.toml", "capture", identified={"capture": (twin,)})["capture"]
    assert "robot.x -> sensor.x: 30 ms identified, 18 ms declared" in "\n".join(found.notes)
    assert any("second is -1e+04 ppm" in note for note in found.notes)


def test_a_device_to_identify_that_no_case_commands(tmp_path):
    experiment = read_experiment(EXAMPLES / "epos/rig.toml")
    table = IdentificationTable(devices=("robbot",))
    experiment = experiment.model_copy(update={"identification": table})
    folder = EXAMPLES / "epos"
    with pytest.raises(UnknownNameError, match=r"no case commands a device 'robbot'.*'robot'"):
        run_experiment(experiment, folder, tmp_path / "out", only=("capture",))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"duration": "0 s"}, "duration: expected a time > 0 s"),
        ({"rest": "2 parsec"}, "parsec"),
        ({"limits": {"robot.dx": []}}, "limits"),
        ({"limits": {"robot.dx": [-1.0]}}, "greater than 0"),
        ({"excitation": "noise"}, "excitation"),
    ],
)
def test_a_table_that_says_nothing_sensible(given, told):
    with pytest.raises(ValidationError, match=told):
        IdentificationTable.model_validate(given)


@pytest.mark.slow
def test_above_the_margin_nothing_is_opened(tmp_path):
    file = EXAMPLES / "epos/rig_unstable.toml"
    told = r"case 'unstable': arming is refused: .* it grows with \+0\.0506\d* 1/s at 0\.5197 Hz"
    with pytest.raises(ArmingError, match=told):
        run_experiment(read_experiment(file), file.parent, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_docking_is_armed_with_its_compensation_only():
    found = armings("famdc/rig.toml")
    assert {name: one.is_granted for name, one in found.items()} == {
        "compensated": True,
        "uncompensated": False,
    }
