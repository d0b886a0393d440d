"""The step that is chosen: against runs with it and with the next longer one, and closed forms."""

import math

import pytest
from hypothesis import given, settings

from orchestrator import System, block, simulate
from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.loops import linear_system
from orchestrator.loops.contact import ContactLoop
from orchestrator.loops.step_choice import (
    Search,
    StepReference,
    choose_step,
    cost_of,
    draw_choice,
)
from orchestrator.loops.step_error import at_step, candidate_steps, ladder, step_error
from orchestrator.study.measure import fit_growth

from .conftest import Counter, SecondOrder, capture
from .test_loops import rings

MINUTE = 60_000_000_000


def growth(system, **options):
    run = simulate(system, stop="60 s", **options)
    return fit_growth(run.time, run["mass.y"], start=1.0).sigma


@pytest.mark.parametrize(
    ("delay", "algorithm", "tolerance"),
    [("mean", "jacobi", 0.02), ("plain", "gauss-seidel", 0.3)],
)
def test_runs_with_the_step_keep_the_tolerance_and_with_twice_it_do_not(
    delay, algorithm, tolerance
):
    linear = linear_system(capture(), step="1 ms", delay=delay)
    reference = StepReference.of(linear, length_ns=MINUTE, lines=())
    choice = choose_step(reference, tolerance, algorithm=algorithm)
    exact = ContactLoop(750.0, 2510.0, 60.0, 0.016).rightmost_root.real
    step = choice.step_ns
    for factor, inside in ((1, True), (2, False)):
        options = {"step": f"{factor * step} ns", "delay": delay, "algorithm": algorithm}
        share = abs(growth(capture(), **options) - exact) / abs(exact)
        assert (share <= tolerance) is inside
        here = step_error(at_step(linear, factor * step, algorithm), reference.modes)
        told = next(
            deviation for deviation in here.deviations if deviation.name.startswith("growth")
        )
        assert told.share == pytest.approx(share, rel=1e-4)
    longer = min(error.step_ns for error in choice.errors if error.step_ns > step)
    few = [one for one in reference.steps if step < one < longer]
    assert longer <= 1.05 * step or not few
    assert MINUTE % step == 0


def test_a_hold_adds_half_a_step():
    """A loop without a declared delay, under Jacobi: both lines hold, so that H is added to it."""
    linear = linear_system(capture(None), step="1 ms", algorithm="jacobi", delay="plain")
    reference = StepReference.of(linear, lines=())
    here = step_error(at_step(linear, 1_000_000), reference.modes)
    one = next(d for d in here.deviations if d.name.startswith("growth"))
    late = ContactLoop(750.0, 2510.0, 60.0, 0.001).rightmost_root.real
    assert one.exact == pytest.approx(ContactLoop(750.0, 2510.0, 60.0, 0.0).rightmost_root.real)
    assert one.sampled == pytest.approx(late, rel=1e-3) or one.sampled == pytest.approx(
        ContactLoop(750.0, 2510.0, 60.0, 0.0015).rightmost_root.real, rel=1e-3
    )


def test_runs_beside_the_sampled_margin_die_down_and_grow():
    """Plain Jacobi adds to the delay of the loop, and so takes from what is left of it."""
    options = {"step": "5 ms", "delay": "plain", "algorithm": "jacobi"}
    linear = linear_system(capture("4 ms"), **options)
    (margins,) = StepReference.of(linear, lines=["contact.u"]).margins
    found = {limit.kind: (limit, value) for limit, value in margins.as_sampled(linear)}
    limit, sampled = found["delay"]
    assert limit.exact == pytest.approx(
        1e3 * ContactLoop(750.0, 2510.0, 60.0, 0.004).delay_margin.additional, rel=1e-9
    )
    assert sampled < limit.exact - 3.0
    for share, grows in ((0.98, False), (1.02, True)):
        late = round((0.004 + share * sampled / 1e3) * 1e9) / 1e9
        assert (growth(capture(late), **options) > 0.0) is grows


def test_runs_beside_the_sampled_gain_margin_die_down_and_grow():
    """With a lead of half a second the gain may be 58 times as large; it then turns at 97 rad/s."""
    system = capture().set("mass.c", (1.0, 0.5))
    options = {"step": "5 ms", "algorithm": "jacobi"}
    linear = linear_system(system, **options)
    (margins,) = StepReference.of(linear, lines=["contact.u"]).margins
    ((limit, sampled),) = (pair for pair in margins.as_sampled(linear) if pair[0].kind == "gain")
    assert limit.share(sampled) > 0.003
    for share, grows in ((0.995, False), (1.005, True)):
        run = simulate(system.set("contact.k", -2510.0 * share * sampled), stop="10 s", **options)
        fit = fit_growth(run.time, run["mass.y"], start=2.0)
        assert fit.omega == pytest.approx(limit.omega, rel=0.1)
        assert (fit.sigma > 0.0) is grows


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(rings())
def test_steps_of_random_rings_are_within_the_tolerance(made):
    system, _ = made
    linear = linear_system(system, step="1 ms")
    try:
        reference = StepReference.of(linear, length_ns=MINUTE, lines=())
    except DescriptionError as error:
        assert "no closed loop whose modes" in str(error) or "no solution" in str(error)  # noqa: PT017
        return
    choice = choose_step(reference, 0.05)
    seen = {error.step_ns: error.share for error in choice.errors}
    if choice.step_ns is None:
        assert min(seen.values()) > 0.05 or min(seen) == min(s for s in seen if seen[s] > 0.05)
        return
    assert all(share <= 0.05 for step, share in seen.items() if step <= choice.step_ns)
    above = [step for step in seen if step > choice.step_ns]
    if above:
        assert seen[min(above)] > 0.05


