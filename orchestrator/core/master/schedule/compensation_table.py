"""Rows of the schedule for connections that make up for what holding their signals did."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master.algorithms.order import stepping_order
from orchestrator.core.master.schedule.buffer import Buffer
from orchestrator.core.master.schedule.schedule import CompensationMethod, CompensationRow
from orchestrator.core.master.schedule.step_size_control import power_bonds
from orchestrator.core.system import (
    Compensation,
    Connection,
    Extrapolation,
    System,
    factor_and_offset_of,
)

_ORDERS = {
    None: 0,
    Extrapolation.HOLD: 0,
    Extrapolation.LINEAR: 1,
    Extrapolation.QUADRATIC: 2,
}


class CompensationTable:
    """Makes the rows of compensated connections, and allots what they remember.

    Parameters
    ----------
    system
        Whose connections.
    buffer
        Places of its signals; it grows by what is remembered, behind all of them.
    """

    def __init__(self, system: System, buffer: Buffer) -> None:
        self._system = system
        self._buffer = buffer
        self._opposite: dict[Connection, list[Connection]] = {}
        if any(line.compensation is Compensation.ENERGY for line in system.connections):
            for one, other in power_bonds(system):
                self._opposite.setdefault(one, []).append(other)
                self._opposite.setdefault(other, []).append(one)

    def of(self, line: Connection) -> Iterator[CompensationRow]:
        """Make the rows of a connection, one for each scalar; none if it is not compensated."""
        if line.compensation is not None and line.compensation.makes_up_integral:
            order = _ORDERS[line.extrapolation]
            for source, target in self._scalars(line):
                yield CompensationRow(
                    CompensationMethod.ENERGY_INTEGRAL,
                    source,
                    target,
                    self._remember(),
                    order,
                    *self._linear(line),
                )
        elif line.compensation is Compensation.ENERGY:
            yield from self._taking_energy_back(line)

    def corrections(self) -> Iterator[CompensationRow]:
        """Make the rows by which outputs are corrected after a step, sources before targets."""
        lines = [c for c in self._system.connections if c.compensation is Compensation.CORRECTOR]
        if not lines:
            return
        order = [name for ring in stepping_order(self._system) for name in ring]
        place = {name: i for i, name in enumerate(order)}
        numbers = {member.name: i for i, member in enumerate(self._buffer.members)}
        for line in sorted(lines, key=lambda line: place[line.target.component]):
            for source, target in self._scalars(line):
                yield CompensationRow(
                    CompensationMethod.DIRECT_RESPONSE,
                    source,
                    target,
                    0,
                    0,
                    *self._linear(line),
                    numbers[line.target.component],
                )

    def _taking_energy_back(self, line: Connection) -> Iterator[CompensationRow]:
        bonds = self._opposite.get(line, [])
        if len(bonds) != 1:
            found = f"of {len(bonds)} ({', '.join(map(str, bonds))})" if bonds else "no part of one"
            raise CapabilityError(
                f"connection {line}: compensation 'energy' takes back what a power bond made, and"
                f" the line is {found}: expected one undelayed opposite connection between the"
                " same two components, the product of whose units is a power, such as N and m/s,"
                " or declared power ports"
            )
        (other,) = bonds
        if other.compensation is Compensation.ENERGY:
            raise CapabilityError(
                f"connections {line} and {other}: both lines of a power bond have the compensation"
                " 'energy', and would take the same energy back twice; leave it out at one of them"
            )
        if other.compensation is not None or other.is_predicted:
            raise CapabilityError(
                f"connection {line}: compensation 'energy' expects that the opposite line of its"
                f" power bond is held, and {other} is"
                f" {'compensated' if other.compensation else 'extrapolated'}; leave that out"
            )
        factor, offset = self._linear(line)
        answer_factor, shifted = self._linear(other)
        for at, moved in ((line, offset), (other, shifted)):
            if moved:
                raise CapabilityError(
                    f"connection {at}: an offset of {moved:g} and compensation 'energy' do not go"
                    " together: the power at its two ends differs; leave one of them out"
                )
        pairs = zip(self._scalars(line), self._scalars(other), strict=True)
        for (source, target), (answer, answered) in pairs:
            yield CompensationRow(
                CompensationMethod.RESIDUAL_ENERGY,
                source,
                target,
                self._remember(),
                0,
                factor,
                offset,
                answer,
                answered,
                answer_factor,
            )

    def _scalars(self, line: Connection) -> Iterator[tuple[int, int]]:
        source, size = self._buffer.slots[str(line.source)]
        target, _ = self._buffer.slots[str(line.target)]
        return ((source + i, target + i) for i in range(size))

    def _linear(self, line: Connection) -> tuple[float, float]:
        components = self._system.components
        source = components[line.source.component].connectors[line.source.connector]
        target = components[line.target.component].connectors[line.target.connector]
        return factor_and_offset_of(line, source, target)

    def _remember(self) -> int:
        first = self._buffer.size
        self._buffer.size += CompensationRow.numbers
        return first
