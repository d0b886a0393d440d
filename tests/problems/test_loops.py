"""Loops: solved where they have a solution; what is said where they have none."""

import math

import numpy as np
import pytest
from problems import bouncing_ball, pendulums, resistors
from problems.exact import Exact
from problems.problem import Problem, run

from orchestrator.errors import (
    AlgebraicLoopError,
    ConvergenceError,
    StepError,
    StepSizeUnderflowError,
)
from orchestrator.master import Execution
from orchestrator.master.reference import Reference
from orchestrator.simunits import Input, Output, Parameter, State, block
from orchestrator.system import System

MS = 1_000_000


class Square(Exact):
    """y = c + x^2, a parabola; x = y has two solutions, one or none."""

    x: float = Input()
    y: float = Output()
    c: float = Parameter(start=0.0)
    late: float = Parameter(start=math.inf)
    clock: float = State(start=0.0)

    def step(self, t, h):
        self.clock = t + h
        self.move(h)

    def move(self, h):
        self.y = self.x * self.x + self.c + (1.0 if self.clock > self.late else 0.0)


class Line(Exact):
    """y = k x + c."""

    x: float = Input()
    y: float = Output()
    k: float = Parameter(start=1.0)
    c: float = Parameter(start=0.0)

    def move(self, h):
        self.y = self.k * self.x + self.c


class Root(Exact):
    """y = c - sqrt(x + t): Python raises below zero."""

    x: float = Input()
    y: float = Output()
    c: float = Parameter(start=1.0)

    def move(self, h):
        self.y = self.c - 4.0 * math.sqrt(self.x)


class Grown(Exact):
    """y = x / 2; y = x + 1, which no loop with y = x meets, where a step is longer than 50 ms."""

    x: float = Input()
    y: float = Output()

    def move(self, h):
        self.y = self.x + 1.0 if h > 0.05 else 0.5 * self.x


class Broken(Exact):
    """y = x until 2 ms; then it fails, or takes somebody's Ctrl-C at the second try of a step."""

    x: float = Input()
    y: float = Output()
    interrupt: bool = Parameter(start=False)

    def step(self, t, h):
        if self.interrupt and self.x != self.y:
            raise KeyboardInterrupt
        if t >= 0.002:
            raise RuntimeError("broken")
        self.move(h)

    def move(self, h):
        self.y = self.x


class Ramp(Exact):
    """y rises by ``k`` a second from ``y0``."""

    y: float = Output(depends_on=())
    k: float = Parameter(start=1.0)
    y0: float = Parameter(start=0.0)

    def begin(self):
        self.y = self.y0

    def move(self, h):
        self.y += self.k * h


class NoNumber(Exact):
    """y = -x, but no number above 2."""

    x: float = Input()
    y: float = Output()

    def move(self, h):
        self.y = -self.x if self.x < 2.0 else math.nan


def ring(one, other, *, values=None, other_values=None):
    return (
        System("ring")
        .add("one", block(one), **(values or {}))
        .add("other", block(other), **(other_values or {}))
        .connect("one.y", "other.x")
        .connect("other.y", "one.x")
    )


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
    for found in rows[1:]:
        np.testing.assert_allclose(found, rows[0], rtol=0, atol=1e-7)  # 10 steps of 1e-9 * 3 / 4
    with pytest.raises(ConvergenceError) as caught:
        run(problem, "fixed-point", 20 * MS, acceleration="none", most_iterations=20)
    for part in (
        "loop through 'driven', 'carried' did",
        "20 iterations",
        "'carried.torque' by ",
        "'newton'",
    ):
        assert part in str(caught.value)


@pytest.mark.parametrize(("algorithm", "tries"), [("newton", 50), ("fixed-point", 50)])
def test_loop_without_a_solution_at_the_start(algorithm, tries):
    system = ring(Square, Line, values={"c": 1.0})
    with pytest.raises(ConvergenceError) as caught:
        Execution(system, step="1 ms", algorithm=algorithm)
    text = str(caught.value)
    assert text.startswith(
        "the loop through 'one', 'other' did not converge at the start in 50 iterations"
    )
    assert "'other.y' by " in text
    assert "it may have no solution there" in text


