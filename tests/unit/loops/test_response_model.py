"""Responses of units that are known by their steps alone, against closed forms."""

import numpy as np
import pytest

from orchestrator import Block, Input, Output, State, System, block
from orchestrator.core.master import Execution
from orchestrator.loops.response_model import response_model


class Kinked(Block):
    """A lag of one step whose slope is 10 above 0 and 8 below."""

    u: float = Input()
    y: float = Output(depends_on=())
    x: float = State(start=0.0)

    def step(self, t, h):
        self.y = self.x
        self.x = self.u * (10.0 if self.u > 0.0 else 8.0)


class Zero(Block):
    """Holds the input at the kink."""

    y: float = Output(depends_on=())

    def step(self, t, h):
        self.y = 0.0


def test_a_kink_is_told_as_a_share_of_the_largest_response():
    system = System("s").add("k", block(Kinked)).add("z", block(Zero)).connect("z.y", "k.u")
    with Execution(system, step=0.01) as run:
        unit = next(unit for unit in run.units if unit.name == "k")
        model = response_model(unit, np.zeros(1), 0, 10_000_000, None)
    (a, b), (c, d) = model.transition(10_000_000, order=0)
    assert [a, c * b, d] == pytest.approx([0.0, 9.0, 0.0], abs=1e-9)
    (told,) = (each for each in model.remarks if "up and one down" in each)
    assert "by 2.2e-01 of" in told  # (10 - 8) / 9
