"""Where stepping is stable: the run against the matrix by which one step multiplies the state."""

import numpy as np
import pytest
from benchmark_problems import oscillator
from benchmark_problems.exact import propagator
from benchmark_problems.problem import Problem, run

M1, K1, C1 = oscillator.ONE
M2, K2, C2 = oscillator.TWO


def step_matrix(algorithm, h, kj, cj):
    """Of (x1, v1, x2, v2, F), by hand from the two units' own matrices."""
    phi1, gamma1 = propagator(((0.0, 1.0), (-K1 / M1, -C1 / M1)), ((0.0,), (1 / M1,)), h)
    a2 = ((0.0, 1.0), (-(K2 + kj) / M2, -(C2 + cj) / M2))
    phi2, gamma2 = propagator(a2, ((0.0, 0.0), (kj / M2, cj / M2)), h)
    values = np.zeros((2, 5))
    values[:, :2], values[:, 4:] = phi1, gamma1
    seen = values if algorithm == "gauss-seidel" else np.eye(5)[:2]
    two = gamma2 @ seen
    two[:, 2:4] += phi2
    force = np.array([[kj, cj]]) @ (two - seen)
    return np.vstack([values, two, force])


def force_problem(kj, cj, steps, step_ns):
    return Problem(
        lambda: oscillator.by_force((kj, cj)), oscillator.NAMES, lambda _: None, steps * step_ns
    )


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize(
    ("kj", "step_ms"), [(20.0, 10), (20.0, 100), (200.0, 10), (200.0, 100)], ids=str
)
def test_run_multiplies_by_the_step_matrix(algorithm, kj, step_ms):
    cj = 0.5
    x = np.array([*oscillator.START, 0.0])
    x[4] = kj * (x[2] - x[0]) + cj * (x[3] - x[1])
    steps = 40
    found = run(force_problem(kj, cj, steps, step_ms * 10**6), algorithm, step_ms * 10**6).rows
    matrix = step_matrix(algorithm, step_ms / 1e3, kj, cj)
    for row in found:
        np.testing.assert_allclose(row, x[:4], rtol=1e-9, atol=1e-9 * np.abs(x).max())
        x = matrix @ x


def test_stable_and_unstable_regions():
    """Damping and a short step keep Gauss-Seidel stable; Jacobi is unstable first."""
    radius = {
        (algorithm, step_ms): np.abs(
            np.linalg.eigvals(step_matrix(algorithm, step_ms / 1e3, 20.0, 0.5))
        ).max()
        for algorithm in ("jacobi", "gauss-seidel")
        for step_ms in (20, 32, 100)
    }
    assert radius["jacobi", 20] < 1
    assert radius["gauss-seidel", 32] < 1 < radius["jacobi", 32]
    assert radius["gauss-seidel", 100] > 1
    for (algorithm, step_ms), rho in radius.items():
        steps = 80_000 // step_ms
        found = run(force_problem(20.0, 0.5, steps, step_ms * 10**6), algorithm, step_ms * 10**6)
        grown = np.abs(found.rows[-1]).max() / np.abs(found.rows[0]).max()
        assert (grown > 1) == (rho > 1), (algorithm, step_ms)


def test_iteration_is_stable_where_both_are_not():
    """A joint of 200 N/m at 100 ms, a quarter of its period of 0.36 s."""
    problem = force_problem(200.0, 0.5, 200, 100 * 10**6)
    assert (
        np.abs(run(problem, "newton", 100 * 10**6).rows).max() < 20.0
    )  # m/s; the joint is 1.5 m long
    for algorithm in ("jacobi", "gauss-seidel"):
        assert np.abs(run(problem, algorithm, 100 * 10**6).rows).max() > 1e6
