"""The adapter for DCP slaves: settings, refusals, heartbeat, a slave that stops."""

import time

import pytest

from hw_adapters.dcp.adapter import DcpDevice
from hw_adapters.dcp.bench import BENCH, DESCRIPTION
from orchestrator.core.diagnostics import DescriptionError, LoadError
from orchestrator.dcp.dcp_file import read_description
from orchestrator.rig.device_units.description import describe_device
from orchestrator.rig.devices import DeviceError, read_settings
from orchestrator.rig.devices.conformance import EmulatorProcess


def settings(**changes):
    return read_settings(DcpDevice, {"description": str(DESCRIPTION), **changes}, "test")


def test_the_connectors_are_those_of_the_description():
    found = DcpDevice.connectors(settings())
    (wanted,) = found.inputs
    assert (wanted.name, wanted.unit, wanted.minimum, wanted.maximum) == ("x_set", "m", -0.1, 0.1)
    assert [(each.name, each.unit) for each in found.outputs] == [("x", "m"), ("v", "m/s")]
    assert found.rate == 500.0
    fewer = DcpDevice.connectors(settings(outputs=["v"], inputs=["x_set"], steps=10))
    assert ([each.name for each in fewer.outputs], fewer.rate) == (["v"], 100.0)


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


def test_steps_that_outputs_have_fixed_are_refused(tmp_path):
    fixed = tmp_path / "fixed.dcpx"
    free = 'fixedSteps="false" minSteps="1" maxSteps="1000"><Float64 unit="m/s"/>'
    text = DESCRIPTION.read_text(encoding="utf-8")
    assert free in text
    fixed.write_text(text.replace(free, 'fixedSteps="true"><Float64 unit="m/s"/>'), "utf-8")
    with pytest.raises(DescriptionError, match="steps 10: output 'v' takes 2 only"):
        DcpDevice.connectors(settings(description=str(fixed), steps=10))
    assert DcpDevice.connectors(settings(description=str(fixed), steps=2)).rate == 500.0
    chosen = settings(description=str(fixed), steps=10, outputs=["x"])
    assert DcpDevice.connectors(chosen).rate == 100.0


def test_a_description_that_is_not_there_is_told(tmp_path):
    with pytest.raises(LoadError, match="cannot be read: No such file"):
        DcpDevice(settings(description=str(tmp_path / "none.dcpx")))
    with pytest.raises(DescriptionError, match=r"device 'dcp'.*: .*none\.dcpx"):
        describe_device(f"dcp?description={tmp_path / 'none.dcpx'}")


def test_a_setting_that_is_misspelt_is_told():
    with pytest.raises(DescriptionError, match="resolutoin"):
        settings(resolutoin=0.001)


def receive_until(device, end):
    while time.monotonic() < end:
        device.receive(0.2)


@pytest.mark.slow
def test_a_slave_hears_its_master_and_stops_without_it(tmp_path):
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
        with pytest.raises(DeviceError, match="PROTOCOL_ERROR_HEARTBEAT_MISSED"):
            receive_until(device, begin + 20.0)
        device.close()
        device.open()  # it was released from ERRORRESOLVED
        assert device.receive(3.0) is not None
        device.close()


def test_the_emulator_and_its_description_agree():
    from hw_adapters.dcp import emulator

    about = read_description(DESCRIPTION)
    assert about.uuid.bytes == emulator._UUID
    assert about.heartbeat == (2, 1)
