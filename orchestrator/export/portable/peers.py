"""What some tools need of a portable .ssd, and others do not mind.

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

from typing import Final

from lxml import etree

from orchestrator.core.ssp.common.annotations import seconds_text

#: Name of all parameter sets.
PARAMETER_SET: Final = "parameters"
_SSP: Final = "http://ssp-standard.org/SSP1/SystemStructure"
_OMS: Final = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"
_TOLERANCE: Final = "1e-06"  # of its master; FMUs have their own


def for_peers(document: bytes, step_ns: int) -> bytes:
    """Give all parameter sets of an .ssd one name, and say to OMSimulator how it is stepped.

    Parameters
    ----------
    document
        The .ssd.
    step_ns
        Communication step in nanoseconds.
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
