from functools import lru_cache

import numpy as np
import pytest
from scipy.linalg import expm

from orchestrator import Block, Input, Output, Parameter, State, System, block


@lru_cache(maxsize=64)
def transition(h, a11, a12, a21, a22, b1, b2):
    return expm(h * np.array([[a11, a12, b1], [a21, a22, b2], [0.0, 0.0, 0.0]]))


class SecondOrder(Block):
    """x' = A x + B u, y = C x: exact over a step with its input held."""

    u: float = Input()
    a: np.ndarray = Parameter(start=0.0, shape=(2, 2))
    b: np.ndarray = Parameter(start=0.0, shape=(2,))
    c: np.ndarray = Parameter(start=0.0, shape=(2,))
    kick: float = Parameter(start=0.0)
    y: float = Output(depends_on=())
    x: list = State(start=[0.0, 0.0])

    def initialise(self, t):
        self.x = [self.kick, 0.0]
        self.y = float(self.c @ self.x)

    def step(self, t, h):
        after = transition(h, *self.a.ravel(), *self.b) @ [*self.x, self.u]
        self.x = after[:2].tolist()
        self.y = float(self.c @ after[:2])


class Factor(Block):
    """y = k u at once."""

    u: float = Input()
    k: float = Parameter(start=1.0)
    y: float = Output(depends_on=("u",))

    def step(self, t, h):
        self.y = self.k * self.u


class Spring(Block):
    """A contact: a force where it is pressed, none where it is open."""

    u: float = Input()
    k: float = Parameter(start=1.0)
    y: float = Output(depends_on=("u",))

    def step(self, t, h):
        self.y = self.k * max(self.u, 0.0)


class Counter(Block):
    """A sampled memory: the input of the step before."""

    u: float = Input()
    y: float = Output(depends_on=())
    held: float = State(start=0.0)

    def step(self, t, h):
        self.y, self.held = self.held, self.u


@pytest.fixture
def mass():
    """Parameters of a mass with a spring and a damper of its own, whose output is its position."""

    def make(frequency, damping, *, kick=0.0, gain=1.0):
        w = 2.0 * np.pi * frequency
        return {
            "a": (0.0, 1.0, -w * w, -2.0 * damping * w),
            "b": (0.0, gain),
            "c": (1.0, 0.0),
            "kick": kick,
        }

    return make


#: Of the capture: kg, and N/m.
MASS, STIFFNESS = 750.0, 2510.0


def capture(delay="16 ms", damping=60.0, **line):
    """A body that is kicked, and a contact that knows its motion late.

    damping: N.s/m.
    line: Further attributes of the delayed connection.
    """
    motion = {"a": (0.0, 1.0, 0.0, 0.0), "b": (0.0, 1 / MASS), "c": (1.0, damping / STIFFNESS)}
    return (
        System("capture")
        .add("mass", block(SecondOrder), kick=0.01, **motion)
        .add("contact", block(Factor), k=-STIFFNESS)
        .connect("mass.y", "contact.u", delay=delay, **line)
        .connect("contact.y", "mass.u")
    )
