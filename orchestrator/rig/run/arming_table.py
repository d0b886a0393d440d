"""The margins of a case's devices as a table, for the terminal and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orchestrator.study import Section
from orchestrator.study.section import Cell

if TYPE_CHECKING:
    from orchestrator.rig.arming import ArmedLine, Arming

COLUMNS = (
    "command",
    "delay margin [ms]",
    "gain margin",
    "growth [1/s]",
    "frequency [Hz]",
    "arming",
)


def arming_rows(arming: Arming) -> list[tuple[Cell, ...]]:
    """Return a row of :data:`COLUMNS` for each command."""
    return [
        (
            line.line,
            None if line.margins is None else line.margins.delay.value * 1e3,
            None if line.margins is None else line.gain,
            None if line.root is None else line.growth,
            None if line.root is None else line.frequency,
            _verdict(line, arming),
        )
        for line in arming.lines
    ]


def _verdict(line: ArmedLine, arming: Arming) -> str:
    if not line.lacks and not arming.objections:
        return "granted"
    return "refused, forced" if arming.forced else "refused"


def arming_section(name: str, arming: Arming) -> Section:
    """Return what is said of the margins of a case's devices."""
    reserve = arming.reserve
    note = (
        f"Reserve: {reserve.delay * 1e3:g} ms and a factor of {reserve.gain:g}, with steps of"
        f" {arming.step_ns / 1e6:g} ms. {'; '.join(arming.notes)}."
    )
    return Section(
        "arming",
        f"Arming of {name}",
        COLUMNS,
        tuple(arming_rows(arming)),
        note,
        data=arming.as_json(),
        value=arming,
    )
