"""Arming of the rigs in examples, with models in the place of their devices; nothing is opened."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from orchestrator import (
    ArmingError,
    DescriptionError,
    UnknownNameError,
    read_experiment,
    run_experiment,
)
from orchestrator.rig.arming.extension import armed
from orchestrator.rig.arming.tables import IdentificationTable
from orchestrator.rig.hardware.twin_file import SignalPair, TwinFile, by_clock, twin_text
from orchestrator.study.prepare.prepared_case import RunSettings, SystemReader
from orchestrator.study.reader import prepared_cases

EXAMPLES = Path(__file__).parents[3] / "examples"
pytestmark = pytest.mark.usefixtures("plants")

#: Of the rig whose gain is identified: a step and the body, sheet and damper of rig_capture.ssd.
T, MASS, K, B = 0.004, 750.0, 2510.0, 100.0
GAINS = """
title = "A robot with another gain than its model"
[defaults]
algorithm = "gauss-seidel"
delay = "plain"
step = "4 ms"
stop = "3 s"
[arming]
delay_reserve = "4 ms"
gain_reserve = 1.25
[case.c]
system = "rig_capture.ssd"
devices.robot = { device = "kuka_rsi", axes = ["x"], measured = "displacement" }
[case.c.delays]
"robot.x -> sensor.x" = "0 ms"
"""


def armings(file, *cases, identified=None):
    path = EXAMPLES / file
    experiment, reader = read_experiment(path), SystemReader(EXAMPLES / "epos")
    if path.is_relative_to(EXAMPLES):
        reader = SystemReader(path.parent)
    settings = RunSettings(only=cases)
    experiment, prepared, _ = prepared_cases(experiment, reader, settings)
    return armed(experiment, prepared, reader, settings, identified)


def robot_of(delay_ms, gain=1.0, unsure=0.0, **changes):
    """Return what would be identified of a robot that is so late, and moves so much farther."""
    sure = {"value": 0.0, "low": 0.0, "high": 0.0}
    late = dict.fromkeys(sure, delay_ms * 0.001)
    one = {"value": gain, "low": gain - unsure, "high": gain + unsure}
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
        **changes,
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


@pytest.mark.parametrize("case", ["contact_16", "capture"])
def test_at_a_kink_both_sides_are_taken_and_told(rig_of_gains, case):
    """At the start the sheet is just touched: the mean of both sides has half its stiffness.

    So the contact was refused, +0.0032 1/s, and the capture granted with 58 ms.
    """
    system = "rig_contact.ssd" if case == "contact_16" else "rig_capture.ssd"
    text = GAINS.replace("rig_capture.ssd", system).replace('"0 ms"', '"18 ms"')
    text = text.replace('4 ms"\ngain', '4 ms"\nset = { "sensor.latched" = false }\ngain')
    rig_of_gains.write_text(text, encoding="utf-8")
    kink = armings(rig_of_gains)["c"]
    rig_of_gains.write_text(text.replace("gain_reserve", 'at = "0.5 s"\ngain_reserve'))
    closed = armings(rig_of_gains)["c"]
    assert not any("at a kink" in text for text in closed.remarks)
    (told,) = (text for text in kink.remarks if "at a kink" in text)
    assert "sensor.x" in told
    assert "open: " in told
    assert f"delay margin of {closed.lines[0].margins.delay.value * 1e3:.4g} ms" in told
    assert kink.is_granted
    assert kink.lines[0].growth == pytest.approx(closed.lines[0].growth, rel=1e-6)


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


@pytest.mark.parametrize(("beyond_ms", "jitter_ms", "counted"), [(0.005, 0.7, 20), (1, 0.7, 21)])
def test_what_scatters_is_no_cycle_more(rig_of_gains, beyond_ms, jitter_ms, counted):
    """Beside a busy machine 20 ms are 20.005 ms, which a held response makes 24 ms of."""
    twin = robot_of(16.0 + beyond_ms)
    jitter = dict.fromkeys(("value", "low", "high"), jitter_ms * 1e-3)
    pair = SignalPair(**{**twin.pair[0].model_dump(), "jitter": jitter})
    found, whole = (
        armings(rig_of_gains, identified={"c": (one,)})["c"]
        for one in (twin.model_copy(update={"pair": (pair,)}), robot_of(16.0))
    )
    assert f"{counted} ms identified" in "\n".join(found.notes)
    same = found.lines[0].growth == pytest.approx(whole.lines[0].growth)
    assert same == (counted == 20)


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
    assert case.measured["growth"].value == pytest.approx(-0.02987, abs=1e-4)


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


def cycle(gain, cycles):
    """The matrix of one cycle by hand: x and v of the body, and both of the cycles before.

    The force over a cycle is -gain K x of so many cycles ago, less B v of four cycles ago.
    """
    n = 2 * (cycles + 1)
    step = np.eye(n, k=-2)
    step[:2, :2] = [[1.0, T], [0.0, 1.0]]
    moved = np.array([T * T / (2.0 * MASS), T / MASS])
    step[:2, 2 * cycles] -= gain * K * moved
    step[:2, 2 * 4 + 1] -= B * moved
    return step


def growth(step):
    return math.log(np.abs(np.linalg.eigvals(step)).max()) / T


@pytest.fixture
def rig_of_gains(tmp_path):
    file = tmp_path / "gains.toml"
    file.write_text(GAINS, encoding="utf-8")
    return file


@pytest.mark.parametrize("delay_ms", [12.0, 16.0])
@pytest.mark.parametrize("gain", [-1.0, 0.5, 1.0, 1.44, 1.8, 1.81, 2.0])
def test_margins_are_those_with_the_identified_gain(rig_of_gains, gain, delay_ms):
    """Granted or refused as the eigenvalues of the sampled loop say, with reserve and without.

    The run adds a cycle, so the robot's 16 ms are 20: neutral at 1.81, +0.0070 1/s at 2.
    """
    identified = {"c": (robot_of(delay_ms, gain),)}
    found = armings(rig_of_gains, identified=identified)["c"]
    cycles = round(delay_ms / 4.0) + 1
    truth = growth(cycle(gain, cycles))
    (line,) = found.lines
    assert line.growth == pytest.approx(truth, abs=1e-7)
    assert line.margins.is_stable == (truth < 0.0)
    with_reserve = growth(cycle(1.25 * gain, cycles)), growth(cycle(gain, cycles + 1))
    assert found.is_granted == (max(truth, *with_reserve) < 0.0)
    if gain < 0.0:
        told = (
            "robot.x was identified to follow dx with a gain of -1, its model has 1, of the other"
        )
        assert told in found.refusal()
        assert "what would help" not in found.refusal()
    else:
        assert any(f"{gain:g} times its model's gain" in text for text in found.remarks)


@pytest.mark.parametrize(
    ("delay_ms", "cycles", "neutral"), [(24.0, 11, 0.8666), (16.0, 9, 1.0487), (8.0, 7, 1.3280)]
)
def test_a_line_of_the_run_comes_on_top_of_the_robot(rig_of_gains, delay_ms, cycles, neutral):
    """The robot, its cycle and 16 ms on the line to a sensor that is simulated."""
    rig_of_gains.write_text(GAINS.replace('"0 ms"', '"16 ms"'), encoding="utf-8")
    found = armings(rig_of_gains, identified={"c": (robot_of(delay_ms),)})["c"]
    (line,) = found.lines
    assert line.growth == pytest.approx(growth(cycle(1.0, cycles)), abs=1e-7)
    assert line.gain == pytest.approx(neutral, abs=1e-4)
    assert growth(cycle(neutral, cycles)) == pytest.approx(0.0, abs=1e-5)
    assert found.is_granted == (neutral > 1.25)


@pytest.mark.parametrize(
    ("twin", "told"),
    [
        (
            robot_of(16.0, 4.0),
            r"gain of 4, its model has 1, which is 4 times that, expected 1/3 to",
        ),
        (robot_of(16.0, 0.3), r"which is 0.3 times that, expected 1/3 to 3 times"),
        (robot_of(16.0, 0.5, unsure=0.6), "its interval has both signs"),
        (robot_of(16.0, doubts={"x": "robot.x is doubtful"}), "robot.x is doubtful"),
    ],
)
def test_what_was_identified_in_doubt_or_far_off_is_refused(rig_of_gains, twin, told):
    found = armings(rig_of_gains, identified={"c": (twin,)})["c"]
    assert not found.is_granted
    assert re.search(told, found.refusal())
    assert found.as_json()["objections"]


def test_the_bounds_of_a_gain_can_be_set(rig_of_gains):
    wide = GAINS.replace("gain_reserve", "gain_within = 5\ngain_reserve")
    rig_of_gains.write_text(wide, encoding="utf-8")
    assert armings(rig_of_gains, identified={"c": (robot_of(16.0, 0.25),)})["c"].is_granted


def test_what_is_in_doubt_of_a_response_that_nothing_reads_is_no_objection(rig_of_gains):
    twin = robot_of(12.0, doubts={"y": "robot.y is doubtful"})
    assert armings(rig_of_gains, identified={"c": (twin,)})["c"].is_granted


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
