"""RDT: units, status bits, the sheet, and what is refused."""

import csv
import struct
import time
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_adapters.ati_net_ft import adapter
from hw_adapters.ati_net_ft.adapter import AtiNetFt, AtiNetFtSettings
from hw_adapters.ati_net_ft.calibration import Calibration
from hw_adapters.ati_net_ft.codec import Record, decode_records, status_names
from hw_adapters.ati_net_ft.sheet import Probe, Sheet
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices import DeviceError, WireFormatError, read_settings
from orchestrator.rig.devices.conformance import EmulatorProcess

COUNT = st.integers(-(2**31), 2**31 - 1)
WORD = st.integers(0, 2**32 - 1)


@given(st.lists(st.tuples(WORD, WORD, WORD, st.tuples(*[COUNT] * 6)), min_size=1, max_size=5))
def test_records_are_read_as_another_program_packs_them(records):
    datagram = b"".join(
        b"".join(n.to_bytes(4, "big", signed=False) for n in (rdt, ft, status))
        + b"".join(n.to_bytes(4, "big", signed=True) for n in counts)
        for rdt, ft, status, counts in records
    )
    assert decode_records(datagram) == tuple(Record(*record) for record in records)


@given(st.binary(max_size=120))
def test_whatever_comes_is_records_or_refused(datagram):
    if datagram and len(datagram) % 36 == 0:
        assert len(decode_records(datagram)) == len(datagram) // 36
    else:
        with pytest.raises(WireFormatError, match="expected a multiple of 36 bytes"):
            decode_records(datagram)


@pytest.mark.parametrize(
    ("units", "force", "torque"),
    [
        (("N", "Nm"), 1.0, 1.0),
        (("kN", "kNm"), 1000.0, 1000.0),
        (("lbf", "lbf-in"), 4.4482216152605, 0.1129848290276167),
        (("klbf", "lbf-ft"), 4448.2216152605, 1.3558179483314004),
        (("kg", "kg-cm"), 9.80665, 0.0980665),
        (("kgf", "kgf-cm"), 9.80665, 0.0980665),
        (("gf", "gf-cm"), 9.80665e-3, 9.80665e-5),
        (("g", "kgf-m"), 9.80665e-3, 9.80665),
    ],
)
def test_counts_become_si_units(units, force, torque):
    found = Calibration(1000.0, 500.0, *units).wrench((2000, 0, -1000, 500, 0, -1500))
    assert found == pytest.approx((2 * force, 0, -force, torque, 0, -3 * torque), rel=1e-14)


def test_status_bits_have_names():
    assert status_names(0x80020020) == ("error", "saturation", "bit 5")
    assert not Record(1, 1, 0x80000000, (0,) * 6).valid
    assert Record(1, 1, 0x00010000, (0,) * 6).valid


def test_the_sheet_pushes_against_depth_and_rate_and_never_pulls():
    sheet = Sheet(stiffness=1000.0, damping=20.0, gap=0.002)
    assert sheet.force(0.001, 1.0) == 0.0
    assert sheet.force(0.004, 0.05) == pytest.approx(-(1000.0 * 0.002 + 20.0 * 0.05))
    assert sheet.force(0.003, -1.0) == 0.0  # it leaves faster than the sheet follows
    assert Sheet(both_sides=True).force(-0.001, 0.0) == pytest.approx(1.0)


def test_noise_repeats_with_the_seed_and_has_its_deviation():
    first, again = (Sheet(noise=0.5, seed=4) for _ in range(2))
    drawn = [first.wrench(0.0, 0.0) for _ in range(2000)]
    assert [again.wrench(0.0, 0.0) for _ in range(2000)] == drawn
    flat = [value for wrench in drawn for value in wrench]
    assert (sum(v * v for v in flat) / len(flat)) ** 0.5 == pytest.approx(0.5, rel=0.05)


