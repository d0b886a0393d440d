"""The variables of an exported system: its own connectors, and what is inside of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.master import Schedule
from orchestrator.core.master.schedule.input_hold import SINK, SOURCE
from orchestrator.core.simunits.protocol import text_order
from orchestrator.core.system import (
    Causality,
    Connector,
    DataType,
    Endpoint,
    System,
    Value,
    factor_and_offset_of,
)
from orchestrator.export.system.inner_fmu import (
    InnerFmu,
    ParameterTarget,
    SystemVariable,
    VariablePlace,
    elements,
)

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
        known = {**system.components}
        own = list(system.connectors.values())
        for member in schedule.members:
            if member.name in (SOURCE, SINK):
                inputs, outputs = own, own
            else:
                inputs = outputs = list(known[member.name].connectors.values())
            self._add_texts(member.name, inputs, member.text_inputs, member.text_input_offset)
            self._add_texts(member.name, outputs, member.text_outputs, member.text_output_offset)
        self._fed = {line.target for line in system.connections}

    def _add_texts(
        self, member: str, known: Sequence[Connector], names: Sequence[str], first: int
    ) -> None:
        for connector in text_order(c for c in known if c.name in names):
            self._slots[f"{member}.{connector.name}"] = first
            first += connector.size

    def variables(self, *, arrays: bool) -> list[SystemVariable]:
        """Return all variables; the own connectors come first.

        Without arrays, parameters of inner FMUs that are arrays or Integers of more than 32 bits
        keep their values and cannot be set, and Binary outputs inside cannot be read.
        """
        own = list(self._own())
        inner = [*self._outputs(), *self._parameters()]
        problems = []
        if not arrays:
            problems += [
                f"'{variable.name}': FMI 2.0 has no {lack}; export for FMI 3 (--fmi 3)"
                for variable in own
                if (lack := _beyond_fmi2(variable))
            ]
            inner = [variable for variable in inner if not _beyond_fmi2(variable)]
        found = [*own, *inner]
        problems += [
            f"output '{name}' of system '{self._system.name}' has no source; connect one"
            for name, connector in self._system.connectors.items()
            if connector.causality is Causality.OUTPUT and Endpoint("", name) not in self._fed
        ]
        if not arrays:
            found = [part for variable in found for part in _scalars(variable)]
        seen: set[str] = set()
        for variable in found:
            if variable.name in seen:
                problems.append(
                    f"two variables of the FMU would be called '{variable.name}': a dot stands"
                    " between systems, components and connectors; rename one of them"
                )
            seen.add(variable.name)
        if problems:
            raise DescriptionError(*problems)
        return found

    def _own(self) -> Iterator[SystemVariable]:
        for connector in self._system.connectors.values():
            moving = "continuous" if connector.type is DataType.REAL else "discrete"
            value = self._system.values.get(connector.name, connector.start)
            start = elements(_NOTHING[connector.type] if value is None else value)
            if value is None:
                start *= connector.size
            if connector.causality is Causality.INPUT:
                slot = self._slots.get(f"{SOURCE}.{connector.name}", -1)
                yield SystemVariable(
                    connector.name, "input", moving, VariablePlace.INPUT, connector, slot, start
                )
            elif connector.causality is Causality.OUTPUT:
                slot = self._slots.get(f"{SINK}.{connector.name}", -1)
                yield SystemVariable(
                    connector.name, "output", moving, VariablePlace.SIGNAL, connector, slot
                )
            elif connector.causality is Causality.PARAMETER:
                targets, tunable = self._targets(connector)
                start = self._given(targets, start)
                yield SystemVariable(
                    connector.name,
                    "parameter",
                    "tunable" if tunable else "fixed",
                    VariablePlace.PARAMETER,
                    connector,
                    start=start,
                    is_tunable=tunable,
                    targets=targets,
                )

    def _targets(self, own: Connector) -> tuple[tuple[ParameterTarget, ...], bool]:
        numbers = {fmu.component.name: i for i, fmu in enumerate(self._fmus)}
        targets, tunable = [], True
        for line in self._system.connections:
            if line.source != Endpoint("", own.name) or not line.target.component:
                continue
            inner = self._fmus[numbers[line.target.component]]
            last = inner.description.connectors[line.target.connector]
            factor, offset = factor_and_offset_of(line, own, last)
            port = inner.port(line.target.connector)
            targets.append(ParameterTarget(numbers[line.target.component], port, factor, offset))
            tunable = tunable and inner.is_tunable(line.target.connector)
        return tuple(targets), tunable and bool(targets)

    def _given(self, targets: Sequence[ParameterTarget], start: tuple[Any, ...]) -> tuple[Any, ...]:
        """Start values of an own parameter: a value that a component sets itself wins."""
        for target in targets:
            value = self._fmus[target.fmu].component.values.get(target.port.name)
            if value is not None and (target.factor, target.offset) == (1.0, 0.0):
                return elements(value)
            if value is not None:
                return tuple((v - target.offset) / target.factor for v in elements(value))
        return start

    def _outputs(self) -> Iterator[SystemVariable]:
        for inner in self._fmus:
            for output in inner.description.of(Causality.OUTPUT):
                name = f"{inner.component.name}.{output.name}"
                if name in self._slots and output.type is not DataType.CLOCK:
                    moving = "continuous" if output.type is DataType.REAL else "discrete"
                    slot = self._slots[name]
                    yield SystemVariable(
                        _dotted(name), "local", moving, VariablePlace.SIGNAL, output, slot
                    )

    def _parameters(self) -> Iterator[SystemVariable]:
        """Parameters that nothing sets, and inputs that nothing is connected to."""
        for number, inner in enumerate(self._fmus):
            name = inner.component.name
            for connector in inner.description.connectors.values():
                free = Endpoint(name, connector.name) not in self._fed
                held = connector.causality is Causality.INPUT
                value = inner.component.values.get(connector.name, connector.start)
                wanted = held or connector.causality is Causality.PARAMETER
                structural = inner.fmu.variables[connector.name].is_structural if wanted else False
                if not (wanted and free) or structural or value is None:
                    continue
                if connector.type is DataType.CLOCK:
                    continue
                tunable = held or inner.is_tunable(connector.name)
                yield SystemVariable(
                    _dotted(f"{name}.{connector.name}"),
                    "parameter",
                    "tunable" if tunable else "fixed",
                    VariablePlace.PARAMETER,
                    connector,
                    start=elements(value),
                    is_tunable=tunable,
                    targets=(ParameterTarget(number, inner.port(connector.name)),),
                )


def _dotted(name: str) -> str:
    return name.replace("/", ".")


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
