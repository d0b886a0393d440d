"""Systems for other tools: every block, every delay and every gain is an FMU."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from lxml import etree

from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import CapabilityError, DescriptionError, FmuError, SspError
from orchestrator.core.files.archive import numbered, plain_entry, write_error
from orchestrator.core.master import Execution
from orchestrator.core.simunits import Block, Input, Output, Parameter, block, fmu, fmu_of, resolve
from orchestrator.core.ssp import write_ssp
from orchestrator.core.ssp.common.annotations import seconds_text
from orchestrator.core.structs import Struct, replace
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
from orchestrator.core.system.line_attributes import attributes_on
from orchestrator.export import DelayLine, block_as_fmu, element_names


def _refusals(system: System, delay: DelayMode, *, plain_connections: bool) -> Iterator[str]:
    """All that keeps a flat system from being exported for other tools."""
    for component in system.components.values():
        location = f"component '{component.name}'"
        if component.source.kind is SourceKind.FMU:
            described = fmu_of(component)
            if described.interface == "ModelExchange":
                yield (
                    f"{location} ({component.source}) is run as Model Exchange; other tools step"
                    " FMUs of Co-Simulation: export it for that, or leave out interface = 'me'"
                )
        elif component.source.kind is not SourceKind.BLOCK:
            yield f"{location} is made from {component.source}; expected an FMU or a block"
    for line in system.connections:
        yield from _line_refusals(line, system, plain_connections=plain_connections)
    if delay is DelayMode.WAVEFORM:
        yield "delay = 'waveform': other tools hold inputs over a step; expected 'mean' or 'plain'"


def _line_refusals(line: Connection, system: System, *, plain_connections: bool) -> Iterator[str]:
    location = f"connection {line}"
    if line.is_predicted:
        yield (
            f"{location} predicts its input ('{line.extrapolation}'), which only our master does:"
            " leave the extrapolation out"
        )
    yield from (
        f"{location} has the {attribute.name} '{attribute.text(value)}', which only our master"
        " does: leave it out"
        for attribute, value in attributes_on(line)
        if not attribute.is_portable
    )
    if line.delay is not None and line.delay.variation is not None:
        yield (
            f"{location} has a delay that varies; an FMU of a connection has a constant one: remove"
            " it"
        )
    if line.interpolation is Interpolation.SLERP:
        yield f"{location} is interpolated by slerp; its FMU would do hold, linear and cubic only"
    is_table = isinstance(line.transformation, MappingTransformation)
    if plain_connections and is_table:
        yield f"{location} has a table of values, for which there is no FMU: use a block"
    for end in (line.source, line.target):
        component = system.components.get(end.component)
        if component is None:
            continue
        connector = component.connectors[end.connector]
        if connector.type.is_text and component.source.kind is SourceKind.BLOCK:
            yield f"{location} carries {connector.type}s of a block, and its FMU has numbers only"
        if connector.shape and component.source.kind is SourceKind.FMU:
            yield (
                f"{location} carries an array of {component.source}; SSP 1.0 has no arrays: use the"
                " FMI 2.0 form of that FMU, with scalars"
            )


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


def _connector_at(system: System, end: Endpoint) -> Connector:
    """The connector at an end of a connection of a flat system."""
    if not end.component:
        return system.connectors[end.connector]
    return system.components[end.component].connectors[end.connector]


def _ends(system: System, line: Connection) -> tuple[Connector, Connector]:
    return _connector_at(system, line.source), _connector_at(system, line.target)


def left_to_tools(system: System) -> list[str]:
    """Name the connections whose values the other tool must change, as SSP asks it to."""
    remarks = []
    for line in system.connections:
        source, target = _ends(system, line)
        factor, offset = factor_and_offset_of(line, source, target)
        reasons = []
        if (factor, offset) != (1.0, 0.0):
            units = "" if source.unit == target.unit else f" ({source.unit} to {target.unit})"
            reasons.append(f"multiply by {factor:g} and add {offset:g}{units}")
        if isinstance(line.transformation, MappingTransformation):
            reasons.append("apply a table of values")
        if reasons:
            remarks.append(
                f"{line}: the tool has to {' and '.join(reasons)}; FMPy, ecos and libcosim convert"
                " no units, FMPy applies no factors either: for them export with plain connections"
                " (--plain-connections)"
            )
    return remarks


def _with_gains(system: System) -> tuple[System, list[str]]:
    """Put a gain into every undelayed line of Reals that changes its values."""
    remarks: list[str] = []
    lines: list[Connection] = []
    extended = system
    for line in system.connections:
        source, target = _ends(system, line)
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
        while name in extended.components:
            name += "_"
        extended = extended.add(name, block(Gain), gain=factor, offset=offset)
        lines.append(Connection(line.source, Endpoint(name, "u")))
        lines.append(Connection(Endpoint(name, "y"), line.target))
        remarks.append(
            f"{line}: {name} multiplies by {factor:g} and adds {offset:g}; it is stepped as any"
            " FMU, so the connection is one step later"
        )
    return replace(extended, connections=tuple(lines)), remarks


class Portable(Struct):
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
    refused = list(_refusals(inside, delay, plain_connections=plain_connections))
    if refused:
        raise DescriptionError.collect(list(map(CapabilityError, refused)))
    remarks = [
        f"{line}: a delay of zero asks our master to take its own delay off; here it is none"
        for line, inner_line in zip(flat.connections, inside.connections, strict=True)
        if line.delay != inner_line.delay
    ]
    remarks += [
        f"component '{name}' runs the library of its FMU for {component.options.platform}: other"
        " tools run this archive on that platform only"
        for name, component in flat.components.items()
        if component.options.platform is not None
    ]
    if plain_connections:
        inside, new_remarks = _with_gains(inside)
        remarks += new_remarks
    else:
        remarks += left_to_tools(inside)
    with Execution(
        inside,
        step=f"{step_ns} ns",
        start=f"{inside.experiment.start_ns} ns",
        algorithm="jacobi",
        algorithm_options={},
        rates={},
        delay=delay,
        record=[],
    ) as execution:
        maker = _Maker(inside, folder, step_ns, execution)
        portable = maker.make(plain=plain_connections)
    return Portable(portable, inside, (*remarks, *maker.remarks))


class _Maker:
    """Makes the parts of one portable system."""

    def __init__(self, system: System, folder: Path, step_ns: int, execution: Execution) -> None:
        self._system, self._folder, self._step_ns = system, folder, step_ns
        self._execution = execution
        self._plans = {plan.connection.target: plan for plan in execution.schedule.plans}
        self._fed = {line.target for line in system.connections}
        self._names: dict[str, str] = {}
        for name in system.components:
            self._names[name] = _free(re.sub(r"\W", "_", name), self._names.values())
        self._parts: dict[str, Component] = {}
        self.remarks: list[str] = []

    def make(self, *, plain: bool) -> System:
        """The whole; plain: FMUs take the place of units and transformations of connections."""
        lines = self._system.connections
        for name, component in self._system.components.items():
            self._parts[self._names[name]] = self._part(component)
        connections = tuple(part for line in lines for part in self._lines(line, plain=plain))
        fed = {line.target for line in connections}
        parts = {name: _without_free_inputs(part, fed) for name, part in self._parts.items()}
        if begun := ", ".join(str(line) for line in lines if self._begins(line)):
            self.remarks.append(
                "a tool that exchanges nothing before its first step, as FMPy does, begins with 0"
                f" on {begun}"
            )
        experiment = replace(self._system.experiment, step_ns=self._step_ns, algorithm="jacobi")
        return replace(
            self._system, components=parts, connections=connections, experiment=experiment
        )

    def _begins(self, line: Connection) -> bool:
        """Whether anything but zero arrives at the start."""
        source, target = _ends(self._system, line)
        if source.type.is_text:
            return False
        factor, offset = factor_and_offset_of(line, source, target)
        return any(factor * value + offset != 0.0 for value in self._initial(line.source))

    def _part(self, component: Component) -> Component:
        name = self._names[component.name]
        if component.source.kind is SourceKind.FMU:
            return replace(component, name=name)
        built = block_as_fmu(component, self._folder / f"{name}.fmu")
        return replace(built, name=name, options=ComponentOptions(), values=self._held(component))

    def _held(self, component: Component) -> dict[str, Value]:
        """Values of inputs that nothing feeds; the FMU of a block begins with them, too."""
        values: dict[str, Value] = {}
        for connector in component.of(Causality.INPUT):
            value = component.values.get(connector.name)
            if value is not None and Endpoint(component.name, connector.name) not in self._fed:
                elements = value if isinstance(value, tuple) else (value,)
                names = element_names(connector.name, connector.shape)
                values |= dict(zip(names, elements, strict=True))
        return values

    def _lines(self, line: Connection, *, plain: bool) -> Iterator[Connection]:
        sources, targets = self._elements(line.source), self._elements(line.target)
        if line.delay is None:
            for source, target in zip(sources, targets, strict=True):
                yield replace(line, source=source, target=target, extrapolation=None)
            return
        delay_name = self._delayed(line, line.delay.nominal_ns, plain=plain)
        shape = _connector_at(self._system, line.source).shape
        transformation = None if plain else line.transformation
        bare = line.suppress_unit_conversion and not plain
        ends = (sources, targets, element_names("u", shape), element_names("y", shape))
        for source, target, u, y in zip(*ends, strict=True):
            yield Connection(source, Endpoint(delay_name, u))
            yield Connection(
                Endpoint(delay_name, y),
                target,
                transformation=transformation,
                suppress_unit_conversion=bare,
            )

    def _delayed(self, line: Connection, delay_ns: int, *, plain: bool) -> str:
        """Add the FMU of a delayed line, and return its name."""
        signal, target = _ends(self._system, line)
        plan = self._plans.get(line.target)
        age_ns = delay_ns if plan is None else -plan.shift_ns
        factor, offset, unit = 1.0, 0.0, signal.unit
        if plain:
            factor, offset = factor_and_offset_of(line, signal, target)
            unit = target.unit
        delay_line = DelayLine(
            signal,
            delay_ns,
            delay_ns - age_ns,
            self._step_ns,
            Interpolation.HOLD if plan is None else plan.interpolation,
            self._initial(line.source),
            factor,
            offset,
            unit,
        )
        free_name = re.sub(r"\W", "_", f"delayed_{line.target.component}_{line.target.connector}")
        name = _free(free_name, self._parts)
        try:
            built = delay_line.build(name, self._folder / f"{name}.fmu")
        except CapabilityError as error:
            raise CapabilityError(f"connection {line}: its FMU {error}") from None
        self._parts[name] = replace(fmu(built.path), name=name)
        self.remarks.append(
            f"{line}: {name} holds its signal back for {age_ns / 1e6:g} ms, of a delay of"
            f" {delay_ns / 1e6:g} ms, in steps of {self._step_ns / 1e6:g} ms"
        )
        return name

    def _initial(self, source: Endpoint) -> tuple[float, ...]:
        start = _connector_at(self._system, source).start
        value: object = self._system.values.get(source.connector, start or 0.0)
        if source.component:
            value = self._execution.get(str(source))
        return tuple(np.ravel(np.asarray(value, dtype=float)).tolist())

    def _elements(self, end: Endpoint) -> list[Endpoint]:
        name = self._names.get(end.component, "")
        shape = _connector_at(self._system, end).shape
        return [Endpoint(name, element) for element in element_names(end.connector, shape)]


def _free(base: str, taken: Collection[str]) -> str:
    """Find a name that is not taken."""
    return next(name for name in numbered(base) if name not in taken)


def _without_free_inputs(component: Component, fed: Collection[Endpoint]) -> Component:
    """Leave out inputs that nothing feeds, which some tools would set to zero, and locals."""
    connectors = {
        name: connector
        for name, connector in component.connectors.items()
        if connector.causality in {Causality.OUTPUT, Causality.PARAMETER}
        or (connector.causality is Causality.INPUT and Endpoint(component.name, name) in fed)
    }
    values: Mapping[str, Value] = {  # also of these inputs, in the type that the FMU has
        name: float(value)
        if isinstance(value, int) and component.connectors[name].type is DataType.REAL
        else value
        for name, value in component.values.items()
    }
    return replace(component, connectors=connectors, values=values)


#: Name of all parameter sets, as ecos applies those of one name; and of the file of all of them,
#: for tools that do not read the bindings inside the .ssd.
_PARAMETER_SET: Final = "parameters"
_SSP: Final = "http://ssp-standard.org/SSP1/SystemStructure"
_OMS: Final = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"
_SSV_TYPES: Final = {bool: "Boolean", int: "Integer", float: "Real"}
_TOLERANCE: Final = "1e-06"  # of its master; FMUs have their own


def _for_peers(document: bytes, step_ns: int) -> bytes:
    """Give all parameter sets of an .ssd one name, and say to OMSimulator how it is stepped."""
    root = etree.fromstring(document)
    for parameter_set in root.iter(f"{{{_SSP}ParameterValues}}ParameterSet"):
        parameter_set.set("name", _PARAMETER_SET)
    system = root.find(f"{{{_SSP}Description}}System")
    if system is not None:
        group = system.find(f"{{{_SSP}Description}}Annotations")
        if group is None:
            group = etree.SubElement(system, f"{{{_SSP}Description}}Annotations")
        annotation = etree.Element(f"{{{_SSP}Common}}Annotation", type="org.openmodelica")
        group.insert(0, annotation)  # OMSimulator looks at the first one, with its own prefix
        annotations = etree.SubElement(annotation, f"{{{_OMS}}}Annotations", nsmap={"oms": _OMS})
        stepped = etree.SubElement(annotations, f"{{{_OMS}}}SimulationInformation")
        etree.SubElement(
            stepped,
            f"{{{_OMS}}}FixedStepMaster",
            description="oms-ma",
            stepSize=seconds_text(step_ns),
            relativeTolerance=_TOLERANCE,
        )
    etree.indent(root)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def write_portable_ssp(
    system: System,
    path: str | Path,
    *,
    step_ns: int,
    delay: DelayMode = DelayMode.MEAN,
    plain_connections: bool = False,
) -> Portable:
    """Write a system as an .ssp with FMUs and plain connections only.

    Parameters
    ----------
    system, step_ns, delay, plain_connections
        As for :func:`make_portable`.
    path
        The archive.

    Raises
    ------
    DescriptionError, FmuError
        As :func:`make_portable`.
    SspError
        If the archive cannot be written; an old one is untouched.
    """
    path = Path(path)
    try:
        with TemporaryDirectory(prefix=".ssp-", dir=path.parent) as folder:
            target = Path(folder)
            portable = make_portable(
                system,
                target,
                step_ns=step_ns,
                delay=delay,
                plain_connections=plain_connections,
            )
            archive = target / path.name
            adapt = partial(_for_peers, step_ns=step_ns)
            write_ssp(portable.system, archive, version="1.0", adapt=adapt)
            with zipfile.ZipFile(archive, "a") as zipped:
                entry = plain_entry(f"{_PARAMETER_SET}.ssv")
                zipped.writestr(entry, _parameters(portable.system))
            archive.replace(path)  # the same file system: all or nothing
    except (OSError, FmuError, SspError) as error:
        if (cause := write_error(error)) is None:
            raise
        raise SspError(f"cannot write '{path}': {cause.strerror or cause}") from error
    return portable


def _parameters(system: System) -> bytes:
    """Values that differ from those of the FMUs as an .ssv, called ``component.parameter``."""
    ssv = f"{_SSP}ParameterValues"
    root = etree.Element(
        f"{{{ssv}}}ParameterSet", {"version": "1.0", "name": _PARAMETER_SET}, {"ssv": ssv}
    )
    group = etree.SubElement(root, f"{{{ssv}}}Parameters")
    for name, component in system.components.items():
        connectors = fmu(component.source.location).connectors
        for key, value in component.values.items():
            if connectors[key].start != value:
                parameter = etree.SubElement(group, f"{{{ssv}}}Parameter", name=f"{name}.{key}")
                kind = _SSV_TYPES.get(type(value), "String")
                text = str(value).lower() if kind == "Boolean" else str(value)
                etree.SubElement(parameter, f"{{{ssv}}}{kind}", value=text)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
