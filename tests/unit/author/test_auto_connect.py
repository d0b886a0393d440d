"""What names, units and types leave no doubt about is connected; all else is listed."""

from dataclasses import replace

from orchestrator.core.diagnostics import UnknownNameError
from orchestrator.core.system import (
    Causality,
    Component,
    Connector,
    DataType,
    Source,
    SourceKind,
    System,
)


def part(**kinds):
    """Connectors: ``name="in N"``."""
    connectors = {}
    for name, text in kinds.items():
        way, _, unit = text.partition(" ")
        causality = {"in": Causality.INPUT, "out": Causality.OUTPUT}[way]
        connectors[name] = Connector(name, causality, unit=unit or None)
    return Component("c", Source(SourceKind.BLOCK, "c"), connectors)


def told(system, *names):
    found = system.auto_connect(*names)
    return (
        [str(line) for line in found.connected],
        {str(end): [str(s) for s in sources] for end, sources in found.ambiguous.items()},
        [str(end) for end in found.unconnected],
    )


def test_by_name_before_unit():
    system = System("s").add("a", part(Force_A="out N", other="out N"))
    system = system.add("b", part(force_a="in N"))
    assert told(system) == (["a.Force_A -> b.force_a"], {}, [])


def test_by_unit_if_there_is_one_of_each():
    system = System("s").add("a", part(x="out mm", f="in N")).add("b", part(u="in m", y="out N"))
    assert told(system) == (["b.y -> a.f", "a.x -> b.u"], {}, [])


def test_several_are_listed_and_never_guessed():
    system = System("s").add("a", part(x="out m", y="out m")).add("b", part(u="in m"))
    assert told(system) == ([], {"b.u": ["a.x", "a.y"]}, [])
    asked_twice = System("s").add("a", part(x="out m")).add("b", part(u="in m", v="in m"))
    assert told(asked_twice) == ([], {"b.u": ["a.x"], "b.v": ["a.x"]}, [])


def test_what_nothing_fits_is_left():
    system = System("s").add("a", part(x="out m")).add("b", part(f="in N", x="in"))
    assert told(system) == (["a.x -> b.x"], {}, ["b.f"])
    by_unit_alone = System("s").add("a", part(x="out m")).add("b", part(u="in"))
    assert told(by_unit_alone) == ([], {}, ["b.u"]), "a unit that is not declared is no reason"


def test_type_and_shape_must_agree():
    system = System("s").add("a", part(x="out")).add("b", part(x="in"))
    whole = replace(system.components["b"].connectors["x"], type=DataType.INTEGER)
    column = replace(system.components["b"].connectors["x"], shape=(3,))
    for other in (whole, column):
        changed = replace(system.components["b"], connectors={"x": other})
        assert told(system.replace(changed)) == ([], {}, ["b.x"])


def test_inputs_that_are_fed_or_have_a_value_are_left_alone():
    system = System("s").add("a", part(x="out m")).add("b", part(x="in m"), x=0.0)
    assert told(system) == ([], {}, [])
    fed = System("s").add("a", part(x="out m")).add("b", part(x="in m")).connect("a.x", "b.x")
    assert told(fed) == ([], {}, [])


def test_between_named_parts_only_and_through_nested_systems(wording):
    arm = System("arm").add("m", part(f="in N")).expose("f", to="m.f")
    system = System("s").add("arm", arm).add("a", part(f="out N")).add("b", part(f="out N"))
    assert told(system) == ([], {"arm.f": ["a.f", "b.f"]}, [])
    assert told(system, "a", "arm") == (["a.f -> arm.f"], {}, [])
    found = system.auto_connect("a", "arm")
    assert found.system.connections == found.connected
    assert str(found) == "+ a.f -> arm.f"
    with wording.raises(UnknownNameError):
        system.auto_connect("arn")
