"""CiA 402: which commands a drive took, by the demand that its loops follow."""

import pytest
from canopen_bench import Bench, drive, settings

from hw_adapters.canopen_cia402.adapter import CanopenCia402
from hw_adapters.canopen_cia402.objects import DEMANDS
from hw_adapters.canopen_cia402.taken_commands import TakenCommands

PATIENT = {"heartbeat_timeout_ms": 60_000, "late_ms": 60_000}


def followed(targets, demands):
    """Send a command a cycle, and see a demand after each; return what counts as taken."""
    taken, found = TakenCommands("demand"), []
    for count, (target, demand) in enumerate(zip(targets, demands, strict=True), 1):
        taken.sent(count, target)
        taken.see({"demand": demand})
        found.append(taken.newest(count))
    return found


#: A drive that has followed so far.
SURE = [0, 1, 2, 3]


def test_commands_are_taken_in_turn():
    assert followed([*SURE, 10, 20, 30], [*SURE, 3, 10, 20]) == [None] * 3 + [4, 4, 5, 6]
    assert followed([*SURE, 10, 20, 20, 20], [*SURE, 10, 20, 20, 20])[4:] == [5, 6, 7, 8]


def test_a_demand_between_two_commands_is_on_its_way():
    assert followed([*SURE, 10, 20, 30], [*SURE, 10, 15, 25])[4:] == [5, 5, 6]


def test_commands_that_are_lost_are_not_taken():
    targets = [*SURE, *range(20, 120, 10), 120]
    assert followed(targets, [*SURE, *(3,) * 10, 120])[-3:] == [4, 4, 15]


def test_a_value_that_comes_back_is_not_taken_before_its_turn():
    assert followed([*SURE, 10, 20, 10, 0], [*SURE, 3, 10, 10, 10])[4:] == [4, 5, 5, 5]


def test_a_demand_in_other_units_says_nothing():
    targets = [k * k for k in range(120)]
    assert followed(targets, [7 * k * k for k in range(120)]) == [None] * 120
    assert followed(targets, [k * k // 10 for k in range(120)]) == [None] * 120


@pytest.mark.parametrize(
    ("given", "has", "acceleration", "counts", "source"),
    [
        ({"acceleration_limit": 20.0}, True, 20.0, 208608, "in the drive as well (60C5)"),
        ({"acceleration_limit": 20.0}, False, 20.0, None, "the drive has no 60C5"),
        ({}, True, 500.0, 0xFFFFFFFF, "its quick_stop_deceleration"),
    ],
)
def test_the_acceleration_of_a_position_is_declared(
    monkeypatch, given, has, acceleration, counts, source
):
    """Increments of velocity are those of position per second: 65536 a turn."""
    bench = Bench(monkeypatch, settings(drive(mode="csp", **given), **PATIENT))
    if not has:
        del bench.drives[0].objects._entries[0x60C5, 0]
    (port,) = bench.device.connectors(bench.device.settings).inputs
    assert (port.acceleration, port.ramp) == (acceleration, acceleration)
    bench.device.open()
    assert not has or bench.drives[0].objects[0x60C5, 0] == counts
    assert source in bench.device.account()
    assert f"{acceleration:g} rad/s2 is the acceleration of its commands" in bench.device.account()


def test_a_velocity_changes_no_faster_than_its_acceleration():
    given = settings(drive(mode="csv", acceleration_limit=20.0))
    (port,) = CanopenCia402.connectors(given).inputs
    assert port.speed == 20.0


@pytest.mark.parametrize("mode", ["csp", "csv"])
def test_an_emulated_drive_shows_which_commands_it_took(monkeypatch, mode):
    bench = Bench(monkeypatch, settings(drive(mode=mode), **PATIENT))
    bench.device.open()
    names = [o.name for m in bench.device._drives[0].measurements for o in m.objects]
    assert DEMANDS[mode] in names
    wanted = [0.0, *(0.01 * k for k in range(1, 30))]
    before = [bench.cycles(1, (value,))[0].taken for value in wanted]
    assert before[10:] == list(range(10, 30))  # the answer to one SYNC is used at the next
    send, bench.bus.send = (
        bench.bus.send,
        lambda frames: send([frame for frame in frames if frame.identifier != 0x201]),
    )
    lost = [bench.cycles(1, (0.3 + 0.01 * k,))[0].taken for k in range(20)]
    assert set(lost[1:]) == {30}
    bench.bus.send = send
    after = [bench.cycles(1, (0.5 + 0.01 * k,))[0].taken for k in range(3)]
    assert after[-1] == 52
    bench.device.close()


def test_a_drive_without_a_demand_is_led_as_before(monkeypatch):
    bench = Bench(monkeypatch, settings(drive(), **PATIENT))
    del bench.drives[0].objects._entries[0x606B, 0]
    monkeypatch.setattr("hw_adapters.canopen_cia402.emulated_drive._DEMANDS", {})
    bench.device.open()
    assert [s.taken for s in bench.cycles(5, (1.0,))] == [None] * 5
    bench.device.close()
    bench = Bench(monkeypatch, settings(drive(feedback=False), **PATIENT))
    bench.device.open()
    assert [s.taken for s in bench.cycles(5, (1.0,))] == [None] * 5
    bench.device.close()
