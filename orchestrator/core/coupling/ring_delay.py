"""The delay around a ring of components that step at different rates.

The mean lateness of every connection is not enough there: a slow unit takes only some of a fast
unit's outputs, and those may all be made from values that are later, or earlier, than the mean. So
one value is followed around the ring, from every step of a component backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import lcm

from orchestrator.core.coupling.line_plan import DelayPlan
from orchestrator.core.coupling.timing import Timing
from orchestrator.core.system import Compensation, Connection, Endpoint, Interpolation, Loop

TimingOf = Callable[[Connection], Timing]


def traced_delay(loop: Loop, plans: Mapping[Endpoint, DelayPlan], timing: TimingOf) -> float:
    """Mean delay around a ring in nanoseconds, over all steps of its last target that has states.

    What it takes in every one of its steps acts; of what passes through at once only what is read.

    Parameters
    ----------
    loop
        The ring.
    plans
        How delayed connections are read, by target.
    timing
        When the ends of a connection act.
    """
    inner = [number for number, through in enumerate(loop.feedthrough) if not through]
    end = inner[-1] + 1 if inner else 0
    ring = [*loop.connections[end:], *loop.connections[:end]]
    passes = [*loop.feedthrough[end:], *loop.feedthrough[:end]]
    times = [timing(line) for line in ring]
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
            late = at + time.target_ns / 2 - sample if time.is_newest else time.held_ns
            parts = [(1.0, sample)]
        else:
            late, parts = _reading(plan, time, at)
        if number == 0:
            return late + through
        earlier = sum(
            share * back(number - 1, sample - time.source_ns) for share, sample in parts if share
        )
        return late + through + earlier

    windows = range(begin, begin + period, step)
    return sum(back(len(ring) - 1, at) for at in windows) / len(windows)


def _reading(plan: DelayPlan, time: Timing, at: int) -> tuple[float, list[tuple[float, int]]]:
    """How late a delayed line is read, and the samples that it is made from with their shares."""
    if plan.interpolation is Interpolation.HOLD:
        sample = (at + min(plan.shift_ns, time.visible_ns)) // time.source_ns * time.source_ns
        # What a varying delay adds on average is in what was planned, not in the samples.
        varying = plan.seen_ns - (time.target_ns / 2 - time.sampled(plan.shift_ns))
        return at + time.target_ns / 2 - sample + varying, [(1.0, sample)]
    middle = plan.span_ns // 2 if plan.order else 0
    sample, rest = divmod(at + plan.shift_ns + middle, time.source_ns)
    sample *= time.source_ns
    share = rest / time.source_ns
    return plan.seen_ns, [(1.0 - share, sample), (share, sample + time.source_ns)]
