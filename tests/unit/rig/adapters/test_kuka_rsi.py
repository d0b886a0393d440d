"""RSI: codec and emulated controller know nothing of each other, and agree."""

from contextlib import suppress
from socket import AF_INET, SOCK_DGRAM, socket

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hw_adapters.emulation.event_log import EventLog
from hw_adapters.emulation.faults import Faults
from hw_adapters.emulation.faulty_sender import FaultySender
from hw_adapters.kuka_rsi import emulator
from hw_adapters.kuka_rsi.adapter import KukaRsi, KukaRsiSettings
from hw_adapters.kuka_rsi.codec import Correction, RobotFrame, decode_frame, encode_correction
from hw_adapters.kuka_rsi.controller import Controller, Setup
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices import DeviceError, WireFormatError, read_settings
from orchestrator.rig.devices.conformance import free_udp_port

SIX = st.tuples(*[st.floats(-1000.0, 1000.0)] * 6)
IPOC = st.integers(0, 2**63)


def answered(controller, values, space="cartesian", ipoc=None):
    number = controller.ipoc if ipoc is None else ipoc
    taken = controller.take(encode_correction(Correction(number, tuple(values), space)))
    return taken, controller.next_cycle()


def along_x(x):
    return (x, 0.0, 0.0, 0.0, 0.0, 0.0)


@given(SIX, IPOC, st.sampled_from(["cartesian", "joint"]))
def test_the_controller_reads_what_the_codec_writes(values, ipoc, space):
    setup = Setup(space=space, lower=-2e3, upper=2e3, monitor=1e4)
    controller = Controller(setup, ipoc)
    assert answered(controller, values, space) == ("answer", "")
    assert controller.asked == pytest.approx(np.array(values), abs=5.1e-7)


FRAME = b'<Rob Type="KUKA"><RIst X="%s" Y="0" Z="0" A="0" B="0" C="0"/><IPOC>1</IPOC></Rob>%s'


def test_a_frame_may_end_as_texts_of_c_do():
    assert decode_frame(FRAME % (b"1.5", b"\0")).pose == along_x(1.5)


@pytest.mark.parametrize("text", [b"1_0", b"", b"inf"])
def test_what_is_no_number_in_a_frame(text, wording):
    with wording.raises(WireFormatError):
        decode_frame(FRAME % (text, b""))


@given(SIX, IPOC, st.sampled_from(["cartesian", "joint"]))
def test_the_codec_reads_what_the_robot_writes(start, ipoc, space):
    robot = emulator.Robot.__new__(emulator.Robot)
    robot._setup = Setup(space=space, start=start)
    robot._controller = Controller(robot._setup, ipoc)
    robot._sender = FaultySender(Faults(), 0, EventLog(None, ()))
    found = decode_frame(robot._frame())
    assert (found.ipoc, found.late) == (ipoc, 0)
    actual = found.pose if space == "cartesian" else found.joints
    assert actual == pytest.approx(start, abs=5.1e-5)
    assert (found.joints if space == "cartesian" else found.pose) is None


@given(st.binary(max_size=300) | st.text(max_size=200).map(lambda t: f"<Rob>{t}</Rob>".encode()))
def test_whatever_comes_is_a_frame_or_refused(datagram):
    with suppress(WireFormatError):
        assert isinstance(decode_frame(datagram), RobotFrame)


def test_a_command_takes_effect_after_the_delay_of_the_frame_that_it_answers():
    controller = Controller(Setup(delay_ms=16.0), 1000)
    positions = []
    for _ in range(8):
        answered(controller, along_x(2.0))
        positions.append(controller.pose[0] - 1000.0)
    assert positions == [0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0, 2.0]  # 4, 8, 12, 16 ms ..


def test_relative_corrections_add_up_and_stop_at_the_limit():
    controller = Controller(Setup(delay_ms=4.0, relative=True, upper=2.5, lower=-1.0), 1000)
    for _ in range(4):
        answered(controller, along_x(1.0))
    assert controller.commanded[0] == 2.5
    answered(controller, along_x(-1.0))
    assert controller.commanded[0] == 1.5


@pytest.mark.parametrize(("hold_on", "then"), [(True, 3.0), (False, 0.0)])
def test_a_missing_answer_counts_as_late_and_holds_or_resets(hold_on, then):
    controller = Controller(Setup(hold_on=hold_on), 1000)
    assert controller.next_cycle() == ""  # RSI begins with the first answer
    answered(controller, along_x(3.0))
    assert controller.next_cycle() == "late"
    assert (controller.late, controller.commanded[0]) == (1, then)


