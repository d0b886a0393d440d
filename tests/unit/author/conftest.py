"""Parts to build systems of: connectors by name, those with ``u`` go in, with ``y`` out."""

import pytest

from orchestrator.core.system import Causality, Component, Connector, Source, SourceKind, System

#: As a person or another tool writes it: other prefixes, quotes, comments, geometry, metadata.
TEXT = """<?xml version='1.0' encoding="UTF-8"?>
<!-- the rig, by hand -->
<SystemStructureDescription xmlns="http://ssp-standard.org/SSP1/SystemStructureDescription"
    xmlns:c='http://ssp-standard.org/SSP1/SystemStructureCommon'
    xmlns:v='http://ssp-standard.org/SSP1/SystemStructureParameterValues'
    version = '1.0' name="rig" author="A &amp; B" >
    <System name="rig">
        <ParameterBindings>
            <ParameterBinding source="plant.ssv"/>
        </ParameterBindings>
        <Elements>
            <Component name="plant" type="application/x-softdock-block" source="block:plant">
                <!-- p -->
                <Connectors>
                    <Connector name="y" kind="output"><c:Real unit="m"/>
                        <ConnectorGeometry x="1" y="0.5"/></Connector>
                    <Connector name="u" kind="input"><c:Real unit="N"/></Connector>
                    <Connector name="k" kind="parameter"><c:Real/></Connector>
                    <Connector name="m" kind="parameter"><c:Real/></Connector>
                </Connectors>
                <ElementGeometry x1="0" y1="0"   x2="10" y2='10'/>
                <ParameterBindings><ParameterBinding><ParameterValues>
                    <v:ParameterSet version="1.0" name="p"><v:Parameters>
                        <v:Parameter name="k"><v:Real value = '3.5'/></v:Parameter> <!-- stiff -->
                    </v:Parameters></v:ParameterSet>
                </ParameterValues></ParameterBinding></ParameterBindings>
            </Component>
            <Component name="control" type="application/x-softdock-block" source="block:gain"/>
        </Elements>
        <Connections>
            <Connection startElement="plant" startConnector="y"
                    endElement="control" endConnector="u">
                <ConnectionGeometry pointsX="1 2" pointsY="3 4"/>
                <Annotations>
                    <c:Annotation type="com.example.colour"><b xmlns="urn:example"/></c:Annotation>
                </Annotations>
            </Connection>
        </Connections>
    </System>
</SystemStructureDescription>
<!-- the end -->
"""


VALUES = """<?xml version="1.0" encoding="UTF-8"?>
<v:ParameterSet xmlns:v='http://ssp-standard.org/SSP1/SystemStructureParameterValues'
    version="1.0" name="plant"><v:Parameters>
    <v:Parameter name="plant.m"><v:Real value="7.0"/></v:Parameter>
</v:Parameters></v:ParameterSet>
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "plant.ssv").write_text(VALUES, newline="\n")
    path = tmp_path / "SystemStructure.ssd"
    path.write_text(TEXT, newline="\n")
    return path


KINDS = {"u": Causality.INPUT, "y": Causality.OUTPUT}


def part(source="gain", **units):
    """A component of a block with Real connectors."""
    connectors = {
        name: Connector(name, KINDS.get(name[0], Causality.PARAMETER), unit=unit)
        for name, unit in units.items()
    }
    return Component(source, Source(SourceKind.BLOCK, source), connectors)


@pytest.fixture(name="part")
def part_fixture():
    return part


@pytest.fixture
def arm():
    """A nested system: a motor, whose force, position and stiffness are led out."""
    return (
        System("arm")
        .add("motor", part(u="N", y="m", k="N/m"), k=3.0)
        .expose("force", to="motor.u")
        .expose("position", to="motor.y")
        .expose("k", to="motor.k")
    )


@pytest.fixture
def rig(arm):
    """A loop of the arm and a spring, with a delay."""
    return (
        System("rig")
        .add("arm", arm)
        .add("spring", part(u="m", y="N"))
        .connect("arm.position", "spring.u", delay="16 ms")
        .connect("spring.y", "arm.force")
    )
