"""Every limit of a gate, just inside and just outside."""

import math

import numpy as np
import pytest

from orchestrator import Reason
from orchestrator.rig.supervisor.gate import AxisLimits, CommandGate, GateTimes, Orders
from orchestrator.rig.supervisor.states import State

MS, S = 1_000_000, 1_000_000_000
FINE = Reason.OPERATION


def above(value):
    return math.nextafter(value, math.inf)


def below(value):
    return math.nextafter(value, -math.inf)


#: A period of 1/256 s in ns, and limits that are dyadic per period.
PERIOD = 3_906_250
H = 2.0**-8


class Wire:
    """A gate that is asked once a period."""

    def __init__(self, *, hold_cycles=None, stale_ns=100 * MS, **limits):
        plain = {
            "velocity": math.inf,
            "persistence": 4 * H,
            "stop": (2.0, 64.0),
            "quick_stop": (8.0, 256.0),
            "rests": "in place",
            "to_zero": math.inf,
        }
        times = GateTimes(0, 200 * MS, stale_ns, hold_cycles)
        self.gate = CommandGate([AxisLimits(**plain | limits)], [0.0], times, PERIOD)
        self.now, self.number, self.state = 16 * S, 0, State.ACTIVE
        self.beat_ns, self.patience_ns, self.gives = None, 0, True
        self.sent = []

    def send(self, *values):
        for value in values:
            self.now += PERIOD
            self.number += self.gives
            orders = Orders(self.state, 0, self.now if self.beat_ns is None else self.beat_ns)
            self.sent += self.gate.command([value], self.number, orders, self.now, self.patience_ns)
        return self.sent[-1]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (0.5, FINE),
        (-0.25, FINE),
        (above(0.5), Reason.TRAVEL),
        (below(-0.25), Reason.TRAVEL),
        (math.nan, Reason.COMMAND_NOT_FINITE),
    ],
)
def test_a_command_keeps_to_its_workspace(value, reason):
    wire = Wire(minimum=-0.25, maximum=0.5)
    assert wire.send(value) == (0.0 if reason else value)
    assert wire.gate.reason is reason
    assert wire.gate.found_ns == (wire.now if reason else 0)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_the_way_to_rest_ends_at_the_workspace(side):
    """From 1 per s it needs 0.26 to stand, and has 1/16 left."""
    wire = Wire(minimum=-1.0, maximum=1.0, velocity=2.0)
    wire.send(*(side * k * H for k in range(1, 241)))
    wire.state = State.FALLBACK
    wire.send(*[0.0] * 300)
    assert max(abs(each) for each in wire.sent) == 1.0
    assert wire.sent[-1] == side
    free = Wire(velocity=2.0)
    free.send(*(side * k * H for k in range(1, 241)))
    free.state = State.FALLBACK
    assert abs(free.send(*[0.0] * 300)) == pytest.approx(240 * H + 0.25 + 1 / 64, rel=1e-3)


def test_a_velocity_at_its_limit_passes_and_beyond_it_is_held_back():
    wire = Wire(velocity=1.0)
    wire.send(H, 2 * H, 3 * H)
    assert (wire.sent, wire.gate.shaped, wire.gate.behind) == ([H, 2 * H, 3 * H], 0, False)
    assert wire.send(4.5 * H) == 4 * H
    assert (wire.gate.shaped, wire.gate.behind, wire.gate.reason) == (1, True, FINE)
    wire.send(4.5 * H)
    assert (wire.sent[-1], wire.gate.shaped, wire.gate.behind) == (4.5 * H, 1, False)


