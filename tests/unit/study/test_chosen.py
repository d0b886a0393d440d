"""What a system wants of the master counts, unless a run says otherwise."""

from dataclasses import replace
from functools import partial

import pytest

from orchestrator import System, block, simulate, start
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.master import ExecutionSettings
from orchestrator.core.system import DefaultExperiment
from orchestrator.export.system import export_system
from orchestrator.loops import linear_system


@pytest.fixture
def wanting(sample_blocks):
    system = System("s").add("slow", block("integrator")).add("fast", block("integrator"), y0=1.0)
    system = system.connect("slow.y", "fast.u").connect("fast.y", "slow.u")
    wants = DefaultExperiment(
        0, 10_000_000, 1_000_000, "fixed-point", {"tolerance": 1e-9}, {}, early_return=False
    )
    return replace(system, experiment=wants)


def test_options_are_those_of_the_system(wanting):
    settings = ExecutionSettings.of(wanting)
    chosen = settings.algorithm, dict(settings.algorithm_options)
    assert chosen == ("fixed-point", {"tolerance": 1e-9})
    assert settings.early_return is False
    other = ExecutionSettings.of(wanting, algorithm_options={"tolerance": 1e-3}, early_return=True)
    assert (dict(other.algorithm_options), other.early_return) == ({"tolerance": 1e-3}, True)


def test_options_are_for_their_own_algorithm(wanting):
    own = ExecutionSettings.of(wanting, algorithm="fixed-point")
    assert dict(own.algorithm_options) == {"tolerance": 1e-9}
    other = ExecutionSettings.of(wanting, algorithm="jacobi")
    assert dict(other.algorithm_options) == {}
    found = ExecutionSettings.of(System("s"))
    assert (found.algorithm, found.step, found.early_return) == ("gauss-seidel", None, True)


@pytest.mark.parametrize("run", [simulate, start])
def test_runs_are_given_them(wanting, run, wording):
    wrong = replace(wanting.experiment, algorithm_options={"tolerence": 1e-9})
    with wording.raises(UnknownNameError):
        run(replace(wanting, experiment=wrong))
    wrong = replace(wanting.experiment, rates={"slwo": 2})
    with wording.raises(DescriptionError):
        run(replace(wanting, experiment=wrong))


def test_rates_are_stepped(wanting):
    wants = DefaultExperiment(0, 10_000_000, 1_000_000, "jacobi", rates={"slow": 5})
    result = simulate(replace(wanting, experiment=wants))
    slow = result.values[:, result.names.index("slow.y")]
    assert len(set(slow)) <= 3
    every = simulate(replace(wanting, experiment=wants), rates={})
    assert len(set(every.values[:, every.names.index("slow.y")])) > len(set(slow))


def test_what_is_none_of_them_is_refused_alike_whatever_is_done(wanting, tmp_path, wording):
    faces = [simulate, start, linear_system, partial(export_system, path=tmp_path / "w.fmu")]
    for face in faces:
        with wording.raises(UnknownNameError):
            face(wanting, delay="men")
        with wording.raises(UnknownNameError):
            face(wanting, stpe=1.0)
