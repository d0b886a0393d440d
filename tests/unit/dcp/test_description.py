"""Descriptions: what is written is read, and what contradicts itself is told."""

import io
import zipfile
from dataclasses import replace

import pytest
from dcp_slaves import INPUT, OUTPUT, description

from hw_adapters.dcp.bench import DESCRIPTION
from orchestrator.core.diagnostics import DescriptionError, LoadError, WireFormatError
from orchestrator.core.system import BaseUnit
from orchestrator.dcp.data_types import DcpType, pack_value
from orchestrator.dcp.dcp_file import archive_of, read_description, write_dcpx
from orchestrator.dcp.dcpx_reader import read_dcpx
from orchestrator.dcp.description import (
    Dependencies,
    Ipv4,
    LogTemplate,
    PduSteps,
    PortRange,
    Resolution,
    ResolutionRange,
    SlaveCapabilities,
    SlaveVariable,
    VariableKind,
)
from orchestrator.dcp.identifiers import LogLevel, OpMode, Transport
from orchestrator.dcp.log import entries_of
from orchestrator.dcp.plan import chosen_resolution, data_port

DIM = SlaveVariable("n", 9, VariableKind.STRUCTURAL, DcpType.UINT16, (3,), variability="fixed")
FULL = description(
    variables=(
        replace(
            OUTPUT,
            unit="N.m",
            dimensions=(2, 9),
            linked=(False, True),
            dependencies=Dependencies((2,), ()),
            description='up & "over"',
        ),
        replace(INPUT, max_missed=3, unit="m"),
        DIM,
        SlaveVariable(
            "s", 10, VariableKind.PARAMETER, DcpType.STRING, ("ä b",), variability="tunable"
        ),
        SlaveVariable("b", 11, VariableKind.INPUT, DcpType.BINARY, (b"\0\xff",), max_size=4),
        SlaveVariable(
            "i", 12, VariableKind.INPUT, DcpType.INT8, (-5, 6), (2,), (False,), minimum=-9
        ),
    ),
    units={"N.m": BaseUnit({"kg": 1, "m": 2, "s": -2}), "m": None},
    resolutions=(Resolution(1, 100, False, True), ResolutionRange(1, 5, 1000)),
    capabilities=SlaveCapabilities(True, False, True, True, True, False),
    heartbeat=(3, 2),
    transports={
        Transport.UDP_IPV4: Ipv4("a", 1, "b", (PortRange(5, 9), PortRange(7, 7)), None, (), 900),
        Transport.TCP_IPV4: Ipv4(max_pdu_size=800),
    },
    description="all of it",
    tool="a test",
)


def test_what_is_written_is_read_and_equal_descriptions_give_equal_bytes(tmp_path):
    content = write_dcpx(FULL)
    assert read_dcpx(content, "x") == FULL
    assert write_dcpx(read_dcpx(content, "x")) == content
    path = tmp_path / "a.dcp"
    path.write_bytes(archive_of(FULL))
    assert read_description(path) == FULL
    assert archive_of(FULL) == path.read_bytes()
    path.with_suffix(".dcpx").write_bytes(content)
    assert read_description(path.with_suffix(".dcpx")) == FULL
    assert FULL.shape(FULL.variables[0]) == (2, 3)


def test_the_emulated_axis_is_described():
    about = read_description(DESCRIPTION)
    assert [v.name for v in about.variables] == ["x_set", "x", "v"]
    assert about.units["m/s"] == BaseUnit({"m": 1, "s": -1})


def test_declared_types_give_what_a_variable_does_not_say(wording):
    types = (
        '<TypeDefinitions><SimpleType name="T"><Float64 min="4" max="6"/></SimpleType>'
        "</TypeDefinitions><TimeRes>"
    )
    text = write_dcpx(
        description(variables=(replace(INPUT, minimum=None, maximum=8.0, start=(5.0,)),))
    )
    text = text.replace(b"<TimeRes>", types.encode(), 1)
    text = text.replace(b'variability="continuous"', b'declaredType="T"')
    (found,) = read_dcpx(text, "x").variables
    assert (found.minimum, found.maximum) == (4.0, 8.0)
    with wording.raises(LoadError):
        read_dcpx(text.replace(b'declaredType="T"', b'declaredType="S"'), "x")


def changed(**changes):
    return description(**changes)


