import pytest

from orchestrator.core.diagnostics import (
    AlgebraicLoopError,
    ConnectorMismatchError,
    DescriptionError,
    UnitMismatchError,
    UnknownNameError,
)
from orchestrator.core.simunits import block
from orchestrator.core.system import System

pytestmark = pytest.mark.usefixtures("sample_blocks")


def pair(a="integrator", b="integrator"):
    return System("pair").add("a", block(a)).add("b", block(b))


def fed(system):
    """Keep all inputs at zero, so that only the problem that is looked for is left."""
    for component in system.components.values():
        for c in component.connectors.values():
            if c.causality == "input" and not c.shape:
                start = {"Integer": 0, "Boolean": False}.get(c.type, 0.0)
                system = system.set(f"{component.name}.{c.name}", start)
    return system


def test_sound_systems_pass():
    system = fed(pair()).connect("a.y", "b.u")
    assert system.check() is system


@pytest.mark.parametrize(
    ("source", "target", "kind"),
    [
        ("aa.y", "b.u", UnknownNameError),
        ("a.yy", "b.u", UnknownNameError),
        ("a.y", "b.zzz", UnknownNameError),
        ("a.u", "b.u", ConnectorMismatchError),
        ("a.y", "b.y", ConnectorMismatchError),
        ("a.y", "b.y0", ConnectorMismatchError),
    ],
)
def test_ends(source, target, kind, wording):
    with wording.raises(kind) as caught:
        fed(pair()).connect(source, target).check()
    assert f"connection {source} -> {target}" in str(caught.value)


def test_types(wording):
    with wording.raises(
        ConnectorMismatchError, code="CON104", place="connection a.y -> b.n", key="a.y -> b.n"
    ):
        fed(pair("gain", "typed")).connect("a.y", "b.n").check()


def test_shapes(wording):
    system = fed(pair("matrix", "integrator")).set("a.u", (0.0, 0.0)).connect("a.y", "b.u")
    with wording.raises(
        ConnectorMismatchError, code="CON105", place="connection a.y -> b.u", key="a.y -> b.u"
    ):
        system.check()


def test_units(wording):
    system = fed(pair("body", "virtual_damper")).connect("a.position", "b.velocity")
    with wording.raises(
        UnitMismatchError,
        code="CON106",
        place="connection a.position -> b.velocity",
        key="a.position -> b.velocity",
    ):
        system.check()


def test_two_sources(wording):
    system = fed(pair()).connect("a.y", "b.u").connect("b.y", "b.u")
    with wording.raises(ConnectorMismatchError, code="CON108", key="b.u"):
        system.check()


def test_values(wording):
    system = fed(System("s").add("a", block("gain"), kk=1.0))
    with wording.raises(
        UnknownNameError, code="VAL101", place="component 'a' (block:gain)", key="a.kk"
    ):
        system.check()
    system = fed(System("s").add("a", block("gain"), y=1.0))
    with wording.raises(
        DescriptionError, code="VAL102", place="component 'a' (block:gain)", key="a.y"
    ):
        system.check()
    system = System("s").add("a", block("matrix"), u=[1.0, 2.0, 3.0])
    with wording.raises(
        DescriptionError, code="VAL103", place="component 'a' (block:matrix)", key="a.u"
    ):
        system.check()


def test_unconnected(wording):
    with wording.raises(DescriptionError, code="CON109", key="b.u"):
        pair().set("a.u", 0.0).check()


def test_problems_are_raised_together():
    system = (
        pair("gain", "virtual_damper")
        .set("a.k", 2.0)
        .add("c", block("gain"), nothing=1.0)
        .connect("a.y", "b.velocity")
        .connect("b.force", "a.u")
        .connect("x.y", "c.u")
        .connect("a.y", "b.b")
    )
    with pytest.raises(DescriptionError) as caught:
        system.check()
    problems = caught.value.problems
    assert [p.split(":")[0] for p in problems] == [
        "connection x.y -> c.u",
        "connection a.y -> b.b",
        "component 'c' (block",
        "algebraic loop without a delay",
    ]
    assert str(caught.value) == "\n".join(problems)


def test_the_algebraic_loop_is_printed():
    system = (
        pair("gain", "gain")
        .add("c", block("gain"))
        .connect("a.y", "b.u")
        .connect("b.y", "c.u")
        .connect("c.y", "a.u")
    )
    with pytest.raises(AlgebraicLoopError) as caught:
        system.check()
    assert "a.u -> a.y -> b.u -> b.y -> c.u -> c.y -> a.u;" in str(caught.value)
    system.with_delay("b.y", "c.u", "1 ms").check()


def test_a_component_that_feeds_itself(wording):
    with wording.raises(AlgebraicLoopError, code="LOO102", key="a"):
        System("s").add("a", block("gain")).connect("a.y", "a.u").check()
    System("s").add("a", block("integrator")).connect("a.y", "a.u").check()
