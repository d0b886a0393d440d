"""Properties of faults: the engine against the reference, and any order of saving and restoring."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracle.reference import Reference, run_reference
from step_control import FIXED

from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import Fault, FaultKind, System

pytestmark = pytest.mark.usefixtures("sample_blocks")
MS = 1_000_000
FIGURES = {"bias": "value", "drift": "rate", "scale": "factor", "noise": "sigma"}
amounts = st.floats(0.0, 1.5, allow_nan=False).map(lambda x: round(x, 3))
delays = st.sampled_from([None, "0 ns", "1 ms", "3 ms", "7000001 ns"])


@st.composite
def rings(draw):
    """Two lags and a gain in a ring, with and without delays, and a source beside it."""
    feeding = draw(st.sampled_from(["lag", "strict_lag"]))
    values = {"d": 0.3} if feeding == "lag" else {}
    return (
        System("ring")
        .add("s", block("source"), at=0.011)
        .add("x", block(feeding), a=-3.0, b=1.1, x0=0.7, **values)
        .add("z", block("strict_lag"), a=-1.0, b=0.9)
        .add("sum", block("sum"))
        .connect("s.y", "sum.u1", delay=draw(delays))
        .connect("z.y", "sum.u2", delay=draw(delays), factor=-0.5, offset=0.1)
        .connect("sum.y", "x.u", delay=draw(delays), offset=-0.2)
        .connect("x.y", "z.u", delay=draw(delays))
    )


#: Outputs that are no numbers end a run: test_faults of the conformance has those.
KINDS = tuple(kind for kind in FaultKind if kind != "nan")


@st.composite
def faulty(draw, kinds=KINDS, lines=("s.y", "z.y -> sum.u2", "sum.y", "x.y")):
    """One to four faults, of which those of the delay do not overlap."""
    faults = []
    for number in range(draw(st.integers(1, 4))):
        kind, on = draw(st.sampled_from(kinds)), draw(st.sampled_from(lines))
        begin = draw(st.integers(-2, 30)) * MS // 2
        until = draw(st.none() | st.integers(1, 20).map(lambda n, b=begin: b + n * MS * 7 // 10))
        figures = {FIGURES[kind]: draw(amounts)} if kind in FIGURES else {}
        if kind == "delay-step":
            if any(f.kind == "delay-step" for f in faults):
                continue
            figures = {"delay": f"{draw(st.integers(0, 9 * MS))} ns"}
        if kind == "noise":
            figures["seed"] = draw(st.integers(0, 3))
        end = None if until is None else f"{max(until, begin + 2 * MS, 2 * MS)} ns"
        faults.append(Fault.of(kind, on, f"{begin} ns", end, label=f"f{number}", **figures))
    return faults


def expect_equal(run, rows):
    recording = run.recording()
    for column, name in enumerate(recording.names):
        slot = run.schedule.slots[name][0]
        np.testing.assert_array_equal(recording.values[:, column], rows[:, slot], err_msg=name)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(
    system=rings(),
    faults=faulty(),
    mode=st.sampled_from(["plain", "mean"]),
    algorithm=st.sampled_from(FIXED),
    step=st.sampled_from(["1 ms", "0.7 ms", "2 ms"]),
)
def test_engine_equals_reference(system, faults, mode, algorithm, step):
    options = {"step": step, "algorithm": algorithm, "delay": mode, "faults": faults}
    one, two = (Execution(system, **options) for _ in range(2))
    one.step(25)
    expect_equal(one, run_reference(two, 25))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    system=rings(),
    faults=faulty(),
    mode=st.sampled_from(["plain", "mean"]),
    algorithm=st.sampled_from(["jacobi", "gauss-seidel"]),
    rates=st.fixed_dictionaries({"s": st.integers(1, 4), "x": st.integers(1, 3)}),
)
def test_rates_equal_the_reference(system, faults, mode, algorithm, rates):
    options = {"step": "1 ms", "algorithm": algorithm, "delay": mode, "faults": faults}
    one, two = (Execution(system, rates=rates, **options) for _ in range(2))
    one.step(25)
    expect_equal(one, run_reference(two, 25))


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(
    faults=faulty(
        [kind for kind in FaultKind if kind not in {"noise", "nan"}], ["x.y", "z.y", "z.y -> x.u"]
    ),
    mode=st.sampled_from(["plain", "mean"]),
    algorithm=st.sampled_from(["embedded", "step-doubling"]),
)
def test_varying_steps_equal_the_reference_and_end_at_faults(faults, mode, algorithm):
    """States only, and no pasts: ``embedded`` cannot step over signals that jump within a step."""
    assume(algorithm != "embedded" or all(fault.kind != "delay-step" for fault in faults))
    system = (
        System("oscillator")
        .add("x", block("strict_lag"), a=-3.0, b=40.0, x0=0.7)
        .add("z", block("strict_lag"), a=-1.0, b=30.0)
        .connect("x.y", "z.u")
        .connect("z.y", "x.u", factor=-0.5, offset=0.1)
    )
    options = {"step": "1 ms", "algorithm": algorithm, "delay": mode, "faults": faults}
    one, two = (Execution(system, **options) for _ in range(2))
    one.advance("15 ms")
    recording = one.recording()
    times, rows = Reference(two).run(100_000, 15 * MS)
    np.testing.assert_array_equal(recording.time_ns, times)
    expect_equal(one, rows)
    changes = {t for fault in faults for t in (fault.begin_ns, fault.until_ns) if t is not None}
    assert {t for t in changes if 0 < t <= 15 * MS} <= set(times.tolist())


@pytest.mark.slow
@settings(max_examples=50, deadline=None)
@given(
    system=rings(),
    faults=faulty(),
    mode=st.sampled_from(["plain", "mean"]),
    algorithm=st.sampled_from(FIXED),
    moves=st.lists(st.integers(1, 9) | st.sampled_from(["save", "restore", "store"]), max_size=12),
)
def test_any_order_of_saving_and_restoring_is_the_same_run(system, faults, mode, algorithm, moves):
    options = {"step": "1 ms", "algorithm": algorithm, "delay": mode, "faults": faults}
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
    for execution in (whole, run):
        execution.advance(f"{run.time_ns + 20 * MS} ns")
    np.testing.assert_array_equal(run.recording().values, whole.recording().values)


@settings(max_examples=50, deadline=None)
@given(
    system=rings(),
    seed=st.integers(0, 5),
    algorithms=st.permutations(["jacobi", "gauss-seidel"]),
)
def test_noise_depends_on_time_and_seed_only(system, seed, algorithms):
    """The same noise is added under another algorithm: outside of loops the same values come."""
    noise = Fault.of("noise", "s.y", "5 ms", sigma=0.5, seed=seed)
    alone = System("alone").add("s", block("source")).add("g", block("gain"))
    alone = alone.connect("s.y", "g.u", delay="2 ms")
    found = []
    for algorithm in algorithms:
        with Execution(alone, step="1 ms", algorithm=algorithm, delay="plain", faults=[noise]) as e:
            e.step(20)
            found.append(e.recording().values)
    np.testing.assert_array_equal(*found)
