"""Tracking of a device's delay: false alarms, time to detect, and error of the estimate.

usage: python benchmarks/tracking.py [--seeds N] [--seconds S] [--json FILE]

No rig and no clock: a robot of 250 Hz (16 ms, with and without a lag of 15 Hz) follows three
motions; its samples are rounded to 0.1 um and have noise of 0.02 um. Of the cycles 0.5 % begin a
run of one to three that are missed: the command before is held. Each seed is run twice: as it is,
and with 24 ms from a moment on. Errors are those 1.5 s after the change was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from runner import Benchmark

from hw_adapters.emulation.tracking import Tracking
from orchestrator.rig.supervisor.tracker import Known, Tracker

PERIOD, CYCLE_NS = 0.004, 4_000_000
DELAY, LATER = 0.016, 0.024
NOISE, STEP = 2e-8, 1e-7
MISSED, LONGEST_RUN = 0.005, 3
MOTIONS = ("capture", "docking", "at random")
LAGS = (None, 15.0)
Floats = npt.NDArray[np.float64]


def motion(kind: str, count: int, rng: np.random.Generator) -> Floats:
    """Return commands in m: that of EPOS (0.29 Hz), that of docking (4 Hz), and one at random."""
    t = np.arange(count) * PERIOD
    size = rng.uniform(3e-3, 10e-3)
    if kind == "capture":
        return np.asarray(size * (1.0 - np.cos(1.83 * t)) * np.exp(-0.03 * t))
    if kind == "docking":
        return np.asarray(size * np.cos(8.0 * np.pi * t + rng.uniform(0, 6)) * np.exp(-0.07 * t))
    spectrum = np.fft.rfft(rng.normal(size=count))
    spectrum[np.fft.rfftfreq(count, PERIOD) > 1.5] = 0.0
    values = np.fft.irfft(spectrum, count)
    return np.asarray(values * size / values.std())


def samples(command: Floats, lag: float | None, change: int, rng: np.random.Generator) -> Floats:
    """Return what the robot says in each cycle; it is slower from the cycle ``change`` on."""
    device = Tracking(1, round(DELAY * 1e9), lag, 0.7 if lag else None)
    begins = rng.random(len(command)) < MISSED
    missed = np.zeros(len(command), dtype=bool)
    for k in np.flatnonzero(begins):
        missed[k : k + int(rng.integers(1, LONGEST_RUN + 1))] = True
    values = np.empty(len(command))
    held = command[0]
    for k, value in enumerate(command):
        if k == change:
            device.slower_ns = round((LATER - DELAY) * 1e9)
        device.advance(k * CYCLE_NS)
        values[k] = device.position[0]
        held = held if missed[k] else value
        device.command(k * CYCLE_NS, np.array([held]))
    noisy = values + rng.normal(scale=NOISE, size=len(values))
    return np.asarray(np.round(noisy / STEP) * STEP)


def track(kind: str, lag: float | None, seed: int, cycles: int, change: int) -> dict[str, Any]:
    """Run one record through a tracker; return alarms (s) and estimates."""
    rng = np.random.default_rng(seed)
    command = motion(kind, cycles, rng)
    response = samples(command, lag, change, rng)
    noise = (NOISE**2 + STEP**2 / 12.0) ** 0.5
    damping = 0.7 if lag else None
    known = Known(PERIOD, DELAY, 1.0, lag, damping, noise, 0.25 * PERIOD, 0.064, 3.0, PERIOD, 5e-4)
    tracker, alarms, delays = Tracker(known), [], np.full(cycles, np.nan)
    for k in range(cycles):
        if tracker.take(k, command[k], response[k]):
            alarms.append(k * PERIOD)
        if tracker.settled is not None:
            delays[k] = tracker.settled.delay
    return {"alarms": alarms, "delays": delays}


def cell(kind: str, lag: float | None, seeds: int, seconds: float) -> dict[str, Any]:
    """Return the figures of one motion and lag, ms."""
    cycles, false, detect, again, errors, steady = round(seconds / PERIOD), 0, [], 0, [], []
    for seed in range(seeds):
        plain = track(kind, lag, seed, cycles, cycles)
        false += len(plain["alarms"])
        errors_now = np.abs(plain["delays"] - DELAY)
        steady.append(float(np.nanmax(errors_now)) if np.isfinite(errors_now).any() else np.nan)
        at = round((0.4 + 0.2 * seed / seeds) * seconds / PERIOD)
        changed = track(kind, lag, seed, cycles, at)
        after = [alarm - at * PERIOD for alarm in changed["alarms"] if alarm >= at * PERIOD]
        false += len(changed["alarms"]) - len(after)
        again += max(len(after) - 1, 0)
        detect.append(after[0] if after else np.inf)
        if after:
            late = at + round((after[0] + 1.5) / PERIOD)
            errors.append(abs(changed["delays"][late] - LATER))

    def ms(values: list[float]) -> list[float]:
        return [round(1e3 * float(each), 3) for each in np.nanquantile(values, [0.5, 0.95, 1.0])]

    return {
        "motion": kind,
        "lag_hz": lag,
        "false_alarms": false,
        "found_again": again,
        "missed": int(np.isinf(detect).sum()),
        "unsettled": int(np.isnan(errors).sum()),
        "detect_ms": ms([each for each in detect if np.isfinite(each)]),
        "error_ms": ms(errors),
        "steady_error_ms": ms(steady),
    }


def main() -> None:
    """Print the table, and write it where that is asked for."""
    benchmark = Benchmark(__doc__)
    benchmark.argument("--seeds", type=int, default=50)
    benchmark.argument("--seconds", type=float, default=12.0)
    options = benchmark.options()
    seeds = 2 if options.quick else options.seeds
    cells = [cell(kind, lag, seeds, options.seconds) for kind in MOTIONS for lag in LAGS]
    counts = ["motion", "lag [Hz]", "false", "again", "missed", "unsettled"]
    errors = ["to detect [ms]", "error [ms]", "largest error, no change [ms]"]
    benchmark.table(
        f"{seeds} seeds of {options.seconds:g} s each, with and without change",
        [*counts, *(f"{name}: 50 %, 95 %, 100 %" for name in errors)],
        [tuple(each.values()) for each in cells],
    )
    benchmark.finish(cells=cells)


if __name__ == "__main__":
    main()
