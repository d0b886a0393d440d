"""Acceleration and jerk of measured signals."""

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError, Reason
from orchestrator.rig.supervisor.checks import MotionCheck, derivative_weights
from orchestrator.rig.supervisor.settings import SignalLimits

T, PERIOD_NS = 0.004, 4_000_000


@pytest.mark.parametrize(("order", "samples"), [(2, 11), (3, 11), (2, 4), (3, 6)])
def test_a_polynomial_is_differentiated_exactly_and_noise_is_as_stated(order, samples):
    weights = derivative_weights(samples, order, T)
    times = (np.arange(samples) - 0.5 * (samples - 1)) * T
    factor = [1.0, 1.0, 2.0, 6.0][order]
    assert weights @ (3.0 * times**order + 0.5 * times + 7.0) == pytest.approx(3.0 * factor)
    if samples > 10:  # what its documentation says holds for many
        of_many = {2: 720 / samples**5 / T**4, 3: 100800 / samples**7 / T**6}[order]
        assert weights @ weights == pytest.approx(of_many, rel=0.15)


def found_in(values, numbers=None, **limits):
    check = MotionCheck("robot.x", SignalLimits(**limits), PERIOD_NS)
    for number, value in zip(numbers or range(len(values)), values, strict=True):
        check.take(number, value)
    return check.reason()


TIMES = T * np.arange(200)


def test_what_is_beyond_is_named_and_what_is_within_is_not():
    accelerated, jerked = 0.5 * 3.0 * TIMES**2, 50.0 / 6.0 * TIMES**3
    assert found_in(accelerated, acceleration=2.9) is Reason.ACCELERATION
    assert found_in(accelerated, acceleration=3.1, jerk=1.0) is Reason.OPERATION
    assert found_in(jerked, jerk=49.0) is Reason.JERK
    assert found_in(jerked, jerk=51.0) is Reason.OPERATION


def test_it_must_last_for_the_persistence_and_a_lost_sample_is_no_jump():
    step = np.where(TIMES < 0.4, 0.0, 0.01)  # seen for as long as the window: 10 samples
    assert found_in(step, acceleration=1.0) is Reason.ACCELERATION
    assert found_in(step, acceleration=1.0, persistence="80 ms") is Reason.OPERATION
    numbers = [n if n < 100 else n + 1 for n in range(200)]
    assert found_in(step, numbers, acceleration=1.0) is Reason.OPERATION


def test_a_window_that_is_too_short_is_refused(wording):
    limits = SignalLimits(jerk=1.0, window="8 ms")
    with wording.raises(DescriptionError):
        MotionCheck("robot.x", limits, PERIOD_NS)
