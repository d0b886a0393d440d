"""What stands on a connection: the engine equals the reference bit for bit, and is reproducible."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.reference import Reference, recorded
from systems import Attitude

from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Output, block
from orchestrator.core.system import (
    DelayTrace,
    Delivery,
    Jitter,
    JitterKind,
    Newest,
    System,
    TransportDelay,
    Variation,
)

pytestmark = pytest.mark.usefixtures("sample_blocks")
MS = 1_000_000
STEPS = [MS, 700_000, 999_999]
#: Others refuse predicted inputs; their delays are in test_executions.
ALGORITHMS = st.sampled_from(["jacobi", "gauss-seidel"])
MODES = st.sampled_from(["plain", "mean"])


class Turner(Block):
    """A quaternion that turns, by no steady rate, and changes its sign now and then."""

    q: np.ndarray = Output(shape=(4,), start=(1.0, 0.0, 0.0, 0.0), depends_on=())

    def initialise(self, t):
        self.step(t, 0.0)

    def step(self, t, h):
        angle = 40.0 * (t + h) + np.sin(300.0 * (t + h))
        sign = -1.0 if int((t + h) * 1e4) % 3 == 0 else 1.0
        self.q[:] = sign * np.array([np.cos(angle), 0.6 * np.sin(angle), 0.0, 0.8 * np.sin(angle)])


@st.composite
def jitters(draw, nominal):
    kind = draw(st.sampled_from(JitterKind))
    most = {JitterKind.UNIFORM: nominal, JitterKind.NORMAL: nominal // 3, JitterKind.GAMMA: 5 * MS}
    spread = draw(st.integers(1, max(1, most[kind])))
    shape = draw(st.sampled_from([0.7, 2.0, 9.0])) if kind is JitterKind.GAMMA else 2.0
    return Jitter(kind, spread, shape, draw(st.sampled_from([0, MS, 7 * MS])))


@st.composite
def traces(draw):
    rows = draw(st.lists(st.integers(1, 9 * MS), min_size=1, max_size=8))
    times = np.cumsum(rows).tolist()
    delay = st.none() | st.integers(0, 9 * MS)
    delays = draw(st.lists(delay, min_size=len(times), max_size=len(times)))
    return DelayTrace(tuple(times), tuple(delays), draw(st.booleans()))


@st.composite
def variations(draw, nominal):
    jitter = draw(st.none() | jitters(nominal))
    trace = draw(traces()) if jitter is None and draw(st.booleans()) else None
    loss = draw(st.sampled_from([0.0, 0.1, 0.6]))
    if jitter is None and trace is None:
        loss = loss or 0.3
    return Variation(
        jitter,
        trace,
        loss,
        draw(st.integers(0, 3)),
        draw(st.sampled_from(Delivery)),
        draw(st.sampled_from(Newest)),
    )


@st.composite
def delays(draw):
    nominal = draw(st.integers(3, 9 * MS) | st.sampled_from([MS, 3 * MS, 4_900_000]))
    varies = draw(st.none() | variations(nominal))
    return TransportDelay(nominal, variation=varies)


@st.composite
def delayed(draw):
    """What connect() takes for a delayed line."""
    between = draw(st.sampled_from([None, "hold", "linear", "cubic"]))
    beyond = None
    if between != "hold":
        beyond = draw(st.sampled_from([None, "hold", "linear", "quadratic"]))
    if between is None and beyond not in {None, "hold"}:
        between = "linear"
    return {"delay": draw(delays()), "interpolation": between, "extrapolation": beyond}


@st.composite
def systems(draw):
    """A ring of two lags through delayed and predicted lines, and a quaternion on the side."""
    beyond = st.sampled_from([None, "hold", "linear", "quadratic", "smoothed"])
    turning = {"delay": draw(delays()), "interpolation": draw(st.sampled_from([None, "slerp"]))}
    parts = ["a", "b", "g"]
    system = System("lines")
    for name in draw(st.permutations(parts)):
        kind = "gain" if name == "g" else "strict_lag"
        values = {"k": -0.9} if name == "g" else {"a": -200.0, "b": 300.0, "x0": 1.0}
        system = system.add(name, block(kind), **values)
    return (
        system.add("t", block(Turner))
        .add("s", block(Attitude))
        .connect("a.y", "g.u", **draw(delayed()))
        .connect("g.y", "b.u", extrapolation=draw(beyond))
        .connect("b.y", "a.u", extrapolation=draw(beyond))
        .connect("t.q", "s.q", **turning)
    )


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(system=systems(), mode=MODES, algorithm=ALGORITHMS, step=st.sampled_from(STEPS))
def test_engine_equals_reference(system, mode, algorithm, step):
    options = {"step": f"{step} ns", "algorithm": algorithm, "delay": mode}
    with Execution(system, **options) as execution, Execution(system, **options) as two:
        execution.step(40)
        reference = Reference(two)
        _, rows = reference.run(40)
        slots = execution.schedule.slots
        for name, values in recorded(execution).items():
            port, _, element = name.partition("[")
            slot = slots[port][0] + int(element.rstrip("]") or 0)
            np.testing.assert_array_equal(values, rows[:, slot], err_msg=name)
        assert execution.line_statistics() == reference.line_statistics()


@settings(max_examples=25, deadline=None)
@given(system=systems(), mode=MODES, algorithm=ALGORITHMS, steps=st.integers(1, 20))
def test_a_checkpoint_keeps_what_is_on_the_way(system, mode, algorithm, steps):
    options = {"step": "1 ms", "algorithm": algorithm, "delay": mode}
    with Execution(system, **options) as execution, Execution(system, **options) as parts:
        execution.step(steps + 20)
        parts.step(steps)
        saved = parts.save().stored()
        parts.step(7)
        parts.restore(saved)
        parts.step(20)
        others = recorded(parts)
        for name, values in recorded(execution).items():
            np.testing.assert_array_equal(values, others[name])
        assert execution.line_statistics() == parts.line_statistics()


@settings(max_examples=30, deadline=None)
@given(varies=variations(5 * MS), extra=st.booleans())
def test_a_line_more_changes_no_other(varies, extra):
    """Draws belong to a connection: not to its place among others."""
    delay = TransportDelay(5 * MS, variation=varies)
    system = System("draws").add("s", block("source")).add("g", block("gain"))
    if extra:
        system = system.add("g2", block("gain")).connect("s.time", "g2.u", delay=delay)
    system = system.connect("s.time", "g.u", delay=delay)
    alone = (
        System("alone")
        .add("g", block("gain"))
        .add("s", block("source"))
        .connect("s.time", "g.u", delay=delay)
    )
    runs = []
    for each in (system, alone):
        with Execution(each, step="1 ms", delay="plain", algorithm="jacobi") as run:
            run.step(50)
            runs.append((recorded(run)["g.y"], run.line_statistics()["s.time -> g.u"]))
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    assert runs[0][1] == runs[1][1]
