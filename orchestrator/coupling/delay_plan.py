"""How delayed connections are read so that every loop has the delay that was declared.

A co-simulation step is a delay of its own. With communication step H:

- an input that is held over ``[t, t + H]`` acts as if it were read at the middle, ``t + H/2``; a
  value sampled at ``s`` is therefore ``t + H/2 - s`` late. That is ``H/2`` for a source sampled at
  ``t``, and ``-H/2`` for one that was stepped earlier in the same step and stands at ``t + H``;
- a unit with direct feed-through computes from the held input an output for ``t + H``: another
  ``H/2``; a unit that responds through a state adds nothing.

Around a contact loop body -> spring -> body this sums to 3H/2 for Jacobi and H/2 for
Gauss-Seidel. A declared delay can take that up: see :func:`plan_delays`. An input that is predicted
over the step, or given with its slope, is not late at all; given with its slope it ends right, too,
so that a feed-through adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from orchestrator.coupling.line_plan import DelayMode, DelayPlan, plan_line, plan_prediction
from orchestrator.coupling.timing import Timing
from orchestrator.system import Connection, Endpoint, Loop

Floats = NDArray[np.float64]


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


TimingOf = Callable[[Connection], Timing]


def plan_delays(
    connections: Sequence[Connection],
    loops: Sequence[Loop],
    mode: DelayMode,
    timing: TimingOf,
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
    mode
        See :class:`DelayMode`.
    timing
        When the ends of a connection act. H above is the step of its target.

    Returns
    -------
    plans
        By target of the connection. A plain delay of zero is no delay and has no plan, unless it
        varies; a connection without a delay has one if its target's input is predicted.
    loop_delays
        One entry for each group of rings with equal components and delay.
    """
    delayed = [
        c
        for c in connections
        if c.delay and (mode is DelayMode.EXACT or c.delay.nominal_ns or c.delay.variation)
    ]
    index = {line.target: i for i, line in enumerate(delayed)}
    predicted = {
        line.target: plan_prediction(line, timing(line))
        for line in connections
        if line.is_predicted
    }

    def undelayed(line: Connection) -> float:
        if line.target in predicted:
            return predicted[line.target].seen_ns
        return timing(line).held_ns

    def through(loop: Loop) -> float:
        """What feed-through adds: an input with its slope is right at the end of the step."""
        return sum(
            timing(line).target_ns / 2
            for line, direct in zip(loop.connections, loop.feedthrough, strict=True)
            if direct and not (line.target in predicted and predicted[line.target].span_ns)
        )

    shares = np.zeros(len(delayed))
    if mode is DelayMode.EXACT and delayed and loops:
        membership = np.zeros((len(loops), len(delayed)))
        rest = np.zeros(len(loops))
        for row, loop in enumerate(loops):
            rest[row] = through(loop)
            for line in loop.connections:
                if line.target in index:
                    membership[row, index[line.target]] += 1
                else:
                    rest[row] += undelayed(line)
        shares = _shares(membership, rest, delayed, timing)
    plans = {
        line.target: plan_line(line, timing(line), mode, float(share))
        for line, share in zip(delayed, shares, strict=True)
    }

    def seen(line: Connection) -> float:
        plan = plans.get(line.target)
        return plan.seen_ns if plan else undelayed(line)

    totals = [through(loop) + sum(map(seen, loop.connections)) for loop in loops]
    return plans | predicted, _grouped(loops, totals)


def _shares(
    membership: Floats,
    rest: Floats,
    delayed: Sequence[Connection],
    timing: TimingOf,
) -> Floats:
    """What each delayed line takes off, so that membership @ shares = rest as well as can be.

    A line that could only be read ahead of its newest sample begins with what makes it read that
    sample; what is then missing is taken in proportion to the lines' delays. So nothing is
    extrapolated while a loop has a delay to draw from.
    """
    delays = [line.delay.nominal_ns if line.delay else 0 for line in delayed]
    times = [timing(line) for line in delayed]
    newest = np.array([t.newest_ns - t.target_ns / 2 for t in times])
    room = newest + np.array(delays)  # up to where it is interpolated
    in_loop = membership.any(axis=0)
    begin = np.where(in_loop, np.minimum(room, 0.0), 0.0)
    weights = np.sqrt(np.maximum(delays, [1e-6 * t.target_ns for t in times]))
    usable = membership.any(axis=1)
    missing = rest[usable] - membership[usable] @ begin
    scaled = np.linalg.lstsq(membership[usable] * weights, missing, rcond=None)[0]
    shares: Floats = begin + weights * scaled
    return shares


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
