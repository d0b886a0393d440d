"""What each kind of fault does to an input, at every communication point.

A source tells the time; a gain of one passes its input on. Under Jacobi the gain's output in row n
is its input in the step from (n - 1) H: without a fault the time (n - 1) H, in ms n - 1.
"""

import numpy as np
import pytest

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.master import Execution
from orchestrator.core.simunits import block
from orchestrator.core.system import Causality, Connector, Fault, System

pytestmark = pytest.mark.usefixtures("sample_blocks")
N = np.arange(21.0)


def ramp(**line):
    return (
        System("ramp")
        .add("s", block("source"))
        .add("g", block("gain"))
        .connect("s.time", "g.u", **{"factor": 1e3, **line})
    )


def seen(system, *faults, steps=20, output="g.y", **options):
    """Inputs in ms, one for each step: row n - 1 is the step from (n - 1) H."""
    options = {"algorithm": "jacobi", "delay": "plain", "step": "1 ms", **options}
    with Execution(system, faults=faults, **options) as run:
        run.step(steps)
        recording = run.recording()
    return recording.values[1:, recording.names.index(output)]


def expect(found, expected):
    # A millisecond is 0.001 s, which is rounded before the factor of 1000.
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_without_a_fault():
    expect(seen(ramp()), N[:-1])


@pytest.mark.parametrize("until", [None, "9 ms"])
def test_drop_keeps_the_value_of_the_step_before(until):
    found = seen(ramp(), Fault.of("drop", "s.time -> g.u", "5 ms", until))
    end = 20 if until is None else 9
    expect(found, [*range(5), *[4] * (end - 5), *range(end, 20)])


def test_stuck_keeps_the_value_at_the_begin():
    found = seen(ramp(), Fault.of("stuck", "s.time", "5 ms", "9 ms"))
    expect(found, [*range(5), 5, 5, 5, 5, *range(9, 20)])


def test_a_fault_acts_from_the_first_communication_point_not_before_its_time():
    found = seen(ramp(), Fault.of("stuck", "s.time", "4.000001 ms", "8.000001 ms"))
    expect(found, [*range(5), 5, 5, 5, 5, *range(9, 20)])


def test_what_is_dropped_from_the_start_is_what_was_initialised():
    found = seen(ramp(offset=7.0), Fault.of("drop", "s.time", "0 s"), start="0.1 s")
    expect(found, [*[107.0] * 20])
    found = seen(ramp(offset=7.0), Fault.of("drop", "s.time", 0.0, "103 ms"), start="0.1 s")
    expect(found, [107, 107, 107, *range(110, 127)])


def test_bias_is_in_the_unit_of_the_output():
    found = seen(ramp(offset=2.0), Fault.of("bias", "s.time", "5 ms", "7 ms", value=0.25))
    expect(found, N[:-1] + 2.0 + 250.0 * ((N[:-1] >= 5) & (N[:-1] < 7)))


def test_drift_grows_from_its_begin():
    found = seen(ramp(), Fault.of("drift", "s.time", "5 ms", rate=2.0))
    expect(found, N[:-1] + np.where(N[:-1] >= 5, 2.0 * (N[:-1] - 5), 0.0))


def test_scale_leaves_the_offset_of_the_connection():
    found = seen(ramp(offset=2.0), Fault.of("scale", "s.time", "5 ms", factor=3.0))
    expect(found, 2.0 + N[:-1] * np.where(N[:-1] >= 5, 3.0, 1.0))


def test_of_faults_of_one_value_the_first_acts_first():
    bias = Fault.of("bias", "s.time", "5 ms", value=0.001)
    scale = Fault.of("scale", "s.time", "5 ms", factor=2.0)
    expect(seen(ramp(), bias, scale)[6], 2.0 * (6 + 1))
    expect(seen(ramp(), scale, bias)[6], 2.0 * 6 + 1)


def test_what_is_received_comes_after_what_is_sent():
    """A drop that is listed first still keeps what had arrived with the bias."""
    drop, bias = (
        Fault.of("drop", "s.time", "7 ms"),
        Fault.of("bias", "s.time", "5 ms", value=1.0),
    )
    expect(seen(ramp(), drop, bias), [*range(5), 1005, *[1006] * 14])


