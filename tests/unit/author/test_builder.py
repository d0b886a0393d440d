"""Systems are put together, changed and taken apart as values."""

import re
from dataclasses import replace

import pytest

from orchestrator.core.diagnostics import ConnectorMismatchError, DescriptionError, UnknownNameError
from orchestrator.core.system import Causality, System


def lines(system):
    return [str(c) for c in system.connections]


def refused(kind, text):
    return pytest.raises(kind, match=re.escape(text))


def test_a_system_is_added_and_runs_flat(rig):
    flat = rig.check(algebraic_loops=True).flat()
    assert list(flat.components) == ["spring", "arm/motor"]
    assert lines(flat) == ["arm/motor.y -> spring.u", "spring.y -> arm/motor.u"]
    assert flat.connections[0].delay.nominal_ns == 16_000_000
    assert flat.components["arm/motor"].values == {"k": 3.0}


def test_exposing_takes_what_it_leads_to(arm):
    force = arm.connectors["force"]
    assert (force.causality, force.unit, force.shape) == (Causality.INPUT, "N", ())
    assert arm.connectors["position"].causality is Causality.OUTPUT
    assert arm.connectors["k"].causality is Causality.PARAMETER
    assert arm.values == {"k": 3.0}, "the value has moved up: what is outside decides"
    assert arm.components["motor"].values == {}


def test_a_value_goes_down_in_the_unit_of_what_it_reaches(part):
    system = (
        System("s").add("a", part(k="N/m")).add("b", part(k="kN/m")).expose("k", to=["a.k", "b.k"])
    )
    flat = system.set("k", 500.0).closed()
    assert flat.components["a"].values == {"k": 500.0}
    assert flat.components["b"].values == {"k": 0.5}


@pytest.mark.parametrize(
    ("to", "text"),
    [
        (["a.u", "a.y"], "'a.u' is input Real, but 'a.y' is output Real; expected the same of all"),
        (["a.y", "b.y"], "leads to 2 outputs, a.y, b.y; expected one"),
        (["a.u", "b.u"], "'a.u' and 'b.u': unit 'm'"),
        (["a.uu"], "has no connector 'uu'. Did you mean 'u'?"),
        (
            ["c.u"],
            "no component or nested system 'c'; its components and nested systems",
        ),
        ([], "expected at least one connector"),
    ],
)
def test_what_cannot_be_exposed(part, to, text):
    system = System("s").add("a", part(u="m", y="N")).add("b", part(u="N", y="N"))
    with refused(DescriptionError, text):
        system.expose("x", to=to)


def test_values_that_differ_are_not_chosen_from(part):
    system = System("s").add("a", part(k="m"), k=1.0).add("b", part(k="m"), k=2.0)
    with refused(DescriptionError, "its targets have the values 1.0, 2.0; choose one: value=.."):
        system.expose("k", to=["a.k", "b.k"])
    assert system.expose("k", to=["a.k", "b.k"], value=3.0).values == {"k": 3.0}


def test_setting_through_the_hierarchy(rig):
    assert rig.value("arm.k") == 3.0
    assert rig.set("arm.k", 4.0).flat().components["arm/motor"].values == {"k": 4.0}
    deep = rig.set("arm/motor.k", 5.0)
    assert deep.flat().components["arm/motor"].values == {"k": 5.0}
    assert deep.unset("arm/motor.k") == rig
    with refused(UnknownNameError, "system 'arm' has no component or nested system 'moter'. Did"):
        rig.set("arm/moter.k", 1.0)
    with refused(DescriptionError, "'arm/motor.y' is an output; only inputs and parameters can be"):
        rig.set("arm/motor.y", 1.0)
    with refused(DescriptionError, "arm/motor.k: expected a Real in N/m, found 'x'"):
        rig.set("arm/motor.k", "x")


def test_lines_inside_of_a_nested_system(rig, part):
    grown = rig.edit("arm", lambda arm: arm.add("brake", part(u="m")))
    grown = grown.connect("arm/motor.y", "arm/brake.u")
    assert lines(grown.systems["arm"])[-1] == "motor.y -> brake.u"
    assert grown.disconnect("arm/motor.y", "arm/brake.u").systems["arm"].connections == (
        rig.systems["arm"].connections
    )
    with refused(DescriptionError, "'arm/motor.y' is inside of system 'arm'; lead it out"):
        rig.connect("arm/motor.y", "spring.u")


