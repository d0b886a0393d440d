"""Guards as blocks: the way to rest, the account of energy, the way out, saved states."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from unit.blocks.guard_steps import H, axis, moved, started

from orchestrator import Reason
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.simunits import Block
from python_blocks.safety.axis_guard import AxisGuard
from python_blocks.safety.braking import braked, braked_vector
from python_blocks.safety.force_guard import ForceGuard
from python_blocks.safety.pose_guard import PoseGuard
from python_blocks.safety.work import surplus
from python_blocks.safety.wrench_guard import WrenchGuard

BAD = pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])


# --- coming to rest ------------------------------------------------------------------------


@pytest.mark.parametrize("h", [1e-2, 1e-3, 7e-4])
@pytest.mark.parametrize("v", [0.3, -0.3, 1e-5, 0.0])
def test_braking_is_the_closed_form_at_any_sampling(h: float, v: float) -> None:
    x, speed, a = 0.5, v, 2.0
    for n in range(round(0.2 / h)):
        x, speed = braked(x, speed, a, h)
        t = min((n + 1) * h, abs(v) / a)  # it stands from |v|/a on
        assert x == pytest.approx(0.5 + v * t - math.copysign(0.5 * a * t * t, v), abs=1e-14)
        assert speed == pytest.approx(v - math.copysign(a * t, v), abs=1e-14)
    assert speed == 0.0
    assert x - 0.5 == pytest.approx(math.copysign(v * v / (2 * a), v), abs=1e-14)


@pytest.mark.parametrize(
    ("guard", "name"),
    [
        (AxisGuard, "deceleration"),
        (PoseGuard, "deceleration"),
        (PoseGuard, "angular_deceleration"),
        (ForceGuard, "ramp"),
        (WrenchGuard, "ramp"),
        (AxisGuard, "travel"),
        (PoseGuard, "turn"),
        (ForceGuard, "energy_limit"),
        (WrenchGuard, "limit"),
    ],
)
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_limits_and_times_of_zero_or_less_are_refused(
    guard: type[Block], name: str, value: float, wording
) -> None:
    with wording.raises(DescriptionError):
        guard(**{name: value}).initialise(0.0)


@pytest.mark.parametrize("guard", [AxisGuard, PoseGuard, ForceGuard, WrenchGuard])
def test_a_persistence_below_zero_is_refused(guard: type[Block], wording) -> None:
    with wording.raises(DescriptionError):
        guard(persistence=-1.0).initialise(0.0)


@pytest.mark.parametrize("norm", [0.6, 1.0, 1.9])
def test_a_rotation_is_counted_from_the_start_whatever_the_norms(norm: float) -> None:
    guard = started(PoseGuard(q=(norm, 0.0, 0.0, 0.0), w=(0.1, 0.0, 0.0)))
    angle, n = 0.0, 0
    while not guard.safe and angle < 1.0:
        angle, n = angle + 1e-4, n + 1  # 0.1 rad/s at 1 ms
        q = (norm * math.cos(angle / 2), norm * math.sin(angle / 2), 0.0, 0.0)
        moved(guard, n * H, q=q)
    assert guard.reason == Reason.TRAVEL
    assert angle == pytest.approx(guard.turn, abs=2e-4)


def test_a_vector_comes_to_rest_on_a_straight_line() -> None:
    v, way = [0.3, -0.4, 0.0], np.zeros(3)
    for _ in range(300):
        step, v = braked_vector(v, 2.0, H)
        way += step
    assert v == [0.0, 0.0, 0.0]
    # 0.5 m/s: 62.5 mm along (0.6, -0.8, 0)
    np.testing.assert_allclose(way, [0.0375, -0.05, 0.0], rtol=0, atol=1e-14)


def test_a_turn_comes_to_rest_about_its_axis() -> None:
    guard = started(PoseGuard(w=(0.0, 0.0, 0.4), angular_deceleration=2.0))
    for n in range(300):
        moved(guard, n * H, stop=int(Reason.FORCE))
    angle = 0.4**2 / (2 * 2.0)  # rad
    expected = [math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)]
    np.testing.assert_allclose(guard.attitude, expected, rtol=0, atol=1e-12)
    assert guard.standing


@pytest.mark.parametrize("t", [-5.0, 0.0, 1e6])
def test_the_time_of_the_start_does_not_matter(t: float) -> None:
    guard = started(AxisGuard(), t)
    moved(guard, t, position=math.nan)
    assert guard.reason == Reason.COMMAND_NOT_FINITE
    assert guard.since == t + H
    (notice,) = guard.notices()
    assert notice.time_ns == round((t + H) * 1e9)


# --- the account of energy -----------------------------------------------------------------


def test_a_spring_gives_what_it_stores_and_a_late_one_more() -> None:
    """A mass of 1 kg at a spring of 100 N/m from 0.1 m: 0.5 J; 20 ms late it gains, and is found.

    Exact for a held force; the spring in time is given the force in the middle of the step, which
    stores as much as it gives.
    """

    def given(late: int) -> tuple[float, int]:
        guard = started(ForceGuard(position=0.1, sense=1.0, energy_limit=0.75, converged=True))
        x, v, past = 0.1, 0.0, [0.1] * (late + 1)
        for n in range(2000):
            force = -100.0 * past[0]
            moved(guard, n * H, force=force, measured=force, position=x)
            if guard.reason:
                return guard.energy, n
            v += force * H  # semi-implicit: conserves the energy of a spring in time
            x += v * H
            past = [*past[1:], x]
        return guard.energy, 2000

    energy, steps = given(late=0)
    assert steps == 2000
    energy, steps = given(late=20)
    # Its energy grows with exp(k T t / m) = exp(2 t): half as much again by 0.2 s, and the first
    # quarter of a swing, 0.16 s, that gives anything at all comes again 0.31 s later.
    assert energy > 0.75
    assert steps < 600


def test_the_surplus_of_a_spring_is_never_more_than_it_stores() -> None:
    """Work of ``-k x`` along any way, with exact integration: D <= k x_max^2/2."""
    random = np.random.default_rng(3)
    x, D, most = 0.0, 0.0, 0.0
    for _ in range(20_000):
        following = float(np.clip(x + random.normal(0, 0.01), -0.3, 0.3))
        D = surplus(D, -50.0 * (following**2 - x**2))
        x, most = following, max(most, D)
    assert most <= 50.0 * 0.3**2 * (1 + 1e-12)
    assert most > 0.9 * 50.0 * 0.3**2  # and the bound is reached


@BAD
def test_work_that_is_no_number_counts_as_nothing(bad: float) -> None:
    assert surplus(0.3, bad) == 0.3


# --- the way out ---------------------------------------------------------------------------


def test_the_safe_state_is_left_by_a_reset_only() -> None:
    guard = axis()
    moved(guard, 0.3, position=math.nan)
    for n in range(500):
        moved(guard, 0.301 + n * H, position=guard.command, velocity=0.0)
    assert guard.standing
    moved(guard, 1.0, reset=True)
    assert guard.safe  # not allowed


def test_a_reset_is_taken_where_nothing_jumps() -> None:
    guard = axis(resettable=True)
    moved(guard, 0.3, position=math.nan)
    for n in range(500):
        moved(guard, 0.301 + n * H, position=0.0, velocity=0.0)
    held = guard.command
    moved(guard, 1.0, reset=True, position=held + 2e-4)
    assert guard.safe  # the simulation is elsewhere
    moved(guard, 1.001, position=held + 5e-5, velocity=2e-4)
    assert guard.safe  # it moves
    moved(guard, 1.002, velocity=5e-5)
    assert not guard.safe
    assert guard.command == held + 5e-5
    assert [notice.safe for notice in guard.notices()] == [True, False]


def test_a_reset_that_was_held_all_along_is_no_edge() -> None:
    guard = started(AxisGuard(resettable=True, reset=True))
    moved(guard, 0.0, position=math.nan)
    moved(guard, H, position=0.0)
    assert guard.safe
    moved(guard, 2 * H, reset=False)
    moved(guard, 3 * H, reset=True)
    assert not guard.safe


def test_a_force_comes_back_as_it_went() -> None:
    guard = started(ForceGuard(force=100.0, measured=100.0, resettable=True))
    for n in range(10):
        moved(guard, n * H, sensor_lost=True)
    assert guard.reason == Reason.SENSOR_LOST
    faded = []
    for n in range(200):
        moved(guard, 0.01 + n * H)
        faded.append(guard.applied)
    np.testing.assert_allclose(faded, 100.0 * (1 - np.arange(1, 201) / 200), rtol=0, atol=1e-9)
    moved(guard, 0.3, reset=True)
    assert guard.safe  # the cause is still there
    moved(guard, 0.301, sensor_lost=False)
    assert not guard.safe
    assert guard.applied == 0.0
    back = []
    for n in range(201):
        moved(guard, 0.302 + n * H)
        back.append(guard.applied)
    assert max(np.diff(back)) == pytest.approx(0.5)
    assert back[-1] == 100.0


def test_two_guards_leave_together() -> None:
    """The command goes first, takes no notice of the other for a step, and the other follows."""
    axis_guard = started(AxisGuard(resettable=True))
    force = started(ForceGuard(resettable=True))

    def go(t: float, **inputs: object) -> None:
        moved(axis_guard, t, stop=force.reason, **inputs)
        moved(force, t, stop=axis_guard.reason, **inputs)

    force.sensor_lost = True
    for n in range(20):
        go(n * H, reset=False)
    assert axis_guard.reason == force.reason == Reason.SENSOR_LOST
    assert not axis_guard.notices()  # only who found it says so
    force.sensor_lost = False
    for n in range(3):
        go(0.02 + n * H, reset=True)
    assert axis_guard.reason == force.reason == 0


def test_a_force_may_stand_instead() -> None:
    guard = started(ForceGuard(force=100.0, measured=100.0, hold=True, persistence=0.0))
    moved(guard, 0.0, sensor_lost=True)
    assert guard.reason == Reason.SENSOR_LOST  # at once
    for n in range(300):
        moved(guard, n * H, force=7.0)
        assert guard.applied == 100.0


# --- states --------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [AxisGuard, ForceGuard, PoseGuard, WrenchGuard])
def test_the_way_to_rest_goes_on_from_a_saved_state(kind: type[Block]) -> None:
    """Saved, pickled and restored on the way: the same to the last bit, notices as well."""
    one = started(kind())
    for n in range(5):
        moved(one, n * H, stop=int(Reason.ENERGY))
    kept = pickle.loads(pickle.dumps(one.get_state()))  # noqa: S301 - our own bytes
    other = pickle.loads(pickle.dumps(one))  # noqa: S301
    for n in range(5, 30):
        moved(one, n * H)
        moved(other, n * H)
    assert str(one.get_state()) == str(other.get_state())
    third = started(kind())
    third.set_state(kept)
    for n in range(5, 30):
        moved(third, n * H)
    assert str(one.get_state()) == str(third.get_state())
    assert one.notices() == third.notices()


def test_a_step_that_is_taken_back_takes_its_notice_along() -> None:
    guard = started(AxisGuard())
    before = guard.get_state()
    moved(guard, 0.0, position=math.nan)
    assert guard.notices()
    guard.set_state(before)
    assert not guard.notices()


def test_every_reason_has_words() -> None:
    for reason in Reason:
        assert reason.text
        assert reason.advice
