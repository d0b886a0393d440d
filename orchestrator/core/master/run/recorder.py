"""What of a system is recorded, and rows of signals that the engine writes into memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orchestrator.core.diagnostics import (
    CapabilityError,
    DescriptionError,
    UnknownNameError,
    choices_for,
    with_article,
)
from orchestrator.core.structs import Struct, field
from orchestrator.core.system import Causality, Connector, DataType, System
from orchestrator.core.system.naming import is_pattern, matching
from orchestrator.engine import allot_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from orchestrator.core.master.run.run_state import RunState
    from orchestrator.core.realtime import SharedRows

    Values = NDArray[np.float64] | memoryview[float]
    Times = NDArray[np.int64] | memoryview[int]

#: Rows that are allotted at least, so that single steps do not allot each.
_FEWEST = 1024
#: A block is so many times the one before, up to so many bytes: a long run has few, in large pages.
_GROWTH, _LARGEST = 4, 1 << 26
#: Rows, and bytes, that are shared where nobody knows how many rows come.
_MOST_SHARED, _LARGEST_SHARED = 1 << 20, 1 << 30


class Recording(Struct):
    """What was recorded, as plain arrays.

    time_ns: int64 array of shape (n,).
    names: ``component.connector``, with ``[i]`` for elements of an array connector.
    values: float64 array of shape (n, len(names)); each row holds values at its own time.
    units, descriptions: By name, where there is one.
    clock_ns: int64 array of shape (n,): when each row was written by CLOCK_MONOTONIC, 0 where that
        is not known; ``None``: of a run that is not in real time.
    """

    time_ns: NDArray[np.int64]
    names: tuple[str, ...]
    values: NDArray[np.float64]
    units: dict[str, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)
    clock_ns: NDArray[np.int64] | None = None


class RecordedRows(Struct, eq=False):
    """Rows that will not change any more: a block, and those before it.

    A chain, so that saving a run shares what was recorded instead of copying it. The memory is
    plain until somebody reads it as arrays: a run does not load NumPy for it.
    """

    before: RecordedRows | None
    block: Values
    times_ns: Times
    begin: int = 0
    clocks_ns: Times | None = None

    @property
    def end(self) -> int:
        """Number of rows, those before included."""
        return self.begin + len(self.block)

    def joined(
        self, since: int = 0
    ) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64] | None]:
        """Return the rows but the first ``since`` as one array, their times, and their clocks.

        Returns: float64 array of shape (rows, columns).
        Returns: int64 array of shape (rows,), nanoseconds.
        Returns: The same by CLOCK_MONOTONIC, 0 where that is not known; ``None`` where it nowhere
            is.
        """
        import numpy as np

        blocks, clocks, has_clocks = [], [], False
        part: RecordedRows | None = self
        while part is not None and (part is self or part.end > since):
            skipped = max(0, since - part.begin)
            blocks.append((part.block[skipped:], part.times_ns[skipped:]))
            has_clocks = has_clocks or part.clocks_ns is not None
            part_clocks = np.zeros(len(part.times_ns)) if part.clocks_ns is None else part.clocks_ns
            clocks.append(part_clocks[skipped:])
            part = part.before
        rows, times_ns = zip(*reversed(blocks), strict=True)
        clocks_ns = np.concatenate(clocks[::-1], dtype=np.int64, casting="unsafe")
        return (
            np.concatenate(rows),
            np.concatenate(times_ns, dtype=np.int64),
            clocks_ns if has_clocks else None,
        )


class RowRecorder:
    """Holds the rows of one run: the start, and then every n-th step.

    In real time it is recorded when each row is written, by CLOCK_MONOTONIC.
    """

    def __init__(self, state: RunState) -> None:
        self._engine = state.engine
        self.every = state.settings.every
        self._slots: list[int] = []
        self._names: list[str] = []
        self._units: dict[str, str] = {}
        self._descriptions: dict[str, str] = {}
        for output in state.outputs:
            first, size = state.schedule.slots[output]
            component, _, connector = output.partition(".")
            connector_of = state.system.components[component].connectors[connector]
            for i in range(size):
                name = output if size == 1 else f"{output}[{i}]"
                self._slots.append(first + i)
                self._names.append(name)
                if connector_of.unit:
                    self._units[name] = connector_of.unit
                if connector_of.description:
                    self._descriptions[name] = connector_of.description
        self._block: Values
        self._times: Times
        self._clocks: Times | None = None
        self._is_clocked = state.settings.realtime is not None
        self._block, self._times = allot_rows(0, self.columns)
        self._full = RecordedRows(None, self._block, self._times)

    @property
    def columns(self) -> int:
        """Number of scalar signals."""
        return len(self._slots)

    def reserve(self, rows: int) -> None:
        """Make sure that the engine can write `rows` more rows."""
        if self._engine.rows + rows <= len(self._block):
            return
        self._full = self._rows()
        grown = min(_GROWTH * len(self._block), _LARGEST // (8 * max(1, self.columns)))
        self._allot(max(rows, grown, _FEWEST))

    def share(self, rows: int | None = None) -> SharedRows:
        """Let the engine write so many coming rows where another process can read them.

        ``None``: as many as there is room for, in memory that is taken when a row is written.
        """
        from orchestrator.core.realtime import SharedRows

        self._full = self._rows()
        room = min(_MOST_SHARED, _LARGEST_SHARED // (8 * max(1, self.columns)))
        shared = SharedRows(room if rows is None else rows, self.columns, grows=rows is None)
        clocks = shared.clocks_ns if self._is_clocked else None
        self._attach(shared.values, shared.times_ns, clocks)
        return shared

    def writes_to(self, rows: SharedRows) -> bool:
        """Whether rows are still written there: a block that is full is left."""
        return self._block is rows.values

    def _rows(self) -> RecordedRows:
        full, count = self._full, self._engine.rows
        if not count:
            return full
        clocks = None if self._clocks is None else self._clocks[:count]
        return RecordedRows(full, self._block[:count], self._times[:count], full.end, clocks)

    def _allot(self, rows: int) -> None:
        clocks = allot_rows(rows, 1)[1] if self._is_clocked else None
        self._attach(*allot_rows(rows, self.columns), clocks)

    def _attach(self, block: Values, times_ns: Times, clocks: Times | None) -> None:
        self._block, self._times, self._clocks = block, times_ns, clocks
        self._engine.record(self._slots, self.every, block, times_ns, clocks)

    def save(self) -> RecordedRows:
        """Return all rows so far; later ones go behind them."""
        self._full = self._rows()
        count = self._engine.rows
        clocks = None if self._clocks is None else self._clocks[count:]
        self._attach(self._block[count:], self._times[count:], clocks)
        return self._full

    def restore(self, rows: RecordedRows) -> None:
        """Go on behind rows that were saved."""
        self._full = rows
        self._allot(0)

    def recording(self, since: int = 0, *, latest: bool = False) -> Recording:
        """Return the rows so far."""
        engine, rows = self._engine, self._rows()
        values, time_ns, clock_ns = rows.joined(since)
        if latest and engine.time_ns > rows.times_ns[-1]:
            import numpy as np

            now = np.asarray(engine.signals)[self._slots]
            values = np.concatenate([values, now[np.newaxis]])
            time_ns = np.append(time_ns, engine.time_ns)
            clock_ns = None if clock_ns is None else np.append(clock_ns, 0)
        texts = dict(self._units), dict(self._descriptions)
        return Recording(time_ns, tuple(self._names), values, *texts, clock_ns)


def recordable(system: System, record: Sequence[str] | str | None) -> list[str]:
    """Return what to record: the requested signals, or all outputs that are numbers."""
    by_kind: dict[str, dict[str, Connector]] = {"outputs": {}, "others": {}}
    outputs = []  # that are recorded unasked: numbers, but for clocks that never tick
    for part in system.components.values():
        for c in part.connectors.values():
            name, is_output = f"{part.name}.{c.name}", c.causality is Causality.OUTPUT
            by_kind["outputs" if is_output else "others"][name] = c
            ticks = part.shares_events or c.type is not DataType.CLOCK
            if is_output and ticks and not c.type.is_text:
                outputs.append(name)
    if record is None:
        return outputs
    connectors = by_kind["outputs"] | by_kind["others"]
    names: list[str] = []
    problems: list[DescriptionError] = []
    for text in [record] if isinstance(record, str) else record:
        if is_pattern(text):
            numbers = [name for name, c in by_kind["others"].items() if not c.type.is_text]
            matches = matching(text, outputs) or matching(text, numbers)
            fault = "no variable that is a number matches it"
        elif text in connectors and connectors[text].type.is_text:
            reason = (
                f"it is {with_article(connectors[text].type)}; only numbers are recorded, so"
                " leave it out"
            )
            problems.append(CapabilityError(f"cannot record '{text}': {reason}"))
            continue
        else:
            matches = [text] if text in connectors else []
            fault = "no component has this variable"
        names += matches
        if not matches:
            plain = text.replace("*", "").replace("?", "")
            choices = choices_for(plain, connectors, "variable")
            problems.append(UnknownNameError(f"cannot record '{text}': {fault}{choices}"))
    if problems:
        raise DescriptionError.collect(problems)
    return list(dict.fromkeys(names))
