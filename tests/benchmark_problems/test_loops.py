"""Loops that have a solution are solved: also where units are not defined everywhere."""

import numpy as np
import pytest
from benchmark_problems import bouncing_ball, pendulums, resistors
from benchmark_problems.loop_units import Grown, Line, NoNumber, Ramp, Sum, ring
from benchmark_problems.problem import Problem, run
from oracle.reference import Reference

from orchestrator.core.diagnostics import ConvergenceError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block
from orchestrator.core.system import System

MS = 1_000_000


@pytest.mark.parametrize(
    ("algorithm", "options"),
    [
        ("fixed-point", {"acceleration": "none"}),
        ("fixed-point", {"acceleration": "aitken"}),
        ("fixed-point", {}),
        ("newton", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else value.get("acceleration", "default"),
)
def test_divider_to_the_tolerance(algorithm, options):
    found = run(resistors.LINEAR, algorithm, 100 * MS, **options)
    # The residual is below 1e-9 of 8 V; the gain of the loop is 1/4.
    np.testing.assert_allclose(found.rows, resistors.divided(found.times), rtol=0, atol=1.1e-8)


def test_diode_by_newton():
    """From 5 V to 10 V; without shorter steps the exponential is beyond all doubles."""
    found = run(resistors.DIODE, "newton", 100 * MS)
    known = resistors.lit(found.times)
    # Residual below 1e-9 V; the diode's slope of at most 3.7 S turns that into current.
    np.testing.assert_allclose(found.rows[:, 0], known[:, 0], rtol=0, atol=2e-9)
    np.testing.assert_allclose(found.rows[:, 1], known[:, 1], rtol=0, atol=1e-8)


def test_diode_that_refuses_the_first_try():
    """20 V on the diode: exp overflows in Python, and a shorter Newton step is taken."""
    problem = Problem(
        lambda: resistors.make(resistors.Diode, open_start=20.0), resistors.NAMES, None, 200 * MS
    )
    found = run(problem, "newton", 100 * MS)
    np.testing.assert_allclose(
        found.rows, resistors.lit(found.times, start=20.0), rtol=0, atol=1e-8
    )


def test_newton_shortens_a_step_into_where_a_unit_raises():
    """The supply jumps by 20 V within one step: the first Newton step raises OverflowError."""
    problem = Problem(
        lambda: resistors.make(resistors.Diode, slope=200.0), resistors.NAMES, None, 200 * MS
    )
    found = run(problem, "newton", 100 * MS)
    known = resistors.lit(found.times, slope=200.0)
    np.testing.assert_allclose(found.rows, known, rtol=0, atol=1e-8)


def test_shortened_steps_equal_the_reference():
    system = resistors.make(resistors.Diode, slope=200.0)
    engine, other = (Execution(system, step="100 ms", algorithm="newton") for _ in range(2))
    engine.step(2)
    _, rows = Reference(other).run(2)
    for column, name in enumerate(engine.recording().names):
        slot = engine.schedule.slots[name][0]
        np.testing.assert_array_equal(engine.recording().values[:, column], rows[:, slot])


def test_acceleration_solves_what_repetition_cannot():
    """Inertias 1 and 3: one pass multiplies a change by -3."""
    problem = Problem(lambda: pendulums.make((1.0, 3.0)), pendulums.NAMES, None, 200 * MS)
    rows = [
        run(problem, "fixed-point", 20 * MS, acceleration=name).rows
        for name in ("aitken", "anderson")
    ]
    rows.append(run(problem, "newton", 20 * MS).rows)
    for row in rows[1:]:
        np.testing.assert_allclose(row, rows[0], rtol=0, atol=1e-7)  # 10 steps of 1e-9 * 3 / 4
    with pytest.raises(ConvergenceError) as caught:
        run(problem, "fixed-point", 20 * MS, acceleration="none", most_iterations=20)
    for part in (
        "loop through 'driven', 'carried' did",
        "20 iterations",
        "'carried.torque' by ",
        "'newton'",
    ):
        assert part in str(caught.value)


class Mixed(Block):
    """Four signals that depend on one another at once."""

    u: np.ndarray = Input(shape=(4,))
    y: np.ndarray = Output(shape=(4,))

    def step(self, t, h):
        self.y[:] = MIXED @ self.u + np.arange(1.0, 5.0) * (1.0 + 1e3 * (t + h))


class Same(Block):
    """Hands on what it takes."""

    u: np.ndarray = Input(shape=(4,))
    y: np.ndarray = Output(shape=(4,))

    def step(self, t, h):
        self.y[:] = self.u


MIXED = np.array(
    [[0.1, 2.0, 0.3, -0.4], [0.9, -1.5, 0.2, 0.6], [-0.7, 0.8, 1.6, 0.1], [0.5, -0.3, 0.7, -2.2]]
)


def test_anderson_solves_a_linear_loop_of_four_in_six_passes():
    """One for each unknown as GMRES, as its basis is orthogonal; the first, and one that tells."""
    system = System("mixed").add("a", block(Mixed)).add("b", block(Same))
    system = system.connect("a.y", "b.u").connect("b.y", "a.u")
    options = {"acceleration": "anderson", "most_iterations": 6}
    with Execution(
        system, step="1 ms", algorithm="fixed-point", algorithm_options=options
    ) as execution:
        execution.step()
        found = execution.get("a.y")
    np.testing.assert_allclose(
        found, 2.0 * np.linalg.solve(np.eye(4) - MIXED, np.arange(1.0, 5.0)), rtol=1e-8
    )


def test_newton_shortens_a_step_to_where_there_is_no_number():
    """u + u^3 = 3: the first step leads to 3, where the unit gives NaN; the solution is 1.21."""
    system = (
        System("cubic")
        .add("ramp", block(Ramp), k=3000.0)
        .add("cube", block(NoNumber))
        .add("sum", block(Sum))
        .connect("ramp.y", "sum.a")
        .connect("cube.y", "sum.b")
        .connect("sum.y", "cube.x")
    )
    with Execution(system, step="1 ms", algorithm="newton") as execution:
        execution.step()
        u = execution.get("sum.y")
    assert u + u**3 == pytest.approx(3.0, abs=1e-8)  # tolerance 1e-9, slope 5.4


def test_step_doubling_shortens_a_step_whose_loop_does_not_converge():
    """Tolerances that every step meets: what is repeated is repeated for the loop's sake."""
    system = ring(Grown, Line)
    options = {"base": "newton", "relative": 1e3, "absolute": 1e3, "longest": "100 ms"}
    with Execution(
        system, step="100 ms", algorithm="step-doubling", algorithm_options=options
    ) as execution:
        execution.advance("0.2 s")
        assert execution._engine.control[0] > 0
        assert execution.get("one.y") == pytest.approx(0.0, abs=1e-9)
    execution = Execution(system, step="100 ms", algorithm="newton")
    with pytest.raises(ConvergenceError, match=r"'other\.y' by 1 still"):
        execution.step()


def test_newton_counts_iterations_not_the_columns_of_its_jacobian():
    """Twelve unknowns and five iterations: thirteen passes are for the Jacobian."""
    system = System("wide")
    for i in range(12):
        system = system.add(f"line{i}", block(Line), k=-0.5, c=1.0 + i)
        system = system.add(f"back{i}", block(Line), k=1.0)
    order = list(range(12))
    for i in order:
        system = system.connect(f"line{i}.y", f"back{(i + 1) % 12}.x")
        system = system.connect(f"back{i}.y", f"line{i}.x")
    with Execution(
        system, step="1 ms", algorithm="newton", algorithm_options={"most_iterations": 5}
    ) as execution:
        execution.step(3)
        found = [execution.get(f"line{i}.y") for i in order]
    known = np.linalg.solve(np.eye(12) + 0.5 * np.roll(np.eye(12), -1, axis=1), np.arange(12) + 1.0)
    np.testing.assert_allclose(sorted(found), sorted(known), rtol=1e-8)


def test_bouncing_ball_is_of_first_order():
    """The floor answers one step late, wherever in it the ball has met it."""
    for step in (4 * MS, 2 * MS, MS):
        found = run(bouncing_ball.PROBLEM, "gauss-seidel", step)
        late = np.abs(found.rows - bouncing_ball.solution(found.times)).max()
        # Up to two steps late at 4.43 m/s down, then 3.54 m/s up.
        assert late < 2.0 * step / 1e9 * 8.0


def test_jacobi_lets_the_ball_bounce_twice():
    """It answers twice before it has seen the first answer: energy from nowhere."""
    found = run(bouncing_ball.PROBLEM, "jacobi", MS)
    assert found.rows[-1, 0] > 1.0  # higher than it was dropped from
