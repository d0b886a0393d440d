"""What keeps steps to a clock: histograms, drift, the clocks themselves."""

import os
import signal
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.master.schedule.rows import OperationCode
from orchestrator.engine import (
    DeviceBlock,
    DriftEstimate,
    Engine,
    LatencyHistogram,
    MonotonicClock,
    PaceEnd,
    Pacer,
    PythonUnit,
    TickClock,
)

FIXED = (0, 0.0, 1.0, 1_000_000, 1_000_000, 1_000_000, 1, (), ())
MS = 1_000_000


@given(st.lists(st.integers(-(2**20), 2**50), min_size=1, max_size=50))
def test_every_duration_lies_in_its_bucket(durations):
    histogram = LatencyHistogram()
    for ns in durations:
        histogram.add(ns)
    assert (histogram.count, histogram.total) == (len(durations), sum(durations))
    assert (histogram.minimum, histogram.maximum) == (min(durations), max(durations))
    buckets = histogram.buckets
    for lowest, end, count in buckets:
        inside = [ns for ns in durations if lowest <= max(ns, 0) < end]
        assert len(inside) == count
        if lowest < 2**43:
            assert end - lowest <= max(1, lowest // 32)
    assert sum(count for _, _, count in buckets) == len(durations)
    assert [low for low, _, _ in buckets] == sorted({low for low, _, _ in buckets})


@pytest.mark.parametrize("ppm", [-120.0, 0.0, 35.0])
def test_drift_is_the_slope_of_least_squares(ppm):
    draws = np.random.default_rng(1)
    device = np.arange(1, 5001) * 4 * MS
    here = np.rint(device * (1 + ppm / 1e6) + draws.exponential(20e3, len(device))).astype(np.int64)
    drift = DriftEstimate()
    for ticked, arrived in zip(device.tolist(), (here + 7 * 10**18).tolist(), strict=True):
        drift.add(ticked, arrived)
    (slope, _), residual, *_ = np.polyfit(device / 1e9, (here - device) / 1e9, 1, full=True)
    assert drift.samples == len(device)
    assert drift.ppm == pytest.approx(1e6 * slope, abs=1e-6)
    spread = np.sum((device / 1e9 - np.mean(device / 1e9)) ** 2)
    sigma = np.sqrt(residual[0] / (len(device) - 2) / spread)
    assert drift.sigma_ppm == pytest.approx(1e6 * sigma, rel=1e-6)
    assert abs(drift.ppm - ppm) < 5 * drift.sigma_ppm


def test_silence_is_no_slow_clock():
    """A second without a tick between two stretches of a clock that is 100 ppm slow."""
    drift = DriftEstimate(50 * MS)
    for k in range(2000):
        drift.add(k * MS, round(k * MS * 1.0001) + (1000 * MS if k >= 700 else 0) + k % 3)
    assert drift.ppm == pytest.approx(100.0, abs=1e-3)
    assert drift.sigma_ppm < 1e-3
    assert (drift.samples, drift.silences) == (2000, 1)
    assert drift.silent_ns == pytest.approx(1000 * MS, abs=1e6)
    assert DriftEstimate().silences == 0


def test_too_few_ticks_say_nothing_of_drift():
    drift = DriftEstimate()
    assert (drift.ppm, drift.sigma_ppm) == (0.0, 0.0)
    drift.add(5, 7)
    assert (drift.ppm, drift.sigma_ppm) == (0.0, 0.0)


class Counter:
    def __init__(self):
        self.steps = 0

    def step(self, t, h):
        self.steps += 1
        self.y = float(self.steps)


def engine_of(block):
    unit = PythonUnit(block, "d", [], [("y", "f", None)])
    tables = {key: [] for key in ("histories", "channels", "copies", "reads", "mixes", "loops")}
    operations = [(OperationCode.STEP, 0, 1, 1, 0)]
    engine = Engine(1, [(unit, 0, 0, 1)], **tables, operations=operations, rule=FIXED)
    engine.start(0, MS)
    return engine


def pacer_of(clock, **changed):
    rules = {
        "factor": 1.0,
        "policy": 0,
        "most_overruns": 1,
        "step_budget_ns": 0,
        "unit_budgets_ns": [0],
        "kept": 4,
    }
    return Pacer(clock, **(rules | changed))


def test_steps_do_not_begin_before_their_moments():
    engine, pacer = engine_of(Counter()), pacer_of(MonotonicClock())
    pacer.start(0)
    began = time.monotonic_ns()
    outcome = engine.run_paced(pacer, 21, 2**60)
    assert time.monotonic_ns() - began >= 20 * MS
    assert (outcome.steps, outcome.failed, engine.time_ns) == (21, False, 21 * MS)
    assert pacer.end is PaceEnd.NONE
    assert pacer.wake.count == pacer.computing.count == pacer.unit(0).count == 21
    assert pacer.slack.count + pacer.lateness.count == 21
    assert pacer.wake.minimum >= 0


def test_each_step_tells_how_late_it_was_in_memory_that_others_read():
    told = np.zeros(4, dtype=np.int64)
    pacer = pacer_of(MonotonicClock(), step_budget_ns=1)
    pacer.start(0)
    pacer.tell(told)
    engine_of(Counter()).run_paced(pacer, 3, 2**60)
    overruns, late_ns, computed_ns, longest_late_ns = told
    assert overruns == pacer.overruns == 3
    assert pacer.computing.minimum <= computed_ns <= pacer.computing.maximum
    assert late_ns <= longest_late_ns == pacer.lateness.maximum * bool(pacer.lateness.count)


def test_one_budget_for_each_unit():
    pacer = pacer_of(MonotonicClock(), unit_budgets_ns=[])
    with pytest.raises(ValueError, match="one budget per unit"):
        engine_of(Counter()).run_paced(pacer, 1, 2**60)


def test_a_signal_ends_the_wait_between_two_steps():
    """The handler of before runs, and the steps that were done stay."""
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append(1))
    engine, pacer = engine_of(Counter()), pacer_of(MonotonicClock(), factor=1e-4)  # a step in 10 s
    pacer.start(0)
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGTERM))
    try:
        timer.start()
        outcome = engine.run_paced(pacer, 3, 2**60)
        timer.join()
        assert signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
        os.kill(os.getpid(), signal.SIGTERM)  # the handler stands as before
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (outcome.steps, outcome.failed, pacer.end) == (1, False, PaceEnd.INTERRUPTED)
    assert seen == [1, 1]


