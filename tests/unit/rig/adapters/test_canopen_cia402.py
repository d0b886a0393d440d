"""CiA 402: tables, maps, and the adapter on emulated drives that answer at once."""

import math
from contextlib import suppress
from itertools import count, pairwise, repeat
from random import Random

import numpy as np
import pytest
from canopen.profiles.p402 import State402
from canopen_bench import Bench, drive, settings

from hw_adapters.canopen_cia402 import slcan
from hw_adapters.canopen_cia402.adapter import CanopenCia402
from hw_adapters.canopen_cia402.codec import CanFrame, decode
from hw_adapters.canopen_cia402.pdo import frame_bits, pdo_maps
from hw_adapters.canopen_cia402.shaft import Shaft
from hw_adapters.canopen_cia402.state_machine import STATES, state_of
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices import DeviceError, WireFormatError, read_settings

#: Increments of position of the emulated drives, rad.
COUNT = math.tau / 65536


def test_the_table_of_states_is_that_of_the_library_canopen():
    theirs = {name.lower(): pair for name, pair in State402.SW_MASK.items()}
    assert {s.name: (s.mask, s.value) for s in STATES} == theirs
    for word in range(0x80):  # higher bits are in no mask
        found = [name for name, (mask, value) in theirs.items() if word & mask == value]
        if not found:
            with pytest.raises(WireFormatError, match="expected a state of CiA 402"):
                state_of(word)
        else:
            assert [state_of(word).name] == found


def test_controlwords_lead_where_the_library_canopen_says():
    steps = {(a.lower(), b.lower()): word for (a, b), word in State402.TRANSITIONTABLE.items()}
    path = ("switch on disabled", "ready to switch on", "switched on", "operation enabled")
    by_name = {s.name: s for s in STATES}
    for here, there in pairwise(path):
        assert by_name[here].to_enabled == steps[here, there]
    assert by_name["fault"].to_enabled == steps["fault", "switch on disabled"]
    assert by_name["operation enabled"].to_rest == steps["operation enabled", "quick stop active"]


def test_bits_of_frames_are_those_of_the_schedulability_analysis():
    assert [frame_bits(n) for n in (0, 1, 8)] == [
        55,
        65,
        135,
    ]  # Davis et al. 2007, Table 1: 65, 135


def test_two_drives_at_1_khz_fit_into_1_mbit():
    assert settings(drive(), drive("load", 2, "cst")).cycle_bits == 55 + 115 + 95 + 2 * (135 + 95)


@pytest.mark.parametrize(
    "change",
    [
        {"measurements": [["statusword", "position", "torque", "velocity"]]},
        {"measurements": [["statusword", "position", "torque"]]},
        {"commands": [["target_velocity"]]},
        {"commands": [["controlword", "target_velocty"]]},
        {"commands": [["controlword", "position", "target_velocity"]]},
        {"commands": [["controlword", "target_velocity"], []]},
        {"commands": [["controlword", "target_velocity", "controlword"]]},
        {"commands": [["controlword"], ["target_velocity"], *[["mode"]] * 3]},
    ],
)
def test_maps_that_do_not_fit_are_told(change, wording):
    with wording.raises(DescriptionError):
        read_settings(CanopenCia402, {"channel": "x", "drives": [drive(**change)]}, "device 'd'")


@pytest.mark.parametrize(
    "change",
    [
        {"bitrate": 500_000},
        {"master": 2},
        {"heartbeat_ms": 60},
    ],
)
def test_a_line_that_cannot_be_is_told(change, wording):
    given = {"channel": "x", "drives": [drive(), drive("load", 2, "cst")], **change}
    with wording.raises(DescriptionError):
        read_settings(CanopenCia402, given, "device 'd'")


SHEET = """[DeviceInfo]
VendorName=x
[{index:04X}]
ParameterName=one
ObjectType=0x7
DataType=0x0006
AccessType=ro
PDOMapping=0
"""


def test_maps_are_held_against_the_data_sheet(tmp_path, wording):
    sheet = tmp_path / "drive.eds"
    sheet.write_text(SHEET.format(index=0x6041))
    given = settings(drive(eds=sheet))
    with pytest.raises(DescriptionError) as raised:
        CanopenCia402.connectors(given)
    told = str(raised.value)
    assert "the data sheet has no RPDO1 (1400)" in told
    assert "the data sheet has no 'position' (6064:00)" in told
    assert "the data sheet says that 'statusword' (6041:00) cannot be mapped" in told
    sheet.write_text("no sheet")
    with wording.raises(DescriptionError):
        CanopenCia402.connectors(given)


