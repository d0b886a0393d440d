import pytest

from orchestrator.core.diagnostics import ConnectorMismatchError, DescriptionError, UnknownNameError
from orchestrator.core.simunits import Block, Input, Output, Parameter, block
from orchestrator.core.system import Source, System
from orchestrator.study import swap_component


class Damper(Block):
    velocity: float = Input(unit="m/s")
    force: float = Output(unit="N")
    b: float = Parameter(start=1.0, unit="N.s/m")


class KiloDamper(Block):
    velocity: float = Input(unit="mm/s")
    force: float = Output(unit="kN")
    b: float = Parameter(start=1.0, unit="kN.s/m")


class Spring(Block):
    velocity: float = Input(unit="m")
    force: float = Output(unit="N")
    b: float = Parameter(start=1.0, unit="N/m")


class Other(Block):
    velocity: float = Input(unit="m/s")


@pytest.fixture
def system(register):
    register(damper=Damper, kilo=KiloDamper, spring=Spring, other=Other)
    return (
        System("s")
        .add("damper", block("damper"), b=60.0)
        .add("after", block("damper"))
        .connect("damper.force", "after.velocity")
        .connect("after.force", "damper.velocity")
    )


def test_values_are_carried_over_in_the_new_unit(system):
    swapped = swap_component(system, "damper", Source.parse("block:kilo"))
    assert swapped.value("damper.b") == pytest.approx(0.06)
    assert system.value("damper.b") == 60.0


def test_units_that_do_not_convert(system):
    with pytest.raises(DescriptionError) as error:
        swap_component(system, "damper", Source.parse("block:spring"))
    assert len(error.value.problems) == 2
    assert "'velocity' is input Real in m there, expected input Real in m/s" in str(error.value)
    assert "'b' is parameter Real in N/m there" in str(error.value)


def test_ports_and_parameters_that_are_missing(system, wording):
    with wording.raises(DescriptionError) as error:
        swap_component(system, "damper", Source.parse("block:other"))
    assert "has no parameter b" in str(error.value)


def test_one_problem_keeps_its_class(system, wording):
    with wording.raises(UnknownNameError):
        swap_component(system, "dampr", Source.parse("block:kilo"))
    loose = System("loose").add("damper", block("damper"), velocity=0.0)
    with pytest.raises(ConnectorMismatchError):
        swap_component(loose, "damper", Source.parse("block:spring"))
