"""Units of which loops with and without solutions are made."""

import math

from benchmark_problems.exact import Exact

from orchestrator.core.simunits import Input, Output, Parameter, State, block
from orchestrator.core.system import System


class Square(Exact):
    """y = c + x^2, a parabola; x = y has two solutions, one or none."""

    x: float = Input()
    y: float = Output()
    c: float = Parameter(start=0.0)
    late: float = Parameter(start=math.inf)
    clock: float = State(start=0.0)

    def step(self, t, h):
        self.clock = t + h
        self.move(h)

    def move(self, h):
        self.y = self.x * self.x + self.c + (1.0 if self.clock > self.late else 0.0)


class Line(Exact):
    """y = k x + c."""

    x: float = Input()
    y: float = Output()
    k: float = Parameter(start=1.0)
    c: float = Parameter(start=0.0)

    def move(self, h):
        self.y = self.k * self.x + self.c


class Root(Exact):
    """y = c - sqrt(x + t): Python raises below zero."""

    x: float = Input()
    y: float = Output()
    c: float = Parameter(start=1.0)

    def move(self, h):
        self.y = self.c - 4.0 * math.sqrt(self.x)


class Grown(Exact):
    """y = x / 2; y = x + 1, which no loop with y = x meets, where a step is longer than 50 ms."""

    x: float = Input()
    y: float = Output()

    def move(self, h):
        self.y = self.x + 1.0 if h > 0.05 else 0.5 * self.x


class Broken(Exact):
    """y = x until 2 ms; then it fails, or takes somebody's Ctrl-C at the second try of a step."""

    x: float = Input()
    y: float = Output()
    interrupt: bool = Parameter(start=False)

    def step(self, t, h):
        if self.interrupt and self.x != self.y:
            raise KeyboardInterrupt
        if t >= 0.002:
            raise RuntimeError("broken")
        self.move(h)

    def move(self, h):
        self.y = self.x


class Ramp(Exact):
    """y rises by ``k`` a second from ``y0``."""

    y: float = Output(depends_on=())
    k: float = Parameter(start=1.0)
    y0: float = Parameter(start=0.0)

    def begin(self):
        self.y = self.y0

    def move(self, h):
        self.y += self.k * h


class NoNumber(Exact):
    """y = -x^3, but no number from 2 on."""

    x: float = Input()
    y: float = Output()

    def move(self, h):
        self.y = -(self.x**3) if self.x < 2.0 else math.nan


class Sum(Exact):
    """y = a + b."""

    a: float = Input()
    b: float = Input()
    y: float = Output()

    def move(self, h):
        self.y = self.a + self.b


def ring(one, other, *, values=None, other_values=None):
    return (
        System("ring")
        .add("one", block(one), **(values or {}))
        .add("other", block(other), **(other_values or {}))
        .connect("one.y", "other.x")
        .connect("other.y", "one.x")
    )
