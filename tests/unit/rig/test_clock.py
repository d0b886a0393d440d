"""Times by the computer's clock, in that of a device."""

import pytest
from robot_twin import REST, TWIN, about

from orchestrator.rig.hardware.twin_file import by_clock, drift_ppm, in_run_time

# Its clock is 1 % fast: 4 ms of it are 3.96 ms by the computer.
FAST = TWIN.model_copy(
    update={
        "rate": 250.0,
        "pair": tuple(
            pair.model_copy(update={"sample_rate": about(250.0 / 0.99, 1e-3)}) for pair in TWIN.pair
        ),
    }
)


def test_rates_show_by_how_much_clocks_differ():
    drift = drift_ppm(FAST)
    assert drift.value == pytest.approx(-1e4, abs=1e-6)
    assert drift.low < drift.value < drift.high
    assert drift.high - drift.low == pytest.approx(
        2.0 * 1e6 * 0.99 * 1e-3 / (250.0 / 0.99), rel=1e-4
    )
    assert drift_ppm(TWIN) is None  # a file of before says nothing of the device's own rate


def test_times_and_frequencies_are_those_of_the_clock():
    (pair, *_) = by_clock(FAST, -1e4).pair
    assert pair.delay.value == pytest.approx(0.016 / 0.99, rel=1e-12)
    assert pair.delay.high - pair.delay.low == pytest.approx(2e-4 / 0.99, rel=1e-9)
    assert pair.transit.value == pytest.approx(0.004 / 0.99, rel=1e-12)
    assert pair.dynamics.frequency.value == pytest.approx(15.0 * 0.99, rel=1e-12)
    assert pair.dynamics.damping == TWIN.pair[0].dynamics.damping
    assert pair.sample_rate.value == pytest.approx(250.0, rel=1e-12)
    assert pair.gain == TWIN.pair[0].gain


def test_a_run_by_a_devices_clock_converts_all_its_devices():
    sensor = TWIN.model_copy(update={"component": "sensor", "pair": (REST,)})
    (robot, other), (told,) = in_run_time([FAST, sensor], "robot")
    assert robot.pair[0].delay.value == pytest.approx(0.016 / 0.99, rel=1e-12)
    assert other.pair[0].transit.value == pytest.approx(0.0005 / 0.99, rel=1e-12)
    assert "'robot'" in told
    assert "-1e+04 ppm" in told


@pytest.mark.parametrize("clock", [None, "sensor"])
def test_a_run_by_the_computers_clock_takes_them_as_they_are(clock):
    assert in_run_time([FAST], clock) == ((FAST,), ())


def test_samples_that_were_held_up_make_no_delay_shorter():
    """A second that is 7 % longer is no clock: cycles were missed while it was identified."""
    (pair, *_) = TWIN.pair
    slow = pair.model_copy(update={"sample_rate": about(250.0 / 1.07, 1e-3)})
    twin = TWIN.model_copy(update={"rate": 250.0, "pair": (slow,)})
    (kept,), (told,) = in_run_time([twin], "robot")
    assert kept.pair[0].delay == pair.delay
    assert "samples of 'robot' came at 233.6 Hz instead of 250 Hz" in told
