"""What is said of signals that are made for it."""

import numpy as np
import pytest

from orchestrator import UnknownNameError
from orchestrator.core.recording import Result
from orchestrator.study.verification import Kinds, compare

TIMES = np.linspace(0.0, 1.0, 201)


def three(signal, names=("a.x",)):
    """Results whose signals are ``signal(H)``, of shape (201, len(names)), H = 1, 1/2, 1/4."""
    time_ns = np.round(TIMES * 1e9).astype(np.int64)
    return [
        Result("r", time_ns, names, signal(h).reshape(len(TIMES), -1), step_ns=round(h * 4e6))
        for h in (1.0, 0.5, 0.25)
    ]


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
def test_a_power_of_the_step_is_found_with_its_factor(order):
    shape = np.sin(9 * TIMES)
    found = compare(three(lambda h: shape + 0.01 * h**order * np.cos(TIMES)), Kinds())["a.x"]
    assert found.order == pytest.approx(order, rel=1e-9)
    assert found.error == pytest.approx(0.01 * np.sqrt(np.mean(np.cos(TIMES) ** 2)), rel=1e-9)
    first = 0.01 * (1 - 2**-order)
    assert found.largest == pytest.approx((first, first / 2**order))
    assert found.shares[0] == pytest.approx(found.largest[0] / found.span)
    assert found.flags == ()


def test_what_does_not_come_closer_is_said_to_be_so():
    noise = np.random.default_rng(1)
    found = compare(three(lambda h: noise.normal(size=len(TIMES)) / h), Kinds())["a.x"]
    assert found.flags == ("not converging",)
    assert found.order is found.error is None


def test_equal_finer_runs_are_round_off_and_the_difference_is_the_error():
    found = compare(three(lambda h: np.sin(TIMES) + (0.1 if h == 1.0 else 1e-15 * h)), Kinds())
    assert found["a.x"].flags == ("round-off",)
    assert found["a.x"].order is None
    assert found["a.x"].error == pytest.approx(0.1)


def test_an_output_that_is_zero_but_for_rounding_is_last():
    noise = np.random.default_rng(1)

    def signals(h):
        zero = 1e-12 * noise.normal(size=len(TIMES))
        return np.stack([1e4 * np.sin(TIMES) + h, zero], axis=1)

    found = compare(three(signals, ("a.force", "a.momentum")), Kinds())
    assert found["a.momentum"].flags == ("round-off",)
    assert found["a.momentum"].error is None
    assert [figures.name for figures in found] == ["a.force", "a.momentum"]


def test_small_elements_are_rounded_as_large_ones_of_their_array():
    noise = np.random.default_rng(1)

    def signals(h):
        small = 1e-3 * np.sin(TIMES) + 1e-14 * noise.normal(size=len(TIMES))
        return np.stack([small, np.cos(TIMES)], axis=1)

    found = compare(three(signals, ("a.q[0]", "a.q[1]")), Kinds())
    assert found["a.q[0]"].flags == ("round-off",)


@pytest.mark.parametrize(
    "shape",
    [
        lambda t: np.where(t > 0, 5.0, 0.0),
        lambda t: np.where((t > 0) & (t < 0.007), 5.0, 0.0),
        lambda t: np.where(t > 0, -3.0, 2.0) * np.cos(t),
    ],
    ids=["step", "impulse", "impact"],
)
def test_a_jump_that_comes_at_another_time_is_found(shape):
    found = compare(three(lambda h: np.sin(TIMES) + shape(TIMES - 0.5 - 0.02 * h)), Kinds())["a.x"]
    assert "jump" in found.flags
    assert 0.5 <= found.jump_s <= 0.53


@pytest.mark.parametrize("factor", [1e-6, 0.1, 1.0])
def test_a_smooth_signal_has_no_jump(factor):
    found = compare(three(lambda h: np.sin(20 * TIMES + factor * h) * np.exp(TIMES)), Kinds())
    assert found["a.x"].flags == ()
    assert found["a.x"].jump_s is None


def test_a_constant_that_differs_comes_first():
    def signals(h):
        return np.stack([np.full(len(TIMES), 2.0 + h), np.sin(TIMES) * (1 + h)], axis=1)

    found = compare(three(signals, ("a.constant", "a.moving")), Kinds())
    assert [figures.name for figures in found] == ["a.constant", "a.moving"]
    assert found["a.constant"].shares == (None, None)
    assert found["a.constant"].order == pytest.approx(1.0)


def test_only_what_all_runs_have_is_compared(wording):
    first, *finer = three(lambda h: np.stack([TIMES * h, TIMES], axis=1), ("a.x", "a.y"))
    total = Result(
        "r",
        first.time_ns,
        (*first.names, "energy.total"),
        np.column_stack([first.values, TIMES]),
        step_ns=first.step_ns,
    )
    found = compare([total, *finer], Kinds())
    assert found.names == ("a.x", "a.y")
    with wording.raises(UnknownNameError):
        found["energy.total"]
