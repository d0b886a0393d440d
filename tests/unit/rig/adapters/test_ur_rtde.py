"""RTDE: the codec, and the adapter with an emulated controller at its port."""

import itertools
import math
import socket
import struct
import time
from contextlib import suppress
from random import Random

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hw_adapters.stream_socket import ConnectionLostError, StreamSocket
from hw_adapters.ur_rtde import codec
from hw_adapters.ur_rtde.adapter import UrRtde, UrRtdeSettings
from hw_adapters.ur_rtde.codec import Data, Recipe, decode, decode_data, encode_data
from hw_adapters.ur_rtde.robot import Robot, Setup
from hw_adapters.ur_rtde.rotation import turned
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices import DeviceError, WireFormatError, read_settings
from orchestrator.rig.devices.conformance import EmulatorProcess, free_tcp_port

RECIPE = Recipe("O", 1, ("DOUBLE", "UINT32", "VECTOR6D", "BOOL"))


def test_a_stream_is_cut_wherever_it_is_torn():
    values = (0.5, 7, *range(6), True)
    stream = encode_data(RECIPE, values) * 3 + codec.start()
    for size in (1, 2, 3, 50, len(stream)):
        splitter = codec.PackageSplitter()
        parts = (stream[i : i + size] for i in range(0, len(stream), size))
        packages = list(itertools.chain.from_iterable(map(splitter.split, parts)))
        assert [decode_data(RECIPE, decode(p)) for p in packages[:3]] == [values] * 3
        assert packages[3:] == [codec.start()]


def test_ten_thousand_damaged_packages_are_messages_or_refused():
    chance = Random(0)  # noqa: S311 - of a test
    sound = [
        encode_data(RECIPE, (0.5, 7, *range(6), True)),
        b"\0\x11O\1DOUBLE,UINT32",
        bytes.fromhex("000c4d02686904525444450100"),
        b"\0\4S\1",
    ]
    for _ in range(10_000):
        package = bytearray(chance.choice(sound))
        for _ in range(chance.randrange(1, 4)):
            package[chance.randrange(len(package))] = chance.randrange(256)
        package = bytes(package[: chance.randrange(1, len(package) + 1)])
        if chance.random() < 0.7:
            package = struct.pack(">H", len(package)) + package[2:]
        with suppress(WireFormatError):
            message = decode(package)
            assert len(package) == struct.unpack_from(">H", package)[0]
            if isinstance(message, Data):
                values = decode_data(RECIPE, message)
                assert all(map(math.isfinite, values))
                assert len(values) == 9
        with suppress(WireFormatError):
            codec.PackageSplitter().split(package)


def test_rotations_are_those_of_scipy():
    chance = np.random.default_rng(0)
    for _ in range(50):
        by, first = chance.normal(size=(2, 3))
        expected = Rotation.from_rotvec(by) * Rotation.from_rotvec(first)
        found = turned(by, first)
        assert np.linalg.norm(found) <= math.pi
        assert (Rotation.from_rotvec(found).inv() * expected).magnitude() == pytest.approx(
            0, abs=1e-12
        )
    assert turned((0.0, 0.0, 0.0), (1e-14, 0.0, 0.0)) == pytest.approx((1e-14, 0.0, 0.0))


def test_the_emulated_program_stops_without_new_commands():
    robot = Robot(Setup(rate=500, watchdog_hz=50.0, delay_ms=2.0, start=(0.0,) * 6))
    assert [robot.next_cycle() for _ in range(20)] == [""] * 20  # nobody commands yet
    robot.registers |= {"input_double_register_0": 0.1, "input_int_register_0": 1}
    happened = [robot.next_cycle() for _ in range(20)]
    assert happened == [""] * 11 + ["watchdog"] + [""] * 8  # more than 10 cycles without
    robot.registers |= {"input_double_register_0": 0.2, "input_int_register_0": 2}
    robot.next_cycle()
    assert robot.position[0] == 0.1


@pytest.mark.parametrize(
    "change",
    [
        {"measured": ["q", "q"]},
        {"measured": []},
        {"rate": 1000.0},
        {"first_register": 43},
    ],
)
def test_settings_that_cannot_be_are_told(change, wording):
    with wording.raises(DescriptionError):
        read_settings(UrRtde, {"device_host": "x", **change}, "device 'robot'")


@pytest.fixture(scope="module")
def controller():
    """An emulated controller whose program moves the tool, and that lacks a variable."""
    port = free_tcp_port()
    options = ["--port", str(port), "--space", "cartesian", "--watchdog", "5"]
    with EmulatorProcess("hw_adapters.ur_rtde.emulator", [*options, "--refuse", "actual_qd"]):
        yield port


@pytest.fixture
def adapter(controller):
    made = []

    def make(**settings):
        given = {"device_host": "127.0.0.1", "device_port": controller, "space": "cartesian"}
        made.append(UrRtde(UrRtdeSettings(**given | settings)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_a_recipe_that_is_refused_is_told_with_its_variables(adapter, wording):
    with wording.raises(DeviceError):
        adapter(measured=["qd", "q"]).open()
    adapter().open()
    with wording.raises(DeviceError):
        adapter().open()
    adapter(space="none").open()  # who only listens is no rival


def test_the_tool_goes_where_it_is_wanted_and_stops_when_nobody_commands(adapter, wording):
    device = adapter(
        measured=["tcp_position", "tcp_rotation"], speed_limit=5, angular_speed_limit=50
    )
    with wording.raises(DeviceError):
        device.receive(0.1)
    device.open()
    with wording.raises(DeviceError):
        device.send((0.0,) * 6)
    first = device.receive(3.0)
    wanted = (0.01, 0.0, -0.01, 0.0, 0.0, 0.1)
    end, values = time.monotonic() + 5.0, first.values
    expected = [a + b for a, b in zip(first.values[:3], wanted[:3], strict=True)]
    expected += turned(wanted[3:], first.values[3:])
    while values != pytest.approx(expected, abs=1e-12) and time.monotonic() < end:
        device.send(wanted)
        received = device.receive(3.0)
        values = received.values
    assert values == pytest.approx(expected, abs=1e-12)
    assert (received.valid, received.status) == (True, 0)
    assert received.sequence == round(received.device_time * 500.0)
    while received.status == 0 and time.monotonic() < end:
        received = device.receive(3.0)
    assert (received.valid, received.status) == (True, 1 << 16)


def test_a_port_without_a_controller_is_told():
    device = UrRtde(UrRtdeSettings(device_host="127.0.0.1", device_port=free_tcp_port()))
    with pytest.raises(OSError, match=r"Connection refused: TCP 127\.0\.0\.1:\d+"):
        device.open()


@pytest.mark.parametrize("linger", [1, 0])
def test_a_connection_that_ends_is_told_with_its_address(linger, wording):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        link = StreamSocket("127.0.0.1", port, 5.0)
        connection, _ = server.accept()
        if linger:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        with wording.raises(ConnectionLostError):
            link.receive(time.monotonic() + 5.0)
        link.close()


def test_packages_of_uneven_times_are_counted_one_by_one():
    """Of times that are not multiples of its cycle some looked like repetitions."""
    device = UrRtde(UrRtdeSettings(device_host="127.0.0.1", rate=125.0))
    times = [10.0, 10.0085, 10.0155, 10.0155, 10.0245, 10.0315, 10.0085, 10.048, 9.0]
    numbers = [device._number(each) for each in times]
    assert numbers == [1250, 1251, 1252, 1252, 1253, 1254, 1251, 1256, 1125]
