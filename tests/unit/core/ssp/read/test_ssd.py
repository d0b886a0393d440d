"""What is read from other tools' SSDs, and what is refused: with file, line and all at once."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.ssp import read_ssd
from orchestrator.core.system import LinearTransformation, Provenance, TransportDelay

from .conftest import found, refusal

LOOP = 'startElement="a" startConnector="x" endElement="a" endConnector="u"'


def test_defaults_of_the_standard_apply(ssd: Any) -> None:
    line = f"<ssd:Connection {LOOP}><ssc:LinearTransformation/></ssd:Connection>"
    system = read_ssd(ssd(connections=line, after='<ssd:DefaultExperiment stopTime="1e1"/>'))
    assert system.connections[0].transformation == LinearTransformation(1.0, 0.0)
    assert system.connections[0].delay is None
    assert system.experiment.stop_ns == 10_000_000_000
    fmu = ssd(elements='<ssd:Component name="f" source="../../fmus/build/X%20Y.fmu"/>')
    source = read_ssd(fmu).component("f").source
    assert source.location == str((fmu.parent / "../../fmus/build/X Y.fmu").resolve())


def test_delays_are_exact(ssd: Any) -> None:
    text = '<sd:TransportDelay nominal="16.000001" unit="ms" provenance="identified"/>'
    note = f'<ssc:Annotation type="io.softdock.delay">{text}</ssc:Annotation>'
    line = f"<ssd:Connection {LOOP}><ssd:Annotations>{note}</ssd:Annotations></ssd:Connection>"
    system = read_ssd(ssd(connections=line))
    assert system.connections[0].delay == TransportDelay(16_000_001, Provenance.IDENTIFIED)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('<sd:TransportDelay nominal="x"/>', "expected seconds"),
        ('<sd:TransportDelay nominal="1e-10"/>', "whole number of nanoseconds"),
        ('<sd:TransportDelay nominal="-1"/>', "cannot be negative"),
        ('<sd:TransportDelay nominal="1" unit="h"/>', "expected seconds"),
        ('<sd:TransportDelay nominal="1" provenance="guess"/>', "found 'guess'"),
        ('<sd:TransportDelay nominal="1" jitter="2"/>', "unknown attribute jitter"),
        ("<sd:TransportDelay/>", "expected the attribute nominal"),
        ("<sd:Delay/>", "found it 1 time with sd:Delay"),
        ("", "with nothing"),
    ],
)
def test_a_wrong_delay_is_refused(ssd: Any, content: str, expected: str) -> None:
    note = f'<ssc:Annotation type="io.softdock.delay">{content}</ssc:Annotation>'
    line = f"<ssd:Connection {LOOP}><ssd:Annotations>{note}</ssd:Annotations></ssd:Connection>"
    text = refusal(ssd(connections=line))
    assert expected in text
    assert "SystemStructure.ssd:15: connection a.x -> a.u" in text


def test_two_delays_on_a_line_are_refused(ssd: Any) -> None:
    one = '<sd:TransportDelay nominal="1"/>'
    note = f'<ssc:Annotation type="io.softdock.delay">{one}</ssc:Annotation>' * 2
    line = f"<ssd:Connection {LOOP}><ssd:Annotations>{note}</ssd:Annotations></ssd:Connection>"
    assert "found it 2 times" in refusal(ssd(connections=line))


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('startTime="INF"', "startTime: expected seconds"),
        ('stopTime="1e-12"', "stopTime: '1e-12 s' is not a whole number"),
    ],
)
def test_a_wrong_experiment_is_refused(ssd: Any, attributes: str, expected: str) -> None:
    assert expected in refusal(ssd(after=f"<ssd:DefaultExperiment {attributes}/>"))


@pytest.mark.parametrize(
    ("master", "expected"),
    [('step="x"', "step: expected seconds"), ('order="2"', "unknown attribute order")],
)
def test_a_wrong_master_is_refused(ssd: Any, master: str, expected: str) -> None:
    note = f'<ssc:Annotation type="io.softdock.master"><sd:Master {master}/></ssc:Annotation>'
    experiment = (
        f"<ssd:DefaultExperiment><ssd:Annotations>{note}</ssd:Annotations></ssd:DefaultExperiment>"
    )
    assert expected in refusal(ssd(after=experiment))


def test_an_external_parameter_file_is_read(ssd: Any) -> None:
    path = ssd(bindings='<ssd:ParameterBinding source="set.ssv" prefix="a."/>')
    (path.parent / "set.ssv").write_text(ssd.values(ssd.real("k", 7.0, "N/m")))
    assert read_ssd(path).component("a").values == {"k": 7.0}


def test_problems_of_an_external_file_name_it(ssd: Any) -> None:
    source = '<ssd:ParameterBinding source="set.ssv" prefix="a."/>'
    path = ssd(bindings=source)
    assert "set.ssv: cannot be read: No such file" in refusal(path)
    file = path.parent / "set.ssv"
    file.write_text(ssd.values("\n<ssv:Parameter/>"))
    text = refusal(path)
    assert "set.ssv:2: " in text
    assert "not valid SSP 1.0" in text
    file.write_text(ssd.values("\n\n" + ssd.real("k", 1.0, "s")))
    text = refusal(path)
    assert "set.ssv:3: parameter 'k': unit 's'" in text
    assert "does not convert" in text
    file.write_text("<nonsense")
    assert "set.ssv: malformed XML" in refusal(path)
    file.write_text("<a/>")
    assert "expected the root element ssv:ParameterSet of SSP, found a" in refusal(path)
    assert "outside of the folder" in refusal(
        ssd(bindings='<ssd:ParameterBinding source="../set.ssv"/>')
    )
    assert "expected a file" in refusal(
        ssd(bindings='<ssd:ParameterBinding source="http://example.com/set.ssv"/>')
    )


def test_names_that_match_nothing_are_ignored(ssd: Any) -> None:
    values = ssd.real("k", 1.0) + ssd.real("b.k", 2.0) + ssd.real("a.k", 3.0)
    path = ssd(bindings=ssd.binding(values))
    assert read_ssd(path).component("a").values == {"k": 3.0}
    assert found(path).count("SSP305") == 2


@pytest.mark.parametrize(
    ("binding", "expected"),
    [
        ("<ssd:ParameterBinding/>", "either a source or inline"),
        ('<ssd:ParameterBinding type="text/csv" source="x.csv"/>', "of type text/csv"),
        ('<ssd:ParameterBinding source="x.ssv" sourceBase="component"/>', "sourceBase"),
        (
            "<ssd:ParameterBinding><ssd:ParameterValues/></ssd:ParameterBinding>",
            "expected one ssv:ParameterSet, found nothing",
        ),
    ],
)
def test_a_binding_of_another_kind_is_refused(ssd: Any, binding: str, expected: str) -> None:
    assert expected in refusal(ssd(bindings=binding))


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        ("application/x-fmu-sharedlibrary", "plant.so"),
        ("application/x-fmu-sharedlibrary", "block:plant"),
        ("application/x-softdock-block", "plant.fmu"),
        ("application/x-softdock-block", "block:"),
    ],
)
def test_a_source_of_another_kind_is_refused(ssd: Any, kind: str, source: str) -> None:
    text = refusal(ssd(elements=f'<ssd:Component name="b" type="{kind}" source="{source}"/>'))
    assert f"component 'b': type {kind} with source '{source}' is not supported" in text
    assert "supported: type application/x-fmu-sharedlibrary" in text
    assert ":13:" in text


@pytest.mark.parametrize("source", ["http://example.com/x.fmu", "x.fmu?a.fmu", "a#b.fmu"])
def test_a_source_that_is_no_file_is_refused(ssd: Any, source: str) -> None:
    assert "expected" in refusal(ssd(elements=f'<ssd:Component name="b" source="{source}"/>'))


def test_everything_wrong_is_listed_together(ssd: Any) -> None:
    elements = """
