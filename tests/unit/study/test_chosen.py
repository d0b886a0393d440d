"""What a system wants of the master counts, unless a run says otherwise."""

from dataclasses import replace

import pytest

from orchestrator import System, block, simulate, start
from orchestrator.core.diagnostics import DescriptionError, UnknownNameError
from orchestrator.core.master import MasterSettings
from orchestrator.core.system import DefaultExperiment


@pytest.fixture
def wanting(sample_blocks):
    system = System("s").add("slow", block("integrator")).add("fast", block("integrator"), y0=1.0)
    system = system.connect("slow.y", "fast.u").connect("fast.y", "slow.u")
    wants = DefaultExperiment(
        0, 10_000_000, 1_000_000, "fixed-point", {"tolerance": 1e-9}, {}, early_return=False
    )
    return replace(system, experiment=wants)


def test_options_are_those_of_the_system(wanting):
    settings = MasterSettings.of(wanting)
    assert (settings.algorithm, dict(settings.options)) == ("fixed-point", {"tolerance": 1e-9})
    assert settings.early_return is False
    assert dict(MasterSettings.of(wanting, options={"tolerance": 1e-3}).options) == {
        "tolerance": 1e-3
    }
    assert MasterSettings.of(wanting, early_return=True).early_return is True


def test_options_are_for_their_own_algorithm(wanting):
    assert dict(MasterSettings.of(wanting, "fixed-point").options) == {"tolerance": 1e-9}
    assert dict(MasterSettings.of(wanting, "jacobi").options) == {}
    assert MasterSettings.of(System("s")) == MasterSettings(
        "gauss-seidel", {}, {}, early_return=True
    )


@pytest.mark.parametrize("run", [simulate, start])
def test_runs_are_given_them(wanting, run):
    wrong = replace(wanting.experiment, algorithm_options={"tolerence": 1e-9})
    with pytest.raises(UnknownNameError, match="tolerence"):
        run(replace(wanting, experiment=wrong))
    wrong = replace(wanting.experiment, rates={"slwo": 2})
    with pytest.raises(DescriptionError, match="slwo"):
        run(replace(wanting, experiment=wrong))


def test_rates_are_stepped(wanting):
    wants = DefaultExperiment(0, 10_000_000, 1_000_000, "jacobi", rates={"slow": 5})
    result = simulate(replace(wanting, experiment=wants))
    slow = result.values[:, result.names.index("slow.y")]
    assert len(set(slow)) <= 3
    every = simulate(replace(wanting, experiment=wants), rates={})
    assert len(set(every.values[:, every.names.index("slow.y")])) > len(set(slow))
