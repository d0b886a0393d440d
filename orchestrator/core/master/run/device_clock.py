"""What a device must be whose samples are the clock of a run."""

from __future__ import annotations

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, nearest
from orchestrator.core.realtime import RealTime
from orchestrator.core.simunits.kinds import clock_ns
from orchestrator.core.system import System, nanoseconds


def expect_clock(realtime: RealTime | None, system: System, step: str | float) -> None:
    """Expect that the component which is to be the clock can be it; nothing is opened."""
    if realtime is None or realtime.clock is None:
        return
    name, known = realtime.clock, system.components
    if name not in known:
        raise UnknownNameError(
            f"realtime.clock: no component '{name}'{nearest(name, known)}; components:"
            f" {', '.join(known)}"
        )
    source = known[name].source
    period_ns = clock_ns(source)
    if period_ns is None:
        raise DescriptionError(
            f"realtime.clock: expected a device, whose samples steps can wait for; found component"
            f" '{name}' ({source.short})"
        )
    step_ns = nanoseconds(step, "communication step")
    if step_ns % period_ns:
        raise DescriptionError(
            f"realtime.clock: component '{name}' ticks every {period_ns / 1e6:g} ms; expected a"
            f" step of a whole number of ticks, found {step_ns / 1e6:g} ms"
        )
