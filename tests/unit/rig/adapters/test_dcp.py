"""The adapter for DCP slaves: settings, refusals, heartbeat, a slave that stops."""

import struct
import time
from contextlib import nullcontext

import pytest

from hw_adapters.dcp.adapter import DcpDevice
from hw_adapters.dcp.bench import BENCH, DESCRIPTION
from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.core.structs import replace
from orchestrator.dcp import pdus
from orchestrator.dcp.controller import Controller
from orchestrator.dcp.dcp_file import read_description
from orchestrator.dcp.pdus import decode, encode
from orchestrator.dcp.states import SlaveState
from orchestrator.rig.device_units.description import describe_device
from orchestrator.rig.devices import DeviceError, read_settings
from orchestrator.rig.devices.conformance import EmulatorProcess


def settings(**changes):
    return read_settings(DcpDevice, {"description": str(DESCRIPTION), **changes}, "test")


def test_the_connectors_are_those_of_the_description():
    found = DcpDevice.connectors(settings())
    (wanted,) = found.inputs
    assert (wanted.name, wanted.unit, wanted.minimum, wanted.maximum) == ("x_set", "m", -0.1, 0.1)
    assert [(output.name, output.unit) for output in found.outputs] == [("x", "m"), ("v", "m/s")]
    assert found.rate == 500.0
    fewer = DcpDevice.connectors(settings(outputs=["v"], inputs=["x_set"], steps=10))
    assert ([output.name for output in fewer.outputs], fewer.rate) == (["v"], 100.0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"mode": "nrt"}, "it does not run in NRT; it has HRT, SRT"),
        ({"outputs": ["w"]}, "it has no Output 'w'"),
        ({"transport": "tcp"}, "it does not speak TCP_IPV4; it has UDP_IPV4"),
        ({"resolution": 0.002}, "it does not take the time resolution 0.002 s; known: 1/1000 s"),
        ({"parameters": {"k": 1.0}}, "it has no parameter 'k'"),
        ({"steps": 1001, "outputs": ["v"]}, "steps 1001: output 'v' takes 1 to 1000 only"),
        ({"mode": "nrt", "steps": 5}, "steps 5: expected none in NRT, where the run says how far"),
    ],
)
def test_what_the_slave_does_not_have_is_told(changes, told):
    with pytest.raises(DescriptionError) as caught:
        DcpDevice.connectors(settings(**changes))
    assert told in str(caught.value)


def test_steps_that_outputs_have_fixed_are_refused(tmp_path, wording):
    fixed = tmp_path / "fixed.dcpx"
    free = 'fixedSteps="false" minSteps="1" maxSteps="1000"><Float64 unit="m/s"/>'
    text = DESCRIPTION.read_text(encoding="utf-8")
    assert free in text
    fixed.write_text(text.replace(free, 'fixedSteps="true"><Float64 unit="m/s"/>'), "utf-8")
    with wording.raises(DescriptionError):
        DcpDevice.connectors(settings(description=str(fixed), steps=10))
    assert DcpDevice.connectors(settings(description=str(fixed), steps=2)).rate == 500.0
    chosen = settings(description=str(fixed), steps=10, outputs=["x"])
    assert DcpDevice.connectors(chosen).rate == 100.0


def test_a_description_that_is_not_there_is_told(tmp_path, wording):
    with wording.raises(LoadError):
        DcpDevice(settings(description=str(tmp_path / "none.dcpx")))
    with wording.raises(DescriptionError):
        describe_device(f"dcp?description={tmp_path / 'none.dcpx'}")


def test_a_setting_that_is_misspelt_is_told(wording):
    with wording.raises(DescriptionError):
        settings(resolutoin=0.001)


def receive_until(device, end):
    while time.monotonic() < end:
        device.receive(0.2)


@pytest.mark.slow
def test_a_slave_hears_its_master_and_stops_without_it(tmp_path, wording):
    wiring = BENCH.wiring()
    hasty = tmp_path / "hasty.dcpx"
    text = DESCRIPTION.read_text(encoding="utf-8")
    beat = 'numerator="{}" denominator="{}"'.format
    assert beat(2, 1) in text
    hasty.write_text(text.replace(beat(2, 1), beat(3, 5)), encoding="utf-8")
    found = {**wiring.settings, "outputs": ["x"], "description": str(hasty)}
    with EmulatorProcess(BENCH.emulator, (*wiring.arguments, "--silence", "0.6")):
        device = DcpDevice(read_settings(DcpDevice, found, "test"))
        device.open()
        begin = time.monotonic()
        device.send([0.05])
        while time.monotonic() < begin + 0.9:  # longer than the slave bears: it was told
            assert device.receive(3.0) is not None
        time.sleep(0.7)  # nobody receives, so nobody sends a heartbeat
        with wording.raises(DeviceError):
            receive_until(device, begin + 20.0)
        device.close()
        device.open()  # it was released from ERRORRESOLVED
        assert device.receive(3.0) is not None
        device.close()


def test_the_emulator_and_its_description_agree():
    from hw_adapters.dcp import emulator

    description = read_description(DESCRIPTION)
    assert description.uuid.bytes == emulator._UUID
    assert description.heartbeat == (2, 1)


