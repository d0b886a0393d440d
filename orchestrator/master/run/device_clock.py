"""What a device must be whose samples are the clock of a run."""

from __future__ import annotations

from orchestrator.diagnostics import DescriptionError, UnknownNameError, nearest
from orchestrator.realtime import RealTime
from orchestrator.simunits.devices.description import device_facts, stepped_device
from orchestrator.system import SourceKind, System, nanoseconds


def expect_clock(realtime: RealTime | None, system: System, step: str | float) -> None:
    """Expect that the component which is to be the clock can be it; nothing is opened.

    Raises
    ------
    UnknownNameError
        If there is no such component.
    DescriptionError
        If it is no device, or the step is no whole number of its periods.
    """
    if realtime is None or realtime.clock is None:
        return
    name, known = realtime.clock, system.components
    if name not in known:
        raise UnknownNameError(
            f"realtime.clock: no component '{name}'{nearest(name, known)}; components:"
            f" {', '.join(known)}"
        )
    source = known[name].source
    if source.kind is not SourceKind.DEVICE or stepped_device(source.location) is not None:
        raise DescriptionError(
            f"realtime.clock: expected a device, whose samples steps can wait for; found component"
            f" '{name}' ({source.short})"
        )
    step_ns = nanoseconds(step, "communication step")
    period_ns = round(1e9 / device_facts(source.location).ports.rate)
    if step_ns % period_ns:
        raise DescriptionError(
            f"realtime.clock: component '{name}' ticks every {period_ns / 1e6:g} ms; expected a"
            f" step of a whole number of ticks, found {step_ns / 1e6:g} ms"
        )
