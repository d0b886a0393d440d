"""What a sweep says of its cases before the first run."""

from orchestrator import System, fmu
from orchestrator.author import write_toml
from orchestrator.study import read_experiment
from orchestrator.study.sweep import plans_of

TEXT = """
title = "x"
[case.one]
system = "system.toml"
step = "1 ms"
stop = "2 ms"
measure = { end = { signal = "probe.g", kind = "final" } }
[sweep.c]
cases = ["one"]
measures = ["end"]
[sweep.c.over.push]
set = ["probe.u"]
values = [1.0, 2.0]
"""


def test_unfed_inputs_and_flaws_are_said_once(make_fmu, tmp_path, caplog):
    path = make_fmu(lambda text: text.replace('<Real unit="N"/>', '<Real unit="furlong"/>'))
    write_toml(System("s").add("probe", fmu(path), flag=False), tmp_path / "system.toml")
    (tmp_path / "experiment.toml").write_text(TEXT)
    with caplog.at_level("WARNING"):
        plans = plans_of(read_experiment(tmp_path / "experiment.toml"), tmp_path)
    assert len(plans["c"].distinct) == 2
    flaw, kept = caplog.messages
    assert flaw.startswith("case 'one': component 'probe' (Probe.fmu): its modelDescription.xml")
    assert kept == (
        "case 'one': nothing feeds these inputs, they keep what their FMUs begin with:"
        " probe.u = 0.0 N, probe.n = 0"
    )
