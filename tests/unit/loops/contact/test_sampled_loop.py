"""The prediction of a sampled rig against closed forms, its limit without samples, and a loop that
is written down and stepped.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.loops.contact import BodyChain, ForceCorrection, SampledContactLoop, loop_modes
from orchestrator.study.measure import fit_growth

TABLE_1 = BodyChain((5e4, 300.0, 2000.0), (1.5e5,), (200.0,))
PLAIN = SampledContactLoop(TABLE_1, 5e4, 100.0, 1e-3)
BELIEVED = ForceCorrection(5e4, 100.0)
COMPENSATED = replace(PLAIN, lead_rest=0.1, correction=BELIEVED)


def test_the_frequencies_are_those_of_the_rig():
    """Table 1 of the rig without dampers: 0.7003 and 4.1359 Hz."""
    frequencies, contact, links = TABLE_1.modes(5e4)
    np.testing.assert_allclose(frequencies / (2 * np.pi), [0.7003, 4.1359], atol=5e-5)
    # The dampers, all small, against the eigenvalues of the chain with the contact inside.
    spring = np.zeros((4, 4))
    spring[:, 1], spring[:, 3] = 5e4 * TABLE_1.push, 0.1 * TABLE_1.push
    light = BodyChain(TABLE_1.masses, TABLE_1.stiffness, (0.2,))
    decay = np.sort(-np.linalg.eigvals(light.matrix + spring).real)[::2]
    np.testing.assert_allclose(contact * 0.1 + links * 0.2 / 200.0, decay, rtol=1e-4)


def test_two_masses_have_their_reduced_mass():
    frequencies, contact, links = BodyChain((3.0, 6.0)).modes(8.0)
    np.testing.assert_allclose([*frequencies, *contact, *links], [2.0, 0.25, 0.0], rtol=1e-14)


def test_short_steps_are_the_loop_without_samples():
    """The error goes down with the square of the step: hold and command take each other back."""
    wanted = PLAIN.continuous.rightmost_roots(1)[0]
    errors = [abs(replace(PLAIN, step=h).roots[0] - wanted) for h in (2e-3, 1e-3, 5e-4)]
    assert errors[-1] < 1e-4  # of 26 rad/s
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(4.0, rel=0.1)


def test_short_steps_with_compensation():
    """The half sample takes back what the hold of k does, not what that of c does to w."""
    wanted = COMPENSATED.continuous.rightmost_roots(1)[0]
    errors = [replace(COMPENSATED, step=h).roots[0] - wanted for h in (2e-3, 1e-3, 5e-4, 2.5e-4)]
    assert np.abs(np.real(errors)).max() < 1e-6
    ratios = np.divide(np.imag(errors[:-1]), np.imag(errors[1:]))
    np.testing.assert_allclose(ratios, 2.2, atol=0.15)  # of first order, and a rest of second


@pytest.mark.parametrize("delay", [4e-3, 4.3e-3])
def test_a_delay_is_that_of_the_loop_without_samples(delay):
    """Also one that is no whole number of steps; it may be anywhere in an uncompensated loop."""
    there = replace(PLAIN, step=1e-4, command_delay=delay)
    assert there.roots[0] == pytest.approx(there.continuous.rightmost_roots(1)[0], abs=1e-5)
    back = replace(PLAIN, step=1e-4, force_delay=delay)
    assert back.roots[0] == pytest.approx(there.roots[0], abs=1e-6)


def test_equal_delays_of_what_is_measured_are_one_delay(wording):
    loop = replace(COMPENSATED, step=1e-4, force_delay=5e-3, position_delay=5e-3)
    assert loop.roots[0] == pytest.approx(loop.continuous.rightmost_roots(1)[0], abs=1e-5)
    with wording.raises(DescriptionError):
        _ = replace(COMPENSATED, force_delay=5e-3).continuous


def stepped(loop: SampledContactLoop, late: int, steps: int) -> np.ndarray:
    """Two bodies once more, as a program: plants by an integrator, blocks in words; the gap, m."""
    h, w, known = loop.step, 2 * np.pi * loop.bandwidth, loop.correction
    mass = 1.0 / sum(1.0 / m for m in loop.chain.masses)

    def bodies(t, y, force):
        return [y[1], -force / mass]

    def robot(t, y, command):
        return [y[1], w * w * (command - y[0]) - 2 * loop.zeta * w * y[1]]

    def solved(rates, y, held):
        options = {"rtol": 1e-10, "atol": 1e-14, "args": (held,)}
        return solve_ivp(rates, (0.0, h), y, method="DOP853", **options).y[:, -1]

    def lagged(y, lag, begin, end):
        """A lag behind a ramp: the ramp, late by the lag, and what dies out."""
        slope = (end - begin) / h
        settled = begin - lag * slope
        return settled + slope * h + (y - settled) * np.exp(-h / lag)

    gap, axis = np.array([0.01, 0.0]), np.array([0.01, 0.0])
    contact = shown = force = rest = loop.stiffness * 0.01
    past, gaps = [contact] * (late + 1), [0.01]
    for _ in range(steps):
        gap = solved(bodies, gap, force)
        before = axis[0]
        axis = solved(robot, axis, gap[0])
        now = loop.stiffness * axis[0] + loop.damping * axis[1]
        shown, contact = lagged(shown, loop.sensor_lag, contact, now), now
        past.append(shown)
        old, seen = past[-2 - late], past[-1 - late]
        rest = lagged(rest, loop.lead_rest * loop.sensor_lag, old, seen)
        force = (seen - (1.0 - loop.lead_rest) * rest) / loop.lead_rest
        speed = (axis[0] - before) / h if known.differenced else axis[1]
        ahead = 0.5 * h * gap[1] if known.half_sample else 0.0
        force += known.stiffness * (gap[0] + ahead - axis[0]) + known.damping * (gap[1] - speed)
        gaps.append(gap[0])
    return np.array(gaps)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("known", "late"),
    [
        (ForceCorrection(3e4, 50.0), 0),
        (ForceCorrection(5e4, 100.0, half_sample=False), 3),
        (ForceCorrection(5e4, 100.0, differenced=True), 2),
    ],
)
def test_a_program_that_does_the_same_grows_as_fast(known, late):
    h = 2e-3
    loop = replace(COMPENSATED, chain=BodyChain((300.0, 2000.0)), step=h, correction=known)
    loop = replace(loop, force_delay=late * h)
    gaps = stepped(loop, late, 900)
    fit = fit_growth(h * np.arange(len(gaps)), gaps, start=0.5)
    # After 0.5 s only the slowest root is left: the others have lost more than exp(-20).
    assert fit.sigma == pytest.approx(loop.growth_rate, abs=1e-5)
    assert fit.frequency == pytest.approx(loop.frequency, rel=1e-6)


def test_the_modes_give_the_reason():
    """What the robot takes from the damping is the missing stiffness times its lateness.

    At low frequencies it is late by 2 zeta / w0 = 14.85 ms; the sensor behind its lead by 0.2 ms.
    """
    late = 2 * 0.7 / (30 * np.pi)
    for share in (0.7, 0.9, 1.0, 1.2):
        loop = replace(COMPENSATED, correction=ForceCorrection(share * 5e4, 100.0))
        slow, fast = loop_modes(loop)
        wanted = 100.0 - 5e4 * 0.2e-3 - (1.0 - share) * 5e4 * late
        # Next order (w/w0)^2: 0.2 % of the lateness in the slow mode, 7 % in the fast one.
        assert slow.damping == pytest.approx(wanted, abs=1.0)
        assert slow.growth == pytest.approx(loop.growth_rate, rel=0.02, abs=1e-5)
        assert fast.omega == pytest.approx(26.0, rel=0.02)
    slow, fast = loop_modes(PLAIN)
    assert slow.damping == pytest.approx(100.0 - 5e4 * (late + 2e-3), abs=5.0)
    assert fast.growth == pytest.approx(PLAIN.growth_rate, rel=0.03)
    assert slow.margin < 0.0 < slow.stiffness


def test_the_limit_of_a_stiffness_that_is_too_small():
    """15.3 % too little, 12.4 % without the half sample: where the slow mode has no margin left."""
    for half, limit in ((True, 0.847), (False, 0.876)):
        rates = [
            replace(COMPENSATED, correction=ForceCorrection(share * 5e4, 100.0, half)).growth_rate
            for share in (limit - 0.001, limit + 0.001)
        ]
        assert rates[0] > 0.0 > rates[1]
    assert replace(COMPENSATED, correction=ForceCorrection(1e5, 100.0)).is_stable


def test_wrong_values_are_refused_together(wording):
    with wording.raises(DescriptionError):
        SampledContactLoop(TABLE_1, 5e4, -1.0, 0.0)
    with wording.raises(DescriptionError):
        BodyChain((1.0, 2.0, 3.0))
    with wording.raises(DescriptionError):
        BodyChain((1.0, 0.0))