def test_torque_turns_the_shaft_as_newton_says(monkeypatch):
    given = settings(drive(mode="cst"), drive("load", 2, "cst", inverted=True))
    with_both = Bench(monkeypatch, given)
    with_both.device.open()
    with_both.cycles(2, (0.3, 0.1))  # from a sample to the next SYNC, and a cycle of motion
    before = with_both.shaft.velocity
    samples = with_both.cycles(100, (0.3, 0.1))
    # the second drive is mounted against the first: 0.3 - 0.1 N.m on 1e-3 kg m2, a cycle of 1 ms
    expected = before + 200.0 * 1e-3 * np.arange(1, 101)
    assert [s.values[1] for s in samples] == pytest.approx(expected, abs=0.51 * COUNT)
    assert [s.values[4] for s in samples] == pytest.approx(-expected, abs=0.51 * COUNT)
    assert samples[-1].values[2] == pytest.approx(0.3)
    assert [s.sequence for s in samples] == list(
        range(samples[0].sequence, samples[0].sequence + 100)
    )
    assert all(s.valid and s.status == 0 for s in samples)


def test_velocity_against_a_load_settles_where_it_is_wanted(monkeypatch):
    bench = Bench(monkeypatch, settings(drive(), drive("load", 2, "cst")))
    bench.device.open()
    last = bench.cycles(200, (5.0, 0.02))[-1]
    assert last.values[1] == pytest.approx(5.0, abs=1e-3)
    assert last.values[2] == pytest.approx(-0.02, abs=0.51e-3)  # in thousandths of 1 N.m


def test_positions_count_from_where_the_axis_is_and_do_not_jump(monkeypatch):
    shaft = Shaft(1e-3, position=123.4)
    bench = Bench(monkeypatch, settings(drive(mode="csp")), shaft=shaft)
    bench.device.open()
    assert bench.cycles(5, (0.0,))[-1].values[0] == 0.0
    assert shaft.position == pytest.approx(123.4, abs=COUNT)
    for i in range(1, 41):
        bench.cycles(1, (5e-3 * i,))
    assert bench.cycles(160, (0.2,))[-1].values[0] == pytest.approx(0.2, abs=2 * COUNT)


def test_positions_do_not_jump_where_the_increments_run_over(monkeypatch):
    shaft = Shaft(1e-3, position=(2**31 - 100) * COUNT)
    bench = Bench(monkeypatch, settings(drive(mode="csp")), shaft=shaft)
    bench.device.open()
    for i in range(1, 21):
        bench.cycles(1, (5e-3 * i,))
    assert bench.cycles(160, (0.1,))[-1].values[0] == pytest.approx(0.1, abs=2 * COUNT)


def test_a_fault_of_one_drive_stops_all(monkeypatch, wording):
    bench = Bench(monkeypatch, settings(drive(), drive("load", 2, "cst")))
    bench.device.open()
    bench.cycles(50, (5.0, 0.0))
    bench.drives[1].fail(0x2310)
    with wording.raises(DeviceError):
        bench.cycles(3, (5.0, 0.0))
    bench.device.close()
    assert bench.log.index(("fault_reaction", 2)) < bench.log.index(("quick_stop", 1))
    assert [d.state for d in bench.drives] == ["SWITCH_ON_DISABLED", "FAULT"]
    assert bench.shaft.velocity == pytest.approx(0.0, abs=2e-3)


def test_samples_after_a_fault_are_not_valid_where_a_run_goes_on(monkeypatch, wording):
    bench = Bench(monkeypatch, settings(drive(), on_fault="hold"))
    bench.device.open()
    bench.cycles(5, (5.0,))
    bench.drives[0].fail(0x8611)
    marked = [(s.valid, s.status) for s in bench.cycles(5, (5.0,))]
    assert marked[-4:] == [(False, 0x8611)] * 4
    with wording.raises(DeviceError):
        bench.device.open()
    again = Bench(monkeypatch, settings(drive(), fault_reset=True))
    again.drives[0].fail(0x8611)
    again.device.open()
    assert again.drives[0].state == "ENABLED"


