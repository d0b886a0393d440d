"""Prints what runs of some and of many steps allocate, in real time and not; a program of its own.

Run with tests/fixtures/allocations preloaded.
"""

import ctypes
import json
import sys

import numpy as np

from orchestrator.core.master.schedule.rows import Extrapolation, Interpolation, OperationCode
from orchestrator.engine import Engine, LinearUnit, MonotonicClock, Pacer

STEP_NS = 10_000
allocations = ctypes.CDLL(None).allocations
allocations.restype = ctypes.c_ulong


def unit(name):
    return LinearUnit(name, 1, 1, 1, 0, [(STEP_NS, [0.5, 0.1, 1.0, 0.2])])


units = [unit("a"), unit("b")]
engine = Engine(
    4,
    [(units[0], 0, 1, 1), (units[1], 2, 3, 1)],
    [(1, 4, Interpolation.LINEAR, Extrapolation.HOLD, -1)],
    [],
    [(3, 0, 1.0, 0.0)],
    [(0, 2, -STEP_NS, 0, 1.0, 0.0, 0.0, 0, 0)],
    [],
    [],
    [
        (OperationCode.COPY, 0, 1, 1, 0),
        (OperationCode.READ, 0, 1, 1, 0),
        (OperationCode.STEP, 0, 2, 1, 0),
        (OperationCode.PUSH, 0, 1, 1, 0),
    ],
    (0, 0.0, 1.0, STEP_NS, STEP_NS, STEP_NS, 1, (), ()),
)
engine.start(0, STEP_NS)
rows, times = np.empty((5000, 2)), np.empty(5000, dtype=np.int64)
engine.record([1, 3], 1, rows, times)
# Budgets of 1 ns: each step is an overrun, and blamed on a unit.
pacer = Pacer(MonotonicClock(), 1.0, 0, 1, 1, [1, 1], 100)


def counted(run):
    before = allocations()
    outcome = run()
    assert not outcome.failed
    return allocations() - before


counted(lambda: engine.run(20, 2**60))
pacer.start(engine.time_ns)
found = {}
for name, run in (("plain", engine.run), ("paced", lambda *a: engine.run_paced(pacer, *a))):
    counted(lambda run=run: run(20, 2**60))
    found[name] = [counted(lambda n=n, run=run: run(n, 2**60)) for n in (10, 1000)]
before = allocations()
held = [bytearray(100_000) for _ in range(10)]
sys.stdout.write(json.dumps({**found, "seen": allocations() - before, "overruns": pacer.overruns}))
