"""The engine checks its tables once, so that its loop need not: a wrong row is never a crash."""

import time

import numpy as np
import pytest

from orchestrator.core.master.schedule.rows import (
    Effect,
    Extrapolation,
    Interpolation,
    OperationCode,
)
from orchestrator.engine import Engine, FailureKind, PythonUnit

#: Steps of 1 ns, all the same.
FIXED = (0, 0.0, 1.0, 1, 1, 1, 1, (), ())
ONE = np.empty(1, dtype=np.int64)


class Doubler:
    def step(self, t, h):
        self.y = 2.0 * self.u


def make(**changed):
    unit = PythonUnit(Doubler(), "d", [("u", "f", None)], [("y", "f", None)])
    tables = {
        "signals": 2,
        "members": [(unit, 0, 1, 1)],
        "histories": [(1, 3, Interpolation.HOLD, Extrapolation.HOLD, -1)],
        "channels": [],
        "copies": [(1, 0, 1.0, 1.0)],
        "reads": [(0, 0, 0, 0, 1.0, 0.0, 0.0, 0, False)],
        "mixes": [(1, 0, 0.5, 1.0, 0.0)],
        "loops": [(0, 1e-9, 50, [1], [], [0], [], [])],
        "operations": [
            (code, 0, 1, 1, 0)
            for code in (OperationCode.COPY, OperationCode.STEP, OperationCode.PUSH)
        ],
        "rule": FIXED,
    }
    return Engine(**(tables | changed))


def test_run():
    engine = make()
    engine.start(0, 1)
    rows = np.empty((4, 2))
    times = np.empty(4, dtype=np.int64)
    engine.record([0, 1], 1, rows, times)
    outcome = engine.run(4, 0)
    assert (outcome.steps, outcome.status, outcome.failed) == (4, 0, False)
    assert (outcome.unit, outcome.loop, outcome.read) == (-1, -1, -1)
    assert outcome.failure.kind is FailureKind.NONE
    assert (engine.time_ns, engine.rows) == (4, 4)
    assert rows.tolist() == [[1.0, 2.0], [3.0, 6.0], [7.0, 14.0], [15.0, 30.0]]
    assert times.tolist() == [1, 2, 3, 4]


def test_rows_have_the_time_of_the_clock_where_that_is_asked_for():
    engine = make()
    engine.start(0, 1)
    clocks = np.zeros(4, dtype=np.int64)
    before = time.monotonic_ns()
    engine.record([0, 1], 1, np.empty((4, 2)), np.empty(4, dtype=np.int64), clocks)
    engine.run(3, 0)
    assert (np.diff([before, *clocks[:3], time.monotonic_ns()]) >= 0).all()
    assert clocks[3] == 0
    with pytest.raises(ValueError, match="one clock per row"):
        engine.record([0], 1, np.empty((1, 1)), ONE, np.zeros(2, dtype=np.int64))


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("histories", [(2, 3, 0, 0, -1)]),
        ("copies", [(2, 0, 1.0, 0.0)]),
        ("copies", [(0, -1, 1.0, 0.0)]),
        ("reads", [(1, 0, 0, 0, 1.0, 0.0, 0.0, 0, False)]),
        ("reads", [(0, 2, 0, 0, 1.0, 0.0, 0.0, 0, False)]),
        ("reads", [(0, 0, 0, -1, 1.0, 0.0, 0.0, 0, False)]),
        ("reads", [(0, 0, 0, 1, 1.0, 0.0, 0.0, 0, False)]),
        ("mixes", [(2, 0, 0.5, 1.0, 0.0)]),
        ("loops", [(0, 1e-9, 50, [2], [], [0], [], [])]),
        ("loops", [(0, 1e-9, 50, [1], [-1], [0], [], [])]),
        ("loops", [(3, 1e-9, 50, [1], [], [1], [], [])]),
        ("loops", [(0, 1e-9, 0, [1], [], [0], [], [])]),
        ("operations", [(OperationCode.COPY, 0, 2, 1, 0)]),
        ("operations", [(OperationCode.READ, -1, 1, 1, 0)]),
        ("operations", [(OperationCode.STEP, 1, 1, 1, 0)]),
        ("operations", [(OperationCode.PUSH, 0, -1, 1, 0)]),
        ("operations", [(OperationCode.COPY, 2**31 - 1, 2**31 - 1, 1, 0)]),
        ("operations", [(OperationCode.INTERPOLATE_MEAN, 1, 1, 1, 0)]),
        ("operations", [(OperationCode.SOLVE, 0, 1, 1, 0)]),  # no body behind it
        ("operations", [(OperationCode.SOLVE, 0, 1, 1, 0), (OperationCode.SOLVE, 0, 0, 1, 0)]),
        ("operations", [(OperationCode.COPY, 0, 1, 2, 2)]),
        ("operations", [(OperationCode.COPY, 0, 1, 0, 0)]),
        ("rule", (1, 0.0, 1.0, 1, 1, 1, 1, [2], [])),
        ("rule", (3, 0.0, 1.0, 1, 1, 1, 1, [], [])),
        ("rule", (1, 0.0, 1.0, 1, 2, 1, 1, [], [])),
    ],
)
def test_rows_that_point_out_of_a_table(table, rows):
    tables = {table: rows}
    if table == "rule":  # steps of varying length go without histories
        tables |= {"histories": [], "reads": [], "operations": []}
    with pytest.raises(IndexError, match=f"out of the table: {table}"):
        make(**tables)


