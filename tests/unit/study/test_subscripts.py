"""Scalars of FMUs whose names end in a subscript, such as ``phi[1]``, in all parts of a run."""

import json
import re

import pytest

from orchestrator.core.simunits import fmu
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System
from orchestrator.study import read_experiment, run_experiment

pytestmark = pytest.mark.usefixtures("no_pictures")

TEXT = """
title = "arm"
[defaults]
step = "1 ms"
stop = "20 ms"
formats = ["csv"]
[case.arm]
system = "arm.ssd"
[case.arm.measure]
turned = { kind = "peak", signal = "arm.phi[1]", target = "arm.phi0[1]" }
"""
MOVING = """
[animation.arm]
cases = ["arm"]
frame = { tool = { position = ["arm.tool[1]", "arm.tool[2]", 0] } }
part = { ball = { shape = "sphere", in = "tool", radius = 0.1 } }
"""
LEDGER = """
[ledger.arm]
cases = ["arm"]
account = { arm = { stored = "arm.energy", dissipated = [] } }
[ledger.arm.port]
one = { account = "arm", effort = "arm.torque[1]", flow = "arm.w[1]" }
two = { account = "arm", effort = "arm.torque[2]", displacement = "arm.phi[2]" }
"""


@pytest.fixture
def run(tmp_path, plants):
    arm = fmu(plants / "TwoLinkArm.fmu")
    write_ssd(System("arm").add("arm", arm, **{"torque[1]": 1.0}), tmp_path / "arm.ssd")

    def call(text):
        (tmp_path / "experiment.toml").write_text(text)
        experiment = read_experiment(tmp_path / "experiment.toml")
        return run_experiment(experiment, tmp_path, tmp_path / "out")

    return call


def test_they_are_recorded_and_measured(run, tmp_path):
    outcome = run(TEXT)
    result = outcome.cases["arm"].result
    assert {"arm.phi[1]", "arm.phi[2]", "arm.tool[1]"} <= set(result.names)
    assert outcome.cases["arm"].measured["turned"].unit == "%"
    header = (tmp_path / "out" / "arm.csv").read_text().splitlines()[0]
    assert "arm.phi[1] [rad]" in header


def test_they_are_drawn(run, tmp_path):
    run(TEXT + MOVING)
    page = (tmp_path / "out" / "animations" / "arm.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    assert data["frames"] == ["world", "tool"]


def test_they_are_ports_of_a_ledger(run):
    ledger = run(TEXT + LEDGER).cases["arm"].value("ledger")
    assert ledger is not None
    assert ledger.closes(0.01)
