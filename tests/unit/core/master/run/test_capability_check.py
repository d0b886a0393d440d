"""Units that say they can go back to a saved state and do not are found out before the run."""

import pytest

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, block, fmu
from orchestrator.core.system import System


class Forgetful(Block):
    """Counts its steps where nobody saves it."""

    u: float = Input()
    y: float = Output(depends_on=())

    count = 0

    def initialise(self, t):
        self.y = 0.0

    def step(self, t, h):
        type(self).count += 1
        self.y = self.u + type(self).count


class Faithful(Forgetful):
    def step(self, t, h):
        self.y = self.u + 1.0


def ring(kind):
    return (
        System("ring")
        .add("a", block(kind))
        .add("b", block(Faithful))
        .connect("a.y", "b.u", factor=0.1)
        .connect("b.y", "a.u", factor=0.1)
    )


@pytest.mark.parametrize("algorithm", ["newton", "fixed-point", "step-doubling"])
def test_what_does_not_restore_is_refused(algorithm, wording):
    with wording.raises(CapabilityError):
        Execution(ring(Forgetful), step="1 ms", algorithm=algorithm)


def test_nothing_is_tried_where_nothing_is_repeated():
    Forgetful.count = 0
    execution = Execution(ring(Forgetful), step="1 ms", algorithm="gauss-seidel")
    assert Forgetful.count == 0
    execution.step()
    assert Forgetful.count == 1


def test_the_trial_leaves_no_trace():
    execution = Execution(ring(Faithful), step="1 ms", algorithm="newton")
    assert (execution.time, execution.get("a.y")) == (0.0, 0.0)
    execution.step()
    # y = 1 + u at both ends of the step, u being a tenth of the mean of the other's two values.
    assert execution.get("a.y") == pytest.approx(1 / 0.95, rel=1e-8)


class Sampled(Faithful):
    longest_step = 2e-3


@pytest.mark.parametrize(
    "options",
    [
        {"step": "3 ms"},
        {"step": "1 ms", "rates": {"a": 4}},
        {"step": "1 ms", "algorithm": "embedded"},
    ],
)
def test_steps_that_are_too_long(options, wording):
    with wording.raises(CapabilityError):
        Execution(ring(Sampled), **options)


def test_steps_that_are_short_enough():
    options = {"longest": "2 ms"}
    Execution(ring(Sampled), step="2 ms").step()
    Execution(ring(Sampled), step="1 ms", algorithm="embedded", algorithm_options=options).step()


def test_a_fixed_internal_step(c_fmu, wording):
    def fixed(text):
        return text.replace("<CoSimulation ", '<CoSimulation fixedInternalStepSize="0.0004" ')

    system = System("s").add("rig", fmu(c_fmu("early3", fixed)), u=0.0)
    with wording.raises(CapabilityError, code="TIM109", key="rig"):
        Execution(system, step="1 ms")
    Execution(system, step="0.8 ms").step()


@pytest.mark.parametrize("step", ["16666667 ns", "16666666 ns", "33333333 ns", "0.1 s"])
def test_a_fixed_internal_step_to_a_nanosecond(c_fmu, step, wording):
    def fixed(text):
        sixtieth = "0.016666666666666666"
        return text.replace("<CoSimulation ", f'<CoSimulation fixedInternalStepSize="{sixtieth}" ')

    system = System("s").add("rig", fmu(c_fmu("early3", fixed)), u=0.0)
    Execution(system, step=step).step()
    with wording.raises(CapabilityError, code="TIM109", key="rig"):
        Execution(system, step="16666669 ns")
