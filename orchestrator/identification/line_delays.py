"""Delays of connections, from what was identified of the devices that they begin at."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from orchestrator.identification.twin_file import TwinFile
from orchestrator.system import Connection, Provenance, System, TransportDelay


def identified_delays(
    system: System, twin: TwinFile, physical: Collection[str] = ()
) -> Iterator[tuple[Connection, TransportDelay]]:
    """Yield the connections that carry responses of a device, and their identified delays.

    What is in doubt of a twin gives none.

    It is the delay of a loop through the device, from the command to the run's reading of the
    response (:attr:`~orchestrator.identification.twin_file.SignalPair.loop_delay`), to the
    microsecond; of a line that hardware makes, that of the device alone.

    Parameters
    ----------
    system
        Flat, or not.
    twin
        What was identified.
    physical
        Lines that hardware makes, as ``source -> target``.
    """
    entries = {
        pair.response.partition("[")[0]: pair for pair in reversed(twin.without_doubts().pair)
    }
    for line in system.connections:
        entry = entries.get(line.source.connector)
        if line.source.component != twin.component or entry is None:
            continue
        found = entry.loop_delay
        if f"{line.source} -> {line.target}" in physical and entry.delay is not None:
            found = entry.delay
        yield (
            line,
            TransportDelay(
                round(found.value * 1e6) * 1000,
                Provenance(entry.provenance),
                device=twin.device,
                date=twin.date.isoformat(),
            ),
        )
