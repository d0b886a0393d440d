"""Emulators of a case: what is planned, how long they live."""

import os
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest
from processes import gone

from orchestrator.core.diagnostics import DescriptionError, DeviceError
from orchestrator.rig.devices.conformance import EmulatorProcess
from orchestrator.rig.runs.emulation import emulating, with_emulators
from orchestrator.study.experiment import Experiment
from orchestrator.study.prepare.prepared_case import EmulatorPlan

RIG = {
    "title": "rig",
    "emulators": {
        "sensor": {"rate": 1000, "both-sides": True, "fault": "late:2"},
        "robot": {"delay": 16, "link": "{sensor.link}"},
    },
    "case": {
        "model": {"system": "x.ssd"},
        "rig": {
            "system": "x.ssd",
            "devices": {
                "robot": {"device": "kuka_rsi", "axes": ["x"]},
                "sensor": {"device": "ati_net_ft", "rate": 1000},
            },
            "emulators": {"robot": {"delay": 32}},
        },
    },
}


def planned(name, **changed):
    experiment = Experiment.model_validate(RIG | changed)
    return with_emulators(experiment, name, experiment.case[name])


def test_devices_are_told_where_their_emulators_are():
    case, plans = planned("rig")
    assert list(plans) == ["sensor", "robot"]
    port = case.devices["robot"].settings["port"]
    robot = plans["robot"].arguments
    assert robot[robot.index("--peer") + 1] == f"127.0.0.1:{port}"
    assert robot[-4:] == ("--delay", "32", "--link", "{sensor.link}")  # the case's own wins
    sensor = plans["sensor"].arguments
    settings = case.devices["sensor"].settings
    assert sensor[sensor.index("--port") + 1] == str(settings["device_port"])
    assert settings["rate"] == 1000  # of the file, not of the bench
    assert sensor[-5:] == ("--rate", "1000", "--both-sides", "--fault", "late:2")


def test_a_case_without_the_devices_has_no_emulators():
    case, plans = planned("model")
    assert (case.devices, plans) == ({}, {})


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"emulators": {"robto": {}}},
            "no case has a device in place of 'robto'. Did you mean",
        ),
        ({"emulators": {"robot": {"delay": [1]}}}, "emulators"),
    ],
)
def test_a_wrong_table(changed, said):
    with pytest.raises(ValueError, match=said):
        planned("rig", **changed)


def test_an_emulator_of_what_is_no_device(wording):
    rig = RIG["case"]["rig"] | {"emulators": {"chaser": {}}}
    with wording.raises(DescriptionError):
        planned("rig", case={"rig": rig})


def case_of(**plans):
    return SimpleNamespace(emulators=plans)


FAKE = """
import json, sys, time
print(json.dumps({"link": ["127.0.0.1", 4711], "told": " ".join(sys.argv[1:])}), flush=True)
time.sleep(60)
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    (tmp_path / "fake_emulator.py").write_text(FAKE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    return "fake_emulator"


def test_what_follows_knows_where_the_first_is(fake, monkeypatch):
    seen = []
    stop = EmulatorProcess.stop
    monkeypatch.setattr(EmulatorProcess, "stop", lambda p: (seen.append(p), stop(p))[1])
    plans = {"a": EmulatorPlan(fake, ()), "b": EmulatorPlan(fake, ("--link", "{a.link}"))}
    with pytest.raises(KeyboardInterrupt), emulating(case_of(**plans), None):
        raise KeyboardInterrupt
    assert [p.places["told"] for p in seen] == ["--json --link 127.0.0.1:4711", "--json"]
    assert not any(p.is_running for p in seen)


def test_a_place_that_is_not_there(fake, wording):
    plans = {"b": EmulatorPlan(fake, ("--link", "{a.link}"))}
    with wording.raises(DeviceError), emulating(case_of(**plans), None):
        pytest.fail("it was started")


def test_an_emulator_that_writes_much_to_standard_error_is_not_held_up(tmp_path, fake):
    more = "sys.stderr.write('x' * (1 << 20) + '\\nfailed')\nsys.exit(3)\n"
    (tmp_path / "talkative.py").write_text(FAKE.replace("time.sleep(60)", more))
    emulator = EmulatorProcess("talkative", ())
    assert emulator._process.first_line(20.0)
    assert emulator._process.wait(20.0)
    assert emulator.stop() == 3
    assert emulator.said.endswith("failed")


def test_an_emulator_ends_with_who_started_it(fake):
    script = (
        "from orchestrator.rig.devices.conformance import EmulatorProcess\n"
        f"with EmulatorProcess('{fake}', ()) as p:\n"
        "    print(p._process.pid, flush=True)\n    import time; time.sleep(60)\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:  # noqa: S603
        emulator = int(run.stdout.readline())
        run.send_signal(signal.SIGKILL)
        run.wait()
        assert gone(emulator)
