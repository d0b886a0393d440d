"""What a device is sent in each state, in synthetic time."""

import math

import numpy as np
import pytest

from orchestrator import Reason
from orchestrator.rig.supervisor.gate import CommandGate, GateTimes, Orders
from orchestrator.rig.supervisor.settings import CommandLimits
from orchestrator.rig.supervisor.states import State

MS = 1_000_000
PERIOD = 4 * MS
LIMITS = {
    "minimum": -0.05,
    "maximum": 0.05,
    "velocity": 0.25,
    "deceleration": 2.0,
    "stop_jerk": 100.0,
}


class Wire:
    """A gate that is asked once in each cycle, while everyone gives signs of life."""

    def __init__(self, hold_cycles=None, **limits):
        times = GateTimes(100 * MS, 200 * MS, 100 * MS, hold_cycles)
        self.gate = CommandGate([CommandLimits(**LIMITS | limits).axis], [0.0], times, PERIOD)
        self.now, self.number, self.state, self.since = 1000 * MS, 0, State.ACTIVE, 0
        self.engine = self.supervisor = True
        self.beat = self.now
        self.sent = []

    def enter(self, state):
        self.state, self.since = state, self.now

    def cycle(self, wanted, cycles=1, after=PERIOD):
        for _ in range(cycles):
            self.now += after
            self.number += self.engine
            self.beat = self.now if self.supervisor else self.beat
            orders = Orders(self.state, self.since, self.beat)
            value = wanted(self.now) if callable(wanted) else wanted
            self.sent += self.gate.command([value], self.number, orders, self.now)
        return self.sent[-1]


def ramp(wire, velocity=0.1):
    begin = wire.now
    return lambda now: velocity * (now - begin) * 1e-9


def assert_smooth_stop(sent, deceleration=2.0, jerk=100.0):
    """From a velocity on, within the limits to the rounding of differences, and then it stands."""
    h = PERIOD * 1e-9
    velocity = np.diff(sent) / h
    acceleration = np.diff(velocity) / h
    assert np.abs(acceleration).max() <= deceleration * (1 + 1e-6)
    # The third difference of a cubic whose jerk changes within the interval: at most J.
    assert np.abs(np.diff(acceleration) / h).max() <= jerk * (1 + 1e-6)
    assert velocity[-1] == 0.0


def test_in_active_a_command_passes_bit_for_bit():
    wire = Wire()
    values = [0.001 * math.sin(0.1 * k) for k in range(100)]
    for value in values:
        wire.cycle(value)
    assert wire.sent == values


@pytest.mark.parametrize("state", [State.OFF, State.SHADOW, State.SAFE])
def test_elsewhere_it_is_held(state):
    wire = Wire()
    wire.enter(state)
    assert wire.cycle(0.01, 5) == 0.0
    assert wire.gate.at_rest


def test_blending_goes_over_without_a_jump():
    wire = Wire()
    wire.enter(State.SHADOW)
    wire.cycle(0.004, 3)
    wire.enter(State.BLEND)
    wire.cycle(0.004, 25)
    steps = np.diff(wire.sent)
    assert wire.sent[-1] == 0.004
    # The quintic's largest velocity is 15/8 of the mean one.
    assert steps.max() <= 15 / 8 * 0.004 * 4 / 100 * 1.001
    assert (steps >= 0).all()


@pytest.mark.parametrize(
    ("state", "share", "length"),
    [
        (State.FALLBACK, 1.0, 0.1 / 2.0 + 2.0 / 100.0),  # a trapezoid: v/A + A/J
        (State.QUICKSTOP, 4.0, 2 * math.sqrt(0.1 / 400.0)),  # v < A^2/J, a triangle: 2 sqrt(v/J)
    ],
)
def test_a_stop_keeps_deceleration_and_jerk(state, share, length):
    wire = Wire()
    wire.cycle(ramp(wire), 50)
    assert not wire.gate.at_rest
    begin = len(wire.sent) - 3
    wire.enter(state)
    wire.cycle(ramp(wire), 50)
    assert_smooth_stop(wire.sent[begin:], 2.0 * share, 100.0 * share)
    assert wire.gate.at_rest
    # It is symmetric, so the way is half of v times the length.
    assert wire.sent[-1] - wire.sent[begin + 2] == pytest.approx(0.1 * length / 2, rel=1e-9)


