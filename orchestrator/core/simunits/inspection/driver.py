"""Driver of a checked FMU: steps over its events, in Co-Simulation and Model Exchange."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.core.simunits.inspection.probe import Probe

_MOST_EVENTS = 10_000  # in one step; a ball that comes to rest has them, too, but not so many


def exchange_step(probe: Probe, end: float) -> None:
    """Explicit Euler steps in Model Exchange, cut at time events; state events happen at their end.

    An importer may be that coarse, and the same calls always give the same values.
    """
    while probe.time < end and not probe.ended:
        next_event = probe.next_event
        target = end if next_event is None else min(end, max(next_event, probe.time))
        slopes, states = probe.derivatives(), probe.continuous_states()
        before, size = probe.indicators(), target - probe.time
        probe.fmu.setTime(target)
        if states:
            probe.write_states([x + size * dx for x, dx in zip(states, slopes, strict=True)])
        event, probe.ended = probe.fmu.completedIntegratorStep()
        crossed = any(a * b <= 0 for a, b in zip(before, probe.indicators(), strict=True) if a or b)
        probe.time = target
        if probe.ended:
            return
        if event or crossed or (next_event is not None and next_event <= target):
            probe.fmu.enterEventMode()
            probe.settle()
            if not probe.ended and probe.next_event is not None and probe.next_event <= target:
                raise RuntimeError(
                    f"the next time event is not after t = {target:g} s, the present"
                )


def cosimulation_step(probe: Probe, end: float, size: float) -> None:
    """A communication step; with event mode a further one after each event that ends it early.

    The size is not the difference of the times, whose rounding a fixed-step solver would see.
    """
    for _ in range(_MOST_EVENTS):
        event, early, reached = _do_step(probe, size)
        probe.time = reached if early else end
        if probe.ended:
            return
        if event and probe.event_mode:
            probe.fmu.enterEventMode()
            probe.settle()
        size = end - probe.time
        if not early or size <= 0:
            return
    raise RuntimeError(f"{_MOST_EVENTS} early returns before t = {end:g} s")


def _do_step(probe: Probe, size: float) -> tuple[bool, bool, float]:
    """Whether there is an event, whether the step has ended early, and when."""
    from fmpy.fmi1 import FMICallException
    from fmpy.fmi2 import fmi2Discard, fmi2Terminated

    if not probe.second:
        event, probe.ended, early, reached = probe.fmu.doStep(probe.time, size)
        return event, early, reached
    try:
        probe.fmu.doStep(probe.time, size)
    except FMICallException as error:
        probe.ended = error.status == fmi2Discard and bool(
            probe.fmu.getBooleanStatus(fmi2Terminated)
        )
        if not probe.ended:
            raise
    return False, False, probe.time + size
