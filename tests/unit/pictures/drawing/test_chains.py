from dataclasses import replace

from orchestrator.core.system import Bus, Causality, Connector, Endpoint, System, TransportDelay
from orchestrator.pictures.drawing import as_prepared
from orchestrator.pictures.drawing.facts import chains_of

from .conftest import component


def test_a_flat_connection_knows_its_segments(arm):
    chains = chains_of(arm)
    flat = arm.flat()
    assert set(chains) >= {(c.source, c.target) for c in flat.connections}
    ends = (Endpoint("planner", "command_2"), Endpoint("elbow/drive", "reference"))
    keys = [segment.key for segment in chains[ends]]
    assert keys == ["planner.command_2 -> elbow.command", "elbow: command -> drive.reference"]


def test_signals_pass_dictionaries():
    entry = {"x": Connector("x", Causality.OUTPUT)}
    inner = System("inner", buses={"b": Bus("b", "shared", entry)}).add("g", component(["u"]))
    inner = inner.connect("b.x", "g.u")
    system = System("top", systems={"inner": inner}, buses={"bus": Bus("bus", "shared", entry)})
    system = system.add("s", component([], ["y"])).connect("s.y", "bus.x")
    keys = [s.key for s in chains_of(system)[Endpoint("s", "y"), Endpoint("inner/g", "u")]]
    assert keys == ["s.y -> bus.x", "inner: b.x -> g.u"]


def test_what_was_prepared_comes_back_into_the_nested_system(arm):
    flat = arm.flat()
    flat = flat.replace(flat.components["elbow/motor"].with_values({"torque": 3.0}))
    flat = flat.with_delay("planner.command_2", "elbow/drive.reference", "40 ms")
    flat = flat.with_delay("shoulder/drive.torque", "shoulder/motor.torque", None)
    nested = as_prepared(arm, flat)
    assert nested.systems["elbow"].components["motor"].values == {"torque": 3.0}
    assert nested.flat() == flat
    # 16 ms stay where they were declared, the rest is on the last line.
    last = next(c for c in nested.systems["elbow"].connections if c.target.connector == "reference")
    assert last.delay == TransportDelay.of("24 ms")


def test_a_shorter_delay_takes_the_place_of_those_on_the_way(arm):
    flat = arm.flat().with_delay("planner.command_2", "elbow/drive.reference", "1 ms")
    nested = as_prepared(arm, flat)
    assert nested.flat() == flat


def test_an_unchanged_system_is_the_same(arm):
    assert as_prepared(arm, arm.flat()) == arm
    assert as_prepared(replace(arm, systems={}, connections=()), arm.flat()).systems == {}
