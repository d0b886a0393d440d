"""Power ports: found, declared, connected as one, refused where they do not fit."""

import re
import zipfile
from dataclasses import replace

import pytest

from orchestrator.author import read_toml, write_toml
from orchestrator.core.diagnostics import (
    ConnectorMismatchError,
    DescriptionError,
    UnitMismatchError,
)
from orchestrator.core.master.schedule.compensation_table import power_bonds
from orchestrator.core.simunits.fmi.fmu_description import power_ports as terminals
from orchestrator.core.ssp import read_ssd, write_ssd
from orchestrator.core.system import (
    BaseUnit,
    Causality,
    Component,
    Connector,
    PowerPort,
    Source,
    SourceKind,
    System,
    power_ports,
)

IN, OUT = Causality.INPUT, Causality.OUTPUT
UNITS = {"force": "N", "velocity": "m/s", "position": "m", "torque": "N.m", "spin": "rad/s"}


def body(suffix="", shape=()):
    """Takes a force, gives its motion."""
    kinds = {"force": IN, "velocity": OUT, "position": OUT}
    return _part("body", kinds, suffix, shape)


def spring(suffix="", shape=()):
    """Takes motion, gives a force."""
    kinds = {"force": OUT, "velocity": IN, "position": IN}
    return _part("spring", kinds, suffix, shape)


def _part(name, kinds, suffix, shape):
    connectors = {
        key + suffix: Connector(key + suffix, kind, unit=UNITS[key], shape=shape)
        for key, kind in kinds.items()
    }
    return Component(name, Source(SourceKind.BLOCK, name), connectors)


def lines(system):
    return [str(c) for c in system.connections]


def refused(kind, text):
    return pytest.raises(kind, match=re.escape(text))


@pytest.fixture
def pair():
    return System("pair").add("body", body()).add("spring", spring("_a"))


def test_ports_are_found_by_names(pair):
    assert power_ports(pair.components["body"]) == {
        "port": PowerPort("port", ("force",), ("velocity",), ("position",))
    }
    assert list(power_ports(pair.components["spring"])) == ["a"]


def test_names_that_leave_a_doubt_are_no_port():
    two = {"force_a": IN, "torque_a": IN, "velocity_a": OUT}
    connectors = {key: Connector(key, kind, unit=UNITS[key[:-2]]) for key, kind in two.items()}
    part = Component("c", Source(SourceKind.BLOCK, "c"), connectors)
    assert list(power_ports(part)) == [], "two efforts, one flow"
    one_way = {"force": IN, "velocity": IN}
    connectors = {key: Connector(key, kind, unit=UNITS[key]) for key, kind in one_way.items()}
    assert power_ports(replace(part, connectors=connectors)) == {}


def test_the_effort_goes_one_way_and_the_flow_the_other(pair):
    for ends in (("body.port", "spring.a"), ("spring.a", "body.port")):
        system = pair.connect_power(*ends, effort_delay="2 ms")
        assert lines(system) == [
            "spring.force_a -> body.force",
            "body.velocity -> spring.velocity_a",
            "body.position -> spring.position_a",
        ]
        assert [c.delay and c.delay.nominal_ns for c in system.connections] == [
            2_000_000,
            None,
            None,
        ]
        assert system.connections[0].transformation is None, "the force acts on the body"
        assert system.check(algebraic_loops=True) is system


def test_both_count_into_their_components_so_the_effort_turns(pair):
    port = pair.components["spring"].with_power_port(
        "a", "force_a", "velocity_a", displacement="position_a", positive="in"
    )
    system = pair.replace(port).connect_power("spring.a", "body.port", delay="1 ms")
    assert [c.transformation and c.transformation.factor for c in system.connections] == [
        -1.0,
        None,
        None,
    ]
    assert {c.delay.nominal_ns for c in system.connections} == {1_000_000}


@pytest.mark.parametrize(
    ("parts", "kind", "text"),
    [
        ((body(), body()), ConnectorMismatchError, "both take the effort ('force' and 'force')"),
        ((spring(), spring()), ConnectorMismatchError, "both give the effort"),
        ((body(), spring(shape=(3,))), ConnectorMismatchError, "shape (3,) is connected to ()"),
        (
            (body(), spring("_a")),
            DescriptionError,
            "no power port 'port'; its only power port",
        ),
    ],
)
def test_ports_that_do_not_fit(parts, kind, text):
    system = System("s").add("one", parts[0]).add("two", parts[1])
    with refused(kind, text):
        system.connect_power("one.port", "two.port")


def test_what_is_no_power_is_refused(pair):
    wrong = pair.components["body"].with_power_port("b", "force", "position")
    across = pair.components["spring"].with_power_port("b", "force_a", "position_a")
    with refused(
        UnitMismatchError, "effort 'force_a' in N times flow 'position' in m is not a power"
    ):
        pair.replace(wrong).replace(across).connect_power("spring.b", "body.b")
    unit = replace(pair.components["spring"].connectors["force_a"], unit="kg")
    other = replace(
        pair.components["spring"],
        connectors={**pair.components["spring"].connectors, "force_a": unit},
    ).with_power_port("b", "force_a", "velocity_a", displacement="position_a")
    with refused(UnitMismatchError, "unit 'kg'"):
        pair.replace(other).connect_power("spring.b", "body.port")


