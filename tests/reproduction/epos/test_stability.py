"""Zebenay, Boge, Lampariello, Choukroun (EPOS 2.0): section 4, stability with delay in the loop.

m1 = 750 kg, K = 2510 N/m, h = 16 ms, b = 20 and 60 N s/m (section 5.2).
"""

import cmath
from pathlib import Path

import numpy as np
import pytest

from orchestrator import read_system
from orchestrator.loops import linear_system
from orchestrator.loops.contact import ContactLoop
from orchestrator.study.measure import fit_growth

EXAMPLE = Path(__file__).parents[3] / "examples" / "epos"


def loop(damping: float, extra: float = 0.0) -> ContactLoop:
    return ContactLoop(750.0, 2510.0, damping, 0.016 + extra)


@pytest.mark.parametrize(("damping", "limit"), [(20.0, 1249.867), (60.0, 3748.800)])
def test_equation_12(damping, limit):
    # Closed form: half of the last digit given. The paper prints 1250 and 3748.8 N/m.
    assert loop(damping).stiffness_limit_closed_form == pytest.approx(limit, abs=5e-4)


@pytest.mark.parametrize(("damping", "limit"), [(20.0, 1249.822), (60.0, 3748.399)])
def test_exact_limit(damping, limit):
    # +-0.001: last digit given (3748.3995 to one digit more).
    assert loop(damping).stiffness_limit_exact == pytest.approx(limit, abs=1e-3)
    at = ContactLoop(750.0, loop(damping).stiffness_limit_exact, damping, 0.016)
    assert abs(at.growth_rate) < 1e-12  # the limit is a loop with a root on the axis


@pytest.mark.parametrize("damping", [20.0, 60.0])
def test_pade_orders_close_the_gap_to_the_exact_limit(damping):
    exact = loop(damping).stiffness_limit_exact
    gaps = [loop(damping).stiffness_limit_pade(order) - exact for order in (1, 2, 3)]
    assert gaps[0] == pytest.approx(loop(damping).stiffness_limit_closed_form - exact, abs=1e-8)
    assert 0.0 < gaps[0] < 0.5
    assert abs(gaps[1]) < 1e-4 * gaps[0]
    assert abs(gaps[2]) < 1e-9


@pytest.mark.parametrize(("damping", "margin"), [(20.0, 7.968e-3), (60.0, 23.889e-3)])
def test_delay_margin(damping, margin):
    found = loop(damping).delay_margin
    assert found.delay == pytest.approx(margin, abs=5e-7)  # half of the last digit given
    assert found.additional == pytest.approx(margin - 0.016, abs=5e-7)
    # independent: w from the moduli, the delay from the phases
    square = (damping**2 + np.sqrt(damping**4 + (2 * 750.0 * 2510.0) ** 2)) / (2 * 750.0**2)
    omega = np.sqrt(square)
    assert found.delay == pytest.approx(np.arctan2(damping * omega, 2510.0) / omega, rel=1e-12)


@pytest.mark.parametrize(
    ("damping", "root", "unstable"),
    [(20.0, 0.013442 + 1.82934j, 2), (60.0, -0.013225 + 1.83012j, 0)],
)
def test_rightmost_root(damping, root, unstable):
    found = loop(damping).rightmost_root
    assert found.real == pytest.approx(root.real, abs=5e-7)  # half of the last digit given
    assert found.imag == pytest.approx(root.imag, abs=5e-6)
    assert found == pytest.approx(_newton_from_many_starts(damping), abs=1e-12)
    # the argument principle: these are all roots right of the axis, and of -1 1/s
    assert loop(damping).characteristic.roots_right_of(0.0) == unstable
    assert loop(damping).characteristic.roots_right_of(-1.0) == 2
    assert loop(damping).is_stable == (unstable == 0)


def _newton_from_many_starts(damping: float) -> complex:
    best = complex(-np.inf, 0.0)
    for start in (complex(a, b) for a in (-5.0, -1.0, 0.0, 1.0) for b in np.arange(0.1, 200.0, 7)):
        s = start
        for _ in range(100):
            late = cmath.exp(-s * 0.016)
            value = 750.0 * s * s + (2510.0 + damping * s) * late
            slope = 1500.0 * s + (damping - 0.016 * (2510.0 + damping * s)) * late
            step = value / slope
            s -= step
            if abs(step) < 1e-15 * (1.0 + abs(s)):
                break
            if s.real < -2e4 or s.real > 2e4:
                break
        else:
            continue
        if abs(step) < 1e-12 and s.real > best.real:
            best = complex(s.real, abs(s.imag))
    return best