def test_the_probe_goes_on_at_its_rate_for_a_while():
    probe = Probe(horizon_s=0.01)
    values = (0.1, 0, 0, 0, 0, 0, 2.0, 0, 0, 0, 0, 0)
    assert probe.take(struct.pack("<4sIQ12d", b"SDPL", 1, 10**9, *values))
    assert probe.at(10**9 + 5_000_000, 0) == (pytest.approx(0.11), 2.0)
    assert probe.at(10**9 + 50_000_000, 0)[0] == pytest.approx(0.12)
    assert not probe.take(b"SDPL")
    assert not probe.take(struct.pack("<4sIQ12d", b"XXXX", 1, 0, *values))


def test_a_sensor_that_is_not_there_is_told_before_anything_streams(wording):
    from orchestrator.rig.devices.conformance import free_tcp_port

    port = free_tcp_port()
    device = AtiNetFt(AtiNetFtSettings(device_host="127.0.0.1", http_port=port))
    with wording.raises(DeviceError):
        device.open()
    device.close()


def test_another_rate_is_refused(monkeypatch, wording):
    device = AtiNetFt(AtiNetFtSettings(device_host="127.0.0.1", rate=1000.0))
    monkeypatch.setattr(device, "_known_calibration", lambda: Calibration(1, 1, rate_hz=7000.0))
    with wording.raises(DeviceError):
        device.open()


def test_the_count_of_a_sensor_that_runs_over_is_counted_on():
    counts = {"counts_per_force": 1e6, "counts_per_torque": 1e6}
    device = AtiNetFt(AtiNetFtSettings(device_host="127.0.0.1", calibration=counts))
    begin = 2**32 - 14
    records = b"".join(
        struct.pack(">III6i", k, (begin + 7 * k) % 2**32, 0, *[0] * 6) for k in range(5)
    )
    device._socket = SimpleNamespace(receive=lambda _: (records, None), send=lambda _: None)
    device._calibration = device._known_calibration()
    found = [device.receive(0.0).device_time for _ in range(5)]
    assert found == pytest.approx([(begin + 7 * k) / 7000.0 for k in range(5)], abs=1e-9)


def test_a_stream_that_was_asked_for_again_is_no_restart():
    """A wire with 0.5 s of delay: each later request begins the count of records again."""
    counts = {"counts_per_force": 1e6, "counts_per_torque": 1e6}
    device = AtiNetFt(AtiNetFtSettings(device_host="x", calibration=counts, rate=500))
    numbers = [(1, 0), (2, 14), (3, 28), (1, 42), (2, 56), (1, 70), (2, 84), (1, 98)]
    records = b"".join(struct.pack(">III6i", rdt, ft, 0, *[0] * 6) for rdt, ft in numbers)
    device._socket = SimpleNamespace(receive=lambda _: (records, None), send=lambda _: None)
    device._calibration, device._again = device._known_calibration(), 2
    device._asked_s = time.monotonic()  # else the first look asks once more
    found = [device.receive(0.0).sequence for _ in range(len(numbers))]
    assert found[:7] == [1, 2, 3, 4, 5, 6, 7]
    assert found[7] < 7  # nobody asked for this one: it is a restart


@pytest.mark.parametrize(
    "units",
    [{"force_unit": "Nm"}, {"torque_unit": "gf"}],
)
def test_a_unit_of_another_quantity_is_told(units, wording):
    given = {"device_host": "x", "calibration": {"counts_per_force": 1, "counts_per_torque": 1}}
    given["calibration"] |= units
    with wording.raises(DescriptionError):
        read_settings(AtiNetFt, given, "device 'sensor'")


def test_a_misspelt_setting_is_told(wording):
    wrong = {"device_host": "10.0.0.2", "force_limt": 3.0}
    with wording.raises(DescriptionError):
        read_settings(AtiNetFt, wrong, "device 'sensor'")


