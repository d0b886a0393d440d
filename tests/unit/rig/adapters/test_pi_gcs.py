"""GCS 2: the codec, and the adapter with an emulated hexapod at its port."""

import math
import re
import socket
import time
from contextlib import suppress
from itertools import pairwise
from random import Random
from types import SimpleNamespace

import pytest

from hw_adapters.pi_gcs import adapter
from hw_adapters.pi_gcs.adapter import PiGcs, PiGcsSettings
from hw_adapters.pi_gcs.codec import (
    AXES,
    ReplySplitter,
    axis_values,
    command,
    error_code,
    switch_on,
)
from hw_adapters.pi_gcs.hexapod import Hexapod, Setup
from orchestrator.rig.devices import DeviceError, WireFormatError
from orchestrator.rig.devices.conformance import EmulatorProcess, free_tcp_port

SOUND = b"X=1.5000000 \nY=-0.2500000 \nZ=0 \nU=1e-3 \nV=0.0 \nW=-12.0\n0\n"


def test_ten_thousand_damaged_replies_are_poses_or_refused():
    chance = Random(0)  # noqa: S311 - of a test
    for _ in range(10_000):
        reply = bytearray(SOUND)
        for _ in range(chance.randrange(1, 4)):
            reply[chance.randrange(len(reply))] = chance.choice(b"+-.eE=_ \n0159nXZW\xff\0")
        with suppress(WireFormatError):
            pose, *rest = ReplySplitter().split(bytes(reply)) or [()]
            found = axis_values(pose, AXES)
            assert list(found) == list(AXES)
            assert all(map(math.isfinite, found.values()))
            assert [f"{a}={t}" for a, t in (line.split("=") for line in pose)] == list(pose)
            for each in rest:
                assert isinstance(error_code(each), int)


def test_replies_are_cut_wherever_they_are_torn():
    for size in (1, 3, 17):
        splitter, found = ReplySplitter(), []
        for i in range(0, len(SOUND), size):
            found += splitter.split(SOUND[i : i + size])
        assert [len(reply) for reply in found] == [6, 1]


def test_the_emulated_hexapod_goes_straight_and_refuses_what_it_cannot_do():
    hexapod = Hexapod(Setup(travel=5.0, velocity=2.0, has_reference=False))
    ask = lambda question, now: hexapod.obey(question, now)  # noqa: E731
    assert hexapod.obey(command("MOV", {"X": 1.0}).decode(), 0.0) is None
    assert ask("ERR?", 0.0) == "5\n"
    hexapod.obey("FRF", 0.0)
    assert ask("FRF?", 0.4).startswith("X=0 \n")
    assert ask("FRF?", 0.5).startswith("X=1 \n")
    hexapod.obey(switch_on(AXES).decode(), 1.0)
    hexapod.obey(command("MOV", {"X": 4.0, "Y": -2.0}).decode(), 1.0)
    assert (hexapod.position(2.0)["X"], hexapod.position(2.0)["Y"]) == (2.0, -1.0)
    hexapod.stop(2.0)
    assert (hexapod.position(9.0)["X"], ask("ERR?", 9.0), ask("ERR?", 9.0)) == (2.0, "10\n", "0\n")
    for line, code in (("MOV X 5.1", 7), ("MOV X", 1), ("MOV Q 1", 15), ("GOH", 2), ("mov A 1", 5)):
        hexapod.obey(line, 9.0)
        assert ask("ERR?", 9.0) == f"{code}\n"


def test_a_question_without_axes_is_about_those_of_other_motors_too():
    hexapod = Hexapod(Setup())
    assert len(hexapod.obey("POS?", 0.0).splitlines()) == 8
    assert hexapod.obey("POS? B W", 0.0) == "B=0.0000000 \nW=0.0000000\n"
    assert hexapod.obey("POS? Q", 0.0) is None
    assert hexapod.obey("ERR?", 0.0) == "15\n"


