"""Readings of the engine's histories against the plain formula, through the smallest engine."""

import math
from dataclasses import asdict, astuple
from itertools import pairwise

import numpy as np
import pytest
from oracle.reference_history import ReferenceHistory

from orchestrator.core.coupling import Channel
from orchestrator.core.master.schedule.rows import Extrapolation, Interpolation, OperationCode
from orchestrator.engine import Engine, History

H = 10


def read(samples, interpolation, shift, depth):
    """Push samples, one per step, and read after each; returns what was read at each step."""
    engine = Engine(
        2,
        [],
        [(0, depth, interpolation, Extrapolation.LINEAR, -1)],
        [],
        [],
        [(0, 1, shift, 0, 1.0, 0.0, 0.0, 0, False)],
        [],
        [],
        [(OperationCode.READ, 0, 1, 1, 0), (OperationCode.PUSH, 0, 1, 1, 0)],
        (0, 0.0, 1.0, 1, H, H, H, (), ()),
    )
    signals = engine.signals
    signals[0] = samples[0]
    engine.start(0, H)
    found = []
    for sample in samples[1:]:
        signals[0] = sample
        engine.run(1, 0)
        found.append(signals[1])
    return found


@pytest.mark.parametrize("shift", range(-55, 30))
def test_linear(shift):
    samples = np.random.default_rng(3).normal(size=200)
    depth = -(-max(0, -shift) // H) + 3
    found = read(samples, Interpolation.LINEAR, shift, depth)
    for n, value in enumerate(found):
        at = n * H + shift
        if at <= 0 or n == 0:
            expected = samples[0]
        else:
            low = min(at // H, n - 1)
            weight = (at - low * H) / H
            expected = (1 - weight) * samples[low] + weight * samples[low + 1]
        # Extrapolated by up to three steps: a few roundings of numbers up to 10.
        assert value == pytest.approx(expected, rel=0, abs=1e-14)


@pytest.mark.parametrize("shift", range(-55, 1))
def test_hold(shift):
    samples = np.arange(1.0, 201.0)
    depth = -(-max(0, -shift) // H) + 3
    found = read(samples, Interpolation.HOLD, shift, depth)
    expected = [samples[max(0, (n * H + shift) // H)] for n in range(199)]
    assert found == expected


MS = 1_000_000


def past(
    times, values, interpolation, extrapolation=Extrapolation.LINEAR, *, depth=1000, channel=()
):
    history = History(
        depth, interpolation, extrapolation, [astuple(c) for c in channel], times[0], values[0]
    )
    for time, value in zip(times[1:], values[1:], strict=True):
        history.push(time, value)
    return history


@pytest.mark.parametrize("interpolation", [Interpolation.HOLD, Interpolation.LINEAR])
def test_samples_at_any_distance(interpolation):
    rng = np.random.default_rng(5)
    times = np.cumsum(rng.integers(1, 50, size=300)).tolist()
    values = rng.normal(size=300).tolist()
    history = past(times, values, interpolation)
    for at in range(times[0], times[-1], 3):
        i = max(j for j, time in enumerate(times) if time <= at)
        expected = values[i]
        if interpolation is Interpolation.LINEAR:
            share = (at - times[i]) / (times[i + 1] - times[i])
            expected += share * (values[i + 1] - values[i])
        assert history.read(at, at) == expected  # the same operations: the same bits


@pytest.mark.parametrize(
    ("interpolation", "degree"),
    [(Interpolation.HOLD, 0), (Interpolation.LINEAR, 1), (Interpolation.CUBIC, 2)],
)
def test_polynomials_are_met_at_any_distance_of_samples(interpolation, degree):
    """Slopes of a cubic come from parabolas: a parabola is met, a third power is not."""
    times = np.cumsum(np.random.default_rng(1).integers(1, 40, size=60)).tolist()
    values = [1.0 + sum((t / 100) ** k for k in range(1, degree + 1)) for t in times]
    history = past(times, values, interpolation)
    for at in range(times[0], times[-1]):
        expected = 1.0 + sum((at / 100) ** k for k in range(1, degree + 1))
        # Values to 150: some hundred roundings of 3e-14 would be too many.
        assert history.read(at, at) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("interpolation", "order"),
    [(Interpolation.HOLD, 1), (Interpolation.LINEAR, 2), (Interpolation.CUBIC, 3)],
)
@pytest.mark.parametrize("uniform", [True, False])
def test_order_of_convergence(interpolation, order, uniform):
    """The largest error on a sine falls with the order of the step, inside of the samples.

    On a uniform grid the two slopes of a cubic have errors that cancel but for the fourth order
    only in the middle of an interval; the largest error is of the third.
    """
    errors = []
    for count in (64, 128, 256):
        grid = np.linspace(0.0, 1.0, count + 1)
        if not uniform:
            grid[1::2] += 0.3 / count  # distances of 1.3 and 0.7
        times = np.round(grid * 1e9).astype(np.int64).tolist()
        history = past(times, [math.sin(9.0 * t / 1e9) for t in times], interpolation)
        reads = np.linspace(0.1e9, 0.9e9, 4001).astype(np.int64).tolist()
        errors.append(max(abs(history.read(t, t) - math.sin(9.0 * t / 1e9)) for t in reads))
    orders = [math.log2(one / two) for one, two in pairwise(errors)]
    # Within a tenth of the order: the step is not yet infinitely small.
    assert orders == pytest.approx([order] * 2, abs=0.1)


@pytest.mark.parametrize(
    ("extrapolation", "order"),
    [(Extrapolation.HOLD, 1), (Extrapolation.LINEAR, 2), (Extrapolation.QUADRATIC, 3)],
)
def test_order_of_extrapolation(extrapolation, order):
    errors = []
    for count in (64, 128, 256):
        step = 10**9 // count
        worst = 0.0
        for n in range(count // 4, count):
            times = [k * step for k in range(n + 1)]
            history = past(
                times, [math.sin(9.0 * t / 1e9) for t in times], Interpolation.LINEAR, extrapolation
            )
            at = times[-1] + step // 2
            worst = max(worst, abs(history.read(at, at) - math.sin(9.0 * at / 1e9)))
        errors.append(worst)
    orders = [math.log2(one / two) for one, two in pairwise(errors)]
    assert orders == pytest.approx([order] * 2, abs=0.15)


def test_a_cubic_has_no_kink():
    """C1: the slopes on both sides of a sample differ by what the distance explains."""
    rng = np.random.default_rng(2)
    times = (np.cumsum(rng.integers(5, 20, size=30)) * MS).tolist()
    history = past(times, rng.normal(size=30).tolist(), Interpolation.CUBIC)
    e = 1000
    for at in times[2:-2]:
        left, here, right = (history.read(at + d, 0) for d in (-e, 0, e))
        # Slopes are of the order 1e-7 per ns; a second derivative of 1e-13 turns them by 1e-10.
        assert (right - here) / e == pytest.approx((here - left) / e, abs=1e-9)


def test_older_than_what_is_kept_is_an_error():
    times = [10 * n for n in range(20)]
    history = past(times, [float(t) for t in times], Interpolation.LINEAR, depth=4)
    assert history.read(160, 190) == 160.0  # the oldest of four
    with pytest.raises(IndexError, match="older than the samples"):
        history.read(159, 190)
    young = past(times[:3], [7.0, 8.0, 9.0], Interpolation.LINEAR, depth=4)
    assert young.read(-50, 0) == 7.0  # before the start a signal has its first value


def test_late_samples_with_a_held_reading():
    """Delays 5, 35, 5 at 10, 20, 30: the second is overtaken by the third."""
    delays = Channel(0, 10, times_ns=(0, 15, 25), delays_ns=(5, 35, 5))
    late_last = Channel(0, 10, times_ns=(0, 15, 25), delays_ns=(5, 35, 5), by_arrival=True)
    in_order = Channel(0, 10, times_ns=(0, 15, 25), delays_ns=(5, 35, 5), in_order=True)
    arrivals = range(10, 70, 5)
    found = {}
    for name, channel in {"sent": delays, "arrived": late_last, "order": in_order}.items():
        history = past([0, 10, 20, 30], [0.0, 1.0, 2.0, 3.0], Interpolation.HOLD, channel=[channel])
        # A receiver that is the nominal 10 behind: it asks for t - 10 at the time t.
        found[name] = [history.read(t - 10, t) for t in arrivals]
        assert history.facts[:3] == (3, 0, 1)
    #                          t: 10   15   20   25   30   35   40   45   50   55   60   65
    assert found["sent"] == [0.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]
    assert found["arrived"] == [0.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 2.0, 2.0, 2.0]
    assert found["order"] == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0]


@pytest.mark.parametrize(
    ("extrapolation", "missing"), [(Extrapolation.HOLD, 20.0), (Extrapolation.LINEAR, 25.0)]
)
def test_a_late_sample_with_an_interpolated_reading(extrapolation, missing):
    """The sample of 30 is 12 late: between 20 and 32 a receiver has only 20 and before."""
    channel = Channel(0, 10, times_ns=(0, 25, 35), delays_ns=(10, 22, 10))
    times = [0, 10, 20, 30]
    history = past(
        times, [float(t) for t in times], Interpolation.LINEAR, extrapolation, channel=[channel]
    )
    assert [history.read(t, t + 10) for t in (5, 15, 20)] == [5.0, 15.0, 20.0]
    assert history.facts[3] == 0
    assert history.read(25, 35) == missing
    assert history.facts == (3, 0, 1, 1, 15)
    assert history.read(32, 42) == (30.0 if extrapolation is Extrapolation.HOLD else 32.0)


def test_a_lost_sample_is_bridged():
    channel = Channel(0, 10, times_ns=(0, 15, 25), delays_ns=(10, -1, 10))
    history = past([0, 10, 20, 30], [0.0, 1.0, 9.0, 3.0], Interpolation.LINEAR, channel=[channel])
    assert history.read(20, 30) == 2.0  # on the line from 10 to 30
    assert history.facts[:4] == (3, 1, 0, 0)


def test_a_line_through_a_sample_that_has_left_the_ring():
    """After a long loss: from 1 at 10 to 19 at 100, as the receiver has it."""
    channel = Channel(0, 0, times_ns=(0, 15, 95), delays_ns=(0, -1, 0))
    history = History(4, Interpolation.LINEAR, Extrapolation.LINEAR, [astuple(channel)], 0, 0.0)
    history.push(10, 1.0)
    assert history.read(10, 10) == 1.0
    for n in range(2, 11):
        history.push(10 * n, 2.0 * n - 1.0)
    assert history.read(105, 105) == pytest.approx(20.0, abs=1e-14)


def test_what_is_held_outlives_the_ring():
    channel = Channel(0, 0, times_ns=(0, 15), delays_ns=(0, -1))
    history = History(4, Interpolation.HOLD, Extrapolation.HOLD, [astuple(channel)], 0, 0.0)
    history.push(10, 1.0)
    assert history.read(10, 10) == 1.0
    for n in range(2, 40):
        history.push(10 * n, float(n))
        assert history.read(10 * n, 10 * n) == 1.0
    assert history.facts == (39, 38, 0, 38, 380)


@pytest.mark.parametrize("mode", ["sent", "arrived", "in order"])
@pytest.mark.parametrize("depth", [4, 16, 64])
def test_a_held_reading_is_that_of_a_search_through_all_samples(mode, depth):
    """Delays and losses at random, and readings that now and then go back in time."""
    draws = np.random.default_rng(depth)
    times = np.arange(0, 4000, H)
    delays = np.where(draws.random(len(times)) < 0.2, -1, draws.integers(0, 30 * H, len(times)))
    nominal = 10 * H
    channel = Channel(
        0,
        nominal,
        times_ns=tuple(times.tolist()),
        delays_ns=tuple(delays.tolist()),
        by_arrival=mode == "arrived",
        in_order=mode == "in order",
    )
    row = [astuple(channel)]
    history = History(depth, Interpolation.HOLD, Extrapolation.LINEAR, row, 0, 0.0)
    dues, latest, kept = {0: -math.inf}, -math.inf, (-math.inf, 0)
    for number, (time, delay) in enumerate(zip(times, delays, strict=True)):
        if number:
            history.push(int(time), float(number))
            due = math.inf if delay < 0 else time + delay - nominal
            latest = max(latest, due) if delay >= 0 else latest
            dues[number] = latest if mode == "in order" and delay >= 0 else due
        for read in (time, *draws.integers(max(0, time - 5 * H), time + 1, int(number % 7 == 0))):
            at = int(read) - nominal
            ring = range(max(0, number - depth + 1), number + 1)
            arrived = [(dues[n], n) for n in ring if dues[n] <= at]
            if mode == "arrived":
                kept = max([kept, *(one for one in arrived if one[0] >= kept[0])])
            elif arrived:
                kept = max(arrived, key=lambda one: one[1])
            assert history.read(at, int(read)) == kept[1]


@pytest.mark.parametrize("by_arrival", [False, True])
def test_a_held_reading_looks_through_the_samples_on_their_way_only_once(by_arrival):
    depth = 1000
    nominal = depth * H
    quantiles = (0.9 * nominal, 1.1 * nominal)
    channel = Channel(1, nominal, 0.1, quantiles_ns=quantiles, by_arrival=by_arrival)
    row = [astuple(channel)]
    history = History(2 * depth, Interpolation.HOLD, Extrapolation.HOLD, row, 0, 0.0)
    for number in range(4 * depth):
        history.read((number - depth) * H, number * H)
        history.push((number + 1) * H, float(number))
    assert history.facts[0] == 4 * depth
    assert history.searches == 1  # a search by each reading would be 4000 of them
    history.read(0, 4 * depth * H)  # the past is searched
    assert history.searches == 2


@pytest.mark.parametrize("in_order", [False, True])
@pytest.mark.parametrize("interpolation", [Interpolation.LINEAR, Interpolation.CUBIC])
@pytest.mark.parametrize("depth", [4, 64, 65, 200])
def test_an_interpolated_reading_is_that_of_a_search_through_all_samples(
    in_order, interpolation, depth
):
    """Long losses, delays at random, and readings that now and then go back in time."""
    draws = np.random.default_rng(depth)
    times = np.arange(0, 12_000, H)
    lost = draws.random(len(times)) < np.where(times // 1500 % 2, 0.995, 0.2)
    delays = np.where(lost, -1, draws.integers(0, 80 * H, len(times)))
    nominal = 30 * H
    channel = Channel(
        0, nominal, times_ns=tuple(times), delays_ns=tuple(delays.tolist()), in_order=in_order
    )
    how = depth, interpolation, Extrapolation.LINEAR
    history = History(*how, [astuple(channel)], 0, 1.0)
    reference = ReferenceHistory(*how, channel, 0, 1.0)
    for number, time in enumerate(times[1:].tolist(), start=1):
        value = float(draws.normal())
        history.push(time, value)
        reference.push(time, value)
        back = draws.integers(0, 20 * H, int(number % 50 == 0)).tolist()
        for read in (time - nominal + H // 2, *(time - nominal - each for each in back)):
            at = max(read, time - (depth - 4) * H)
            assert history.read(at, time) == reference.read(at, time)
    assert history.facts == tuple(asdict(reference.statistics).values())


@pytest.mark.parametrize(
    "channel",
    [
        Channel(1, 500 * H, 0.999),
        Channel(1, 500 * H, 0.1, quantiles_ns=(0.0, 1000.0 * H), in_order=True),
    ],
)
def test_an_interpolated_reading_looks_through_the_samples_only_once(channel):
    """Also where nearly all are lost, and where one that is late holds up all behind it."""
    how = 2000, Interpolation.LINEAR, Extrapolation.HOLD
    history = History(*how, [astuple(channel)], 0, 0.0)
    for number in range(1, 4000):
        history.push(number * H, float(number))
        history.read((number - 500) * H, number * H)
    assert history.searches == 1
    history.read(0, 4000 * H)  # the past is searched
    assert history.searches == 2
