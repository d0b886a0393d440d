"""A system in which every block, every delay and every gain is an FMU."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from orchestrator.core.coupling import DelayPlan
from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.master import DelayMode, Execution
from orchestrator.core.simunits import Block, Input, Output, Parameter, block, fmu, resolve
from orchestrator.core.system import (
    Causality,
    Component,
    ComponentOptions,
    Connection,
    Connector,
    DataType,
    Endpoint,
    Interpolation,
    MappingTransformation,
    SourceKind,
    System,
    Value,
    factor_and_offset_of,
)
from orchestrator.export import DelayLine, block_as_fmu, element_names
from orchestrator.export.portable.refusals import check_portable


class Gain(Block):
    """Linear function of a signal.

    ========= ========= ======================
    connector causality meaning
    ========= ========= ======================
    u         input     what comes in
    y         output    ``gain u + offset``
    gain      parameter factor
    offset    parameter added after it
    ========= ========= ======================
    """

    u: float = Input(description="What comes in")
    y: float = Output(description="gain u + offset")
    gain: float = Parameter(start=1.0, description="Factor")
    offset: float = Parameter(start=0.0, description="Added after it")

    def step(self, t: float, h: float) -> None:
        """Evaluate; the block has no state."""
        self.y = self.gain * self.u + self.offset


def connector_at(system: System, end: Endpoint) -> Connector:
    """The connector at an end of a connection of a flat system."""
    if not end.component:
        return system.connectors[end.connector]
    return system.components[end.component].connectors[end.connector]


def left_to_tools(system: System) -> list[str]:
    """Name the connections whose values the other tool must change, as SSP asks it to."""
    remarks = []
    for line in system.connections:
        source, target = connector_at(system, line.source), connector_at(system, line.target)
        factor, offset = factor_and_offset_of(line, source, target)
        what = []
        if (factor, offset) != (1.0, 0.0):
            units = "" if source.unit == target.unit else f" ({source.unit} to {target.unit})"
            what.append(f"multiply by {factor:g} and add {offset:g}{units}")
        if isinstance(line.transformation, MappingTransformation):
            what.append("apply a table of values")
        if what:
            remarks.append(
                f"{line}: the tool has to {' and '.join(what)}; FMPy, ecos and libcosim convert no"
                " units, FMPy applies no factors either: for them export with plain connections"
                " (--plain-connections)"
            )
    return remarks


def with_gains(system: System) -> tuple[System, list[str]]:
    """Put a gain into every undelayed line of Reals that changes its values."""
    remarks: list[str] = []
    lines: list[Connection] = []
    made = system
    for line in system.connections:
        source, target = connector_at(system, line.source), connector_at(system, line.target)
        changes = line.delay is None and source.type is DataType.REAL
        factor, offset = factor_and_offset_of(line, source, target) if changes else (1.0, 0.0)
        if (factor, offset) == (1.0, 0.0):
            lines.append(line)
            continue
        if source.shape:
            raise CapabilityError(
                f"connection {line} changes the values of an array, for which there is no gain: use"
                " a block"
            )
        name = f"gain_{len(remarks) + 1}"
        while name in made.components:
            name += "_"
        made = made.add(name, block(Gain), gain=factor, offset=offset)
        lines.append(Connection(line.source, Endpoint(name, "u")))
        lines.append(Connection(Endpoint(name, "y"), line.target))
        remarks.append(
            f"{line}: {name} multiplies by {factor:g} and adds {offset:g}; it is stepped as any"
            " FMU, so the line is one step later"
        )
    return replace(made, connections=tuple(lines)), remarks


@dataclass(frozen=True, slots=True)
class Portable:
    """A system for other tools.

    system: Flat, of FMUs of Co-Simulation only, without delays on connections.
    inside: What our master runs, by Jacobi, to compare with.
    remarks: What a user must know of it, in sentences.
    """

    system: System
    inside: System
    remarks: tuple[str, ...]


def make_portable(
    system: System,
    folder: Path,
    *,
    step_ns: int,
    delay: DelayMode = DelayMode.MEAN,
    plain_connections: bool = False,
) -> Portable:
    """Turn blocks and delays of a system into FMUs of FMI 2.0.

    It is made for an importer that lets all FMUs exchange, then steps them with the inputs held
    (Jacobi): an FMU of a line is read as much ahead of its delay as our master would read it.

    system: Nested or flat.
    folder: Where the new FMUs are written.
    step_ns: Communication step of the importer in nanoseconds.
    delay: Whether loops have the declared delay in all (exact), or its lines have.
    plain_connections: For tools that ignore units and transformations of connections: FMUs take
        their place.
    Raises DescriptionError: what cannot be exported, together; CapabilityError if only our master
        can do it.
    Raises FmuError: if an FMU cannot be built.
    """
    flat = resolve(system).flat()
    inside = flat.without_zero_delays()
    check_portable(inside, delay, plain_connections=plain_connections)
    remarks = [
        f"{line}: a delay of zero asks our master to take its own delay off; here it is none"
        for line, left in zip(flat.connections, inside.connections, strict=True)
        if line.delay != left.delay
    ]
    if plain_connections:
        inside, told = with_gains(inside)
        remarks += told
    else:
        remarks += left_to_tools(inside)
    start_ns = inside.experiment.start_ns
    with Execution(
        inside,
        step=f"{step_ns} ns",
        start=f"{start_ns} ns",
        algorithm="jacobi",
        algorithm_options={},
        rates={},
        delay=delay,
        record=[],
    ) as execution:
        maker = _Maker(inside, folder, step_ns, execution, plain_connections=plain_connections)
        made = maker.make()
    return Portable(made, inside, (*remarks, *maker.remarks))


class _Maker:
    """Makes the parts of one portable system."""

    def __init__(
        self,
        system: System,
        folder: Path,
        step_ns: int,
        execution: Execution,
        *,
        plain_connections: bool,
    ) -> None:
        self._system = system
        self._folder = folder
        self._step_ns = step_ns
        self._execution = execution
        self._plain = plain_connections
        self._plans: dict[Endpoint, DelayPlan] = {
            plan.connection.target: plan for plan in execution.schedule.plans
        }
        self._names: dict[str, str] = {}
        for name in system.components:
            self._names[name] = _free(re.sub(r"\W", "_", name), self._names.values())
        self._parts: dict[str, Component] = {}
        self.remarks: list[str] = []

    def make(self) -> System:
        """Return the whole."""
        for name, component in self._system.components.items():
            self._parts[self._names[name]] = self._part(component)
        lines = tuple(made for line in self._system.connections for made in self._lines(line))
        fed = {line.target for line in lines}
        parts = {name: _without_free_inputs(part, fed) for name, part in self._parts.items()}
        self._remark_on_start()
        experiment = replace(self._system.experiment, step_ns=self._step_ns, algorithm="jacobi")
        return replace(self._system, components=parts, connections=lines, experiment=experiment)

    def _remark_on_start(self) -> None:
        """Name the lines on which tools begin with something else that do not exchange at first."""
        lines = [str(line) for line in self._system.connections if self._begins(line)]
        if lines:
            self.remarks.append(
                "a tool that exchanges nothing before its first step, as FMPy does, begins with 0"
                f" on {', '.join(lines)}"
            )

    def _begins(self, line: Connection) -> bool:
        """Whether anything but zero arrives at the start."""
        source = connector_at(self._system, line.source)
        if source.type.is_text:
            return False
        factor, offset = factor_and_offset_of(line, source, connector_at(self._system, line.target))
        return any(factor * value + offset != 0.0 for value in self._initial(line.source))

    def _part(self, component: Component) -> Component:
        name = self._names[component.name]
        if component.source.kind is SourceKind.FMU:
            return replace(component, name=name)
        built = block_as_fmu(component, self._folder / f"{name}.fmu")
        return replace(built, name=name, options=ComponentOptions(), values=self._held(component))

    def _held(self, component: Component) -> dict[str, Value]:
        """Values of inputs that nothing feeds; the FMU of a block begins with them, too."""
        fed = {line.target for line in self._system.connections}
        found: dict[str, Value] = {}
        for connector in component.of(Causality.INPUT):
            value = component.values.get(connector.name)
            if value is None or Endpoint(component.name, connector.name) in fed:
                continue
            elements = value if isinstance(value, tuple) else (value,)
            names = element_names(connector.name, connector.shape)
            found |= dict(zip(names, elements, strict=True))
        return found

    def _lines(self, line: Connection) -> Iterator[Connection]:
        sources, targets = self._elements(line.source), self._elements(line.target)
        if line.delay is None:
            for source, target in zip(sources, targets, strict=True):
                yield replace(line, source=source, target=target, extrapolation=None)
            return
        place = self._delayed(line)
        signal = connector_at(self._system, line.source)
        for source, target, u, y in zip(
            sources,
            targets,
            element_names("u", signal.shape),
            element_names("y", signal.shape),
            strict=True,
        ):
            yield Connection(source, Endpoint(place, u))
            rest = None if self._plain else line.transformation
            bare = line.suppress_unit_conversion and not self._plain
            yield Connection(
                Endpoint(place, y), target, transformation=rest, suppress_unit_conversion=bare
            )

    def _delayed(self, line: Connection) -> str:
        """Add the FMU of a delayed line, and return its name."""
        if line.delay is None:
            raise TypeError(f"connection {line} has no delay")
        signal = connector_at(self._system, line.source)
        target = connector_at(self._system, line.target)
        plan = self._plans.get(line.target)
        age = line.delay.nominal_ns if plan is None else -plan.shift_ns
        factor, offset, unit = 1.0, 0.0, signal.unit
        if self._plain:
            factor, offset = factor_and_offset_of(line, signal, target)
            unit = target.unit
        made = DelayLine(
            signal,
            line.delay.nominal_ns,
            line.delay.nominal_ns - age,
            self._step_ns,
            Interpolation.HOLD if plan is None else plan.interpolation,
            self._initial(line.source),
            factor,
            offset,
            unit,
        )
        wanted = re.sub(r"\W", "_", f"delayed_{line.target.component}_{line.target.connector}")
        name = _free(wanted, self._parts)
        try:
            built = made.build(name, self._folder / f"{name}.fmu")
        except CapabilityError as error:
            raise CapabilityError(f"connection {line}: its FMU {error}") from None
        self._parts[name] = replace(fmu(built.path), name=name)
        self.remarks.append(
            f"{line}: {name} holds its signal back for {age / 1e6:g} ms, of a delay of"
            f" {line.delay.nominal_ns / 1e6:g} ms, in steps of {self._step_ns / 1e6:g} ms"
        )
        return name

    def _initial(self, source: Endpoint) -> tuple[float, ...]:
        start = connector_at(self._system, source).start
        value: object = self._system.values.get(source.connector, start or 0.0)
        if source.component:
            value = self._execution.get(str(source))
        return tuple(np.ravel(np.asarray(value, dtype=float)).tolist())

    def _elements(self, end: Endpoint) -> list[Endpoint]:
        name = self._names.get(end.component, "")
        shape = connector_at(self._system, end).shape
        return [Endpoint(name, element) for element in element_names(end.connector, shape)]


def _free(wanted: str, taken: Collection[str]) -> str:
    """Find a name that is not taken."""
    name, count = wanted, 1
    while name in taken:
        count += 1
        name = f"{wanted}_{count}"
    return name


def _without_free_inputs(component: Component, fed: Collection[Endpoint]) -> Component:
    """Leave out inputs that nothing feeds, which some tools would set to zero, and locals.

    Values of these inputs stay, in the type that the FMU has.
    """
    connectors = {
        name: connector
        for name, connector in component.connectors.items()
        if connector.causality in {Causality.OUTPUT, Causality.PARAMETER}
        or (connector.causality is Causality.INPUT and Endpoint(component.name, name) in fed)
    }
    values: Mapping[str, Value] = {
        name: float(value)
        if isinstance(value, int) and component.connectors[name].type is DataType.REAL
        else value
        for name, value in component.values.items()
    }
    return replace(component, connectors=connectors, values=values)