#: What a general client asks while it connects, by the manual (MS204E), and how the reply looks.
CONNECTING = {
    "*IDN?": r".+, C-887, \d+, \S+\n",
    "ERR?": r"0\n",
    "CSV?": r"2\.0\n",
    "SAI?": r"(\w \n){7}\w\n",
    "SAI? ALL": r"(\w \n){7}\w\n",
    "HLP?": r".+ \n(.+ \n)+end of help\n",
    "VER?": r".+\n",
    "SSN?": r"\d+\n",
    "CST?": r"(\w=\w+ \n){7}\w=\w+\n",
    "SVO?": r"(\w=0 \n){7}\w=0\n",
    "MOV?": r"(\w=0\.0+ \n){7}\w=0\.0+\n",
    "VEL? X A": r"X=10\.0+ \nA=0\.0+\n",
    "SPI?": r"R=0\.0+ \nS=0\.0+ \nT=0\.0+\n",
    "SPI? T R": r"T=0\.0+ \nR=0\.0+\n",
    "TMN? X": r"X=-20\.0+\n",
    "TMX? X U": r"X=20\.0+ \nU=20\.0+\n",
    "VLS?": r"\d+\.\d+\n",
    "\5": r"0\n",
    "\7": "\xb1\n",
}


def test_who_asks_everything_while_connecting_is_answered():
    port = free_tcp_port()
    with (
        EmulatorProcess("hw_adapters.pi_gcs.emulator", ["--port", str(port)]),
        socket.create_connection(("127.0.0.1", port), 3.0) as client,
        client.makefile("rb") as replies,
    ):
        for question, expected in CONNECTING.items():
            client.sendall(question.encode() + (b"\n" if len(question) > 1 else b""))
            reply = replies.readline()
            while reply.endswith(b" \n"):
                reply += replies.readline()
            assert re.fullmatch(expected, reply.decode("latin-1")), (question, reply)
        client.sendall(b"ERR?\n")
        assert replies.readline() == b"0\n"


@pytest.fixture(scope="module")
def controller():
    """An emulated hexapod whose reference move is still to be made."""
    port = free_tcp_port()
    options = [
        "--port",
        str(port),
        "--no-reference",
        "--reference-time",
        "0.2",
        "--velocity",
        "100",
    ]
    with EmulatorProcess("hw_adapters.pi_gcs.emulator", options):
        yield port


def test_a_hexapod_is_referenced_led_and_stopped(controller, wording):
    given = {"device_host": "127.0.0.1", "device_port": controller, "rate": 100.0}
    device = PiGcs(PiGcsSettings(**given))
    with wording.raises(DeviceError):
        device.open()
    device.close()
    more = {"reference": True, "velocity": 0.05, "translation_limit": 0.03}
    device = PiGcs(PiGcsSettings(**given | more))
    with wording.raises(DeviceError):
        device.receive(0.1)
    try:
        device.open()
        wanted = (0.002, 0.0, -0.001, 0.01, 0.0, 0.0)
        end, received = time.monotonic() + 5.0, None
        while received is None or received.values != pytest.approx(wanted, abs=1e-9):
            assert time.monotonic() < end
            received = device.receive(1.0)
            device.send(wanted)
        assert (received.valid, received.status) == (True, 0)
        device.send((0.025, 0.0, 0.0, 0.0, 0.0, 0.0))
        with wording.raises(DeviceError):
            device.receive(1.0)
    finally:
        device.close()


class Controller:
    """A socket that answers by a script: how long after a question, and in which order of axes."""

    def __init__(self, delay=lambda number: 0.0, keeps_order=True, silent=()):
        self.now, self.coming, self.number = 50.0, [], 0
        self.delay, self.keeps_order, self.silent = delay, keeps_order, silent
        self.gone = []

    def send(self, data):
        self.gone.append(data)
        for line in data.decode("latin-1").replace("\x18", "").splitlines():
            self._answer(line)

    def _answer(self, line):
        name, *axes = line.split()
        if name == "POS?":
            self.number += 1
            order = axes if self.keeps_order else sorted(axes, key=AXES.index)
            # the place along X is when it was asked for
            values = {axis: f"{self.now if axis == 'X' else 0.0:.7f}" for axis in order}
            reply = " \n".join(f"{axis}={value}" for axis, value in values.items())
        elif name == "FRF?":
            reply = " \n".join(f"{axis}=1" for axis in axes)
        else:
            reply = "0" if name == "ERR?" else "hexapod" if name == "*IDN?" else ""
        if reply and self.number not in self.silent:
            due = self.now + self.delay(self.number)
            due = max([due, *(each for each, _ in self.coming)])
            self.coming.append((due, reply.encode() + b"\n"))

    def receive(self, deadline):
        if self.coming and self.coming[0][0] <= max(deadline, self.now):
            due, reply = self.coming.pop(0)
            self.now = max(self.now, due)
            return reply
        self.now = max(self.now, deadline)
        return b""

    def close(self):
        pass