<ssd:Component name="b" source="b.fmu" implementation="ScheduledExecution"/>
<ssd:Component name="c" type="application/x-other" source="c.txt"><ssd:Connectors>
<ssd:Connector name="i" kind="sideways"><ssc:Real/></ssd:Connector>
</ssd:Connectors></ssd:Component>
<ssd:SignalDictionaryReference name="d" dictionary="D"/>"""
    connections = f"""
<ssd:Connection {LOOP}><ssc:EnumerationMappingTransformation>
<ssc:MapEntry source="on" target="off"/></ssc:EnumerationMappingTransformation></ssd:Connection>
<ssd:Connection startConnector="up" endElement="a" endConnector="u"/>
<ssd:Connection startElement="a" startConnector="k" endElement="a" endConnector="u"/>
<ssd:Connection startElement="zz" startConnector="x" endElement="a" endConnector="u"/>
<ssd:Connection startElement="a" startConnector="y" endElement="a" endConnector="u"/>"""
    path = ssd(elements=elements, connections=connections)
    text = refusal(path)
    for expected in (
        ":14: component 'b': implementation 'ScheduledExecution' is not supported",
        ":15: component 'c': type application/x-other with source 'c.txt' is not supported",
        ":16: component 'c', connector 'i': not valid SSP 1.0",
        ":18: bus 'd': no signal dictionary 'D'; there is no dictionary",
        ":21: connection a.x -> a.u: the source has no item 'on'",
        ":23: connection up -> a.u: the system has no connector 'up'; it has no connector",
        ":24: connection a.k -> a.u: parameter 'k' of an element is connected with input 'u'",
        ":25: connection zz.x -> a.u: no element 'zz'; the elements are a, b, c and d",
        ":26: connection a.y -> a.u: element 'a' has no connector 'y'; its connectors are x, u, k",
    ):
        assert expected in text, expected
    assert all(line.startswith(str(path)) for line in text.splitlines())


def test_start_and_end_say_nothing_about_the_direction(ssd: Any) -> None:
    line = '<ssd:Connection startElement="a" startConnector="u" endElement="a" endConnector="x"/>'
    assert str(read_ssd(ssd(connections=line)).connections[0]) == "a.x -> a.u"


def test_names_that_are_taken_are_refused(ssd: Any) -> None:
    twice = '<ssd:Connector name="x" kind="input"><ssc:Real/></ssd:Connector>' * 2
    text = refusal(
        ssd(
            elements='<ssd:Component name="a" source="a.fmu"/>'
            '<ssd:Component name="b.c" source="a.fmu"><ssd:Connectors>'
            f"{twice}</ssd:Connectors></ssd:Component>"
        )
    )
    assert "component 'a': the name 'a' is taken" in text
    assert "connector 'x': the name is taken" in text


def test_a_connector_that_only_the_source_has_is_connected_with_a_warning(ssd: Any) -> None:
    damper = (
        '<ssd:Component name="d" type="application/x-softdock-block" source="block:virtual_damper">'
        '<ssd:Connectors><ssd:Connector name="force" kind="output"><ssc:Real/></ssd:Connector>'
        "</ssd:Connectors></ssd:Component>"
    )
    line = (
        '<ssd:Connection startElement="a" startConnector="x" endElement="d"'
        ' endConnector="velocity"/>'
    )
    path = ssd(elements=damper, connections=line)
    assert "SSP105" in found(path)
    assert read_ssd(path).component("d").connectors["velocity"].unit == "m/s"
    nothing = line.replace("velocity", "speed")
    text = refusal(ssd(elements=damper, connections=nothing))
    assert "element 'd' has no connector 'speed'; its only connector is force" in text