class Lines:
    """A link that gives what a test puts on it, and keeps what is sent."""

    peer, address = ("127.0.0.1", 8080), ("127.0.0.1", 8090)

    def __init__(self):
        self.coming, self.gone = [], []

    def receive(self, timeout_s):
        return self.coming.pop(0) if self.coming else None

    def send(self, content):
        self.gone.append(content)

    def send_data(self, port, content):
        self.gone.append(content)

    def close(self):
        pass


@pytest.fixture
def scripted(monkeypatch):
    """An open device on a scripted link, without the requests before that."""
    lines = Lines()
    monkeypatch.setattr("orchestrator.dcp.controller.open_link", lambda *_: lines)
    device = DcpDevice(settings())
    device._controller = Controller(device._plan)
    device._controller.session.state = SlaveState.RUNNING
    return device, lines


def outputs(number):
    return encode(pdus.Data(number % 2**16, 2, struct.pack("<2d", float(number), 0.0)))


def test_outputs_that_come_again_are_repetitions_whenever_they_come(scripted):
    device, lines = scripted
    for number in range(65500, 65600):  # beyond the end of the protocol's count
        lines.coming.append(outputs(number))
        if number >= 65530:
            lines.coming.append(outputs(number - 30))
    found = [device.receive(1.0) for _ in range(170)]
    new = [each for i, each in enumerate(found) if not i or each.sequence > found[i - 1].sequence]
    assert [each.sequence for each in new] == list(range(65500, 65600))
    assert [each.values[0] % 2**16 for each in new] == [n % 2**16 for n in range(65500, 65600)]
    assert new[-1].device_time == pytest.approx(65599 * 0.002)
    again = [each for i, each in enumerate(found) if i and each.sequence == found[i - 1].sequence]
    assert len(again) == 70  # each in the place of the newest one


def test_outputs_that_were_overtaken_keep_their_number_and_change_nothing(scripted):
    device, lines = scripted
    lines.coming += [outputs(1), outputs(3), outputs(2), outputs(4)]
    found = [device.receive(1.0) for _ in range(4)]
    assert [(each.sequence, each.values[0]) for each in found] == [(n, n) for n in (1, 3, 2, 4)]
    assert device._controller.values[20] == (4.0,)


def test_commands_that_do_not_arrive_end_the_run(scripted, monkeypatch, wording):
    device, _ = scripted
    clock = [100.0]
    monkeypatch.setattr("hw_adapters.dcp.adapter.time.monotonic", lambda: clock[0])
    controller = device._controller
    controller.rollout = replace(controller.rollout, confirmed=True)
    device.send([0.01])
    controller.session.confirmed[1] = 0
    device.receive(0.0)
    for _ in range(3):
        device.send([0.02])
        clock[0] += 0.04
        if clock[0] < 100.1:
            device.receive(0.0)
    assert device._inputs_taken == 1
    with wording.raises(DeviceError):
        device.receive(0.0)


def test_a_sample_says_which_inputs_the_slave_has_confirmed(scripted):
    device, lines = scripted
    controller = device._controller
    controller.rollout = replace(controller.rollout, confirmed=True)
    found = []
    for number in range(4):
        device.send([0.01 * number])
        if number != 2:
            controller.session.confirmed[1] = number
        lines.coming.append(outputs(number))
        found.append(device.receive(1.0).taken)
    assert found == [1, 2, 2, 4]


@pytest.mark.parametrize(
    ("answers", "ends"), [(lambda k: True, False), (lambda k: k % 8 == 0, False), (None, True)]
)
def test_a_slave_that_answers_no_request_is_lost_within_the_time_for_commands(
    answers, ends, scripted, monkeypatch
):
    """Its outputs came for 1.7 s after all commands were lost, until its heartbeat ran out."""
    device, lines = scripted
    clock = [100.0]
    monkeypatch.setattr("hw_adapters.dcp.adapter.time.monotonic", lambda: clock[0])
    device._controller.session.registered = True
    device._asked = device._began = clock[0]
    asked = 0
    with pytest.raises(DeviceError, match="commands do not arrive") if ends else nullcontext():
        for number in range(400):
            clock[0] += 0.002
            lines.coming.append(outputs(number))
            device.receive(1e-3)
            for content in lines.gone:
                request, asked = decode(content), asked + 1
                assert isinstance(request, pdus.AskState)
                if answers and answers(asked):
                    state = pdus.StateAck(request.sequence, 1, SlaveState.RUNNING)
                    lines.coming.append(encode(state))
            lines.gone.clear()
    if ends:
        assert clock[0] == pytest.approx(100.3, abs=0.03)
    assert asked == pytest.approx((clock[0] - 100.0) / 0.025, abs=2)


def test_a_process_that_was_held_up_itself_blames_no_slave(scripted, monkeypatch):
    device, lines = scripted
    clock = [100.0]
    monkeypatch.setattr("hw_adapters.dcp.adapter.time.monotonic", lambda: clock[0])
    device._controller.session.registered = True
    device._asked = device._began = clock[0]
    for _ in range(3):
        clock[0] += 1.0
        lines.coming.append(outputs(1))
        device.receive(1e-3)
