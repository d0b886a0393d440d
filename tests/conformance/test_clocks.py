"""The checks of clocks find adapters that do not count on; a check that hangs ends by its limit."""

import contextlib
import os
import time
from pathlib import Path

import pytest

from hw_adapters.ati_net_ft.adapter import AtiNetFt
from hw_adapters.dcp import adapter as dcp
from hw_adapters.kuka_rsi.adapter import KukaRsi
from hw_adapters.shm.adapter import ShmDevice
from hw_adapters.udp.adapter import UdpDevice
from orchestrator.core.structs import replace
from orchestrator.rig.devices.conformance import check_device

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("real_time")]


def changed(monkeypatch, kind, change):
    """Change each sample that an adapter gives."""
    receive = kind.receive

    def other(self, timeout_s):
        found = receive(self, timeout_s)
        return None if found is None else change(self, found)

    monkeypatch.setattr(kind, "receive", other)


def clock_is_not_counted_on(monkeypatch, kind, period):
    def raw(self, found):
        return replace(found, device_time=found.device_time % period)

    changed(monkeypatch, kind, raw)


def a_count_that_never_ends(monkeypatch, kind):
    def unlimited(self, found):
        self.sequence_period = None
        return found

    changed(monkeypatch, kind, unlimited)


def counts_itself(monkeypatch, kind):
    def own(self, found):
        self.own = getattr(self, "own", 0) + 1
        return replace(found, sequence=self.own, device_time=time.monotonic())

    changed(monkeypatch, kind, own)


@pytest.mark.parametrize(
    ("device", "check", "plant", "remark"),
    [
        (
            "kuka_rsi",
            "wrapped",
            lambda m: clock_is_not_counted_on(m, KukaRsi, 2**32 * 1e-3),
            "expected device times that advance by 0.004 s",
        ),
        (
            "ati_net_ft",
            "wrapped",
            lambda m: clock_is_not_counted_on(m, AtiNetFt, 2**32 / 7000.0),
            "expected device times that advance by 0.002 s",
        ),
        (
            "udp",
            "wrapped",
            lambda m: a_count_that_never_ends(m, UdpDevice),
            "expected sequence numbers one by one, found steps of [-4294967295",
        ),
        (
            "dcp",
            "wrapped",
            lambda m: m.setattr(dcp, "number_gap", lambda a, b: b - a),
            "expected",
        ),
        *(
            (
                device,
                "restart",
                lambda m, kind=kind: counts_itself(m, kind),
                "expected a restart to show by an error, by silence, or by a sequence",
            )
            for device, kind in (("udp", UdpDevice), ("shm", ShmDevice), ("kuka_rsi", KukaRsi))
        ),
    ],
)
def test_a_planted_fault_of_a_clock_is_found_and_named(monkeypatch, device, check, plant, remark):
    plant(monkeypatch)
    (found,) = check_device(device, [check])
    assert found.outcome == "failed"
    assert found.remark.startswith(remark), found.remark


def emulators_of_this_process():
    """Return the lines of all emulators whose parent is this process."""
    lines = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            command = (folder / "cmdline").read_text()
            if int(parent) == os.getpid() and "emulator" in command:
                lines.append(command)
    return lines


@pytest.mark.parametrize("call", ["open", "receive", "close"])
def test_an_adapter_that_hangs_is_one_sentence(monkeypatch, call):
    def hang(*_):
        while True:
            time.sleep(0.05)

    monkeypatch.setattr(UdpDevice, call, hang)
    (found,) = check_device("udp", ["back-to-back"], limit_s=4.0)
    assert found.outcome == "failed"
    assert found.remark.startswith(
        "expected the check to end within 4 s, found it in hang (test_clocks.py"
    )
    assert not emulators_of_this_process()
