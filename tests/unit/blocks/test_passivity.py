"""The passivity controller, and the hand-over between model and hardware."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pytest
from unit.blocks.guard_steps import H, moved, started

from orchestrator import Reason
from python_blocks.safety.hand_over import HandOver
from python_blocks.safety.passivity_controller import PassivityController

MASS, K, X0 = 1900.0, 5e4, 0.01
STORE = K * X0**2 / 2


def dock(late: int, seconds: float = 10.0, **parameters: float) -> tuple[np.ndarray, ...]:
    """Let a mass swing on a spring whose force comes so many steps late.

    Returns
    -------
    tuple
        Position, m, energy given after what was damped, J, and the block.
    """
    block = started(PassivityController(store=STORE, force=K * X0, position=X0, **parameters))
    x, v, past = X0, 0.0, deque([K * X0] * (late + 1), late + 1)
    places, given = [], []
    for n in range(round(seconds / H)):
        # The force is held, so the step of the mass is exact; sense -1: it pushes against x.
        a = -block.applied / MASS
        x, v = x + v * H + a * H * H / 2, v + a * H
        past.append(K * x)
        moved(block, n * H, force=past[0], position=x, velocity=v)
        places.append(x)
        given.append(block.given)
    return np.array(places), np.array(given), block


def test_a_loop_that_is_late_diverges_and_does_not_with_the_controller() -> None:
    free, _, alarm = dock(10, acts=False)
    growth = K * 10.5 * H / (2 * MASS)  # ten steps late, and held for one
    assert np.abs(free).max() == pytest.approx(X0 * math.exp(growth * 10.0), rel=0.05)
    held, given, block = dock(10)
    # Its speed is bounded by the energy; it turns late by the delay, at most that speed times it.
    assert np.abs(held).max() <= X0 * (1 + math.sqrt(K / MASS) * 10.5 * H)
    # A step foresees force times v h, the work is that of the held force: off by a h^2 / 2 each.
    assert given.max() <= STORE * 1.01
    assert block.damped > STORE
    (notice,) = alarm.notices()
    assert notice.what == Reason.ENERGY.text
    assert block.notices() == ()


def test_the_account_is_the_energy_of_the_mass() -> None:
    places, given, block = dock(10, seconds=2.0)
    v = (places[-1] - places[-2]) / H - block.applied / MASS * H / 2  # of the end, to O(h^2)
    assert given[-1] == pytest.approx(MASS * v * v / 2, rel=0.02)


def test_what_is_passive_passes_bit_for_bit() -> None:
    block = started(PassivityController(store=1.0))
    for n in range(500):
        x, v = 0.01 * math.sin(0.02 * n), 0.2 * math.cos(0.02 * n) / H * 1e-3
        force = K / 1e3 * x + 200.0 * v  # a spring and a damper take energy
        moved(block, n * H, force=force, position=x, velocity=v)
        assert block.applied == force
    assert (block.damping, block.notices()) == (0.0, ())


def test_its_damping_keeps_its_limit_and_a_rest_of_it_waits() -> None:
    _, given, block = dock(10, seconds=3.0, damping_limit=500.0)
    assert block.damping <= 500.0
    assert given.max() > STORE * 1.05


def test_a_value_that_is_no_number_is_not_made_to_one() -> None:
    block = started(PassivityController(store=1.0))
    moved(block, 0.0, force=math.nan, velocity=0.1)
    assert math.isnan(block.applied)
    assert block.damping == 0.0


def handed(trusted: list[float], tau: float = 0.05) -> tuple[np.ndarray, HandOver]:
    """Feed a model of 0 N and hardware of 10 + 100 t N."""
    block = started(HandOver(blend=0.1, tau=tau, trusted=trusted[0], hardware=10.0))
    forces = []
    for n, each in enumerate(trusted):
        hardware = 10.0 + 100.0 * n * H if each else math.nan
        moved(block, n * H, model=0.0, hardware=hardware, trusted=each)
        forces.append(block.force)
    return np.array(forces), block


def test_the_hardware_comes_in_and_goes_out_without_a_jump() -> None:
    n = round(0.1 / H)
    forces, block = handed([0.0] * 10 + [1.0] * (2 * n) + [0.0] * (6 * n))
    assert forces[9] == 0.0
    last = 10 + 2 * n - 1
    assert forces[last] == 10.0 + 100.0 * last * H  # bit for bit once it is in
    assert block.weight == 0.0
    # After the loss: d(t) = (d0 + (d1 + d0/tau) t) exp(-t/tau), d1 = 100 N/s.
    t = H * np.arange(1, 6 * n + 1)
    d0, tau = forces[last], 0.05
    expected = (d0 + (100.0 + d0 / tau) * t) * np.exp(-t / tau)
    assert forces[last + 1 :] == pytest.approx(expected, rel=1e-6)
    # Nowhere faster than the blending of what is there: 15/8 of 40 N in 0.1 s, and the slope.
    assert np.abs(np.diff(forces)).max() < (15 / 8 * 40.0 / 0.1 + 100.0) * H


def test_hardware_that_comes_back_at_once_is_taken_in_from_where_the_force_is() -> None:
    n = round(0.1 / H)
    forces, _ = handed([1.0] * n + [0.0] * 5 + [1.0] * (2 * n))
    assert np.abs(np.diff(forces)).max() < 1000.0 * H
    assert forces[-1] == 10.0 + 100.0 * (len(forces) - 1) * H
