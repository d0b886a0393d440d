"""Growth rate of a captured probe: with exact delays it does not depend on the coupling.

A body of 750 kg on a latched spring of 2510 N/m that acts 16 ms late, with a virtual damper of 20
or 60 N.s/m that acts as late. The plain numbers are those of delays that are longer by what the
algorithm adds at H = 1 ms (0.5 ms for Gauss-Seidel, 1.5 ms for Jacobi), the exact ones those of
16 ms: roots of m s^2 + (b s + k) exp(-s tau) = 0.
"""

import numpy as np
import pytest
from scipy.optimize import fsolve

from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import System
from orchestrator.study.measure import fit_growth

pytestmark = pytest.mark.usefixtures("sample_blocks")

# Fit over 80 s of a record without noise; the interpolation of the history is linear, which at
# H = 8 ms moves sigma by 1.2e-6.
TOLERANCE = 1e-5
ALGORITHMS = ["gauss-seidel", "jacobi"]
EXACT = {20.0: 0.013442, 60.0: -0.013225}


def growth(b, step, algorithm, delay):
    system = (
        System("capture")
        .add("chaser", block("body"), thrust=10.0)
        .add("sheet", block("spring_dashpot"), k=2510.0, d=0.0, latched=True)
        .add("damper", block("virtual_damper"), b=b)
        .connect("chaser.position", "sheet.position_a", delay="16 ms")
        .connect("chaser.velocity", "damper.velocity", delay="16 ms")
        .connect("sheet.force_a", "chaser.force")
        .connect("damper.force", "chaser.virtual_force")
    )
    for rest in ("velocity_a", "position_b", "velocity_b"):
        system = system.set(f"sheet.{rest}", 0.0)
    system = system.set("chaser.m", 750.0)
    with Execution(
        system, step=step, algorithm=algorithm, delay=delay, record=["chaser.position"]
    ) as run:
        run.advance("80 s")
        r = run.recording()
    t = r.time_ns / 1e9
    later = t > 1.0
    return fit_growth(t[later], r.values[later, 0]).sigma


def root(b, tau):
    def equation(parts):
        s = complex(*parts)
        value = 750.0 * s**2 + (b * s + 2510.0) * np.exp(-s * tau)
        return value.real, value.imag

    return fsolve(equation, (0.0, 1.83), xtol=1e-13)[0]


@pytest.mark.parametrize("b", [20.0, 60.0])
@pytest.mark.parametrize("step", ["1 ms", "4 ms", "8 ms"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_exact(algorithm, step, b):
    assert growth(b, step, algorithm, "mean") == pytest.approx(EXACT[b], abs=TOLERANCE)


@pytest.mark.parametrize(
    ("algorithm", "b", "sigma"),
    [
        ("gauss-seidel", 20.0, 0.014278),
        ("gauss-seidel", 60.0, -0.012387),
        ("jacobi", 20.0, 0.015951),
        ("jacobi", 60.0, -0.010711),
    ],
)
def test_plain(algorithm, b, sigma):
    assert growth(b, "1 ms", algorithm, "plain") == pytest.approx(sigma, abs=TOLERANCE)


@pytest.mark.parametrize(("b", "sigma"), [(20.0, 0.033497), (60.0, 0.006891)])
def test_plain_jacobi_at_8_ms_has_the_wrong_sign(b, sigma):
    """The figures of docs/explanation/delay.md: 12 ms more than the loop has."""
    assert growth(b, "8 ms", "jacobi", "plain") == pytest.approx(sigma, abs=TOLERANCE)
    assert growth(b, "8 ms", "jacobi", "plain") == pytest.approx(root(b, 28e-3), abs=TOLERANCE)


@pytest.mark.parametrize("b", [20.0, 60.0])
def test_the_figures_are_those_of_the_delays(b):
    """Without any simulation: the roots of the loop for 16, 16.5 and 17.5 ms."""
    assert root(b, 16.0e-3) == pytest.approx(EXACT[b], abs=TOLERANCE)
    assert root(b, 16.5e-3) == pytest.approx({20.0: 0.014278, 60.0: -0.012387}[b], abs=TOLERANCE)
    assert root(b, 17.5e-3) == pytest.approx({20.0: 0.015951, 60.0: -0.010711}[b], abs=TOLERANCE)
