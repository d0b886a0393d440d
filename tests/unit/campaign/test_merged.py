"""Where the options of a case come from: the case, the experiment's defaults, then the system."""

from __future__ import annotations

from orchestrator.campaign.experiment import RunOptions
from orchestrator.campaign.prepare import merged
from orchestrator.system import DefaultExperiment, System

NEWTON = DefaultExperiment(
    algorithm="newton",
    algorithm_options={"tolerance": 1e-8},
    rates={"a": 5},
    early_return=False,
)
SYSTEM = System("s", experiment=NEWTON)
NONE = RunOptions()


def test_what_nothing_says_comes_from_the_system() -> None:
    options = merged(NONE, NONE, SYSTEM)
    assert options.algorithm_options == {"tolerance": 1e-8}
    assert options.rates == {"a": 5}
    assert options.early_return is False
    assert merged(NONE, NONE) == NONE
    assert merged(NONE, NONE, System("s")) == NONE


def test_the_case_wins_over_defaults_and_those_over_the_system() -> None:
    case = RunOptions(rates={"a": 1})
    defaults = RunOptions(rates={"a": 2}, early_return=True, algorithm_options={"order": 2})
    options = merged(case, defaults, SYSTEM)
    assert (options.rates, options.early_return) == ({"a": 1}, True)
    assert options.algorithm_options == {"order": 2}


def test_options_of_another_algorithm_are_left() -> None:
    assert merged(RunOptions(algorithm="jacobi"), NONE, SYSTEM).algorithm_options is None
    named = merged(RunOptions(algorithm="newton"), NONE, SYSTEM)
    assert named.algorithm_options == {"tolerance": 1e-8}
