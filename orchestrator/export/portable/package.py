"""The portable system as an .ssp archive, and what some tools need of it.

ecos applies the parameter sets of one name, so all have the same. OMSimulator wants to be told how
a system is stepped, by an annotation of its own: it reads the first one in the system only, and
knows elements by their prefixes. ::

    <ssc:Annotation type="org.openmodelica">
      <oms:Annotations>
        <oms:SimulationInformation>
          <oms:FixedStepMaster description="oms-ma" stepSize="0.001" relativeTolerance="1e-06"/>
        </oms:SimulationInformation>
      </oms:Annotations>
    </ssc:Annotation>
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from lxml import etree

from orchestrator.core.coupling import DelayMode
from orchestrator.core.diagnostics import SspError
from orchestrator.core.simunits import fmu
from orchestrator.core.ssp import write_ssp
from orchestrator.core.ssp.common.annotations import seconds_text
from orchestrator.core.system import System, Value
from orchestrator.export.portable.portable_system import Portable, make_portable

#: Name of all parameter sets.
PARAMETER_SET: Final = "parameters"
_SSP: Final = "http://ssp-standard.org/SSP1/SystemStructure"
_OMS: Final = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"
_TOLERANCE: Final = "1e-06"  # of its master; FMUs have their own


def for_peers(document: bytes, step_ns: int) -> bytes:
    """Give all parameter sets of an .ssd one name, and say to OMSimulator how it is stepped.

    document: The .ssd.
    step_ns: Communication step in nanoseconds.
    """
    root = etree.fromstring(document)
    for parameter_set in root.iter(f"{{{_SSP}ParameterValues}}ParameterSet"):
        parameter_set.set("name", PARAMETER_SET)
    system = root.find(f"{{{_SSP}Description}}System")
    if system is not None:
        _annotate(system, step_ns)
    etree.indent(root)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _annotate(system: etree._Element, step_ns: int) -> None:
    group = system.find(f"{{{_SSP}Description}}Annotations")
    if group is None:
        group = etree.SubElement(system, f"{{{_SSP}Description}}Annotations")
    annotation = etree.Element(f"{{{_SSP}Common}}Annotation", type="org.openmodelica")
    group.insert(0, annotation)
    own = etree.SubElement(annotation, f"{{{_OMS}}}Annotations", nsmap={"oms": _OMS})
    stepped = etree.SubElement(own, f"{{{_OMS}}}SimulationInformation")
    etree.SubElement(
        stepped,
        f"{{{_OMS}}}FixedStepMaster",
        description="oms-ma",
        stepSize=seconds_text(step_ns),
        relativeTolerance=_TOLERANCE,
    )


#: Of all components, for tools that do not read the bindings inside the .ssd.
PARAMETERS = "parameters.ssv"
_SSV = "http://ssp-standard.org/SSP1/SystemStructureParameterValues"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


def write_portable_ssp(
    system: System,
    path: str | Path,
    *,
    step_ns: int,
    delay: DelayMode = DelayMode.MEAN,
    plain_connections: bool = False,
) -> Portable:
    """Write a system as an .ssp that holds nothing but FMUs and plain connections.

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
            place = Path(folder)
            portable = make_portable(
                system,
                place,
                step_ns=step_ns,
                delay=delay,
                plain_connections=plain_connections,
            )
            archive = place / path.name
            write_ssp(
                portable.system, archive, version="1.0", adapt=lambda text: for_peers(text, step_ns)
            )
            with zipfile.ZipFile(archive, "a") as zipped:
                entry = zipfile.ZipInfo(PARAMETERS, _LONG_AGO)
                entry.external_attr = 0o644 << 16
                zipped.writestr(entry, _parameters(portable.system))
            archive.replace(path)  # the same file system: all or nothing
    except OSError as error:
        raise SspError(f"cannot write '{path}': {error.strerror or error}") from error
    return portable


def _parameters(system: System) -> bytes:
    """Values that differ from those of the FMUs as an .ssv, called ``component.parameter``."""
    root = etree.Element(
        f"{{{_SSV}}}ParameterSet", {"version": "1.0", "name": PARAMETER_SET}, {"ssv": _SSV}
    )
    group = etree.SubElement(root, f"{{{_SSV}}}Parameters")
    for name, component in system.components.items():
        known = fmu(component.source.location).connectors
        for key, value in component.values.items():
            if known[key].start == value:
                continue
            parameter = etree.SubElement(group, f"{{{_SSV}}}Parameter", name=f"{name}.{key}")
            kind, text = _typed(value)
            etree.SubElement(parameter, f"{{{_SSV}}}{kind}", value=text)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)


def _typed(value: Value) -> tuple[str, str]:
    if isinstance(value, bool):
        return "Boolean", str(value).lower()
    if isinstance(value, int):
        return "Integer", str(value)
    if isinstance(value, float):
        return "Real", repr(value)
    return "String", str(value)
