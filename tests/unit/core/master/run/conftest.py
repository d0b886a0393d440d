"""Two components whose steps cost a scripted clock what a test says."""

import pytest
from scripted_clock import ScriptedClock

from orchestrator.core.master import Execution
from orchestrator.core.realtime import RealTime
from orchestrator.core.simunits import Block, Input, Output, block
from orchestrator.core.system import System
from orchestrator.engine import PythonClock

#: Nothing of the machine is asked for: these tests are of counting.
PLAIN = {"priority": 0, "lock_memory": False}


class Slow(Block):
    """Takes of the scripted clock what the test says, step by step: y = u + 1."""

    u: float = Input()
    y: float = Output(depends_on=())

    def step(self, t, h):
        cost = next(COSTS[self.name], 0)
        CLOCKS[0].spend(cost)
        self.y = self.u + 1.0


COSTS: dict[str, object] = {}


CLOCKS: list[ScriptedClock] = []


@pytest.fixture(scope="module")
def slow_blocks(register):
    def named(name):
        return type(f"Slow_{name}", (Slow,), {"name": name, "__doc__": Slow.__doc__})

    register(slow_a=named("a"), slow_b=named("b"))


@pytest.fixture
def run(slow_blocks):
    """Make an execution of a and b whose steps cost the clock what is given, in microseconds."""
    made = []

    def make(a=(), b=(), *, clock=None, algorithm="jacobi", rates=None, faults=(), **settings):
        clock = clock or ScriptedClock()
        CLOCKS[:] = [clock]
        COSTS.update(a=iter(()), b=iter(()))  # units are stepped before the run begins, too
        system = (
            System("pair")
            .add("a", block("slow_a"))
            .add("b", block("slow_b"))
            .connect("a.y", "b.u")
            .connect("b.y", "a.u", delay="3 ms")
        )
        execution = Execution(
            system,
            step="1 ms",
            algorithm=algorithm,
            rates=rates,
            realtime=RealTime(**{**PLAIN, **settings}),
            step_clock=PythonClock(clock),
        )
        made.append(execution)
        COSTS.update(a=(1000 * us for us in a), b=(1000 * us for us in b))
        return execution

    yield make
    for execution in made:
        execution.close()
