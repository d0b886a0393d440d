"""What the process of a device does by itself with commands, in synthetic time."""

from types import SimpleNamespace

import numpy as np
import pytest

from orchestrator.rig.device_units.supervision import OwnGate
from orchestrator.rig.devices import DeviceConnector, DeviceConnectors, DeviceError, DeviceSettings

MS = 1_000_000
PERIOD = 4 * MS
H = PERIOD * 1e-9


class Wire:
    """A gate that answers a sample in each cycle; the run gives a command in some of them."""

    def __init__(self, settings=None, **port):
        command = DeviceConnector("u", "m", **port)
        facts = SimpleNamespace(
            ports=DeviceConnectors((command,), (), 1e9 / PERIOD),
            settings=settings or DeviceSettings(),
        )
        self.now = 0
        self.gate = OwnGate(facts, lambda: self.now)
        self.number, self.wanted, self.step = 1, 0.0, PERIOD
        self.sent = []

    def cycle(self, wanted=None, *, after=PERIOD, sample=True):
        """Let a cycle pass; without a command the run hangs."""
        self.now += after
        if wanted is not None:
            self.number, self.wanted = self.number + 1, wanted
        if sample:
            given = (np.array([self.wanted]), self.number, self.step)
            self.sent += self.gate.command(*given)
            self.gate.saw(SimpleNamespace(shaped=0), np.array([]))
        self.gate.watch(SimpleNamespace(commands_given=self.number), self.step)

    def hang(self, **options):
        """Let the run hang until the device is given up; return what is said, and after what."""
        begin = self.now
        with pytest.raises(DeviceError) as raised:
            self._cycles(25_000, **options)
        return str(raised.value), (self.now - begin) * 1e-9

    def _cycles(self, count, **options):
        for _ in range(count):
            self.cycle(**options)


def moving(wire, velocity, cycles=50):
    for k in range(cycles):
        wire.cycle(velocity * (k + 1) * H)


def test_what_a_run_gives_passes_bit_for_bit():
    wire = Wire(speed=0.25)
    values = [0.001 * np.sin(0.1 * k) for k in range(100)]
    for value in values:
        wire.cycle(value)
    assert wire.sent == values


def test_a_velocity_goes_to_zero_when_the_run_hangs_and_the_device_gets_no_sign_of_life():
    wire = Wire(rests="at zero", deceleration=50.0)
    for _ in range(25):
        wire.cycle(5.0)
    said, seconds = wire.hang()
    assert "sent no new command for 25 of its cycles (0.1 s, command_stale_after)" in said
    assert wire.sent[-1] == 0.0
    assert np.abs(np.diff(wire.sent[20:])).max() <= 50.0 * 2 * H + 1e-12
    # 0.1 s and a step of 4 ms until it is noticed, 5 / 50 s to zero, and a cycle each.
    assert seconds == pytest.approx(0.1 + 0.004 + 0.1, abs=3 * H)


def test_a_position_comes_to_rest_by_its_deceleration():
    wire = Wire(speed=0.25, deceleration=2.0)
    moving(wire, 0.2)
    # The run hangs: the newest command is sent again, which is a stop by itself.
    wire.hang()
    assert wire.sent[-1] == pytest.approx(0.2 * 50 * H)


def test_a_run_that_ends_while_a_position_moves_comes_to_rest_by_its_deceleration():
    wire = Wire(speed=0.25, deceleration=2.0)
    moving(wire, 0.2)
    assert not wire.gate.is_over
    begin = len(wire.sent)
    while not wire.gate.is_over:
        wire.cycle()
    velocity = np.diff(wire.sent[begin - 2 :]) / H
    assert velocity[-1] == pytest.approx(0.0, abs=2.0 / 0.04 * H**2)
    assert np.abs(np.diff(velocity)).max() <= 2.0 * H * (1 + 1e-6)
    # v^2 / 2 a, and v times half the time that the deceleration takes to come.
    assert wire.sent[-1] - wire.sent[begin - 1] == pytest.approx(0.2**2 / 4 + 0.2 * 0.02, rel=0.05)


@pytest.mark.parametrize("pause", [2.0, 8.0])
def test_a_machine_that_stood_still_is_no_run_that_hangs(pause):
    wire = Wire(speed=0.25)
    moving(wire, 0.1, 10)
    wire.cycle(after=round(pause * 1e9))
    wire.cycle(wire.wanted)
    assert not wire.gate.stopping


def test_a_run_has_its_step_and_before_its_first_one_the_time_to_connect():
    wire = Wire(DeviceSettings(connect_timeout=5.0))
    for _ in range(round(5.0 / H)):
        wire.cycle()
    wire.step = 1000 * MS
    wire.cycle(0.1)
    for _ in range(round(1.0 / H)):
        wire.cycle()
    assert not wire.gate.stopping
    assert wire.hang()[1] < 0.2


def test_a_run_that_gave_commands_and_has_no_step_yet_has_the_time_to_connect():
    """It locks its memory between its first commands and its first step."""
    wire = Wire(DeviceSettings(connect_timeout=5.0))
    wire.step = 0
    wire.cycle(0.1)
    for _ in range(round(4.0 / H)):
        wire.cycle()
    assert not wire.gate.stopping
    wire.step = PERIOD
    wire.cycle(0.1)
    assert wire.hang()[1] < 0.2


def test_while_no_sample_comes_a_run_may_wait_for_them_as_its_clock():
    wire = Wire(DeviceSettings(connect_timeout=1.0))
    moving(wire, 0.1, 10)
    for _ in range(round(1.0 / H)):
        wire.cycle(sample=False)
    assert not wire.gate.stopping
    assert 0.09 < wire.hang(sample=False)[1] < 5.0  # it was never answered: it is given up


def test_a_missed_cycle_is_made_up_for_within_the_speed():
    wire = Wire(speed=0.25)
    moving(wire, 0.2, 50)
    wire.cycle()
    wire.cycle(0.2 * 52 * H)  # twice what a cycle moves: 0.4 m/s
    for k in range(53, 90):
        wire.cycle(0.2 * k * H)
    assert np.abs(np.diff(wire.sent)).max() <= 0.25 * H * (1 + 1e-9)
    assert wire.sent[-1] == wire.wanted
    facts = SimpleNamespace(shaped=0)
    wire.gate.saw(facts, np.array([]))
    assert 1 <= facts.shaped <= 10


def test_commands_that_stay_too_fast_end_the_run_by_name():
    wire = Wire(speed=0.25, deceleration=2.0)
    with pytest.raises(DeviceError, match="moves or jumps faster than allowed"):
        moving(wire, 0.3, 1000)
    assert np.abs(np.diff(wire.sent)).max() <= 0.25 * H * (1 + 1e-9)


def test_the_first_command_starts_from_where_the_device_is():
    wire = Wire(speed=0.25)
    wire.cycle(0.005)
    assert wire.sent == [pytest.approx(0.25 * H)]


def test_a_watchdog_longer_than_the_devices_own_is_refused():
    from hw_adapters.canopen_cia402.settings import CanopenSettings

    drive = {
        "name": "m", "node": 1, "mode": "csv", "position_scale": 1e-4, "torque_scale": 1e-3,
        "velocity_limit": 50.0, "torque_limit": 1.0, "quick_stop_deceleration": 500.0,
    }  # fmt: skip
    given = {"channel": "none", "drives": [drive], "cycle_ms": 5, "heartbeat_timeout_ms": 200}
    with pytest.raises(ValueError, match=r"command_stale_after: expected at most 0.2 s"):
        CanopenSettings(**given, command_stale_after=0.3)
    assert CanopenSettings(**given).own_watchdog == 0.2
