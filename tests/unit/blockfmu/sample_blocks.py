"""Blocks that use what a traced block may use."""

import math
from math import exp

import numpy as np

from orchestrator import Block, Input, Output, Parameter, State, where


class LowPass(Block):
    """First-order lag."""

    force: float = Input(unit="N", description="What is measured")
    measured: float = Output(unit="N", description="What arrives", depends_on=())
    lag: float = Parameter(start=0.002, unit="s", description="Time constant")
    last: float = State(start=0.25)

    def step(self, t: float, h: float) -> None:
        self.last = self.force + (self.last - self.force) * exp(-h / self.lag)
        self.measured = self.last


class Filter(Block):
    """Arrays, and a state that is one; a matrix that forms the outputs."""

    wrench = Input(unit="N", shape=(3,))
    gain = Parameter(start=2.0, shape=(3, 3))
    filtered = Output(unit="N", shape=(3,))
    size: float = Output()
    past = State(start=np.zeros(3))

    def step(self, t: float, h: float) -> None:
        self.past = self.past + (1.0 - exp(-h)) * (self.gain @ self.wrench - self.past)
        self.past[0] = np.minimum(self.past[0], 0.5)
        self.filtered[:] = np.maximum(self.past, -1.0) + 0.5 * self.wrench
        self.filtered[2] += np.sin(t + h)
        self.size = math.sqrt(self.past[0] ** 2 + self.past[1] * self.past[1] + 1e-3)


class Counter(Block):
    """Integers, Booleans, lists, remainders, saturation and its own way to begin."""

    push: float = Input()
    enabled: bool = Input(start=True)
    order: int = Input(start=3)
    limit: float = Parameter(start=0.7)
    active: bool = Parameter(start=True)
    offset: int = Parameter(start=4)
    count: int = Output()
    high: bool = Output()
    level: float = Output(depends_on=("push",))
    wrapped: float = Output()
    delayed: float = Output()
    taps = State(start=[0.0, 0.0, 0.0])
    steps: int = State(start=0)
    begun: float = State(start=0.0)

    def initialise(self, t: float) -> None:
        self.begun = t + self.limit
        self.level = self.begun
        self.count = self.offset

    def step(self, t: float, h: float) -> None:
        self.steps += 1
        self.count = where(self.enabled & (self.order > 0), self.steps + self.offset, self.order)
        self.level = max(-self.limit, min(self.limit, self.push))
        self.high = (
            (abs(self.push) > self.limit) | ~(self.order != 2)
            if False
            else ((abs(self.push) > self.limit) | (self.order == 2))
        )
        self.wrapped = (self.push * 7.0) % 2.0 + (self.push * 5.0) // 0.3 - (self.steps % 4)
        self.taps = [self.push, self.taps[0], self.taps[1]]
        self.delayed = where(self.active, self.taps[2], 0.0) + self.begun


class Branching(Block):
    """Not to be traced: it branches."""

    x: float = Input()
    y: float = Output()
    seen: float = State(start=0.0)

    def step(self, t: float, h: float) -> None:
        if self.x > 0.0:
            self.seen += self.x
        self.y = self.seen


class Hidden(Block):
    """Keeps what it does not declare."""

    x: float = Input()
    y: float = Output()

    def step(self, t: float, h: float) -> None:
        self.sum = getattr(self, "sum", 0.0) + self.x
        self.y = self.sum


CALLS = [0.0]


class Clocked(Block):
    """Depends on a variable of its module."""

    x: float = Input()
    y: float = Output()

    def step(self, t: float, h: float) -> None:
        CALLS[0] += 1.0
        self.y = self.x + CALLS[0]


class Spelling(Block):
    """Carries text."""

    x: float = Input()
    word: str = Output()

    def step(self, t: float, h: float) -> None:
        self.word = "a"


class Greedy(Block):
    """Changes its parameter."""

    x: float = Input()
    y: float = Output()
    k: float = Parameter(start=1.0)

    def step(self, t: float, h: float) -> None:
        self.k = self.k + self.x
        self.y = self.k


class Growing(Block):
    """A state that grows."""

    x: float = Input()
    y: float = Output()
    past = State(start=[0.0])

    def step(self, t: float, h: float) -> None:
        self.past = [*self.past, self.x]
        self.y = sum(self.past)


class Impatient(Block):
    """Takes short steps only."""

    longest_step = 0.002
    x: float = Input()
    y: float = Output()

    def step(self, t: float, h: float) -> None:
        self.y = 2.0 * self.x
