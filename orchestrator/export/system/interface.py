"""The variables of an exported system, and the FMUs inside of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master import Schedule
from orchestrator.core.master.schedule.input_hold import SINK, SOURCE
from orchestrator.core.master.schedule.schedule import NO_OFFSET
from orchestrator.core.simunits import UnitDescription, open_description, read_fmu
from orchestrator.core.simunits.fmi.description_parts import ModelDescription
from orchestrator.core.simunits.fmi.fmu_description import FmuDescription
from orchestrator.core.simunits.fmi.fmu_variable import Timer
from orchestrator.core.simunits.fmi.model_exchange_unit import (
    ExchangeDescription,
    describe_exchange,
)
from orchestrator.core.simunits.protocol import signal_order, text_order
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    DataType,
    Endpoint,
    System,
    Value,
    factor_and_offset_of,
)


class VariablePlace(IntEnum):
    """Where a variable's value lies; the numbers are those of the file (engine/src)."""

    SIGNAL = 0
    INPUT = 1
    PARAMETER = 2


#: Types of FMI 3.0; the numbers are those of the file (engine/src/fmi/ports3.hpp).
Type = IntEnum(
    "Type",
    "FLOAT64 FLOAT32 INT8 UINT8 INT16 UINT16 INT32 UINT32 INT64 UINT64 BOOLEAN CLOCK STRING BINARY",
    start=0,
)


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


class Port(Struct):
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


class ParameterTarget(Struct):
    """Where a parameter's value goes: a variable of an inner FMU, ``factor * value + offset``."""

    fmu: int
    port: Port
    factor: float = 1.0
    offset: float = 0.0


class SystemVariable(Struct):
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


class InnerFmu(Struct, dict=True):
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
        connectors = [self.description.connectors[name] for name in names]
        return [self.port(c.name) for c in (*signal_order(connectors), *text_order(connectors))]

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

    @cached_property
    def tunable(self) -> frozenset[str]:
        """Parameters that may be set while the FMU runs."""
        return frozenset(
            v.name for v in self.described.modelVariables if v.variability == "tunable"
        )


def elements(value: Value) -> tuple[Any, ...]:
    """Return the elements of a value, one for a scalar."""
    return value if isinstance(value, tuple) else (value,)


def inner_fmus(flat: System, schedule: Schedule) -> list[InnerFmu]:
    """Return the inner FMUs in the order of the schedule's members."""
    early_return = schedule.events is not None and schedule.events.early_return
    inner = []
    for member in schedule.members:
        if member.name in (SOURCE, SINK):
            continue
        component = flat.components[member.name]
        described = read_fmu(Path(component.source.location), component.options.interface)
        can = described.description.capabilities
        inner.append(
            InnerFmu(
                component,
                (*member.inputs, *member.text_inputs),
                (*member.outputs, *member.text_outputs),
                early_return and component.shares_events and can.might_return_early,
            )
        )
    return inner


_NOTHING: Mapping[DataType, Value] = {
    DataType.REAL: 0.0,
    DataType.INTEGER: 0,
    DataType.BOOLEAN: False,
    DataType.STRING: "",
    DataType.BINARY: b"",
}