@pytest.fixture
def counter():
    file = os.memfd_create("ticks")
    os.ftruncate(file, DeviceBlock.size(0, 1))
    yield DeviceBlock(file, 0, 1).ticks
    os.close(file)


def test_a_step_begins_with_each_tick(counter):
    """Ticks are 1 ms apart by their device, and stamped 0.1 % further apart: 1000 ppm."""
    block = Counter()
    engine, pacer = engine_of(block), pacer_of(TickClock(counter, MS, 3000 * MS, 3000 * MS))
    pacer.start(0)
    stamps, done = [], []

    def tick():
        first = time.monotonic_ns()
        for k in range(12):
            done.append(block.steps)
            stamps.append(first + k * 1_001_000)
            counter.tick(stamps[-1])
            limit = time.monotonic() + 3.0
            while block.steps <= k and time.monotonic() < limit:
                time.sleep(1e-4)

    ticker = threading.Thread(target=tick)
    ticker.start()
    outcome = engine.run_paced(pacer, 12, 2**60)
    ticker.join()
    assert done == list(range(12))  # no step began before its tick
    assert (outcome.steps, pacer.end, counter.count) == (12, PaceEnd.NONE, 12)


def test_ticks_that_were_missed_are_caught_up_and_drift_is_that_of_their_stamps(counter):
    clock = TickClock(counter, MS, 3000 * MS, 3000 * MS)
    engine, pacer = engine_of(Counter()), pacer_of(clock)
    pacer.start(0)
    first = time.monotonic_ns() - 20 * MS
    for k in range(6):
        counter.tick(first + k * 1_001_000)
    outcome = engine.run_paced(pacer, 6, 2**60)
    assert (outcome.steps, pacer.overruns) == (6, 6)
    drift = clock.drift
    assert drift.samples == 6
    assert drift.ppm == pytest.approx(1000.0)
    assert drift.sigma_ppm == pytest.approx(0.0, abs=1e-6)


def test_a_clock_that_falls_silent_ends_the_run(counter):
    engine, pacer = engine_of(Counter()), pacer_of(TickClock(counter, MS, 20 * MS, 20 * MS))
    pacer.start(0)
    counter.tick(time.monotonic_ns())
    outcome = engine.run_paced(pacer, 5, 2**60)
    assert (outcome.steps, outcome.failed, pacer.end) == (1, False, PaceEnd.SILENT)


def test_slipping_skips_ticks(counter):
    """Six ticks came before the first step ended: the second begins with the seventh."""
    clock = TickClock(counter, MS, 20 * MS, 20 * MS)
    engine, pacer = engine_of(Counter()), pacer_of(clock, policy=1)
    pacer.start(0)
    now = time.monotonic_ns()
    for k in range(6):
        counter.tick(now - (50 - k) * MS)
    outcome = engine.run_paced(pacer, 5, 2**60)
    assert (outcome.steps, pacer.end) == (1, PaceEnd.SILENT)
    assert pacer.slipped_ns >= 45 * MS
    assert pacer.slipped_ns % MS == 0  # whole ticks


def test_a_step_between_two_ticks_waits_for_the_later_one(counter):
    """Ticks are 1 ms apart, steps 1.5 ms: the second step begins with the third tick."""
    block = Counter()
    engine, pacer = engine_of(block), pacer_of(TickClock(counter, MS, 20 * MS, 20 * MS))
    engine.start(0, 3 * MS // 2)
    pacer.start(0)
    for _ in range(2):
        counter.tick(time.monotonic_ns())
    outcome = engine.run_paced(pacer, 2, 2**60)
    assert (outcome.steps, pacer.end) == (1, PaceEnd.SILENT)
