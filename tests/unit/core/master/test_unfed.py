"""Inputs that nothing feeds: whoever runs a system gives them what their FMU begins with."""

import pytest

from orchestrator.author import write_toml
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block, fmu
from orchestrator.core.system import System
from orchestrator.study import run_experiment, simulate
from orchestrator.study.experiment import Case, Experiment

pytestmark = pytest.mark.usefixtures("sample_blocks")

NOTE = (
    "nothing feeds these inputs, they keep what their FMUs begin with: probe.u = 0.0 N, probe.n = 0"
)


def test_simulate_and_execution_take_the_start_values(probe):
    system = System("s").add("probe", fmu(probe), flag=False)
    result = simulate(system, step="1 ms", stop="2 ms")
    assert result.notes == (NOTE,)
    with Execution(system, step="1 ms") as execution:
        assert execution.notes == (NOTE,)
        execution.set("probe.u", 2.0)
        execution.step()
        assert execution.get("probe.g") == 4.0


def test_an_input_of_the_system_itself_without_a_value_feeds_nothing(probe):
    system = System("s").add("probe", fmu(probe), flag=False).expose("force", "probe.u")
    assert simulate(system, step="1 ms", stop="2 ms").notes == (NOTE,)
    held = system.set("force", 3.0)
    assert "probe.u" not in "".join(simulate(held, step="1 ms", stop="2 ms").notes)


def test_an_input_without_a_start_value_is_still_an_error(make_fmu, wording):
    path = make_fmu(lambda text: text.replace('unit="N" start="0"', 'unit="N"', 1))
    with wording.raises(DescriptionError, code="CON109", key="probe.u"):
        simulate(System("s").add("probe", fmu(path), n=0, flag=False), step="1 ms", stop="2 ms")


def test_an_input_of_a_block_is_still_an_error():
    with pytest.raises(DescriptionError):
        simulate(System("s").add("gain", block("gain")), step="1 ms", stop="2 ms")


@pytest.mark.slow
def test_a_run_of_a_file_says_the_same(probe, tmp_path):
    system = System("s").add("probe", fmu(probe), flag=False)
    write_toml(system, tmp_path / "system.toml")
    experiment = Experiment(
        title="x", case={"one": Case(system="system.toml", step="1 ms", stop="2 ms")}
    )
    outcome = run_experiment(experiment, tmp_path, tmp_path / "results")
    assert outcome.cases["one"].result.notes == (NOTE,)
