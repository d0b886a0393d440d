from dataclasses import replace

import pytest
from recorded_runs import equal_steps
from systems import body_and_spring

from orchestrator.core.coupling import DelayMode, plan_delays
from orchestrator.core.coupling.delay_plan import _rotated as rotated
from orchestrator.core.simunits import block
from orchestrator.core.system import Endpoint, System, closed_loops

pytestmark = pytest.mark.usefixtures("sample_blocks")
H = 1_000_000


def ring(delay):
    """Body -> spring (feed-through) -> body: the contact loop in small."""
    return body_and_spring({"delay": delay})


def jacobi(line):
    return False


def gauss_seidel(line):
    return line.source.component == "spring"  # the spring is stepped first, then the body


def plan(system, mode, before, step=H):
    return plan_delays(
        system.connections,
        closed_loops(system),
        DelayMode(mode),
        lambda line: equal_steps(step, before=before(line)),
    )


@pytest.mark.parametrize(("before", "adds"), [(jacobi, 3 * H / 2), (gauss_seidel, H / 2)])
def test_what_the_coupling_adds(before, adds):
    """Plain: 3H/2 for Jacobi, H/2 for Gauss-Seidel; also without any delay."""
    for delay in ("16 ms", None):
        _, (loop,) = plan(ring(delay), "plain", before)
        assert loop.numerical_ns == adds
        assert loop.physical_ns == (16_000_000 if delay else 0)
        assert loop.total_ns == loop.physical_ns + adds


@pytest.mark.parametrize("before", [jacobi, gauss_seidel])
@pytest.mark.parametrize("delay", ["16 ms", "15.3 ms", "2345678 ns"])
def test_exact_adds_nothing(before, delay):
    plans, (loop,) = plan(ring(delay), "mean", before)
    assert loop.numerical_ns == 0.0
    (reading,) = plans.values()
    assert reading.extrapolation_ns == 0
    rest = loop.total_ns - reading.effective_delay_ns
    assert rest == (H if before is jacobi else 0.0)  # hold of the undelayed line, and the spring


@pytest.mark.parametrize(
    ("delay", "rounded"), [("16 ms", 16), ("15.1 ms", 16), ("15.999999 ms", 16), ("1 ns", 1)]
)
def test_plain_rounds_up_to_whole_steps(delay, rounded):
    plans, (loop,) = plan(ring(delay), "plain", gauss_seidel)
    (reading,) = plans.values()
    assert reading.effective_delay_ns == rounded * H + H / 2
    assert loop.total_ns == rounded * H + H / 2


def test_a_plain_delay_of_zero_is_no_delay_but_an_exact_one_is():
    plans, (loop,) = plan(ring(0.0), "plain", jacobi)
    assert plans == {}
    assert loop.numerical_ns == 3 * H / 2
    plans, (loop,) = plan(ring(0.0), "mean", jacobi)
    (reading,) = plans.values()
    # The coupling's 3H/2 is taken off: read at t + 3H/2, the newest sample stands at t.
    assert reading.shift_ns == 3 * H / 2
    assert reading.extrapolation_ns == 3 * H / 2
    assert loop.numerical_ns == 0.0


def test_extrapolation_counts_from_the_newest_sample():
    def body_first(line):
        return line.source.component == "body"

    plans, _ = plan(ring("0.4 ms"), "mean", body_first)
    (reading,) = plans.values()
    # The body's newest sample stands at t + H. The loop beyond: hold H/2 and spring H/2.
    assert reading.shift_ns == 1_100_000
    assert reading.extrapolation_ns == 100_000


def test_an_odd_step_leaves_at_most_half_a_nanosecond():
    _, (loop,) = plan(ring("16 ms"), "mean", jacobi, step=999_999)
    assert abs(loop.numerical_ns) <= 0.5


def test_delayed_lines_of_one_loop_share_in_proportion_to_their_delays():
    system = ring("16 ms").with_delay("spring.y", "body.u", "4 ms")
    plans, (loop,) = plan(system, "mean", jacobi)
    assert loop.numerical_ns == 0.0
    shares = {
        str(p.connection): p.effective_delay_ns - p.connection.delay.nominal_ns
        for p in plans.values()
    }
    assert shares == {"body.y -> spring.u": -0.4 * H, "spring.y -> body.u": -0.1 * H}


