"""Clocks and discrete values between units with event mode; see tests/fixtures/c_fmus."""

from itertools import permutations

import numpy as np
import pytest

from orchestrator.errors import CapabilityError, ConnectorMismatchError, FmuError, StepError
from orchestrator.master import Execution
from orchestrator.simunits import fmu
from orchestrator.system import System

MS = 10**6


def chain(c_fmu, order=("source", "relay", "counter"), period=0.1):
    parts = {
        "source": (c_fmu("source3"), {"period": period}),
        "relay": (c_fmu("relay3"), {}),
        "counter": (c_fmu("counter3"), {}),
    }
    system = System("chain")
    for name in order:
        path, values = parts[name]
        system = system.add(name, fmu(path), **values)
    return (
        system.connect("source.tick", "relay.in")
        .connect("source.count", "relay.value")
        .connect("relay.out", "counter.tick")
        .connect("relay.next", "counter.value")
    )


def columns(run):
    r = run.recording()
    return r.time_ns, {name: r.values[:, i] for i, name in enumerate(r.names)}


@pytest.mark.parametrize("algorithm", ["jacobi", "gauss-seidel", "newton"])
@pytest.mark.parametrize("order", [*permutations(("source", "relay", "counter"))], ids="-".join)
def test_a_tick_goes_through_a_chain_at_one_instant_in_any_order(c_fmu, order, algorithm):
    with Execution(chain(c_fmu, order), step="50 ms", algorithm=algorithm) as run:
        run.advance("0.4 s")
        times, found = columns(run)
        statistics = run.event_statistics()
    ticks = (times % (100 * MS) == 0).astype(float)  # every second row, the start included
    numbers = np.cumsum(ticks)
    assert times.tolist() == [i * 50 * MS for i in range(9)]
    for clock in ("source.tick", "relay.out"):
        np.testing.assert_array_equal(found[clock], ticks)
    np.testing.assert_array_equal(found["source.count"], numbers)
    np.testing.assert_array_equal(found["counter.count"], numbers)
    np.testing.assert_array_equal(found["counter.last"], numbers + 1)  # the relay adds one
    last_tick = np.floor(times / 100e6) / 10
    np.testing.assert_allclose(found["counter.at"], last_tick, rtol=0, atol=1e-15)
    assert (statistics.instants, statistics.split_steps, statistics.late) == (5, 0, 0)
