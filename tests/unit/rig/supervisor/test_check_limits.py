"""Every limit of signals, devices, energy and motions, just inside and just outside.

Times, values and periods are dyadic, so that "just at the limit" means exactly that.
"""

import math

import pytest
from supervised_rig import ROBOT, TABLE

from orchestrator import DescriptionError, Reason
from orchestrator.rig.supervisor.checks import (
    HealthCheck,
    MotionCheck,
    PassivityObserver,
    RigChecks,
    SignalCheck,
)
from orchestrator.rig.supervisor.settings import DeviceLimits, SignalLimits, SupervisorSettings
from orchestrator.rig.supervisor.states import State
from orchestrator.rig.supervisor.watch_memory import Head

MS, S = 1_000_000, 1_000_000_000
FINE = Reason.OPERATION


def above(value):
    return math.nextafter(value, math.inf)


def below(value):
    return math.nextafter(value, -math.inf)


def found(samples, unit="m", **limits):
    """Return what a check finds after samples of time in ns and value."""
    check = SignalCheck(SignalLimits(**limits), unit)
    for time_ns, value in samples:
        check.take(time_ns, value)
    return check.reason()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (0.5, FINE),
        (-0.25, FINE),
        (above(0.5), Reason.WORKSPACE),
        (below(-0.25), Reason.WORKSPACE),
        (math.inf, Reason.MALFORMED),
        (-math.inf, Reason.MALFORMED),
        (math.nan, Reason.MALFORMED),
    ],
)
def test_a_value_is_within_both_ends_of_its_range(value, reason):
    limits = {"minimum": -0.25, "maximum": 0.5}
    assert found([(S, value)], **limits) is reason
    by_unit = {"N": Reason.FORCE, "N.m": Reason.TORQUE}
    for unit, name in by_unit.items():
        if reason is Reason.WORKSPACE:
            assert found([(S, value)], unit, **limits) is name
    if reason is Reason.MALFORMED:
        assert found([(S, value)], "N", **limits) is Reason.FORCE_NOT_FINITE
    assert found([(S, value)], minimum=-0.25) is (
        reason if value < 0 or reason is Reason.MALFORMED else FINE
    )
    assert found([(S, value)], maximum=0.5) is (
        reason if value > 0 or reason is Reason.MALFORMED else FINE
    )


def test_a_range_may_be_left_for_its_persistence():
    limits = {"maximum": 0.5, "persistence": "8 ms"}
    out = [(S + k * 4 * MS, 1.0) for k in range(3)]
    assert found(out[:2], **limits) is FINE
    assert found([*out[:2], (S + 8 * MS - 1, 1.0)], **limits) is FINE
    assert found(out, **limits) is Reason.WORKSPACE
    back = [out[0], (S + 4 * MS, 0.5), (S + 8 * MS, 1.0), (S + 15 * MS, 1.0)]
    assert found(back, **limits) is FINE  # it was within in between
    assert found([*back, (S + 16 * MS, 1.0)], **limits) is Reason.WORKSPACE
    check = SignalCheck(SignalLimits(maximum=0.5), "m")
    check.take(S, 1.0)
    assert check.reason() is Reason.WORKSPACE
    assert check.reason() is FINE  # it is said once


def test_a_slew_is_between_two_samples():
    second = [(0, 1.0), (S, 3.0)]
    assert found(second, slew=2.0) is FINE
    assert found(second, slew=below(2.0)) is Reason.SLEW
    assert found([(0, 3.0), (S, 1.0)], slew=2.0) is FINE
    assert found([(0, 3.0), (S, 1.0)], slew=below(2.0)) is Reason.SLEW
    assert found(second[1:], slew=1.0) is FINE


@pytest.mark.parametrize(
    ("last_ns", "reason"), [(60 * MS - 1, FINE), (60 * MS, Reason.SENSOR_STALE)]
)
def test_a_signal_is_frozen_from_its_time_on(last_ns, reason):
    assert found([(S, 1.0), (S + last_ns, 1.0)], frozen="60 ms") is reason
    assert found([(S, 1.0), (S + last_ns, above(1.0))], frozen="60 ms") is FINE
    assert found([], frozen="60 ms") is FINE


