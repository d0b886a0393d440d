"""What viewers are given of rows: samples, or lowest and highest, and never less than a peak."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

from orchestrator.pictures.live.messages import BUCKETS_US, Intervals, SampleFinder

MS = 1_000_000


@dataclass
class Written:
    times_ns: np.ndarray
    values: np.ndarray


def rows_of(count, columns=3, seed=1):
    values = np.random.default_rng(seed).normal(size=(count, columns))
    return Written((1 + np.arange(count)) * MS, values)


def samples_of(rows, whole=None):
    first = np.zeros(1, dtype=np.int64), np.full((1, rows.values.shape[1]), 0.25)
    finder = SampleFinder(*first, rows)
    finder.grow(len(rows.times_ns) if whole is None else whole)
    return finder


def test_few_rows_are_exact_and_reach_beyond_both_ends():
    rows = rows_of(1000)
    found = samples_of(rows).between(100 * MS, 200 * MS, [2, 0], 500)
    assert found.is_exact
    np.testing.assert_array_equal(found.times_ns, np.arange(99, 202) * MS)
    np.testing.assert_array_equal(found.values, rows.values[98:201, [2, 0]])


def test_what_was_recorded_before_stands_in_front():
    samples = samples_of(rows_of(10), whole=4)
    found = samples.between(0, 100 * MS, [1], 500)
    np.testing.assert_array_equal(found.times_ns, np.arange(5) * MS)
    assert found.values[0] == 0.25
    assert (samples.count, samples.begin_ns, samples.end_ns) == (5, 0, 4 * MS)


@pytest.mark.parametrize("most", [2, 100, 1600])
@pytest.mark.parametrize("count", [5000, 70_000, 300_001])
def test_no_peak_is_lost(count, most):
    """Every sample of the stretch lies between the lowest and the highest of its own time."""
    rows = rows_of(count, columns=2)
    samples = samples_of(rows)
    for begin, end in ((0, count), (count // 3, count - 7), (count - 4900, count)):
        found = samples.between(begin * MS, end * MS, [0, 1], most)
        shown, times = found.values, found.times_ns
        assert len(times) <= most + 4
        inside = slice(max(begin - 2, 0), min(end + 1, count))
        assert shown.max() >= rows.values[inside].max()
        assert shown.min() <= rows.values[inside].min()
        pairs = times[times > 0][::2]
        edges = np.append((pairs // MS - 1), min(end + 1, count))
        assert (np.diff(edges[:-1]) == edges[1] - edges[0]).all()
        for i in range(0, len(pairs), max(len(pairs) // 50, 1)):
            part = rows.values[edges[i] : edges[i + 1]]
            at = 2 * i + (len(times) - 2 * len(pairs))
            np.testing.assert_array_equal(shown[at], part.min(axis=0))
            np.testing.assert_array_equal(shown[at + 1], part.max(axis=0))


def test_rows_that_come_in_pieces_give_the_same_picture():
    rows, pieces = rows_of(100_000), None
    pieces = samples_of(rows, whole=0)
    for whole in (1, 63, 64, 1000, 1025, 16_384, 40_000, 99_999, 100_000):
        pieces.grow(whole)
    at_once = samples_of(rows)
    for most in (50, 700):
        one, other = (each.between(0, 10**12, [0, 1, 2], most) for each in (pieces, at_once))
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.times_ns, other.times_ns)


def test_intervals_are_counted_once_however_rows_come():
    rng = np.random.default_rng(3)
    times_ns = np.arange(1, 2001) * 1_000_000
    clocks_ns = 10**15 + 2 * times_ns + rng.integers(0, 3_000_000, 2000)  # half as fast
    away_us = np.abs(np.diff(clocks_ns) - 2_000_000) / 1e3
    edges = [-1, *BUCKETS_US, np.inf]
    expected = [int(((away_us > a) & (away_us <= b)).sum()) for a, b in pairwise(edges)]
    for pieces in ([2000], [0, 1, 2, 3, 700, 700, 2000]):
        intervals = Intervals(times_ns, clocks_ns, 0.5)
        for piece in pieces:
            intervals.grow(piece)
        assert intervals.counts == expected


def test_a_picture_stands_still_while_rows_come():
    """Stretches begin at the same rows, whatever is asked for: no line flickers."""
    samples = samples_of(rows_of(60_000))
    one = samples.between(10_000 * MS, 30_000 * MS, [0], 800)
    other = samples.between(10_111 * MS, 30_111 * MS, [0], 800)
    both = np.intersect1d(one.times_ns, other.times_ns)
    assert len(both) > 0.95 * len(np.unique(one.times_ns))


def test_a_stretch_without_numbers_is_a_gap():
    rows = rows_of(50_000, columns=1)
    rows.values[20_000:30_000] = np.nan
    rows.values[40_000] = np.nan  # narrower than a pixel: its neighbours are shown
    found = samples_of(rows).between(0, 10**12, [0], 1000)
    inside = (found.times_ns > 20_100 * MS) & (found.times_ns < 29_900 * MS)
    assert np.isnan(found.values[inside]).all()
    assert np.isfinite(found.values[found.times_ns > 30_100 * MS]).all()


def test_a_row_is_the_last_that_is_not_later():
    rows = rows_of(100)
    samples = samples_of(rows, whole=50)
    for time_ns, expected in ((-5, 0), (0, 0), (MS - 1, 0), (MS, 1), (7 * MS + 3, 7), (10**12, 50)):
        at, values = samples.at(time_ns)
        assert at == expected * MS
        np.testing.assert_array_equal(values, rows.values[expected - 1] if expected else 0.25)


def test_intervals_count_only_what_is_written():
    """Asked before the first row is whole, and for fewer rows than before, nothing is counted."""
    times, clocks = np.zeros(1000, np.int64), np.zeros(1000, np.int64)
    times[:10] = clocks[:10] = 1_000_000 * np.arange(10)
    intervals = Intervals(times, clocks, 1.0)
    for whole in (-1, 0, -1, 5, 3, 5):
        intervals.grow(whole)
        assert sum(intervals.counts) == max(whole - 1, 4 if whole in {3, 5} else 0, 0)
    intervals.grow(10)
    assert sum(intervals.counts) == 9
