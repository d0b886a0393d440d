"""Margins at a line that is read several times in a period, against the maps of the schedule."""

import math

import numpy as np
import pytest

from orchestrator import Block, Input, Output, Parameter, State, System, block
from orchestrator.loops import linear_system
from orchestrator.loops.multipliers import lasting_numbers
from orchestrator.loops.sampled_loop import LineStep, MultirateLoop, SampledLoop
from orchestrator.loops.sweep import changer

LINE, STEP = "servo.torque -> motor.torque", 0.01


class Motor(Block):
    """A rate with an inertia, loaded by what a slower part answers."""

    torque: float = Input(unit="N.m")
    load: float = Input(unit="N.m")
    rate: float = Output(unit="rad/s", depends_on=())
    w: float = State(start=0.0)

    def step(self, t, h):
        self.w = self.w + h * (self.torque + self.load)
        self.rate = self.w


class Servo(Block):
    """Proportional and integral."""

    rate: float = Input(unit="rad/s")
    torque: float = Output(unit="N.m", depends_on=("rate",))
    kp: float = Parameter(start=20.0, unit="N.m.s/rad")
    total: float = State(start=0.0)

    def step(self, t, h):
        self.total = self.total + h * self.rate
        self.torque = -self.kp * self.rate - 10.0 * self.total


class Arm(Block):
    """Answers with a damping, seldom."""

    rate: float = Input(unit="rad/s")
    load: float = Output(unit="N.m", depends_on=("rate",))

    def step(self, t, h):
        self.load = -5.0 * self.rate


def two_rates(step):
    system = System("two rates").add("motor", block(Motor)).add("servo", block(Servo))
    system = system.add("arm", block(Arm)).connect("motor.rate", "servo.rate")
    system = system.connect("servo.torque", "motor.torque").connect("motor.rate", "arm.rate")
    return linear_system(
        system.connect("arm.load", "motor.load"),
        step=step,
        algorithm="gauss-seidel",
        delay="plain",
        rates={"arm": 3},
    )


@pytest.fixture(scope="module")
def linear():
    return two_rates(STEP)


def test_a_step_that_is_no_whole_number_of_nanoseconds_has_the_modes_of_the_next_that_is():
    """Of 1/60 s two steps of three are longer by a nanosecond, 6e-8 of it."""
    whole, part = (
        [mode.growth for account in two_rates(step).loop_accounts() for mode in account.modes]
        for step in ("16666667 ns", "1/60 s")
    )
    assert len(whole) > 1
    assert part == pytest.approx(whole, rel=1e-5)


@pytest.fixture(scope="module")
def loop(linear):
    found = SampledLoop.of(linear, LINE)
    assert isinstance(found, MultirateLoop)
    assert len(found.direct) == 3
    return found


def largest(linear, kind, value):
    """Of the multipliers of a period that the engine makes of the changed line itself."""
    changed = changer(linear, kind, LINE)(value)
    return np.abs(np.linalg.eigvals(changed.period_map().matrix())).max()


def test_lifted_closed_and_engine_have_the_same_multipliers(linear, loop):
    for gain in (0.3, 1.0, 4.0):
        own = np.abs(np.linalg.eigvals(loop.closed(gain))).max()
        assert own == pytest.approx(largest(linear, "gain", gain), rel=1e-9)


def test_limits_are_those_of_the_schedule(linear, loop):
    margins = loop.margins()
    assert margins.is_stable
    # a multiplier is taken for growing from 1 + 1e-6 on
    assert largest(linear, "gain", margins.gain.value) == pytest.approx(1.0, abs=2e-6)
    # whole steps of delay are exact: the last one that is stable, and the first that is not
    whole = math.floor(margins.delay.value / STEP) * STEP
    assert whole > 0.0
    last, next_one = (largest(linear, "delay", late) for late in (whole, whole + STEP))
    assert last < 1.0 + 1e-9 < next_one  # what a line holds has a multiplier of 1
    turned = np.abs(np.linalg.eigvals(loop.closed(np.exp(-1j * margins.phase.value)))).max()
    assert turned == pytest.approx(1.0, abs=2e-6)
    assert margins.phase.value / (2.0 * math.pi * margins.phase.frequency) == pytest.approx(
        margins.delay.value,
        rel=0.1,  # the rest is what is folded at 1/30 ms
    )


