"""Writing of a system as an SSD file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lxml import etree

from orchestrator.errors import CapabilityError, DescriptionError
from orchestrator.ssp.annotations import add_experiment
from orchestrator.ssp.files import replacing
from orchestrator.ssp.line_annotations import add_line
from orchestrator.ssp.names import BLOCK_TYPE, FMU_TYPE, NAMESPACES, add, full
from orchestrator.ssp.parameters import add_bindings, real_text
from orchestrator.ssp.schema import Schema, check
from orchestrator.ssp.sources import block_uri, fmu_path, relative_uri, unknown_end
from orchestrator.ssp.unit_definitions import add_units
from orchestrator.system import (
    Component,
    Connection,
    Connector,
    DataType,
    LinearTransformation,
    SourceKind,
    System,
)
from orchestrator.system.units import base_unit

_USED = ("ssc", "ssd", "ssv", "sd")


def write_ssd(system: System, path: str | Path) -> None:
    """Write a system as an .ssd file, with the FMUs' paths relative to it.

    Equal systems give equal bytes, as long as their components stand in the same order.

    Raises
    ------
    DescriptionError
        All that SSP 1.0 cannot hold, together; CapabilityError if it is only arrays.
    SspError
        If the file cannot be written; an old file is untouched.
    """
    path = Path(path)
    content = document(system, lambda fmu: relative_uri(fmu_path(fmu), path.parent))
    with replacing(path) as file:
        file.write(content)


def document(system: System, fmu_uri: Callable[[Component], str]) -> bytes:
    """Return the text of a system's SSD.

    Parameters
    ----------
    system
        The system.
    fmu_uri
        Gives the source of an FMU component.
    """
    root = etree.Element(
        full(Schema.DESCRIPTION), nsmap={prefix: NAMESPACES[prefix] for prefix in _USED}
    )
    problems: list[DescriptionError] = []
    this = f"system '{system.name}'"
    with _gather(problems, this):
        _head(root, system)
    top = add(root, "ssd:System")
    with _gather(problems, this):
        _name(top, system)
    elements = add(top, "ssd:Elements") if system.components else top
    for component in system.components.values():
        with _gather(problems, f"component '{component.name}' ({component.source})"):
            _component(elements, component, fmu_uri)
    connectors = {name: part.connectors for name, part in system.components.items()}
    lines = add(top, "ssd:Connections") if system.connections else top
    for line in system.connections:
        with _gather(problems, f"connection {line}"):
            _connection(lines, line, connectors)
    if not problems:
        add_units(root, "ssd:Units", _units(system))
    with _gather(problems, this):
        add_experiment(root, system.experiment)
    _raise(problems)
    etree.indent(root)
    check(root, Schema.DESCRIPTION, this)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


@contextmanager
def _gather(problems: list[DescriptionError], what: str) -> Iterator[None]:
    """Collect the errors raised inside, with what they are about put before them."""
    try:
        yield
    except DescriptionError as error:
        problems.append(type(error)(*(f"{what}: {text}" for text in error.problems)))
    except ValueError as error:  # lxml: a control character or half a surrogate pair
        problems.append(DescriptionError(f"{what}: XML cannot hold its text: {error}"))


def _raise(problems: list[DescriptionError]) -> None:
    """Raise problems together; the class is kept where they all have the same."""
    kinds = {type(problem) for problem in problems}
    if len(kinds) == 1:
        raise kinds.pop()(*(text for problem in problems for text in problem.problems))
    if problems:
        raise DescriptionError.collect(problems)


def _head(root: etree._Element, system: System) -> None:
    root.set("version", "1.0")
    root.set("name", system.name)
    root.set("generationTool", "Softdock")


def _name(top: etree._Element, system: System) -> None:
    if not system.name:
        raise DescriptionError("SSP 1.0 does not allow an empty name")
    top.set("name", system.name)
    if system.description:
        top.set("description", system.description)


def _units(system: System) -> set[str]:
    connectors = (c for part in system.components.values() for c in part.connectors.values())
    return {connector.unit for connector in connectors if connector.unit is not None}


def _component(
    elements: etree._Element, component: Component, fmu_uri: Callable[[Component], str]
) -> None:
    is_fmu = component.source.kind is SourceKind.FMU
    element = add(
        elements,
        "ssd:Component",
        name=component.name,
        type=FMU_TYPE if is_fmu else BLOCK_TYPE,
        source=fmu_uri(component) if is_fmu else block_uri(component),
    )
    problems: list[DescriptionError] = []
    if component.connectors:
        connectors = add(element, "ssd:Connectors")
        for connector in component.connectors.values():
            with _gather(problems, f"connector '{connector.name}'"):
                _connector(connectors, connector)
    with _gather(problems, "values"):
        add_bindings(element, component)
    _raise(problems)


def _connector(connectors: etree._Element, connector: Connector) -> None:
    if connector.shape:
        raise CapabilityError(
            f"is an array of shape {connector.shape}; SSP 1.0 has no arrays: use scalar connectors"
        )
    if connector.type in {DataType.BINARY, DataType.CLOCK}:
        raise CapabilityError(
            f"is a {connector.type}; Real, Integer, Boolean and String connectors are written:"
            " leave it out"
        )
    element = add(connectors, "ssd:Connector", name=connector.name, kind=str(connector.causality))
    if connector.description:
        element.set("description", connector.description)
    typed = add(element, f"ssc:{connector.type}")
    if connector.unit is None:
        return
    if connector.type is not DataType.REAL:
        raise CapabilityError(
            f"is of type {connector.type} in {connector.unit};"
            " SSP 1.0 has units of Real connectors only"
        )
    base_unit(connector.unit)
    typed.set("unit", connector.unit)


def _connection(
    lines: etree._Element, line: Connection, connectors: Mapping[str, Mapping[str, Connector]]
) -> None:
    for end in (line.source, line.target):
        unknown = unknown_end(connectors, end.component, end.connector)
        if unknown:
            raise DescriptionError(unknown)
    element = add(
        lines,
        "ssd:Connection",
        startElement=line.source.component,
        startConnector=line.source.connector,
        endElement=line.target.component,
        endConnector=line.target.connector,
    )
    if isinstance(line.transformation, LinearTransformation):
        add(
            element,
            "ssc:LinearTransformation",
            factor=real_text(line.transformation.factor),
            offset=real_text(line.transformation.offset),
        )
    add_line(element, line)
