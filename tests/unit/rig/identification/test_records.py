"""From the run of a device to its twin, with a robot that is computed: no clock, no wire."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from hw_adapters.emulation.tracking import Tracking
from orchestrator import DescriptionError, Result, TransportDelay, read_system
from orchestrator.core.realtime import RealTime
from orchestrator.core.simunits import component_of
from orchestrator.core.system import Source, System, nanoseconds
from orchestrator.rig.device_units.facts import device_facts
from orchestrator.rig.device_units.samples import SampleLogWriter, read_sample_log
from orchestrator.rig.hardware.twin_file import read_twin
from orchestrator.rig.identification import device_run, identified_device
from orchestrator.rig.identification.before_arming import _alone
from orchestrator.rig.identification.device_run import ExcitationPlan, Procedure, excitation_plan
from orchestrator.rig.identification.pair_model import pair_model
from orchestrator.rig.identification.record import ExcitationLimits, Record
from orchestrator.rig.identification.report import (
    _figures,
    _ratio,
    set_identified_delays,
    write_identification,
)
from orchestrator.rig.supervisor.settings import SupervisorSettings

DEVICE = 'kuka_rsi?axes=["x"]&measured=displacement'
PROCEDURE = Procedure(duration=1.6, compared_duration=0.8, rest=0.24)
PERIOD = 0.004
QUANTUM = 1e-7


def robot_run(
    plan, step, delay_ms, frequency, damping, phase, late=(), lost=(), held_up=0.0, gain=1.0
):
    """Return what a run records of a robot that answers each frame with the newest command.

    Frames are sent at ``phase + (n - 1) * PERIOD``, and arrive 50 us later or a little more; steps
    begin up to 30 us late, one in 20 by ``held_up`` more. ``late``: numbers of frames that come
    with the next one that is not, too late for the robot to take their answer; ``lost``: of those
    that never come. Of both it counts an answer as late, and holds its command.

    Returns
    -------
    result, given, log
        Rows of the run, when each command was given, and what the device's process kept.
    """
    draws = np.random.default_rng(3)
    count = len(plan.commands)
    read = np.arange(count) * step + draws.uniform(0.0, 3e-5, count)
    begun = read.copy()
    begun[7::20] += held_up
    begun = np.maximum.accumulate(begun)
    read[1:] = np.maximum(read[1:], begun[:-1])
    frames = 2 + int((count * step - phase) / PERIOD)
    arrived = phase + np.arange(-1, frames - 1) * PERIOD + 5e-5 + draws.exponential(2e-5, frames)
    for n in sorted(late, reverse=True):  # a pause: all of them come at its end, one behind another
        arrived[n] = arrived[n + 1] - 1e-6
    tracking = Tracking(1, round(delay_ms * 1e6), frequency, damping)
    log = SampleLogWriter(answers=True)
    came, unanswered, ticks = [], 0, 0
    for n in range(frames):
        tracking.advance(round(n * PERIOD * 1e9))
        pose = QUANTUM * round(gain * tracking.position[0] / QUANTUM)
        given = int(np.searchsorted(begun, arrived[n], side="right")) - 1
        command = plan.commands[given, :1] if given >= 0 else plan.commands[0, :1]
        if n not in late and n not in lost:
            tracking.command(round(n * PERIOD * 1e9), command)
        ticks += 1
        if n not in lost:
            log.sent(given + 2 if given >= 0 else 1, round(arrived[n] * 1e9), command)
            log.received(
                len(came) + 1, ticks, round(arrived[n] * 1e9), unanswered, [pose, *[0.0] * 5]
            )
            came.append(n)
            ticks = 0
        unanswered += n in late or n in lost
    newest = np.searchsorted(arrived[came], read, side="right") - 1
    columns = {"robot.sample_age": begun - arrived[came][newest], "robot.samples": 1.0 + newest}
    rows = np.column_stack([np.append(c[:1], c) for c in columns.values()])
    times = np.round(np.arange(count + 1) * step * 1e9).astype(np.int64)
    result = Result("robot", times, tuple(columns), rows)
    return result, np.append(begun[:1], begun), log


@cache
def identified(
    step,
    delay_ms,
    frequency,
    damping,
    phase,
    late=(),
    lost=(),
    held_up=0.0,
    gain=1.0,
    procedure=PROCEDURE,
):
    facts, asked = device_facts(DEVICE), procedure
    plan = excitation_plan("robot", facts.ports.inputs, step, PERIOD, procedure)
    robot = (delay_ms, frequency, damping, phase, late, lost, held_up, gain)
    result, given, written = robot_run(plan, step, *robot)
    with tempfile.TemporaryDirectory() as folder:
        written.write(Path(folder, "log"), 1, 6)
        log = read_sample_log(Path(folder, "log"))

    def run(component, step, procedure, realtime):
        assert procedure is asked
        return device_run.read_run("robot", facts, plan, step, result, given, log, procedure)

    robot = component_of(Source.parse(f"device:{DEVICE}"), "robot")
    system = System("rig", {"robot": robot})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(identified_device, "run_device", run)
        return identified_device.identify_device(system, "robot", step, procedure, RealTime())


@pytest.mark.parametrize(
    ("step", "delay_ms", "frequency", "damping", "phase"),
    [
        (0.004, 16.0, 15.0, 0.7, 0.0011),
        (0.004, 32.0, 10.0, None, 0.0035),
        pytest.param(0.001, 17.3, 15.0, 0.7, 0.0004, marks=pytest.mark.slow),
    ],
)
def test_the_robot_is_found(step, delay_ms, frequency, damping, phase):
    found = identified(step, delay_ms, frequency, damping, phase)
    pair = found.twin.pair[0]
    assert (pair.command, pair.response) == ("dx", "x")
    assert pair.delay.value == pytest.approx(delay_ms * 1e-3, abs=2e-5)
    assert pair.dynamics.frequency.value == pytest.approx(frequency, rel=2e-3)
    if damping is not None:
        assert pair.dynamics.damping.value == pytest.approx(damping, abs=2e-3)
    assert pair.gain.value == pytest.approx(1.0, abs=1e-3)
    assert pair.transit.value == pytest.approx(PERIOD, abs=1e-5)
    assert pair.quantisation == pytest.approx(QUANTUM, rel=1e-3)
    assert pair.sample_rate.low <= 250.0 <= pair.sample_rate.high
    assert 1e-5 < pair.jitter.value < 3e-5
    assert pair.validation.fit > 0.998


@pytest.mark.parametrize("gain", [-1.0, 1.0])
@pytest.mark.parametrize(
    ("fitted", "faults"),
    [("prbs", {"late": tuple(range(15, 400, 13))}), ("chirp", {}), ("chirp", {"held_up": 0.016})],
)
def test_a_robot_that_moves_the_other_way_is_found_all_the_same(fitted, faults, gain):
    """A chirp and commands that came late: half a period of delay more looks like another sign."""
    procedure = Procedure(fitted, duration=1.6, compared_duration=0.8, rest=0.2)
    twin = identified(0.004, 12.0, 15.0, 0.7, 0.001, procedure=procedure, gain=gain, **faults).twin
    pair = twin.pair[0]
    assert pair.gain.value == pytest.approx(gain, abs=0.01)
    assert pair.delay.value == pytest.approx(0.012, abs=5e-4)
    assert pair.dynamics.frequency.value == pytest.approx(15.0, rel=0.02)
    assert not twin.doubts


def test_a_delay_at_the_end_of_its_search_is_in_doubt(tmp_path, no_pictures, wording):
    """A robot that is 40 ms late, of which up to 40 ms are looked for."""
    procedure = Procedure(duration=1.6, compared_duration=0.8, rest=0.04)
    found = identified(0.004, 40.0, None, None, 0.001, procedure=procedure)
    (doubt,) = found.twin.doubts.values()
    assert doubt.startswith(
        "robot.x follows dx with a delay of 40 ms, up to 40 ms, where the search"
    )
    files = write_identification([found], "rig", tmp_path / "out")
    assert read_twin(files[0]) == found.twin
    assert doubt in files[1].read_text()
    system = tmp_path / "rig.toml"
    system.write_text('[system]\nname = "rig"\n[component.robot]\nsource = "block:rig.py:Robot"\n')
    with wording.raises(DescriptionError):
        set_identified_delays(system, [found.twin])


def test_a_plan_of_any_length_is_a_run_of_whole_nanoseconds(monkeypatch):
    """In floating point 6100 steps of 1 ms are 6.1000000000000005 s, which is no whole number."""
    assert 6100 * 0.001 != 6.1
    stops = []

    def simulated(_system, *, stop, **_options):
        stops.append(nanoseconds(stop))
        raise ArithmeticError("seen enough")

    monkeypatch.setattr(device_run, "simulate", simulated)
    commands = np.zeros((6100, 1))
    monkeypatch.setattr(
        device_run, "excitation_plan", lambda *_: ExcitationPlan(("dx",), commands, ())
    )
    robot = component_of(Source.parse(f"device:{DEVICE}"), "robot")
    with pytest.raises(ArithmeticError, match="seen enough"):
        device_run.run_device(robot, 0.001, PROCEDURE, RealTime())
    assert stops == [6_100_000_000]


def sticking(rest):
    """Noise and what is not explained, of a shaft that sticks and a tachometer of 0.1 rad/s."""
    draws = np.random.default_rng(5)
    times = np.arange(800) * PERIOD
    command = np.repeat(draws.choice([-1.0, 1.0], 40), 20)
    rate, shown = 0.0, np.empty(800)
    for n, torque in enumerate(command):
        shown[n] = rate
        drive = 8.0 * torque - 0.6 * rate
        if rate or abs(drive) > 3.0:
            after = rate + PERIOD * 50.0 * (drive - 3.0 * np.sign(rate or drive))
            rate = 0.0 if rate * after < 0.0 else after
    used = np.ones(800, dtype=bool)
    shown += draws.normal(0.0, 0.1, 800)
    model = pair_model(Record(times, shown, times, command, used), longest=0.05)
    noise, unexplained = identified_device.noise_of(model, draws.normal(0.0, 0.1, rest), 0.95)
    return model, noise, unexplained


def test_friction_that_sticks_is_no_noise():
    model, noise, unexplained = sticking(rest=200)
    assert model.noise.value > 0.3  # a linear model leaves that much
    assert noise.low < 0.1 < noise.high
    assert 0.085 < noise.value < 0.115
    assert unexplained.value == pytest.approx(np.sqrt(model.noise.value**2 - noise.value**2))


def test_of_few_samples_at_rest_noise_is_all_that_the_model_leaves():
    model, noise, unexplained = sticking(rest=15)
    assert noise == model.noise
    assert unexplained is None


def test_the_twin_says_noise_at_rest():
    pair = identified(0.004, 16.0, 15.0, 0.7, 0.0011).twin.pair[0]
    assert pair.noise.value == 0.0  # it stands, to the last bit
    assert pair.unexplained.high < 1e-5  # m, of 1 mm: rounding of its clock


def test_steps_that_were_held_up_spoil_nothing():
    pair = identified(0.004, 16.0, 15.0, 0.7, 0.0011, held_up=0.016).twin.pair[0]
    assert pair.delay.value == pytest.approx(0.016, abs=2e-5)
    assert pair.dynamics.frequency.value == pytest.approx(15.0, rel=2e-3)


FRAMES = 600
EVERY_SIXTH = tuple(range(5, FRAMES, 6))
BURSTS = tuple(n for n in range(FRAMES) if n % 50 in range(1, 9))
PAUSES = tuple(n for n in range(FRAMES) if n % 120 in range(1, 26))


@pytest.mark.parametrize(
    ("late", "lost", "held_up"),
    [
        pytest.param((60, 61, 200), (), 0.0, id="three late"),
        pytest.param(EVERY_SIXTH, (), 0.0, id="every sixth late"),
        pytest.param((), EVERY_SIXTH, 0.0, id="every sixth lost"),
        pytest.param(BURSTS, (), 0.03, id="pauses of 32 ms, and a run that is held up"),
        pytest.param(PAUSES, (), 0.0, id="pauses of 100 ms"),
        pytest.param(EVERY_SIXTH, BURSTS, 0.016, id="all of it"),
    ],
)
def test_answers_that_the_robot_did_not_take_change_nothing(late, lost, held_up):
    found = identified(0.004, 16.0, None, None, 0.002, late, lost, held_up)
    pair = found.twin.pair[0]
    assert pair.dynamics.order == 0
    assert pair.delay.value == pytest.approx(0.016, abs=1e-4)
    assert pair.delay.low == pytest.approx(0.012, abs=2e-4)
    assert pair.delay.low < 0.0159
    assert pair.gain.value == pytest.approx(1.0, abs=1e-3)
    assert pair.validation.fit > 0.99


@pytest.mark.parametrize(
    ("late", "lost"), [(BURSTS, ()), ((), BURSTS), (PAUSES, ()), (EVERY_SIXTH, BURSTS)]
)
def test_a_lag_behind_answers_that_were_not_taken(late, lost):
    pair = identified(0.004, 16.0, 15.0, 0.7, 0.0011, late, lost, 0.016).twin.pair[0]
    assert pair.delay.value == pytest.approx(0.016, abs=1e-4)
    assert pair.dynamics.frequency.value == pytest.approx(15.0, rel=5e-3)
    assert pair.dynamics.damping.value == pytest.approx(0.7, abs=5e-3)


def test_a_model_that_does_not_hold_is_not_written(monkeypatch, wording):
    monkeypatch.setattr(identified_device, "_POOR", 1.1)
    with wording.raises(DescriptionError):
        identified(0.004, 8.0, None, None, 0.0011)


def test_figures_have_units():
    found = identified(0.004, 16.0, 15.0, 0.7, 0.0011)
    items = [item.figure for item, _ in _figures(found)]
    labels = [[axes.get_ylabel() for axes in figure.axes] for figure in items]
    assert labels == [["magnitude [1]", "phase [°]", "coherence"], ["x [m]", "residual [m]"]]
    assert (_ratio("N", "m/s"), _ratio("rad", "V")) == ("N/(m/s)", "rad/V")


def test_twin_report_and_delays_are_written(tmp_path, no_pictures, wording):
    found = identified(0.004, 16.0, 15.0, 0.7, 0.0011)
    files = write_identification([found], "rig", tmp_path / "out")
    assert [path.name for path in files] == ["robot.twin.toml", "identification.html"]
    assert read_twin(files[0]) == found.twin
    page = files[1].read_text()
    for text in ("natural frequency", "jitter of arrivals", "robot: dx to x"):
        assert text in page
    system = tmp_path / "rig.toml"
    text = (
        '[system]\nname = "rig" # mine\n\n[component.robot]\nsource = "block:rig.py:Robot"\n\n'
        '[component.use]\nsource = "block:rig.py:Use"\n\n[connections]\n'
        '"robot.x -> use.x" = { delay = "1 ms" }\n'
    )
    (tmp_path / "rig.py").write_text(
        "from orchestrator import Block, Input, Output\n\n\n"
        'class Robot(Block):\n    dx: float = Input(unit="m")\n    x: float = Output(unit="m")\n'
        "    def step(self, t, h):\n        self.x = self.dx\n\n\n"
        'class Use(Block):\n    x: float = Input(unit="m")\n'
        "    def step(self, t, h):\n        pass\n"
    )
    system.write_text(text)
    (told,) = set_identified_delays(system, [found.twin])
    assert "robot.x -> use.x: 20 ms, identified" in told
    after = system.read_text()
    assert after.splitlines()[:9] == text.splitlines()[:9]
    (line,) = read_system(system).connections
    expected = TransportDelay.of(
        "20 ms", "identified", device="kuka_rsi", date=found.twin.date.isoformat()
    )
    assert line.delay == expected
    with wording.raises(DescriptionError):
        set_identified_delays(system, [found.twin.model_copy(update={"component": "other"})])


def test_what_cannot_be_excited_is_refused(wording):
    port = device_facts(DEVICE).ports.inputs
    too_far = Procedure(limits={"robot.dx": ExcitationLimits(1.0)})
    with wording.raises(DescriptionError):
        excitation_plan("robot", port, 0.004, PERIOD, too_far)
    sensors = System("rig", {"robot": component_of(Source.parse(f"device:{DEVICE}"), "robot")})
    with wording.raises(DescriptionError):
        identified_device.devices_of(sensors, ("robbot",))
    with wording.raises(DescriptionError):
        identified_device.devices_of(System("rig"))
    with wording.raises(DescriptionError):
        Procedure(confidence=1.2)


def test_a_device_that_is_identified_alone_keeps_its_own_limits():
    limits = {"velocity": 0.5, "deceleration": 2.0, "stop_jerk": 100.0}
    rig = SupervisorSettings(
        rig="r",
        blend="2 s",
        commands={"robot.dx": limits, "other.dx": limits},
        signals={
            "robot.x": {"maximum": 1.0},
            "robot.y": {"frozen": "1 s", "against": "robot.x", "travel": 0.1},
            "robot.z": {"frozen": "1 s", "against": "other.z", "travel": 0.1},
            "other.z": {"maximum": 1.0},
        },
        devices={"robot": {"stale": "20 ms"}, "other": {"stale": "20 ms"}},
    )
    alone = _alone(rig, "robot")
    assert list(alone.commands) == ["robot.dx"]
    assert list(alone.signals) == ["robot.x", "robot.y"]
    assert list(alone.devices) == ["robot"]
    assert (alone.arm, alone.blend, alone.after_fault) == ("automatic", "0 s", "stop")


@pytest.mark.parametrize(
    ("by_its_clock", "expected"),
    [
        (0.005, (0.005, 0.0018, 0.0082)),
        (0.001, (0.001, 0.001, 0.0082)),
        (0.01, (0.01, 0.0018, 0.01)),
    ],
)
def test_an_estimate_lies_within_its_own_interval(by_its_clock, expected):
    """Of ages from 1 to 9 ms four fifths lie between 1.8 and 8.2 ms."""
    evenly, ages = np.full(3, by_its_clock), np.linspace(0.001, 0.009, 801)
    found = identified_device._spread(evenly, ages, 0.8)
    assert (found.value, found.low, found.high) == pytest.approx(expected, rel=1e-9)