class TestOfADelayedConnection:
    """Delay 3 ms: the step from n H sees n - 3, and 0 before."""

    healthy = np.maximum(N[:-1] - 3, 0.0)

    def test_without_a_fault(self):
        expect(seen(ramp(delay="3 ms")), self.healthy)

    def test_what_is_sent_arrives_later(self):
        found = seen(ramp(delay="3 ms"), Fault.of("bias", "s.time", "5 ms", "7 ms", value=1.0))
        expect(found, self.healthy + 1000.0 * ((N[:-1] >= 8) & (N[:-1] < 10)))

    def test_stuck(self):
        found = seen(ramp(delay="3 ms"), Fault.of("stuck", "s.time", "5 ms", "7 ms"))
        expect(found, [0, 0, 0, 0, 1, 2, 3, 4, 5, 5, *range(7, 17)])

    def test_stuck_from_the_start(self):
        found = seen(ramp(delay="3 ms", offset=1.0), Fault.of("stuck", "s.time", 0, "7 ms"))
        expect(found, [*[1] * 10, *range(8, 18)])

    def test_drop_acts_at_once_and_what_was_sent_meanwhile_is_there_after_it(self):
        found = seen(ramp(delay="3 ms"), Fault.of("drop", "s.time", "8 ms", "12 ms"))
        expect(found, [0, 0, 0, 0, 1, 2, 3, 4, 4, 4, 4, 4, *range(9, 17)])

    @pytest.mark.parametrize(("delay", "at_once"), [("6 ms", 2), ("1 ms", 7), ("0 s", 8)])
    def test_delay_step(self, delay, at_once):
        """At the jump a longer delay repeats what was there before, a shorter one leaves it out."""
        found = seen(
            ramp(delay="3 ms"), Fault.of("delay-step", "s.time", "8 ms", "12 ms", delay=delay)
        )
        during = range(at_once, at_once + 4)
        expect(found, [0, 0, 0, 0, 1, 2, 3, 4, *during, *range(9, 17)])

    def test_exact_keeps_what_it_takes_off(self):
        """A ramp is late by the delay in the mean of the step: read at n + 1/2 - delay."""
        fault = Fault.of("delay-step", "s.time", "10 ms", delay="5.25 ms")
        found = seen(ramp(delay="3 ms"), fault, delay="mean")
        expect(found[5:10], N[5:10] + 0.5 - 3.0)
        expect(found[10:], N[10:-1] + 0.5 - 5.25)

    def test_draws_of_a_varying_delay_stay(self):
        """Noise and loss have their own draws: with a sigma of 0 nothing changes."""
        from orchestrator.core.system import Jitter, JitterKind, TransportDelay, Variation

        jitter = Variation(Jitter(JitterKind.UNIFORM, 1_000_000), loss=0.2, seed=3)
        system = ramp(delay=TransportDelay(3_000_000, variation=jitter))
        silent = Fault.of("noise", "s.time", "5 ms", sigma=0.0)
        np.testing.assert_array_equal(seen(system), seen(system, silent))
        later = Fault.of("delay-step", "s.time", "10 ms", delay="5 ms")
        # What is read two milliseconds later is what was known two milliseconds before.
        np.testing.assert_array_equal(seen(system, later)[10:], seen(system)[8:18])


@pytest.mark.parametrize(
    ("algorithm", "first"),
    # The gain sees a source that was stepped before at the end of the step.
    [("jacobi", 0), ("gauss-seidel", 1)],
)
def test_a_connection_without_a_delay_gets_one(algorithm, first):
    """Exact: later by the delay than without the fault, under either algorithm."""
    fault = Fault.of("delay-step", "s.time", "8 ms", "12 ms", delay="2.5 ms")
    found = seen(ramp(), fault, algorithm=algorithm, delay="mean")
    healthy = N[:-1] + first
    expect(found, np.where((N[:-1] >= 8) & (N[:-1] < 12), healthy - 2.5, healthy))


def test_whole_numbers_are_held():
    system = System("whole").add("a", block("typed"), n=3, flag=True).add("b", block("typed"))
    system = system.connect("a.m", "b.n").connect("a.not_flag", "b.flag")
    fault = Fault.of("delay-step", "a.m", "8 ms", delay="2.5 ms")
    assert set(seen(system, fault, output="b.m", delay="mean")) == {5.0}


