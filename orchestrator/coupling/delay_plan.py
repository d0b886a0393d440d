"""How delayed connections are read so that every loop has the delay that was declared.

A co-simulation step is a delay of its own. With communication step H:

- an input that is held over ``[t, t + H]`` acts as if it were read at the middle, ``t + H/2``; a
  value sampled at ``s`` is therefore ``t + H/2 - s`` late. That is ``H/2`` for a source sampled at
  ``t``, and ``-H/2`` for one that was stepped earlier in the same step and stands at ``t + H``;
- a unit with direct feed-through computes from the held input an output for ``t + H``: another
  ``H/2``; a unit that responds through a state adds nothing.

Around a contact loop body -> spring -> body this sums to 3H/2 for Jacobi and H/2 for
Gauss-Seidel. A declared delay can take that up: see :func:`plan_delays`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from orchestrator.system import Connection, Endpoint, Loop


class DelayMode(StrEnum):
    """How a declared delay is realised."""

    PLAIN = "plain"
    EXACT = "exact"


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DelayPlan:
    """How one delayed connection is read.

    Parameters
    ----------
    connection
        The connection.
    shift_ns
        The history is read at ``t + shift_ns``, ``t`` being the start of the step.
    seen_ns
        Mean delay that its target sees, in nanoseconds, may be a half.
    extrapolation_ns
        By how much the reading lies beyond the newest sample; 0 if it is interpolated.
    """

    connection: Connection
    shift_ns: int
    seen_ns: float
    extrapolation_ns: int


@dataclass(frozen=True, slots=True)
class LoopDelay:
    """Delay of one closed loop, in nanoseconds.

    Parameters
    ----------
    loops
        The rings of ports that share these components and this delay.
    physical_ns
        Declared delay.
    numerical_ns
        What the co-simulation adds to it; negative if it takes away.
    """

    loops: tuple[Loop, ...]
    physical_ns: int
    numerical_ns: float

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components around the loop."""
        return self.loops[0].components

    @property
    def total_ns(self) -> float:
        """Declared and added delay; lags inside the units are not counted."""
        return self.physical_ns + self.numerical_ns


StepsBefore = Callable[[Connection], bool]


def plan_delays(
    connections: Sequence[Connection],
    loops: Sequence[Loop],
    step_ns: int,
    mode: DelayMode,
    steps_before: StepsBefore,
    hold: Callable[[Connection], float] | None = None,
) -> tuple[dict[Endpoint, DelayPlan], list[LoopDelay]]:
    """Decide where in its history each delayed connection is read, and what every loop then has.

    Plain mode holds the newest sample that is at least the delay old, as other tools do; a delay
    that is no multiple of the step comes out rounded up to one. Exact mode chooses the reading
    ``t + H/2 - tau + x`` so that the delay around every loop is the declared one: ``x`` takes off
    what the rest of the loop adds. Where a loop has several delayed connections they share it
    in proportion to their delays; where loops share connections and cannot all be met, the
    least-squares compromise is taken, and each loop's remaining numerical delay is reported.

    Parameters
    ----------
    connections
        All connections of the system.
    loops
        Its closed loops.
    step_ns
        Communication step H in nanoseconds.
    mode
        See :class:`DelayMode`.
    steps_before
        Whether a connection's source is stepped before its target within one step.
    hold
        How late an undelayed connection is, in nanoseconds; ``None``: as its newest value is, held
        over the step.

    Returns
    -------
    plans
        By target of the connection. A plain delay of zero is no delay and has no plan.
    loop_delays
        One entry for each group of rings with equal components and delay.
    """
    delayed = [
        c for c in connections if c.delay and (mode is DelayMode.EXACT or c.delay.nominal_ns)
    ]
    index = {line.target: i for i, line in enumerate(delayed)}
    half = step_ns / 2

    def newest(line: Connection) -> float:
        return -half if steps_before(line) else half

    hold = hold or newest

    shares = np.zeros(len(delayed))
    if mode is DelayMode.EXACT and delayed and loops:
        membership = np.zeros((len(loops), len(delayed)))
        rest = np.zeros(len(loops))
        for row, loop in enumerate(loops):
            rest[row] = half * sum(loop.feedthrough)
            for line in loop.connections:
                if line.target in index:
                    membership[row, index[line.target]] += 1
                else:
                    rest[row] += hold(line)
        shares = _shares(membership, rest, delayed, step_ns, steps_before)
    plans = {
        line.target: _plan(line, step_ns, mode, float(share), ahead=steps_before(line))
        for line, share in zip(delayed, shares, strict=True)
    }

    def seen(line: Connection) -> float:
        plan = plans.get(line.target)
        return plan.seen_ns if plan else hold(line)

    totals = [half * sum(loop.feedthrough) + sum(map(seen, loop.connections)) for loop in loops]
    return plans, _grouped(loops, totals)


def _shares(
    membership: Floats,
    rest: Floats,
    delayed: Sequence[Connection],
    step_ns: int,
    steps_before: StepsBefore,
) -> Floats:
    """What each delayed line takes off, so that membership @ shares = rest as well as can be.

    A line that could only be read ahead of its newest sample begins with what makes it read that
    sample; what is then missing is taken in proportion to the lines' delays. So nothing is
    extrapolated while a loop has a delay to draw from.
    """
    delays = [line.delay.nominal_ns if line.delay else 0 for line in delayed]
    newest = [step_ns if steps_before(line) else 0 for line in delayed]
    room = np.array(newest) - step_ns / 2 + np.array(delays)  # up to where it is interpolated
    in_loop = membership.any(axis=0)
    begin = np.where(in_loop, np.minimum(room, 0.0), 0.0)
    weights = np.sqrt(np.maximum(delays, 1e-6 * step_ns))
    usable = membership.any(axis=1)
    missing = rest[usable] - membership[usable] @ begin
    scaled = np.linalg.lstsq(membership[usable] * weights, missing, rcond=None)[0]
    shares: Floats = begin + weights * scaled
    return shares


def _plan(
    line: Connection, step_ns: int, mode: DelayMode, share: float, *, ahead: bool
) -> DelayPlan:
    delay = line.delay.nominal_ns if line.delay else 0
    if mode is DelayMode.PLAIN:
        return DelayPlan(line, -delay, -(-delay // step_ns) * step_ns + step_ns / 2, 0)
    shift = round(step_ns / 2 - delay + share)
    newest = step_ns if ahead else 0
    return DelayPlan(line, shift, step_ns / 2 - shift, max(0, shift - newest))


def _grouped(loops: Sequence[Loop], totals: Sequence[float]) -> list[LoopDelay]:
    groups: dict[tuple[tuple[str, ...], int, int], list[Loop]] = {}
    values: Mapping[int, float] = {
        id(loop): total for loop, total in zip(loops, totals, strict=True)
    }
    for loop in loops:
        key = (_rotated(loop.components), loop.physical_ns, round(values[id(loop)]))
        groups.setdefault(key, []).append(loop)
    return [
        LoopDelay(tuple(group), group[0].physical_ns, values[id(group[0])] - group[0].physical_ns)
        for group in groups.values()
    ]


def _rotated(names: tuple[str, ...]) -> tuple[str, ...]:
    """One spelling for all rotations of a ring of names."""
    return min(names[i:] + names[:i] for i in range(len(names)))
