"""Lost, late, repeated and malformed samples, counted."""

import math
from types import SimpleNamespace

import pytest

from orchestrator.rig.device_units.samples import other_rate
from orchestrator.rig.device_units.sequence import SampleCounter
from orchestrator.rig.devices import Received

MS = 1_000_000


def counted(sequences, *, period=None, times=None):
    """Take samples of these numbers, one a millisecond; return facts and those that were used."""
    counter = SampleCounter(1, 1000.0, period)
    times = times or [(i + 1) * MS for i in range(len(sequences))]
    used = [
        sequence
        for sequence, now in zip(sequences, times, strict=True)
        if counter.take(Received((1.0,), None, sequence), now)
    ]
    f = counter.facts
    return (f.number, f.lost, f.late, f.repeated, f.restarts), used


@pytest.mark.parametrize(
    ("sequences", "facts", "used"),
    [
        ([5, 6, 7], (3, 0, 0, 0, 0), [5, 6, 7]),
        ([5, 6, 9], (3, 2, 0, 0, 0), [5, 6, 9]),
        ([5, 6, 6, 7], (3, 0, 0, 1, 0), [5, 6, 7]),
        ([5, 7, 6, 8], (3, 0, 1, 0, 0), [5, 7, 8]),  # late, so not lost
        ([900, *range(12)], (4, 0, 0, 0, 1), [900, 9, 10, 11]),  # ten periods of nothing else
        ([900, 903, *range(10)], (3, 2, 0, 0, 1), [900, 903, 9]),
        ([None, None], (2, 0, 0, 0, 0), [None, None]),
    ],
)
def test_samples_by_their_count(sequences, facts, used):
    assert counted(sequences) == (facts, used)


def test_a_count_that_begins_again_loses_nothing():
    assert counted([254, 255, 0, 1], period=256) == ((4, 0, 0, 0, 0), [254, 255, 0, 1])


def test_a_sample_is_late_from_half_a_period_on():
    times = [1 * MS, 2 * MS, 3 * MS + MS // 2, 5 * MS + 1]
    assert counted([0, 1, 2, 3], times=times)[0] == (4, 0, 1, 0, 0)


@pytest.mark.parametrize("values", [(), (1.0, 2.0), (math.nan,), (math.inf,)])
def test_what_is_no_sample_is_malformed(values):
    counter = SampleCounter(1, 1000.0, None)
    assert not counter.take(Received(values), MS)
    assert (counter.facts.malformed, counter.facts.number) == (1, 0)


def test_an_invalid_sample_ages_the_one_before():
    counter = SampleCounter(1, 1000.0, None)
    assert counter.take(Received((1.0,), 0.5, 0), MS)
    assert not counter.take(Received((2.0,), 0.501, 1, valid=False, status=3), 2 * MS)
    facts = counter.facts
    assert (facts.received_ns, facts.device_time) == (MS, 0.5)
    assert (facts.valid, facts.status) == (0, 3)


def started_anew(range_, before, silent):
    """Take samples of 1 kHz up to a number, then those of a device that was started anew."""
    counter, now = SampleCounter(1, 1000.0, range_, 1.0 if silent == 300 else 0.1), 0
    for number in range(before - 50, before + 1):
        now += MS
        assert counter.take(Received((1.0,), None, number % range_), now)
    now += silent * MS
    first = Received((1.0,), None, 0)
    counter.take(first, now)
    follows = counter.follows
    for number in range(1, 5):
        now += MS
        counter.take(Received((1.0,), None, number), now)
    return counter.facts.restarts, follows


@pytest.mark.parametrize(
    ("range_", "before", "silent"),
    [
        (256, 200, 1),  # 56 samples in a millisecond
        (256, 200, 300),  # more than half of the range: the count says nothing, though not stale
        (256, 130, 40),
        (65536, 40000, 3000),  # 25536 samples in 3 s
        (65536, 65000, 3000),  # 536 samples in 3 s
        (65536, 30000, 3000),  # beyond half of the range: it goes back
        (2**32, 3 * 2**30, 10_000),
    ],
)
def test_a_device_that_counts_anew_is_found_wherever_its_count_was(range_, before, silent):
    restarts, follows = started_anew(range_, before, silent)
    assert restarts == 1
    assert not follows  # its first sample is not answered


@pytest.mark.parametrize(("gap", "silent"), [(2, 2), (90, 90), (90, 100), (120, 120)])
def test_samples_that_were_lost_are_no_new_beginning(gap, silent):
    counter, now = SampleCounter(1, 1000.0, 256, 0.1), 0
    for number in range(50):
        now += MS
        counter.take(Received((1.0,), None, number), now)
    assert counter.take(Received((1.0,), None, 49 + gap), now + silent * MS)
    assert (counter.facts.restarts, counter.facts.lost) == (0, gap - 1)


def test_what_lay_in_a_queue_that_ran_over_is_no_new_beginning():
    """The machine stood for 160 ms: 60 samples lay there, 100 were lost, then it goes on."""
    counter, now = SampleCounter(1, 1000.0, 256, 0.1), 0
    for number in range(100):
        now += MS
        counter.take(Received((1.0,), None, number), now)
    now += 160 * MS
    for number in range(100, 160):
        assert counter.take(Received((1.0,), None, number), now)
        now += MS // 100
    assert counter.take(Received((1.0,), None, 260 % 256), now)
    assert (counter.facts.restarts, counter.facts.lost) == (0, 100)


@pytest.mark.parametrize(
    ("seconds", "number", "lost", "device_time", "found"),
    [
        (2.0, 500, 0, math.nan, "250"),
        (2.0, 400, 100, math.nan, "250"),
        (1.0, 4000, 0, math.nan, "4000"),
        (1.0, 1000, 0, math.nan, ""),
        (1.0, 700, 0, math.nan, ""),
        (0.4, 100, 0, math.nan, ""),  # too short to say
        (2.0, 500, 0, 2.0, ""),  # what its own clock says was measured at the start
    ],
)
def test_another_rate_than_the_declared_one(seconds, number, lost, device_time, found):
    first = SimpleNamespace(number=7, lost=1, received_ns=5 * MS)
    last = SimpleNamespace(
        number=7 + number,
        lost=1 + lost,
        received_ns=5 * MS + round(seconds * 1e9),
        device_time=device_time,
    )
    told = f"; they came at {found} per second, and it is declared to send 1000"
    assert other_rate(first, last, 1000.0) == (told if found else "")
