"""What is read off counts of durations."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from orchestrator.core.realtime import Durations
from orchestrator.engine import LatencyHistogram


def durations_of(values):
    histogram = LatencyHistogram()
    for value in values:
        histogram.add(int(value))
    return Durations(
        histogram.count,
        histogram.minimum,
        histogram.maximum,
        histogram.total,
        tuple(histogram.buckets),
    )


@pytest.mark.parametrize("percent", [0.1, 50.0, 99.0, 99.9, 100.0])
def test_a_percentile_is_at_most_a_thirty_second_too_long(percent):
    values = np.random.default_rng(3).lognormal(10.0, 1.5, 5000).astype(np.int64)
    share = Fraction(str(percent)) * len(values) / 100
    exact = np.sort(values)[math.ceil(share) - 1]
    found = durations_of(values).percentile_ns(percent)
    assert exact <= found <= exact * (1 + 1 / 32) + 1


def test_without_any():
    empty = durations_of([])
    assert empty.percentile_ns(50.0) is None
    assert math.isnan(empty.mean_ns)
    assert json.loads(json.dumps(empty.as_json(), allow_nan=False))["mean_ns"] is None


def test_no_percentile_is_beyond_the_longest():
    assert durations_of([1000, 1001]).percentile_ns(100.0) == 1001
