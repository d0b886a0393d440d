"""What units are given while initial values are exchanged."""

import math

import pytest

from orchestrator import simulate
from orchestrator.core.simunits import Block, Input, Output, Parameter, State, block, fmu
from orchestrator.core.system import System
from orchestrator.export.system import export_system


class Aim(Block):
    """A direction, and the least length that it was ever made of."""

    u: float = Input(start=1.0)
    v: float = Input()
    angle: float = Output()
    least: float = Output()
    shortest: float = State(start=1e9)

    def initialise(self, t):
        self.take()

    def step(self, t, h):
        self.take()

    def take(self):
        length = math.sqrt(self.u**2 + self.v**2)
        self.shortest = min(self.shortest, length)
        self.least = self.shortest
        self.angle = math.atan2(self.v / length, self.u / length)


class Vector(Block):
    """A vector that does not change."""

    x: float = Output(depends_on=())
    y: float = Output(depends_on=())
    x0: float = Parameter(start=3.0)

    def initialise(self, t):
        self.x, self.y = self.x0, 4.0

    def step(self, t, h):
        pass


def aimed(delay: str | None = None) -> System:
    """The reader stands before what it reads."""
    return (
        System("aimed")
        .add("aim", block("aim"))
        .add("vector", block("vector"))
        .connect("vector.x", "aim.u", delay=delay)
        .connect("vector.y", "aim.v", delay=delay)
        .expose("least", "aim.least")
        .expose("angle", "aim.angle")
    )


class Separation(Block):
    """A force that pulls back, of the distance between two positions 1000 km away: y = c - 2 u."""

    u: float = Input()
    y: float = Output()

    def initialise(self, t):
        self.step(t, 0.0)

    def step(self, t, h):
        self.y = 1e-10 - 2.0 * ((1e6 + self.u) - 1e6)


class Spring(Block):
    """The distance that a force gives."""

    u: float = Input()
    y: float = Output()

    def initialise(self, t):
        self.y = self.u

    def step(self, t, h):
        self.y = self.u


@pytest.fixture(autouse=True)
def _blocks(register):
    register(aim=Aim, vector=Vector, separation=Separation, spring=Spring)


WAYS = [("jacobi", None), ("jacobi", "0 ms"), ("gauss-seidel", "0 ms"), ("gauss-seidel", None)]


@pytest.mark.parametrize(("algorithm", "delay"), WAYS)
def test_a_unit_is_not_given_zeros_for_what_was_not_evaluated(algorithm, delay):
    result = simulate(aimed(delay), step="1 ms", stop="3 ms", algorithm=algorithm)
    assert result["aim.angle"].tolist() == [math.atan2(0.8, 0.6)] * 4
    # that of the vector, or of the sides that it and its source have by themselves
    assert set(result["aim.least"]) <= {1.0, 5.0}


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize(("algorithm", "delay"), WAYS)
def test_an_exported_system_does_the_same(tmp_path, algorithm, delay, fmi):
    inner = simulate(aimed(delay), step="1 ms", stop="3 ms", algorithm=algorithm)
    path = export_system(
        aimed(delay), tmp_path / "aimed.fmu", fmi=fmi, step="1 ms", algorithm=algorithm
    )
    outer = simulate(System("outer").add("it", fmu(path)), step="1 ms", stop="3 ms")
    for name in ("angle", "least"):
        assert outer[f"it.{name}"].tolist() == inner[f"aim.{name}"].tolist()


def test_a_loop_whose_solution_is_nearly_zero_starts_to_its_rounding():
    """The distance is rounded to 1.2e-10 m: no residual is far below the solution c / 3."""
    system = (
        System("balance")
        .add("force", block("separation"))
        .add("spring", block("spring"))
        .connect("force.y", "spring.u")
        .connect("spring.y", "force.u")
    )
    result = simulate(system, step="1 ms", stop="1 ms", algorithm="newton")
    assert result["force.y"].tolist() == pytest.approx([1e-10 / 3] * 2, abs=3e-10)
