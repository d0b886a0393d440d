from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lsim, lti
from scipy.spatial.transform import Rotation

from orchestrator.core.diagnostics import DescriptionError
from python_blocks.compensation.adaptive_time_series import AdaptiveTimeSeries
from python_blocks.compensation.first_order_delay import FirstOrderDelayCompensation
from python_blocks.compensation.force import ForceCompensation
from python_blocks.compensation.force_moment import ForceMomentCompensation
from python_blocks.compensation.inverse_delay import InverseDelay
from python_blocks.compensation.lead import lead_coefficients
from python_blocks.compensation.phase_lead import PhaseLead, WrenchPhaseLead
from python_blocks.compensation.smith_predictor import SmithPredictor

H = 1e-3


def test_lead_is_exact_for_straight_pieces():
    """Against SciPy's linear system, whose inputs go straight between samples as well."""
    t = np.arange(200) * H
    u = np.random.default_rng(9).normal(size=200)
    u[0] = 0.0
    _, wanted, _ = lsim(lti([2e-3, 1.0], [2e-4, 1.0]), u, t)
    block, found = PhaseLead(measured=u[0]), []
    block.initialise(0.0)
    for now in u:
        block.measured = now
        block.step(0.0, H)
        found.append(block.force)
    np.testing.assert_allclose(found[1:], wanted[1:], rtol=1e-9, atol=1e-9)


def test_lead_takes_the_lag_of_a_sensor_back():
    t = np.arange(1000) * H
    force = np.sin(2 * np.pi * 4 * t)
    _, measured, _ = lsim(lti([1.0], [2e-3, 1.0]), force, t)
    block, found = PhaseLead(), []
    block.initialise(0.0)
    for now in measured:
        block.measured = now
        block.step(0.0, H)
        found.append(block.force)
    # What is left is the lag of a tenth, 0.2 ms: 0.005 of a sine of 4 Hz; before it was 0.05.
    assert np.abs(found - force)[100:].max() < 0.0055
    assert np.abs(measured - force)[100:].max() > 0.045


def test_noise_behind_the_lead():
    """3.3 times: the figure of the documentation, from the impulse response."""
    b0, b1, a = lead_coefficients(2e-3, 2e-4, H)
    response = [b0, *((b1 + a * b0) * a**n for n in range(50))]
    assert np.sqrt(np.sum(np.square(response))) == pytest.approx(3.3, abs=0.01)


def test_lead_refuses_what_is_no_time(wording):
    with wording.raises(DescriptionError):
        lead_coefficients(2e-3, 0.0, H)


def test_wrench_lead_is_six_leads():
    random = np.random.default_rng(3)
    six, ones = WrenchPhaseLead(), [PhaseLead() for _ in range(6)]
    for block in (six, *ones):
        block.initialise(0.0)
    for _ in range(20):
        values = random.normal(size=6)
        six.measured_force[:], six.measured_torque[:] = values[:3], values[3:]
        six.step(0.0, H)
        for one, value in zip(ones, values, strict=True):
            one.measured = value
            one.step(0.0, H)
        np.testing.assert_allclose([*six.force, *six.torque], [o.force for o in ones], rtol=1e-14)


def compensated(**values):
    block = ForceCompensation(**({"stiffness": 1000.0, "damping": 10.0} | values))
    block.step(0.0, H)
    return block


def test_force_of_where_the_robot_should_be():
    block = compensated(
        measured=5.0, desired=0.02, actual=0.015, desired_velocity=0.3, actual_velocity=0.1
    )
    assert block.correction == pytest.approx(1000 * (0.005 + 0.3 * H / 2) + 10 * 0.2)
    assert block.force == 5.0 + block.correction
    plain = compensated(desired=0.02, actual=0.015, half_sample=False)
    assert plain.force == pytest.approx(5.0)


def test_correction_is_limited_and_says_so():
    block = compensated(desired=1.0, limit=50.0)
    assert (block.correction, block.limited, block.active) == (50.0, True, True)


def test_nothing_is_added_to_what_cannot_be_believed():
    block = compensated(measured=7.0)
    for name, value in (("measured", np.nan), ("desired", np.nan), ("wrong_sign", True)):
        block.measured, block.desired, block.wrong_sign = 7.0, 0.1, False
        block.step(0.0, H)
        assert block.active
        setattr(block, name, value)
        block.step(0.0, H)
        assert not block.active
        assert (block.force, block.correction) == (7.0, 0.0)


