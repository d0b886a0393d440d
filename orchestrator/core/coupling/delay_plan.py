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
so that a feed-through adds nothing. So it is with an input that follows its signal (waveform mode).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from math import lcm
from typing import TYPE_CHECKING

from orchestrator.core.coupling.line_plan import (
    DelayMode,
    DelayPlan,
    Timing,
    plan_following,
    plan_line,
    plan_prediction,
)
from orchestrator.core.display import Listed
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Compensation, Connection, Endpoint, Interpolation, Loop
from orchestrator.core.system.loops import islands


def traced_delay(
    loop: Loop, plans: Mapping[Endpoint, DelayPlan], timing: Mapping[Endpoint, Timing]
) -> float:
    """Mean delay around a ring in nanoseconds, over all steps of its last target that has states.

    What it takes in every one of its steps acts; of what passes through at once only what is read.
    """
    inner = [number for number, through in enumerate(loop.feedthrough) if not through]
    end = inner[-1] + 1 if inner else 0
    ring = [*loop.connections[end:], *loop.connections[:end]]
    passes = [*loop.feedthrough[end:], *loop.feedthrough[:end]]
    times = [timing[line.target] for line in ring]
    period = lcm(*(t.target_ns for t in times))
    step = times[-1].target_ns
    # Far from the start, so that no reading lies before it.
    begin = period * (1 + (loop.physical_ns + sum(2 * t.target_ns for t in times)) // period)

    def back(number: int, at: int) -> float:
        """Delay from the first source to the middle of the step at ``at`` of a line's target."""
        time, plan = times[number], plans.get(ring[number].target)
        ends_right = ring[number].compensation is Compensation.CORRECTOR or (
            plan is not None and plan.span_ns > 0
        )
        through = time.target_ns / 2 if passes[number] and not ends_right else 0.0
        if plan is None:
            sample = (at + time.visible_ns) // time.source_ns * time.source_ns
            lateness = at + time.target_ns / 2 - sample if time.is_newest else time.held_ns
            parts = [(1.0, sample)]
        else:
            lateness, parts = _reading(plan, time, at)
        if number == 0:
            return lateness + through
        earlier = sum(
            share * back(number - 1, sample - time.source_ns) for share, sample in parts if share
        )
        return lateness + through + earlier

    windows = range(begin, begin + period, step)
    return sum(back(len(ring) - 1, at) for at in windows) / len(windows)


def _reading(plan: DelayPlan, time: Timing, at: int) -> tuple[float, list[tuple[float, int]]]:
    """How late a delayed line is read, and the samples that it is made from with their shares."""
    if plan.interpolation is Interpolation.HOLD:
        sample = (at + min(plan.shift_ns, time.visible_ns)) // time.source_ns * time.source_ns
        # What a varying delay adds on average is in what was planned, not in the samples.
        varying = plan.effective_delay_ns - (time.target_ns / 2 - time.sampled(plan.shift_ns))
        return at + time.target_ns / 2 - sample + varying, [(1.0, sample)]
    middle = plan.span_ns // 2 if plan.order else 0
    sample, within = divmod(at + plan.shift_ns + middle, time.source_ns)
    sample *= time.source_ns
    share = within / time.source_ns
    return plan.effective_delay_ns, [(1.0 - share, sample), (share, sample + time.source_ns)]


if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class LoopDelay(Struct):
    """Delay of one closed loop, in nanoseconds.

    loops: The rings of ports that share these components and this delay.
    physical_ns: Declared delay.
    numerical_ns: What the co-simulation adds to it; negative if it takes away.
    """

    loops: tuple[Loop, ...]
    physical_ns: int
    numerical_ns: float

    @property
    def components(self) -> tuple[str, ...]:
        """Names of the components around the loop."""
        return self.loops[0].components

    @property
    def path(self) -> str:
        """Components around the loop: ``"chaser → sheet → chaser"``."""
        return " → ".join([*self.components, self.components[0]])

    @property
    def ring_count(self) -> int:
        """How many rings of ports these are."""
        return sum(loop.count for loop in self.loops)

    @property
    def lines(self) -> tuple[Connection, ...]:
        """All connections of these rings, each once."""
        return tuple(dict.fromkeys(line for loop in self.loops for line in loop.lines))

    @property
    def total_ns(self) -> float:
        """Declared and added delay; lags inside the units are not counted."""
        return self.physical_ns + self.numerical_ns

    def __repr__(self) -> str:
        return repr(LoopDelays((self,)))

    def _repr_html_(self) -> str:
        return LoopDelays((self,))._repr_html_()


class LoopDelays(Listed[LoopDelay]):
    """Delays of loops."""

    __slots__ = ()
    columns = ("loop", "declared [ms]", "added by the step [ms]", "total [ms]")

    @staticmethod
    def cells(item: LoopDelay) -> tuple[str, ...]:
        """Return the loop, and its delays."""
        delays = (item.physical_ns, item.numerical_ns, item.total_ns)
        return (item.path, *(f"{delay / 1e6:.6g}" for delay in delays))


TimingOf = Callable[[Connection], Timing]


def plan_delays(
    connections: Sequence[Connection], loops: Sequence[Loop], mode: DelayMode, timing: TimingOf
) -> tuple[dict[Endpoint, DelayPlan], list[LoopDelay]]:
    """Decide where in its history each delayed connection is read, and what every loop then has.

    Plain mode holds the newest sample that is at least the delay old, as other tools do; a delay
    that is no multiple of the step comes out rounded up to one. Mean mode chooses the reading
    ``t + H/2 - tau + x`` so that the delay around every loop is the declared one: ``x`` takes off
    what the rest of the loop adds. Where a loop has several delayed connections they share it
    in proportion to their delays; where loops share connections and cannot all be met, the
    least-squares compromise is taken, and each loop's remaining numerical delay is reported.
    Waveform mode does the same, but where a line is followed its reading is ``t + s - tau + x`` for
    every moment ``s`` of the step, and the line itself adds nothing.
    """
    return _Planner(connections, loops, mode, timing).plan()


class _Planner:
    """Plans all delayed lines of a system together."""

    def __init__(
        self,
        connections: Sequence[Connection],
        loops: Sequence[Loop],
        mode: DelayMode,
        timing: TimingOf,
    ) -> None:
        self._loops = loops
        self._exact = mode is not DelayMode.PLAIN
        self._mode = mode
        self._times = {line.target: timing(line) for line in connections}
        self._delayed = [
            c
            for c in connections
            if c.delay and (self._exact or c.delay.nominal_ns or c.delay.variation)
        ]
        self._connections = connections
        self._predicted: dict[Endpoint, DelayPlan] = {}
        self._found: Floats  # delay around every loop, as planned last

    def _add_up(self) -> None:
        """Count the delayed lines of every loop, and what its other parts add."""
        import numpy as np

        index = {line.target: i for i, line in enumerate(self._delayed)}
        self._membership = np.zeros((len(self._loops), len(self._delayed)))
        #: What the undelayed lines and the feed-through of every loop add.
        self._rest = np.zeros(len(self._loops))
        #: What the delayed ones do where they are read at the end of the step.
        self._early = np.zeros(len(self._loops))
        for row, loop in enumerate(self._loops):
            self._rest[row] = self._through(loop)
            for line in loop.connections:
                if line.target in index:
                    self._membership[row, index[line.target]] += 1
                    time = self._times[line.target]
                    if not time.follows:
                        self._early[row] += time.target_ns / 2 - time.read_ns
                else:
                    plan = self._predicted.get(line.target)
                    held = self._times[line.target].held_ns
                    self._rest[row] += held if plan is None else plan.effective_delay_ns

    def plan(self) -> tuple[dict[Endpoint, DelayPlan], list[LoopDelay]]:
        """Return the plans by target, and the delays of the loops."""
        plans, loops = self._planned()
        if better := self._prefer_hold():
            self._hold(better)
            plans, loops = self._planned()
        while ahead := self._followed_ahead(plans):
            self._hold(ahead)
            plans, loops = self._planned()
        return plans, loops

    def _hold(self, targets: Iterable[Endpoint]) -> None:
        for target in targets:
            self._times[target] = replace(self._times[target], follows=False)

    def _prefer_hold(self) -> list[Endpoint]:
        """Followed lines of loops without any delay, which are less late when their input is held.

        One whose source is stepped before its target is then H/2 early, and makes up for others.
        """
        bare = [
            (row, loop)
            for row, loop in enumerate(self._loops)
            if all(line.delay is None for line in loop.connections)
        ]
        times = {line.target: self._times[line.target] for _, loop in bare for line in loop.lines}
        lines = [target for target, time in times.items() if time.follows and time.is_newest]
        if not lines:
            return []
        followed, times_before = self._found, dict(self._times)
        self._hold(lines)
        self._planned()
        gain = dict.fromkeys(lines, 0.0)
        for row, loop in bare:
            for line in loop.lines:
                if line.target in gain:
                    gain[line.target] += loop.count * (abs(followed[row]) - abs(self._found[row]))
        self._times = times_before
        return [target for target in lines if gain[target] > 1.0]

    def _followed_ahead(self, plans: Mapping[Endpoint, DelayPlan]) -> list[Endpoint]:
        """Lines that should not be followed, as a signal is then read before it is known.

        First those of its loops that are a step late. Where more than half of a step is missing,
        a straight line to its end is worse than its mean: then the signal's own, and at last those
        whose held inputs would be early.
        """
        ahead = {
            line.target: plans[line.target].extrapolation_ns
            for line in self._delayed
            if plans[line.target].extrapolation_ns and not self._times[line.target].varies
        }
        followed_times = [
            t for t in self._undelayed_around(ahead) if self._times[t].followed_late_ns
        ]
        far = [
            target
            for target, by_ns in ahead.items()
            if not self._times[target].follows or by_ns > self._times[target].target_ns / 2
        ]
        for some in (followed_times, far, self._undelayed_around(far)):
            if followed := [target for target in some if self._times[target].follows]:
                return followed
        return []

    def _undelayed_around(self, targets: Collection[Endpoint]) -> list[Endpoint]:
        """Undelayed lines of all loops that pass some of these targets."""
        return [
            line.target
            for loop in self._loops
            if any(line.target in targets for line in loop.connections)
            for line in loop.lines
            if line.delay is None and self._times[line.target].is_newest
        ]

    def _planned(self) -> tuple[dict[Endpoint, DelayPlan], list[LoopDelay]]:
        self._predicted = {
            line.target: plan_prediction(line, self._times[line.target])
            for line in self._connections
            if line.is_predicted
        } | {
            line.target: plan_following(line, time, -time.followed_late_ns)
            for line, time in ((line, self._times[line.target]) for line in self._connections)
            if line.delay is None and time.follows
        }
        if not self._loops:
            return self._plans() | self._predicted, []
        self._add_up()
        plans = self._plans()
        totals = self._totals(plans)
        if self._exact:
            # The delay that following a value adds to the means is subtracted as well.
            remainder = totals - self._means(plans)
            if abs(remainder).max(initial=0.0) > 1.0:
                self._rest += remainder
                plans = self._plans()
                totals = self._totals(plans)
        self._found = totals
        return plans | self._predicted, _grouped(self._loops, totals.tolist())

    def _through(self, loop: Loop) -> float:
        """What feed-through adds: an input with its slope is right at the end of the step."""
        return sum(
            self._times[line.target].target_ns / 2
            for line, direct in zip(loop.connections, loop.feedthrough, strict=True)
            if direct and not self._sloped(line)
        )

    def _sloped(self, line: Connection) -> bool:
        if line.compensation is Compensation.CORRECTOR:
            return True  # what acts at once is corrected to the end of the step
        if line.delay is not None:
            return self._times[line.target].follows
        plan = self._predicted.get(line.target)
        return plan is not None and plan.span_ns > 0

    def _plans(self) -> dict[Endpoint, DelayPlan]:
        shares: Floats | list[float] = [0.0] * len(self._delayed)
        if self._exact and self._delayed and self._loops:
            counts = [loop.count for loop in self._loops]
            taken = self._rest + self._early
            shares = _shares(self._membership, taken, counts, self._delayed, self._times)
        return {
            line.target: plan_line(line, self._times[line.target], self._mode, float(share))
            for line, share in zip(self._delayed, shares, strict=True)
        }

    def _means(self, plans: Mapping[Endpoint, DelayPlan]) -> Floats:
        """Delay around every loop by the mean lateness of its lines."""
        delays = [plans[line.target].effective_delay_ns for line in self._delayed]
        means: Floats = self._rest + self._membership @ delays
        return means

    def _totals(self, plans: Mapping[Endpoint, DelayPlan]) -> Floats:
        """Delay around every loop; a value is followed where the steps differ in length."""
        totals = self._means(plans)
        every = {**plans, **self._predicted}
        for row, loop in enumerate(self._loops):
            if len({self._times[line.target].target_ns for line in loop.connections}) > 1:
                totals[row] = traced_delay(loop, every, self._times)
        return totals


def _shares(
    membership: Floats,
    remaining: Floats,
    counts: Sequence[int],
    delayed: Sequence[Connection],
    timing: Mapping[Endpoint, Timing],
) -> Floats:
    """What each delayed line takes off, so that membership @ shares = rest as well as can be.

    A line that could only be read ahead of its newest sample begins with what makes it read that
    sample; what is then missing is taken in proportion to the lines' delays. So nothing is
    extrapolated while a loop has a delay to draw from. Where not all loops can be met, each counts
    as often as there are rings of it.
    """
    import numpy as np

    delays = [line.delay.nominal_ns if line.delay else 0 for line in delayed]
    times = [timing[line.target] for line in delayed]
    newest = np.array([t.newest_ns - (t.target_ns if t.follows else t.read_ns) for t in times])
    room = newest + np.array(delays)  # up to where it is interpolated
    in_loop = membership.any(axis=0)
    begin = np.where(in_loop, np.minimum(room, 0.0), 0.0)
    weights = np.sqrt(np.maximum(delays, [1e-6 * t.target_ns for t in times]))
    missing = remaining - membership @ begin
    scaled = np.zeros(len(delayed))
    often = np.sqrt(np.array(counts, dtype=np.float64))
    for rows, columns in _blocks(membership):
        block = membership[np.ix_(rows, columns)] * weights[columns] * often[rows, None]
        scaled[columns] = np.linalg.lstsq(block, often[rows] * missing[rows], rcond=None)[0]
    shares: Floats = begin + weights * scaled
    return shares


def _blocks(membership: Floats) -> Iterator[tuple[list[int], list[int]]]:
    """Rows and columns of the blocks that a matrix falls into; loops far apart share no line."""
    count = len(membership)
    edges = [(int(i), count + int(j)) for i, j in zip(*membership.nonzero(), strict=True)]
    for block in islands(sorted({node for edge in edges for node in edge}), edges):
        yield [n for n in block if n < count], [n - count for n in block if n >= count]


def _grouped(loops: Sequence[Loop], totals: Sequence[float]) -> list[LoopDelay]:
    groups: dict[tuple[tuple[str, ...], int, int], tuple[float, list[Loop]]] = {}
    for loop, rest_ns in zip(loops, totals, strict=True):
        total_ns = rest_ns + loop.within_ns
        key = (_rotated(loop.components), loop.physical_ns, round(total_ns))
        groups.setdefault(key, (total_ns, []))[1].append(loop)
    return [
        LoopDelay(tuple(group), group[0].physical_ns, total_ns - group[0].physical_ns)
        for total_ns, group in groups.values()
    ]


def _rotated(names: tuple[str, ...]) -> tuple[str, ...]:
    """One spelling for all rotations of a ring of names."""
    smallest = min(names)  # compared first: all rotations of a long ring would be a square of names
    return min(names[i:] + names[:i] for i, name in enumerate(names) if name == smallest)