def test_loop_that_loses_its_solution():
    """x = x^2 + 0.1 has a solution, x = x^2 + 1.1 has none."""
    system = ring(Square, Line, values={"c": 0.1, "late": 0.0025})
    for algorithm in ("newton", "fixed-point"):
        with Execution(system, step="1 ms", algorithm=algorithm) as execution:
            with pytest.raises(ConvergenceError, match=r"in the step from t = 0\.002 s in \d+ it"):
                execution.step(10)
            assert execution.recording().time_ns[-1] == 2 * MS  # what was good stays
            with pytest.raises(StepError, match=r"ended at t = 0\.002 s: a loop did not converge"):
                execution.step()


def test_iteration_that_runs_away_names_the_unit_that_refused():
    """y = 1e9 x: the fixed point leaves all numbers before it gives up."""
    system = (
        System("away")
        .add("ramp", block(Ramp))
        .add("sum", block(Sum))
        .add("line", block(Line), k=-1e9)
        .connect("ramp.y", "sum.a")
        .connect("line.y", "sum.b")
        .connect("sum.y", "line.x")
    )
    with (
        Execution(
            system,
            step="1 ms",
            algorithm="fixed-point",
            algorithm_options={"acceleration": "none"},
        ) as execution,
        pytest.raises(ConvergenceError) as caught,
    ):
        execution.step()
    text = str(caught.value)
    assert "did not converge in the step from t = 0 s" in text
    assert "refused the last try (output '" in text
    assert "is not finite (NaN or infinite))" in text


class Sum(Exact):
    """y = a + b."""

    a: float = Input()
    b: float = Input()
    y: float = Output()

    def move(self, h):
        self.y = self.a + self.b


def test_units_that_are_not_defined_where_the_solution_would_be():
    """The ramp goes to -0.05, of which there is no root: no shorter Newton step helps."""
    system = (
        System("first")
        .add("ramp", block(Ramp), k=-100.0, y0=0.05)
        .add("root", block(Root))
        .add("line", block(Line), k=0.0)
        .add("sum", block(Sum))
        .connect("ramp.y", "sum.a")
        .connect("line.y", "sum.b")
        .connect("sum.y", "root.x")
        .connect("root.y", "line.x")
    )
    execution = Execution(system, step="1 ms", algorithm="newton")
    with pytest.raises(ConvergenceError) as caught:
        execution.step()
    text = str(caught.value)
    assert text.startswith("the loop through 'root', 'line', 'sum' did not converge")
    assert (
        "'sum.y' by -0.05 still change; component 'root' refused the last try (ValueError" in text
    )


def test_unit_that_fails_at_the_first_try_is_itself_to_blame():
    """A step begins with values that the units gave: its first pass is no matter of iterating."""
    system = ring(Broken, Line, other_values={"k": 0.5})
    with Execution(system, step="1 ms", algorithm="newton") as execution:
        execution.step(2)
        with pytest.raises(
            StepError, match=r"component 'one' failed .*RuntimeError: broken"
        ) as caught:
            execution.step()
    assert not isinstance(caught.value, ConvergenceError)


@pytest.mark.parametrize("algorithm", ["newton", "fixed-point"])
def test_an_interrupt_ends_the_run_and_is_no_point_to_avoid(algorithm):
    system = ring(Broken, Line, values={"interrupt": True}, other_values={"k": 0.5, "c": 1.0})
    execution = Execution(system, step="1 ms", algorithm=algorithm)
    with pytest.raises(KeyboardInterrupt):
        execution.step(5)


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


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel", "embedded"])
def test_algebraic_loop_is_refused_where_nothing_iterates(algorithm):
    with pytest.raises(AlgebraicLoopError) as caught:
        Execution(resistors.make(), step="1 ms", algorithm=algorithm)
    assert "supply.voltage" in str(caught.value)
    assert "choose an algorithm that iterates: 'newton' or 'fixed-point'" in str(caught.value)


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


def test_a_jump_is_too_much_for_any_step():
    """What jumps cannot be predicted, however short the step."""
    with pytest.raises(StepSizeUnderflowError) as caught:
        run(bouncing_ball.PROBLEM, "embedded", MS, shortest="10 us", absolute=1e-4)
    assert str(caught.value).startswith("a step of 0.01 ms from t = 0.451")  # it falls for 0.4515 s
    assert "the shortest allowed, still has an error of " in str(caught.value)
    assert "or couple at a signal that does not jump" in str(caught.value)
