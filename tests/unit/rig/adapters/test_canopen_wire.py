"""CiA 402 over what carries it: a serial CAN adapter, python-can, a node of the library canopen."""

import math
import socket
import threading
import time
from types import SimpleNamespace

import can
import canopen
import pytest
from canopen.objectdictionary import ODRecord, ODVariable, datatypes
from canopen_bench import COUNTS, drive, settings

from hw_adapters.canopen_cia402.adapter import CanopenCia402
from hw_adapters.canopen_cia402.bus import PythonCanBus, open_bus
from hw_adapters.canopen_cia402.codec import PRE_OPERATIONAL, START, SYNC, CanFrame, nmt
from hw_adapters.canopen_cia402.drive import Drive
from hw_adapters.canopen_cia402.emulated_drive import EmulatedDrive
from hw_adapters.canopen_cia402.emulated_line import EmulatedLine
from hw_adapters.canopen_cia402.objects import DEVICE_NAME, DEVICE_TYPE, MAPPABLE
from hw_adapters.canopen_cia402.sdo import SdoClient
from hw_adapters.canopen_cia402.servo import Plate, Tuning
from hw_adapters.canopen_cia402.shaft import Shaft
from orchestrator.rig.devices import DeviceError

EMULATOR = "hw_adapters.canopen_cia402.emulator"
INTEGERS = {
    "B": datatypes.UNSIGNED8,
    "b": datatypes.INTEGER8,
    "H": datatypes.UNSIGNED16,
    "h": datatypes.INTEGER16,
    "I": datatypes.UNSIGNED32,
    "i": datatypes.INTEGER32,
}


def dictionary():
    """The objects that the adapter uses, for a node of the library canopen."""
    from hw_adapters.canopen_cia402 import objects

    found = canopen.ObjectDictionary()
    found.node_id = 5
    plain = [o for o in vars(objects).values() if isinstance(o, objects.DriveObject)]
    plain = [each for each in plain if each.code in INTEGERS]
    for each in (*plain, *objects.MAPPABLE.values()):
        if each.sub == 0:
            add(found, each.name, each.index, 0, each.code)
        else:
            record = found.get(each.index) or ODRecord(str(each.index), each.index)
            if each.index not in found:
                found.add_object(record)
            add(record, each.name, each.index, each.sub, each.code)
    for first in (0x1400, 0x1401, 0x1800, 0x1801):
        communication = ODRecord(f"communication {first:x}", first)
        mapping = ODRecord(f"mapping {first:x}", first + 0x200)
        for sub, code in ((0, "B"), (1, "I"), (2, "B")):
            add(communication, f"c{sub}", first, sub, code)
        for sub in range(9):
            add(mapping, f"m{sub}", first + 0x200, sub, "I" if sub else "B")
        found.add_object(communication)
        found.add_object(mapping)
    return found


def add(parent, name, index, sub, code):
    variable = ODVariable(name, index, sub)
    variable.data_type, variable.access_type, variable.value = INTEGERS[code], "rw", 0
    (parent.add_member if isinstance(parent, ODRecord) else parent.add_object)(variable)


@pytest.fixture(scope="module")
def network():
    """The virtual line of python-can."""
    made = canopen.Network()
    made.connect(interface="virtual", channel="softdock-test")
    yield made
    made.disconnect()


@pytest.fixture
def node(network):
    """A node of the library canopen."""
    made = network.create_node(5, dictionary())
    made.data_store = {0x1000: {0: b"\x92\x01\x02\x00"}, 0x6502: {0: b"\x80\x03\x00\x00"}}
    yield made
    del network[5]


def test_a_node_of_the_library_canopen_is_set_up(node):
    given = settings(drive(node=5, mode="csp", following_window=0.5), answer_timeout=3.0)
    led = Drive(given.drives[0])
    bus = open_bus("virtual", "softdock-test", 1_000_000, 115200)
    try:
        led.configure(SdoClient(bus, 5, led.name, 3.0), given)
        assert isinstance(bus, PythonCanBus)
        assert bus.trouble() == ""
    finally:
        bus.close()
    assert node.sdo[0x1016][1].raw == 127 << 16 | 10_000
    assert node.sdo[0x6007].raw == 3
    assert node.sdo[0x6065].raw == round(0.5 * 65536 / math.tau)
    node.tpdo.read(from_od=False)
    node.rpdo.read(from_od=False)
    read = {pdo.cob_id: [(v.index, v.length) for v in pdo.map] for pdo in node.tpdo.values()}
    velocity, demand = (0x606C, 32), (0x6062, 32)
    assert read == {0x185: [(0x6041, 16), (0x6064, 32), (0x6077, 16)], 0x285: [velocity, demand]}
    assert node.rpdo[1].cob_id == 0x205
    assert [v.index for v in node.rpdo[1].map] == [0x6040, 0x607A]
    assert all(pdo.enabled and pdo.trans_type == 1 for pdo in (*node.tpdo.values(), node.rpdo[1]))


