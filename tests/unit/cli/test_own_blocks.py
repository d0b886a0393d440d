"""Blocks of Python files, wherever a source is named: files, commands, archives, processes."""

import json
import zipfile
from pathlib import Path

import pytest

from orchestrator.core.diagnostics import SoftdockError

CONTROLLER = """
from orchestrator import Block, Input, Output, Parameter

{head}


class PI(Block):
    u: float = Input(start=1.0)
    y: float = Output()
    k: float = Parameter(start=GAIN)

    def step(self, t, h):
        self.y = self.k * self.u
"""
SYSTEM = """
[system]
name = "s"

[component.c]
source = "block:code/controller.py:PI"
values = {{ u = 1.0 }}
{more}
"""
EXPERIMENT = """
title = "own"
[defaults]
step = "1 ms"
stop = "2 ms"
[case.a]
system = "system.toml"
[case.a.measure]
end = { kind = "final", signal = "c.y" }
[case.b]
system = "system.toml"
swap = { c = "block:other/controller.py:PI" }
[case.b.measure]
end = { kind = "final", signal = "c.y" }
[sweep.k]
cases = ["a", "b"]
measures = ["end"]
[sweep.k.over.k]
set = ["c.u"]
values = [1.0, 2.0]
"""


@pytest.fixture
def rig(tmp_path):
    """A folder of an experiment with two controllers of one name."""
    for folder, gain in (("code", 10.0), ("other", 100.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "gains.py").write_text(f"GAIN = {gain}\n")
        text = CONTROLLER.format(head="from .gains import GAIN")
        (tmp_path / folder / "controller.py").write_text(text)
    (tmp_path / "system.toml").write_text(SYSTEM.format(more=""))
    (tmp_path / "experiment.toml").write_text(EXPERIMENT)
    return tmp_path


def measured(folder):
    cases = json.loads((folder / "summary.json").read_text())["cases"]
    return {name: case["measures"]["end"]["value"] for name, case in cases.items()}


@pytest.mark.slow
def test_an_experiment_swaps_own_blocks(rig, softdock, monkeypatch):
    done = softdock("run", rig / "experiment.toml", "--output", rig / "out")
    assert done[0] == 0, done
    assert measured(rig / "out") == {"a": 10.0, "b": 100.0}
    monkeypatch.chdir(rig / "other")  # the command line starts from here
    swap = "c=block:controller.py:PI"
    more = ("--case", "a", "--swap", swap, "--output", rig / "out2")
    done = softdock("run", rig / "experiment.toml", *more)
    assert done[0] == 0, done
    assert measured(rig / "out2") == {"a": 100.0}


@pytest.mark.parametrize("command", ["check", "graph"])
def test_systems_are_checked_and_drawn(rig, softdock, monkeypatch, command):
    monkeypatch.chdir(rig)
    done = softdock(command, "system.toml")
    assert done[0] == 0, done
    (rig / "code/gains.py").write_text("\nGAIN = 1 /\n")
    code, out, err = softdock(command, "system.toml")
    told = " ".join((out + err).split())
    assert code != 0
    assert "component" in told or "c:" in told
    assert f"({rig}/code/gains.py, line 2)" in told.replace("\n", "")


@pytest.mark.parametrize("kind", ["toml", "ssd", "ssp"])
def test_commands_edit_files_with_own_blocks(rig, softdock, monkeypatch, kind):
    from orchestrator import read_system, simulate

    monkeypatch.chdir(rig)
    file = rig / "deep" / f"edited.{kind}"
    file.parent.mkdir()
    assert softdock("system", "convert", "system.toml", file)[0] == 0
    added = softdock("system", "add", file, "d", "block:other/controller.py:PI", "--set", "u=2")
    assert added[0] == 0, added
    swapped = softdock("system", "swap", file, "c", "block:other/controller.py:PI")
    assert swapped[0] == 0, swapped
    shown = softdock("system", "show", file)
    assert shown[0] == 0, shown
    assert "controller.py:PI)" in shown[1]
    result = simulate(read_system(file), step="1 ms", stop="2 ms")
    assert (result["c.y"][-1], result["d.y"][-1]) == (100.0, 200.0)
    if kind == "ssp":
        names = zipfile.ZipFile(file).namelist()
        assert {n for n in names if "gains" in n} == {
            "resources/controller/gains.py",
            "resources/controller_2/gains.py",
        }
        assert "resources/controller/controller.py" in names


def test_an_archive_runs_nothing_outside_of_it(rig, softdock, wording):
    from orchestrator import read_system

    text = softdock("system", "convert", rig / "system.toml", rig / "s.ssd")
    assert text[0] == 0
    ssd = (rig / "s.ssd").read_text()
    assert "block:code/controller.py:PI" in ssd
    for path in (f"{rig}/code/controller.py", "../code/controller.py", "%2e%2e/controller.py"):
        with zipfile.ZipFile(rig / "evil.ssp", "w") as archive:
            changed = ssd.replace("block:code/controller.py", f"block:{path}")
            archive.writestr("SystemStructure.ssd", changed)
        with wording.raises(SoftdockError, code="SSP007", place="component 'c'"):
            read_system(rig / "evil.ssp")


@pytest.mark.slow
def test_processes_of_their_own(rig, softdock):
    more = '\n[component.c.options]\nisolation = "process"\n'
    (rig / "system.toml").write_text(SYSTEM.format(more=more))
    done = softdock("run", rig / "experiment.toml", "--output", rig / "out")
    assert done[0] == 0, done
    assert measured(rig / "out") == {"a": 10.0, "b": 100.0}


def sweep_rows(folder):
    import pandas as pd

    (file,) = Path(folder).rglob("k.csv")
    table = pd.read_csv(file)
    assert set(table["status"]) == {"done"}, table
    return sorted(table["end"])


@pytest.mark.slow
def test_sweeps_in_processes(rig, softdock):
    done = softdock("sweep", rig / "experiment.toml", "--workers", "2", "--output", rig / "out")
    assert done[0] == 0, done
    assert sweep_rows(rig / "out") == [10.0, 20.0, 100.0, 200.0]


def test_a_sweep_runs_again_if_a_file_has_changed(rig):
    from orchestrator.study import read_experiment
    from orchestrator.study.sweep import local, plans_of, run_plans

    def ends():
        plans = plans_of(read_experiment(rig / "experiment.toml"), rig)
        run_plans(plans, rig / "out", local(1))
        return sweep_rows(rig / "out")

    assert ends() == [10.0, 20.0, 100.0, 200.0]
    (rig / "other/gains.py").write_text("GAIN = 3.0\n")
    assert ends() == [3.0, 6.0, 10.0, 20.0]


def test_a_cluster_is_sent_the_files(rig, monkeypatch):
    from orchestrator.study import read_experiment
    from orchestrator.study.sweep import cluster, plans_of

    plans = plans_of(read_experiment(rig / "experiment.toml"), rig)
    parcel = cluster._parcel(list(plans.values()))
    assert not parcel._blocks
    monkeypatch.setattr(cluster, "_paths_of_parcel", {})
    parcel.setup(None)
    for file in rig.rglob("*.py"):
        file.unlink()
    plan = plans["k"]
    records = cluster.run_sent(parcel.name, plan.context, list(plan.jobs))
    assert {record.status for record in records} == {"done"}, records
    parcel.teardown(None)


@pytest.mark.parametrize("how", ["--no-python", "--python"])
def test_own_blocks_are_exported(rig, softdock, how):
    from orchestrator import System, fmu, simulate

    for folder in ("code", "other"):
        name = f"{rig / folder}/controller.py:PI"
        done = softdock("export", "block", name, how, "--output", rig / folder / "PI.fmu")
        assert done[0] == 0, done
    if how == "--python":
        names = zipfile.ZipFile(rig / "code/PI.fmu").namelist()
        (main_file,) = [n for n in names if n.endswith("/controller.py")]
        assert main_file.replace("controller.py", "gains.py") in names
        return
    system = System("s").add("a", fmu(rig / "code/PI.fmu"), u=1.0)
    system = system.add("b", fmu(rig / "other/PI.fmu"), u=1.0)
    result = simulate(system, step="1 ms", stop="2 ms")
    assert (result["a.y"][-1], result["b.y"][-1]) == (10.0, 100.0)


def test_systems_of_own_blocks_are_portable(rig, softdock):
    from orchestrator import read_system, simulate

    done = softdock(
        "export", "ssp", rig / "system.toml", "--portable", "--step", "1 ms",
        "--output", rig / "portable.ssp",
    )  # fmt: skip
    assert done[0] == 0, done
    result = simulate(read_system(rig / "portable.ssp"), step="1 ms", stop="2 ms")
    assert result["c.y"][-1] == 10.0


def test_a_class_of_a_file_is_misspelt(rig, softdock, monkeypatch):
    monkeypatch.chdir(rig)
    more = ("--case", "a", "--swap", "c=block:code/controller.py:PIs")
    code, _, err = softdock("run", "experiment.toml", *more)
    assert code == 2
    assert "has no block 'PIs'. Did you mean 'PI'?" in " ".join(err.split())