def test_another_ipoc_is_no_answer_and_the_second_answer_is_none():
    controller = Controller(Setup(), 1000)
    answered(controller, along_x(1.0))
    assert answered(controller, along_x(2.0), ipoc=1000) == ("mismatch", "late")
    ahead = encode_correction(Correction(controller.ipoc, along_x(2.0)))
    assert controller.take(ahead) == "answer"
    assert controller.take(ahead) == "repeated"
    assert controller.take(b"<Rob/>") == "foreign"


def test_too_many_late_answers_stop_the_robot():
    controller = Controller(Setup(timeout=3), 1000)
    answered(controller, along_x(0.0))
    assert [controller.next_cycle() for _ in range(3)] == ["late", "late", "RSITimeout"]
    assert controller.stopped == "RSITimeout"


@pytest.mark.parametrize(("space", "stop"), [("cartesian", "POSCORRMON"), ("joint", "AXISCORRMON")])
def test_a_correction_beyond_the_monitor_stops_the_robot(space, stop):
    controller = Controller(Setup(space=space, monitor=10.0), 1000)
    assert answered(controller, along_x(-10.5), space) == ("answer", stop)
    assert controller.commanded[0] == 0.0


class Wire:
    """Stands in for the socket: what is received is given, what is sent is kept."""

    def __init__(self, frames):
        self.frames = frames
        self.sent = []
        self.peer = None

    def receive(self, timeout_s):
        if not self.frames:
            return None
        found = self.frames.pop(0)
        self.peer = found[1]  # it is known whose they are
        return found

    def send(self, datagram):
        self.sent.append((datagram, self.peer))


def frame(ipoc, x, sender=("127.0.0.1", 9)):
    cells = f'X="{x}" Y="0" Z="0" A="179" B="0" C="0"'
    return f"<Rob><RIst {cells}/><Delay D='2'/><IPOC>{ipoc}</IPOC></Rob>".encode(), sender


def opened(frames, **settings):
    device = KukaRsi(KukaRsiSettings(**settings))
    device._socket = Wire(frames)
    return device


def test_the_adapter_gives_si_units_and_echoes_the_ipoc():
    device = opened([frame(4000, 250.0)])
    received = device.receive(0.0)
    assert received.values == pytest.approx((0.25, 0.0, 0.0, np.deg2rad(179.0), 0.0, 0.0))
    assert (received.sequence, received.device_time, received.status) == (1000, 4.0, 2)
    device.send((0.0005, 0.0, 0.0, 0.001, 0.0, 0.0))
    ((datagram, address),) = device._socket.sent
    assert address == ("127.0.0.1", 9)
    assert b'X="0.500000"' in datagram
    assert f'A="{np.rad2deg(0.001):.6f}"'.encode() in datagram
    assert b"<IPOC>4000</IPOC>" in datagram


@pytest.mark.parametrize("cycle", [4, 12])
def test_an_ipoc_that_runs_over_is_counted_on_and_echoed_as_it_is(cycle):
    controller = Controller(Setup(cycle_ms=cycle), 2**32 - 3 * cycle)
    ipocs = [controller.ipoc]
    for _ in range(5):
        controller.next_cycle()
        ipocs.append(controller.ipoc)
    assert ipocs[-1] < ipocs[0]
    device = opened([frame(ipoc, 0.0) for ipoc in ipocs], cycle_ms=cycle)
    found = [device.receive(0.0) for _ in ipocs]
    assert np.diff([each.device_time for each in found]) == pytest.approx(1e-3 * cycle, abs=1e-9)
    assert set(np.diff([each.sequence for each in found])) == {1}
    device.send((0.0,) * 6)
    assert b"<IPOC>%d</IPOC>" % ipocs[-1] in device._socket.sent[-1][0]


def test_relative_commands_are_sent_as_increments_without_drift():
    device = opened([frame(4 * n, 0.0) for n in range(30)], mode="relative")
    total = 0.0
    for n in range(30):
        device.receive(0.0)
        device.send(along_x(1e-5 * n / 3.0))
        total += float(device._socket.sent[-1][0].split(b'X="')[1].split(b'"')[0])
    assert total == pytest.approx(1e-2 * 29 / 3.0, abs=5.1e-7)


