"""Recording in memory: the engine writes rows of signals into blocks that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from orchestrator.engine import Engine
from orchestrator.master.schedule import Schedule
from orchestrator.system import System

#: Rows that are allotted at least, so that single steps do not allot each.
_FEWEST = 1024


@dataclass(frozen=True, slots=True)
class Recording:
    """What was recorded, as plain arrays.

    Parameters
    ----------
    time_ns
        int64 array of shape (n,).
    names
        ``component.connector``, with ``[i]`` for elements of an array connector.
    values
        float64 array of shape (n, len(names)); each row holds values at its own time.
    units, descriptions
        By name, where there is one.
    """

    time_ns: NDArray[np.int64]
    names: tuple[str, ...]
    values: NDArray[np.float64]
    units: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)


class Recorder:
    """Holds the rows of one run.

    Parameters
    ----------
    system, schedule
        What runs.
    outputs
        As :func:`~orchestrator.master.selection.recordable` returned them.
    every
        Every n-th step is recorded; the first row stands at the start.
    start_ns
        Time of the first row.
    """

    def __init__(
        self, system: System, schedule: Schedule, outputs: Sequence[str], every: int, start_ns: int
    ) -> None:
        self.every = every
        self._start_ns = start_ns
        self._stride_ns = schedule.step_ns * every
        self._slots: list[int] = []
        self._names: list[str] = []
        self._units: dict[str, str] = {}
        self._descriptions: dict[str, str] = {}
        for output in outputs:
            first, size = schedule.slots[output]
            component, _, connector = output.partition(".")
            about = system.components[component].connectors[connector]
            for i in range(size):
                name = output if size == 1 else f"{output}[{i}]"
                self._slots.append(first + i)
                self._names.append(name)
                if about.unit:
                    self._units[name] = about.unit
                if about.description:
                    self._descriptions[name] = about.description
        self._full: list[NDArray[np.float64]] = []
        self._block = np.empty((0, len(self._slots)))

    @property
    def columns(self) -> int:
        """Number of scalar signals."""
        return len(self._slots)

    def reserve(self, engine: Engine, rows: int) -> None:
        """Make sure that the engine can write so many rows."""
        if engine.rows + rows <= len(self._block):
            return
        self._full.append(self._block[: engine.rows])
        self._block = np.empty((max(rows, _FEWEST), len(self._slots)))
        engine.record(self._slots, self.every, self._block)

    def recording(self, engine: Engine, since: int = 0, *, latest: bool = False) -> Recording:
        """Return the rows so far.

        Parameters
        ----------
        engine
            That writes them.
        since
            Number of rows to leave out, from the first on.
        latest
            Whether a run whose last time falls between two rows gives a row of it as well; the
            signals must all belong to that time.
        """
        pieces, left = [], since
        for block in (*self._full, self._block[: engine.rows]):
            pieces.append(block[left:])
            left = max(0, left - len(block))
        count = sum(map(len, pieces))
        time_ns = self._start_ns + self._stride_ns * np.arange(since, since + count, dtype=np.int64)
        written = sum(map(len, self._full)) + engine.rows
        if latest and engine.time_ns > self._start_ns + (written - 1) * self._stride_ns:
            pieces.append(engine.signals[self._slots][np.newaxis])
            time_ns = np.append(time_ns, engine.time_ns)
        return Recording(
            time_ns,
            tuple(self._names),
            np.concatenate(pieces),
            dict(self._units),
            dict(self._descriptions),
        )
