"""Recording in memory: the engine writes rows of signals into blocks that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from orchestrator.engine import Engine
from orchestrator.errors import UnknownNameError
from orchestrator.master.schedule import Schedule
from orchestrator.system import Causality, DataType, System

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
    units
        Unit by name, where one is declared.
    """

    time_ns: NDArray[np.int64]
    names: tuple[str, ...]
    values: NDArray[np.float64]
    units: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows that will not change any more: a block, and those before it.

    A chain, so that saving a run shares what was recorded instead of copying it.
    """

    before: Rows | None
    block: NDArray[np.float64]

    def joined(self) -> NDArray[np.float64]:
        """Return all rows as one array of shape (rows, columns)."""
        blocks = []
        part: Rows | None = self
        while part is not None:
            blocks.append(part.block)
            part = part.before
        return np.concatenate(blocks[::-1])


def recordable(system: System, record: Sequence[str] | str | None) -> list[str]:
    """Return the outputs to record: those asked for, or all that are numbers.

    Raises
    ------
    UnknownNameError
        If one that is asked for is not an output.
    """
    types = {
        f"{component.name}.{output.name}": output.type
        for component in system.components.values()
        for output in component.of(Causality.OUTPUT)
    }
    if isinstance(record, str):
        record = [record]
    for name in record or ():
        if name not in types:
            raise UnknownNameError(
                f"cannot record '{name}': it is not an output; outputs: {', '.join(types)}"
            )
    if record is not None:
        return list(record)
    return [name for name, kind in types.items() if kind is not DataType.STRING]


class Recorder:
    """Holds the rows of one run.

    Parameters
    ----------
    system, schedule
        What runs.
    outputs
        As :func:`recordable` returned them.
    every
        Every n-th step is recorded.
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
        for output in outputs:
            first, size = schedule.slots[output]
            component, _, connector = output.partition(".")
            unit = system.components[component].connectors[connector].unit
            for i in range(size):
                name = output if size == 1 else f"{output}[{i}]"
                self._slots.append(first + i)
                self._names.append(name)
                if unit:
                    self._units[name] = unit
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
        return Rows(self._full, self._block[: engine.rows]) if engine.rows else self._full

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

    def recording(self, engine: Engine) -> Recording:
        """Return all rows so far."""
        values = self._rows(engine).joined()
        time_ns = self._start_ns + self._stride_ns * np.arange(len(values), dtype=np.int64)
        return Recording(time_ns, tuple(self._names), values, dict(self._units))
