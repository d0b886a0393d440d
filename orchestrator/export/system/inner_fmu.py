"""The FMUs inside of an exported system, and its variables as FMI and its tables need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from orchestrator.core.master import Schedule
from orchestrator.core.simunits import UnitDescription, open_description, read_fmu
from orchestrator.core.simunits.fmi.description_parts import ModelDescription
from orchestrator.core.simunits.fmi.fmi3_unit import Timer
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.model_exchange_unit import (
    DEFAULT_TOLERANCE,
    ExchangeDescription,
    describe_exchange,
)
from orchestrator.core.simunits.protocol import signal_order, text_order
from orchestrator.core.system import Causality, Component, Connector, DataType, Value


class VariablePlace(IntEnum):
    """Where a variable's value lies; the numbers are those of the file (engine/src)."""

    SIGNAL = 0
    INPUT = 1
    PARAMETER = 2


class Type(IntEnum):
    """Types of FMI 3.0; the numbers are those of the file (engine/src/fmi/ports3.hpp)."""

    FLOAT64 = 0
    FLOAT32 = 1
    INT8 = 2
    UINT8 = 3
    INT16 = 4
    UINT16 = 5
    INT32 = 6
    UINT32 = 7
    INT64 = 8
    UINT64 = 9
    BOOLEAN = 10
    CLOCK = 11
    STRING = 12
    BINARY = 13


#: By the names of FMI 2.0 and 3.0 in capitals.
TYPES = {
    "REAL": Type.FLOAT64,
    "INTEGER": Type.INT32,
    "ENUMERATION": Type.INT32,
    **{kind.name: kind for kind in Type},
}
#: What a connector of the system is in the exported FMU.
_OWN = {
    DataType.REAL: Type.FLOAT64,
    DataType.INTEGER: Type.INT64,
    DataType.BOOLEAN: Type.BOOLEAN,
    DataType.STRING: Type.STRING,
    DataType.BINARY: Type.BINARY,
}


@dataclass(frozen=True, slots=True)
class Port:
    """A variable of an inner FMU.

    name, type, reference, size: As its model description has them; the size counts elements.
    is_discrete: Whether it changes at events only.
    is_continuous: Whether a Model Exchange FMU lets it change while time goes on.
    clocks: Value references of the clocks at whose ticks it changes.
    """

    name: str
    type: Type
    reference: int
    size: int = 1
    is_discrete: bool = False
    is_continuous: bool = False
    clocks: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ParameterTarget:
    """Where a parameter's value goes: a variable of an inner FMU, ``factor * value + offset``."""

    fmu: int
    port: Port
    factor: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class SystemVariable:
    """One variable; its value reference is its place in the list, from 1 on.

    name: With dots between the names of systems, components and connectors.
    causality, variability: In the words of FMI.
    kind: See :class:`VariablePlace`.
    connector: Type, unit, shape and description.
    slot: Where its signal lies in the engine's buffer; -1: it feeds nothing.
    start: Of an input or parameter, one for each element.
    is_tunable: Whether a parameter may be set while the system runs.
    targets: Of a parameter.
    """

    name: str
    causality: str
    variability: str
    kind: VariablePlace
    connector: Connector
    slot: int = -1
    start: tuple[float | int | bool | str | bytes, ...] = ()
    is_tunable: bool = False
    targets: tuple[ParameterTarget, ...] = ()

    @property
    def type(self) -> Type:
        """The type that the exported FMU gives it."""
        return _OWN[self.connector.type]


@dataclass(frozen=True)
class InnerFmu:
    """One component, and the FMU that it is made from.

    component: Of the flat system.
    inputs, outputs: Connectors that the schedule transfers, in its order; texts last.
    early_return: Whether it may end a step before its end, at an event.
    """

    component: Component
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    early_return: bool

    @property
    def path(self) -> Path:
        """The FMU's archive."""
        return Path(self.component.source.location)

    @cached_property
    def fmu(self) -> FmuDescription:
        """What the archive says of itself, with the extents that the component's values give."""
        fmu = read_fmu(self.path, self.component.options.interface)
        return fmu.shaped(self.component.values)

    @cached_property
    def described(self) -> ModelDescription:
        """The model description as FMPy reads it."""
        return open_description(self.path)

    @property
    def description(self) -> UnitDescription:
        """Ports and capabilities."""
        return self.fmu.description

    @cached_property
    def folder(self) -> str:
        """Name of the folder of the resources that it lies in: equal FMUs share one."""
        return sha256(self.path.read_bytes()).hexdigest()[:16]

    @property
    def is_exchange(self) -> bool:
        """Whether the engine integrates it."""
        return self.fmu.interface == "ModelExchange"

    @cached_property
    def exchange(self) -> ExchangeDescription:
        """Its Model Exchange interface."""
        can = self.description.capabilities
        return describe_exchange(self.described, has_jacobian=can.has_directional_derivatives)

    @property
    def tolerance(self) -> float:
        """Relative tolerance of the integration."""
        given = self.component.options.tolerance
        return DEFAULT_TOLERANCE if given is None else given

    def port(self, name: str) -> Port:
        """Return one of its connectors as the engine transfers it."""
        variable = self.fmu.variables[name]
        return Port(
            name,
            TYPES[variable.type.upper()],
            variable.reference,
            self.description.connectors[name].size,
            variable.is_discrete,
            self.is_exchange and name in self.exchange.continuous,
            variable.clocks,
        )

    def ports(self, names: Sequence[str]) -> list[Port]:
        """Return connectors in the order in which the engine transfers them."""
        known = [self.description.connectors[name] for name in names]
        return [self.port(c.name) for c in (*signal_order(known), *text_order(known))]

    def timers(self) -> list[tuple[int, Timer]]:
        """Time-based clocks that no connection makes tick, with their value references."""
        if not self.description.capabilities.has_event_mode or self.is_exchange:
            return []
        variables = self.fmu.variables
        return [
            (variables[c.name].reference, timer)
            for c in self.description.of(Causality.INPUT)
            if c.name not in self.inputs and (timer := variables[c.name].timer) is not None
        ]

    def starts(self) -> list[tuple[Port, bool, tuple[Value, ...]]]:
        """Values that the system sets: port, whether it is structural, and its elements."""
        return [
            (self.port(name), self.fmu.variables[name].is_structural, elements(value))
            for name, value in self.component.values.items()
        ]

    def is_tunable(self, name: str) -> bool:
        """Whether a parameter may be set while the FMU runs."""
        return name in self._tunable

    @cached_property
    def _tunable(self) -> frozenset[str]:
        return frozenset(
            v.name for v in self.described.modelVariables if v.variability == "tunable"
        )


def elements(value: Value) -> tuple[Any, ...]:
    """Return the elements of a value, one for a scalar."""
    return value if isinstance(value, tuple) else (value,)


def inner_fmus(components: Sequence[Component], schedule: Schedule) -> list[InnerFmu]:
    """Return the inner FMUs in the order of the schedule's members."""
    members = {member.name: member for member in schedule.members}
    early = schedule.events is not None and schedule.events.early_return
    found = []
    for component in components:
        member = members[component.name]
        can = read_fmu(
            Path(component.source.location), component.options.interface
        ).description.capabilities
        found.append(
            InnerFmu(
                component,
                (*member.inputs, *member.text_inputs),
                (*member.outputs, *member.text_outputs),
                early and component.shares_events and can.might_return_early,
            )
        )
    return found
