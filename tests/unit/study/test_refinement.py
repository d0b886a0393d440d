"""Runs with H, H/2 and H/4 of systems whose solutions are known."""

import math

import numpy as np
import pytest
from benchmark_problems import oscillator

from orchestrator import (
    Block,
    CapabilityError,
    DescriptionError,
    FailedRunError,
    Fault,
    Input,
    Jitter,
    Output,
    Parameter,
    System,
    TransportDelay,
    Variation,
    block,
    simulate,
    verify,
)

#: Of the loop x' = -K x(t - TAU): 1/s and s.
K, TAU = 3.0, 0.1


class Integral(Block):
    """x' = -K u, exact while u is held."""

    u: float = Input()
    x: float = Output(depends_on=(), start=1.0)

    def step(self, t, h):
        self.x -= h * K * self.u


class Counter(Block):
    """How many marks the integral of the time has passed, as the left ends of steps give it."""

    u: float = Input()
    count: int = Output(depends_on=())
    odd: bool = Output(depends_on=())
    level: float = Output(depends_on=())

    def step(self, t, h):
        self.level += h * t
        self.count = int(self.level / 0.01)
        self.odd = self.count % 2 == 1


class Sampled(Block):
    """A controller whose law is that of its step: it halves what it holds each time."""

    u: float = Input()
    y: float = Output(depends_on=(), start=1.0)

    def step(self, t, h):
        self.y *= 0.5


class Delicate(Block):
    """Fails in steps that are shorter than it takes."""

    u: float = Input()
    y: float = Output(depends_on=())
    shortest: float = Parameter(unit="s", start=0.0)

    def step(self, t, h):
        if 0 < h < self.shortest:
            raise ValueError("too short a step")
        self.y = (t + h) ** 2 + h


def alone(kind, **values):
    return System("alone").add("one", block(kind), u=0.0, **values)


def ring(delay):
    return System("ring").add("one", block(Integral)).connect("one.x", "one.u", delay=delay)


def solution(times):
    """Solve x' = -K x(t - TAU) with x = 1 up to 0, by the method of steps."""
    total = np.ones_like(times)
    for n in range(1, 40):
        since = times - (n - 1) * TAU
        total += np.where(since > 0, (-K * np.maximum(since, 0)) ** n / math.factorial(n), 0)
    return total


def rms(values):
    return math.sqrt(np.mean(values**2))


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "order"), [("jacobi", 1), ("newton", 2)])
def test_two_bodies_have_the_order_of_their_algorithm_and_its_error(algorithm, order):
    verification = verify(oscillator.by_motion(), step="2 ms", stop="2 s", algorithm=algorithm)
    assert verification.steps_ns == (2_000_000, 1_000_000, 500_000)
    np.testing.assert_array_equal(verification.time_ns, np.arange(1001) * 2_000_000)
    known = oscillator.solution(verification.result.time)
    for i, name in enumerate(oscillator.NAMES):
        assert verification[name].order == pytest.approx(order, abs=0.05)
        true = rms(verification.result[name] - known[:, i])
        assert verification[name].error == pytest.approx(true, rel=0.06)
        assert verification[name].flags == ()
    assert verification.failures == verification.remarks == ()


@pytest.mark.parametrize(("delay", "order"), [("mean", 2), ("plain", 1)])
def test_a_loop_with_a_declared_delay_is_of_second_order_in_exact_mode(delay, order):
    # In exact mode the mean of a step is read between samples: the straight line errs by H^2.
    verification = verify(ring(f"{TAU} s"), step="4 ms", stop="2 s", delay=delay)
    assert verification["one.x"].order == pytest.approx(order, abs=0.05)
    true = rms(verification.result["one.x"] - solution(verification.result.time))
    assert verification["one.x"].error == pytest.approx(true, rel=0.1)


def test_the_run_with_h_is_the_run_itself():
    settings = {"step": "2 ms", "stop": "1 s", "every": 3}
    plain = simulate(oscillator.by_force(), **settings)
    verification = verify(oscillator.by_force(), **settings, keep=True)
    np.testing.assert_array_equal(verification.result.values, plain.values)
    np.testing.assert_array_equal(verification.result.time_ns, plain.time_ns)
    assert [result.step_ns for result in verification.results] == [2_000_000, 1_000_000, 500_000]
    assert [len(r.time_ns) for r in verification.results] == [len(plain.time_ns)] * 3
    coarse, half, quarter = (result["one.position"] for result in verification.results)
    assert verification["one.position"].largest == (
        np.abs(coarse - half).max(),
        np.abs(half - quarter).max(),
    )
    assert len(verify(oscillator.by_force(), **settings).results) == 1