def test_an_emergency_stop_stands_at_once():
    wire = Wire()
    last = wire.cycle(ramp(wire), 10)
    wire.enter(State.ESTOP)
    assert wire.cycle(ramp(wire), 5) == last


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [
        (math.nan, Reason.COMMAND_NOT_FINITE),
        (-math.inf, Reason.COMMAND_NOT_FINITE),
        (0.06, Reason.TRAVEL),
    ],
)
def test_what_cannot_be_sent_is_not_and_it_comes_to_rest(wanted, reason):
    wire = Wire()
    wire.cycle(ramp(wire), 10)
    begin = len(wire.sent) - 3
    wire.cycle(wanted, 60)
    assert wire.gate.reason is reason
    assert_smooth_stop(wire.sent[begin:])


def test_a_jump_is_sent_at_the_limit_of_velocity_and_is_a_fault_if_it_lasts():
    wire = Wire(persistence="40 ms")
    wire.cycle(0.005, 5)  # a step of 5 mm is caught up in 5 cycles of 1 mm
    assert wire.sent == pytest.approx([0.001, 0.002, 0.003, 0.004, 0.005])
    assert wire.gate.reason is Reason.OPERATION
    wire.cycle(0.04, 12)
    assert wire.gate.reason is Reason.VELOCITY
    assert np.abs(np.diff(wire.sent)).max() <= 0.001 * (1 + 1e-9)


def test_samples_that_were_held_up_move_no_farther_than_one_of_them():
    wire = Wire(persistence="40 ms")
    wire.cycle(0.0, 5)
    waited = 20 * PERIOD
    for begin in (0.0, 0.02):  # 20 steps of 1 mm, each within the limit, and none in time
        for k in range(20):
            wire.cycle(begin + 0.001 * (k + 1), after=0 if k else waited)
        assert wire.gate.reason is Reason.OPERATION  # the wire held them up, not the run
    jumps = np.diff([wire.sent[4], wire.sent[24], wire.sent[25]])
    assert np.abs(jumps).max() == pytest.approx(0.25 * 0.004)


def test_answers_that_were_not_taken_do_not_add_up():
    """At 0.2 m/s of 0.25 m/s a robot misses answers: no step of it is longer than 1 mm."""
    wire, robot = Wire(persistence="100 ms"), [0.0]
    wanted = ramp(wire, 0.2)
    for cycle in range(60):
        wire.cycle(wanted)
        missed = cycle in {10, 20, 21, 22}
        robot.append(robot[-1] if missed else wire.sent[-1])
        if missed:
            wire.gate.take_back()
    assert np.abs(np.diff(robot)).max() == pytest.approx(0.25 * 0.004)
    assert wire.gate.reason is Reason.OPERATION
    assert robot[-1] == pytest.approx(wanted(wire.now))  # it has caught up


def test_a_velocity_is_zero_at_once_when_commands_stand():
    """Of a drive that turned at ESTOP the last velocity was kept."""
    wire = Wire(rests="at zero")
    assert wire.cycle(ramp(wire), 50) == pytest.approx(0.02)
    wire.enter(State.ESTOP)
    assert wire.cycle(0.02) == 0.0


def test_it_does_not_come_to_rest_faster_than_time_goes_by():
    wire = Wire()
    wire.cycle(ramp(wire), 50)
    wire.enter(State.FALLBACK)
    stopped = wire.cycle(0.0, 20, after=0)
    assert stopped - wire.sent[49] < 0.1 * 2 * 0.004  # at 0.1 m/s, two periods
    assert not wire.gate.at_rest
    wire.cycle(0.0, 50)
    assert_smooth_stop(wire.sent[69:])


