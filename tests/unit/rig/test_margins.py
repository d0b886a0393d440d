"""Margins of a loop through a device, with models in its place, against closed forms."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import expm

from orchestrator import Block, Input, Output, Parameter, State, System, block
from orchestrator.loops import linear_system
from orchestrator.loops.sampled_loop import SampledLoop
from orchestrator.rig.arming.identified_model import with_identified_dynamics
from orchestrator.rig.arming.margins import Knobs, Reserve, advice_of, arm, margin_table
from orchestrator.rig.hardware.line_delay import LineDelay, corrections
from orchestrator.rig.hardware.twin_file import Lag
from orchestrator.rig.supervisor.rig_tracking import MarginTable
from python_blocks.kinematics.rotation import Floats

T, MASS, K, B = 0.004, 750.0, 2510.0, 100.0


class Body(Block):
    """A mass with a damper, exactly stepped under a constant force."""

    force: float = Input(unit="N")
    position: float = Output(unit="m", depends_on=())
    m: float = Parameter(start=MASS, unit="kg")
    b: float = Parameter(start=B, unit="N.s/m")
    x: float = State(start=0.0)
    v: float = State(start=0.0)

    def step(self, t, h):
        rate = self.b / self.m
        fade = math.exp(-rate * h)
        end = self.force / self.b
        self.x = self.x + end * h + (self.v - end) * (1.0 - fade) / rate
        self.v = end + (self.v - end) * fade
        self.position = self.x


class Robot(Block):
    """Is where it is told to be."""

    dx: float = Input(unit="m")
    x: float = Output(unit="m", depends_on=("dx",))

    def step(self, t, h):
        self.x = self.dx


class Joints(Block):
    """Six joints that are where they are told to be."""

    dq: Floats = Input(unit="rad", shape=(6,))
    q: Floats = Output(unit="rad", shape=(6,), depends_on=("dq",))

    def step(self, t, h):
        self.q[:] = self.dq


class Sheet(Block):
    """A spring."""

    x: float = Input(unit="m")
    fx: float = Output(unit="N", depends_on=("x",))
    k: float = Parameter(start=K, unit="N/m")

    def step(self, t, h):
        self.fx = -self.k * self.x


def rig(delay="20 ms", **sheet):
    system = System("rig").add("body", block(Body)).add("robot", block(Robot))
    system = system.add("sensor", block(Sheet), **{"k": K, **sheet})
    system = system.connect("body.position", "robot.dx").connect("sensor.fx", "body.force")
    return system.connect("robot.x", "sensor.x", delay=delay)


def linear(**given):
    return linear_system(rig(**given), step=T, algorithm="gauss-seidel", delay="plain")


def cycle(cycles, k, gain=1.0):
    """The matrix of one cycle, by hand: F over it is -k x(t - cycles T)."""
    fade, rate = math.exp(-B / MASS * T), B / MASS
    n = 2 + cycles
    step = np.eye(n, k=-1)
    step[:3] = 0.0
    step[0, 0], step[0, 1], step[1, 1] = 1.0, (1.0 - fade) / rate, fade
    push = -gain * k / B
    step[0, -1], step[1, -1] = push * (T - (1.0 - fade) / rate), push * (1.0 - fade)
    step[2, 0] = 1.0
    return step


def growth(step):
    return math.log(np.abs(np.linalg.eigvals(step)).max()) / T


def test_growth_and_limits_are_those_of_the_matrix_of_one_cycle():
    loop = SampledLoop.of(linear(), "body.position -> robot.dx")
    assert loop.roots[0].real == pytest.approx(growth(cycle(5, K)), rel=1e-6)
    margins = loop.margins()
    assert margins.is_stable
    limit = growth(cycle(5, K, margins.gain.value))
    assert limit == pytest.approx(0.0, abs=1e-6)
    # as many whole cycles more as the delay margin has are stable, one more is not
    more = math.floor(margins.delay.value / T)
    assert growth(cycle(5 + more, K)) < 0.0 < growth(cycle(6 + more, K))


def test_an_unstable_loop_has_the_gain_that_would_do():
    loop = SampledLoop.of(linear(k=8000.0), "body.position -> robot.dx")
    margins = loop.margins()
    assert not margins.is_stable
    assert loop.roots[0].real == pytest.approx(growth(cycle(5, 8000.0)), rel=1e-6)
    limit = growth(cycle(5, 8000.0, margins.gain_reduction.value))
    assert limit == pytest.approx(0.0, abs=1e-6)
    assert margins.delay.value < 0.0


@pytest.mark.parametrize("own", [0.02, 0.1])
def test_with_own_growth_the_limits_are_where_a_mode_grows_so(own):
    """By the matrix of one cycle; the delay's share of the gain, exp(-own tau), is left out."""
    reserve = Reserve(4e-3, 1.25, own)
    loop = reserve.cut(linear(k=8000.0), "body.position -> robot.dx")
    now = growth(cycle(5, 8000.0))
    assert loop.roots[0].real == pytest.approx(now - own, rel=1e-6)
    margins = loop.margins()
    assert margins.is_stable == (now < own)
    if not margins.is_stable:
        assert margins.delay.value < 0.0
        assert growth(cycle(5, 8000.0, margins.gain_reduction.value)) == pytest.approx(
            own, abs=1e-6
        )
        return
    assert growth(cycle(5, 8000.0, margins.gain.value)) == pytest.approx(own, abs=1e-6)
    more = math.floor(margins.delay.value / T)
    assert growth(cycle(5 + more, 8000.0)) < own < growth(cycle(6 + more, 8000.0))


