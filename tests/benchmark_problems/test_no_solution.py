"""What is said of loops and steps that cannot be solved, and who is named."""

import pytest
from benchmark_problems import bouncing_ball, resistors
from benchmark_problems.loop_units import Broken, Line, Ramp, Root, Square, Sum, ring
from benchmark_problems.problem import run

from orchestrator.core.diagnostics import (
    AlgebraicLoopError,
    ConvergenceError,
    StepError,
    StepSizeUnderflowError,
)
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import System

MS = 1_000_000


@pytest.mark.parametrize("algorithm", ["newton", "fixed-point"])
def test_loop_without_a_solution_at_the_start(algorithm):
    system = ring(Square, Line, values={"c": 1.0})
    with pytest.raises(ConvergenceError) as caught:
        Execution(system, step="1 ms", algorithm=algorithm)
    text = str(caught.value)
    assert text.startswith(
        "the loop through 'one', 'other' did not converge at the start (50 iterations)"
    )
    assert "'other.y' by " in text
    assert "it may have no solution there" in text


def test_loop_that_loses_its_solution():
    """x = x^2 + 0.1 has a solution, x = x^2 + 1.1 has none."""
    system = ring(Square, Line, values={"c": 0.1, "late": 0.0025})
    for algorithm in ("newton", "fixed-point"):
        with Execution(system, step="1 ms", algorithm=algorithm) as execution:
            with pytest.raises(ConvergenceError, match=r"in the step from t = 0\.002 s \(\d+ it"):
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
    assert "refused the last attempt (output '" in text
    assert "is not finite (NaN or infinite))" in text


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
        "'sum.y' by -0.05 still change; component 'root' refused the last attempt (ValueError"
        in text
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


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel", "embedded"])
def test_algebraic_loop_is_refused_where_nothing_iterates(algorithm):
    with pytest.raises(AlgebraicLoopError) as caught:
        Execution(resistors.make(), step="1 ms", algorithm=algorithm)
    assert "supply.voltage" in str(caught.value)
    assert "choose an algorithm that iterates: 'newton' or 'fixed-point'" in str(caught.value)


def test_a_jump_is_too_much_for_any_step():
    """What jumps cannot be predicted, however short the step."""
    with pytest.raises(StepSizeUnderflowError) as caught:
        run(bouncing_ball.PROBLEM, "embedded", MS, shortest="10 us", absolute=1e-4)
    assert str(caught.value).startswith("a step of 0.01 ms from t = 0.451")  # it falls for 0.4515 s
    assert "the shortest allowed, still has an error of " in str(caught.value)
    assert "tolerances in 'floor.jump': allow shorter steps" in str(caught.value)
    assert "or couple the components by a signal that does not jump" in str(caught.value)


@pytest.mark.usefixtures("sample_blocks")
@pytest.mark.parametrize("acceleration", ["anderson", "aitken", "none"])
def test_a_gain_of_one_is_not_solved_far_away(acceleration):
    """Relative to a value that blew up, every residual is small."""
    system = (
        System("ring")
        .add("jump", block("source"), at=0.002)
        .add("sum", block("sum"))
        .add("back", block("gain"))
        .connect("jump.y", "sum.u2")
        .connect("sum.y", "back.u")
        .connect("back.y", "sum.u1")
    )
    options = {"acceleration": acceleration}
    run = Execution(system, step="1 ms", algorithm="fixed-point", algorithm_options=options)
    run.step()  # until there, any value is a solution
    with pytest.raises(ConvergenceError, match="the loop through 'sum', 'back' did not converge"):
        run.step(5)
    assert abs(run.get("sum.y")) < 1e9
