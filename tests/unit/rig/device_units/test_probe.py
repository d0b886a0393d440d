"""A first look at a device: counts as of a run, and each output with its values and ages."""

import math

import pytest

from orchestrator.rig.device_units.probe import probe
from orchestrator.rig.devices import (
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceSettings,
    Received,
    WireFormatError,
    device_class,
    device_names,
    read_settings,
)
from orchestrator.rig.devices.conformance import bench_of


class Scripted(Device):
    """Gives what it was given, one after the other, without waiting."""

    script = ()

    @classmethod
    def connectors(cls, settings):
        outputs = (DeviceConnector("x", "m"), DeviceConnector("q", "rad", shape=(2,)))
        return DeviceConnectors((), outputs, 100.0)

    @classmethod
    def layout(cls, settings):
        return {"x": "byte 4, f64"}

    def open(self):
        self.left = list(self.script)

    def close(self):
        pass

    def receive(self, timeout_s):
        if not self.left:
            return None
        one = self.left.pop(0)
        if isinstance(one, Exception):
            raise one
        return one

    def send(self, values):
        raise AssertionError("nothing is commanded")

    def account(self):
        return "its peer was a script"


def sample(number, *values):
    return Received(values, sequence=number)


def probed(*script):
    device = Scripted(DeviceSettings())
    device.script = script
    return probe(device, 0.05)


def test_counts_are_those_of_a_run_and_each_output_has_its_values():
    found = probed(
        sample(1, 1.0, 5.0, 7.0),
        sample(2, 3.0, 5.0, 7.0),
        WireFormatError("odd"),
        sample(2, 3.0, 5.0, 7.0),
        sample(4, 2.0, 5.0, 7.5),
    )
    assert (found.samples, found.lost, found.repeated, found.refused) == (3, 1, 1, 1)
    assert (found.first_refusal, found.account) == ("odd", "its peer was a script")
    x, first, second = found.outputs
    assert (x.name, x.unit, x.wire) == ("x", "m", "byte 4, f64")
    assert (x.value, x.least, x.largest) == (2.0, 1.0, 3.0)
    assert (first.name, second.name, second.wire) == ("q[0]", "q[1]", "")
    assert math.isnan(first.changed_s)
    assert 0.0 <= second.changed_s <= found.seconds
    assert 0.0 <= found.age <= found.seconds
    assert math.isnan(found.most_delay)  # it has no clock


def test_of_silence_nothing_is_claimed():
    found = probed()
    assert (found.samples, found.rate, found.last) == (0, 0.0, None)
    assert math.isnan(found.age)
    assert math.isnan(found.outputs[0].value)


@pytest.mark.parametrize("name", [name for name in device_names() if name != "motor_bench"])
def test_layouts_name_outputs_that_there_are(name):
    """The shaft of a motor bench is computed of several objects."""
    kind = device_class(name)
    settings = read_settings(kind, bench_of(name).wiring().settings, name)
    outputs = kind.connectors(settings).outputs
    scalars = {scalar for port in outputs for scalar in port.scalars}
    places = kind.layout(settings)
    assert name == "dcp" or scalars & places.keys()
    if name != "canopen_cia402":  # which reads a statusword as well
        assert places.keys() <= scalars
    assert len({*places.values()}) == len(places)


def test_places_of_a_datagram_are_those_that_its_bytes_have():
    bench = bench_of("udp")
    kind = device_class("udp")
    settings = read_settings(kind, bench.wiring().settings, "udp")
    assert kind.layout(settings) == {"x": "byte 20, f64", "v": "byte 28, f64"}
