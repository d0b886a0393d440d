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
    ("source", "target", "kind", "message"),
    [
        (
            "aa.y",
            "b.u",
            UnknownNameError,
            "no component 'aa'. Did you mean 'a'. The components are",
        ),
        ("a.yy", "b.u", UnknownNameError, "no output connector 'yy'. Did you mean 'y'"),
        (
            "a.y",
            "b.zzz",
            UnknownNameError,
            r"no input connector 'zzz'; the only input connector",
        ),
        (
            "a.u",
            "b.u",
            ConnectorMismatchError,
            r"'a\.u' is an input; a connection must start at an output",
        ),
        (
            "a.y",
            "b.y",
            ConnectorMismatchError,
            r"'b\.y' is an output; a connection must end at an input",
        ),
        (
            "a.y",
            "b.y0",
            ConnectorMismatchError,
            r"'b\.y0' is a parameter; a connection must end at an input",
        ),
    ],
)
def test_ends(source, target, kind, message):
    with pytest.raises(kind, match=message) as caught:
        fed(pair()).connect(source, target).check()
    assert f"connection {source} -> {target}" in str(caught.value)


def test_types():
    with pytest.raises(ConnectorMismatchError, match="type Real is connected to Integer"):
        fed(pair("gain", "typed")).connect("a.y", "b.n").check()


def test_shapes():
    system = fed(pair("matrix", "integrator")).set("a.u", (0.0, 0.0)).connect("a.y", "b.u")
    with pytest.raises(ConnectorMismatchError, match=r"shape \(2,\) is connected to \(\)"):
        system.check()


def test_units():
    system = fed(pair("body", "virtual_damper")).connect("a.position", "b.velocity")
    with pytest.raises(UnitMismatchError, match=r"a\.position -> b\.velocity: unit 'm'"):
        system.check()


def test_two_sources():
    system = fed(pair()).connect("a.y", "b.u").connect("b.y", "b.u")
    with pytest.raises(ConnectorMismatchError, match=r"'b\.u' has 2 sources, 'a\.y' and 'b\.y'"):
        system.check()


def test_values():
    system = fed(System("s").add("a", block("gain"), kk=1.0))
    with pytest.raises(UnknownNameError, match=r"\(block:gain\): no parameter 'kk'. Did you mean"):
        system.check()
    system = fed(System("s").add("a", block("gain"), y=1.0))
    with pytest.raises(DescriptionError, match="'y' is an output and cannot be set"):
        system.check()
    system = System("s").add("a", block("matrix"), u=[1.0, 2.0, 3.0])
    with pytest.raises(DescriptionError, match="as a tuple of 2 numbers in m, found"):
        system.check()


def test_unconnected():
    with pytest.raises(DescriptionError, match=r"'b\.u' \(a Real\) is not connected"):
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


def test_a_component_that_feeds_itself():
    with pytest.raises(AlgebraicLoopError, match=r"a\.u -> a\.y -> a\.u"):
        System("s").add("a", block("gain")).connect("a.y", "a.u").check()
    System("s").add("a", block("integrator")).connect("a.y", "a.u").check()