def test_disconnecting(rig):
    assert lines(rig.disconnect("spring.y", "arm.force")) == ["arm.position -> spring.u"]
    assert lines(rig.disconnect("spring.u")) == ["spring.y -> arm.force"]
    assert lines(rig.disconnect("arm")) == []
    assert lines(rig.edit("arm", lambda s: s.disconnect("force")).systems["arm"]) == [
        "motor.y -> position",
        "k -> motor.k",
    ]
    with refused(
        UnknownNameError,
        "has no connection spring.y -> spring.u. Did you mean 'spring",
    ):
        rig.disconnect("spring.y", "spring.u")


def test_removing_takes_the_connections_along(rig):
    assert lines(rig.remove("spring")) == []
    assert list(rig.remove("arm/motor").systems["arm"].connectors) == ["force", "position", "k"]
    with refused(UnknownNameError, "no component or nested system 'sprin'. Did you mean 'spring'?"):
        rig.remove("sprin")


def test_renaming_keeps_order_and_connections(rig):
    changed = rig.rename("arm/motor", "engine").rename("arm", "leg")
    assert lines(changed.flat()) == ["leg/engine.y -> spring.u", "spring.y -> leg/engine.u"]
    assert changed.rename("leg", "arm").rename("arm/engine", "motor") == rig
    with refused(DescriptionError, "already has a nested system 'arm'"):
        rig.rename("spring", "arm")
    with refused(
        DescriptionError,
        "'a.b': a name must have at least one character and neither a dot nor a slash",
    ):
        rig.rename("spring", "a.b")


def test_moving_into_a_system(rig, part):
    loose = rig.add("brake", part(u="m"), u=0.0)
    moved = loose.move("brake", "arm")
    assert list(moved.systems["arm"].components) == ["motor", "brake"]
    assert moved.move("arm/brake", "") == loose
    with refused(DescriptionError, "cannot be moved into itself"):
        rig.move("arm", "arm")


def test_swapping_in_a_nested_system(rig, part):
    inner = rig.set("arm/motor.k", 2000.0)
    swapped = inner.swap("arm/motor", part("other", u="kN", y="mm", k="kN/m"))
    motor = swapped.component("arm/motor")
    assert (motor.name, motor.source.location, motor.values) == ("motor", "other", {"k": 2.0})
    with pytest.raises(DescriptionError) as error:
        inner.swap("arm/motor", part("other", u="m", y="m"))
    connected, mismatch, unknown = error.value.problems
    assert mismatch.endswith("'u' is input Real in m there, expected input Real in N")
    assert connected.endswith("which is connected; its connectors are u and y")
    assert unknown.endswith("it has no parameter k, which the system sets")


def test_merging(rig, part):
    other = System("o").add("spring", part(u="m", y="N")).add("b", part(u="N"))
    both = rig.merge(other.connect("spring.y", "b.u"))
    assert list(both.components) == ["spring", "b"]
    assert lines(both) == [*lines(rig), "spring.y -> b.u"]
    assert rig.merge(rig) == rig
    with refused(DescriptionError, "cannot merge 'o' into 'rig': both have 'spring', and they"):
        rig.merge(replace(other, components={"spring": part(u="N")}))
    with refused(DescriptionError, "both have 'arm'"):
        rig.merge(System("o").add("arm", part(u="N")))


def test_a_name_is_given_once_and_holds_no_separator(rig, part):
    with refused(DescriptionError, "already has a nested system 'arm'"):
        rig.add("arm", part())
    for name in ("", "a.b", "a/b"):
        with refused(DescriptionError, "neither a dot nor a slash"):
            rig.add(name, part())
    with refused(DescriptionError, "expected a System, or what fmu"):
        rig.add("x", "Chaser.fmu")


def test_a_table_of_values_on_a_line(part):
    system = System("s").connect("a.y", "b.u", mapping={0: 3, 1: 4})
    assert system.connections[0].transformation.entries == ((0, 3), (1, 4))
    with refused(DescriptionError, "expected a factor and an offset, or a mapping"):
        system.connect("a.y", "b.u", mapping={0: 3}, factor=2.0)


def test_withdrawing_a_connector(arm):
    assert list(arm.withdraw("force").connectors) == ["position", "k"]
    assert lines(arm.withdraw("k")) == ["force -> motor.u", "motor.y -> position"]
    with refused(UnknownNameError, "Did you mean 'force'?"):
        arm.withdraw("forces")


def test_a_parameter_of_the_system_is_no_signal(part):
    system = System("s").add("a", part(k="m", u="m"), u=0.0).expose("k", to="a.k", value=1.0)
    assert system.check() is system
    with refused(ConnectorMismatchError, "'a.k' is a parameter; a connection must end at an input"):
        system.add("b", part(y="m")).connect("b.y", "a.k").check()
