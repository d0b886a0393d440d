"""Settings of a device as a source says them."""

import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices.registry import read_address, write_address


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"port": 49152},
        {"text": "49152", "flag": True, "none": None, "half": 0.5},
        {"host": "192.168.1.3", "file": "a b/c?d&e=f#g%20+.xml", "empty": ""},
        {"signals": [{"name": "x", "unit": "N.m"}, {"name": "y", "scale": [1, 2]}], "ä": "µ"},
    ],
)
def test_settings_come_back(settings):
    location = write_address("pkg.rig:Rig", settings)
    assert read_address(location) == ("pkg.rig:Rig", settings)


def test_what_a_hand_writes():
    found = read_address("udp?port=1&host=10.0.0.1&limits=[1,2]&name=rig one")
    assert found == ("udp", {"port": 1, "host": "10.0.0.1", "limits": [1, 2], "name": "rig one"})


@pytest.mark.parametrize(
    "location",
    ["udp?port", "udp?a=1&a=2"],
)
def test_what_cannot_be_read(location, wording):
    with wording.raises(DescriptionError):
        read_address(location)
