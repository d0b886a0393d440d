"""Commands that a device took: limits hold between them, and that none arrive is found."""

from types import SimpleNamespace

import numpy as np
import pytest

from hw_adapters.counter import TakenCounter
from orchestrator.rig.device_units.following import FollowCheck, ShownCommand
from orchestrator.rig.device_units.ledger import CommandLedger
from orchestrator.rig.device_units.supervision import OwnGate
from orchestrator.rig.devices import DeviceConnector, DeviceConnectors, DeviceSettings, Received

MS = 1_000_000
PERIOD = 4 * MS
H = PERIOD * 1e-9
SPEED, RAMP = 0.25, 2.0


class Rig:
    """A gate at 250 Hz, and a device that takes what arrives and says which command it was."""

    def __init__(self, **port):
        given = {"speed": SPEED, "deceleration": RAMP, "minimum": -1.0, "maximum": 1.0} | port
        command = DeviceConnector("u", "m", **given)
        facts = SimpleNamespace(
            ports=DeviceConnectors((command,), (), 1e9 / PERIOD), settings=DeviceSettings()
        )
        self.now, self.number = 0, 0
        self.gate = OwnGate(facts, lambda: self.now)
        self.ledger, self.counter = CommandLedger(H, 10.0, (0.0,)), TakenCounter(None)
        self.place, self.echo = [0.0], 0
        self.held = []

    def cycle(self, wanted, *, lost=False, held=False, after=PERIOD):
        self.now += after
        self.number += 1
        (sent,) = self.gate.command([wanted], self.number, PERIOD)
        self.ledger.send(self.number, self.now, (sent,))
        command = self.counter.send(), sent
        self.held.append(command)
        if lost:
            self.held.clear()
        elif not held:
            self.echo, place = self.held[-1]  # of those that come at once the newest counts
            self.held.clear()
            self.place.append(place)
        if lost or held:
            self.place.append(self.place[-1])
        assert not self.ledger.took(self.counter.count(self.echo), self.now + MS)
        if self.ledger.is_held(self.now + MS):
            self.gate.take_back(self.ledger.values)

    def ramp(self, velocity, cycles, **how):
        for _ in range(cycles):
            self.cycle(velocity * (self.number + 1) * H, **how)


@pytest.mark.parametrize("how", ["lost", "held"])
def test_after_a_loss_the_device_is_led_on_from_the_last_command_that_it_took(how):
    """After 80 lost commands an axis jumped by 63 mm in one sample."""
    rig = Rig()
    rig.ramp(0.2, 50)
    rig.ramp(0.2, 80, **{how: True})
    first = len(rig.place)
    rig.ramp(0.2, 600)
    velocity = np.diff(rig.place[first - 1 :]) / H
    assert np.abs(velocity).max() <= SPEED * (1 + 1e-9)
    assert np.abs(np.diff([0.0, *velocity])).max() <= RAMP * H * (1 + 1e-6)
    assert rig.place[-1] == pytest.approx(0.2 * rig.number * H)  # it has caught up
    assert not rig.gate.stopping


@pytest.mark.parametrize("pause_ms", [50, 90, 200, 2000])
def test_after_a_pause_a_command_is_caught_up_with_by_its_ramp_and_is_no_fault(pause_ms):
    """After 0.2 s RSI ran at its limit with 62.5 m/s2; 60 to 90 ms ended the run for its speed."""
    rig = Rig()
    rig.ramp(0.1, 50)
    rig.number += pause_ms // 4 - 1
    rig.cycle(0.1 * (rig.number + 1) * H, after=pause_ms * MS)
    first = len(rig.place) - 2
    rig.ramp(0.1, 1200)
    velocity = np.diff(rig.place[first:]) / H
    assert np.abs(velocity).max() <= SPEED * (1 + 1e-9)
    assert np.abs(np.diff([0.0, *velocity])).max() <= RAMP * H * (1 + 1e-6)
    assert rig.place[-1] == 0.1 * rig.number * H
    assert not rig.gate.stopping


def test_a_command_that_jitters_is_not_turned_round_when_the_run_ends():
    """Under load a step of the run comes late and the next at once: that is no acceleration."""
    for held in range(4):
        rig = Rig(deceleration=4.0)
        wanted = [0.05 * H * max(0, k - (k % 5 < held)) for k in range(200)]
        for value in wanted:
            rig.cycle(value)
        while not rig.gate.is_over:
            rig.cycle(wanted[-1])
        assert np.diff(rig.place).min() >= 0.0