@pytest.mark.parametrize(("cycles", "reason"), [(4, FINE), (5, Reason.VELOCITY)])
def test_a_command_may_be_held_back_for_its_persistence(cycles, reason):
    wire = Wire(velocity=1.0)
    wire.send(*[1.0] * cycles)
    assert wire.gate.reason is reason
    assert wire.gate.stopping is bool(reason)


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"acceleration": 2 * H / H**2}, FINE),
        ({"acceleration": below(2 * H / H**2)}, Reason.ACCELERATION),
        ({"jerk": 4 * H / H**3}, FINE),
        ({"jerk": below(4 * H / H**3)}, Reason.JERK),
    ],
)
def test_a_command_that_goes_to_and_fro_is_within_its_limits_or_not(limits, reason):
    """H up and H down: +-1 per s, accelerations of 2/H, jerks of 4/H^2."""
    wire = Wire(persistence=0.0, **limits)
    wire.send(H / 2, H)
    wire.gate._axes[0].velocity, wire.gate._axes[0].acceleration = 1.0, 2 * H / H**2
    wire.send(0.0)
    assert wire.gate.reason is reason


@pytest.mark.parametrize(("stop", "state"), [(2.0, State.FALLBACK), (8.0, State.QUICKSTOP)])
def test_each_stop_has_its_deceleration(stop, state):
    wire = Wire(velocity=2.0)
    wire.send(*(k * H for k in range(1, 65)))
    wire.state = state
    wire.send(*[0.0] * 300)
    way = wire.sent[-1] - wire.sent[63]
    jerk = 64.0 if stop == 2.0 else 256.0
    assert way == pytest.approx(1.0 / (2 * stop) + stop / (2 * jerk), rel=1e-3)  # v = 1 per s


def test_a_stop_is_over_in_the_period_in_which_it_stands():
    """From 1 per s with 2 per s2 and 64 per s3: 1/2 + 1/32 s, which are 136 periods."""
    wire = Wire()
    wire.send(*(k * H for k in range(1, 65)))
    wire.state = State.FALLBACK
    wire.send(*[0.0] * 135)
    assert not wire.gate.at_rest
    wire.send(0.0)
    assert wire.gate.at_rest
    assert wire.send(0.0) == wire.sent[-2] == pytest.approx(64 * H + 17 / 64, rel=1e-12)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_ramp_catches_up_as_fast_as_it_may_and_ends_without_a_jump(side):
    """Over 1/4 with 4 per s2: up to 1 per s and down again takes half a second."""
    ramp = 4.0
    wire = Wire(velocity=2.0, ramp=ramp, persistence=10.0)
    wire.send(*[side * 0.25] * 160)
    way = side * np.array([0.0, *wire.sent])
    speed = np.diff(way) / H
    assert np.abs(np.diff([0.0, *speed, 0.0])).max() <= ramp * H * (1.0 + 1e-9)
    assert speed.min() >= 0.0
    assert speed.max() == pytest.approx(1.0, rel=0.02)
    assert way[-1] == 0.25
    assert np.argmax(way == 0.25) in range(126, 133)
    assert wire.gate.reason is FINE


def test_a_stop_becomes_quicker_and_never_slower():
    def way(*states):
        wire = Wire(velocity=2.0)
        wire.send(*(k * H for k in range(1, 65)))
        for state in states:
            wire.state = state
            wire.send(*[0.0] * 8)
        wire.send(*[0.0] * 300)
        return wire.sent[-1]

    slow, quick = way(State.FALLBACK, State.FALLBACK), way(State.QUICKSTOP, State.QUICKSTOP)
    assert (
        quick == way(State.QUICKSTOP, State.FALLBACK) < way(State.FALLBACK, State.QUICKSTOP) < slow
    )
    wire = Wire(velocity=2.0)
    wire.send(*(k * H for k in range(1, 65)))
    wire.state = State.FALLBACK
    wire.send(*[0.0] * 8)
    wire.state = State.ESTOP
    assert wire.send(0.0) == wire.sent[-2]
    assert wire.gate.at_rest


def test_what_rests_at_zero_gets_there_at_its_rate():
    wire = Wire(rests="at zero", to_zero=1.0)
    wire.send(3.5 * H)
    wire.state = State.FALLBACK
    wire.send(9.0, 9.0, 9.0)
    assert (wire.sent[1:], wire.gate.at_rest) == ([2.5 * H, 1.5 * H, 0.5 * H], False)
    wire.send(9.0)
    assert (wire.sent[-1], wire.gate.at_rest) == (0.0, True)
    wire = Wire(rests="at zero", to_zero=1.0)
    wire.send(-3.5 * H)
    wire.state = State.FALLBACK
    assert wire.send(9.0) == -2.5 * H