@pytest.mark.parametrize("damping", [20.0, 60.0])
def test_linear_models_of_the_rig_have_the_same_roots_and_margin(plants, damping):
    """Of the FMUs and the block of the example, which know nothing of mass, spring and damper."""
    system = read_system(EXAMPLE / "capture.ssd").set("damper.b", damping)
    linear = linear_system(system, step="1 ms")
    (account,) = linear.loop_accounts()
    assert account.modes[0].exact == pytest.approx(loop(damping).rightmost_root, abs=1e-11)
    # Stepped, it is late by nothing: what is left is of the second order in the step.
    assert account.modes[0].growth == pytest.approx(loop(damping).growth_rate, abs=3e-8)
    edge = loop(damping).delay_margin.additional
    delay = f"{round(1e9 * (0.016 + edge))} ns"
    late = system.with_delay("chaser.position", "sheet.position_a", delay)
    late = late.with_delay("chaser.velocity", "damper.velocity", delay)
    (limit,) = linear_system(late, step="1 ms").loop_accounts()
    assert abs(limit.modes[0].exact.real) < 2e-9  # for the nanosecond


@pytest.mark.parametrize(
    ("extra", "rates"),
    [(0.5e-3, (0.014278, -0.012387)), (1.5e-3, (0.015951, -0.010711))],
    ids=["hold of 1 ms", "contact one step of 1 ms late"],
)
def test_coupling_step_acts_as_delay(extra, rates):
    """Measured rates of coupled runs: half a step for a hold, one and a half for one step late."""
    for damping, rate in zip((20.0, 60.0), rates, strict=True):
        # 1e-6: the rates are measured to that digit, and the rule is of first order in the step
        # (the second order is w^2 H^2 / 24, 1e-7 of the rate).
        assert loop(damping, extra).growth_rate == pytest.approx(rate, abs=1e-6)


def test_late_contact_at_a_third_of_the_delay_is_falsely_unstable():
    assert loop(60.0, 1.5 * 0.016 / 4).is_stable  # H = 4 ms
    assert not loop(60.0, 1.5 * 0.016 / 3).is_stable  # H = 5.33 ms


@pytest.mark.slow
@pytest.mark.parametrize("damping", [20.0, 60.0])
def test_growth_of_a_run_under_thrust_is_the_rightmost_root(damping):
    """10 N constant thrust for 60 s: an independent integration, its rate fitted from the run."""
    t, x = _thrust_run(damping)
    fit = fit_growth(t, x, start=1.0)
    root = loop(damping).rightmost_root
    # 2e-9: the delay is 16 steps of classic Runge-Kutta with cubic history, error ~ (w dt)^4.
    assert fit.sigma == pytest.approx(root.real, abs=2e-9)
    assert fit.omega == pytest.approx(root.imag, abs=2e-9)
    assert fit.offset == pytest.approx(10.0 / 2510.0, rel=1e-6)


def _thrust_run(damping: float, dt: float = 1e-3, end: float = 60.0):
    """m x'' = 10 N - K x(t - h) - b x'(t - h) from rest, history at rest."""
    late, count = 16, round(end / dt)
    states = np.zeros((count + 1, 2))
    slopes = np.zeros((count + 1, 2))

    def slope(state, past):
        return np.array([state[1], (10.0 - 2510.0 * past[0] - damping * past[1]) / 750.0])

    zero = np.zeros(2)
    slopes[0] = slope(states[0], zero)
    for n in range(count):
        i = n - late
        past = states[i] if i >= 0 else zero
        ahead = states[i + 1] if i + 1 >= 0 else zero
        middle = zero
        if i >= 0:
            middle = 0.5 * (past + ahead) + dt / 8.0 * (slopes[i] - slopes[i + 1])
        a = slope(states[n], past)
        b = slope(states[n] + 0.5 * dt * a, middle)
        c = slope(states[n] + 0.5 * dt * b, middle)
        d = slope(states[n] + dt * c, ahead)
        states[n + 1] = states[n] + dt / 6.0 * (a + 2.0 * b + 2.0 * c + d)
        slopes[n + 1] = slope(states[n + 1], ahead)
    return np.arange(count + 1) * dt, states[:, 0]
