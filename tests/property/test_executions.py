"""Properties of every run: order, causality, and the engine against the reference."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.reference import recorded, run_reference
from step_control import FIXED

from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")
MS = 1_000_000
numbers = st.floats(-2.0, 2.0, allow_nan=False).map(lambda x: round(x, 3))
delays = st.none() | st.integers(0, 12 * MS) | st.sampled_from([0, MS, 3 * MS, 7 * MS + 1])


@st.composite
def linear_systems(draw):
    """Lags with and without feed-through, each fed by one or by the sum of two others."""
    count = draw(st.integers(2, 5))
    system = System("random")
    for i in range(count):
        kind = draw(st.sampled_from(["lag", "strict_lag"]))
        values = {name: draw(numbers) for name in ("a", "b", "x0")}
        if kind == "lag":
            values["d"] = draw(numbers)
        system = system.add(f"n{i}", block(kind), **values).add(f"s{i}", block("sum"))
    for i in range(count):
        system = system.connect(f"s{i}.y", f"n{i}.u", delay=draw(delays.map(as_text)))
        for port in ("u1", "u2"):
            source = f"n{draw(st.integers(0, count - 1))}.y"
            # Of one another they depend with a delay: then no ring is without one.
            delay = draw(st.integers(1, 12 * MS))
            system = system.connect(source, f"s{i}.{port}", delay=as_text(delay))
    return system


def as_text(ns):
    return None if ns is None else f"{ns} ns"


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    system=linear_systems(),
    mode=st.sampled_from(["plain", "mean"]),
    algorithm=st.sampled_from(FIXED),
    step=st.sampled_from(["1 ms", "0.7 ms", "2 ms", "999999 ns"]),
    start=st.integers(-(10**9), 10**9),
)
def test_engine_equals_reference(system, mode, algorithm, step, start):
    options = {"step": step, "algorithm": algorithm, "delay": mode, "start": f"{start} ns"}
    one, two = (Execution(system, **options) for _ in range(2))
    steps = 40
    one.advance(f"{start + steps * one.schedule.step_ns} ns")
    rows = run_reference(two, steps)
    for name, values in recorded(one).items():
        np.testing.assert_array_equal(values, rows[:, one.schedule.slots[name][0]])


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    system=linear_systems(),
    mode=st.sampled_from(["plain", "mean"]),
    algorithm=st.sampled_from(FIXED),
    every=st.integers(1, 4),
    moves=st.lists(st.integers(1, 9) | st.sampled_from(["save", "restore", "store"]), max_size=12),
)
def test_any_order_of_saving_and_restoring_is_the_same_run(system, mode, algorithm, every, moves):
    options = {"step": "1 ms", "algorithm": algorithm, "delay": mode, "every": every}
    whole, run = (Execution(system, **options) for _ in range(2))
    saved = [run.save()]
    for move in moves:
        if move == "save":
            saved.append(run.save())
        elif move == "store":
            saved.append(run.save().stored())
        elif move == "restore":
            run.restore(saved.pop() if len(saved) > 1 else saved[0])
        else:
            run.step(move)
    until = f"{run.time_ns + 20 * MS} ns"
    for execution in (whole, run):
        execution.advance(until)
    found = recorded(run)
    for name, values in recorded(whole).items():
        np.testing.assert_array_equal(found[name], values)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(system=linear_systems(), mode=st.sampled_from(["plain", "mean"]), data=st.data())
def test_order_of_components_is_irrelevant_for_jacobi(system, mode, data):
    names = data.draw(st.permutations(list(system.components)))
    lines = data.draw(st.permutations(system.connections))
    shuffled = System("shuffled", {name: system.components[name] for name in names}, tuple(lines))
    runs = []
    for variant in (system, shuffled):
        run = Execution(variant, step="1 ms", algorithm="jacobi", delay=mode)
        run.advance("30 ms")
        runs.append((run, recorded(run)))
    (one, values), (two, others) = runs
    plans = [{p.connection: p.shift_ns for p in run.schedule.plans} for run in (one, two)]
    assert values.keys() == others.keys()
    # The compromise between loops is a least-squares solution: its rounding may differ by 1 ns.
    assert plans[0].keys() == plans[1].keys()
    assert all(abs(plans[0][line] - plans[1][line]) <= 1 for line in plans[0])
    exactly = plans[0] == plans[1]
    for name in values:
        if exactly:
            np.testing.assert_array_equal(values[name], others[name])
        else:
            np.testing.assert_allclose(values[name], others[name], rtol=1e-4, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(
    delay=st.integers(0, 20 * MS),
    at=st.integers(0, 20),
    step=st.sampled_from([MS, 700_000, 2 * MS]),
    algorithm=st.sampled_from(FIXED),
    source_first=st.booleans(),
)
def test_plain_delays_are_causal(delay, at, step, algorithm, source_first):
    """A change at t is not seen before t + tau, and not later than one step after that."""
    changed = at * step
    parts = {"s": (block("source"), {"at": changed / 1e9}), "g": (block("gain"), {})}
    system = System("causal")
    for name in sorted(parts, reverse=source_first):
        component, values = parts[name]
        system = system.add(name, component, **values)
    system = system.connect("s.y", "g.u", delay=f"{delay} ns")
    run = Execution(system, step=f"{step} ns", algorithm=algorithm, delay="plain")
    run.advance(f"{step * (at + 2 + -(-20 * MS // step) + 2)} ns")
    r = run.recording()
    source, seen = (r.values[:, r.names.index(name)] for name in ("s.y", "g.y"))
    assert r.time_ns[np.argmax(source)] == changed
    if at == 0:
        # Before the start a signal has its value at the start: the change is seen at once.
        assert seen[0] == 1.0
        return
    first = r.time_ns[np.argmax(seen)]
    assert seen.max() == 1.0
    assert first >= changed + delay
    # Rounded up to whole steps, and held over one more.
    assert first <= changed + -(-delay // step) * step + step


@settings(max_examples=40, deadline=None)
@given(
    delay=st.integers(2 * MS, 20 * MS),
    slope=st.floats(-5.0, 5.0),
    algorithm=st.sampled_from(FIXED),
)
def test_an_exact_delay_of_a_ramp_is_exact(delay, slope, algorithm):
    """Interpolation is linear: a ramp comes out late by tau in the mean over the step."""
    system = (
        System("ramp")
        .add("s", block("source"))
        .add("g", block("gain"), k=slope)
        .connect("s.time", "g.u", delay=f"{delay} ns")
    )
    run = Execution(system, step="1 ms", algorithm=algorithm, delay="mean")
    run.advance("60 ms")
    r = run.recording()
    t = r.time_ns[25:] / 1e9
    # The gain's output at t was made in the step whose middle is t - H/2.
    expected = slope * (t - 0.5e-3 - delay / 1e9)
    np.testing.assert_allclose(r.values[25:, r.names.index("g.y")], expected, rtol=0, atol=1e-15)
