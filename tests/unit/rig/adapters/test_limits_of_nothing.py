"""A limit of 0 in the settings of an adapter is refused with one error, whichever it is."""

import pytest
from canopen_bench import drive

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.devices import read_settings
from orchestrator.rig.devices.conformance import bench_of
from orchestrator.rig.devices.registry import device_class, device_names

LIMITS = [
    (device, name)
    for device in device_names()
    for name in device_class(device).Settings.model_fields
    if name.endswith(("_limit", "_tolerance"))
]


def test_most_adapters_have_limits():
    assert {"kuka_rsi", "ur_rtde", "pi_gcs", "ati_net_ft", "motor_bench"} <= {d for d, _ in LIMITS}


@pytest.mark.parametrize("value", [0, 0.0, -1.0, float("nan")])
@pytest.mark.parametrize(("device", "name"), LIMITS)
def test_a_limit_of_nothing_is_refused(device, name, value):
    given = bench_of(device).wiring().settings | {name: value}
    with pytest.raises(DescriptionError) as raised:
        read_settings(device_class(device), given, f"device '{device}'")
    assert str(raised.value).count("\n") == 0
    assert f"'{name}': expected a" in str(raised.value)
    assert f"found {value}" in str(raised.value)


@pytest.mark.parametrize(
    "change",
    [
        {"torque_limit": 1e-4},
        {"torque_limit": 66.0},
        {"torque_limit": 33.0, "mode": "cst"},
        {"velocity_limit": 1e-9},
        {"quick_stop_deceleration": 1e-5},
        {"following_window": 1e-5},
        {"torque_limit": 0},
    ],
)
def test_a_limit_that_is_nothing_to_the_drive_or_beyond_it_is_told(change, wording):
    given = {"channel": "x", "drives": [drive(**change)]}
    with wording.raises(DescriptionError):
        read_settings(device_class("canopen_cia402"), given, "device 'd'")
