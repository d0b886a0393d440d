"""Writing of a system as an SSD."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from lxml import etree

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.garbage import collection_paused
from orchestrator.core.ssp.archive.sources import file_path, relative_uri
from orchestrator.core.ssp.common.definitions import add_enumerations, add_units
from orchestrator.core.ssp.common.experiment import add_experiment
from orchestrator.core.ssp.common.files import replacing
from orchestrator.core.ssp.common.findings import Findings
from orchestrator.core.ssp.common.names import NAMESPACES, add, full
from orchestrator.core.ssp.common.schema import VERSIONS, Schema, check
from orchestrator.core.ssp.write.parameters import parameter_set
from orchestrator.core.ssp.write.system_writer import SystemWriter
from orchestrator.core.ssp.write.used_connectors import with_used_connectors
from orchestrator.core.system import Component, Source, System

_T = TypeVar("_T")
_USED = ("ssc", "ssd", "ssv", "sd")


def write_ssd(
    system: System,
    path: str | Path,
    version: str | None = None,
    *,
    parameters: str | None = None,
    connectors: bool = True,
) -> None:
    """Write a system as an .ssd file, with the FMUs' paths relative to it.

    Equal systems give equal bytes, as long as their components stand in the same order. Nested
    systems are written in place; of default experiments there is only that of the whole.

    Parameters
    ----------
    system
        The system, nested or flat.
    path
        The file.
    version
        Of SSP: ``"1.0"`` or ``"2.0"``; ``None``: the first of these that can hold the system.
    parameters
        Name of an .ssv file beside it, which gets all values and is linked, instead of values
        inside of the .ssd. A system without values has none.
    connectors
        Whether all connectors of components are declared; without it only those that have a
        connection, a value or a power port: the sources say the others when the file is read.

    Raises
    ------
    DescriptionError
        All that this version of SSP cannot hold, together; CapabilityError if it is only that.
    SspError
        If the file cannot be written; an old file is untouched.
    """
    path = Path(path)
    if not connectors:
        system = with_used_connectors(system)
    uris: dict[Source, str] = {}

    def file_uri(part: Component) -> str:
        if part.source not in uris:
            uris[part.source] = relative_uri(file_path(part), path.parent)
        return uris[part.source]

    def content_in(version: str) -> tuple[bytes | None, bytes]:
        values = None if parameters is None else linked_values(system, parameters, version)
        link = None if values is None else quote(str(parameters))
        return values, document(system, file_uri, version, parameters=link)

    values, content = in_version(version, content_in)
    if values is not None:
        with replacing(path.parent / str(parameters)) as file:
            file.write(values)
    with replacing(path) as file:
        file.write(content)


def in_version(version: str | None, make: Callable[[str], _T]) -> _T:
    """Make what is written in a version of SSP; ``None``: in the first that can hold it."""
    if version is not None:
        return make(version)
    first, second = VERSIONS
    try:
        return make(first)
    except DescriptionError:
        return make(second)


def linked_values(system: System, name: str, version: str) -> bytes | None:
    """Return the text of the parameter set that a system's values go to; ``None`` without any.

    Raises
    ------
    DescriptionError
        If the name is not that of an .ssv file beside the .ssd, or SSP cannot hold the values.
    """
    if set(name) & set("/\\:\0") or not name.removesuffix(".ssv") or not name.endswith(".ssv"):
        raise DescriptionError(f"parameters '{name}': expected the name of a file, such as a.ssv")
    return parameter_set(system, version=version) if has_values(system) else None


def has_values(system: System) -> bool:
    """Whether a system or anything in it sets a value."""
    inside = any(c.values for c in system.components.values())
    return bool(system.values) or inside or any(map(has_values, system.systems.values()))


@collection_paused()
def document(
    system: System,
    file_uri: Callable[[Component], str],
    version: str = "1.0",
    *,
    parameters: str | None = None,
) -> bytes:
    """Return the text of a system's SSD.

    Parameters
    ----------
    system
        The system.
    file_uri
        Gives the URI of the file that a component is made from: an FMU, or a block's.
    version
        Of SSP.
    parameters
        URI of the parameter set that holds all values; ``None``: they stand in the text.
    """
    if version not in VERSIONS:
        raise DescriptionError(f"expected SSP version {' or '.join(VERSIONS)}, found '{version}'")
    used = (*_USED, "ssb") if _has_buses(system) else _USED
    root = etree.Element(
        full(Schema.DESCRIPTION), nsmap={prefix: NAMESPACES[prefix] for prefix in used}
    )
    writer = SystemWriter(version, file_uri, parameters)
    this = f"system '{system.name}'"
    with writer.gather(this):
        root.set("version", version)
        root.set("name", system.name)
        root.set("generationTool", "Softdock")
    top = add(root, "ssd:System")
    with writer.gather(this):
        if not system.name:
            raise DescriptionError("SSP does not allow an empty name")
        top.set("name", system.name)
    writer.system(top, system, this)
    if not writer.problems:
        with writer.gather(this):
            add_enumerations(root, "ssd", writer.enumerations)
            add_units(root, "ssd", writer.units)
    with writer.gather(this):
        add_experiment(root, system.experiment)
    writer.raise_problems()
    etree.indent(root)
    findings = Findings(this)
    check(root, Schema.DESCRIPTION, findings)
    findings.close()
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _has_buses(system: System) -> bool:
    return bool(system.buses) or any(map(_has_buses, system.systems.values()))