def test_a_relation_that_is_not_monotonic_is_told_and_not_trusted():
    errors = {1: 0.001, 2: 0.5, 5: 0.002, 10: 0.003, 20: 0.9}
    search = Search(lambda step: errors.get(step, 2.0), 0.01)
    assert search.largest([1, 2, 5, 10, 20]) == 1
    assert search.not_monotonic == [(2, 5)]
    assert search.errors == errors


def test_candidates_divide_the_run_and_the_steps_that_are_kept():
    steps = candidate_steps(MINUTE, [8_000_000])
    assert 1_000_000 in steps
    assert 3_000_000 not in steps
    assert all(8_000_000 % step == 0 for step in steps)
    assert all(step % 2_000_000 == 0 for step in candidate_steps(MINUTE, [], 2_000_000))
    assert ladder([1, 2, 4, 8, 16, 32]) == [1, 2, 4, 8, 16, 32]
    assert ladder(candidate_steps(1_000, []))[-3:] == [200, 500, 1000]
    assert candidate_steps(7919, []) == [1]


def test_rates_keep_the_length_of_steps(wording):
    linear = linear_system(capture(), step="2 ms", rates={"contact": 4})
    assert at_step(linear, 1_000_000).master.rates == {"contact": 8}
    with wording.raises(DescriptionError):
        at_step(linear, 3_000_000)
    steps = StepReference.of(linear, length_ns=MINUTE).steps
    assert steps[-1] == 8_000_000


def test_the_cost_is_that_of_the_schedule():
    linear = linear_system(capture(), step="2 ms", rates={"contact": 4})
    cost = cost_of(linear.schedule())
    assert cost.unit_steps == 500 + 125
    assert not cost.is_per_pass
    iterated = linear_system(capture(None), step="2 ms", algorithm="newton")
    assert cost_of(iterated.schedule()).is_per_pass


def test_what_cannot_be_judged_is_said(wording):
    chain = System("chain").add(
        "a", block(SecondOrder), u=0.0, a=(0.0, 1.0, -1.0, -1.0), c=(1.0, 0.0)
    )
    with wording.raises(DescriptionError):
        StepReference.of(linear_system(chain, step="1 ms"))
    sampled = (
        System("sampled")
        .add("mass", block(SecondOrder), a=(0.0, 1.0, -9.0, -0.5), b=(0.0, 1.0), c=(1.0, 0.0))
        .add("memory", block(Counter))
        .connect("mass.y", "memory.u")
        .connect("memory.y", "mass.u")
    )
    with wording.raises(DescriptionError) as refused:
        StepReference.of(linear_system(sampled, step="5 ms"))
    assert "softdock analyze loop" in str(refused.value)
    assert "softdock run --verify" in str(refused.value)
    more = sampled.add("late", block(Counter)).disconnect("memory.y", "mass.u")
    more = more.connect("memory.y", "late.u").connect("late.y", "mass.u")
    with wording.raises(DescriptionError):
        StepReference.of(linear_system(more, step="5 ms"))
    reference = StepReference.of(linear_system(capture(), step="1 ms"))
    with wording.raises(DescriptionError):
        choose_step(reference, math.nan)
    with wording.raises(CapabilityError):
        choose_step(reference, 0.1, algorithm="step-doubling")


def test_no_step_is_told_with_the_best_there_is():
    linear = linear_system(capture(), step="1 ms", delay="plain", algorithm="jacobi")
    choice = choose_step(StepReference.of(linear, length_ns=MINUTE), 1e-9)
    assert choice.step_ns is None
    assert choice.cost is None
    assert choice.as_json()["step_ms"] is None
    text = " ".join(choice.remarks)
    assert "were not looked at: their delays take more than 300 samples" in text
    assert "no step from" in text


def test_the_picture_has_each_algorithm_the_tolerance_and_the_choice():
    reference = StepReference.of(linear_system(capture(), step="1 ms"), length_ns=MINUTE, lines=())
    choices = [choose_step(reference, 0.02, algorithm=name) for name in ("jacobi", "gauss-seidel")]
    (axes,) = draw_choice(choices, "capture").axes
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["jacobi", "gauss-seidel", "tolerance 0.02"]
    marked = [text.get_text() for text in axes.texts]
    assert marked == [f"{choice.step_ns / 1e6:g} ms" for choice in choices]
    assert axes.get_xscale() == axes.get_yscale() == "log"
