"""What tracking is told of identification and of arming, before a run."""

import math

import numpy as np
import pytest
from robot_twin import PAIR, TWIN, about

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.arming.margins import ArmedLine, Arming, Reserve
from orchestrator.rig.runs.supervision import (
    TRACKING_COLUMNS,
    tracked_margins,
    tracking_plot,
    tracking_section,
    with_identified,
)
from orchestrator.rig.supervisor.rig_tracking import MarginTable, TrackRecord
from orchestrator.rig.supervisor.settings import SupervisorSettings

LIMITS = {"velocity": 0.5, "deceleration": 2.0, "stop_jerk": 100.0}


def settings(**tracking):
    return SupervisorSettings(
        rig="r",
        commands={"robot.dx": LIMITS},
        tracking={"robot.x": {"command": "robot.dx", **tracking}},
    )


def limits(found):
    return found.tracking["robot.x"]


def test_what_was_identified_completes_a_table():
    found = limits(with_identified(settings(), [TWIN]))
    assert (found.delay, found.gain) == (0.016, 1.0)
    assert (found.bandwidth, found.damping) == (15.0, 0.7)
    # noise and a rounding of 0.1 um: sqrt(1e-12 + 1e-14/12)
    assert found.noise == pytest.approx(math.sqrt(1e-12 + 1e-14 / 12.0), rel=1e-12)


def test_what_the_table_says_stays_and_no_bandwidth_is_mixed_with_another_damping():
    found = limits(with_identified(settings(delay=0.02, bandwidth=5.0, noise=1e-3), [TWIN]))
    assert (found.delay, found.gain, found.noise) == (0.02, 1.0, 1e-3)
    assert (found.bandwidth, found.damping) == (5.0, None)


def test_what_a_model_did_not_explain_counts_as_noise():
    pair = PAIR.model_copy(update={"unexplained": about(1e-3)})
    found = limits(with_identified(settings(), [TWIN.model_copy(update={"pair": (pair,)})]))
    assert found.noise == pytest.approx(1e-3, rel=1e-5)


def test_a_response_without_any_noise_has_the_least():
    """An example with an emulated actuator ended with "missing noise" in one of five runs."""
    pair = PAIR.model_copy(update={"noise": about(0.0), "unexplained": None, "quantisation": 0.0})
    found = limits(with_identified(settings(), [TWIN.model_copy(update={"pair": (pair,)})]))
    assert found.noise == 1e-9


def test_a_response_that_nothing_was_found_of_is_left_alone():
    other = TWIN.model_copy(update={"component": "arm"})
    assert limits(with_identified(settings(), [other])) == limits(settings())


def test_a_device_with_a_slow_clock_is_identified_in_its_own_seconds():
    pair = PAIR.model_copy(update={"sample_rate": about(249.0)})
    slow = TWIN.model_copy(update={"rate": 250.0, "pair": (pair,)})
    assert limits(with_identified(settings(), [slow])).delay == pytest.approx(0.016 * 249 / 250)


def test_a_response_that_follows_another_command_is_refused(wording):
    pair = PAIR.model_copy(update={"command": "dy"})
    twin = TWIN.model_copy(update={"pair": (pair,)})
    with wording.raises(DescriptionError):
        with_identified(settings(), [twin])


def arming(*, lacks=()):
    def table(line):
        return MarginTable(line, 0.004, 1.25, (1.0,), (0.02,), (0.0,), (2.0,))

    return Arming(
        Reserve(0.004, 1.25),
        4_000_000,
        (ArmedLine("plan.x -> robot.dx", lacks=lacks),),
        tables=(table("plan.x -> robot.dx"), table("plan.y -> robot.dy")),
    )


def test_margins_are_those_of_tracked_commands():
    margins, told = tracked_margins(settings(), arming())
    assert list(margins) == ["robot.dx"]
    assert not told
    assert tracked_margins(settings(), None) == ({}, ())
    nothing = SupervisorSettings(rig="r", commands={"robot.dx": LIMITS})
    assert tracked_margins(nothing, arming()) == ({}, ())


def test_what_was_forced_holds_no_device_against_a_reserve():
    margins, (told,) = tracked_margins(settings(), arming(lacks=("no delay margin",)))
    assert margins == {}
    assert "arming was forced" in told


def record(margin):
    n = 20
    late = np.linspace(0.016, 0.024, n)
    columns = {
        "time_s": np.arange(n) * 0.1,
        "delay_s": late,
        "delay_low_s": late - 5e-4,
        "delay_high_s": late + 5e-4,
        **{f"gain{end}": np.ones(n) for end in ("", "_low", "_high")},
        "delay_margin_s": np.full(n, margin),
        "gain_margin": np.full(n, 1.5),
        "score": np.linspace(0, 1.2, n),
        "samples": np.arange(n),
        "changes": np.arange(n) // 15,
    }
    return TrackRecord("robot.x", columns)


def test_a_report_has_what_was_known_last():
    table = tracking_section("slower", [record(0.01)])
    assert table.columns == TRACKING_COLUMNS
    ((response, delay, low, high, gain, margin, gain_margin, changes),) = table.rows
    assert (response, gain, gain_margin, changes) == ("robot.x", 1.0, 1.5, 1.0)
    assert (delay, low, high, margin) == pytest.approx((24.0, 23.5, 24.5, 10.0))


@pytest.mark.parametrize(("margin", "lines"), [(0.01, 2), (math.nan, 1)])
def test_a_picture_draws_a_margin_where_there_is_one(margin, lines):
    plot = tracking_plot("slower", record(margin))
    delay, gain, score = plot.panels
    assert [panel.ylabel for panel in (delay, gain, score)] == [
        "delay [ms]",
        "gain",
        "test (1: change)",
    ]
    assert len(delay.curves) == lines
    assert delay.curves[0].y[-1] == pytest.approx(24.0)
    low, high = delay.curves[0].band
    assert low[-1] < 24.0 < high[-1]
    assert plot.xlabel == "time since the rig was engaged [s]"