def test_what_the_library_canopen_refuses_is_told(node, wording):
    del node.object_dictionary[0x6085]
    given = settings(drive(node=5), answer_timeout=3.0)
    led = Drive(given.drives[0])
    bus = open_bus("virtual", "softdock-test", 1_000_000, 115200)
    try:
        with wording.raises(DeviceError):
            led.configure(SdoClient(bus, 5, led.name, 3.0), given)
    finally:
        bus.close()


NAME = "a drive with a name of more than one segment"


@pytest.fixture
def client(node):
    """An SDO client on the line of the node, which has a name in segments."""
    variable = ODVariable("name", 0x1008, 0)
    variable.data_type, variable.access_type = datatypes.VISIBLE_STRING, "rw"
    node.object_dictionary.add_object(variable)
    bus = open_bus("virtual", "softdock-test", 1_000_000, 115200)
    yield SdoClient(bus, 5, "drive", 3.0)
    bus.close()


def test_the_library_canopen_is_read_and_written_in_segments(node, client, wording):
    for length in (5, 7, 8, 14, len(NAME)):
        node.data_store[0x1008] = {0: NAME[:length].encode()}
        assert client.read_bytes(DEVICE_NAME).decode() == NAME[:length]
        client.write_bytes(DEVICE_NAME, NAME[:length][::-1].encode())
        assert node.data_store[0x1008][0] == NAME[:length][::-1].encode()
    assert client.read(DEVICE_TYPE) == 0x20192  # the client is free for the next
    del node.object_dictionary[0x1008]
    with wording.raises(DeviceError):
        client.write_bytes(DEVICE_NAME, b"12345")


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["4108100009000000", "0061626364656667", "0a68690000000000"], "expected toggle bit 1"),
        (["4108100009000000", "0f00000000000000"], "expected the 9 bytes .* found 0"),
        (["4008100000000000", *(["0061626364656667", "1061626364656667"] * 293)], "at most"),
        (["4108100009000000", "8008100000000405"], "time-out of the SDO protocol"),
    ],
)
def test_segments_that_are_wrong_are_told(answers, message, wording):
    class Bus:
        def send(self, frames):
            sent.extend(frames)

        def receive(self, deadline):
            return CanFrame(0x585, bytes.fromhex(waiting.pop(0))) if waiting else None

    sent, waiting = [], list(answers)
    with wording.raises(DeviceError):
        SdoClient(Bus(), 5, "drive", 3.0).read_bytes(DEVICE_NAME)
    told = [int.from_bytes(f.data[4:], "little") for f in sent if f.data[0] == 0x80]
    aborts = {"expected toggle bit 1": [0x05030000], "at most": [0x06070012]}
    assert told == aborts.get(message, [])


@pytest.mark.parametrize("answer", ["4241600037021234", "4b41600037020000"])
def test_an_answer_that_does_not_say_its_size_is_read(answer):
    bus = SimpleNamespace(
        send=lambda _: None, receive=lambda _: CanFrame(0x585, bytes.fromhex(answer))
    )
    assert SdoClient(bus, 5, "drive", 3.0).read(MAPPABLE["statusword"]) == 0x237


def test_a_short_name_ends_before_its_first_zero():
    bus = SimpleNamespace(
        send=lambda _: None, receive=lambda _: CanFrame(0x585, bytes.fromhex("4208100065706f00"))
    )
    assert SdoClient(bus, 5, "drive", 3.0).read_bytes(DEVICE_NAME) == b"epo"


