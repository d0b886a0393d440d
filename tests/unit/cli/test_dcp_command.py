"""``softdock dcp``."""

import json
import os
import signal
import subprocess
import sys

import pytest

from orchestrator.dcp.controller import Controller
from orchestrator.dcp.dcp_file import read_description
from orchestrator.dcp.identifiers import OpMode, Transport
from orchestrator.dcp.plan import make_plan


def test_describe_writes_what_serve_would_serve(softdock, plants, tmp_path):
    fmu, path = str(plants / "PositionAxis.fmu"), tmp_path / "axis.dcp"
    options = ["--step", "2 ms", "--transport", "tcp", "--port", "9", "--mode", "srt"]
    code, out, err = softdock(
        "dcp", "describe", fmu, "--output", str(path), "--heartbeat", "0.5", *options
    )
    assert (code, err) == (0, "")
    description = read_description(path)
    assert str(description.uuid) in out
    assert (description.op_modes, description.heartbeat) == (frozenset({OpMode.SRT}), (1, 2))
    assert description.transports[Transport.TCP_IPV4].port == 9


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["none.fmu", "--step", "1 ms"], "none.fmu: no such FMU"),
        (["PositionAxis.fmu"], "no communication step is given"),
        (["PositionAxis.fmu", "--step", "1 ms", "--output", "a.xml"], "ends in .dcpx or .dcp"),
        (["PositionAxis.fmu", "--step", "1 ms", "--heartbeat", "0"], "expected 0.001 to 3600 s"),
    ],
)
def test_what_cannot_be_described_is_told(softdock, plants, arguments, told):
    code, _, err = softdock("dcp", "describe", str(plants / arguments[0]), *arguments[1:])
    assert code != 0
    assert told in err.replace("\n", " ")


@pytest.mark.slow
def test_serve_until_it_is_told_to_end(plants, tmp_path):
    path = tmp_path / "a.dcpx"
    command = [sys.executable, "-m", "orchestrator", "dcp", "serve", "--json", "--port", "0"]
    command += [str(plants / "PositionAxis.fmu"), "--step", "1 ms", "--description", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        content = json.loads(process.stdout.readline())
        description = read_description(path)
        assert content["uuid"] == str(description.uuid)
        controller = Controller(make_plan(description, mode=OpMode.NRT, patience_s=5.0))
        controller.connect()
        controller.close()
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(10) == 0