def output(**changes):
    return description(variables=(replace(OUTPUT, **changes), INPUT))


def an_input(**changes):
    return description(variables=(OUTPUT, replace(INPUT, **changes)))


CONTRADICTIONS = {
    "expected DCP 1.0, found version 1.1": changed(minor=1),
    "expected an operating mode": changed(op_modes=frozenset()),
    "it lacks <Heartbeat>, and says canMonitorHeartbeat='true'": changed(
        capabilities=SlaveCapabilities(monitor_heartbeat=True)
    ),
    "it has <Heartbeat>, and says canMonitorHeartbeat='false'": changed(heartbeat=(1, 1)),
    "it says that it provides logs, and has no <Log>": changed(templates=(), categories={}),
    "NonRealTime: its steps are fixed": changed(nrt_steps=PduSteps(1, True, 1)),
    "minSteps is 9, beyond maxSteps 2": changed(nrt_steps=PduSteps(1, False, 9, 2)),
    "defaultSteps 1 is not between": changed(nrt_steps=PduSteps(1, False, 2, 9)),
    "numeratorFrom 5 is beyond numeratorTo 1": changed(resolutions=(ResolutionRange(5, 1, 9),)),
    "a resolution is fixed, and there are others": changed(
        resolutions=(Resolution(), ResolutionRange(1, 2, 9))
    ),
    "a range of ports from 9 to 5": changed(
        transports={Transport.UDP_IPV4: Ipv4("a", 1, "b", (PortRange(9, 5),))}
    ),
    "log template 1: there is no category 1": changed(categories={2: "x"}),
    "2 log templates have the id '1'": changed(
        templates=(LogTemplate(1, 1, LogLevel.ERROR, "a"), LogTemplate(1, 1, LogLevel.ERROR, "b"))
    ),
    "log template 1: '%real' is not a data type": changed(
        templates=(LogTemplate(1, 1, LogLevel.ERROR, "at %real"),)
    ),
    "2 variables are called 'y'": changed(variables=(OUTPUT, replace(OUTPUT, reference=7))),
    "2 variables have the value reference '1'": changed(
        variables=(OUTPUT, replace(OUTPUT, name="z"))
    ),
    "its unit 'm' is not among": output(unit="m"),
    "its min 3 is beyond its max 1": an_input(minimum=3.0, maximum=1.0, start=(2.0,)),
    "its start 2.0 is not between": an_input(minimum=3.0, start=(2.0,)),
    "variability of an Input is continuous or discrete": an_input(variability="fixed"),
    "maxConsecMissedPdus is not allowed at an output": output(max_missed=1),
    "an Input needs a start value": an_input(start=()),
    "linkedVR 2 is not a structural parameter": output(dimensions=(2,), linked=(True,)),
    "it has 4000000 elements": output(dimensions=(2000, 2000), linked=(False, False)),
    "its start has 2 values; expected 3": an_input(
        start=(1.0, 2.0), dimensions=(3,), linked=(False,)
    ),
    "beyond its maxSize 2": an_input(
        type=DcpType.STRING, start=("abc",), max_size=2, minimum=None, maximum=None
    ),
    "a String has no dimensions": an_input(
        type=DcpType.STRING,
        start=("a",),
        dimensions=(1,),
        linked=(False,),
        minimum=None,
        maximum=None,
    ),
    "it depends on the value reference 1, no input": output(dependencies=Dependencies(None, (1,))),
    "it never changes after": output(initialization_only=True, dependencies=Dependencies(None, ())),
    "a structural parameter begins with 1": changed(variables=(replace(DIM, start=(0,)),)),
}


@pytest.mark.parametrize("told", CONTRADICTIONS)
def test_a_contradiction_is_told(told):
    with pytest.raises(LoadError) as caught:
        read_dcpx(write_dcpx(CONTRADICTIONS[told]), "slave.dcpx")
    assert told in str(caught.value)
    assert str(caught.value).startswith("slave.dcpx: ")


