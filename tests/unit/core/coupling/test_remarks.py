import pytest
from recorded_runs import equal_steps
from systems import body_and_spring

from orchestrator.core.coupling import DelayMode, plan_delays, remarks, unsolved
from orchestrator.core.simunits import block
from orchestrator.core.system import System, TransportDelay, Variation, closed_loops

pytestmark = pytest.mark.usefixtures("sample_blocks")


def said(system, mode, step_ns, ahead=False):
    plans, loops = plan_delays(
        system.connections,
        closed_loops(system),
        DelayMode(mode),
        lambda _: equal_steps(step_ns, before=ahead),
    )
    return remarks(list(plans.values()), loops, step_ns, mode)


def ring(forth, back=None):
    return body_and_spring({"delay": forth}, {"delay": back})


def test_nothing_to_say():
    assert said(ring("16 ms"), "mean", 1_000_000) == []
    assert said(ring("16 ms"), "plain", 1_000_000) == []


@pytest.mark.parametrize(("mode", "done"), [("plain", "held, 20 ms"), ("mean", "stays 16 ms")])
def test_a_step_that_does_not_divide_the_delay(mode, done):
    (text,) = said(ring("16 ms"), mode, 5_000_000)
    assert "delay of 16 ms of body.y -> spring.u is not a multiple of the step of 5 ms" in text
    assert text.endswith(done)


def test_extrapolation():
    (text,) = said(ring("1 ms"), "mean", 1_000_000)  # 3H/2 cannot be taken from 1 ms
    assert text == (
        "1 of 1 delayed connections are read ahead of their newest sample, by up to 0.5 ms:"
        " extrapolated along the last two"
    )


def test_a_loop_without_a_delay_to_draw_from():
    (text,) = said(ring(None), "mean", 1_000_000)
    assert text.startswith("the loop body -> spring misses its declared delay of 0 ms by +1.5 ms")
    assert "none of its connections declares a delay" in text


def test_nothing_is_extrapolated_while_a_loop_has_a_delay_to_draw_from():
    system = ring("16 ms", back=0.0)
    plans, (loop,) = plan_delays(
        system.connections,
        closed_loops(system),
        DelayMode.MEAN,
        lambda _: equal_steps(1_000_000, before=False),
    )
    assert [plan.extrapolation_ns for plan in plans.values()] == [0, 0]
    by_delay = {p.connection.delay.nominal_ns: p for p in plans.values()}
    # The zero reads its newest sample, H/2 late; with the spring's H/2 the 16 ms make up for it.
    assert by_delay[0].effective_delay_ns == pytest.approx(
        500_000, abs=1.0
    )  # a nanosecond of rounding
    assert by_delay[16_000_000].effective_delay_ns == pytest.approx(15_000_000, abs=1.0)
    assert loop.numerical_ns == pytest.approx(0.0, abs=1.0)


def test_predictions_and_slopes_are_said():
    system = (
        System("ring")
        .add("body", block("integrator"))
        .add("spring", block("gain"))
        .connect("body.y", "spring.u", extrapolation="quadratic")
        .connect("spring.y", "body.u", extrapolation="smoothed")
    )
    first, second, missed = said(system, "mean", 1_000_000)
    assert first == "1 connection without a delay predicts the input over each step: quadratic"
    assert second == "1 connection without a delay predicts the input over each step: smoothed"
    assert missed.startswith("the loop body -> spring misses its declared delay of 0 ms by +0.5 ms")


def test_a_delay_that_varies():
    delay = TransportDelay.of("16 ms", variation=Variation(loss=0.5))
    (text,) = said(ring(delay), "plain", 1_000_000)
    # One more step on the mean, where each second sample is lost; and half a step held.
    assert text == (
        "the delay of body.y -> spring.u varies: 17.5 ms is the effective delay at its target"
        " in the mean"
    )
    (text,) = said(ring(delay), "mean", 1_000_000)
    assert text.endswith(
        "is the effective delay at its target as long as no sample is lost or late"
    )


def test_what_is_held_instead_of_read_ahead():
    system = body_and_spring({"delay": "1 ms", "interpolation": "linear", "extrapolation": "hold"})
    held, missed = said(system, "mean", 1_000_000)
    assert held == (
        "body.y -> spring.u would have to be read 0.5 ms ahead of its newest sample; the sample"
        " is held instead, so the signal is late by that time"
    )
    assert missed.endswith("by +0.5 ms: it holds samples instead of interpolating them")


def test_a_delay_that_no_sample_outlasts():
    plans, loops = plan_delays(
        ring("2 s").connections,
        closed_loops(ring("2 s")),
        DelayMode.PLAIN,
        lambda _: equal_steps(1_000_000, before=False),
    )

    def told(duration_ns):
        return remarks(list(plans.values()), loops, 1_000_000, "plain", duration_ns)

    (text,) = told(1_500_000_000)
    assert text == (
        "the delay of 2000 ms of body.y -> spring.u is not shorter than the run of 1500 ms: its"
        " target receives the start value during the whole run"
    )
    assert len(told(2_000_000_000)) == 1
    assert told(2_001_000_000) == []
    assert told(None) == []


def test_an_algebraic_loop_that_is_not_solved():
    """Under Jacobi a signal around two gains is H late at each."""
    system = System("a").add("a", block("gain")).add("b", block("gain"))
    system = system.connect("a.y", "b.u").connect("b.y", "a.u")
    loops = closed_loops(system)
    timing = lambda _: equal_steps(2_000_000, before=False)  # noqa: E731
    _, delays = plan_delays(system.connections, loops, DelayMode.MEAN, timing)
    (said,) = unsolved(delays)
    assert said.startswith("the algebraic loop a -> b -> a is not solved")
    assert "delays its signals by 4 ms around the loop" in said