def test_of_one_rate_both_ways_agree():
    """S = rest + g b c' with one read in a period: margins of the response and of the map."""
    rest = np.array([[0.9, 0.05], [-0.1, 0.95]])
    into, out_of = np.array([0.02, 0.1]), np.array([-1.0, -0.5])
    roots = tuple(np.log(np.linalg.eigvals(rest + np.outer(into, out_of))) / STEP)
    assert all(root.real < 0.0 for root in roots)
    single = SampledLoop("a -> b", ("a",), STEP, roots, rest, into, out_of)
    lifted = MultirateLoop.of("a -> b", ("a",), STEP, [LineStep(rest, into, out_of)], roots)
    omega = np.array([1.0, 20.0, 300.0])
    assert lifted.at(omega) == pytest.approx(single.at(omega), rel=1e-12)
    one, other = single.margins(), lifted.margins()
    for name, rel in (("gain", 1e-4), ("phase", 1e-4), ("distance", 1e-3)):
        found, expected = getattr(other, name).value, getattr(one, name).value
        assert found == pytest.approx(expected, rel=rel)


@pytest.mark.parametrize(("sign", "gain", "at"), [(1.0, 2.5, 0.0), (-1.0, 7.5, 50.0)])
def test_limits_at_rest_and_at_half_the_rate_are_seen(sign, gain, at):
    """x' = (0.5 + g sign 0.2) x is at its limit where that is 1, or -1."""
    root = (complex(math.log(0.5 + sign * 0.2) / STEP),)
    values = np.ones(1)
    loop = SampledLoop("a -> b", ("a",), STEP, root, 0.5 * np.eye(1), values, sign * 0.2 * values)
    found = loop.margins().gain
    assert (found.value, found.frequency) == (pytest.approx(gain), pytest.approx(at))


@pytest.mark.parametrize("pole", [0.1, 1.0, 30.0])
def test_the_limit_at_rest_is_seen_beside_slow_modes_at_a_fast_rate(pole):
    """Positive feedback of 1/4 around a lag: four times as much holds, more runs away."""
    period, values = 1e-3, np.ones(1)
    kept = math.exp(-pole * period)
    root = (complex(math.log(kept + 0.25 * (1.0 - kept)) / period),)
    loop = SampledLoop(
        "a -> b", ("a",), period, root, kept * np.eye(1), 0.25 * (1 - kept) * values, values
    )
    margins = loop.margins()
    assert margins.gain.value == pytest.approx(4.0, rel=1e-2)
    assert margins.gain.frequency == 0.0


def test_a_loop_with_an_integrator_has_no_limit_at_rest():
    values = np.ones(1)
    loop = SampledLoop("a -> b", ("a",), 1e-3, (-1.0 + 0j,), np.eye(1), -1e-3 * values, values)
    assert loop.margins().gain.value == pytest.approx(2000.0)  # z = -1


def test_numbers_that_a_loop_through_a_line_does_not_have():
    """What is put into 0 comes out of 2 by 1; 3 is only written, 4 only read, 5 keeps itself."""
    rest = np.zeros((6, 6))
    rest[1, 0] = rest[2, 1] = rest[3, 0] = rest[2, 4] = 0.5
    rest[5, 5] = 1.0
    into, out_of = np.eye(6)[:, :1], np.eye(6)[2:3]
    assert lasting_numbers(rest, into, out_of).tolist() == [0, 1, 2, 5]
    rest[5, 5] = 0.0
    assert lasting_numbers(rest, into, out_of).tolist() == [0, 1, 2]
    rest[2, 1] = 1.0  # passed on as it is
    assert lasting_numbers(rest, into, out_of).tolist() == [0, 1, 2]


class Gain(Block):
    """A product without memory."""

    u: float = Input()
    y: float = Output()
    k: float = Parameter(start=1.0)

    def step(self, t, h):
        self.y = self.k * self.u


@pytest.mark.parametrize("k", [0.5, -0.9, 2.0, 49.0])
def test_a_loop_without_states_is_its_delay(k):
    """y[n] = k y[n - 1]: the multiplier is k, so the gain margin is 1/|k| of a stable loop."""
    system = System("s").add("a", block(Gain), k=k).add("b", block(Gain))
    system = system.connect("a.y", "b.u", delay="4 ms").connect("b.y", "a.u")
    loop = SampledLoop.of(linear_system(system, step="4 ms"), "a.y -> b.u")
    (root,) = loop.roots
    assert root.real == pytest.approx(math.log(abs(k)) / 4e-3, rel=1e-9)
    margins = loop.margins()
    assert margins.is_stable == (abs(k) < 1.0)
    if margins.is_stable:
        assert margins.gain.value == pytest.approx(1.0 / abs(k), rel=1e-9)