@pytest.mark.parametrize(("travel", "reason"), [(0.25, FINE), (above(0.25), Reason.SENSOR_STALE)])
def test_a_signal_is_frozen_against_one_that_moved_farther_than_its_travel(travel, reason):
    for side in (1.0, -1.0):
        check = SignalCheck(SignalLimits(frozen="60 ms", against="a.b", travel=0.25), "m")
        check.move(0.0)
        check.take(S, 1.0)
        check.move(side * travel)
        check.take(S + 60 * MS, 1.0)
        assert check.reason() is reason
        check.counts_frozen = False
        assert check.reason() is FINE
    still = SignalCheck(SignalLimits(frozen="60 ms", against="a.b", travel=0.25), "m")
    for k in range(30):
        still.move(0.0)
        still.take(S + k * 4 * MS, 1.0)
    assert still.reason() is FINE  # nothing moved that it could follow


def row(**heads):
    made = [0.0] * len(Head)
    made[Head.VALID] = 1.0
    for name, value in heads.items():
        made[Head[name.upper()]] = value
    return made


def health(*rows, now=None, **limits):
    check = HealthCheck(DeviceLimits(**limits), S)
    for time_ns, each in rows:
        check.take(time_ns, each)
    return check.reasons(rows[-1][0] if now is None else now)


def test_a_device_is_stale_beyond_its_time_since_it_joined_or_was_heard():
    check = HealthCheck(DeviceLimits(stale="100 ms"), S)
    assert not check.heard
    assert check.reasons(S + 100 * MS) == set()
    assert check.reasons(S + 100 * MS + 1) == {Reason.SENSOR_STALE}
    check.take(2 * S, row(number=1))
    assert check.heard
    assert check.reasons(2 * S + 100 * MS) == set()
    check.take(3 * S, row(number=1))  # a datagram that was no sample
    assert check.reasons(3 * S) == {Reason.SENSOR_STALE}


def test_the_bits_of_a_status_and_validity():
    for status, reasons in ((0, set()), (2, set()), (1, {Reason.STATUS}), (3, {Reason.STATUS})):
        assert health((S, row(number=1, status=status)), status_mask=1) == reasons
    assert health((S, row(number=1, valid=0))) == {Reason.STATUS}
    for status, reasons in ((4, {Reason.EMERGENCY_STOP}), (3, set())):
        assert health((S, row(number=1, status=status)), estop_mask=4) == reasons
    open_then = (S, row(number=1, status=4)), (S + MS, row(number=2, status=0))
    assert health(*open_then, estop_mask=4) == set()


@pytest.mark.parametrize(
    ("head", "limit", "reason"),
    [
        ("status", "status_steps", Reason.STATUS),
        ("malformed", "malformed", Reason.MALFORMED),
        ("lost", "lost", Reason.SENSOR_LOST),
    ],
)
def test_a_count_may_grow_by_its_limit_in_a_second(head, limit, reason):
    def rows(count, after):
        return (S, row(number=1, **{head: 7})), (S + after, row(number=2, **{head: 7 + count}))

    wide = {"clock_jump": None, "stale": "9 s"}
    assert health(*rows(20, S), **{limit: 20}, **wide) == set()
    assert health(*rows(21, S), **{limit: 20}, **wide) == {reason}
    assert health(*rows(21, S + 1), **{limit: 20}, **wide) == set()  # it took longer than a second
    assert health(*rows(99, S), **{limit: None}, **wide) == set()
    assert health(*rows(1, S), **{limit: 0}, **wide) == {reason}


