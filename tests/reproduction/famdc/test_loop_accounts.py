"""The growth of the uncompensated rigs, from linear models of their FMUs, without a run."""

from pathlib import Path

import pytest

from orchestrator.cli.analyze_loop import case_options
from orchestrator.loops import linear_system
from orchestrator.study.experiment import RunOptions

EXAMPLE = Path(__file__).parents[3] / "examples" / "famdc" / "experiment.toml"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "growth"),
    [
        ("axial_uncompensated", 0.956),
        ("axial_3I_uncompensated", 0.598),
        ("axial_3II_uncompensated", 0.758),
    ],
)
def test_uncompensated_rigs_grow_as_their_runs(plants, case, growth):
    """docs/reference/famdc.md has the growth of the runs to three digits."""
    assert plants.is_dir()
    name, system, options = case_options(EXAMPLE, case, None, RunOptions())
    linear = linear_system(system, **options)
    (account,) = linear.loop_accounts()
    assert name == case
    assert account.modes[0].growth == pytest.approx(growth, abs=6e-4)
    # The master holds the loop to its delay: what is left is the ripple of its staircase.
    assert abs(account.modes[0].error) < 1e-4
    assert account.warnings() == ()