def any_motion(random):
    """Poses and velocities of a computed and of an actual body, both seen from the end-effector."""
    computed = Rotation.from_rotvec(0.2 * random.normal(size=3))
    actual = Rotation.from_rotvec(0.02 * random.normal(size=3)) * computed
    s = np.array([0.0, 0.0, 2.5]) + 0.1 * random.normal(size=3)
    at = s + 0.01 * random.normal(size=3)  # the actual body's centre of mass
    v, w, v_at, w_at = 0.1 * random.normal(size=(4, 3))
    arm = actual.apply([0.0, 0.0, -1.0])
    return {
        "s": s, "q": computed.as_quat()[[3, 0, 1, 2]], "v": v, "w": w,
        "position": at + np.array([0.0, 0.0, 0.3]) + arm,
        "actual_q": actual.as_quat()[[3, 0, 1, 2]],
        "velocity": v_at + np.cross(w_at, arm), "actual_w": w_at,
    }, (computed, s, v, w), (actual, at, v_at, w_at)  # fmt: skip


def contact_wrench(rotation, s, v, w, K, C):
    """Force of the contact, and moment about the end-effector's centre, of one of the bodies."""
    to_point = rotation.apply([0.0, 0.0, -1.5])
    point = s + to_point
    force = K * (point - [0.0, 0.0, 1.0]) + C * (v + np.cross(w, to_point))
    return force, np.cross(point, force)


def test_wrench_of_the_computed_pose_comes_out():
    """Whatever the contact measures where the robot is: what leaves is that of the wanted pose."""
    random = np.random.default_rng(36)
    K, C = np.array([4e4, 3.6e4, 3.2e4]), np.array([400.0, 240.0, 320.0])
    for _ in range(10):
        values, computed, actual = any_motion(random)
        force, moment = contact_wrench(*actual, K, C)
        block = ForceMomentCompensation(
            **{name: tuple(value) for name, value in values.items()},
            measured_force=tuple(force), measured_torque=tuple(moment),
            stiffness=tuple(K), damping=tuple(C), half_sample=False,
        )  # fmt: skip
        block.step(0.0, H)
        wanted_force, wanted_moment = contact_wrench(*computed, K, C)
        # Rounding of forces of some 1e4 N.
        np.testing.assert_allclose(block.force, wanted_force, atol=1e-9)
        np.testing.assert_allclose(block.torque, wanted_moment, atol=1e-9)
        block.half_sample = True
        block.step(0.0, H)
        ahead = computed[2] + np.cross(computed[3], computed[0].apply([0.0, 0.0, -1.5]))
        np.testing.assert_allclose(block.force, wanted_force + K * ahead * H / 2, atol=1e-9)


def test_the_moment_of_a_point_contact_is_that_of_its_force():
    """Noise of the forces then does not turn the bodies about the captured point."""
    random = np.random.default_rng(22)
    K, C = np.array([4e4, 3.6e4, 3.2e4]), np.array([400.0, 240.0, 320.0])
    values, computed, actual = any_motion(random)
    force, moment = contact_wrench(*actual, K, C)
    noise = random.normal(size=3)
    block = ForceMomentCompensation(
        **{name: tuple(value) for name, value in values.items()},
        measured_force=tuple(force + noise), measured_torque=tuple(moment + random.normal(size=3)),
        stiffness=tuple(K), damping=tuple(C), half_sample=False, point_contact=True,
    )  # fmt: skip
    block.step(0.0, H)
    wanted, _ = contact_wrench(*computed, K, C)
    point = computed[1] + computed[0].apply([0.0, 0.0, -1.5])  # the computed captured one
    np.testing.assert_allclose(block.force, wanted + noise, atol=1e-9)
    np.testing.assert_allclose(block.torque, np.cross(point, block.force), atol=1e-9)
    block.stiffness[0] = np.nan  # nothing is added, and the moment is the measured one
    block.step(0.0, H)
    assert not block.active
    np.testing.assert_array_equal(block.torque, block.measured_torque)


def test_a_direction_with_the_wrong_sign_is_left_alone():
    block = ForceMomentCompensation(
        s=(0.1, 0.1, 2.5), stiffness=(1e3, 1e3, 1e3), wrong_sign=(0.0, 1.0, 0.0)
    )
    block.step(0.0, 0.0)
    assert block.force_correction.tolist() == pytest.approx([100.0, 0.0, 0.0])


def test_six_directions_are_not_compensated_without_a_force():
    block = ForceMomentCompensation(s=(0.1, 0.0, 2.5), stiffness=(1e3,) * 3)
    block.measured_force[0] = np.nan
    block.step(0.0, 0.0)
    assert not block.active
    assert not block.force.any()
    assert not block.torque.any()


def test_first_order_delay():
    block = FirstOrderDelayCompensation(position=0.1, velocity=0.5, delay=0.02)
    block.step(0.0, H)
    assert block.command == pytest.approx(0.11)