@pytest.mark.parametrize(("limit", "reason"), [("acceleration", 4), ("jerk", 17)])
def test_a_command_that_shakes_is_a_fault(limit, reason):
    wire = Wire(**{limit: 1.0})
    for k in range(60):
        wire.cycle(1e-4 * (k % 2))  # 2e-4 m / (4 ms)^2 = 12.5 m/s2, and 6250 m/s3
    assert wire.gate.reason == reason


def test_without_new_commands_it_comes_to_rest_by_itself():
    wire = Wire()
    wire.cycle(ramp(wire), 10)
    wire.engine = False
    wire.cycle(wire.sent[-1], 25)
    assert wire.gate.reason is Reason.OPERATION
    wire.cycle(wire.sent[-1], 2)
    assert wire.gate.reason is Reason.COMMAND_STALE


def test_a_simulation_that_ends_in_motion_leaves_no_jump_where_nothing_is_held():
    wire = Wire(hold_cycles=0)
    wire.cycle(ramp(wire), 50)
    begin = len(wire.sent) - 3
    wire.engine = False
    wire.cycle(wire.sent[-1], 60)
    assert_smooth_stop(wire.sent[begin:])
    assert wire.gate.reason is Reason.COMMAND_STALE


def test_a_command_that_comes_late_is_caught_up_with_within_the_limits():
    wire = Wire(hold_cycles=0)
    wanted = ramp(wire)
    wire.cycle(wanted, 50)
    wire.engine = False
    wire.cycle(wanted, 5)
    wire.engine = True
    assert wire.cycle(wanted, 10) == wanted(wire.now)
    assert np.abs(np.diff(wire.sent)).max() <= 0.001 * (1 + 1e-9)


@pytest.mark.parametrize("hold_cycles", [0, 3, None])
def test_a_run_that_waited_long_is_followed_from_its_first_step_on(hold_cycles):
    wire = Wire(hold_cycles=hold_cycles)
    wire.enter(State.SHADOW)
    wire.engine = False
    wire.cycle(0.0, 15_000)  # 60 s
    wire.enter(State.BLEND)
    wire.cycle(0.0, 5)  # it is told to begin, and steps
    wire.engine = True
    wanted = ramp(wire)
    wire.cycle(wanted, 20)
    wire.enter(State.ACTIVE)
    assert wire.cycle(wanted, 20) == wanted(wire.now)
    assert wire.gate.reason is Reason.OPERATION


def test_without_a_supervisor_it_comes_to_rest_by_itself():
    wire = Wire()
    wire.supervisor = False
    wanted = ramp(wire)
    wire.cycle(wanted, 50)
    assert wire.gate.reason is Reason.OPERATION
    begin = len(wire.sent) - 3
    wire.cycle(wanted, 60)
    assert wire.gate.reason is Reason.SUPERVISOR_LOST
    assert_smooth_stop(wire.sent[begin:])
    wire.supervisor = True  # it is back, but its word alone moves nothing
    at = wire.sent[-1]
    assert wire.cycle(wanted, 10) == at


def test_after_a_reset_it_follows_from_where_it_stands():
    wire = Wire()
    wire.cycle(0.001, 10)
    wire.cycle(math.nan, 30)
    wire.enter(State.SAFE)
    wire.cycle(0.0, 2)
    wire.enter(State.SHADOW)
    wire.cycle(0.0, 2)
    wire.enter(State.BLEND)
    at = wire.sent[-1]
    wire.cycle(0.002, 30)
    assert wire.sent[-1] == 0.002
    assert np.abs(np.diff(wire.sent[-30:])).max() <= 15 / 8 * abs(0.002 - at) * 4 / 100 * 1.001
    assert wire.gate.reason is Reason.OPERATION


