"""What the parts of a run share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from orchestrator.core.coupling import FaultRecord
from orchestrator.core.master.schedule.schedule import Schedule
from orchestrator.core.master.settings import ExecutionSettings
from orchestrator.core.simunits import SimulationUnit
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Connector, System, Value, seconds
from orchestrator.core.system.ports import Limits
from orchestrator.engine import Engine, Outcome

#: More than any number of steps.
MOST_STEPS = 2**62
#: A row of the engine's watch: slot, least, most, whether each is open, items.
_WatchRow = tuple[int, float, float, bool, bool, list[float]]


class FedRanges:
    """Watches what the engine feeds to inputs that have a range or an enumeration.

    engine: Initialised; what its inputs are by then counts, too.
    """

    def __init__(self, engine: Engine, schedule: Schedule, units: Sequence[SimulationUnit]) -> None:
        self._engine = engine
        self._inputs: list[tuple[str, Connector, Limits | None]] = []
        rows: list[_WatchRow] = []
        for member, unit in zip(schedule.members, units, strict=True):
            slot = member.input_offset
            for connector in unit.inputs:
                limits = unit.description.ranges.get(connector.name)
                items = connector.enumeration.items.values() if connector.enumeration else ()
                if limits is not None or items:
                    ends = limits or Limits()
                    row = ends.least, ends.most, ends.open_below, ends.open_above
                    for element in range(connector.size):
                        index = f"[{element}]" if connector.shape else ""
                        label = f"{unit.name}.{connector.name}{index}"
                        self._inputs.append((label, connector, limits))
                        rows.append((slot + element, *row, [float(item) for item in items]))
                slot += connector.size
        if rows:
            engine.watch(rows)

    @property
    def notes(self) -> Iterator[str]:
        """Say which inputs were fed something else, when first, and what."""
        for number, time_ns, value in self._engine.beyond if self._inputs else ():
            label, connector, limits = self._inputs[number]
            scalar = replace(connector, shape=(), limits=limits)
            plain: Value = int(value) if scalar.enumeration is not None else value
            if (refusal := scalar.refusal(plain)) is not None:
                yield (
                    f"input '{label}' received a value that it does not accept, first at t ="
                    f" {seconds(time_ns):.9g} s: {refusal}"
                )


class RunState(Struct, eq=False):
    """What all parts of a run share: its system, its tables, its units and the engine.

    original, system: As the user described it, and as it is run.
    notes: What was chosen for it, in sentences.
    settings: Completed by the system's own.
    start_ns, stop_ns, outputs: Of the settings, in nanoseconds and by their names.
    schedule, faults, units, engine: Units in order of the schedule.
    fed: What inputs were fed that they do not take.
    end: The end of the run that an event at the start asked for.
    """

    original: System
    system: System
    notes: list[str]
    settings: ExecutionSettings
    start_ns: int
    stop_ns: int | None
    outputs: Sequence[str]
    schedule: Schedule
    faults: tuple[FaultRecord, ...]
    units: list[SimulationUnit]
    engine: Engine
    fed: FedRanges
    end: Outcome | None