FORMS = {
    ("<OpMode>", "<OpMod>"): "malformed XML",
    ('uuid="b5', 'uuid="b'): "uuid: expected a UUID",
    ("TimeRes>", "TimeResolution>"): "expected <TimeRes>, found <TimeResolution>",
    ("<Output ", "<Output speed='1' "): "<Output> has no attribute 'speed'",
    ("defaultSteps=", "defaultStep="): "has no attribute 'defaultStep'. Did you mean",
    ('max="100.0"', 'max="many"'): "<Float64> max: expected a finite number, found 'many'",
    ('max="100.0"', 'max="INF"'): "expected a finite number",
    ('start="10.0"', 'start="1e999"'): "start: expected a finite Float64, found '1e999'",
    ('valueReference="2"', 'valueReference="-2"'): "expected a whole number, 0 to",
    (' valueReference="2"', ""): "expected the attribute 'valueReference', found none",
    ("<Input>", "<Input><Int8 start='1'/>"): "<Float64> is not allowed here",
    ('denominator="100"', 'denominator="0"'): "denominator: expected a whole number, 1 to",
    ("</dcpSlaveDescription>", ""): "malformed XML",
}


@pytest.mark.parametrize("change", FORMS)
def test_what_is_not_of_the_form_is_told(change):
    content = write_dcpx(description()).decode()
    assert change[0] in content
    with pytest.raises(LoadError) as caught:
        read_dcpx(content.replace(*change).encode(), "slave.dcpx")
    assert FORMS[change] in str(caught.value)


def test_all_problems_are_told_together_with_their_lines():
    content = (
        write_dcpx(description()).replace(b'uuid="b5', b'uuid="').replace(b"<Float64", b"<Real")
    )
    with pytest.raises(LoadError) as caught:
        read_dcpx(content, "slave.dcpx")
    assert len(caught.value.diagnostics) >= 3
    assert all(diagnostic.line for diagnostic in caught.value.diagnostics)


def test_entities_are_not_opened(wording):
    content = b'<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "b">]><dcpSlaveDescription/>'
    with wording.raises(LoadError):
        read_dcpx(content, "x")


def archive(**entries):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as zip_file:
        for name, content in entries.items():
            zip_file.writestr(name, content)
    return target.getvalue()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"nothing", "expected a zip archive"),
        (
            archive(),
            "expected DCP 1.0 ('v1.0/dcpSlaveDescription.dcpx'); folders of versions: none",
        ),
        (archive(**{"v2.0/dcpSlaveDescription.dcpx": "x"}), "folders of versions: v2.0"),
        (archive(**{"../v1.0/a": "x"}), "outside of the archive"),
        (archive(**{"v1.0/dcpSlaveDescription.dcpx": "x"}), "malformed XML"),
    ],
)
def test_an_archive_that_is_none_is_told(tmp_path, content, told):
    path = tmp_path / "slave.dcp"
    path.write_bytes(content)
    with pytest.raises(LoadError) as caught:
        read_description(path)
    assert told in str(caught.value)


def test_files_that_are_not_there_or_something_else_are_told(tmp_path, wording):
    with wording.raises(LoadError):
        read_description(tmp_path / "a.dcp")
    with wording.raises(LoadError):
        read_description(tmp_path / "a.dcpx")
    with wording.raises(LoadError):
        read_description(tmp_path / "a.xml")


def test_the_resolution_and_the_port_that_a_master_chooses(wording):
    assert chosen_resolution(FULL, None) == (1, 100)
    assert chosen_resolution(FULL, 0.003) == (3, 1000)
    with wording.raises(DescriptionError):
        chosen_resolution(FULL, 0.007)
    place = FULL.transports[Transport.UDP_IPV4]
    assert (data_port(place, 8), data_port(place, 80)) == (8, 5)
    assert data_port(Ipv4(), 80) == 80


def test_modes_are_kept():
    only = description(op_modes=frozenset({OpMode.HRT}))
    assert read_dcpx(write_dcpx(only), "x").op_modes == {OpMode.HRT}


def test_log_entries_are_filled_in(wording):
    told = LogTemplate(7, 1, LogLevel.ERROR, "%float32 %% of %string%binary.")
    told = replace(told, arguments=(DcpType.FLOAT32, DcpType.STRING, DcpType.BINARY))
    about = description(templates=(told,))
    entry = bytes(8) + b"\7" + pack_value(DcpType.FLOAT32, 35.5) + pack_value(DcpType.STRING, "%x")
    entry += pack_value(DcpType.BINARY, b"\1\2")
    assert entries_of(about, entry * 2) == ["35.5 % of %x0102."] * 2
    for wrong in (entry[:-1], entry[:5], bytes(8) + b"\1"):
        with wording.raises(WireFormatError):
            entries_of(about, wrong)
