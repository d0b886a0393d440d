"""Lines that vary, predict or turn, in whole runs."""

import numpy as np
import pytest
from systems import Attitude, Rotor

from orchestrator.core.diagnostics import DescriptionError, StepError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import System, TransportDelay, Variation

pytestmark = pytest.mark.usefixtures("sample_blocks")


class Stuck(Rotor):
    def step(self, t, h):
        self.q[:] = 0.0


def rotor(kind, **line):
    return (
        System("rotor")
        .add("r", block(kind))
        .add("e", block(Attitude))
        .connect("r.q", "e.q", **line)
    )


def test_losses_are_counted():
    delay = TransportDelay.of("3 ms", variation=Variation(loss=0.25, seed=1))
    system = System("s").add("s", block("source")).add("g", block("gain"))
    system = system.connect("s.time", "g.u", delay=delay)
    with Execution(system, step="1 ms", delay="plain", algorithm="jacobi") as run:
        run.advance("1 s")
        (facts,) = run.line_statistics().values()
        seen = run.recording()
    assert facts.sent == 1000
    assert facts.late == 0
    assert 200 < facts.dropped < 300  # 250, deviation 14
    values = seen.values[:, seen.names.index("g.y")]
    # A sample is used as soon as it is 3 ms old; each repetition is a reading that was held.
    assert facts.held == (np.diff(values[5:]) == 0.0).sum()
    age = seen.time_ns[5:-1] / 1e9 - values[6:]
    assert facts.oldest_ns == pytest.approx(age.max() * 1e9, abs=1.0)  # times are rounded doubles


@pytest.mark.parametrize("delay", ["5.5 ms", "5 ms"])
def test_a_turning_body_is_seen_where_it_was(delay):
    with Execution(
        rotor(Rotor, delay=delay, interpolation="slerp"), step="1 ms", algorithm="jacobi"
    ) as run:
        run.advance("0.1 s")
        seen = run.recording()
        (facts,) = run.line_statistics().values()
    first = seen.names.index("e.y[0]")
    q = seen.values[20:, first : first + 4]
    # Exact: in the mean of the step before, the reading is the delay behind its middle. A steady
    # turn lies on the arc, so nothing but rounding is left.
    half = 20.0 * (seen.time_ns[20:] / 1e9 - 0.5e-3 - float(delay.split()[0]) / 1e3)
    expected = np.stack([np.cos(half), 0.6 * np.sin(half), 0 * half, 0.8 * np.sin(half)], axis=1)
    np.testing.assert_allclose(q, expected, rtol=0, atol=1e-14)
    assert facts.held == 0


def test_a_turning_body_is_held_and_not_turned_on():
    system = rotor(Rotor, delay=0.0, interpolation="slerp")
    with Execution(system, step="1 ms", algorithm="jacobi") as run:
        run.advance("0.1 s")
        seen = run.recording()
        (facts,) = run.line_statistics().values()
    r, e = seen.names.index("r.q[0]"), seen.names.index("e.y[0]")
    # Read at t + H/2 of a line whose newest sample stands at t: that one, scaled to length 1.
    np.testing.assert_allclose(
        seen.values[1:, e : e + 4], seen.values[:-1, r : r + 4], rtol=0, atol=1e-15
    )
    assert facts.held == 99  # all but the first, when the line was empty


def test_a_quaternion_of_length_zero_is_named(wording):
    with wording.raises(StepError):
        Execution(rotor(Stuck, delay="1 ms", interpolation="slerp"), step="1 ms")


@pytest.mark.parametrize(
    "line",
    [
        {"delay": "1 ms", "interpolation": "slerp", "factor": 2.0},
        {"interpolation": "slerp"},
        {"delay": "1 ms", "interpolation": "slerp", "extrapolation": "linear"},
        {"delay": "1 ms", "interpolation": "splines"},
        {"extrapolation": "cubic"},
    ],
)
def test_refusals(line, wording):
    with wording.raises(DescriptionError):
        Execution(rotor(Rotor, **line), step="1 ms")


def test_only_real_quaternions_turn(wording):
    system = System("s").add("a", block("source")).add("b", block("gain"))
    with wording.raises(
        DescriptionError, code="CON107", place="connection a.y -> b.u", key="a.y -> b.u"
    ):
        system.connect("a.y", "b.u", delay="1 ms", interpolation="slerp").check()
    typed = System("s").add("a", block("typed"), n=1).add("b", block("typed"))
    typed = typed.connect("a.m", "b.n", extrapolation="linear").connect("a.not_flag", "b.flag")
    with wording.raises(DescriptionError):
        typed.check()
