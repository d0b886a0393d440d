"""A signal over a step, as a polynomial: against numpy, closed forms and quadrature."""

import math

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from orchestrator.core.master.schedule.rows import Extrapolation, Interpolation
from orchestrator.engine import History

MS = 1_000_000
CUBIC = Polynomial([0.3, -1.2, 0.8, 2.5])
QUINTIC = Polynomial([0.3, -1.2, 0.8, 2.5, 90.0, -4e3])


def history(signal, times, extrapolation=Extrapolation.LINEAR):
    made = History(512, Interpolation.CUBIC, extrapolation, (), times[0], signal(times[0] / 1e9))
    for time in times[1:]:
        made.push(time, signal(time / 1e9))
    return made


def followed(found):
    """The polynomial of a waveform: its derivatives divided by their factorials."""
    return Polynomial([d / math.factorial(k) for k, d in enumerate(found)])


@pytest.mark.parametrize("begin", [30.0, 30.2, 36.0])
@pytest.mark.parametrize("times", [range(0, 50, 4), [0, 1, 3, 10, 22, 29, 33, 41, 45], range(50)])
def test_a_cubic_comes_back(times, begin):
    """From inside, at the newest samples, at any distances, from samples closer than the span."""
    past = history(CUBIC, [t * MS for t in times])
    found = followed(past.follow(round(begin * MS), 5 * MS, 3, False))
    expected = CUBIC(Polynomial([begin / 1e3, 1.0]))
    np.testing.assert_allclose(found.coef, expected.coef, rtol=1e-6, atol=1e-9)


def test_samples_closer_than_a_sixth_of_the_span_are_met_at_its_end():
    """A bend behind the six samples around the begin: these alone would go straight on."""
    past = history(lambda t: abs(t - 0.034), [t * MS for t in range(50)])
    found = followed(past.follow(30 * MS, 5 * MS, 3, True))
    assert (found(0.0), found(0.005)) == pytest.approx((0.004, 0.001), abs=1e-12)


def moments(polynomial, h, count):
    """Its integrals over a span with the powers of the share of it."""
    powers = (Polynomial([0.0, 1.0 / h]) ** k for k in range(count))
    return [float((polynomial * power).integ()(h)) / h for power in powers]


@pytest.mark.parametrize("ends", [False, True], ids=["moments", "ends"])
@pytest.mark.parametrize("begin", [30.0, 30.7, 42.0])
@pytest.mark.parametrize("times", [range(0, 50, 4), [0, 1, 3, 10, 22, 29, 33, 41, 45, 46, 48]])
def test_of_a_quintic_the_moments_come_back(times, begin, ends):
    """In the middle of six samples and at the newest: all moments, or the ends and two."""
    past = history(QUINTIC, [t * MS for t in times])
    h = 0.004
    found = followed(past.follow(round(begin * MS), round(h * 1e9), 3, ends))
    left_out = found - QUINTIC(Polynomial([begin / 1e3, 1.0]))
    size = np.abs(left_out(np.linspace(0.0, h, 9))).max()
    assert size > 1e-11
    assert np.abs(moments(left_out, h, 2 if ends else 4)).max() < 1e-15
    assert ends == (max(abs(left_out(0.0)), abs(left_out(h))) < 1e-15)


@pytest.mark.parametrize("order", [1, 2])
def test_a_lower_order_keeps_mean_and_moments(order):
    """What is left out has no mean over the step, and no moment up to the order."""
    past = history(CUBIC, [t * MS for t in range(0, 50, 4)])
    h = 0.005
    left_out = followed(past.follow(30 * MS, 5 * MS, 3, False)) - followed(
        past.follow(30 * MS, 5 * MS, order, False)
    )
    for k in range(order + 1):
        moment = (left_out * Polynomial([0.0, 1.0]) ** k).integ()
        assert abs(moment(h) - moment(0.0)) < 1e-15
    assert abs(left_out(h)) > 1e-9


@pytest.mark.parametrize("order", [1, 2])
def test_a_lower_order_keeps_the_ends_where_they_count(order):
    past = history(CUBIC, [t * MS for t in range(0, 50, 4)])
    whole, reduced = (followed(past.follow(30 * MS, 5 * MS, n, True)) for n in (3, order))
    for at in (0.0, 0.005):
        assert reduced(at) == pytest.approx(whole(at), rel=1e-13)
    assert abs(reduced(0.001) - whole(0.001)) > 1e-9


@pytest.mark.parametrize(("order", "power"), [(1, 2), (2, 3), (3, 4)])  # in the maximum
def test_the_error_falls_with_the_step(order, power):
    errors = []
    for step in (2, 1):
        past = history(lambda t: math.sin(20.0 * t), [k * step * MS for k in range(400)])
        worst = 0.0
        for k in range(90):  # all over half a period, between samples
            begin = round((30.0 + 1.73 * k) * MS)
            found = followed(past.follow(begin, step * MS, order, False))
            at = np.linspace(0.0, step / 1e3, 11)
            worst = max(worst, np.abs(found(at) - np.sin(20.0 * (at + begin / 1e9))).max())
        errors.append(worst)
    assert math.log2(errors[0] / errors[1]) == pytest.approx(power, abs=0.25)


def test_before_the_first_sample_the_signal_is_constant():
    past = history(CUBIC, [t * MS for t in range(20, 60, 4)])
    value, *derivatives = past.follow(5 * MS, 5 * MS, 3, False)
    assert value == pytest.approx(CUBIC(0.020), rel=1e-14)
    assert derivatives == pytest.approx([0.0, 0.0, 0.0], abs=1e-9)


def test_beyond_the_newest_sample_the_rule_of_the_line_holds():
    past = history(CUBIC, [t * MS for t in range(0, 40, 4)])
    last, before = CUBIC(0.036), CUBIC(0.032)
    found = followed(past.follow(36 * MS, 4 * MS, 3, False))
    assert found(0.004) == pytest.approx(last + (last - before), rel=1e-13)
    held = history(CUBIC, [t * MS for t in range(0, 40, 4)], Extrapolation.HOLD)
    assert followed(held.follow(36 * MS, 4 * MS, 3, False))(0.004) == pytest.approx(last, rel=1e-13)


def test_what_was_forgotten_is_refused():
    past = History(4, Interpolation.CUBIC, Extrapolation.LINEAR, (), 0, 0.0)
    for k in range(1, 20):
        past.push(k * MS, float(k))
    with pytest.raises(IndexError, match="older than the samples"):
        past.follow(2 * MS, MS, 3, False)


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 8])
def test_spans_of_some_nanoseconds(step):
    """Beyond the newest sample, where there are not six times to read it at."""
    past = history(CUBIC, range(0, 20 * step, step))
    line = CUBIC.deriv()(0.0)
    value, slope, *_ = past.follow(19 * step, step, 1, True)
    assert value == pytest.approx(CUBIC(19e-9 * step), abs=1e-15)
    assert slope == pytest.approx(line, rel=1e-3)