def test_displacements_count_from_the_first_frame_and_angles_do_not_jump():
    far = frame(8, 11.0)[0].replace(b'A="179"', b'A="-179"'), ("127.0.0.1", 9)
    device = opened([frame(4, 10.0), far], measured="displacement")
    assert device.receive(0.0).values == pytest.approx((0.0,) * 6)
    assert device.receive(0.0).values == pytest.approx((0.001, 0, 0, np.deg2rad(2.0), 0, 0))


def test_a_robot_that_has_sent_nothing_cannot_be_commanded(wording):
    device = opened([frame(4, 0.0)])
    with wording.raises(DeviceError):
        device.send((0.0,) * 6)


def test_axes_that_are_not_corrected_are_told_0():
    device = opened([frame(4, 0.0)], axes=["c", "x"])
    assert [c.name for c in device.connectors(device.settings).inputs] == ["dx", "dc"]
    device.receive(0.0)
    device.send((1e-4, 1e-3))
    sent = device._socket.sent[-1][0]
    assert b'X="0.100000" Y="0.000000"' in sent
    assert f'C="{np.rad2deg(1e-3):.6f}"'.encode() in sent


@pytest.mark.parametrize("axes", [["q1"], ["x", "x"]])
def test_axes_that_are_none_are_refused(axes, wording):
    with wording.raises(DescriptionError):
        read_settings(KukaRsi, {"axes": axes}, "device 'robot'")


def test_an_ipoc_that_runs_over_is_counted_on():
    device = opened([frame(2**32 - 4, 0.0), frame(0, 0.0), frame(4, 0.0)])
    times = [device.receive(0.0).device_time for _ in range(3)]
    assert np.diff(times) == pytest.approx(4e-3)


def searching(frames, **settings):
    """Return a device on a real port whose peer is not known, and what it received."""
    device = KukaRsi(KukaRsiSettings(port=free_udp_port(), **settings))
    device.open()
    senders = {name: socket(AF_INET, SOCK_DGRAM) for name in ("robot", "other")}
    try:
        for sender in senders.values():
            sender.bind(("127.0.0.1", 0))
        for name, datagram in frames:
            senders[name].sendto(datagram, ("127.0.0.1", device.settings.port))
        found = [device.receive(0.2) for _ in frames]
        return device.account(), [each for each in found if each is not None], senders["robot"]
    finally:
        device.close()
        for sender in senders.values():
            sender.close()


def test_the_robot_is_known_by_frames_that_count_on_and_a_stranger_is_counted():
    robot = [("robot", frame(4 * k, 1.0)[0]) for k in range(1, 20)]
    frames = [("other", frame(7, 9.0)[0]), *robot, ("other", frame(80, 9.0)[0])]
    told, received, _ = searching(frames)
    assert {each.values[0] for each in received} == {1e-3}
    assert len(received) == 7  # after 13 frames, since the other might send more
    assert "1 datagram of others was refused" in told


def test_two_that_both_send_frames_are_refused_by_name(wording):
    """A stranger who sends first was taken for the robot, and the robot for malformed."""
    pairs = [
        each
        for k in range(1, 20)
        for each in (("other", frame(4 * k + 4, 9.0)[0]), ("robot", frame(4 * k, 1.0)[0]))
    ]
    with wording.raises(DeviceError):
        searching(pairs)


@pytest.mark.parametrize("disturbed", ["no answer", "late", "both"])
def test_what_a_robot_did_not_use_of_increments_is_made_good(disturbed):
    """With HOLDON the last increment comes twice, and the one that was late never."""
    device, controller = opened([], mode="relative"), Controller(Setup(relative=True), 4000)
    for k in range(100):
        device._socket.frames = [
            (_frame_of(controller), ("127.0.0.1", 9)) for _ in range(1 + (disturbed == "both"))
        ]
        device.receive(0.0)
        device.send(along_x(1e-5 * min(k, 60)))
        lost = k % 7 == 3 or k % 11 == 5
        if not lost or disturbed == "both":
            controller.take(device._socket.sent[-1][0])
        controller.next_cycle()
    assert controller.commanded[0] == pytest.approx(0.6, abs=1e-5)


