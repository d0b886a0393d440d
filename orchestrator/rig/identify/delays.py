"""Identified delays, written into a system's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from orchestrator.author.edit import FileEdit
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import System
from orchestrator.rig.identification.clock import in_run_time
from orchestrator.rig.identification.line_delays import identified_delays
from orchestrator.rig.identification.twin_file import TwinFile


def set_identified_delays(
    path: Path, twins: Sequence[TwinFile], clock: str | None = None
) -> list[str]:
    """Write the delays of devices onto the connections that carry their responses.

    Each gets the delay of a loop through the device, with its provenance, the device and the date:
    see :func:`~orchestrator.rig.identification.line_delays.identified_delays`. All else in the file
    stays as it is.
    """
    edit = FileEdit(path)
    twins, told = in_run_time(twins, clock)
    found = [
        (line, delay) for twin in twins for line, delay in identified_delays(edit.system, twin)
    ]
    if not found:
        names = ", ".join(repr(twin.component) for twin in twins)
        raise DescriptionError.in_file(
            path, f"no connection begins at a response of {names}, so no delay was set"
        )

    def change(system: System) -> System:
        for line, delay in found:
            system = system.with_delay(str(line.source), str(line.target), delay)
        return system

    edit.change(change)
    edit.document.save()
    changed = (
        f"{path}: {line}: {delay.nominal_ns / 1e6:.6g} ms, {delay.provenance}"
        for line, delay in found
    )
    doubts = (f"not set: {doubt}" for twin in twins for doubt in twin.doubts.values())
    return [*changed, *told, *doubts]
