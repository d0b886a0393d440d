import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.loops.contact import IdealImpact


@pytest.mark.parametrize("damping", [0.0, 1.0, 30.0, 63.245, 63.2455532, 63.3, 200.0])
def test_against_numerical_integration(damping):
    """Under-, critically (63.2455532 N s/m) and overdamped."""
    impact = IdealImpact(3.0, 2.0, 1000.0 / 1.2, damping, 1.3, 0.4)

    def rhs(_t, y):
        force = impact.stiffness * (y[0] - y[2]) + damping * (y[1] - y[3])
        return [y[1], -force / 3.0, y[3], force / 2.0]

    def released(_t, y):
        return impact.stiffness * (y[0] - y[2]) + damping * (y[1] - y[3])

    released.terminal = True
    released.direction = -1
    solution = solve_ivp(
        rhs, (0.0, 10.0), [0.0, 1.3, 0.0, 0.4], events=released, rtol=1e-11, atol=1e-14,
        dense_output=True, method="DOP853",
    )  # fmt: skip
    end = solution.t_events[0][-1]
    assert impact.release_time == pytest.approx(end, rel=1e-8)  # the event is interpolated
    t = np.linspace(0.0, end * 0.999, 200)
    x1, v1, x2, v2 = solution.sol(t)
    motion = impact.trajectory(t)
    for ours, theirs in ((motion.x1, x1), (motion.v1, v1), (motion.x2, x2), (motion.v2, v2)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11)
    state = solution.y_events[0][-1]
    assert impact.release_relative_speed == pytest.approx(state[1] - state[3], rel=1e-8)


@settings(max_examples=60, deadline=None)
@given(
    mass1=st.floats(0.1, 1e6),
    mass2=st.floats(0.1, 1e6),
    stiffness=st.floats(1.0, 1e5),
    ratio=st.floats(0.0, 3.0),
    velocity2=st.floats(-1.0, 1.0),
)
def test_peak_momentum_and_release(mass1, mass2, stiffness, ratio, velocity2):
    mu = mass1 * mass2 / (mass1 + mass2)
    damping = 2.0 * ratio * np.sqrt(stiffness * mu)
    impact = IdealImpact(mass1, mass2, stiffness, damping, velocity2 + 0.5, velocity2)
    t = np.linspace(-0.1, 1.3, 2001) * impact.release_time
    motion = impact.trajectory(t)
    assert np.all(motion.force >= 0.0)
    assert np.max(motion.force) <= impact.peak_force * (1.0 + 1e-12)
    assert impact.trajectory(impact.peak_time).force == pytest.approx(impact.peak_force, rel=1e-9)
    np.testing.assert_allclose(
        mass1 * motion.v1 + mass2 * motion.v2,
        (mass1 + mass2) * impact.centre_of_mass_velocity,
        atol=1e-12 * (mass1 + mass2),
    )
    np.testing.assert_allclose(mass1 * motion.a1, -motion.force, atol=1e-9 * impact.peak_force)
    np.testing.assert_allclose(mass2 * motion.a2, motion.force, atol=1e-9 * impact.peak_force)
    assert motion.v1[-1] - motion.v2[-1] == pytest.approx(
        impact.release_relative_speed, rel=1e-6, abs=1e-12
    )
    # positions are the integral of the velocities, across release too
    moved = np.sum(0.5 * (motion.v1[1:] + motion.v1[:-1]) * np.diff(t))
    assert moved == pytest.approx(motion.x1[-1] - motion.x1[0], abs=1e-3 * impact.release_time)


def test_undamped_impact_is_a_half_sine_and_loses_nothing():
    impact = IdealImpact(2.0, 2.0, 100.0, 0.0, 1.0, -1.0)
    assert impact.release_time == pytest.approx(np.pi / 10.0, rel=1e-14)
    assert impact.peak_time == pytest.approx(np.pi / 20.0, rel=1e-14)
    assert impact.peak_force == pytest.approx(20.0, rel=1e-14)
    assert impact.release_relative_speed == pytest.approx(-2.0, rel=1e-14)


def test_wrong_values_are_raised_together():
    with pytest.raises(DescriptionError) as caught:
        IdealImpact(-1.0, 1.0, 0.0, -2.0, 0.1, 0.3)
    assert len(caught.value.problems) == 4
