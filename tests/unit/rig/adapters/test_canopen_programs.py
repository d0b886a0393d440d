"""The adapter of CiA 402 and its emulator as two programs on a pseudo terminal."""

import csv
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from canopen_bench import drive, settings

from hw_adapters.canopen_cia402.adapter import CanopenCia402
from orchestrator.rig.devices import DeviceError
from orchestrator.rig.devices.conformance import EmulatorProcess

EMULATOR = "hw_adapters.canopen_cia402.emulator"


def on_wire(path, **more):
    given = settings(drive(), drive("load", 2, "cst"), pace="clock", cycle_ms=5, **more)
    return given.model_copy(update={"channel": str(path)})


@pytest.mark.slow
def test_another_bitrate_and_an_absent_node_are_told(tmp_path, wording):
    path = tmp_path / "can"
    with EmulatorProcess(EMULATOR, ["--link", str(path), "--nodes", "1", "--bitrate", "500000"]):
        wrong = CanopenCia402(on_wire(path, start_timeout=0.1))
        with wording.raises(DeviceError):
            wrong.open()
        wrong.close()
        right = CanopenCia402(on_wire(path, bitrate=500_000, start_timeout=0.1))
        with wording.raises(DeviceError):
            right.open()
        right.close()


def events(path):
    with path.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["event"] != "cycle"]


HOST = """
import sys
from hw_adapters.canopen_cia402.adapter import CanopenCia402
device = CanopenCia402(CanopenCia402.Settings.model_validate_json(sys.argv[1]))
device.open()
print("open", flush=True)
while True:
    if device.receive(0.1) is not None:
        device.send((5.0, 0.0))
"""


@pytest.mark.alone
@pytest.mark.slow
def test_drives_stop_by_themselves_when_their_master_is_killed(tmp_path):
    path, log = tmp_path / "can", tmp_path / "log.csv"
    options = ["--nodes", "1,2", "--one-shaft", "--sync-tolerance", "1000"]
    given = on_wire(path, heartbeat_timeout_ms=200)
    with EmulatorProcess(EMULATOR, ["--link", str(path), "--log", str(log), *options]):
        host = subprocess.Popen(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", HOST, given.model_dump_json()], stdout=subprocess.PIPE
        )
        assert host.stdout.readline() == b"open\n"
        time.sleep(0.3)
        killed = time.monotonic()
        os.kill(host.pid, signal.SIGKILL)
        host.communicate()
        time.sleep(0.8)
    found = {(row["event"], row["node"]): row for row in events(log)}
    for node in "12":
        stop, rest = found["quick_stop", node], found["switch_on_disabled", node]
        lost = found["heartbeat_lost", node]
        assert stop["code"] == "8130"
        assert float(stop["velocity"]) > 4.0
        # 200 ms from the last heartbeat, 20 ms apart; the drive looks every 2 ms
        assert 0.2 <= float(lost["silent_ms"]) * 1e-3 < 1.0
        assert float(stop["time_s"]) >= killed
        assert abs(float(rest["velocity"])) <= 2e-3
    assert re.fullmatch(r"\d+\.\d+", found["quick_stop", "1"]["time_s"])
