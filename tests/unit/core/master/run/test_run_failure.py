"""What ends a run, and what is left of it."""

import numpy as np
import pytest

from orchestrator.core.diagnostics import StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")

ALGORITHMS = ["gauss-seidel", "jacobi"]


def faulty(how, at=0.005):
    return (
        System("faulty")
        .add("ok", block("integrator"), u=1.0)
        .add("rig", block("faulty"), how=how, at=at)
        .connect("ok.y", "rig.u")
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_exception_of_a_block(algorithm, wording):
    run = Execution(faulty(1), step="1 ms", algorithm=algorithm)
    with wording.raises(StepError) as caught:
        run.advance("1 s")
    assert isinstance(caught.value.__cause__, ValueError)
    assert caught.value.__cause__.__traceback__ is not None
    r = run.recording()
    assert r.time_ns.tolist() == [10**6 * i for i in range(6)]
    np.testing.assert_allclose(r.values[:, 0], 1e-3 * np.arange(6), rtol=1e-12)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (2, r"output 'rig\.vector\[1\]' is not finite"),
        (3, r"output 'y': TypeError: must be real number, not str"),
        (4, r"array connector 'vector' was replaced by another object; write into it"),
        (6, r"output 'y': AttributeError: .*no attribute 'y'"),
    ],
)
def test_wrong_outputs_of_a_block(how, message):
    run = Execution(faulty(how), step="1 ms")
    with pytest.raises(StepError, match=r"'rig' failed in the step from t = 0\.005 s.*" + message):
        run.advance("1 s")
    assert len(run.recording().time_ns) == 6


def test_a_failed_run_does_not_go_on(wording):
    """Units before the failed one have done the step already: a second try would do it twice."""
    run = Execution(faulty(1), step="1 ms")
    with pytest.raises(StepError):
        run.advance("1 s")
    before = run.recording().values
    for again in (run.step, lambda: run.advance("1 s")):
        with wording.raises(StepError):
            again()
    np.testing.assert_array_equal(run.recording().values, before)


def test_interrupt_while_a_block_has_the_word():
    """Ctrl-C stays a KeyboardInterrupt; what was recorded is there."""
    run = Execution(faulty(5), step="1 ms")
    with pytest.raises(KeyboardInterrupt):
        run.advance("1 s")
    assert len(run.recording().time_ns) == 6


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (10, "SystemExit: 0"),
        (11, "SystemExit: enough"),
        (12, "GeneratorExit"),
        (13, "BaseException: base"),
    ],
)
def test_a_block_that_ends_the_program_fails(how, said):
    run = Execution(faulty(how), step="1 ms")
    with pytest.raises(StepError, match=rf"component 'rig' failed .*{said}.*sample_blocks\.py"):
        run.advance("1 s")
    assert len(run.recording().time_ns) == 6


def test_a_block_that_does_not_initialise(wording):
    with wording.raises(StepError) as caught:
        Execution(faulty(8), step="1 ms")
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_not_finite_at_the_start(wording):
    with wording.raises(StepError):
        Execution(faulty(9), step="1 ms", start=2.0)


def test_a_closed_run_does_not_go_on(wording):
    with Execution(System("clock").add("clock", block("source")), step="1 ms") as run:
        run.advance("3 ms")
    run.close()
    with wording.raises(StepError):
        run.step()
    assert len(run.recording().time_ns) == 4
