"""Nested systems become one level, with what stands on the lines between composed."""

from dataclasses import replace

import pytest

from orchestrator.core.diagnostics import (
    ConnectorMismatchError,
    DescriptionError,
    UnknownNameError,
)
from orchestrator.core.system import (
    Bus,
    Causality,
    Component,
    Connection,
    Connector,
    DataType,
    Endpoint,
    LinearTransformation,
    MappingTransformation,
    Source,
    SourceKind,
    System,
    TransportDelay,
)

IN, OUT = Causality.INPUT, Causality.OUTPUT


def ports(**units):
    """Connectors: ``u`` and those that begin with it go in, others out."""
    return {
        name: Connector(name, IN if name.startswith("u") else OUT, unit=unit)
        for name, unit in units.items()
    }


def part(name, **units):
    return Component(name, Source(SourceKind.BLOCK, "gain"), ports(**units))


def line(source, target, **more):
    return Connection(Endpoint.of_line(source), Endpoint.of_line(target), **more)


def nested(inner_lines, outer_lines, *, unit="m", deeper=False, **more):
    """A source, a nested system with one component, and a sink."""
    arm = System(
        "arm",
        {"motor": part("motor", u="m", y="m")},
        tuple(inner_lines),
        connectors=ports(u=unit, y=unit),
        **more,
    )
    if deeper:
        around = (line("u", "arm.u"), line("arm.y", "y"))
        arm = System("hull", {}, around, connectors=ports(u=unit, y=unit), systems={"arm": arm})
    components = {"a": part("a", y="m"), "b": part("b", u="m")}
    return System("top", components, tuple(outer_lines), systems={"arm": arm})


INNER = (line("u", "motor.u"), line("motor.y", "y"))
OUTER = (line("a.y", "arm.u"), line("arm.y", "b.u"))


def test_a_flat_system_is_itself():
    system = System("s", {"a": part("a", y="m")})
    assert system.flat() is system


def test_components_are_called_by_their_path_and_lines_pass_connectors_of_systems():
    flat = nested(INNER, OUTER).flat()
    assert list(flat.components) == ["a", "b", "arm/motor"]
    assert set(map(str, flat.connections)) == {"a.y -> arm/motor.u", "arm/motor.y -> b.u"}
    assert all(c.transformation is None for c in flat.connections)
    assert not flat.systems


def test_two_levels():
    flat = nested(INNER, OUTER, deeper=True).flat()
    assert set(map(str, flat.connections)) == {"a.y -> arm/arm/motor.u", "arm/arm/motor.y -> b.u"}


def test_unit_conversions_on_the_way_cancel_or_compose():
    plain = nested(INNER, OUTER, unit="mm").flat()
    a_to_motor = next(c for c in plain.connections if c.source.component == "a")
    # m -> mm -> m: exactly the identity, so that nothing is left to do
    assert a_to_motor.transformation is None
    assert not a_to_motor.suppress_unit_conversion
    doubled = (line("u", "motor.u", transformation=LinearTransformation(1.0, 3.0)), INNER[1])
    first = line("a.y", "arm.u", transformation=LinearTransformation(2.0, 500.0))
    composed = nested(doubled, (first, OUTER[1]), unit="mm").flat()
    found = next(c for c in composed.connections if c.source.component == "a")
    # y [m] -> 2 * 1000 y + 500 [mm] -> (2000 y + 500) / 1000 + 3 [m] = 2 y + 3.5
    assert found.suppress_unit_conversion
    assert found.transformation.factor == pytest.approx(2.0, rel=1e-15)
    assert found.transformation.offset == pytest.approx(3.5, rel=1e-15)


def test_delays_in_a_row_add_up():
    inner = (line("u", "motor.u", delay=TransportDelay(3)), INNER[1])
    outer = (line("a.y", "arm.u", delay=TransportDelay(4)), OUTER[1])
    found = next(c for c in nested(inner, outer).flat().connections if c.source.component == "a")
    assert found.delay.nominal_ns == 7


def test_tables_compose_with_tables():
    swap = MappingTransformation(((0, 5), (1, 6)))
    again = MappingTransformation(((5, 1), (6, 0)))
    integer = {
        "u": Connector("u", IN, DataType.INTEGER),
        "y": Connector("y", OUT, DataType.INTEGER),
    }
    motor = Component("motor", Source(SourceKind.BLOCK, "gain"), integer)
    inner = (line("u", "motor.u", transformation=again), INNER[1])
    arm = System("arm", {"motor": motor}, inner, connectors=integer)
    a = Component("a", Source(SourceKind.BLOCK, "gain"), {"y": integer["y"]})
    lines = (line("a.y", "arm.u", transformation=swap),)
    (found,) = System("top", {"a": a}, lines, systems={"arm": arm}).flat().connections
    assert found.transformation == MappingTransformation(((0, 1), (1, 0)))


