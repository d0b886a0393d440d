"""What an adapter declares, and how its settings are read."""

import math

import pytest

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.rig.devices import (
    DescriptionError,
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceSettings,
    device_class,
    read_settings,
)


class RigSettings(DeviceSettings):
    port: int


class Rig(Device):
    Settings = RigSettings


def test_settings_are_typed_from_texts():
    settings = read_settings(Rig, {"port": "49152", "on_stale": "hold"}, "device 'rig'")
    assert (settings.port, settings.on_stale, settings.stale_after) == (49152, "hold", 0.1)


def test_all_that_is_wrong_with_settings_is_said_at_once():
    values = {"prot": 1, "stale_after": 0.0, "out_of_range": "ignore"}
    with pytest.raises(DescriptionError) as caught:
        read_settings(Rig, values, "component 'robot': device 'rig'")
    text = "\n".join(caught.value.problems)
    assert "unknown key 'prot'. Did you mean 'port'?" in text
    assert "missing key" not in text  # the misspelt key is the missing one
    assert "'stale_after': expected a number > 0" in text
    assert "'out_of_range': expected 'clamp' or 'stop', found 'ignore'" in text
    assert all(p.startswith("component 'robot': device 'rig': ") for p in caught.value.problems)


@pytest.mark.parametrize(
    "make",
    [
        lambda: DeviceConnector("x", "m", minimum=1.0, maximum=-1.0),
        lambda: DeviceConnector("x", "m", minimum=1.0),
        lambda: DeviceConnectors((DeviceConnector("x", "m"),), (DeviceConnector("x", "N"),), 1),
        lambda: DeviceConnectors((), (), math.inf),
    ],
)
def test_what_cannot_be_declared(make, wording):
    with wording.raises(DescriptionError):
        make()


def test_an_unknown_device_is_told(wording):
    with wording.raises(UnknownNameError):
        device_class("kuka_rsy")