@pytest.mark.parametrize("late_ns", [0, 1])
def test_the_supervisor_is_lost_beyond_its_heartbeat(late_ns):
    wire = Wire()
    wire.send(0.0)
    wire.beat_ns = wire.now + PERIOD - 200 * MS - late_ns
    wire.send(0.0)
    assert wire.gate.reason is (Reason.SUPERVISOR_LOST if late_ns else FINE)


@pytest.mark.parametrize("patience_ns", [0, 3 * PERIOD])
@pytest.mark.parametrize("late", [0, 1])
def test_a_command_is_stale_beyond_its_age_and_patience(late, patience_ns):
    wire = Wire(stale_ns=8 * PERIOD)
    wire.patience_ns = patience_ns
    wire.send(0.0)
    wire.gives = False
    wire.send(*[0.0] * (8 + patience_ns // PERIOD + late))
    assert wire.gate.reason is (Reason.COMMAND_STALE if late else FINE)
    for state in (State.SHADOW, State.SAFE):  # where nothing is to follow nothing is late
        wire = Wire(stale_ns=8 * PERIOD)
        wire.state = state
        wire.gives = False
        wire.send(*[0.0] * 50)
        assert wire.gate.reason is FINE


@pytest.mark.parametrize(("periods", "most"), [(15, 3), (100, 4)])
def test_a_look_that_was_held_up_counts_for_five_periods_or_a_quarter_of_the_limit(periods, most):
    for looks, reason in ((most, FINE), (most + 1, Reason.COMMAND_STALE)):
        wire = Wire(stale_ns=periods * PERIOD)
        wire.send(0.0)
        wire.gives = False
        for _ in range(looks):
            wire.now += 60 * S
            wire.send(0.0)
        assert wire.gate.reason is reason


@pytest.mark.parametrize("held", [0, 2])
def test_a_command_that_is_missed_is_held_for_its_cycles(held):
    wire = Wire(hold_cycles=held, velocity=2.0)
    wire.send(*(k * H for k in range(1, 65)))
    wire.gives = False
    at = wire.sent[-1]
    wire.send(*[at] * (held + 1))
    assert wire.sent[64:-1] == [at] * held
    stood = wire.gate._axes[0].velocity == 0.0
    assert (wire.sent[-1] > at, stood) == (held == 0, held > 0)  # at once it only slows down
    assert wire.gate.reason is FINE


def test_without_a_command_there_is_nothing_that_moves():
    gate = CommandGate([], [], GateTimes(0, 200 * MS, 100 * MS), PERIOD)
    assert gate.at_rest
    assert gate.command([], 1, Orders(State.ACTIVE, 0, S), S) == []
    assert gate.at_rest


def test_after_a_stop_it_follows_again_only_by_shadow():
    wire = Wire()
    wire.send(H, math.nan)
    for state in (State.ACTIVE, State.BLEND, State.SAFE):
        wire.state = state
        wire.send(0.75)
        assert wire.gate.stopping
    wire.send(*[0.75] * 999)
    assert wire.gate.at_rest
    wire.state = State.SHADOW
    wire.send(0.75)
    assert (wire.gate.stopping, wire.gate.reason, wire.gate.found_ns) == (False, FINE, 0)
    assert wire.gate.at_rest
    wire.state = State.ACTIVE
    assert wire.send(0.75) == 0.75
    assert not wire.gate.at_rest


@pytest.mark.parametrize(("late_ns", "goes_on"), [(0, True), (8, False)])
def test_after_two_and_a_half_periods_without_a_command_the_device_begins_anew(late_ns, goes_on):
    """It follows 1 per s; from standing its first step is of ramp h^2, 1/16 of that."""
    wire = Wire(velocity=2.0, ramp=16.0)
    wire.send(*(k * H for k in range(1, 257)))
    assert wire.sent[-1] - wire.sent[-2] == H
    wire.now += 3 * PERIOD // 2 + late_ns  # and one period more
    step = wire.send(257 * H) - wire.sent[-2]
    assert step == (H if goes_on else H / 16.0)