def test_a_force_goes_to_zero_at_its_rate():
    wire = Wire(rests="at zero", minimum=-100.0, maximum=100.0, velocity=500.0)
    wire.cycle(ramp(wire, 400.0), 10)
    wire.enter(State.FALLBACK)
    wire.cycle(16.0, 9)
    assert wire.sent[10:18] == pytest.approx([14, 12, 10, 8, 6, 4, 2, 0])
    assert wire.gate.at_rest


@pytest.mark.parametrize("held", [2, 5])
@pytest.mark.parametrize("phase", range(5))
def test_a_command_by_stairs_stops_from_its_mean_velocity(held, phase):
    """v = 0.02 m/s over stairs of n periods: a jump is no velocity n v, a hold is no rest."""
    v, h = 0.02, PERIOD * 1e-9
    wire = Wire(acceleration=None, jerk=None)
    begin = wire.now
    wire.cycle(lambda now: v * held * h * ((now - begin) // (held * PERIOD)), 8 * held + phase)
    wire.enter(State.FALLBACK)
    last = wire.sent[-1]
    wire.cycle(math.nan, 100)
    rest = np.array([last, *wire.sent[-100:]])
    velocity, rounding = np.diff(rest) / h, 1 + 1e-9
    assert np.abs(velocity).max() <= v * rounding
    assert np.abs(np.diff([v, *velocity])).max() <= 2.0 * h * rounding  # the deceleration
    way = v / 2 * v / 2.0 + v * 2.0 / (2 * 100.0)  # v^2 / 2A and v A / 2J: of the trapezoid at most
    assert 0.0 < rest[-1] - last <= way * 1.01
    assert velocity[-1] == 0.0


@pytest.mark.parametrize("after", range(16))
def test_stairs_that_are_uneven_stop_from_the_last_one_at_most(after):
    """Held for 3, 7 and 4 periods: the way is that from the mean of the last, or none."""
    wire, h = Wire(acceleration=None, jerk=None), PERIOD * 1e-9
    heights = np.array([4e-4, 6e-4, 2e-4])  # m, after 4, 3 and 7 periods
    commands = np.repeat(np.cumsum(heights), (3, 7, 4)).tolist()
    wire.cycle(0.0, 3)
    for value in [*commands, *[commands[-1]] * 2][: after + 1]:
        wire.cycle(value)
    wire.enter(State.FALLBACK)
    last = wire.sent[-1]
    wire.cycle(math.nan, 100)
    rest = np.diff([last, *wire.sent[-100:]]) / h
    assert rest.min() >= 0.0
    assert rest.max() <= (heights / (np.array([4, 3, 7]) * h)).max()
    assert rest[-1] == 0.0


def test_after_the_last_stair_it_stands():
    wire = Wire(acceleration=None, jerk=None)
    begin = wire.now
    wire.cycle(lambda now: min(8e-5 * ((now - begin) // (4 * PERIOD)), 8e-4), 60)
    wire.enter(State.FALLBACK)
    wire.cycle(math.nan, 20)
    assert wire.sent[-1] == 8e-4


@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("speed", [0.25, 0.1])
def test_twenty_samples_at_once_move_no_farther_than_the_limit_in_a_period(speed, stops):
    """A robot takes one answer of those that come at once, and makes one step of all of them."""
    wire = Wire()
    wire.cycle(ramp(wire, speed), 30)
    if stops:
        wire.enter(State.FALLBACK)
        wire.cycle(math.nan)
    before = wire.sent[-1]
    wire.cycle(before, after=20 * PERIOD)  # held up, then all at once
    wire.cycle(before + speed * 20 * PERIOD * 1e-9, 19, after=0)
    assert 0.0 < wire.sent[-1] - before <= 0.25 * PERIOD * 1e-9 * (1 + 1e-9)