def test_a_value_at_a_connector_that_nothing_feeds_is_that_of_what_is_behind():
    flat = nested(INNER, OUTER[1:], unit="mm", values={"u": 250.0}).flat()
    assert flat.components["arm/motor"].values == {"u": 0.25}


def test_the_value_of_the_component_itself_stays():
    system = nested(INNER, OUTER[1:], values={"u": 250.0})
    arm = system.systems["arm"]
    arm = arm.replace(arm.components["motor"].with_values({"u": 1.0}))
    flat = replace(system, systems={"arm": arm}).flat()
    assert flat.components["arm/motor"].values == {"u": 1.0}


def test_own_connectors_of_the_top_stay_until_it_is_closed(wording):
    system = replace(
        nested(INNER, (line("force", "arm.u"), line("arm.y", "b.u"), line("arm.y", "seen"))),
        connectors={"force": Connector("force", IN), "seen": Connector("seen", OUT)},
        values={"force": 3.0},
    )
    flat = system.flat()
    assert {str(c) for c in flat.connections} == {
        "force -> arm/motor.u",
        "arm/motor.y -> b.u",
        "arm/motor.y -> seen",
    }
    closed = flat.closed()
    assert {str(c) for c in closed.connections} == {"arm/motor.y -> b.u"}
    assert closed.components["arm/motor"].values == {"u": 3.0}
    with wording.raises(DescriptionError):
        replace(flat, values={}).closed()


def test_buses_join_signals_of_different_systems():
    entry = {"speed": Connector("speed", OUT)}
    arm = System(
        "arm",
        {"motor": part("motor", y="m")},
        (line("motor.y", "signals.speed"),),
        buses={"signals": Bus("signals", "vehicle", entry)},
    )
    top = System(
        "top",
        {"b": part("b", u="m"), "c": part("c", u="m")},
        (line("here.speed", "b.u"), line("here.speed", "c.u")),
        systems={"arm": arm},
        buses={"here": Bus("here", "vehicle", entry)},
    )
    flat = top.flat()
    assert {str(c) for c in flat.connections} == {"arm/motor.y -> b.u", "arm/motor.y -> c.u"}
    assert not flat.buses


def test_two_sources_of_a_connector_on_the_way_are_refused(wording):
    lines = (*OUTER, line("c.y", "arm.u"))
    system = nested(INNER, lines)
    system = replace(system, components={**system.components, "c": part("c", y="m")})
    with wording.raises(ConnectorMismatchError):
        system.flat()


def test_connectors_of_systems_that_feed_each_other_are_refused(wording):
    ring = System("arm", {}, (line("u", "y"),), connectors=ports(u="m", y="m"))
    lines = (line("arm.y", "arm.u"), line("arm.y", "b.u"))
    system = System("top", {"b": part("b", u="m")}, lines, systems={"arm": ring})
    with wording.raises(DescriptionError):
        system.flat()


@pytest.mark.parametrize(
    ("inner", "outer"),
    [
        ((*INNER, line("uu", "motor.gain")), OUTER),
        ((line("uu", "motor.u"), INNER[1]), OUTER),
        (INNER, (*OUTER, line("a.y", "arm.uu"))),
    ],
    ids=["a parameter", "an input", "from outside"],
)
def test_a_connector_that_a_nested_system_does_not_have_is_refused(inner, outer, wording):
    """Else the connection would be left out, and the component would keep its own value."""
    with wording.raises(UnknownNameError):
        nested(inner, outer).flat()


def test_the_check_of_a_nested_system_is_that_of_the_flat_one(wording):
    system = nested(INNER, OUTER[:1])
    with wording.raises(DescriptionError, code="CON109", key="b.u"):
        system.check()
    assert nested(INNER, OUTER).check().systems


@pytest.mark.parametrize("unit", ["m", "mm", "km", None])
def test_a_connector_on_the_way_that_says_no_unit_has_that_of_its_signal(unit):
    system = nested((line("u", "motor.u"), line("motor.y", "y")), OUTER, unit=unit)
    inner = system.systems["arm"]
    motor = replace(inner.components["motor"], connectors=ports(u="mm") | ports(y="m"))
    arm = replace(inner, components={"motor": motor})
    flat = replace(system, systems={"arm": arm}).flat()
    (into,) = (c for c in flat.connections if str(c.target) == "arm/motor.u")
    assert not into.suppress_unit_conversion  # metres to millimetres, as the two ends say
    assert into.transformation is None
