"""Rings that no signal can go around are no loops."""

from orchestrator import System
from orchestrator.core.simunits import Block, Input, Output, State, block
from orchestrator.core.system import closed_loops


class TwoSprings(Block):
    """Two springs side by side, without a state."""

    x: float = Input()
    z: float = Input()
    fx: float = Output(depends_on=("x",))
    fz: float = Output(depends_on=("z",))


class TwoAxes(Block):
    fx: float = Input()
    fz: float = Input()
    x: float = Output(depends_on=())
    z: float = Output(depends_on=())
    memory: float = State(start=0.0)


class Filtered(TwoSprings):
    """The same with a state, through which one axis may act on the other."""

    memory: float = State(start=0.0)


def two_axes(spring):
    system = System("two axes").add("body", block("axes")).add("spring", block(spring))
    for axis in "xz":
        system = system.connect(f"body.{axis}", f"spring.{axis}", delay="16 ms")
        system = system.connect(f"spring.f{axis}", f"body.f{axis}")
    return system


def test_channels_without_a_state_do_not_cross(register):
    register(axes=TwoAxes, springs=TwoSprings, filtered=Filtered)
    rings = [str(loop) for loop in closed_loops(two_axes("springs"))]
    assert rings == ["body.x -> spring.fx -> body", "body.z -> spring.fz -> body"]
    assert len(closed_loops(two_axes("filtered"))) == 4
