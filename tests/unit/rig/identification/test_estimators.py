"""Estimators: they find what records were made with, as often as their intervals say."""

import tracemalloc

import numpy as np
import pytest
from scipy import signal, stats

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.rig.hardware.twin_file import Lag
from orchestrator.rig.identification.lag_fit import DelayFit, frequency_response
from orchestrator.rig.identification.pair_model import pair_model, quantisation_step
from orchestrator.rig.identification.record import Record, deviation_interval, sample_times

PERIOD = 0.004
SEEDS = 60
#: Hits of 60 intervals of 95 %: fewer come once in 2000 times if they are right.
FEWEST = int(stats.binom.ppf(5e-4, SEEDS, 0.95))


def transfer(lag, gain):
    w = 2.0 * np.pi * lag.frequency
    if lag.damping is None:
        return signal.TransferFunction([gain * w], [1.0, w])
    return signal.TransferFunction([gain * w * w], [1.0, 2.0 * lag.damping * w, w * w])


def noiseless(lag, delay, count=160, held=5, gain=1.02, offset=0.1):
    """Return times, changes, commands and response; simulated by scipy.signal, on a finer grid."""
    times = np.arange(count) * PERIOD
    commands = np.random.default_rng(1).choice([-1.0, 1.0], -(-count // held))
    changes = np.arange(len(commands)) * held * PERIOD
    fine = PERIOD / 40.0
    grid = np.arange(count * 40) * fine
    row = np.floor((grid - delay + 1e-9) / (held * PERIOD)).astype(int)
    late = np.where(row >= 0, commands[np.maximum(row, 0)], 0.0)
    if lag is None:
        response = gain * late
    else:
        # stairs of the grid: exact for a command that is constant over each part of it
        discrete = transfer(lag, gain).to_ss().to_discrete(fine, method="zoh")
        _, out, _ = signal.dlsim(discrete, late)
        response = out[:, 0]
    return times, changes, commands, response[::40] + offset


def record(parts, noise, seed, step=0.0):
    times, changes, commands, response = parts
    found = response + np.random.default_rng(seed).normal(0.0, noise, len(response))
    if step:
        found = step * np.round(found / step)
    return Record(times, found, changes, commands, np.ones(len(times), dtype=bool))


@pytest.mark.parametrize(
    "lag", [Lag(12.0), Lag(15.0, 0.4), Lag(15.0, 1.0), Lag(15.0, 1.00004), Lag(8.0, 2.5)]
)
def test_step_responses_are_those_of_scipy(lag):
    times = np.linspace(0.0, 0.3, 200)
    _, expected = signal.step(transfer(lag, 1.0), T=times)
    step, slope = lag.response(times)
    np.testing.assert_allclose(step, expected, atol=2e-6)
    np.testing.assert_allclose(np.gradient(step, times)[2:-2], slope[2:-2], rtol=0.05, atol=0.5)
    assert not np.any(lag.response(-times[1:]))


@pytest.mark.parametrize("lag", [Lag(15.0), Lag(12.0, 0.3), Lag(5.0, 1.0), Lag(3.0, 4.0)])
def test_a_long_record_is_predicted_as_the_sum_over_all_its_changes_in_linear_memory(lag):
    count, delay = 2000, 0.0163
    chance = np.random.default_rng(3)
    changes = np.sort(chance.uniform(0.0, count * PERIOD, count))
    command = chance.normal(size=count)
    made = Record(
        np.arange(count) * PERIOD, np.zeros(count), changes, command, np.ones(count, bool)
    )
    fit = DelayFit(delay, lag, 1.5, 0.2, np.empty((0, 0)), np.empty(0), is_fastest=False)
    tracemalloc.start()
    found = fit.predict(made)
    largest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    moved = np.diff(command, prepend=0.0)
    elapsed = made.times[:, None] - changes - delay
    np.testing.assert_allclose(found, 0.2 + 1.5 * lag.response(elapsed)[0] @ moved, atol=1e-12)
    assert largest < 8 * count * count  # bytes of one matrix of samples and changes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lag", "delay"), [(Lag(15.0), 0.0163), (Lag(15.0, 0.7), 0.0163)], ids=["first", "second"]
)
def test_intervals_hold_as_often_as_they_say(lag, delay):
    parts = noiseless(lag, delay)
    order = 1 if lag.damping is None else 2
    hits = dict.fromkeys(("delay", "frequency", "damping", "gain", "noise"), 0)
    off = []
    for seed in range(SEEDS):
        model = pair_model(record(parts, 0.02, seed), longest=0.06, orders=(order,))
        found = {
            "delay": (model.delay, delay),
            "frequency": (model.dynamics.frequency, lag.frequency),
            "damping": (model.dynamics.damping, lag.damping),
            "gain": (model.gain, 1.02),
            "noise": (model.noise, 0.02),
        }
        for name, (estimate, truth) in found.items():
            hits[name] += estimate is None or estimate.low <= truth <= estimate.high
        off.append(model.delay.value - delay)
    assert min(hits.values()) >= FEWEST, hits
    assert np.std(off) < 0.03 * PERIOD
    assert abs(np.mean(off)) < 4.0 * np.std(off) / np.sqrt(SEEDS)


@pytest.mark.parametrize(
    ("lag", "delay", "order"), [(None, 0.016, 0), (Lag(15.0), 0.017, 1), (Lag(15.0, 0.7), 0.0, 2)]
)
def test_the_order_is_found(lag, delay, order):
    model = pair_model(record(noiseless(lag, delay), 0.01, 3), longest=0.06)
    assert model.dynamics.order == order
    assert model.delay.low <= delay + 1e-6
    assert model.delay.high >= delay - 1e-6


def test_a_delay_alone_is_known_to_a_sample():
    """Delays of 12.1 to 16 ms give the same samples; the latest is taken."""
    for delay in (0.0121, 0.016):
        model = pair_model(record(noiseless(None, delay), 0.01, 4), longest=0.06)
        assert model.delay.value == pytest.approx(0.016, abs=PERIOD / 60)
        assert model.delay.low == pytest.approx(0.012, abs=PERIOD / 30)


def test_commands_that_were_late_make_no_lag():
    """What some stairs a sample aside leave looks like a lag that is over within a sample."""
    found = []
    for seed in range(50):
        random = np.random.default_rng(seed)
        commands = 5e-4 * np.repeat(random.choice([-1.0, 1.0], 63), 4)[:250]
        response = 1e-7 * np.round(np.concatenate([np.zeros(4), commands])[:250] / 1e-7)
        times = np.arange(250) * PERIOD
        changes = times.copy()
        changes[random.choice(248, 10, replace=False)] += PERIOD if seed % 2 else -PERIOD
        changes = np.maximum.accumulate(changes)
        used = np.ones(250, dtype=bool)
        model = pair_model(Record(times, response, changes, commands, used), longest=0.2)
        found.append((model.dynamics.order, round(model.delay.value, 4)))
    assert found == [(0, 0.016)] * 50


def test_a_second_record_shows_what_the_model_is_worth():
    lag, delay = Lag(15.0, 0.7), 0.0163
    first = record(noiseless(lag, delay), 0.01, 5)
    second = record(noiseless(lag, delay, held=9), 0.01, 6)
    other = record(noiseless(Lag(9.0, 0.7), delay, held=9), 0.01, 6)
    model = pair_model(first, longest=0.06)
    assert model.validate(second, "step").residual == pytest.approx(0.01, rel=0.2)
    assert model.validate(other, "step").residual > 0.05


def test_what_is_no_noise_is_left_out():
    made = record(noiseless(Lag(15.0, 0.7), 0.0163), 0.001, 7)
    made.response[[40, 41, 90]] += 1.0
    model = pair_model(made, longest=0.06)
    assert model.left_out == 3
    assert model.delay.low <= 0.0163 <= model.delay.high


def test_rounding_is_no_noise():
    model = pair_model(record(noiseless(Lag(15.0), 0.0163), 0.0, 8, step=0.01), longest=0.06)
    assert model.quantisation == pytest.approx(0.01, rel=1e-9)
    assert model.noise.value < 0.0015
    assert model.delay.value == pytest.approx(0.0163, abs=2e-4)


def test_the_step_of_values_is_found_or_none():
    values = np.random.default_rng(9).normal(1000.0, 1.0, 400)
    assert quantisation_step(1e-3 * np.round(values, 2)) == pytest.approx(1e-5, rel=1e-6)
    assert quantisation_step(values) == 0.0
    assert quantisation_step(np.array([0.0, 1.0] * 50)) == 0.0


def test_jitter_and_rate_hold_as_often_as_they_say():
    numbers = np.delete(np.arange(300), [17, 18, 200])
    hits = {"jitter": 0, "rate": 0}
    for seed in range(SEEDS):
        draws = np.random.default_rng(seed)
        late = draws.exponential(2e-4, len(numbers))  # as waking up is: to one side
        times = sample_times(7.0 + numbers * PERIOD * 1.0001 + late, numbers + 40, 0.95)
        hits["jitter"] += times.jitter.low <= 2e-4 <= times.jitter.high
        hits["rate"] += times.rate.low <= 250.0 / 1.0001 <= times.rate.high
        assert times.numbers[0] == 0
    assert hits["rate"] >= FEWEST, hits
    assert hits["jitter"] >= FEWEST - 3, hits  # by the fourth moment, which few samples show


def test_a_standard_deviation_of_normal_residuals_has_the_interval_of_chi_squared():
    values = np.random.default_rng(11).normal(0.0, 2.0, 4000)
    estimate = deviation_interval(values, 0, 0.95)
    square = float(np.sum(values**2))
    low, high = np.sqrt(square / stats.chi2.ppf([0.975, 0.025], 4000))
    assert (estimate.low, estimate.high) == pytest.approx((low, high), rel=3e-3)


def test_the_frequency_response_has_the_hold_taken_out():
    lag, delay = Lag(15.0, 0.7), 0.0163
    made = record(noiseless(lag, delay, count=1000), 0.0, 0)
    response = frequency_response(made)
    low = (response.frequencies > 2.0) & (response.frequencies < 25.0)
    expected = (
        1.02
        * lag.transfer(response.frequencies)
        * np.exp(-2j * np.pi * response.frequencies * delay)
    )
    np.testing.assert_allclose(response.response[low], expected[low], atol=0.12)


def test_records_that_say_nothing_are_refused(wording):
    times, changes, commands, response = noiseless(Lag(15.0), 0.016)
    used = np.ones(len(times), dtype=bool)
    with wording.raises(DescriptionError):
        Record(times[::-1], response, changes, commands, used)
    with wording.raises(DescriptionError):
        Record(times, response, changes, commands, ~used)
    with wording.raises(DescriptionError):
        pair_model(Record(times, response, changes, 0.0 * commands, used))