@pytest.mark.parametrize("delay", [0.0, 0.4e-3, 7.3e-3])
def test_smith_predictor_takes_a_known_delay_out(delay):
    """The measured force is that of the past; what leaves is that of now."""
    k, c = 2e4, 150.0

    def x(t):
        return 0.01 * np.cos(20 * max(t, 0.0)), -0.2 * np.sin(20 * max(t, 0.0))

    def force(t):
        place, rate = x(t)
        return k * place + c * rate

    block = SmithPredictor(delay=delay, stiffness=k, damping=c)
    for n in range(100):
        now = n * H
        block.position, block.velocity = x(now)
        block.measured = force(now - delay)
        block.initialise(0.0) if n == 0 else block.step(now - H, H)
        # Straight between samples: (w H)^2/8 of an amplitude of 200 N.
        assert block.force == pytest.approx(force(now), abs=2e-2)
    assert len(block.past) <= delay / H + 3  # what is older is forgotten


def test_inverse_delay_undoes_its_discrete_actuator():
    """The actuator z/(alpha z - (alpha - 1)) of Chen and Ricles, alpha = 1 + delay/h."""
    wanted = np.sin(0.1 * np.arange(200))
    block, alpha, at = InverseDelay(position=wanted[0], delay=8 * H), 9.0, wanted[0]
    block.initialise(0.0)
    for now in wanted:
        block.position = now
        block.step(0.0, H)
        at = (block.command + (alpha - 1.0) * at) / alpha
        assert at == pytest.approx(now, abs=1e-12)


def test_adaptive_time_series_learns_the_inverse_of_a_lag():
    """Of 0.9/(T s + 1): a0 = 1/0.9 and a1 = T/0.9, although it begins with less of T."""
    lag, gain, turn = 0.02, 0.9, 2.0 * np.pi * 4.0
    t = np.arange(6000) * H
    wanted = np.sin(turn * t) + 0.3 * np.sin(2.3 * turn * t)
    rates = turn * (np.cos(turn * t) + 0.69 * np.cos(2.3 * turn * t))
    bends = -(turn**2) * (np.sin(turn * t) + 1.587 * np.sin(2.3 * turn * t))
    block, at, off = AdaptiveTimeSeries(delay=0.7 * lag), 0.0, []
    block.initialise(0.0)
    fade = np.exp(-H / lag)
    command = block.command
    for position, rate, bend in zip(wanted, rates, bends, strict=True):
        block.position, block.velocity, block.acceleration = position, rate, bend
        block.measured = at
        block.step(0.0, H)
        slope = (block.command - command) / H  # straight from one command to the next
        at = fade * at + gain * (1 - fade) * command + gain * slope * (H - lag * (1 - fade))
        command = block.command
        off.append(at - position)
    assert block.a0 == pytest.approx(1.0 / gain, rel=2e-3)
    assert block.a1 == pytest.approx(lag / gain, rel=0.05)  # half a step of lines is in it
    assert np.std(off[3000:]) < 0.04 * np.std(wanted)  # the actuator gets it a step later


def test_adaptive_time_series_learns_through_the_noise_of_a_sensor():
    """16 um on 10 mm at 4096 Hz, whose second differences are 100 times the acceleration."""
    h, lag, turn, noise = 1.0 / 4096.0, 0.02, 2.0 * np.pi * 4.0, np.random.default_rng(1)
    block, at, fade = AdaptiveTimeSeries(delay=0.7 * lag), 0.0, np.exp(-h / lag)
    block.initialise(0.0)
    for n, off in enumerate(noise.normal(0.0, 16e-6, 8192)):
        t = n * h
        block.position = 0.01 * np.sin(turn * t) + 0.003 * np.sin(2.3 * turn * t)
        block.velocity = turn * (0.01 * np.cos(turn * t) + 0.0069 * np.cos(2.3 * turn * t))
        at = fade * at + (1.0 - fade) * block.command
        block.measured = at + off
        block.step(0.0, h)
    assert block.a0 == pytest.approx(1.0, rel=2e-3)
    assert block.a1 == pytest.approx(lag + h / 2, rel=1e-3)  # a command is held for a step
    assert block.a2 == pytest.approx(lag * h / 2, rel=0.05)


def test_adaptive_time_series_learns_nothing_from_noise_at_rest():
    h, noise = 1.0 / 4096.0, np.random.default_rng(1)
    block = AdaptiveTimeSeries(delay=0.02)
    block.initialise(0.0)
    for off in noise.normal(0.0, 16e-6, 4096):
        block.measured = off
        block.step(0.0, h)
    assert (block.a0, block.a1) == pytest.approx((1.0, 0.02), rel=0.02)
    assert block.a2 == pytest.approx(2e-4, rel=0.3)  # 30 um of a second derivative, and 50 held


def test_adaptive_time_series_keeps_its_coefficients_at_rest():
    block = AdaptiveTimeSeries(delay=0.02)
    block.initialise(0.0)
    for _ in range(100):
        block.step(0.0, H)
    assert (block.a0, block.a1, block.a2) == pytest.approx((1.0, 0.02, 2e-4))
