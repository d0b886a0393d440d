"""The delay that is predicted for a loop is the delay that a sine has when it comes round."""

import math
from dataclasses import replace

import pytest
from oracle.probing import probe_delay, probe_delays

from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits import block
from orchestrator.core.system import Jitter, JitterKind, System, TransportDelay, Variation

pytestmark = pytest.mark.usefixtures("sample_blocks")
H = 1_000_000
RATE = 2.0 * math.pi / 64  # of the sine per step: it is slow, 64 steps or 8 delays to a period
MODES = [("plain", "jacobi"), ("plain", "gauss-seidel"), ("mean", "jacobi")]
MODES += [("mean", "gauss-seidel")]


def ring(forth, back=None, *, sloped=False):
    """Body (a state) -> spring (feed-through) -> body."""
    body, spring = (
        replace(block(kind), input_order=int(sloped)) for kind in ("integrator", "gain")
    )
    system = System("ring").add("body", body).add("spring", spring)
    return system.connect("body.y", "spring.u", **forth).connect(
        "spring.y", "body.u", **(back or {})
    )


def measured(system, mode, algorithm, frequency=None):
    if mode == "plain":
        system = system.without_zero_delays()
    return probe_delay(
        system,
        ["spring", "body"],
        step_ns=H,
        algorithm_name=algorithm,
        mode=DelayMode(mode),
        frequency=frequency,
    )


@pytest.mark.parametrize(("mode", "algorithm"), MODES)
@pytest.mark.parametrize("delay", [None, "1 ms", "2.5 ms", "15.3 ms", "16 ms"])
def test_held_and_interpolated_lines(delay, mode, algorithm):
    probed = measured(ring({"delay": delay}), mode, algorithm)
    # A hold is late by H/2 exactly; a value on the line between two samples of a sine has the
    # phase of its place up to share (1 - share) (1 - 2 share) (w H)^3 / 12, 1e-5 here. Read ahead
    # (1 ms under Jacobi, by up to half a step) it is off by 3/8 of (w H)^2 steps.
    tolerance = 3 / 8 * RATE**2 if (mode, delay) == ("mean", "1 ms") else 1e-4
    assert probed.measured_ns == pytest.approx(probed.predicted_ns, abs=tolerance * H)
    if mode == "plain":
        assert probed.measured_ns == pytest.approx(probed.predicted_ns, abs=1e-9 * H)


@pytest.mark.parametrize(("mode", "algorithm"), MODES)
@pytest.mark.parametrize(
    "rates", [{"body": 4}, {"spring": 4}, {"body": 2, "spring": 3}, {"body": 6, "spring": 3}]
)
@pytest.mark.parametrize("delay", [None, "1 ms", "15.3 ms", "16 ms"])
def test_components_of_different_rates(delay, rates, mode, algorithm):
    """A slow unit takes some of a fast one's outputs only: the mean lateness would not do."""
    system = ring({"delay": delay})
    probed = probe_delay(
        system,
        ["spring", "body"],
        step_ns=H,
        algorithm_name=algorithm,
        mode=DelayMode(mode),
        rates=rates,
    )
    # As for equal rates, with the longest step in the place of the step: what is held is right
    # but for terms of the third order, what is read ahead of its newest sample for those of the
    # second.
    slowest = max(rates.values())
    tolerance = 1e-3 * H
    if (mode, delay) == ("mean", "1 ms"):
        tolerance = (1.5 * RATE) ** 2 * slowest * H  # ahead by up to one and a half steps
    assert probed.measured_ns == pytest.approx(probed.predicted_ns, abs=tolerance)
    if mode == "mean" and delay:
        assert probed.predicted_ns == pytest.approx(probed.physical_ns, abs=1.0)


@pytest.mark.parametrize(("mode", "algorithm"), MODES)
@pytest.mark.parametrize("interpolation", ["hold", "linear", "cubic"])
@pytest.mark.parametrize("delay", ["15.3 ms", "16 ms"])
def test_interpolations(interpolation, delay, mode, algorithm):
    system = ring({"delay": delay, "interpolation": interpolation})
    probed = measured(system, mode, algorithm)
    assert probed.measured_ns == pytest.approx(probed.predicted_ns, abs=1e-4 * H)


@pytest.mark.parametrize(("mode", "algorithm"), MODES)
@pytest.mark.parametrize("sloped", [False, True])
@pytest.mark.parametrize("way", ["linear", "quadratic", "smoothed"])
def test_predicted_inputs_add_nothing(way, sloped, mode, algorithm):
    """What is left is the spring's feed-through, H/2; with a slope even that is gone."""
    system = ring({"extrapolation": way}, {"extrapolation": way}, sloped=sloped)
    probed = measured(system, mode, algorithm)
    assert probed.predicted_ns == (0.0 if sloped else H / 2)
    # Every prediction is late by the second order of w H: per line at most one (w H)^2 steps.
    assert probed.measured_ns == pytest.approx(probed.predicted_ns, abs=2.5 * RATE**2 * H)
    assert probed.measured_ns != probed.predicted_ns or algorithm != "jacobi"


@pytest.mark.parametrize("way", ["linear", "quadratic", "smoothed"])
def test_the_error_of_a_prediction_is_of_second_order(way):
    system = ring({"extrapolation": way}, {"extrapolation": way})
    errors = []
    for frequency in (8.0, 4.0):
        probed = measured(system, "plain", "jacobi", frequency)
        errors.append(abs(probed.measured_ns - probed.predicted_ns))
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.02)


def test_slopes_of_a_held_loop_do_not_matter():
    """A unit that could take slopes gets none unless its line is predicted."""
    one = measured(ring({"delay": "3 ms"}, sloped=True), "plain", "jacobi")
    two = measured(ring({"delay": "3 ms"}), "plain", "jacobi")
    assert one.measured_ns == two.measured_ns


def test_a_delay_that_jitters():
    jitter = Variation(Jitter(JitterKind.UNIFORM, 2 * H), seed=3)
    delay = TransportDelay(8 * H, variation=jitter)
    plain = measured(ring({"delay": delay}), "plain", "jacobi")
    # The prediction counts overtaken samples: two in three neighbours may swap, so it is late.
    assert plain.predicted_ns == pytest.approx(8.5 * H + 1.5 * H, rel=1e-3)
    assert 0.0 < plain.predicted_ns - plain.measured_ns < 0.75 * H
    variation = Variation(Jitter(JitterKind.UNIFORM, 2 * H), loss=0.1, seed=3)
    exact = measured(ring({"delay": TransportDelay(8 * H, variation=variation)}), "mean", "jacobi")
    assert exact.predicted_ns == 8 * H
    # Late samples are bridged by what was held: on the mean later, by less than their lateness.
    assert 0.0 <= exact.measured_ns - exact.predicted_ns < H


def test_all_loops_of_a_system():
    system = (
        ring({"delay": "16 ms"})
        .add("sum", block("sum"))
        .add("damper", block("gain"))
        .connect("body.y", "damper.u", delay="7 ms")
        .connect("damper.y", "sum.u1")
        .connect("spring.y", "sum.u2")
        .add("other", block("integrator"))
        .connect("sum.y", "other.u")
    )
    (found,) = probe_delays(system, step_ns=H)
    assert found.physical_ns == 16 * H
    assert found.gain == pytest.approx(1.0, abs=1e-3)


def test_refusals(wording):
    system = ring({"delay": "16 ms"})
    with wording.raises(DescriptionError):
        probe_delay(system, ["body", "spring"], step_ns=H, frequency=400.0)
