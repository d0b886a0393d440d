"""Why the engine did not do a step, as data: each kind with the fields that belong to it."""

import ast
from pathlib import Path

import numpy as np
import pytest

import orchestrator.engine
from orchestrator.core.master.schedule.rows import Extrapolation, Interpolation, OperationCode
from orchestrator.engine import Engine, FailureKind, PythonUnit

FIXED = (0, 0.0, 1.0, 1, 1, 1, 1, (), ())
#: Doubling: from 2 ns to 8 ns, at first 4 ns; tolerances 1e-6; what is checked is place 1.
DOUBLING = (1, 1e-6, 1e-6, 1, 2, 8, 4, (1,), ())


class Block:
    """y = [u, gain u]; it fails once u is above its limit."""

    def __init__(self):
        self.gain, self.limit = 1.0, np.inf
        self.y = np.zeros(2)

    def get_state(self):
        return None

    def set_state(self, state):
        pass

    def step(self, t, h):
        if self.u > self.limit:
            raise ValueError("too much")
        self.y[:] = self.u, self.gain * self.u


def make(block=None, **changed):
    block = block or Block()
    unit = PythonUnit(block, "b", [("u", "f", None)], [("y", "f", block.y)])
    tables = {
        "signals": 3,
        "members": [(unit, 0, 1, 1)],
        "histories": [],
        "channels": [],
        "copies": [(1, 0, 1.0, 1.0)],
        "reads": [],
        "mixes": [],
        "loops": [],
        "operations": [(OperationCode.COPY, 0, 1, 1, 0), (OperationCode.STEP, 0, 1, 1, 0)],
        "rule": FIXED,
    }
    engine = Engine(**(tables | changed))
    engine.start(0, 1)
    return engine


def test_the_stub_lists_the_kinds_of_the_engine():
    stub = Path(orchestrator.engine.__file__).with_name("_engine.pyi").read_text(encoding="utf-8")
    (found,) = (
        node
        for node in ast.parse(stub).body
        if isinstance(node, ast.ClassDef) and node.name == "FailureKind"
    )
    listed = [row.targets[0].id for row in found.body if isinstance(row, ast.Assign)]
    assert listed == [kind.name for kind in FailureKind]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_output_that_is_not_finite(threads):
    block = Block()
    block.gain = np.nan
    outcome = make(block, threads=threads).run(3, 0)
    assert (outcome.failed, outcome.status, outcome.steps, outcome.unit) == (True, 3, 0, 0)
    assert outcome.failure.kind is FailureKind.OUTPUT_NOT_FINITE
    assert outcome.failure.output == 1


def test_a_unit_that_has_its_own_words():
    block = Block()
    block.limit = 2.5
    outcome = make(block).run(5, 0)
    assert (outcome.failed, outcome.steps, outcome.unit) == (True, 2, 0)
    assert outcome.failure.kind is FailureKind.NONE
    assert outcome.failure.text == ""  # they are the unit's


def test_a_line_that_cannot_be_read():
    """Of a history of one point nothing older can be read."""
    engine = make(
        histories=[(1, 1, Interpolation.HOLD, Extrapolation.HOLD, -1)],
        reads=[(0, 0, -5, 0, 1.0, 0.0, 0.0, 0, False)],
        operations=[
            (code, 0, 1, 1, 0)
            for code in (OperationCode.READ, OperationCode.STEP, OperationCode.PUSH)
        ],
    )
    outcome = engine.run(20, 0)
    assert (outcome.failed, outcome.unit, outcome.read) == (True, -1, 0)
    assert outcome.failure.kind is FailureKind.UNREAD
    assert outcome.failure.text == engine.read_error != ""


def test_no_step_is_short_enough():
    """Each execution adds 1 to y, however long the step: halves differ from the whole by 1."""
    outcome = make(rule=DOUBLING).run(5, 100)
    assert (outcome.failed, outcome.unit, outcome.loop) == (True, -1, -1)
    failure = outcome.failure
    assert failure.kind is FailureKind.TOO_LONG
    assert (failure.time_ns, failure.slot) == (2, 1)
    assert failure.excess == pytest.approx(1.0 / (1e-6 + 1e-6 * 2.0))
