"""The contact with a robot's axis: what a staircase's ripple does, known without a run."""

from pathlib import Path

import pytest

from orchestrator import read_system, simulate
from orchestrator.loops import linear_system
from orchestrator.study.measure import fit_growth

EXAMPLE = Path(__file__).parents[3] / "examples" / "epos" / "capture_axis.ssd"


@pytest.mark.parametrize(
    ("bandwidth", "exact", "sampled", "share"),
    [(15.0, 0.0116797, 0.0135679, 1e-6), (40.0, -0.00389, 0.0088469, 3e-4)],
)
def test_growth_is_that_of_the_run(plants, bandwidth, exact, sampled, share):
    """At 8 ms a stable rig is called unstable; the share is what the FMUs' own solver leaves."""
    assert plants.is_dir()
    system = read_system(EXAMPLE).set("axis.bandwidth", bandwidth)
    (account,) = linear_system(system, step="8 ms", delay="mean").loop_accounts()
    mode = account.modes[0]
    assert mode.exact.real == pytest.approx(exact, abs=5e-6)
    assert mode.growth == pytest.approx(sampled, abs=1e-6)
    assert account.warnings()
    assert mode.is_misjudged is (bandwidth == 40.0)
    tight = system
    for name in ("axis", "chaser"):
        tight = tight.with_options(name, interface="me", tolerance=1e-12)
    for made, relative in ((system, share), (tight, 1e-8)):
        run = simulate(made, step="8 ms", stop="60 s", delay="mean")
        fit = fit_growth(run.time, run["chaser.position"], start=1.0)
        assert mode.growth == pytest.approx(fit.sigma, rel=relative)
