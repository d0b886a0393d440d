"""Cycles of devices that a run missed: samples that were lost or late, steps that were held up."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from orchestrator.core.recording import Result
from orchestrator.core.simunits.kinds import clock_ns
from orchestrator.core.system import System
from orchestrator.study.prepare.prepared_case import PreparedCase

Floats = npt.NDArray[np.float64]
_COUNTS = ("samples", "lost", "late")


def counts_of(system: System) -> tuple[str, ...]:
    """Name the signals of a system that tell which cycles were missed."""
    return tuple(f"{device}.{count}" for device in _devices(system) for count in _COUNTS)


def missed_shares(case: PreparedCase, result: Result, clock: str | None) -> Floats:
    """Return by which share of its time each step and its device may be apart, shape (n - 1,).

    A step stands for as many cycles of the device that is the clock as fit into it. If the device
    counts more or fewer, the motion that was measured is that of another time. A sample that was
    lost or late is a cycle, too, of any device. What a cycle changed is read in the next step of
    each component, and answered in the one after that: so a step has all that was missed since
    twice the longest step before.
    """
    steps = np.diff(result.time)
    missed = np.zeros(len(steps))
    for device in _devices(case.system):
        if not all(f"{device}.{count}" in result.names for count in _COUNTS):
            continue  # a case that records its own choice, and has no ledger
        cycles = steps * (1e9 / (clock_ns(case.system.component(device).source) or 1))
        samples, lost, late = (np.diff(result[f"{device}.{count}"]) for count in _COUNTS)
        apart = np.abs(lost) + np.abs(late)
        if device == clock:
            off = np.abs(samples + lost - cycles)
            apart = np.maximum(apart, np.where(off >= 1.0 - 1e-9, off, 0.0))
        missed = np.maximum(missed, apart / cycles)
    window = 1 + 2 * max((case.options.rates or {}).values(), default=1)
    spread: Floats = np.convolve(missed, np.ones(window))[: len(missed)]
    return spread


def missed_count(case: PreparedCase, result: Result, clock: str | None) -> int:
    """Return in how many steps a cycle was missed."""
    return int(np.count_nonzero(missed_shares(case, result, clock)))


def _devices(system: System) -> Iterator[str]:
    return (name for name, one in system.components.items() if clock_ns(one.source))
