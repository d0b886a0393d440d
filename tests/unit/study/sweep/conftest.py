"""A rig whose results are known: a' = u and b' = a by Euler's method, in steps of 0.1 s."""

from pathlib import Path

import pytest

from orchestrator.core.simunits import fmu
from orchestrator.core.ssp import write_ssd
from orchestrator.core.system import System
from orchestrator.study import read_experiment
from orchestrator.study.sweep import local, plans_of, run_plans

EXPERIMENT = """
title = "slopes"
[defaults]
step = "100 ms"
stop = "1 s"
algorithm = "gauss-seidel"
[case.flat]
system = "flat.ssd"
[case.slope]
system = "slope.ssd"
[case.slope.fault.noise]
kind = "noise"
on = "a.y -> b.u"
from = 0
sigma = 0.5
[case.slope.measure]
end = { kind = "final", signal = "a.y" }
way = { kind = "final", signal = "b.y" }
apart = { kind = "difference", signal = "a.y", to = "flat", to_signal = "a.y" }
"""
GRID = """
[sweep.grid]
cases = ["slope"]
measures = ["end"]
[sweep.grid.over.slope]
set = ["a.u"]
values = [3.0, 1.0, 2.0]
[sweep.grid.over.stop]
set = ["b.u"]
from = 0
to = 1
count = 2
"""


@pytest.fixture
def folder(tmp_path, crash):
    """A folder with the systems of the experiment."""
    a = System("flat").add("a", fmu(crash), u=1.0)
    write_ssd(a, tmp_path / "flat.ssd")
    write_ssd(a.add("b", fmu(crash)).connect("a.y", "b.u"), tmp_path / "slope.ssd")
    return tmp_path


@pytest.fixture(scope="session")
def crash(small_fmu):
    return small_fmu("crash_on_demand")


@pytest.fixture
def write(folder):
    """Write an experiment file with further tables; returns its path."""

    def make(text, base=EXPERIMENT):
        path = folder / "experiment.toml"
        path.write_text(base + text)
        return path

    return make


@pytest.fixture
def swept(write):
    """Run sweeps of a text; returns their outcomes by name."""

    def run(text, output="out", workers=1, apart=False, **options):
        path = write(text)
        plans = plans_of(read_experiment(path), path.parent)
        executors = local(workers, always_processes=apart)
        return run_plans(plans, path.parent / Path(output), executors, **options)

    return run