def test_a_unit_takes_a_step_of_one_tick_at_least():
    unit = PythonUnit(Doubler(), "d", [("u", "f", None)], [("y", "f", None)])
    with pytest.raises(IndexError, match="out of the table: members"):
        make(members=[(unit, 0, 1, 0)])


#: What a compensated input keeps is in five slots behind those of the two signals.
SOUND = {"method": 0, "source": 1, "target": 0, "memory": 2, "order": 0, "factor": 1.0}
SOUND |= {"offset": 0.0, "answer": 0, "answered": 0, "answer_factor": 1.0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": 7},
        {"target": -1},
        {"memory": 3},
        {"order": 3},
        {"order": -1},
        {"answer": 7},
        {"answered": 7},
        {"answer_factor": 0.0},
        {"method": 2, "answer": 1},  # there is one member
    ],
)
def test_compensations_that_point_out_of_a_table(wrong):
    make(signals=7, compensations=[tuple(SOUND.values())])
    with pytest.raises(IndexError, match="out of the table: compensations"):
        make(signals=7, compensations=[tuple((SOUND | wrong).values())])


def fault(effect, place, *, until=2**63 - 1, amount=0.0):
    return (effect, place, 0, until, amount, 0.0, 0, 0)


@pytest.mark.parametrize(
    ("code", "row"),
    [
        (OperationCode.INJECT_FAULT, fault(Effect.DROP, 2)),
        (OperationCode.INJECT_FAULT, fault(Effect.BIAS, -1)),
        (OperationCode.INJECT_FAULT, fault(Effect.DELAYED_READ, 1)),
        (OperationCode.INJECT_FAULT, fault(Effect.CHANGED_DELAY, 1)),
        (OperationCode.INJECT_FAULT, fault(8, 0)),
        (OperationCode.INJECT_FAULT, fault(-1, 0)),
        (OperationCode.INJECT_SAMPLE_FAULT, fault(Effect.BIAS, 1)),
        (OperationCode.INJECT_SAMPLE_FAULT, fault(Effect.DELAYED_READ, 0)),
    ],
)
def test_faults_that_point_out_of_a_table(code, row):
    with pytest.raises(IndexError, match="out of the table: faults"):
        make(operations=[(code, 0, 1, 1, 0)], faults=[row])
    with pytest.raises(IndexError, match="out of the table: operations"):
        make(operations=[(code, 0, 2, 1, 0)], faults=[fault(Effect.BIAS, 0)])


def test_a_fault_acts_between_a_line_and_the_unit():
    """u = y + 1, then y = 2 u; in the second and third of four steps of 1 ns u is 10 more."""
    codes = (OperationCode.COPY, OperationCode.INJECT_FAULT, OperationCode.STEP)
    operations = [(code, 0, 1, 1, 0) for code in codes]
    bias = (Effect.BIAS, 0, 1, 3, 10.0, 0.0, 0, 0)
    engine = make(operations=operations, faults=[bias])
    engine.start(0, 1)
    found = []
    for _ in range(4):
        assert engine.run(1, 0).status == 0
        found.append(float(engine.signals[0]))
    assert found == [1.0, 13.0, 37.0, 75.0]


@pytest.mark.parametrize(("inputs", "outputs"), [(2, 0), (0, 2), (10**9, 0)])
def test_members_out_of_the_buffer(inputs, outputs):
    unit = PythonUnit(Doubler(), "d", [("u", "f", None)], [("y", "f", None)])
    with pytest.raises(IndexError, match="members"):
        make(members=[(unit, inputs, outputs, 1)])


def test_record_and_lines_are_checked_too():
    engine = make()
    engine.start(0, 1)
    with pytest.raises(IndexError, match="record"):
        engine.record([2], 1, np.empty((1, 1)), ONE)
    with pytest.raises(IndexError, match="operations"):
        engine.lines(OperationCode.COPY, 0, 2)
    with pytest.raises(ValueError, match="one column per slot"):
        engine.record([0], 1, np.empty((1, 2)), ONE)
    with pytest.raises(ValueError, match="every must be at least 1"):
        engine.record([0], 0, np.empty((1, 1)), ONE)
    with pytest.raises(TypeError):  # a copy would be filled, and thrown away
        engine.record([0], 1, np.zeros((1, 1), dtype=np.float32), ONE)
    with pytest.raises(ValueError, match="one time per row"):
        engine.record([0], 1, np.empty((2, 1)), ONE)


def test_a_full_block_of_rows_is_not_overrun():
    engine = make()
    engine.start(0, 1)
    rows = np.full((3, 1), -1.0)
    engine.record([1], 1, rows[:2], np.empty(2, dtype=np.int64))
    with pytest.raises(ValueError, match="5 rows to record, room for 2"):
        engine.run(5, 0)
    engine.run(2, 0)
    assert rows[:, 0].tolist() == [2.0, 6.0, -1.0]


def test_rows_to_come_are_counted_from_the_steps_that_are_done():
    """Every third step has a row: after two steps, one more gives a row, and has no room."""
    engine = make()
    engine.start(0, 1)
    engine.record([1], 3, np.empty((0, 1)), np.empty(0, dtype=np.int64))
    engine.run(2, 0)
    with pytest.raises(ValueError, match="1 rows to record, room for 0"):
        engine.run(1, 0)


def test_views_keep_the_engine_alive():
    signals = np.asarray(make().signals)
    signals[:] = 7.0
    assert signals.tolist() == [7.0, 7.0]