def test_own_growth_is_taken_off_what_arming_asks_for():
    limits = Reserve(1e-3, 1.02, own_growth=0.1), Reserve(1e-3, 1.02, own_growth=0.02)
    granted, refused = (arm(linear(k=8000.0), ["robot"], limit, Knobs()) for limit in limits)
    assert granted.is_granted
    assert granted.lines[0].growth == pytest.approx(growth(cycle(5, 8000.0)), rel=1e-6)
    assert granted.as_json()["own_growth_1_s"] == 0.1
    assert "the loop is unstable beyond own_growth = 0.02 1/s" in refused.refusal()


def test_what_has_its_reserve_is_granted():
    found = arm(linear(), ["robot"], Reserve(4e-3, 1.25), Knobs())
    assert found.is_granted
    assert found.notes[0].startswith("armed: body.position -> robot.dx has a delay margin of ")
    (line,) = found.as_json()["lines"]
    assert line["delay_margin_s"] > 4e-3


@pytest.mark.slow
def test_what_has_not_is_refused_with_the_numbers_and_what_would_do():
    found = arm(linear(k=8000.0), ["robot"], Reserve(4e-3, 1.25), Knobs("sensor.k"))
    assert not found.is_granted
    told = found.refusal()
    assert "the loop is unstable: it grows with +0.0" in told
    assert "compensate " in told
    assert "or lower sensor.k from 8000 to " in told
    k = float(told.partition("sensor.k from 8000 to ")[2].partition(";")[0])
    assert arm(linear(k=k * 0.999), ["robot"], Reserve(4e-3, 1.25), Knobs()).is_granted
    assert not arm(linear(k=k * 1.05), ["robot"], Reserve(4e-3, 1.25), Knobs()).is_granted


@pytest.mark.parametrize(
    ("reserve", "told"), [((0.1, 1.01), "delay margin"), ((1e-3, 9.0), "gain")]
)
def test_each_reserve_counts(reserve, told):
    found = arm(linear(), ["robot"], Reserve(*reserve), Knobs(clock="robot"))
    assert told in found.refusal()
    assert "would take a faster 'robot'" in found.refusal()


def test_a_command_that_comes_back_nowhere_is_granted():
    system = rig().disconnect("sensor.fx", "body.force").set("body.force", 0.0)
    free = linear_system(system, step=T, algorithm="gauss-seidel", delay="plain")
    found = arm(free, ["robot"], Reserve(4e-3, 1.25), Knobs())
    assert found.notes[0] == "armed: body.position -> robot.dx feeds back nowhere"


def test_six_commands_on_one_line_that_come_back_nowhere_are_granted():
    system = System("led").add("leader", block(Joints)).add("robot", block(Joints))
    system = system.connect("leader.q", "robot.dq").set("leader.dq", (0.0,) * 6)
    free = linear_system(system, step=T, algorithm="gauss-seidel")
    found = arm(free, ["robot"], Reserve(4e-3, 1.25), Knobs())
    assert found.notes[0] == "armed: leader.q -> robot.dq feeds back nowhere"


def test_another_order_of_steps_is_told():
    model = linear(delay=None)  # without a delay the ring begins with the body
    run = rig().disconnect("robot.x", "sensor.x").set("sensor.x", 0.0)
    found = arm(model, ["robot", "sensor"], Reserve(1e-3, 1.01), Knobs(), run)
    assert any("in the opposite order" in remark for remark in found.remarks)


def test_what_is_left_of_the_margins_is_what_the_loop_itself_has_then():
    table = margin_table(linear(), "body.position -> robot.dx", Reserve(0.004, 1.2))
    for delay, factor in (("20 ms", 1.0), ("28 ms", 1.0), ("24 ms", 1.1), ("20 ms", 0.8)):
        loop = SampledLoop.of(linear(delay=delay, k=K * factor), "body.position -> robot.dx")
        added = float(delay.removesuffix(" ms")) * 1e-3 - 0.020
        left = table.remaining(added, factor)
        # table and interpolated response: rows 9 % of gain apart, 400 frequencies
        assert left[0] == pytest.approx(loop.margins().delay.value, abs=3e-4)
        assert left[1] == pytest.approx(loop.margins().gain.value, rel=0.02)
    assert MarginTable.of_json(table.as_json()) == table


