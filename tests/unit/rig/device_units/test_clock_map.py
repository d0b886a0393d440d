"""The device's time against ours: delays that grow are seen, drifts are not taken for delays."""

import numpy as np
import pytest

from orchestrator.rig.device_units.device_clock import DeviceClock

PERIOD = 0.004


def ages(delay, drift=0.0, seconds=40.0):
    """Return the largest delay that was hidden, and the largest that was made up, in s."""
    delays = np.random.default_rng(3).exponential(3e-4, round(seconds / PERIOD))
    clock, arrived, hidden, made_up = DeviceClock(PERIOD), 0.0, 0.0, 0.0
    for k in range(round(seconds / PERIOD)):
        t = k * PERIOD
        arrived = max(t + delay(t) + float(delays[k]), arrived)
        found = clock.take(5.0 + t / (1.0 + drift), round((100.0 + arrived) * 1e9))
        if k > 10:
            hidden, made_up = max(hidden, arrived - t - found), max(made_up, found - arrived + t)
    return hidden, made_up


@pytest.mark.parametrize("drift", [0.0, 250e-6, -250e-6, 0.01, -0.01])
@pytest.mark.parametrize(
    "delay",
    [
        pytest.param(lambda t: 0.0, id="none"),
        pytest.param(lambda t: min(0.3, max(0.0, 0.2 * (t - 1.0))), id="fast, from 1 s on"),
        pytest.param(lambda t: min(0.3, max(0.0, 0.01 * (t - 5.0))), id="slowly, from 5 s on"),
        pytest.param(lambda t: 0.3 * (t > 3.0), id="at once"),
        pytest.param(lambda t: 0.05 * (t % 1.0 > 0.9), id="now and then"),
    ],
)
def test_a_delay_is_age_and_a_drift_is_not(delay, drift):
    hidden, made_up = ages(delay, drift)
    assert hidden < 0.006
    assert made_up < 0.006


def test_a_delay_that_grows_from_the_first_sample_on_faster_than_clocks_drift():
    assert ages(lambda t: min(0.3, 0.2 * t))[0] < 0.002


def test_a_new_clock_is_another_one():
    clock = DeviceClock(PERIOD)
    assert not clock.is_known
    assert clock.take(7.0, 10**9) == 0.0
    assert clock.excess(7.1, 10**9 + 200_000_000) == pytest.approx(0.1)
    clock.begin()
    assert clock.take(0.0, 2 * 10**9) == 0.0
