"""Identified delays, written into a system's file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from orchestrator.authoring.edit import FileEdit
from orchestrator.diagnostics import DescriptionError
from orchestrator.identification.twin_file import TwinFile
from orchestrator.system import Connection, Provenance, System, TransportDelay


def set_identified_delays(path: Path, twins: Sequence[TwinFile]) -> list[str]:
    """Write the delays of devices onto the connections that carry their responses.

    Each gets the delay of a loop through the device, from the command to the run's reading of the
    response (:attr:`~orchestrator.identification.twin_file.SignalPair.loop_delay`), to the
    microsecond, with its provenance, the device and the date. All else in the file stays as it is.

    Parameters
    ----------
    path
        An .ssd, .ssp or .toml file.
    twins
        What was identified.

    Returns
    -------
    list
        What was set, a line for each connection.

    Raises
    ------
    DescriptionError, LoadError
        If the file cannot be read or written, or no connection carries any of the responses.
    """
    edit = FileEdit(path)
    found = [(line, delay) for twin in twins for line, delay in _delays(edit.system, twin)]
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
    return [
        f"{path}: {line}: {delay.nominal_ns / 1e6:.6g} ms, {delay.provenance}"
        for line, delay in found
    ]


def _delays(system: System, twin: TwinFile) -> Iterator[tuple[Connection, TransportDelay]]:
    entries = {pair.response.partition("[")[0]: pair for pair in reversed(twin.pair)}
    for line in system.connections:
        entry = entries.get(line.source.connector)
        if line.source.component != twin.component or entry is None:
            continue
        delay = TransportDelay(
            round(entry.loop_delay.value * 1e6) * 1000,
            Provenance(entry.provenance),
            device=twin.device,
            date=twin.date.isoformat(),
        )
        yield line, delay
