"""``softdock devices``."""

import json
import os
import signal
import subprocess
import sys

import pytest
from pydantic import Field

from orchestrator.cli.devices import _fields
from orchestrator.rig.devices import DeviceSettings
from orchestrator.rig.devices.conformance import EmulatorProcess, bench_of, free_udp_port

SHIPPED = {"udp", "shm", "ati_net_ft", "kuka_rsi"}


def test_list(softdock):
    code, out, err = softdock("devices", "list", "--json")
    assert (code, err) == (0, "")
    listed = {row["name"]: row["summary"] for row in json.loads(out)}
    assert set(listed) >= SHIPPED
    assert all(listed.values())
    assert "kuka_rsi" in softdock("devices", "list")[1]


def test_describe_shows_settings_and_connectors_and_opens_nothing(softdock):
    code, out, err = softdock("devices", "describe", "kuka_rsi?space=joint", "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    ports = {port["name"]: port for port in data["connectors"]["ports"]}
    assert (data["connectors"]["rate"], data["answers"]) == (250.0, True)
    assert (ports["dq6"]["causality"], ports["dq6"]["unit"], ports["dq6"]["max"]) == (
        "input",
        "rad",
        0.1,
    )
    assert ports["q1"]["causality"] == "output"
    assert "sentype" in {field["name"] for field in data["settings"]}


def test_describe_names_what_is_needed(softdock):
    code, out, err = softdock("devices", "describe", "udp")
    assert (code, err) == (0, "")
    assert "connectors: give port, rate, measurements to see them" in out


def test_settings_of_a_file_and_of_the_name(softdock, tmp_path):
    (tmp_path / "rig.toml").write_text(
        "port = 5000\nrate = 100.0\n[measurements]\n"
        'fields = [{name = "x", type = "f32", unit = "m"}]\n'
    )
    command = ("devices", "describe", "udp?rate=50", "--settings", tmp_path / "rig.toml", "--json")
    code, out, err = softdock(*command)
    assert (code, err) == (0, "")
    found = json.loads(out)["connectors"]
    assert (found["rate"], found["ports"][0]["unit"]) == (50.0, "m")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        (("describe", "kuka_rsy"), "Did you mean 'kuka_rsi'"),
        (("describe", "kuka_rsi?prt=3"), "Did you mean 'port'"),
        (("describe", "kuka_rsi", "--settings", "missing.toml"), "missing.toml: cannot be read"),
        (("probe", "udp?port=3"), "missing key 'rate'"),
        (("probe", 'shm?name=not-there&rate=10&measurements=[{"name":"x"}]'), "cannot be opened"),
        (("check", "nothing"), "no device 'nothing'"),
        (("check", "udp", "--only", "lots"), "Did you mean 'lost'"),
        (("emulate", "nothing"), "no device 'nothing'"),
    ],
)
def test_bad_input_ends_with_2(softdock, command, problem):
    code, out, err = softdock("devices", *command)
    assert (code, out) == (2, "")
    assert problem in err


def test_probe_says_what_came(softdock):
    bench = bench_of("kuka_rsi")
    wiring = bench.wiring()
    device = f"kuka_rsi?port={wiring.settings['port']}"
    with EmulatorProcess(bench.emulator, [*wiring.arguments, "--fault", "drop:0.2"]):
        code, out, err = softdock("devices", "probe", device, "--seconds", "0.5", "--json")
        assert (code, err) == (0, "")
        content = json.loads(out)
        assert content["samples"] > 10
        assert content["lost"] > 0
        assert content["last"]["values"][0] == pytest.approx(1.0)
        assert content["connectors"] == ["x", "y", "z", "a", "b", "c"]
        assert content["declared_rate"] == 250.0
        assert content["outputs"][0]["wire"] == "RIst X"
        code, out, _ = softdock("devices", "probe", device, "--seconds", "0.2")
        assert code == 0
        assert "RIst X" in out
        assert "per second (declared 250)" in out
        assert max(map(len, out.splitlines())) <= 100
        assert len(out.splitlines()) <= 24


def test_probe_of_silence_ends_with_1(softdock):
    code, out, err = softdock(
        "devices", "probe", f"kuka_rsi?port={free_udp_port()}", "--seconds", "0.05"
    )
    assert (code, err) == (1, "")
    assert "samples: 0 in" in out


def test_check(softdock):
    names = ("--only", "golden-bytes", "--only", "repeated")
    code, out, err = softdock("devices", "check", "shm", *names)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "pass  golden-bytes: 5 as expected",
        "skip  repeated: shared memory holds the newest sample only",
    ]


def test_a_failed_check_ends_with_1(softdock, monkeypatch):
    from orchestrator.rig.devices.conformance import checks

    def broken(name, bench):
        raise RuntimeError("broken")

    monkeypatch.setitem(checks.CHECKS, "golden-bytes", ("", broken))
    code, out, err = softdock("devices", "check", "udp", "--only", "golden-bytes", "--json")
    assert (code, err) == (1, "")
    (found,) = json.loads(out)["checks"]
    assert (found["outcome"], found["remark"]) == ("failed", "raised RuntimeError: broken")


def test_emulate_runs_until_it_is_ended():
    command = [sys.executable, "-m", "orchestrator", "devices", "emulate", "shm"]
    name = f"softdock-emulate-{os.getpid()}"
    with subprocess.Popen([*command, "--name", name], stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        assert process.stdout.readline() == f"listening on {name} (shm)\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 143
    assert not os.path.exists(f"/dev/shm/{name}")  # noqa: PTH110, S108


def test_emulate_refuses_faults_that_are_not_known():
    command = [sys.executable, "-m", "orchestrator", "devices", "emulate", "shm", "--name", "x"]
    done = subprocess.run(  # noqa: S603
        [*command, "--fault", "dorp:1"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no fault 'dorp:1'. Did you mean 'drop'")


def test_a_default_that_is_made_is_shown_as_it_is_made():
    class Settings(DeviceSettings):
        port: int
        names: list[str] = Field(default_factory=lambda: ["x", "y"])
        last: str = Field(default_factory=lambda data: f"{data['port']}")

    found = {field["name"]: field["default"] for field in _fields(Settings)}
    assert found["names"] == "['x', 'y']"
    assert found["last"] == "from other settings"
    assert found["port"] == ""
    assert found["stale_after"] == "0.1"