class Pump:
    """Emulated drives at an interface of python-can."""

    def __init__(self, interface, channel):
        self.bus = can.Bus(interface=interface, channel=channel)
        shaft, plate = Shaft(1e-3), Plate(COUNTS, sync_tolerance=1000)
        self.drive = EmulatedDrive(1, shaft, Tuning(1e-3), plate, lambda *_, **__: None)
        self.line = EmulatedLine([self.drive], by_clock=False)
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.bus.shutdown()

    def run(self):
        while not self.ended.is_set():
            found, now = self.bus.recv(2e-3), time.monotonic()
            frames = self.line.take(found.arbitration_id, bytes(found.data), now) if found else []
            self.line.tick(now)
            for identifier, data in (*frames, *self.line.answers()):
                self.bus.send(
                    can.Message(arbitration_id=identifier, data=data, is_extended_id=False)
                )


def no_vcan():
    """Why there is no virtual SocketCAN interface here; empty: there is one."""
    try:
        with socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW) as line:
            line.bind(("vcan0",))
    except OSError as error:
        return f"no SocketCAN interface vcan0: {error.strerror} (ip link add vcan0 type vcan)"
    return ""


@pytest.mark.parametrize(
    ("interface", "channel"),
    [
        ("virtual", "softdock-drives"),
        pytest.param(
            "socketcan", "vcan0", marks=pytest.mark.skipif(bool(no_vcan()), reason=no_vcan())
        ),
    ],
)
def test_a_drive_is_led_over_an_interface_of_python_can(interface, channel):
    given = settings(drive(), answer_timeout=3.0, cycle_ms=5, heartbeat_timeout_ms=2000)
    given = given.model_copy(update={"interface": interface, "channel": channel})
    device = CanopenCia402(given)
    with Pump(interface, channel) as there:
        try:
            device.open()
            for _ in range(40):
                sample = device.receive(3.0)
                device.send((2.0,))
            assert (sample.valid, sample.status) == (True, 0)
            assert sample.values[1] == pytest.approx(2.0, abs=0.02)
        finally:
            device.close()
        assert there.drive.state == "SWITCH_ON_DISABLED"


def test_the_library_canopen_reads_the_name_of_an_emulated_drive():
    network = canopen.Network()
    with Pump("virtual", "softdock-name"):
        network.connect(interface="virtual", channel="softdock-name")
        try:
            remote = network.add_node(1, canopen.ObjectDictionary())
            assert remote.sdo.upload(0x1008, 0) == b"Emulated drive of CiA 402"
            with pytest.raises(canopen.SdoAbortedError):
                remote.sdo.upload(0x1009, 0)
        finally:
            network.disconnect()


def test_a_controlword_by_sdo_acts_without_sync():
    network = canopen.Network()
    with Pump("virtual", "softdock-word") as there:
        network.connect(interface="virtual", channel="softdock-word")
        try:
            remote = network.add_node(1, canopen.ObjectDictionary())
            states = []
            for word in (6, 7, 15, 2):
                remote.sdo.download(0x6040, 0, word.to_bytes(2, "little"))
                status = int.from_bytes(remote.sdo.upload(0x6041, 0), "little")
                states.append(status & 0x6F)
            assert states == [0x21, 0x23, 0x27, 0x07]
            assert there.drive.state == "QUICK_STOP"
        finally:
            network.disconnect()


def test_the_library_canopen_hears_nmt_and_sync(node):
    heard = []
    node.network.subscribe(0x080, lambda *_: heard.append("sync"))
    bus = open_bus("virtual", "softdock-test", 1_000_000, 115200)
    try:
        bus.send([nmt(PRE_OPERATIONAL, 5), nmt(START, 5), SYNC])
        end = time.monotonic() + 3.0
        while not (heard and node.nmt.state == "OPERATIONAL") and time.monotonic() < end:
            time.sleep(1e-3)
    finally:
        bus.close()
    assert (heard, node.nmt.state) == (["sync"], "OPERATIONAL")


def test_a_port_that_is_none_is_told(tmp_path, wording):
    with pytest.raises(OSError, match=r"No such file or directory: serial port .*/ttyNone"):
        open_bus("slcan", str(tmp_path / "ttyNone"), 1_000_000, 115200)
    (tmp_path / "file").write_text("")
    with wording.raises(DeviceError):
        open_bus("slcan", str(tmp_path / "file"), 1_000_000, 115200)
    with pytest.raises(DeviceError, match="CAN interface 'pcann', channel 'x': "):
        open_bus("pcann", "x", 1_000_000, 115200)
