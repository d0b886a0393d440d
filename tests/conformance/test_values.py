"""The check of values finds adapters that are wrong by a factor, a sign or an axis."""

import pytest

from hw_adapters.canopen_cia402.drive import Drive
from hw_adapters.dcp.adapter import DcpDevice
from hw_adapters.pi_gcs import adapter as pi_gcs
from orchestrator.core.structs import replace
from orchestrator.rig.devices.conformance import check_device

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("real_time")]
SCALES = pi_gcs._SCALES


def tenfold(monkeypatch):
    monkeypatch.setattr(pi_gcs, "_SCALES", tuple(10.0 * each for each in SCALES))


def swapped_axes(monkeypatch):
    pose = pi_gcs.PiGcs._pose

    def swapped(self, reply):
        x, y, *rest = pose(self, reply)
        return (y, x, *rest)

    monkeypatch.setattr(pi_gcs.PiGcs, "_pose", swapped)


def degrees(monkeypatch):
    monkeypatch.setattr(pi_gcs, "_SCALES", (*SCALES[:3], *(1.0,) * 3))


def other_sign_of_commands(monkeypatch):
    send = pi_gcs.PiGcs.send
    monkeypatch.setattr(pi_gcs.PiGcs, "send", lambda self, values: send(self, [-v for v in values]))


def one_axis_for_all(monkeypatch):
    send = pi_gcs.PiGcs.send
    wrong = lambda self, values: send(self, [values[0]] * len(values))  # noqa: E731
    monkeypatch.setattr(pi_gcs.PiGcs, "send", wrong)


def rounds_for_radians(monkeypatch):
    monkeypatch.setattr(Drive, "velocity", property(lambda self: self._found["velocity"] / 65536))


def other_sign(monkeypatch):
    position = Drive.position
    wrong = lambda self, **how: -position(self, **how)  # noqa: E731
    monkeypatch.setattr(Drive, "position", wrong)


def half_the_command(monkeypatch):
    command = Drive.command
    monkeypatch.setattr(Drive, "command", lambda self, value: command(self, 0.5 * value))


def swapped_outputs(monkeypatch):
    receive = DcpDevice.receive

    def swapped(self, timeout_s):
        found = receive(self, timeout_s)
        return None if found is None else replace(found, values=tuple(found.values)[::-1])

    monkeypatch.setattr(DcpDevice, "receive", swapped)


def no_command(monkeypatch):
    monkeypatch.setattr(DcpDevice, "send", lambda self, values: None)


@pytest.mark.parametrize(
    ("device", "plant", "named"),
    [
        ("pi_gcs", tenfold, ("x", "w")),
        ("pi_gcs", swapped_axes, ("x", "y")),
        ("pi_gcs", degrees, ("u", "v")),
        ("pi_gcs", other_sign_of_commands, ("dx", "dw")),
        ("pi_gcs", one_axis_for_all, ("dy", "dw")),
        ("canopen_cia402", rounds_for_radians, ("motor_velocity",)),
        ("canopen_cia402", other_sign, ("motor_position",)),
        ("canopen_cia402", half_the_command, ("motor_velocity_set",)),
        ("dcp", swapped_outputs, ("x", "v")),
        ("dcp", no_command, ("x_set",)),
    ],
)
def test_a_planted_fault_is_found_and_named(monkeypatch, device, plant, named):
    plant(monkeypatch)
    (found,) = check_device(device, ["values"])
    assert found.outcome == "failed"
    for name in named:
        assert f"'{name}' " in found.remark, found.remark