@pytest.fixture
def led(monkeypatch):
    def lead(**script):
        there = Controller(**script)
        clock = SimpleNamespace(monotonic=lambda: there.now, sleep=lambda _: None)
        monkeypatch.setattr(adapter, "time", clock)
        monkeypatch.setattr(adapter, "StreamSocket", lambda *_: there)
        given = {"device_host": "none", "rate": 100.0, "answer_timeout": 0.05}
        device = PiGcs(PiGcsSettings(**given))
        device.open()
        return there, device

    return lead


def heard(there, device, seconds):
    """Return samples: when they came, their number and time, and when the pose was taken."""
    found, end = [], there.now + seconds
    while there.now < end:
        if (sample := device.receive(0.02)) is not None:
            found.append((there.now, sample.sequence, sample.device_time, 1e3 * sample.values[0]))
    return found


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.12])
@pytest.mark.parametrize("keeps_order", [True, False])
def test_a_late_reply_is_that_to_its_own_question(led, delay, keeps_order):
    """Of 0.12 s, beyond answer_timeout: the next questions are out when it comes."""
    there, device = led(delay=lambda n: 0.0 if n < 20 else delay, keeps_order=keeps_order)
    found = heard(there, device, 2.0)
    assert len(found) > 15
    assert all(taken == pytest.approx(asked, abs=1e-6) for _, _, asked, taken in found)
    numbers = [number for _, number, _, _ in found]
    assert numbers == sorted(set(numbers))
    came, _, asked, _ = found[-1]
    assert came - asked == pytest.approx(delay, abs=1e-3)


def test_a_question_without_a_reply_is_a_lost_sample(led):
    there, device = led(silent={30, 31})
    found = heard(there, device, 1.0)
    assert all(taken == pytest.approx(asked, abs=1e-6) for _, _, asked, taken in found)
    steps = [b[1] - a[1] for a, b in pairwise(found)]
    assert max(steps) > 5
    assert steps[-20:] == [1] * 20


def test_of_several_replies_the_newest_is_the_sample(led):
    there, device = led(delay=lambda n: 0.0)
    heard(there, device, 0.1)
    for _ in range(3):
        device._ask_in_time(there, there.now)
        there.now += 0.01
    there.coming = [(there.now, b"".join(reply for _, reply in there.coming))]
    sample = device.receive(0.02)
    assert 1e3 * sample.values[0] == pytest.approx(there.now - 0.01, abs=1e-6)


def test_a_reply_to_no_question_is_refused(led, wording):
    there, device = led()
    heard(there, device, 0.1)
    again = " \n".join(f"{axis}=0.0" for axis in AXES)
    there.coming.append((there.now, again.encode() + b"\n0\n"))
    with wording.raises(WireFormatError):
        heard(there, device, 0.1)
    assert len(heard(there, device, 0.1)) > 5


def test_stopping_is_confirmed(led, wording):
    there, device = led()
    device.close()
    assert there.gone[-1] == b"\x18POS? X\n"
    there, device = led()
    there.send = lambda data: there.coming.append((there.now, b"0\n"))
    with wording.raises(DeviceError):
        device.close()


def test_who_is_no_controller_is_told():
    device = PiGcs(PiGcsSettings(device_host="127.0.0.1", device_port=free_tcp_port()))
    with pytest.raises(OSError, match=r"Connection refused: TCP 127\.0\.0\.1:\d+"):
        device.open()


def test_the_controller_says_which_commands_it_took():
    port = free_tcp_port()
    device = PiGcs(PiGcsSettings(device_host="127.0.0.1", device_port=port, rate=100.0))
    with EmulatorProcess("hw_adapters.pi_gcs.emulator", ("--port", str(port))):
        device.open()
        try:
            taken, sends, deadline = 0, 0, time.monotonic() + 20.0
            while taken < 5 and time.monotonic() < deadline:
                received = device.receive(1.0)
                if received is None:
                    continue
                assert received.taken is None or taken <= received.taken <= sends
                taken, sends = received.taken or 0, sends + 1
                device.send((1e-6 * sends, *(0.0,) * 5))
            assert taken >= 5
            assert "MOV?" not in device.account()
        finally:
            device.close()
