"""Checks of clocks and counts: that they may jump, run over, and begin again at a restart."""

from __future__ import annotations

import math
import os
import signal
import time
from itertools import pairwise

from orchestrator.core.diagnostics import DeviceError
from orchestrator.rig.devices.conformance.session import Bench, Heard, Session, session
from orchestrator.rig.devices.device import Received

#: Far more than samples need that were under way.
_JUMP_S = 100.0
#: So long after its birth an emulator's count or clock runs over, and what is heard after that, s.
_WRAP_S, _AFTER_S = 2.0, 0.6
#: How often an emulator is started until its device is heard before that: a machine may be busy.
_STARTS = 4
#: Device times go on by a period, but for this share of it, or this much, s.
_SHARE, _LEAST_S = 0.5, 2e-3
#: What a device may go on with after a restart before it counts as unnoticed, s.
_UNNOTICED_S = 2.0


class NotKeptError(Exception):
    """An adapter does not do what every adapter must."""


class SkippedError(Exception):
    """A protocol cannot have what a check tries, and why."""


def expect_order(session_done: Session, bench: Bench, steps: list[int]) -> None:
    """Raise NotKeptError unless sequence numbers go on one by one."""
    period = session_done.device.sequence_period
    counted = [s % period if period else s for s in steps]
    strange = [s for s in counted if not (s > 0 if bench.newest_only else s == 1)]
    expect(not strange, f"sequence numbers one by one, found steps of {strange[:5]}")


def expect(condition: bool, expectation: str) -> None:  # noqa: FBT001 # reads as a sentence
    """Raise NotKeptError unless something is as it must be; ``what``: expected and found."""
    if not condition:
        raise NotKeptError(f"expected {expectation}")


def clock_jump(name: str, bench: Bench) -> str:
    """A clock that jumps shows in the device's time, or in its count."""
    with session(name, bench, later=f"clock-jump:{_JUMP_S}") as received:
        before = received.hear(5).samples
        received.strike()
        after = received.hear(1).samples
        expect(bool(before and after), "samples before and after, found none")
        times = [s.device_time for s in (before[-1], after[0]) if s.device_time is not None]
        counts = [s.sequence for s in (before[-1], after[0]) if s.sequence is not None]
        rate = received.device.connectors(received.device.settings).rate
        message = (
            times[-1] - times[0] if times else 0.0,
            (counts[-1] - counts[0]) / rate if counts else 0.0,
        )
        gone = max(message)
        expect(gone > _JUMP_S, f"more than {_JUMP_S:g} s to have gone by, found {gone:.3f} s")
    return f"{gone:.2f} s by its own clock"


def wrapped(name: str, bench: Bench) -> str:
    """A count or clock that runs over goes on: one by one, at the rate, and forwards."""
    if not bench.wraps:
        raise SkippedError("nothing that it sends wraps around")
    for _ in range(_STARTS):
        with session(name, bench, f"wrap-after:{_WRAP_S:g}") as received:
            first = received.hear(2)
            if not first.arrivals or first.arrivals[0] - received.begun_s > 0.8 * _WRAP_S:
                continue
            remaining_s = received.begun_s + _WRAP_S + _AFTER_S - time.monotonic()
            heard = received.hear(1_000_000, remaining_s + _AFTER_S)
            samples = [*first.samples, *heard.samples]
            steps = Heard(samples=samples).steps
            expect_order(received, bench, steps)
            period = 1.0 / received.device.connectors(received.device.settings).rate
        times = [s.device_time for s in samples if s.device_time is not None]
        gaps = [later - earlier for earlier, later in pairwise(times)]
        counts = steps if len(steps) == len(gaps) else [1] * len(gaps)
        tolerance = max(_SHARE * period, _LEAST_S)
        for gap, step in zip(gaps, counts, strict=True):
            due = (
                step % received.device.sequence_period if received.device.sequence_period else step
            ) * period
            expect(
                abs(gap - due) <= tolerance,
                f"device times that advance by {due:.4g} s where the count or clock wraps around,"
                f" found {gap:.6g} s",
            )
        return f"{len(samples)} samples in order, past the wrap-around of its count or clock"
    raise NotKeptError(
        f"expected a sample within {0.8 * _WRAP_S:g} s of the start, found none in {_STARTS} starts"
    )


def restart(name: str, bench: Bench) -> str:
    """A restart shows: by an error, by silence, or by a count or clock that goes back."""
    with session(name, bench, later="restart-after:0.001") as received:
        before = received.hear(_ENOUGH).samples
        expect(len(before) == _ENOUGH, f"{_ENOUGH} samples before the restart, found {len(before)}")
        os.kill(received.emulator.pid, signal.SIGUSR1)
        how = _noticed(received, before[-1])
        received.device.close()
        received.device.open()
        again = received.hear(5).samples
        expect(bool(again), "samples after the device was opened again, found none")
    return f"{how}; samples arrived when it was opened again"


#: Samples before a restart: more than a device has counted at power-on.
_ENOUGH = 20


def _noticed(received: Session, before: Received) -> str:
    """Say how a restart showed."""
    end, count = time.monotonic() + _UNNOTICED_S, 0
    try:
        while time.monotonic() < end:
            heard = received.hear(1, 1.0)
            if not heard.samples:
                return "silent"
            sample, count = heard.samples[0], count + 1
            if _is_before(sample.sequence, before.sequence):
                return "the sequence goes back"
            if _is_before(sample.device_time, before.device_time):
                return "the device's time goes back"
            if not sample.valid:
                return "its samples are not valid"
            before = sample
    except (DeviceError, OSError) as error:
        expect(bool(str(error)), f"an error that names the problem, found {type(error).__name__}()")
        return "an error"
    raise NotKeptError(
        "expected a restart to show by an error, by silence, or by a sequence or a device time"
        f" that goes back, found {count} valid samples that continue as if it had not restarted"
    )


def _is_before(value: float | None, later: float | None) -> bool:
    return value is not None and later is not None and value < later and math.isfinite(value)
