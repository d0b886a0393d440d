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


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows that will not change any more: a block, and those before it.

    A chain, so that saving a run shares what was recorded instead of copying it.
    """

    before: Rows | None
    block: NDArray[np.float64]
    begin: int = 0

    @property
    def end(self) -> int:
        """Number of rows, those before included."""
        return self.begin + len(self.block)

    def joined(self, since: int = 0) -> NDArray[np.float64]:
        """Return the rows but the first ``since`` as one array of shape (rows, columns)."""
        blocks = [self.block[max(0, since - self.begin) :]]
        part = self.before
        while part is not None and part.end > since:
            blocks.append(part.block[max(0, since - part.begin) :])
            part = part.before
        return np.concatenate(blocks[::-1])


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
        self._block = np.empty((0, len(self._slots)))
        self._full = Rows(None, self._block)

    @property
    def columns(self) -> int:
        """Number of scalar signals."""
        return len(self._slots)

    def reserve(self, engine: Engine, rows: int) -> None:
        """Make sure that the engine can write so many rows."""
        if engine.rows + rows <= len(self._block):
            return
        self._full = self._rows(engine)
        self._attach(engine, np.empty((max(rows, _FEWEST), len(self._slots))))

    def _rows(self, engine: Engine) -> Rows:
        full = self._full
        return Rows(full, self._block[: engine.rows], full.end) if engine.rows else full

    def _attach(self, engine: Engine, block: NDArray[np.float64]) -> None:
        self._block = block
        engine.record(self._slots, self.every, block)

    def save(self, engine: Engine) -> Rows:
        """Return all rows so far; later ones go behind them."""
        self._full = self._rows(engine)
        self._attach(engine, self._block[engine.rows :])
        return self._full

    def restore(self, engine: Engine, rows: Rows) -> None:
        """Go on behind rows that were saved."""
        self._full = rows
        self._attach(engine, np.empty((0, len(self._slots))))

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
        rows = self._rows(engine)
        values = rows.joined(since)
        time_ns = self._start_ns + self._stride_ns * np.arange(since, rows.end, dtype=np.int64)
        if latest and engine.time_ns > self._start_ns + (rows.end - 1) * self._stride_ns:
            values = np.concatenate([values, engine.signals[self._slots][np.newaxis]])
            time_ns = np.append(time_ns, engine.time_ns)
        return Recording(
            time_ns,
            tuple(self._names),
            values,
            dict(self._units),
            dict(self._descriptions),
        )