class InterfaceBuilder:
    """Makes the list of variables.

    system: Flat and resolved, with its own connectors.
    schedule, fmus: As compiled, with all outputs in the buffer.
    """

    def __init__(self, system: System, schedule: Schedule, fmus: Sequence[InnerFmu]) -> None:
        self._system = system
        self._fmus = fmus
        self._slots = {name: slot for name, (slot, _) in schedule.slots.items()}
        for member in schedule.members:
            is_own = member.name in (SOURCE, SINK)
            connectors = (system if is_own else system.components[member.name]).connectors.values()
            self._add_texts(member.name, connectors, member.text_inputs, member.text_input_offset)
            self._add_texts(member.name, connectors, member.text_outputs, member.text_output_offset)
        self._fed = {line.target for line in system.connections}

    def _add_texts(
        self, member: str, connectors: Iterable[Connector], names: Sequence[str], first: int
    ) -> None:
        for connector in text_order(c for c in connectors if c.name in names):
            self._slots[f"{member}.{connector.name}"] = first
            first += connector.size

    def variables(self, *, arrays: bool) -> list[SystemVariable]:
        """Return all variables; the own connectors come first.

        Without arrays, parameters of inner FMUs that are arrays or Integers of more than 32 bits
        keep their values and cannot be set, and Binary outputs inside cannot be read.
        """
        own_variables = list(self._system_variables())
        inner = [*self._outputs(), *self._parameters()]
        problems = []
        if not arrays:
            problems += [
                f"'{variable.name}': FMI 2.0 has no {lack}; export for FMI 3 (--fmi 3)"
                for variable in own_variables
                if (lack := _beyond_fmi2(variable))
            ]
            inner = [variable for variable in inner if not _beyond_fmi2(variable)]
        variables = [*own_variables, *inner]
        problems += [
            f"output '{name}' of system '{self._system.name}' has no source; connect one"
            for name, connector in self._system.connectors.items()
            if connector.causality is Causality.OUTPUT and Endpoint("", name) not in self._fed
        ]
        if not arrays:
            variables = [part for variable in variables for part in _scalars(variable)]
        names: set[str] = set()
        for variable in variables:
            if variable.name in names:
                problems.append(
                    f"two variables of the FMU would be called '{variable.name}': a dot stands"
                    " between systems, components and connectors; rename one of them"
                )
            names.add(variable.name)
        if problems:
            raise DescriptionError(*problems)
        return variables

    def _system_variables(self) -> Iterator[SystemVariable]:
        for connector in self._system.connectors.values():
            moving = "continuous" if connector.type is DataType.REAL else "discrete"
            value = self._system.values.get(connector.name, connector.start)
            start = elements(_NOTHING[connector.type] if value is None else value)
            if value is None:
                start *= connector.size
            name = connector.name
            if connector.causality is Causality.INPUT:
                slot = self._slots.get(f"{SOURCE}.{name}", -1)
                yield SystemVariable(
                    name, "input", moving, VariablePlace.INPUT, connector, slot, start
                )
            elif connector.causality is Causality.OUTPUT:
                slot = self._slots.get(f"{SINK}.{name}", -1)
                yield SystemVariable(name, "output", moving, VariablePlace.SIGNAL, connector, slot)
            elif connector.causality is Causality.PARAMETER:
                targets, tunable = self._targets(connector)
                start = self._start_values(targets, start)
                yield _parameter(name, connector, start, targets, tunable=tunable)

    def _targets(self, parameter: Connector) -> tuple[tuple[ParameterTarget, ...], bool]:
        numbers = {fmu.component.name: i for i, fmu in enumerate(self._fmus)}
        targets, tunable = [], True
        for line in self._system.connections:
            if line.source != Endpoint("", parameter.name) or not line.target.component:
                continue
            inner = self._fmus[numbers[line.target.component]]
            last = inner.description.connectors[line.target.connector]
            factor, offset = factor_and_offset_of(line, parameter, last)
            linear = factor, offset or NO_OFFSET
            port = inner.port(line.target.connector)
            targets.append(ParameterTarget(numbers[line.target.component], port, *linear))
            tunable = tunable and line.target.connector in inner.tunable
        return tuple(targets), tunable and bool(targets)

    def _start_values(
        self, targets: Sequence[ParameterTarget], start: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Start values of an own parameter: a value that a component sets itself wins."""
        for target in targets:
            value = self._fmus[target.fmu].component.values.get(target.port.name)
            if value is not None and (target.factor, target.offset) == (1.0, 0.0):
                return elements(value)
            if value is not None:
                return tuple((v - (target.offset or 0.0)) / target.factor for v in elements(value))
        return start

    def _outputs(self) -> Iterator[SystemVariable]:
        for inner in self._fmus:
            for output in inner.description.of(Causality.OUTPUT):
                name = f"{inner.component.name}.{output.name}"
                if name in self._slots and output.type is not DataType.CLOCK:
                    moving = "continuous" if output.type is DataType.REAL else "discrete"
                    location, dotted = VariablePlace.SIGNAL, name.replace("/", ".")
                    yield SystemVariable(
                        dotted, "local", moving, location, output, self._slots[name]
                    )

    def _parameters(self) -> Iterator[SystemVariable]:
        """Parameters that nothing sets, and inputs that nothing is connected to."""
        for number, inner in enumerate(self._fmus):
            name = inner.component.name
            for connector in inner.description.connectors.values():
                free = Endpoint(name, connector.name) not in self._fed
                held = connector.causality is Causality.INPUT
                value = inner.component.values.get(connector.name, connector.start)
                is_included = held or connector.causality is Causality.PARAMETER
                structural = (
                    inner.fmu.variables[connector.name].is_structural if is_included else False
                )
                is_clock = connector.type is DataType.CLOCK
                if not (is_included and free) or structural or value is None or is_clock:
                    continue
                tunable = held or connector.name in inner.tunable
                dotted = f"{name}.{connector.name}".replace("/", ".")
                target = ParameterTarget(number, inner.port(connector.name))
                yield _parameter(dotted, connector, elements(value), (target,), tunable=tunable)


def _parameter(
    name: str,
    connector: Connector,
    start: tuple[Any, ...],
    targets: tuple[ParameterTarget, ...],
    *,
    tunable: bool,
) -> SystemVariable:
    return SystemVariable(
        name,
        "parameter",
        "tunable" if tunable else "fixed",
        VariablePlace.PARAMETER,
        connector,
        start=start,
        is_tunable=tunable,
        targets=targets,
    )


def _beyond_fmi2(variable: SystemVariable) -> str | None:
    """Name what FMI 2.0 does not have."""
    if variable.connector.type is DataType.BINARY:
        return "Binary variables"
    if variable.connector.type is DataType.INTEGER and any(
        not -(2**31) <= value < 2**31 for value in variable.start if isinstance(value, int)
    ):
        return "Integers of more than 32 bits"
    is_array = variable.kind is VariablePlace.PARAMETER and variable.connector.shape
    return "array parameters" if is_array else None


def _scalars(variable: SystemVariable) -> Iterator[SystemVariable]:
    """Return the elements of an array as variables of their own, counted from 1."""
    shape = variable.connector.shape
    if not shape:
        yield variable
        return
    for number, index in enumerate(product(*(range(1, size + 1) for size in shape))):
        yield replace(
            variable,
            name=f"{variable.name}[{','.join(map(str, index))}]",
            connector=replace(variable.connector, shape=(), start=None),
            slot=variable.slot + number if variable.slot >= 0 else -1,
            start=variable.start[number : number + 1],
        )
