"""One value set in a file of another tool, which declares few connectors: one line changes."""

import re
import zipfile

import pytest

from orchestrator.author import read_system
from orchestrator.author.edit import FileEdit
from orchestrator.author.reading import assigned

DESCRIPTION = """<?xml version="1.0"?>
<fmiModelDescription fmiVersion="2.0" modelName="Truck" guid="{1}">
  <CoSimulation modelIdentifier="Truck"/>
  <UnitDefinitions>
    <Unit name="kg"><BaseUnit kg="1"/></Unit><Unit name="g"><BaseUnit kg="1" factor="1e-3"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions><SimpleType name="Road">
    <Enumeration><Item name="flat" value="1"/><Item name="rough" value="2"/></Enumeration>
  </SimpleType></TypeDefinitions>
  <ModelVariables>
    <ScalarVariable name="y" valueReference="0" causality="output" initial="exact">
      <Real start="0"/></ScalarVariable>
    <ScalarVariable name="C.m" valueReference="1" causality="parameter" variability="fixed">
      <Real unit="kg" start="1"/></ScalarVariable>
    <ScalarVariable name="C.k" valueReference="2" causality="parameter" variability="fixed">
      <Real start="1"/></ScalarVariable>
    <ScalarVariable name="n" valueReference="0" causality="parameter" variability="fixed">
      <Integer start="1"/></ScalarVariable>
    <ScalarVariable name="road" valueReference="1" causality="parameter" variability="fixed">
      <Enumeration declaredType="Road" start="1"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="1" dependencies=""/></Outputs></ModelStructure>
</fmiModelDescription>
"""
#: Of two alike, so that a change of the one could reach the other.
COMPONENT = """
  <Component name="{name}" source="Truck.fmu">
   <Connectors><Connector name="y" kind="output"><c:Real/></Connector></Connectors>
   <ParameterBindings><ParameterBinding><ParameterValues><v:ParameterSet version="1.0" name="p">
    <v:Parameters>
     <v:Parameter name="C.m"><v:Real value='400' unit="{unit}"/></v:Parameter>
     <v:Parameter name="C.k"><v:Real value="15000"/></v:Parameter>
     <v:Parameter name="n"><v:Integer value="3"/></v:Parameter>
     <v:Parameter name="road"><v:Enumeration value="flat" name="Road"/></v:Parameter>
    </v:Parameters>
    <v:Enumerations><c:Enumeration name="Road">
     <c:Item name="flat" value="1"/><c:Item name="rough" value="2"/></c:Enumeration>
    </v:Enumerations>
    <v:Units>
     <c:Unit name="kg"><c:BaseUnit kg="1"/></c:Unit>
     <c:Unit name="g"><c:BaseUnit kg="1" factor="1e-3"/></c:Unit>
    </v:Units>
   </v:ParameterSet></ParameterValues></ParameterBinding></ParameterBindings>
  </Component>"""
TEXT = """<?xml version='1.0' encoding="UTF-8"?>
<SystemStructureDescription xmlns="http://ssp-standard.org/SSP1/SystemStructureDescription"
  xmlns:c='http://ssp-standard.org/SSP1/SystemStructureCommon'
  xmlns:v='http://ssp-standard.org/SSP1/SystemStructureParameterValues' version="1.0" name="s">
 <System name="s"><Elements>{components}
 </Elements></System>
</SystemStructureDescription>
"""


@pytest.fixture
def file(tmp_path):
    """A system of FMUs that have no binary for any machine, as another tool writes it."""
    with zipfile.ZipFile(tmp_path / "Truck.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION)
    parts = [("one", "kg"), ("two", "g")]
    components = "".join(COMPONENT.format(name=name, unit=unit) for name, unit in parts)
    path = tmp_path / "s.ssd"
    path.write_text(TEXT.format(components=components))
    return path


def changed(file, *settings):
    """Set values; return the lines that have gone and come, and the system."""
    before = file.read_text().splitlines()
    edit = FileEdit(file)
    assert edit.unchecked == []
    for text in settings:
        edit.change(lambda system, text=text: assigned(system, text))
    edit.document.save()
    after = file.read_text().splitlines()
    gone = [line.strip() for line in before if line not in after]
    return gone, [line.strip() for line in after if line not in before], len(after) - len(before)


def parameter(name, rest):
    return f'<v:Parameter name="{name}"><v:{rest}/></v:Parameter>'


@pytest.mark.parametrize(
    ("setting", "value", "old", "new"),
    [
        ("one.C.m=410", 410.0, "Real value='400' unit=\"kg\"", 'Real value="410.0" unit="kg"'),
        ("two.C.m=0.5", 0.5, "Real value='400' unit=\"g\"", 'Real value="0.5"'),
        ("one.n=4", 4, 'Integer value="3"', 'Integer value="4"'),
        (
            "one.road=2",
            2,
            'Enumeration value="flat" name="Road"',
            'Enumeration value="rough" name="Road"',
        ),
    ],
)
def test_only_the_line_of_the_value_changes(file, setting, value, old, new):
    path = setting.partition("=")[0]
    gone, came, longer = changed(file, setting)
    assert came == [parameter(path.partition(".")[2], new)]
    assert set(gone) <= {parameter(path.partition(".")[2], old)}, "the other component keeps its"
    assert longer == 0
    assert read_system(file).value(path) == value


def test_a_whole_number_for_a_real_stays_a_real(file):
    edit = FileEdit(file)
    edit.change(lambda system: system.set("one.C.k", 16000))
    edit.document.save()
    assert parameter("C.k", 'Real value="16000.0"') in file.read_text()
    assert repr(read_system(file).value("one.C.k")) == "16000.0"


def test_a_value_that_was_not_there_is_one_more(file):
    file.write_text(file.read_text().replace(parameter("n", 'Integer value="3"'), ""))
    gone, came, longer = changed(file, "one.n=2")
    assert (gone, longer) == ([], 3)
    assert came == ['<v:Parameter name="n">', '<v:Integer value="2"/>', "</v:Parameter>"]
    assert read_system(file).value("one.n") == 2


def test_a_component_that_declares_nothing_still_does_not(file):
    text = file.read_text()
    file.write_text(
        re.sub(r"<Connectors>.*?</Connectors>", "", text).replace(
            "\n </Elements>",
            '\n  <Component name="three" source="Truck.fmu"/>\n </Elements><Connections>'
            '<Connection startElement="one" startConnector="y" endElement="three"'
            ' endConnector="C.m"/></Connections>',
        )
    )
    _, came, _ = changed(file, "one.C.k=16000")
    assert came == [parameter("C.k", 'Real value="16000.0"')]
