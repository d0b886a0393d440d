"""Jacobi through an algebraic loop, if it is asked for: what the delay gives, and what is said."""

import pytest

from orchestrator.core.diagnostics import AlgebraicLoopError, DescriptionError
from orchestrator.core.simunits import block
from orchestrator.core.system import System
from orchestrator.study import simulate

pytestmark = pytest.mark.usefixtures("sample_blocks")

DELAY = {"algebraic_loops": "delay"}


def loop(gain: float, *, delay: str | None = None) -> System:
    """y = 1 + gain y."""
    return (
        System("loop")
        .add("sum", block("sum"), u1=1.0)
        .add("gain", block("gain"), k=gain)
        .connect("sum.y", "gain.u", delay=delay)
        .connect("gain.y", "sum.u2")
    )


def by_hand(gain: float, steps: int) -> list[float]:
    """Both units take what the other had before the step.

    At the start they give what they have by their own start values, and two passes are made.
    """
    y, z = 0.0, 0.0
    found = []
    for _ in range(steps + 3):
        y, z = 1.0 + z, gain * y
        found.append(y)
    return found[2:]


@pytest.mark.parametrize("mode", ["mean", "plain"])
def test_every_unit_adds_a_step(mode):
    result = simulate(
        loop(-0.5), step="1 ms", stop="20 ms", algorithm="jacobi", algorithm_options=DELAY,
        delay=mode,
    )  # fmt: skip
    assert result["sum.y"].tolist() == by_hand(-0.5, 20)
    assert result["sum.y"][-1] == pytest.approx(1 / 1.5, rel=1e-3)
    (note,) = result.notes
    assert "the algebraic loop gain -> sum -> gain is not solved" in note
    assert "delays its signals by 2 ms around the loop" in note


def test_it_is_refused_unless_asked_for():
    for algorithm in ("jacobi", "gauss-seidel"):
        with pytest.raises(AlgebraicLoopError, match="algebraic_loops = 'delay'"):
            simulate(loop(-0.5), step="1 ms", stop="2 ms", algorithm=algorithm)
    with pytest.raises(DescriptionError, match="expected one of refuse, delay, found 'yes'"):
        simulate(
            loop(-0.5), step="1 ms", stop="2 ms", algorithm="jacobi",
            algorithm_options={"algebraic_loops": "yes"},
        )  # fmt: skip


def test_without_an_algebraic_loop_nothing_is_said_and_nothing_changes():
    system = loop(-0.5, delay="4 ms")
    asked, plain = (
        simulate(system, step="1 ms", stop="20 ms", algorithm="jacobi", algorithm_options=options)
        for options in (DELAY, {})
    )
    assert asked.notes == plain.notes == ()
    assert asked["sum.y"].tolist() == plain["sum.y"].tolist()