@pytest.mark.parametrize(("tracked", "count"), [(["robot.dx"], 1), (["sensor.x"], 0)])
def test_commands_that_are_tracked_get_a_table_of_what_is_left(tracked, count):
    found = arm(linear(), ["robot"], Reserve(4e-3, 1.2), Knobs(), tracked=tracked)
    expected = margin_table(linear(), "body.position -> robot.dx", Reserve(4e-3, 1.2))
    assert found.tables == (expected,) * count


@pytest.mark.parametrize(("declared_ms", "missing_ms"), [(20, 0), (16, 4), (14, 4), (24, -4)])
def test_loops_of_a_model_become_as_late_as_those_of_the_run(declared_ms, missing_ms):
    """The run steps body, robot, sensor; the model, with a delay on its line, sensor first.

    Each line that goes against the order is a step later in one and a step earlier in the other.
    """
    run = rig(delay=None)
    line = LineDelay("robot.x -> sensor.x", 0, 20_000_000, None, is_physical=False)
    model = rig(delay=f"{declared_ms} ms")
    found = corrections(model, {}, run, [line], [line.line], 4_000_000)
    assert found == ({line.line: missing_ms * 1_000_000} if missing_ms else {})


def twin(order, frequency=15.0, damping=0.7, gain=1.0, response="x"):
    """What was identified of the robot, as far as it is looked at."""
    lag = Lag(frequency, damping if order == 2 else None) if order else None
    gains = SimpleNamespace(value=gain)
    pair = SimpleNamespace(response=response, command="dx", lag=lag, gain=gains)
    return SimpleNamespace(component="robot", pair=(pair,))


@pytest.mark.parametrize(("order", "gain"), [(1, 1.0), (2, 1.0), (2, 0.9)])
def test_with_an_identified_lag_the_roots_are_those_of_the_loop_with_it(order, gain):
    system, (told,) = with_identified_dynamics(rig(), rig(), [twin(order, gain=gain)], 4_000_000)
    assert "identified lag of 'robot' (x: 15 Hz" in told
    model = linear_system(system, step=T, algorithm="gauss-seidel", delay="plain")
    found = SampledLoop.of(model, "body.position -> robot.dx").roots[0]
    # by hand: x, v, the robot's r and its rate, r of the last five cycles; F is -k r of 5 ago
    w = 2.0 * math.pi * 15.0
    lag = [[0.0, 1.0], [-w * w, -1.4 * w]] if order == 2 else [[-w, 0.0], [0.0, -w]]
    relax = expm(np.array(lag) * T)
    plain, step = cycle(5, K), np.zeros((9, 9))
    step[:2, :2], step[:2, -1] = plain[:2, :2], plain[:2, -1]
    step[2:4, 2:4] = relax
    step[2:4, 0] = gain * (np.eye(2) - relax)[:, 0]  # it holds the command that it took
    step[4, 2] = 1.0
    step[5:, 4:8] = np.eye(4)
    roots = np.log(np.linalg.eigvals(step).astype(complex)) / T
    expected = max((root for root in roots if root.imag > 0.0), key=lambda root: root.real)
    assert found.real == pytest.approx(expected.real, abs=1e-6)
    assert abs(found.imag) == pytest.approx(expected.imag, rel=1e-6)


def test_a_model_whose_other_outputs_were_not_identified_stays_and_that_is_said():
    system, (told,) = with_identified_dynamics(rig(), rig(), [twin(2, response="v")], 4_000_000)
    assert system == rig()
    assert "its model has 'x' as well" in told
    assert with_identified_dynamics(rig(), rig(), [twin(0)], 4_000_000) == (rig(), ())


def test_a_model_with_a_command_that_was_not_identified_stays_and_so_does_its_loop():
    """The block in its place would not have it, and what comes back through it had no margins."""
    run = rig().connect("body.position", "robot.other")
    system, (told,) = with_identified_dynamics(rig(), run, [twin(2)], 4_000_000)
    assert system == rig()
    assert "not how x follow 'other' as well as the others" in told


def test_a_loop_that_does_not_exist_has_no_advice():
    system = rig().disconnect("sensor.fx", "body.force").set("body.force", 0.0)
    free = linear_system(system, step=T, algorithm="gauss-seidel", delay="plain")
    line = "body.position -> robot.dx"
    assert list(advice_of(free, line, Reserve(4e-3, 1.25), Knobs())) == []


def test_a_shorter_step_is_advised_where_it_has_the_reserve():
    (present, half) = (
        arm(linear_system(rig(), step=step, algorithm="gauss-seidel", delay="plain"), ["robot"],
            Reserve(1e-3, 1.01), Knobs()).delay_margin
        for step in (T, T / 2)
    )  # fmt: skip
    assert half > present
    found = arm(linear(), ["robot"], Reserve(0.5 * (present + half), 1.01), Knobs())
    assert "possible remedies: compensate 0." in found.refusal()
    assert "or a step of 2 ms" in found.refusal()
