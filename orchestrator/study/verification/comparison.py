"""Runs of different steps, compared at the times that all have."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from orchestrator.core.recording import Result
from orchestrator.study.verification.verification import Flag, Floats, Verification

#: Increments to each side that tell how fast a signal changes there without a jump.
_ASIDE = 8
#: A jump is so many times the median of the increments around it.
_STEEP = 8.0


def jump_between(coarse: Floats, fine: Floats) -> int | None:
    """Return the sample of the jump at which two runs differ most; ``None`` if there is none.

    They differ for as long as one of them has jumped and the other has not: the jump is looked for
    around the largest difference, as far as at least half of it lasts, in both runs.

    Parameters
    ----------
    coarse, fine
        Arrays of shape (n,), at the same times.
    """
    apart = np.abs(coarse - fine)
    at = int(np.argmax(apart))
    less = np.flatnonzero(apart < 0.5 * apart[at])
    cut = int(np.searchsorted(less, at))
    begin = int(less[cut - 1]) + 1 if cut else 0
    end = int(less[cut]) if cut < len(less) else len(apart)
    for run in (coarse, fine):
        increments = np.abs(np.diff(run))
        near = np.arange(max(begin - 1, 0), min(end, len(increments)))
        large = near[increments[near] >= 0.5 * apart[at]]
        if not len(large):
            continue
        padded = np.pad(increments, _ASIDE, constant_values=np.nan)
        around = np.lib.stride_tricks.sliding_window_view(padded, 2 * _ASIDE + 1)[large]
        jumps = large[increments[large] > _STEEP * np.nanmedian(around, axis=1)]
        if len(jumps):
            return int(jumps[np.argmax(increments[jumps])]) + 1
    return None


#: Differences below this share of an output's largest value are rounding; so is an output all of
#: whose values are below it as a share of the largest ones of its component, and that differs by
#: as much as it spans: one that is zero, such as the total momentum of bodies.
ROUND_OFF = 1e-12
_AS_MUCH = 0.1


@dataclass(frozen=True, slots=True)
class Kinds:
    """Outputs that have no order: Integers and Booleans, and those that depend on draws."""

    discrete: Collection[str] = ()
    random: Collection[str] = ()


def compare(results: Sequence[Result], kinds: Kinds) -> Verification:
    """Compare a run with H with one or two of H/2 and H/4; see :class:`Verification`."""
    coarse = results[0]
    time_ns = reduce(np.intersect1d, (result.time_ns for result in results))
    shared = set.intersection(*(set(result.names) for result in results))
    names = tuple(name for name in coarse.names if name in shared)
    values = [_values(result, time_ns, names) for result in results]
    differences = [b - a for a, b in zip(values[1:], values[:-1], strict=True)]
    rms = [np.sqrt(np.mean(d * d, axis=0)) for d in differences]
    largest = np.array([np.abs(d).max(axis=0) for d in differences])
    span = np.max([np.ptp(v, axis=0) for v in values], axis=0)
    magnitude = np.max([np.abs(v).max(axis=0) for v in values], axis=0)
    floor = ROUND_OFF * _largest_in(magnitude, [_connector(name) for name in names])
    zero = magnitude <= ROUND_OFF * _largest_in(magnitude, [_component(n) for n in names])
    zero &= np.any(largest >= _AS_MUCH * span, axis=0)
    plain = [name not in kinds.discrete and name not in kinds.random for name in names]
    order, error = _extrapolated(rms, floor, ~zero & np.array(plain, dtype=bool))
    floor[zero] = np.inf
    seconds = time_ns / 1e9
    unequal = [d != 0.0 for d in differences]
    first = np.full(len(names), np.nan)
    jump = np.full(len(names), np.nan)
    for i, name in enumerate(names):
        if unequal and unequal[0][:, i].any():
            first[i] = seconds[np.argmax(unequal[0][:, i])]
            if name not in kinds.discrete and rms[0][i] > floor[i]:
                at = jump_between(values[0][:, i], values[1][:, i])
                jump[i] = np.nan if at is None else seconds[at]
    shape = len(differences), len(names)
    return Verification(
        coarse.name,
        tuple(result.step_ns for result in results),
        time_ns,
        names,
        {name: unit for name, unit in coarse.units.items() if name in shared},
        largest.reshape(shape),
        np.array(rms).reshape(shape),
        span,
        order,
        error,
        np.array([u.sum(axis=0) for u in unequal], dtype=np.int64).reshape(shape),
        first,
        jump,
        tuple(
            _flags(name, kinds, [r[i] for r in rms], floor[i], jump[i])
            for i, name in enumerate(names)
        ),
    )


def _values(result: Result, time_ns: NDArray[np.int64], names: Sequence[str]) -> Floats:
    """Rows of some times and columns of some names."""
    places = {name: i for i, name in enumerate(result.names)}
    columns = [places[name] for name in names]
    rows: Floats = result.values[np.searchsorted(result.time_ns, time_ns)][:, columns]
    return rows


def _connector(name: str) -> str:
    """Connector of which a signal is an element."""
    return name.partition("[")[0]


def _component(name: str) -> str:
    return name.partition(".")[0]


def _largest_in(values: Floats, groups: Sequence[str]) -> Floats:
    """Replace each value by the largest of its group."""
    largest: dict[str, float] = {}
    for group, value in zip(groups, values.tolist(), strict=True):
        largest[group] = max(value, largest.get(group, 0.0))
    return np.array([largest[group] for group in groups], dtype=float)


def _extrapolated(
    rms: Sequence[Floats], floor: Floats, plain: NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Observed order, and Richardson's error of the coarsest run; NaN where there is none.

    With errors c H^p the differences are c H^p (1 - 2^-p) and that over 2^p: their ratio is 2^p,
    and the error of the run with H is the first difference times 2^p / (2^p - 1). Where the finer
    runs are equal but for rounding, the first difference is the error itself.
    """
    order = np.full(len(floor), np.nan)
    error = np.full(len(floor), np.nan)
    if len(rms) == 2:
        first, second = rms
        falls = plain & (second > floor) & (second < first)
        ratio = first[falls] / second[falls]
        order[falls] = np.log2(ratio)
        error[falls] = first[falls] * ratio / (ratio - 1.0)
        settled = plain & (second <= floor)
        error[settled] = first[settled]
    return order, error


def _flags(
    name: str, kinds: Kinds, rms: Sequence[float], floor: float, jump: float
) -> tuple[Flag, ...]:
    found = [Flag.DISCRETE] if name in kinds.discrete else []
    if name in kinds.random:
        found.append(Flag.RANDOM)
    if not found and len(rms) == 2:
        if rms[1] <= floor:
            found.append(Flag.ROUND_OFF)
        elif rms[1] >= rms[0]:
            found.append(Flag.NOT_CONVERGING)
    if not np.isnan(jump):
        found.append(Flag.JUMP)
    return tuple(found)
