"""The draws of varying delays: distributions, correlation, losses, reproducibility."""

from dataclasses import replace

import numpy as np
import pytest
from oracle.reference_draws import Draws

from orchestrator.core.coupling import channel_of
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import (
    Connection,
    DelayTrace,
    Delivery,
    Endpoint,
    Jitter,
    JitterKind,
    Newest,
    TransportDelay,
    Variation,
)

MS = 1_000_000
COUNT = 20_000


def channel(variation, nominal=10 * MS, target="b.u"):
    delay = TransportDelay(nominal, variation=variation)
    return channel_of(Connection(Endpoint.parse("a.y"), Endpoint.parse(target), delay))


def drawn(made, count=COUNT):
    draws = Draws(made)
    found = [draws.next((n + 1) * MS, MS) for n in range(count)]
    return np.array([np.nan if d is None else d for d in found])


def test_no_variation_is_no_channel():
    assert channel_of(Connection(Endpoint("a", "y"), Endpoint("b", "u"), TransportDelay(1))) is None
    assert channel_of(Connection(Endpoint("a", "y"), Endpoint("b", "u"))) is None


@pytest.mark.parametrize("correlation", [0, 3 * MS])
@pytest.mark.parametrize(
    ("jitter", "mean", "deviation", "low", "high"),
    [
        ((JitterKind.UNIFORM, 3 * MS), 10.0, 3 / np.sqrt(3.0), 7.0, 13.0),
        # Cut at three standard deviations, a normal distribution has 0.9866 of the deviation.
        ((JitterKind.NORMAL, 2 * MS), 10.0, 2 * 0.9866, 4.0, 16.0),
        # The spread is that of the excess; shape 2 has the mean sqrt(2) spreads.
        ((JitterKind.GAMMA, 2 * MS, 2.0), 10.0 + 2 * np.sqrt(2.0), 2.0, 10.0, 28.0),
    ],
)
def test_distributions(jitter, mean, deviation, low, high, correlation):
    shape = jitter[2] if len(jitter) == 3 else 2.0
    made = channel(Variation(Jitter(jitter[0], jitter[1], shape, correlation)))
    found = drawn(made) / MS
    # 20000 draws: a mean of deviation 3 errs by 0.02; neighbours alike over 3 steps, by 0.06.
    tolerance = 0.2 if correlation else 0.06
    assert found.mean() == pytest.approx(mean, abs=tolerance)
    assert found.std() == pytest.approx(deviation, abs=tolerance)
    assert found.min() >= low
    assert found.max() <= high
    assert found.max() * MS <= made.longest_ns + 1


def test_correlation_is_that_of_a_first_order_filter():
    jitter = Jitter(JitterKind.NORMAL, 2 * MS, correlation_ns=5 * MS)
    found = drawn(channel(Variation(jitter)))
    found = (found - found.mean()) / found.std()
    for lag in (1, 5):
        # exp(-lag / 5); the cut of the distribution and 20000 draws change less than 0.03.
        assert (found[lag:] * found[:-lag]).mean() == pytest.approx(np.exp(-lag / 5), abs=0.03)
    alone = drawn(channel(Variation(Jitter(JitterKind.NORMAL, 2 * MS))))
    alone = (alone - alone.mean()) / alone.std()
    assert abs((alone[1:] * alone[:-1]).mean()) < 0.03


def test_losses():
    found = drawn(channel(Variation(loss=0.2)))
    assert np.isnan(found).mean() == pytest.approx(0.2, abs=0.01)  # three deviations
    assert set(found[~np.isnan(found)]) == {10 * MS}


def test_seeds_and_names_give_other_draws():
    jitter = Jitter(JitterKind.UNIFORM, MS)
    one = drawn(channel(Variation(jitter, seed=1)), 100)
    np.testing.assert_array_equal(one, drawn(channel(Variation(jitter, seed=1)), 100))
    for other in (
        channel(Variation(jitter, seed=2)),
        channel(Variation(jitter, seed=1), target="c.u"),
    ):
        assert (one != drawn(other, 100)).mean() > 0.9


def test_traces():
    rows = [("0", "1 ms"), ("2 ms", "3 ms"), ("4 ms", ""), ("6 ms", "2 ms")]
    for interpolated, expected in ((False, [1, 3, 3]), (True, [2, 3, 3])):
        made = channel(Variation(trace=DelayTrace.of(rows, interpolated=interpolated)))
        found = drawn(made, 8) / MS
        # 1 .. 8 ms; an interpolated delay holds before a loss, and after the last row.
        np.testing.assert_array_equal(found, [*expected, np.nan, np.nan, 2, 2, 2])


def test_mean_age_of_what_is_held():
    assert channel(Variation(loss=0.5)).held_ns(MS) == 11 * MS  # each second sample is missing
    wide = channel(Variation(Jitter(JitterKind.UNIFORM, 4 * MS)))
    # Delays of 6 to 14 ms rounded up to whole ms: half a step on top of the mean.
    assert wide.held_ns(MS) == pytest.approx(10.5 * MS, rel=1e-3)


def test_words_are_the_members_they_name():
    assert Jitter("uniform", 3 * MS).kind is JitterKind.UNIFORM
    words = Variation(seed=1, loss=0.1, delivery="in-order", newest="arrived")
    assert (words.delivery, words.newest) == (Delivery.IN_ORDER, Newest.ARRIVED)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Jitter("foo", MS),
        lambda: Variation(1, loss=0.1, delivery="foo"),
        lambda: Variation(1, loss=0.1, newest="foo"),
    ],
)
def test_words_that_name_nothing(make, wording):
    with wording.raises(DescriptionError):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Variation(loss=0.1, seed=1.5),
        lambda: Variation(loss=0.1, seed=True),
        lambda: Jitter("normal", "1 ms"),
        lambda: Jitter("normal", 10, correlation_ns=0.5),
    ],
)
def test_what_is_no_whole_number_is_refused(make, wording):
    with wording.raises(DescriptionError):
        make()


def test_the_mean_age_of_what_has_arrived_by_hand():
    """Middles of the quantiles 1 and 4 ms wait for the steps at 2 and 4 ms; a fifth is lost."""
    drawn_ = replace(channel(Variation(loss=0.2)), quantiles_ns=(0.0, 2.0 * MS, 6.0 * MS))
    assert drawn_.held_ns(2 * MS) == pytest.approx(3.0 * MS + 2.0 * MS * 0.2 / 0.8)
    traced = replace(channel(Variation(loss=0.2)), loss=0.0, delays_ns=(-1, 3 * MS, 5 * MS))
    assert traced.held_ns(2 * MS) == pytest.approx(5.0 * MS)


def test_a_lost_sample_of_a_trace_is_no_delay():
    trace = DelayTrace((0, MS, 2 * MS), (3 * MS, None, 4 * MS))
    assert channel(Variation(trace=trace)).delays_ns == (3 * MS, -1, 4 * MS)
