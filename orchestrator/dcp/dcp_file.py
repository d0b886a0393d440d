"""Files of descriptions (section 3.1.4), ``.dcpx`` or a ``.dcp`` archive, and writing of them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from lxml import etree

from orchestrator.core.diagnostics import LoadError
from orchestrator.core.diagnostics.reading import reads
from orchestrator.core.files.archive import MOST_XML_BYTES, open_archive, read_entry
from orchestrator.dcp.dcpx_reader import read_dcpx
from orchestrator.dcp.description import (
    FLAGS,
    MODES,
    TRANSPORTS,
    Ipv4,
    PduSteps,
    PortRange,
    Resolution,
    SlaveDescription,
    SlaveVariable,
    VariableKind,
)
from orchestrator.dcp.identifiers import OpMode


def write_dcpx(description: SlaveDescription) -> bytes:
    """Return a description as a file; equal descriptions give equal bytes."""
    root = etree.Element(
        "dcpSlaveDescription",
        dcpMajorVersion=str(description.major),
        dcpMinorVersion=str(description.minor),
        dcpSlaveName=description.name,
        uuid=str(description.uuid),
    )
    _set(root, description=description.description or None, generationTool=description.tool or None)
    modes = _add(root, "OpMode")
    for mode, tag in MODES.items():
        if mode in description.op_modes:
            element = _add(modes, tag)
            if mode is OpMode.NRT:
                _steps(element, description.nrt_steps)
    _units(root, description)
    _time(root, description)
    transports = _add(root, "TransportProtocols")
    for transport, tag in TRANSPORTS.items():
        if transport in description.transports:
            _transport(_add(transports, tag), description.transports[transport])
    can = {tag: getattr(description.capabilities, name) for name, tag in FLAGS.items()}
    _add(root, "CapabilityFlags", **can)
    variables = _add(root, "Variables")
    for variable in description.variables:
        _variable(variables, variable)
    _log(root, description)
    return etree.tostring(root, encoding="UTF-8", xml_declaration=True, pretty_print=True)


def _add(parent: etree._Element, tag: str, **attributes: object) -> etree._Element:
    element = etree.SubElement(parent, tag)
    _set(element, **attributes)
    return element


def _set(element: etree._Element, **attributes: object) -> None:
    for name, value in attributes.items():
        if value is not None:
            element.set(name.rstrip("_"), _text(value))


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def _steps(element: etree._Element, steps: PduSteps) -> None:
    _set(
        element,
        defaultSteps=steps.default,
        fixedSteps=steps.fixed,
        minSteps=steps.least,
        maxSteps=steps.most,
    )


def _units(root: etree._Element, description: SlaveDescription) -> None:
    if not description.units:
        return
    units = _add(root, "UnitDefinitions")
    for name, base in description.units.items():
        unit = _add(units, "Unit", name=name)
        if base is not None:
            etree.SubElement(unit, "BaseUnit", base.attributes())


def _time(root: etree._Element, description: SlaveDescription) -> None:
    times = _add(root, "TimeRes")
    for resolution in description.resolutions:
        if isinstance(resolution, Resolution):
            element = _add(
                times,
                "Resolution",
                numerator=resolution.numerator,
                denominator=resolution.denominator,
                fixed=resolution.fixed,
            )
            _set(element, recommended=resolution.recommended or None)
        else:
            ends = {"numeratorFrom": resolution.least, "numeratorTo": resolution.most}
            _add(times, "ResolutionRange", **ends, denominator=resolution.denominator)
    if description.heartbeat is not None:
        numerator, denominator = description.heartbeat
        beat = _add(root, "Heartbeat")
        _add(beat, "MaximumPeriodicInterval", numerator=numerator, denominator=denominator)


def _transport(element: etree._Element, address: Ipv4) -> None:
    _set(element, maxPduSize=address.max_pdu_size)
    _add(element, "Control", host=address.host, port=address.port)
    _ports(_add(element, "DAT_input_output", host=address.data_host), address.data_ports)
    _ports(_add(element, "DAT_parameter", host=address.parameter_host), address.parameter_ports)


def _ports(element: etree._Element, ranges: tuple[PortRange, ...]) -> None:
    for port_range in ranges:
        if port_range.first == port_range.last:
            _add(element, "AvailablePort", port=port_range.first)
        else:
            _add(element, "AvailablePortRange", from_=port_range.first, to=port_range.last)


def _variable(parent: etree._Element, variable: SlaveVariable) -> None:
    element = _add(
        parent,
        "Variable",
        name=variable.name,
        valueReference=variable.reference,
        description=variable.description or None,
        variability=variable.variability,
        maxConsecMissedPdus=variable.max_missed,
    )
    body = _add(element, variable.kind.value)
    if variable.kind is VariableKind.OUTPUT:
        _steps(body, variable.steps)
        _set(body, initialization=variable.initialization_only or None)
    is_integer = variable.type.is_integer
    ends = [
        None if e is None else (int(e) if is_integer else e)
        for e in (variable.minimum, variable.maximum)
    ]
    held = _add(body, variable.type.element, min=ends[0], max=ends[1], maxSize=variable.max_size)
    start = (value.hex() if isinstance(value, bytes) else _text(value) for value in variable.start)
    _set(held, unit=variable.unit, start=" ".join(start) if variable.start else None)
    if variable.dimensions:
        dimensions = _add(body, "Dimensions")
        for extent, linked in zip(variable.dimensions, variable.linked, strict=True):
            _add(dimensions, "Dimension", **{"linkedVR" if linked else "constant": extent})
    _dependencies(body, variable)


def _dependencies(body: etree._Element, variable: SlaveVariable) -> None:
    if variable.dependencies is None:
        return
    element = _add(body, "Dependencies")
    says = variable.dependencies
    for tag, references in (("Initialization", says.initialization), ("Run", says.run)):
        if references is not None:
            group = _add(element, tag)
            for reference in references:
                _add(group, "Dependency", vr=reference, dependencyKind="dependent")


def _log(root: etree._Element, description: SlaveDescription) -> None:
    if not description.templates:
        return
    log = _add(root, "Log")
    categories, templates = _add(log, "Categories"), _add(log, "Templates")
    for number, name in description.categories.items():
        _add(categories, "Category", id=number, name=name)
    for template in description.templates:
        _add(
            templates,
            "Template",
            id=template.number,
            category=template.category,
            level=int(template.level),
            msg=template.message,
        )


ENTRY = "v1.0/dcpSlaveDescription.dcpx"


@reads("expected a description of DCP")
def read_description(path: str | Path) -> SlaveDescription:
    """Read a ``.dcpx`` file or a ``.dcp`` archive, of whatever origin."""
    file = Path(path)
    if file.suffix == ".dcp":
        with open_archive(file, LoadError) as archive:
            names = archive.namelist()
            if ENTRY not in names:
                versions = sorted({n.partition("/")[0] for n in names if n.startswith("v")})
                supported = ", ".join(versions[:5]) or "none"
                raise LoadError.in_file(
                    file, f"expected DCP 1.0 ('{ENTRY}'); folders of versions: {supported}"
                )
            return read_dcpx(read_entry(file, archive, ENTRY, LoadError), f"{file}/{ENTRY}")
    if file.suffix != ".dcpx":
        raise LoadError.in_file(file, "expected a description, .dcpx or .dcp")
    try:
        if file.stat().st_size > MOST_XML_BYTES:
            raise LoadError.in_file(file, f"expected at most {MOST_XML_BYTES} bytes")
        content = file.read_bytes()
    except OSError as error:
        raise LoadError.in_file(file, f"cannot be read: {error.strerror or error}") from None
    return read_dcpx(content, str(file))


def archive_of(description: SlaveDescription) -> bytes:
    """Return a ``.dcp`` archive; equal descriptions give equal bytes."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        entry = zipfile.ZipInfo(ENTRY)  # of 1980: the time of its writing is no part of it
        entry.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(entry, write_dcpx(description))
    return target.getvalue()