def test_frames_are_the_same_or_something_stands_between():
    def six(part, frame):
        return part.with_power_port(
            "tip", "force", "velocity", displacement="position", frame=frame
        )

    system = System("s").add("body", six(body(shape=(3,)), "base"))
    system = system.add("spring", six(spring(shape=(3,)), "tool"))
    with refused(ConnectorMismatchError, "one is in frame 'base', the other in 'tool'; put a"):
        system.connect_power("body.tip", "spring.tip")
    same = system.replace(six(spring(shape=(3,)), "base"))
    assert len(same.connect_power("body.tip", "spring.tip").connections) == 3


def test_a_port_is_led_out_of_a_system():
    arm = System("arm").add("body", body()).expose_power("tip", to="body.port")
    assert list(arm.connectors) == ["tip_force", "tip_velocity", "tip_position"]
    system = System("s").add("arm", arm).add("spring", spring("_a"))
    joined = system.connect_power("arm.tip", "spring.a").check(algebraic_loops=True)
    assert "spring.force_a -> arm/body.force" in lines(joined.flat())


def test_declared_ports_are_the_bonds_of_the_energy(pair):
    found = power_bonds(pair.connect_power("body.port", "spring.a"))
    assert [tuple(map(str, bond)) for bond in found] == [
        ("spring.force_a -> body.force", "body.velocity -> spring.velocity_a")
    ]
    body_port = pair.components["body"].with_power_port("p", "force", "velocity", positive="in")
    spring_port = pair.components["spring"].with_power_port(
        "p", "force_a", "velocity_a", positive="in"
    )
    turned = pair.replace(body_port).replace(spring_port).connect_power("body.p", "spring.p")
    assert turned.connections[0].transformation is not None
    assert [tuple(map(str, bond)) for bond in power_bonds(turned)] == [
        ("spring.force_a -> body.force", "body.velocity -> spring.velocity_a")
    ], "a change of sign leaves the energy what it is"


def test_ports_come_back_from_files(pair, tmp_path):
    component = pair.components["body"].with_power_port(
        "tip", "force", "velocity", displacement="position", frame="base & tool", positive="in"
    )
    system = pair.replace(component)
    write_toml(system, tmp_path / "s.toml")
    assert read_toml(tmp_path / "s.toml") == system
    write_ssd(system, tmp_path / "s.ssd")
    assert read_ssd(tmp_path / "s.ssd") == system


TERMINALS = """<?xml version="1.0"?>
<fmiTerminalsAndIcons fmiVersion="3.0"><Terminals>
  <Terminal name="flange" matchingRule="plug">
    <TerminalMemberVariable variableName="force" variableKind="inflow"/>
    <TerminalMemberVariable variableName="velocity" variableKind="signal"/>
    <TerminalMemberVariable variableName="position" variableKind="signal"/>
    <TerminalMemberVariable variableName="inner" variableKind="signal"/>
  </Terminal>
  <Terminal name="half" matchingRule="plug">
    <TerminalMemberVariable variableName="force" variableKind="signal"/>
  </Terminal>
</Terminals></fmiTerminalsAndIcons>"""


def archive(path, text):
    with zipfile.ZipFile(path, "w") as zip_file:
        if text is not None:
            zip_file.writestr("terminalsAndIcons/terminalsAndIcons.xml", text)
    return path


def test_terminals_are_ports(tmp_path):
    path = archive(tmp_path / "x.fmu", TERMINALS)
    assert terminals(path, body().connectors) == {
        "flange": PowerPort.of(
            "flange", "force", "velocity", displacement="position", positive="in"
        )
    }
    assert terminals(archive(tmp_path / "y.fmu", None), body().connectors) == {}


def test_terminals_that_cannot_be_read_are_said(tmp_path, caplog):
    path = archive(tmp_path / "x.fmu", "<!DOCTYPE a><a/>")
    assert terminals(path, body().connectors) == {}
    assert "terminals are not read" in caplog.text


@pytest.mark.parametrize(
    ("unit", "definition", "found"),
    [
        ("rev/min", None, True),
        ("1/min", None, False),
        ("turning", BaseUnit({"rad": 1, "s": -1}, 0.1), True),
        ("turning", BaseUnit({"s": -1}, 1 / 60), False),
    ],
)
def test_counts_per_minute_are_no_flow_where_two_pi_may_be_missing(unit, definition, found):
    speed = Connector("angular_velocity", OUT, unit=unit, unit_definition=definition)
    torque = Connector("torque", IN, unit="N.m")
    ends = {end.name: end for end in (torque, speed)}
    motor = Component("motor", Source(SourceKind.BLOCK, "m"), ends)
    assert bool(power_ports(motor)) is found
