import logging
from pathlib import Path

import dask
import pandas as pd
import pytest
from distributed import LocalCluster

from orchestrator.cli.sweep import _cluster
from orchestrator.core.diagnostics import LoadError
from orchestrator.study import read_experiment
from orchestrator.study.sweep import cluster, local, plans_of, run_plans

TEXT = """
[case.played]
system = "played.ssd"
[case.played.input.force]
file = "force.csv"
column = "force"
[case.played.measure]
end = { kind = "final", signal = "a.y" }
[sweep.c]
cases = ["slope", "played"]
measures = ["end", "way"]
[sweep.c.over.at]
set = ["a.at"]
values = [2e9]
[sweep.c.over.phase]
set = ["b.phase"]
values = [0, 4]
[sweep.c.over.deadly]
set = ["b.at"]
values = [0.5]
"""


@pytest.fixture(scope="module")
def scheduler():
    once = {"distributed.scheduler.allowed-failures": 1}  # a deadly job kills two workers, not four
    two = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with dask.config.set(once), LocalCluster(**two, silence_logs=logging.CRITICAL) as started:
        yield started.scheduler_address


@pytest.fixture
def plans(write, folder, crash):
    from orchestrator.core.simunits import fmu
    from orchestrator.core.ssp import write_ssd
    from orchestrator.core.system import System

    system = System("played").add("a", fmu(crash)).expose("force", "a.u")
    write_ssd(system, folder / "played.ssd")
    (folder / "force.csv").write_text("time,force\n0,0\n1,2\n")
    path = write(TEXT)
    return plans_of(read_experiment(path), folder)


def table(outcomes):
    return pd.read_csv(outcomes["c"].files[1]).drop(columns="wall time [s]")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_a_cluster_gives_what_this_machine_gives(plans, folder, scheduler):
    here = table(run_plans(plans, folder / "here", local(2)))
    there = table(run_plans(plans, folder / "there", cluster.on_cluster(scheduler)))
    pd.testing.assert_frame_equal(here, there, check_exact=True)
    # The FMU crashes its process where the phase is a step, on every worker that tries.
    deadly = (there["phase"] == 4) & (there["case"] == "slope")
    assert set(there["status"][deadly]) == {"died"}
    assert set(there["status"][~deadly]) == {"done"}


def test_files_are_sent_and_not_read_where_they_were(plans, folder, crash, monkeypatch, tmp_path):
    parcel = cluster._parcel(list(plans.values()))
    assert set(parcel._files) == {str(crash), str(folder / "force.csv")}
    monkeypatch.setattr(cluster, "_paths_of_parcel", {})
    parcel.setup(None)
    plan = plans["c"]
    monkeypatch.setattr(cluster, "run_jobs", lambda context, jobs: context)
    (folder / "force.csv").write_text("time,force\n0,0\n1,9\n")
    other = cluster._parcel(list(plans.values()))
    other.setup(None)  # of another sweep: the same paths with other contents
    sent = cluster.run_sent(parcel.name, plan.context, plan.jobs[:1])
    systems = [case.system for case in sent.cases.values()]
    sources = [c.source.location for system in systems for c in system.components.values()]
    places = {source for source in sources if source.endswith(".fmu")}
    assert len(places) == 1
    assert str(crash) not in places
    (played,) = {
        str(system.value("force.file")) for system in systems if "force" in system.components
    }
    assert Path(played).read_text().endswith("1,2\n")
    parcel.teardown(None)
    other.teardown(None)


def test_other_software_on_a_worker_is_refused(plans, monkeypatch, wording):
    parcel = cluster._parcel(list(plans.values()))
    parcel._version = "0.0.1"
    with wording.raises(LoadError):
        parcel.setup(None)
    parcel = cluster._parcel(list(plans.values()))
    parcel._blocks = {"virtual_damper": "0"}
    with wording.raises(LoadError):
        parcel.setup(None)


@pytest.mark.slow
def test_no_scheduler_is_said(plans, folder, monkeypatch, wording):
    monkeypatch.setattr(cluster, "_PATIENCE", "1 s")
    with wording.raises(LoadError):
        run_plans(plans, folder / "out", _cluster("tcp://127.0.0.1:9"))