@pytest.mark.parametrize("lost", [1, 4, 12])
def test_a_command_that_is_lost_on_the_way_to_rest_leaves_the_device_where_it_stands(lost):
    """It stood for a cycle: the next command of the stop would have been two steps at once."""
    rig = Rig()
    rig.ramp(0.2, 50)
    assert not rig.gate.is_over  # the run ends
    places = []
    for k in range(60):
        rig.now += PERIOD
        if k == lost + 1:
            rig.gate.take_back()
        (sent,) = rig.gate.command([1.0], 60, PERIOD)
        if k != lost:
            places.append(sent)
    steps = np.diff(places)
    assert np.abs(steps).max() <= 0.2 * H * (1 + 1e-9)
    assert set(places[lost:]) == {places[lost - 1]}
    assert rig.gate.is_over


def test_commands_that_never_arrive_are_found_and_told():
    ledger = CommandLedger(H, 0.1, (0.0,))
    for k in range(1, 40):
        ledger.send(k, k * PERIOD, (0.0,))
        ledger.took(min(k, 10), k * PERIOD + MS)
        told = ledger.lost(k * PERIOD + MS)
        assert bool(told) == (k - 11 > 25 - 1)
    assert ledger.taken == 10
    assert "in the last 0.113 s (the last that it took was number 10 of the 39" in told


def test_the_last_command_is_sent_again_until_it_is_taken():
    """A run with long steps gives no other for a while."""
    ledger = CommandLedger(H, 0.3, (0.0,))
    ledger.took(0, 0)
    ledger.send(1, PERIOD, (0.1,))
    assert not ledger.is_overdue(3 * PERIOD)
    assert ledger.is_overdue(PERIOD + 25 * MS)
    ledger.send(1, PERIOD + 25 * MS, (0.1,))
    assert not ledger.is_overdue(PERIOD + 30 * MS)
    ledger.took(2, PERIOD + 30 * MS)
    assert not ledger.is_overdue(100 * PERIOD)


def test_commands_that_were_passed_over_are_counted_from_the_first_that_it_says_it_took():
    """Before that its program may not run yet: nothing was to be taken."""
    ledger = CommandLedger(H, 0.1, (0.0,))
    for k in range(1, 6):
        ledger.send(k, k * PERIOD, (0.0,))
        ledger.took(0, k * PERIOD)
    ledger.took(4, 6 * PERIOD)
    for k in range(6, 13):
        ledger.send(k, k * PERIOD, (0.0,))
    assert (ledger.taken, ledger.missed) == (4, 0)
    ledger.took(8, 13 * PERIOD)  # 6 and 7 were passed over; 5 left before it said anything
    ledger.took(3, 13 * PERIOD)  # an older one came after it
    ledger.took(10, 13 * PERIOD)
    assert (ledger.taken, ledger.missed) == (10, 3)
    replayed = [ledger.took(k, 13 * PERIOD, in_order=False) for k in (0, 0, 11, 0, 0)]
    assert replayed == [""] * 5
    assert "is none" in ledger.took(0, 13 * PERIOD, in_order=False)


def test_one_sample_in_order_that_shows_no_command_is_that_of_a_device_that_restarted():
    """Its count may go on: the next command comes within a cycle, and hides the restart."""
    ledger = CommandLedger(H, 0.1, (0.0,))
    for k in range(1, 6):
        ledger.send(k, k * PERIOD, (0.0,))
        assert not ledger.took(k - 1, k * PERIOD)
    assert "took was 4, and is none" in ledger.took(0, 6 * PERIOD)


@pytest.mark.parametrize(
    ("gap", "late", "taken", "why"),
    [
        (1, 0, True, ""),
        (1, 1, False, ""),
        (3, 2, True, ""),
        (3, 3, False, ""),
        (40, 39, True, ""),
        (40, 40, False, ""),
        (40, 0, True, "39 of its frames did not come, and it counts 0 late answers"),
    ],
)
def test_late_answers_are_held_against_the_frames(gap, late, taken, why):
    """A robot that was restarted while IPOC went on did not wait for the answers meanwhile."""
    ledger = CommandLedger(H, 0.1, (0.0,))
    for k in range(3):
        ledger.answers(Received((), late_answers=5), 1)
        ledger.send(k, k, (0.0,))
    found, told = ledger.answers(Received((), late_answers=5 + late), gap)
    assert found == taken
    assert told.startswith(why) if why else not told
    assert ledger.missed == (not taken)
    assert "went from" in ledger.answers(Received((), late_answers=1), 1)[1]


@pytest.mark.parametrize("period", [None, 256])
def test_what_a_device_took_of_an_earlier_run_is_none_of_this_one(period):
    counter = TakenCounter(period)
    assert counter.count(77) == 0
    numbers = [counter.send() for _ in range(300)]
    assert numbers == list(range(1, 301))
    assert counter.count(77) == 0
    assert counter.count(298 if period is None else 298 % period) == 298
    assert counter.count(300 if period is None else 300 % period) == 300


