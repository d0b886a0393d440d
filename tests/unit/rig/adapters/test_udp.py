"""Declared datagrams: round trips over layouts, and what is refused."""

import struct
import zlib
from contextlib import suppress
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_adapters.counter import Counter
from hw_adapters.udp.adapter import UdpDevice
from hw_adapters.udp.codec import Codec, Message
from hw_adapters.udp.layout import TYPES, Layout
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices import DeviceError, WireFormatError, read_settings
from orchestrator.rig.devices.conformance import free_udp_port

TYPE = st.sampled_from(sorted(TYPES))
INTEGER = st.sampled_from(sorted(t for t in TYPES if t[0] != "f"))


@st.composite
def layouts(draw):
    fields = [{"name": f"s{i}", "type": draw(TYPE)} for i in range(draw(st.integers(1, 5)))]
    fields += [{"role": role, "type": draw(INTEGER)} for role in ("sequence", "status", "padding")]
    fields.append({"role": "constant", "type": draw(INTEGER), "value": draw(st.integers(0, 127))})
    fields.append({"role": "time", "type": "f64"})
    order = draw(st.sampled_from(["little", "big"]))
    crc = draw(st.sampled_from(["crc32", "none"]))
    shuffled = draw(st.permutations(fields))
    return Layout.model_validate({"fields": shuffled, "byte_order": order, "crc": crc})


@given(layouts(), st.data())
def test_what_is_written_is_read(layout, data):
    codec = Codec(layout)
    values = [
        float(data.draw(st.integers(0, 100) if f.type[0] != "i" else st.integers(-100, 100)))
        for f in layout.signals
    ]
    number = data.draw(st.integers(0, 10**12))
    datagram = codec.encode(values, number, 12.5)
    assert len(datagram) == codec.size
    found = codec.decode(datagram)
    assert (found.values, found.time_s, found.status) == (tuple(values), 12.5, 0)
    assert (found.sequence - number) % codec.sequence_period == (
        0
        if next(f for f in layout.fields if f.role == "sequence").type[0] == "u"
        else codec.sequence_period // 2
    )


@given(layouts(), st.binary(max_size=80))
def test_whatever_comes_is_a_message_or_refused(layout, datagram):
    with suppress(WireFormatError):
        assert isinstance(Codec(layout).decode(datagram), Message)


def test_the_bytes_are_those_of_the_declaration():
    layout = Layout.model_validate(
        {
            "byte_order": "big",
            "fields": [
                {"role": "constant", "type": "u16", "value": 0xABCD},
                {"name": "angle", "type": "i16", "unit": "rad", "scale": 1e-3, "offset": 0.5},
            ],
        }
    )
    body = struct.pack(">Hh", 0xABCD, -700)
    datagram = body + struct.pack(">I", zlib.crc32(body))
    assert Codec(layout).decode(datagram).values == pytest.approx((-0.2,))
    assert Codec(layout).encode((-0.2,)) == datagram


@pytest.mark.parametrize(
    "field",
    [
        {"type": "f64"},
        {"type": "u8", "name": "x", "role": "status"},
        {"type": "u8", "name": "x", "scale": 0.0},
        {"type": "f32", "role": "sequence"},
        {"type": "u8", "role": "constant", "value": 256},
        {"type": "u12", "name": "x"},
        {"type": "u8", "nam": "x"},
    ],
)
def test_a_layout_that_makes_no_sense_is_refused(field, wording):
    settings = {"port": 1, "rate": 10.0, "measurements": {"fields": [field]}}
    with wording.raises(DescriptionError):
        read_settings(UdpDevice, settings, "device 'rig'")


def test_a_layout_has_each_name_and_role_once(wording):
    twice = {"fields": [{"type": "u8", "name": "x"}] * 2}
    with wording.raises(DescriptionError):
        read_settings(UdpDevice, {"port": 1, "rate": 1.0, "measurements": twice}, "device")
    roles = {"fields": [{"type": "u8", "role": "time"}] * 2}
    with wording.raises(DescriptionError):
        read_settings(UdpDevice, {"port": 1, "rate": 1.0, "measurements": roles}, "device")


@pytest.mark.parametrize(
    ("period", "found", "told"),
    [
        (256, [254, 255, 0, 1], [254, 255, 256, 257]),
        (256, [1, 0, 255, 254], [1, 0, -1, -2]),
        (None, [5, 6, 0], [5, 6, 0]),
        (256, [250, 5, 5], [250, 261, 261]),
        (2**32, [2**32 - 4, 0, 4], [2**32 - 4, 2**32, 2**32 + 4]),
        (2**32, [2**40, 2**40 + 4], [2**40, 2**40 + 4]),
        (0.5, [0.375, 0.0, 0.125, 0.25, 0.375, 0.0], [0.375, 0.5, 0.625, 0.75, 0.875, 1.0]),
    ],
)
def test_counters_count_on_where_their_field_runs_over(period, found, told):
    counter = Counter(period)
    assert [counter.count(each) for each in found] == told


def settings(**more):
    layout = {"fields": [{"name": "x", "type": "f64"}]}
    return {"port": free_udp_port(), "rate": 100.0, "measurements": layout, **more}


def made(**more):
    return UdpDevice(
        read_settings(UdpDevice, settings(commands=settings()["measurements"], **more), "")
    )


def test_a_rig_that_sends_from_any_port_is_answered_there(wording):
    import socket

    device = made()
    device.open()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as rig:
        rig.bind(("127.0.0.1", 0))
        rig.settimeout(3.0)
        try:
            with wording.raises(DeviceError):
                device.send((1.0,))
            body = struct.pack("<d", 0.25)
            whole = body + struct.pack("<I", zlib.crc32(body))
            for _ in range(3):
                rig.sendto(whole, ("127.0.0.1", device.settings.port))
            assert device.receive(3.0).values == (0.25,)  # it is known by three of them
            assert device.receive(0.02) is None
            device.send((1.5,))
            assert struct.unpack("<d", rig.recv(100)[:8]) == (1.5,)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
                other.sendto(whole, ("127.0.0.1", device.settings.port))
            assert device.receive(0.02) is None
            assert "1 datagram of others was refused, the last from 127.0.0.1:" in device.account()
        finally:
            device.close()


@pytest.mark.parametrize(("kind", "first"), [("u32", 2**32 - 2500), ("i32", 2**31 - 2500)])
def test_a_clock_that_runs_over_is_counted_on(kind, first):
    fields = [{"role": "time", "type": kind, "scale": 1e-6}, {"name": "x", "type": "u8"}]
    device = made(measurements={"fields": fields, "crc": "none"})
    low = 0 if kind[0] == "u" else 2**31
    raws = [(first + low + 1000 * k) % 2**32 - low for k in range(2000)]
    packed = [struct.pack("<IB" if kind == "u32" else "<iB", raw, 0) for raw in raws]
    device._socket = SimpleNamespace(receive=lambda _: (packed.pop(0), None), peer="rig")
    found = [device.receive(0.0).device_time for _ in raws]
    assert found == pytest.approx([1e-6 * first + 1e-3 * k for k in range(2000)], abs=1e-9)


def test_a_port_in_use_is_told_with_its_number():
    first = made()
    first.open()
    second = UdpDevice(first.settings)
    try:
        with pytest.raises(OSError, match=f"UDP 127.0.0.1:{first.settings.port}"):
            second.open()
    finally:
        first.close()
        second.close()


def test_a_device_that_is_not_open_says_so(wording):
    with wording.raises(DeviceError):
        made().receive(0.0)