def test_increments_that_make_good_are_no_step():
    """A robot that lost a third of its answers was moved by 2.2 mm in a cycle; 1 is allowed."""
    device, controller = opened([], mode="relative"), Controller(Setup(relative=True), 4000)
    place = []
    for k in range(300):
        device._socket.frames = [(_frame_of(controller), ("127.0.0.1", 9))]
        device.receive(0.0)
        device.send(along_x(1e-4 * min(k, 60)))
        if not 20 <= k < 40:
            controller.take(device._socket.sent[-1][0])
        controller.next_cycle()
        place.append(controller.commanded[0])
    assert np.abs(np.diff(place)).max() <= 1.0 + 1e-9
    assert place[-1] == pytest.approx(6.0, abs=1e-5)


def test_a_frame_that_is_not_answered_is_none_that_increments_count_from():
    """One forged frame far ahead, and the robot ran on to the end of its range."""
    device, controller = opened([], mode="relative"), Controller(Setup(relative=True), 4000)
    for k in range(100):
        frames = [_frame_of(controller)]
        if k == 30:
            ahead = b"<IPOC>%d</IPOC>" % (controller.ipoc + 40_000)
            frames.insert(0, frames[0].split(b"<IPOC>")[0] + ahead + b"</Rob>")
        device._socket.frames = [(each, ("127.0.0.1", 9)) for each in frames]
        for _ in frames:
            device.receive(0.0)
        device.send(along_x(1e-5 * min(k, 60)))
        controller.take(device._socket.sent[-1][0])
        controller.next_cycle()
    assert controller.commanded[0] == pytest.approx(0.6, abs=1e-5)


def _frame_of(controller):
    cells = f'X="{controller.pose[0]}" Y="0" Z="0" A="0" B="0" C="0"'
    late, ipoc = controller.late, controller.ipoc
    return f"<Rob><RIst {cells}/><Delay D='{late}'/><IPOC>{ipoc}</IPOC></Rob>".encode()


def test_a_frame_without_what_is_measured_names_the_setting_of_the_controller(wording):
    device = opened([frame(4, 0.0)], space="joint")
    with wording.raises(WireFormatError):
        device.receive(0.0)


def test_the_log_is_written(tmp_path):
    log = EventLog(tmp_path / "log.csv", ("number",))
    log.write("drop", number=3)
    log.close()
    header, row = (tmp_path / "log.csv").read_text().splitlines()
    assert header == "time_s,event,number"
    assert row.endswith(",drop,3")


def _element(tag, values):
    cells = " ".join(f"{name}='{value}'" for name, value in zip("XYZABC", values, strict=True))
    return f"<{tag} {cells}/>"


def _in_force(setpoint=None, correction=None, *, follows=True, **settings):
    """Return what an adapter reads off the second frame of a robot that began at X = 1000 mm."""
    begin = (1000.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    frames = []
    for ipoc, shown in ((4, begin), (8, setpoint)):
        parts = [_element("RIst", begin)]
        parts += [_element("RSol", shown)] if setpoint else []
        parts += [_element("Corr", correction)] if correction else []
        text = f"<Rob>{''.join(parts)}<Delay D='0'/><IPOC>{ipoc}</IPOC></Rob>"
        frames.append((text.encode(), ("127.0.0.1", 9)))
    device = opened(frames, axes=("x", "a"), setpoint=follows, **settings)
    device.receive(0.0)
    return device.receive(0.0).in_force


def test_the_correction_in_force_is_that_which_the_controller_sends_back_or_its_setpoint(wording):
    turned = np.deg2rad(1.0)
    moved, back = (1002.0, 5.0, 0, 0.0, 0, 0), (3.0, 0, 0, 1.0, 0, 0)
    assert _in_force(moved, back) == pytest.approx((2e-3, 0.0))
    assert _in_force(moved, back, echo="Corr") == pytest.approx((3e-3, turned))
    assert _in_force(None, back, echo="Corr") == pytest.approx((3e-3, turned))
    assert _in_force(None, back) is None
    assert _in_force(moved, back, follows=False) is None
    assert _in_force(moved, back, echo="Corr", mode="relative") is None
    with wording.raises(WireFormatError):
        _in_force(moved, None, echo="Corr")


def test_a_controller_that_was_started_anew_has_no_correction_in_force():
    controller = Controller(Setup(echo="Corr"), 4)
    answered(controller, (2.5, 0, 0, 0, 0, 0))
    controller.next_cycle()
    assert controller.in_force[0] == 2.5
    assert Controller(Setup(), 8).in_force[0] == 0.0
