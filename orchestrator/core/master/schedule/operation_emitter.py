"""The operations of one communication step, in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from orchestrator.core.master.algorithms.plan import Group, Plan
from orchestrator.core.master.schedule.buffer import Buffer
from orchestrator.core.master.schedule.connection_tables import ConnectionTables, Rows
from orchestrator.core.master.schedule.input_hold import InputHold
from orchestrator.core.master.schedule.schedule import Code, LoopTable
from orchestrator.core.system import Connection, DataType, System

Operation = tuple[int, int, int, int, int]


class Emission:
    """Writes the operations of a plan, group after group.

    Parameters
    ----------
    system, plan
        What is stepped how.
    buffer, tables, input_hold
        Places of the signals, tables of the connections, and at what inputs are held.
    """

    def __init__(
        self,
        system: System,
        plan: Plan,
        buffer: Buffer,
        tables: ConnectionTables,
        input_hold: InputHold,
    ) -> None:
        self._system = system
        self._plan = plan
        self._slots = {**buffer.slots, **buffer.text_slots}
        self._tables = tables
        self._input_hold = input_hold
        self._halved = {name for name in system.components if input_hold.halved(name)}
        self._numbers = {member.name: i for i, member in enumerate(buffer.members)}
        #: By target, the places of the connections that bring values at steps.
        self._at_steps: dict[str, list[int]] = {}
        for number, line in enumerate(system.connections):
            end = line.target
            if not system.components[end.component].changes_at_events(end.connector):
                self._at_steps.setdefault(end.component, []).append(number)
        self.operations: list[Operation] = []
        self.loops: list[LoopTable] = []
        #: Numbers of the members whose outputs are read before the operations come to them.
        self.read_early = sorted(self._numbers[name] for name in self._sources_read_early())
        for group in plan.groups:
            if group.loop:
                self._iterate(group)
            else:
                self._exchange(group.members)
                self._step(group.members)
            for ticks, names in self._by_ticks(group.members):
                self._add(tables.push(names), ticks, ticks - 1)
        self._add(tables.correct())

    def _ticks(self, name: str) -> int:
        return self._tables.ticks[name]

    def _by_ticks(self, names: Iterable[str]) -> list[tuple[int, list[str]]]:
        ordered = sorted(names, key=self._ticks)  # stable
        return [(ticks, list(some)) for ticks, some in groupby(ordered, self._ticks)]

    def _add(self, rows: Iterable[Rows], every: int = 1, phase: int = 0) -> None:
        self.operations += [(*row, every, phase) for row in rows]

    def _into(self, names: Iterable[str]) -> list[Connection]:
        """Connections that are exchanged before a step; others wait for event mode."""
        found = sorted(number for name in names for number in self._at_steps.get(name, ()))
        return [self._system.connections[number] for number in found]

    def _exchange(self, names: Iterable[str]) -> None:
        names = list(names)
        self._first_half([name for name in names if name in self._halved])
        for ticks, some in self._by_ticks(names):
            phase = ticks - 1 if self._plan.latch_at_end else 0
            self._add(self._tables.exchange(self._into(some)), ticks, phase)

    def _first_half(self, names: list[str]) -> None:
        self._add(self._tables.exchange(self._into(names), first_half=True))
        self._add((Code.FIRST_HALF, self._numbers[name], 1) for name in names)

    def _step(self, names: Iterable[str]) -> None:
        for (ticks, halved), some in groupby(names, self._kind_of_step):
            numbers = [self._numbers[name] for name in some]
            code = Code.SECOND_HALF if halved else Code.STEP
            self._add([(code, numbers[0], len(numbers))], ticks, ticks - 1)

    def _kind_of_step(self, name: str) -> tuple[int, bool]:
        return self._ticks(name), name in self._halved

    def _sources_read_early(self) -> set[str]:
        """Components that lines lead out of before they are stepped, but for what loops solve for.

        An iteration begins at 0, where a component's own start may be one it does not find from.
        """
        early: set[str] = set()
        solved: set[str] = set()
        stepped: set[str] = set()
        for group in self._plan.groups:
            place = {name: i for i, name in enumerate(group.members)} if group.loop else {}
            for line in self._into(group.members):
                source = line.source.component
                if source not in place and source not in stepped:
                    early.add(source)
                elif source in place and _is_cut(line, place):
                    solved.add(source)
            stepped.update(group.members)
        return early - solved

    def _iterate(self, group: Group) -> None:
        """Write a loop: every component of it exchanges and steps, again and again."""
        assert self._plan.loops is not None  # noqa: S101 - a plan with loops says how
        start = len(self.operations)
        self._add([(Code.SOLVE, len(self.loops), 0)])
        place = {name: i for i, name in enumerate(group.members)}
        inside = [line for line in self._into(group.members) if line.source.component in place]
        self._add(self._tables.propose(line for line in inside if _is_cut(line, place)))
        for name in group.members:
            self._exchange([name])
            self._step([name])
            ahead = (line for line in inside if line.source.component == name)
            self._add(self._tables.propose(line for line in ahead if not _is_cut(line, place)))
        body = len(self.operations) - start - 1
        self.operations[start] = (Code.SOLVE, len(self.loops), body, 1, 0)
        self.loops.append(self._table(group))

    def _table(self, group: Group) -> LoopTable:
        """What a pass starts from: outputs of components that come later in it."""
        how = self._plan.loops
        assert how is not None  # noqa: S101
        place = {name: i for i, name in enumerate(group.members)}
        sources = {
            line.source: self._system.components[line.source.component].connectors[
                line.source.connector
            ]
            for line in self._into(group.members)
            if (line.delay is None or self._input_hold.proposed(line)) and _is_cut(line, place)
        }
        slots: dict[str, list[int]] = {"real": [], "discrete": [], "text": []}
        names: dict[str, list[str]] = {"real": [], "discrete": [], "text": []}
        for end, connector in sources.items():
            first, size = self._slots[str(end)]
            is_real, is_text = connector.type is DataType.REAL, connector.type.is_text
            kind = "real" if is_real else "text" if is_text else "discrete"
            slots[kind] += range(first, first + size)
            names[kind] += [str(end) if size == 1 else f"{end}[{i}]" for i in range(size)]
        return LoopTable(
            how.method,
            how.tolerance,
            how.most_iterations,
            tuple(slots["real"]),
            tuple(slots["discrete"]),
            tuple(self._numbers[name] for name in group.members),
            tuple(names["real"] + names["discrete"] + names["text"]),
            tuple(slots["text"]),
            group.members,
        )


def _is_cut(line: Connection, place: Mapping[str, int]) -> bool:
    """Whether a pass through a loop starts from what a line brings: its source comes later."""
    return place.get(line.source.component, -1) >= place[line.target.component]
