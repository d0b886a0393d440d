"""Tables of values on connections: Boolean, Integer and enumeration signals."""

import pytest
from oracle.reference import run_reference

from orchestrator.core.diagnostics import DescriptionError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, State, block
from orchestrator.core.system import (
    Connection,
    Endpoint,
    MappingTransformation,
    System,
    TransportDelay,
)


class Counter(Block):
    """Counts its steps modulo three."""

    count: int = State(start=0)
    mode: int = Output(start=0, depends_on=())
    odd: bool = Output(start=False, depends_on=())
    level: float = Output(start=0.0, depends_on=())

    def initialise(self, t):
        pass

    def step(self, t, h):
        self.count += 1
        self.mode = self.count % 3
        self.odd = self.count % 2 == 1
        self.level = float(self.count)


class Seen(Block):
    """Remembers in decimal places what it saw in the last four steps."""

    mode: int = Input(start=0)
    odd: bool = Input(start=False)
    modes: int = Output(start=0)
    odds: int = Output(start=0)

    def initialise(self, t):
        pass

    def step(self, t, h):
        self.modes = (10 * self.modes + self.mode) % 10_000
        self.odds = (10 * self.odds + int(self.odd)) % 10_000


def made(table, *, delay=None):
    system = System("tables").add("a", block(Counter)).add("b", block(Seen))
    mode = Connection(
        Endpoint("a", "mode"), Endpoint("b", "mode"), delay, MappingTransformation(table)
    )
    odd = Connection(
        Endpoint("a", "odd"), Endpoint("b", "odd"), None, MappingTransformation(((0, 1), (1, 0)))
    )
    return System("tables", system.components, (mode, odd))


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel"])
@pytest.mark.parametrize("delay", [None, TransportDelay(2_000_000)])
def test_the_target_sees_what_the_table_says(algorithm, delay):
    system = made(((0, 7), (1, 5), (2, 9)), delay=delay)
    with Execution(system, step="1 ms", algorithm=algorithm) as run:
        expected = run_reference(run, 6)[:, run.schedule.slots["b.modes"][0]]
    with Execution(system, step="1 ms", algorithm=algorithm) as run:
        run.advance("6 ms")
        assert run.get("b.modes") == expected[-1]
        # the counter is at 0 1 2 0 1 2 0: Gauss-Seidel sees each at once, Jacobi a step later;
        # 2 ms before the middle of the step the held sample is that of two steps ago
        at_once = {"jacobi": 9759, "gauss-seidel": 7597}
        assert run.get("b.modes") == (7597 if delay else at_once[algorithm])
        assert run.get("b.odds") == (1010 if algorithm == "jacobi" else 101)


def test_a_value_without_an_entry_ends_the_step_by_name(wording):
    with Execution(made(((0, 7), (1, 5))), step="1 ms", algorithm="gauss-seidel") as run:
        run.advance("1 ms")
        with wording.raises(StepError):
            run.advance("2 ms")


def test_a_start_value_without_an_entry_is_refused_at_the_start(wording):
    with wording.raises(StepError):
        Execution(made(((1, 5), (2, 9))), step="1 ms")


def test_tables_are_for_whole_numbers(wording):
    system = made(((0, 7), (1, 5)))
    line = Connection(
        Endpoint("a", "level"), Endpoint("b", "mode"), None, MappingTransformation(((0, 1),))
    )
    with wording.raises(DescriptionError):
        System("s", system.components, (line,)).check()