def test_one_element_of_an_array():
    system = System("a").add("a", block("matrix"), u=(0.1, 0.2)).add("b", block("matrix"))
    system = system.connect("a.y", "b.u", delay="1 ms", factor=2.0)

    def total(*faults):
        return seen(system, *faults, output="b.total[1]")

    bias = Fault.of("bias", "a.y", "5 ms", value=3.0, element=1)
    np.testing.assert_array_equal(
        seen(system, bias, output="b.total[0]"), seen(system, output="b.total[0]")
    )
    # Sent at 5 ms, seen in the step from 6 ms; then 6 more in each step.
    np.testing.assert_allclose(total(bias) - total(), np.maximum(N[1:] - 6, 0) * 6, atol=1e-12)
    both = Fault.of("bias", "a.y", "5 ms", value=[0.0, 3.0])
    np.testing.assert_array_equal(total(both), total(bias))


class TestNoise:
    """Of a constant that the offset of the connection takes off."""

    def noise(self, seed=1, **options):
        fault = Fault.of("noise", "s.y", "10 ms", sigma=2.0, seed=seed)
        system = System("still").add("s", block("source")).add("g", block("gain"))
        return seen(system.connect("s.y", "g.u", offset=-1.0), fault, steps=4000, **options)

    def test_is_white_and_gaussian(self):
        found = self.noise()
        assert not found[:10].any()
        drawn = found[10:] / 2.0
        count = len(drawn)
        # Four standard deviations of the mean, the variance, the fourth moment, a correlation.
        assert abs(drawn.mean()) < 4 / np.sqrt(count)
        assert abs(drawn.var() - 1) < 4 * np.sqrt(2 / count)
        assert abs((drawn**4).mean() - 3) < 4 * np.sqrt(96 / count)
        for lag in (1, 2, 3, 10):
            assert abs((drawn[lag:] * drawn[:-lag]).mean()) < 4 / np.sqrt(count)

    def test_depends_on_the_time_and_not_on_where_the_run_began(self):
        np.testing.assert_array_equal(self.noise(start="5 ms")[5:3995], self.noise()[10:])

    def test_other_seeds_draw_otherwise(self):
        one, other = self.noise(seed=1)[10:], self.noise(seed=2)[10:]
        assert abs(np.corrcoef(one, other)[0, 1]) < 4 / np.sqrt(len(one))

    def test_all_connections_of_an_output_have_the_same(self):
        system = System("two").add("s", block("source")).add("a", block("gain"))
        system = system.add("b", block("gain")).connect("s.y", "a.u").connect("s.y", "b.u")
        fault = Fault.of("noise", "s.y", "1 ms", sigma=1.0)
        np.testing.assert_array_equal(
            *(seen(system, fault, output=output) for output in ("a.y", "b.y"))
        )


def test_a_checkpoint_fits_runs_with_the_same_faults_only(wording):
    one, other = (
        Execution(ramp(), step="1 ms", faults=[Fault.of("bias", "s.time", "5 ms", value=v)])
        for v in (1.0, 2.0)
    )
    with one, other, wording.raises(LoadError):
        other.restore(one.save().stored())


@pytest.mark.parametrize("changed", [{"seed": 2}, {"at": "1234.567890124 s"}])
def test_a_checkpoint_knows_every_figure_of_a_fault(changed, wording):
    def run(seed=1, at="1234.567890123 s"):
        noise = Fault.of("noise", "s.time", at, sigma=0.1, seed=seed)
        return Execution(ramp(), step="1 ms", faults=[noise])

    with run() as first, run() as same, run(**changed) as other:
        stored = first.save().stored()
        same.restore(stored)
        with wording.raises(LoadError):
            other.restore(stored)


def test_the_recorded_output_is_what_the_unit_gave():
    np.testing.assert_array_equal(
        seen(ramp(), Fault.of("stuck", "s.time", "5 ms"), output="s.time"),
        seen(ramp(), output="s.time"),
    )


def test_in_a_nested_system():
    """Components of nested systems are called by their paths, and chains are one connection."""
    own = {name: Connector(name, c) for name, c in (("u", Causality.INPUT),)}
    inner = System("inner", connectors=own).add("g", block("gain")).connect("u", "g.u")
    top = System("top", systems={"box": inner}).add("s", block("source"))
    top = top.connect("s.time", "box.u", factor=1e3)
    fault = Fault.of("drop", "s.time -> box/g.u", "5 ms")
    expect(seen(top, fault, output="box/g.y"), [*range(5), *[4] * 15])
