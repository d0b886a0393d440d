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
    with pytest.raises(DescriptionError) as found:
        read_settings(device_class(device), given, f"device '{device}'")
    assert str(found.value).count("\n") == 0
    assert f"'{name}': expected a" in str(found.value)
    assert f"found {value}" in str(found.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"torque_limit": 1e-4}, r"'max torque' \(6072:00\): expected 1 to 65535 .* found 0"),
        ({"torque_limit": 66.0}, r"'max torque' \(6072:00\): expected 1 to 65535 .* found 66000"),
        ({"torque_limit": 33.0, "mode": "cst"}, r"'target_torque' .* 1 to 32767 .* found 33000"),
        ({"velocity_limit": 1e-9}, r"'target_velocity' \(60FF:00\): expected 1 to .* found 0"),
        ({"quick_stop_deceleration": 1e-5}, r"\(6085:00\): expected 1 to 4294967295 .* found 0"),
        ({"following_window": 1e-5}, r"\(6065:00\): expected 1 to 4294967295 .* found 0"),
        ({"torque_limit": 0}, r"'drives\.0\.torque_limit': expected a number > 0\.0, found 0"),
    ],
)
def test_a_limit_that_is_nothing_to_the_drive_or_beyond_it_is_told(change, told):
    given = {"channel": "x", "drives": [drive(**change)]}
    with pytest.raises(DescriptionError, match=told):
        read_settings(device_class("canopen_cia402"), given, "device 'd'")