def test_a_device_may_not_restart_nor_its_clock_jump():
    restarts = (S, row(number=1)), (S + MS, row(number=2, restarts=1))
    assert health(*restarts) == {Reason.CLOCK}
    for jump_s, reasons in (
        (0.5, set()),
        (0.5625, {Reason.CLOCK}),
        (-0.5, set()),
        (-0.5625, {Reason.CLOCK}),
    ):
        times = (
            (2 * S, row(number=1, device_time=8.0)),
            (3 * S, row(number=2, device_time=9.0 + jump_s)),
        )
        assert health(*times, clock_jump="500 ms") == reasons
        assert health(*times, clock_jump=None) == set()
    first = (2 * S, row(number=1, device_time=math.nan)), (3 * S, row(number=2, device_time=9.0))
    assert health(*first, clock_jump="500 ms") == set()
    check = HealthCheck(DeviceLimits(), S)
    check.take(S, row(number=1, valid=0))
    assert check.reasons(S) == {Reason.STATUS}
    assert check.reasons(S) == set()  # it is said once


@pytest.mark.parametrize("sense", [1, -1])
def test_energy_is_what_was_given_beyond_what_was_taken(sense):
    """2 N over 3 m are 6 J to the simulation; what is taken first is no credit."""
    observer = PassivityObserver(sense)
    observer.move(0.0)
    observer.push(2.0)
    observer.move(sense * 3.0)
    assert observer.given == 6.0
    observer.move(sense * 2.0)
    assert observer.given == 4.0
    observer.move(sense * -9.0)
    assert observer.given == 0.0
    observer.push(math.nan)  # that of before holds
    observer.move(sense * -8.0)
    assert observer.given == 2.0
    observer.move(math.nan)
    observer.move(sense * 100.0)  # since when is not known
    observer.push(-2.0)
    observer.move(sense * 99.5)
    assert observer.given == 3.0


def test_energy_at_its_limit_is_fine_and_beyond_it_is_not():
    for limit, reason in ((6.0, FINE), (below(6.0), Reason.ENERGY)):
        energy = {"contact": {"force": "robot.x", "motion": "robot.dx", "limit": limit}}
        settings = SupervisorSettings(**TABLE | {"signals": {}, "energy": energy})
        checks = RigChecks(settings, [ROBOT])
        x, dx = ROBOT.columns.index("x"), ROBOT.columns.index("sent.dx")
        made = [0.0] * len(ROBOT.columns)
        checks.take("robot", S, made)
        made[x], made[dx] = 2.0, 3.0
        checks.take("robot", S, made)
        assert dict(checks.reasons())["contact"] is reason
        checks.enter(State.ACTIVE)
        assert checks.energies["contact"].given == 6.0
        checks.enter(State.FALLBACK)
        assert checks.energies["contact"].given == 6.0
        checks.enter(State.SAFE)
        assert checks.energies["contact"].given == 0.0


def test_an_acceleration_may_last_for_its_persistence_and_a_window_is_filled_first(wording):
    """x = t^2 has 2 per s^2; five samples are the first window, each further one a period more."""

    def after(count, **limits):
        check = MotionCheck("robot.x", SignalLimits(window="16 ms", **limits), 4 * MS)
        for number in range(count):
            check.take(number, (0.004 * number) ** 2)
            check.take(number, 99.0)  # known already
        return check.reason()

    assert after(4, acceleration=1.99) is FINE
    assert after(5, acceleration=1.99) is Reason.ACCELERATION
    assert after(50, acceleration=2.01) is FINE
    assert after(7, acceleration=1.99, persistence="12 ms") is FINE
    assert after(8, acceleration=1.99, persistence="12 ms") is Reason.ACCELERATION
    with wording.raises(DescriptionError):
        MotionCheck("robot.x", SignalLimits(acceleration=1.0, window="8 ms"), 4 * MS)
    MotionCheck("robot.x", SignalLimits(acceleration=1.0, window="12 ms"), 4 * MS)


def test_a_datagram_before_the_first_sample_is_not_a_sample():
    check = HealthCheck(DeviceLimits(), S)
    check.take(S, row(number=0))
    assert not check.heard
    check.take(S, row(number=1))
    assert check.heard