def test_a_silent_drive_stops_the_others_in_time(monkeypatch, wording):
    given = settings(
        drive(), drive("load", 2, "cst"), heartbeat_ms=10, heartbeat_timeout_ms=40, late_ms=1
    )
    bench = Bench(monkeypatch, given)
    bench.device.open()
    bench.cycles(2, (1.0, 0.0))
    bench.bus.line.drives.remove(bench.drives[1])
    with wording.raises(DeviceError):
        bench.until_it_fails(repeat((1.0, 0.0)))
    bench.device.close()
    assert ("quick_stop", 1) in bench.log


def test_a_drive_whose_master_is_silent_stops_by_itself(monkeypatch):
    bench = Bench(monkeypatch, settings(drive(), heartbeat_timeout_ms=40))
    bench.device.open()
    bench.cycles(5, (5.0,))
    bench.bus.line.tick(math.inf)
    assert bench.log[-2:] == [("heartbeat_lost", 1), ("quick_stop", 1)]


def test_a_blocked_axis_is_a_following_error(monkeypatch, wording):
    bench = Bench(monkeypatch, settings(drive(mode="csp", following_window=0.01)))
    bench.device.open()
    bench.shaft.is_blocked = True
    with wording.raises(DeviceError):
        bench.until_it_fails((1e-3 * i,) for i in count())


def test_what_a_drive_refuses_is_told_with_its_object(monkeypatch, wording):
    bench = Bench(monkeypatch, settings(drive()))
    bench.drives[0].objects[0x6502, 0] = 0x80
    with wording.raises(DeviceError):
        bench.device.open()
    bench = Bench(monkeypatch, settings(drive()))
    bench.drives[0].objects[0x1000, 0] = 0x191
    with wording.raises(DeviceError):
        bench.device.open()
    del bench.drives[0].objects._entries[0x6085, 0]
    bench.drives[0].objects[0x1000, 0] = 0x192
    with wording.raises(DeviceError):
        bench.device.open()
    bench = Bench(monkeypatch, settings(drive(without=["interpolation_period"])))
    for sub in (1, 2):
        del bench.drives[0].objects._entries[0x60C2, sub]
    bench.device.open()
    bench = Bench(monkeypatch, settings(drive()))
    bench.drives[0].objects._entries[0x606C, 0].mappable = False
    with wording.raises(DeviceError):
        bench.device.open()


def test_a_node_that_is_not_there_is_told(monkeypatch, wording):
    limits = {"answer_timeout": 0.01, "start_timeout": 0.05}
    bench = Bench(monkeypatch, settings(drive(), drive("load", 2, "cst"), **limits))
    bench.bus.line.drives.pop()
    with wording.raises(DeviceError):
        bench.device.open()


def test_drives_can_be_read_without_being_enabled(monkeypatch):
    bench = Bench(monkeypatch, settings(drive(), enable=False), shaft=Shaft(1e-3, velocity=2.0))
    assert bench.device.connectors(bench.device.settings).inputs == ()
    bench.device.open()
    assert bench.cycles(3, ())[-1].values[1] == pytest.approx(2.0, abs=COUNT)
    bench.device.close()
    assert bench.log == []


MAP = pdo_maps(1, [["statusword", "position", "torque"]], commanded=False)[0]


@pytest.mark.slow
def test_ten_thousand_damaged_lines_are_frames_or_refused():
    chance = Random(0)  # noqa: S311 - of a test
    sound = [b"t18183704000012000A00", b"t7011057F3A", b"t0818118621000000000000", b"F80", b"z"]
    for _ in range(10_000):
        line = bytearray(chance.choice(sound))
        for _ in range(chance.randrange(1, 4)):
            line[chance.randrange(len(line))] = chance.randrange(256)
        line = bytes(line[: chance.randrange(1, len(line) + 1)])
        with suppress(WireFormatError):
            found = slcan.decode_line(line)
            if found is not None:
                sound_part = line[: 5 + 2 * len(found.data)].lower()
                assert slcan.encode_line(found)[:-1].lower() == sound_part
                decode(found)
        with suppress(WireFormatError):
            message = decode(CanFrame(chance.randrange(0x800), bytes(line[:8])))
            assert message is None or 1 <= message.node <= 127
        with suppress(WireFormatError):
            found = MAP.decode(bytes(line[:8]))
            assert MAP.encode(found).data == bytes(line[:8])
