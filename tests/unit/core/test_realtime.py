"""How a run is kept to real time: what may be asked for, and what is read off its durations."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master.run.pacing import _durations
from orchestrator.core.realtime import OverrunPolicy, RealTime
from orchestrator.engine import LatencyHistogram


def durations_of(values):
    histogram = LatencyHistogram()
    for value in values:
        histogram.add(int(value))
    return _durations(histogram)


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


@pytest.mark.parametrize(
    "given",
    [
        {"factor": 0},
        {"factor": -1.5},
        {"factor": float("inf")},
        {"factor": float("nan")},
        {"factor": True},
        {"policy": "ketchup"},
        {"policy": "catch-up"},
        {"overruns": 0, "policy": "stop"},
        {"overruns": 3},
        {"priority": 99},
        {"priority": -1},
        {"priority": 1.5},
        {"budget": 0},
        {"budget": "3 weeks"},
        {"budgets": {"a": "-1 us"}},
    ],
)
def test_what_is_wrong_is_said(given, wording):
    with wording.raises(DescriptionError):
        RealTime(**given)


def test_all_that_is_wrong_is_said_together():
    with pytest.raises(DescriptionError) as caught:
        RealTime(factor=0, priority=200, policy="x")
    assert len(caught.value.problems) == 3


def test_budgets_in_nanoseconds():
    time = RealTime(budget="300 us", budgets={"b": 1e-4})
    assert time.budget_ns == 300_000
    assert time.unit_budgets_ns(["a", "b"]) == {"a": 0, "b": 100_000}
    assert RealTime().budget_ns == 0


def test_a_policy_may_be_given_as_text():
    assert RealTime(policy="slip").policy == OverrunPolicy.SLIP