@pytest.mark.parametrize("stands", [False, True])
def test_a_value_that_stands_while_its_command_moves_is_found(stands):
    """A frozen pose went unnoticed without a supervisor: 5 mm/s, and a range of 100 mm."""
    inputs = (DeviceConnector("dx", "m", minimum=-0.05, maximum=0.05),)
    ports = DeviceConnectors(inputs, (DeviceConnector("x", "m", follows="dx"),), 250.0)
    check, told = FollowCheck(ports), ""
    for k in range(500):
        command = 0.005 * k * H
        told = check.look([1.0 if stands else 1.0 + command], [command], k * PERIOD)
        if told:
            break
    assert bool(told) == stands
    if stands:
        assert k * H < 0.6
        assert "'x' stands at 1" in told


def test_a_robot_that_is_commanded_in_another_frame_than_it_measures_in_follows():
    inputs = tuple(DeviceConnector(f"d{x}", "m", minimum=-0.05, maximum=0.05) for x in "xy")
    outputs = tuple(DeviceConnector(x, "m", follows=f"d{x}") for x in "xy")
    check = FollowCheck(DeviceConnectors(inputs, outputs, 250.0))
    for k in range(500):
        command = 0.005 * k * H
        assert not check.look([0.0, command], [command, 0.0], k * PERIOD)


def test_how_old_samples_may_be_is_told_where_the_way_is_long():
    for delay, told in ((1, ""), (20, "took 0.08 s at least, both ways together")):
        ledger = CommandLedger(H, 0.3, (0.0,))
        for k in range(1, 60):
            ledger.send(k, k * PERIOD, (0.0,))
            ledger.took(max(k - delay, 0), k * PERIOD)
        assert told in ledger.account
        assert bool(ledger.account) == bool(told)


SHOWS = DeviceConnectors(
    (DeviceConnector("u", "m", speed=SPEED, minimum=-0.05, maximum=0.05),), (), 1e9 / PERIOD
)


def shown_by(commands, shows):
    """Return what a check says of the samples before each command."""
    check, said = ShownCommand(SHOWS), []
    for k, command in enumerate(commands):
        shown = shows(k)
        said.append(check.look(None if shown is None else (shown,)))
        check.send((command,))
    return said


MOVES = [min(k, 60) * 1e-5 for k in range(100)]


@pytest.mark.parametrize("at", [20, 90])
@pytest.mark.parametrize("late", [1, 4])
def test_a_device_that_shows_no_command_any_more_has_restarted(at, late):
    """It stands at 0.6 mm with all counts going on, and would jump by them with the next command.

    The sample in which it shows that is the one before that command.
    """
    said = shown_by(MOVES, lambda k: 0.0 if k >= at else MOVES[max(k - late, 0)])
    assert not any(said[:at])
    assert "it shows 0 as its command 'u', where" in said[at]


@pytest.mark.parametrize(
    "shows",
    [
        lambda k: None,
        lambda k: 0.0,  # a setpoint that does not have the correction
        lambda k: 1e-5 * k + 0.013,  # one that its program moves
        lambda k: MOVES[max(k - 5, 0)] + (1e-8 if k % 2 else -1e-8),  # rounded
        lambda k: MOVES[max(k - 5, 0)] if k < 30 or k > 70 else MOVES[25],  # answers were lost
        lambda k: min(MOVES[max(k - 1, 0)], 3e-4),  # its own limit
        lambda k: 0.5 * (MOVES[max(k - 1, 0)] + MOVES[max(k - 2, 0)]),  # interpolated
    ],
)
def test_a_device_that_may_show_what_it_was_sent_has_not_restarted(shows):
    assert not any(shown_by(MOVES, shows))


def test_a_command_without_a_speed_is_not_compared():
    check = ShownCommand(DeviceConnectors((DeviceConnector("u", "V"),), (), 250.0))
    for k in range(10):
        check.send((1e-3 * k,))
        assert check.look((1e-3 * k,)) == ""
    assert check.look((-5.0,)) == ""


@pytest.mark.parametrize("dated", [True, False])
def test_one_sample_without_a_command_is_in_doubt_where_it_has_no_number(dated):
    """It may be an old one, or the first of a device that restarted: nothing is sent until then."""
    ledger = CommandLedger(H, 10.0, (0.0,))
    ledger.send(1, PERIOD, (0.1,))
    assert not ledger.took(1, 2 * PERIOD, in_order=dated)
    assert not ledger.in_doubt
    why = ledger.took(0, 3 * PERIOD, in_order=dated)
    assert bool(why) is dated
    assert ledger.in_doubt
    ledger.took(1, 4 * PERIOD, in_order=dated)
    assert not ledger.in_doubt
