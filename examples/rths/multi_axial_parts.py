"""Blocks of the multi-axial benchmark: axes, laboratory and compensators."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from orchestrator import Block, Input, Output, Parameter, State

from .multi_axial_independent import ANGLE, ARM, Compensator, Floats, noise, specimen

_LONGEST = 1 << 16  # samples: 64 s at 1024 Hz
_RISE = float(ANGLE[1])


class ToAxes(Block):
    """Says where both actuators shall be, whose coupler turns with the joint."""

    position: float = Input(unit="m", description="Of the joint")
    rotation: float = Input(unit="rad", description="Of the joint")
    axis_1: float = Output(unit="m", description="Where the first actuator shall be")
    axis_2: float = Output(unit="m", description="Where the second actuator shall be")

    def step(self, t: float, h: float) -> None:
        """Follow the joint."""
        self.axis_1 = self.position + ARM * (math.cos(self.rotation - _RISE) - math.cos(_RISE))
        self.axis_2 = self.position + ARM * (math.cos(self.rotation + _RISE) - math.cos(_RISE))


@lru_cache(maxsize=4)
def _noise(seed: int) -> Floats:
    return noise(seed, _LONGEST)


class Measured(Block):
    """Shows where actuators and joint are, with the noise of the benchmark's sensors."""

    axis_1: float = Input(unit="m", description="First actuator")
    axis_2: float = Input(unit="m", description="Second actuator")
    shown_1: float = Output(unit="m", description="With noise of 12 um", depends_on=("axis_1",))
    shown_2: float = Output(unit="m", description="With noise of 12 um", depends_on=("axis_2",))
    position: float = Output(unit="m", description="Of the joint")
    rotation: float = Output(unit="rad", description="Of the joint")
    seed: int = Parameter(start=0, minimum=0, description="Of the noise; 0: none")

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        self.shown_1, self.shown_2 = self.axis_1, self.axis_2
        if self.seed and h > 0.0:
            first, second = _noise(self.seed)[round((t + h) / h)]
            self.shown_1 += float(first)
            self.shown_2 += float(second)
        turned = (self.shown_1 - self.shown_2) / (2.0 * ARM * math.sin(_RISE))
        self.rotation = math.asin(turned)
        self.position = self.shown_1 - ARM * (math.cos(turned - _RISE) - math.cos(_RISE))


class Laboratory(Block):
    """Returns what it takes to move the tested frame, by differences of samples."""

    position: float = Input(unit="m", description="Of its joint")
    rotation: float = Input(unit="rad", description="Of its joint")
    force: float = Output(unit="N", description="Along the floor")
    moment: float = Output(unit="N.m", description="At the joint, as the structure counts it")
    far_moment: float = Output(unit="N.m", description="At the joint beside it")
    last: list[float] = State(start=[0.0] * 10, description="Motion of the last sample, its rate")

    def initialise(self, t: float) -> None:
        """Begin at rest."""
        self.force = self.moment = self.far_moment = 0.0

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        if h <= 0.0:
            return
        follows, by_position, by_rate, by_bend = _tested()
        now = follows @ (self.position, self.rotation)
        rate = (now - self.last[:5]) / h
        bend = (rate - self.last[5:]) / h
        found = (by_position @ now + by_rate @ rate + by_bend @ bend).tolist()
        self.force, self.moment, self.far_moment = found[0], -found[1], -found[2]
        self.last = [*now.tolist(), *rate.tolist()]


@lru_cache
def _tested() -> tuple[Floats, Floats, Floats, Floats]:
    """Return how joints follow the one that is moved, (5, 2), and rows of K, C and M, (3, 5)."""
    k, c, m = specimen()
    follows = np.vstack([np.eye(2), -np.linalg.solve(k[2:, 2:], k[2:, :2])])
    return follows, k[:3], c[:3], m[:3]


class FiniteResponse(Block):
    """Sends an actuator a sum of its last requested positions, and learns the coefficients.

    Quiroz, Galmez, Fermandois: Robust decentralized adaptive compensation for the multi-axial
    real-time hybrid simulation benchmark, Frontiers in Built Environment 10 (2024), 1394952.
    """

    wanted: float = Input(unit="m", description="Where the actuator shall be")
    measured: float = Input(unit="m", description="Where it is")
    command: float = Output(unit="m", description="What it is sent")
    axis: int = Parameter(start=1, minimum=1, maximum=2, description="Which one")
    learns: bool = Parameter(start=True, description="Or keeps the coefficients of the start")
    known: list[float] = State(start=[0.0] * 36, description="Its numbers, by rows")

    def initialise(self, t: float) -> None:
        """Begin with the published coefficients."""
        self.known = _numbers(Compensator.of(self.axis - 1, learns=self.learns))
        self.command = 0.0

    def step(self, t: float, h: float) -> None:
        """Take the sample at the end of the step."""
        if h <= 0.0:
            return
        rows = np.reshape(self.known, (9, 4))
        now = Compensator(rows[0], rows[1:5], rows[5], rows[6], rows[7:])
        sent, after = now.after(1e3 * self.wanted, 1e3 * self.measured)
        self.command, self.known = 1e-3 * sent, _numbers(after)


def _numbers(known: Compensator) -> list[float]:
    rows = [
        known.taps[None],
        known.covariance,
        known.wanted[None],
        known.shown[None],
        known.filters,
    ]
    found: list[float] = np.concatenate(rows).ravel().tolist()
    return found
