"""Large systems: the largest multipliers by Arnoldi's method are those of the whole matrix."""

import numpy as np
import pytest

from orchestrator import System
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits import block
from orchestrator.loops import delayed_loop, linear_system, period_map
from orchestrator.loops.multipliers import large_multipliers, multipliers
from orchestrator.loops.run_account import run_account

from .conftest import SecondOrder


@pytest.fixture(scope="module")
def linear():
    """Eight oscillators of 1 to 4.5 Hz in a ring, each 40 ms late."""
    system = System("ring")
    for i in range(8):
        w = 2.0 * np.pi * (1.0 + 0.5 * i)
        values = {"a": (0.0, 1.0, -w * w, -0.04 * w), "b": (0.0, 0.02 * w * w), "c": (1.0, 0.0)}
        system = system.add(f"c{i}", block(SecondOrder), **values)
    for i in range(8):
        system = system.connect(f"c{i}.y", f"c{(i + 1) % 8}.u", delay="40 ms")
    return linear_system(system, step="1 ms")


def test_the_largest_multipliers_are_those_of_the_dense_matrix(linear):
    whole = linear.period_map()
    inner = whole._sparse_inner(np.arange(whole.size))
    dense = multipliers(inner.toarray()).values[:12]
    found = large_multipliers(inner, 12)
    assert inner.shape[0] > 300
    for value in dense:
        assert np.abs(found.values - value).min() < 1e-12


def test_accounts_of_large_systems_are_those_of_small_ones(linear, monkeypatch):
    (small,) = linear.loop_accounts()
    monkeypatch.setattr(period_map, "DENSE", 50)
    monkeypatch.setattr(delayed_loop, "_LARGE", 10)
    (large,) = linear.loop_accounts()
    for one, other in zip(small.modes, large.modes, strict=True):
        assert other.sampled == pytest.approx(one.sampled, abs=1e-8)
        assert other.exact == pytest.approx(one.exact, abs=1e-8)
    assert "roots in continuous time are those near the sampled ones" in large.remarks[-1]


def test_a_run_with_many_delayed_samples_has_its_account(linear):
    """320 samples: what was given up before."""
    account = run_account(linear.system, step="1 ms")
    assert account.notice == ""
    assert len(account.accounts[0].modes) == 6


def test_bodies_that_float_are_free_motions_in_large_matrices_as_well():
    """A double multiplier of 1 beside damped ones is known to the square root of rounding."""
    from scipy.sparse import block_diag, csc_array

    damped = np.diag(np.linspace(0.2, 0.9, 80))
    matrix = csc_array(block_diag([np.array([[1.0, 1e-3], [0.0, 1.0]]), damped]))
    found = large_multipliers(matrix, 4)
    off = np.abs(found.values[:2] - 1.0)
    assert np.all(off <= 30.0 * found.uncertainty[:2])
    assert np.isnan(found.uncertainty[2:]).all()


def test_modes_that_are_all_alike_are_refused(monkeypatch, wording):
    """A ring of shifts: every multiplier has the modulus 1."""
    from scipy.sparse import csc_array

    monkeypatch.setattr("orchestrator.loops.multipliers._POWERS", (3,))
    monkeypatch.setattr("orchestrator.loops.multipliers._RESTARTS", 2)
    shift = csc_array(np.roll(np.eye(199), 1, axis=0))
    with wording.raises(CapabilityError):
        large_multipliers(shift, 4)