def test_samples_of_integers_and_booleans_are_counted():
    verification = verify(alone(Counter), step="10 ms", stop="1 s", keep=True)
    coarse, half, quarter = (result["one.count"] for result in verification.results)
    figures = verification["one.count"]
    assert figures.flags == ("discrete",)
    assert figures.differing == (np.sum(coarse != half), np.sum(half != quarter))
    assert figures.differing[0] > 0
    assert figures.first_s == verification.result.time[np.argmax(coarse != half)]
    assert figures.order is figures.error is None
    assert verification["one.odd"].flags == ("discrete",)
    assert verification["one.level"].order == pytest.approx(1.0)


def test_a_finer_run_that_fails_is_told():
    verification = verify(alone(Delicate, shortest=0.003), step="10 ms", stop="1 s")
    assert [
        text for text in verification.failures if "H/4 = 0.0025 s" in text and "too short" in text
    ]
    assert verification.steps_ns == (10_000_000, 5_000_000)
    assert verification["one.y"].largest == pytest.approx((0.005,))
    assert verification["one.y"].order is None
    assert verification.order.shape == (1,)


def test_without_a_finer_run_there_is_still_the_run_itself():
    verification = verify(alone(Delicate, shortest=0.007), step="10 ms", stop="1 s")
    assert "H/2 = 0.005 s" in verification.failures[0]
    assert len(verification.failures) == 1  # of H/4 nothing could be told
    assert verification.result["one.y"][-1] == pytest.approx(1.01)
    assert list(verification) == []
    assert verification.largest.shape == (0, 1)
    assert verification.as_json()["outputs"] == []


def test_a_run_that_fails_itself_is_an_error():
    with pytest.raises(FailedRunError):
        verify(alone(Delicate, shortest=0.02), step="10 ms", stop="1 s")


@pytest.mark.parametrize(("rates", "same"), [({"one": 1}, True), ({"one": 2}, True), ({}, False)])
def test_a_component_with_a_rate_keeps_its_period(rates, same):
    verification = verify(alone(Sampled), step="10 ms", stop="80 ms", rates=rates)
    assert (verification["one.y"].largest == (0.0, 0.0)) is same
    said = [text for text in verification.remarks if "'one' keeps its step of" in text]
    assert bool(said) is same
    if same:
        assert f"{rates['one'] * 10} ms" in said[0]


def pair(delay=None):
    """Two rings, of which the second hears the first."""
    system = System("pair").add("one", block(Integral)).add("two", block(Integral))
    system = system.add("apart", block(Integral)).connect("apart.x", "apart.u", delay="20 ms")
    return system.connect("one.x", "two.u", delay=delay).connect("two.x", "one.u", delay="20 ms")


def test_what_lies_behind_a_jitter_has_no_order():
    jitter = Variation(jitter=Jitter("uniform", 5_000_000))
    verification = verify(
        pair(TransportDelay(20_000_000, variation=jitter)), step="4 ms", stop="1 s"
    )
    assert "random" in verification["one.x"].flags
    assert "random" in verification["two.x"].flags
    assert verification["one.x"].order is verification["two.x"].error is None
    assert verification["apart.x"].order == pytest.approx(2, abs=0.1)
    assert [text for text in verification.remarks if text.endswith("outputs of one, two")]


def test_what_lies_behind_a_noise_has_no_order():
    system = System("line").add("one", block(Integral), u=1.0).add("two", block(Integral))
    system = system.connect("one.x", "two.u")
    noise = Fault.of("noise", "one.x", "0 s", sigma=0.1)
    verification = verify(system, step="4 ms", stop="1 s", faults=[noise])
    assert "random" in verification["two.x"].flags
    assert "random" not in verification["one.x"].flags


def test_declared_delays_stay_as_they_are():
    verification = verify(ring("8 ms"), step="4 ms", stop="1 s", delay="plain", keep=True)
    seen = {r.plans[0].connection.delay.nominal_ns for r in verification.results}
    assert seen == {8_000_000}


@pytest.mark.parametrize("algorithm", ["step-doubling", "embedded"])
def test_algorithms_that_choose_their_steps_are_refused(algorithm, wording):
    with wording.raises(DescriptionError):
        verify(oscillator.by_motion(), step="2 ms", stop="2 s", algorithm=algorithm)


def test_a_step_that_cannot_be_divided_is_refused(wording):
    with wording.raises(CapabilityError):
        verify(ring("8 ms"), step="100002 ns", stop="1 s")


def test_a_stop_between_two_steps_is_compared_where_all_have_a_sample():
    verification = verify(ring("8 ms"), step="4 ms", stop="11 ms", keep=True)
    assert list(verification.time_ns) == [0, 4_000_000, 8_000_000]
    assert [r.time_ns[-1] for r in verification.results] == [8_000_000, 10_000_000, 11_000_000]


def test_progress_goes_from_nothing_to_all():
    told = []
    verify(ring("8 ms"), step="4 ms", stop="1 s", progress=told.append)
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