def test_loops_that_share_a_line_get_the_compromise():
    """Two rings through one delayed line, one with a feed-through more: they differ by H."""
    system = (
        System("two")
        .add("body", block("integrator"))
        .add("near", block("gain"))
        .add("far", block("gain"))
        .add("sum", block("sum"))
        .connect("body.y", "near.u", delay="16 ms")
        .connect("near.y", "sum.u1")
        .connect("near.y", "far.u")
        .connect("far.y", "sum.u2")
        .connect("sum.y", "body.u")
    )
    _, loops = plan(system, "mean", jacobi)
    # Jacobi: the longer ring has one hold and one feed-through more, H together.
    assert sorted(loop.numerical_ns for loop in loops) == pytest.approx([-H / 2, H / 2])


def test_of_loops_that_share_a_line_each_counts_as_often_as_there_are_rings_of_it():
    """Two rings by ``twice``, one past it: they differ by H, and squares are least at 1 to 2."""
    system = (
        System("three")
        .add("body", block("integrator"))
        .add("near", block("gain"))
        .add("twice", block("sum"))
        .add("sum", block("sum"))
        .connect("body.y", "near.u", delay="16 ms")
        .connect("near.y", "twice.u1")
        .connect("near.y", "twice.u2")
        .connect("twice.y", "sum.u1")
        .connect("near.y", "sum.u2")
        .connect("sum.y", "body.u")
    )
    _, loops = plan(system, "mean", jacobi)
    missed = {loop.ring_count: loop.numerical_ns for loop in loops}
    assert missed == pytest.approx({2: H / 3, 1: -2 * H / 3})


def test_open_connections_see_their_delay():
    system = (
        System("open")
        .add("a", block("integrator"))
        .add("b", block("integrator"))
        .connect("a.y", "b.u", delay="16 ms")
    )
    plans, loops = plan(system, "mean", jacobi)
    assert loops == []
    assert plans[Endpoint("b", "u")].effective_delay_ns == 16_000_000


def test_a_delay_outside_of_every_loop_does_not_disturb():
    system = ring(None).add("probe", block("gain")).connect("body.y", "probe.u", delay="2 ms")
    plans, (loop,) = plan(system, "mean", jacobi)
    assert plans[Endpoint("probe", "u")].effective_delay_ns == 2_000_000
    assert loop.numerical_ns == 3 * H / 2  # nothing there that could take it off: it is reported


@pytest.mark.parametrize("names", [("b", "a", "c"), ("b", "a", "c", "a", "b"), ("a", "a"), ("a",)])
def test_all_rotations_of_a_ring_have_one_spelling(names):
    every = [names[i:] + names[:i] for i in range(len(names))]
    assert {rotated(each) for each in every} == {min(every)}


@pytest.mark.parametrize(
    ("delay", "spring_follows", "body_follows", "shift", "followed"),
    [
        # the body holds what the spring, which follows, ends its step with: that is H/2 early
        (0.3, True, False, -0.3 - 0.5, False),
        # the body follows what the spring does: nothing is early
        (0.7, True, True, -0.7, True),
        # the spring holds one value, which 0.3 ms are missing for: so the body holds the last, too
        (0.7, False, True, 0.5 - 0.7, False),
    ],
)
def test_lines_are_followed_where_what_is_read_is_known_or_nearly(
    delay, spring_follows, body_follows, shift, followed
):
    """In ms, for a step of 1 ms; the spring is stepped first."""

    def timing(line):
        follows = spring_follows if line.delay else body_follows
        return replace(equal_steps(H, before=line.delay is None), follows=follows)

    system = ring(f"{delay} ms")
    loops = closed_loops(system)
    plans, (loop,) = plan_delays(system.connections, loops, DelayMode.WAVEFORM, timing)
    assert loop.numerical_ns == pytest.approx(0.0, abs=1.0)
    assert plans[Endpoint("spring", "u")].shift_ns == pytest.approx(shift * 1e6, abs=1.0)
    assert (Endpoint("body", "u") in plans) is followed