@pytest.mark.parametrize(
    ("tare", "buffered", "expected"), [(False, True, -1.0), (True, False, 0.0)]
)
def test_a_pressed_sensor_is_read_and_set_to_zero(tmp_path, tare, buffered, expected):
    """The sheet begins 1 mm before the tip: 1 N at 1000 N/m."""
    log = tmp_path / "sensor.csv"
    options = ("--port", "0", "--rate", "500", "--gap", "-1", "--log", str(log))
    with EmulatorProcess("hw_adapters.ati_net_ft.emulator", options) as emulator:
        device = AtiNetFt(
            AtiNetFtSettings(
                device_host="127.0.0.1",
                device_port=emulator.places["udp"][1],
                http_port=emulator.places["http"][1],
                rate=500.0,
                tare=tare,
                buffered=buffered,
            )
        )
        device.open()
        try:
            found = [device.receive(5.0) for _ in range(25)]
        finally:
            device.close()
        first = 1 + 32 * tare  # the mean of those before is the zero
        assert [each.sequence for each in found] == list(range(first, first + 25))
        assert {each.values[0] for each in found} == {expected}
        times = [each.device_time for each in found]
        assert [b - a for a, b in pairwise(times)] == pytest.approx([0.002] * 24)
        assert emulator.stop() == 0
    events = [row["event"] for row in csv.DictReader(log.read_text().splitlines())]
    asked = [event for event in events if event.startswith("request") and "0x0000" not in event]
    assert asked == [f"request 0x000{3 if buffered else 2}"]


class Lossy:
    """A socket before a sensor that loses the first requests of each kind, and counts them all."""

    def __init__(self, lost, monkeypatch):
        self.lost, self.asked, self.streams, self.number = lost, [], False, 0
        self.now = 100.0
        clock = SimpleNamespace(monotonic=lambda: self.now)
        monkeypatch.setattr(adapter, "time", clock)

    def send(self, request):
        command = request[3]
        self.asked.append(command)
        if self.asked.count(command) > self.lost:
            self.streams = command == 2

    def receive(self, timeout_s):
        self.now += 0.002 if self.streams else timeout_s
        self.number += self.streams
        record = struct.pack(">III6i", self.number, self.number, 0, -10, *[0] * 5)
        return (record, None) if self.streams else None

    def close(self):
        pass


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_requests_that_were_lost_are_made_again(monkeypatch, lost):
    """One lost STREAM ended the run, and a lost STOP left the sensor sending."""
    counts = {"counts_per_force": 1, "counts_per_torque": 1}
    device = AtiNetFt(AtiNetFtSettings(device_host="x", calibration=counts, tare=True, rate=500))
    wire = Lossy(lost, monkeypatch)
    monkeypatch.setattr(adapter, "DatagramSocket", lambda *_: wire)
    wire.streams = True  # of an earlier run
    device.open()
    assert wire.asked == [*[0] * (lost + 1), 2]
    found = [device.receive(0.1) for _ in range(100)]
    values = {each.values[0] for each in found if each is not None}
    assert values == {0.0}
    device.close()
    assert not wire.streams
    assert wire.asked.count(2) == lost + 1


def test_old_records_do_not_enter_the_zero(monkeypatch):
    """One of an earlier stream comes first, and again between those of this one."""
    counts = {"counts_per_force": 1, "counts_per_torque": 1}
    device = AtiNetFt(AtiNetFtSettings(device_host="x", calibration=counts, tare=True, rate=500))
    wire = Lossy(0, monkeypatch)
    monkeypatch.setattr(adapter, "DatagramSocket", lambda *_: wire)
    device.open()
    old, wire.number = struct.pack(">III6i", 9000, 9000, 0, -700, *[0] * 5), 0
    live = wire.receive
    turns = iter(range(1000))
    wire.receive = lambda timeout_s: live(timeout_s) if next(turns) % 3 else (old, None)
    received = [device.receive(0.1) for _ in range(60)]
    assert {each.values[0] for each in received if each.sequence != 9000} == {0.0}
