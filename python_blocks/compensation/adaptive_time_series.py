"""Adaptive time series compensation: an actuator's inverse, learned while it moves."""

from __future__ import annotations

from itertools import pairwise
from math import exp, pi

from orchestrator import Block, Input, Output, Parameter, State


class AdaptiveTimeSeries(Block):
    """Sends an actuator ``a0 x + a1 x' + a2 x''`` and learns the coefficients from its motion.

    ============ ========= ==== =========================================================
    connector    causality unit meaning
    ============ ========= ==== =========================================================
    position     input     m    requested position
    velocity     input     m/s  requested velocity
    acceleration input     m/s2 requested acceleration
    measured     input     m    measured position of the actuator
    command      output    m    command of the actuator
    a0           output    1    coefficient of the position
    a1           output    s    coefficient of the velocity
    a2           output    s2   coefficient of the acceleration
    delay        parameter s    delay at the start: a1, and a2 half its square
    memory       parameter s    time constant after which older samples count less
    frequency    parameter Hz   frequency of the motion, which weights the three terms
    spread       parameter 1    largest relative change of a coefficient from its start
    cutoff       parameter Hz   cutoff of the low-pass for learning
    amplitude    parameter m    motion that weighs as much as the initial coefficients
    ============ ========= ==== =========================================================

    The block identifies the inverse of the actuator by least squares: the command as a sum of
    measured position, velocity and acceleration. Command and measurement first pass the same
    low-pass of third order, which gives the rates without differences and keeps their relation.

    References
    ----------
    Chae, Kazemibidokhti, Ricles: Adaptive time series compensator for delay compensation of
    servo-hydraulic actuator systems for real-time hybrid simulation, Earthq. Eng. Struct. Dyn. 42
    (2013). Changed: older samples fade exponentially instead of leaving a window, and the command
    is filtered like the measurement, so that the block does not learn the lag of the filter.
    """

    position: float = Input(unit="m", description="Commanded position")
    velocity: float = Input(unit="m/s", description="Commanded velocity")
    acceleration: float = Input(unit="m/s2", description="Commanded acceleration")
    measured: float = Input(unit="m", description="Measured position of the actuator")
    command: float = Output(
        unit="m",
        description="Compensated command for the actuator",
        depends_on=("position", "velocity", "acceleration"),
    )
    a0: float = Output(unit="1", description="Coefficient of the position", depends_on=())
    a1: float = Output(unit="s", description="Coefficient of the velocity", depends_on=())
    a2: float = Output(unit="s2", description="Coefficient of the acceleration", depends_on=())
    delay: float = Parameter(
        start=0.02, unit="s", above=0.0, description="Delay of the initial coefficients"
    )
    memory: float = Parameter(
        start=1.0, unit="s", above=0.0, description="Time constant of the adaptation"
    )
    frequency: float = Parameter(
        start=4.0, unit="Hz", above=0.0, description="Frequency of the motion"
    )
    spread: float = Parameter(
        start=1.0, unit="1", minimum=0.0, description="Largest relative change of the coefficients"
    )
    cutoff: float = Parameter(
        start=20.0, unit="Hz", above=0.0, description="Cut-off frequency of the low-pass"
    )
    amplitude: float = Parameter(
        start=5e-5,
        unit="m",
        above=0.0,
        description="Motion, rms, at which the samples outweigh the start values",
    )
    shown: list[float] = State(start=[], description="Measured, and after each pole")
    sent: list[float] = State(start=[], description="Command, and after each pole")
    learned: list[float] = State(start=[], description="Coefficients of the next command")
    known: list[float] = State(start=[], description="Normal equations, 3 x 4 by rows")

    def initialise(self, t: float) -> None:
        """Begin with the coefficients of the assumed delay."""
        self.known = [0.0] * 12
        self.learned = list(self._first())
        self._send()
        self.shown, self.sent = [self.measured] * 4, [self.command] * 4

    def step(self, t: float, h: float) -> None:
        """Send the next command, and learn from the previous ones."""
        self._send()
        if h > 0.0:
            self._learn(h)

    def _first(self) -> tuple[float, float, float]:
        return 1.0, self.delay, 0.5 * self.delay**2

    def _send(self) -> None:
        self.a0, self.a1, self.a2 = self.learned
        self.command = (
            self.a0 * self.position + self.a1 * self.velocity + self.a2 * self.acceleration
        )

    def _learn(self, h: float) -> None:
        """Fit the command as a sum of the measured motion, both behind the low-pass."""
        time, turn = 1.0 / (2.0 * pi * self.cutoff), 2.0 * pi * self.frequency
        self.shown = _passed(self.shown, self.measured, time, h)
        self.sent = _passed(self.sent, self.command, time, h)
        _, first_rate, two, three = self.shown
        rate, bend = (two - three) / time, (first_rate - 2.0 * two + three) / time**2
        newest = (three, rate / turn, bend / turn**2)
        fade, row = exp(-h / self.memory), (*newest, self.sent[3])
        self.known = [fade * old + newest[i // 4] * row[i % 4] for i, old in enumerate(self.known)]
        scale = (1.0, turn, turn**2)
        first = [value * by for value, by in zip(self._first(), scale, strict=True)]
        held = self.amplitude**2 * self.memory / h  # what such a motion adds up to
        solution = _solved(self.known, first, held)
        self.learned = [
            min(
                max(value, first_rate - self.spread * abs(first_rate)),
                first_rate + self.spread * abs(first_rate),
            )
            / by
            for value, first_rate, by in zip(solution, first, scale, strict=True)
        ]


def _passed(stages: list[float], now: float, time: float, h: float) -> list[float]:
    """Return a sample filtered by three equal poles, by the trapezoidal rule."""
    keep, take = (2.0 * time - h) / (2.0 * time + h), h / (2.0 * time + h)
    passed = [now]
    for before, old in pairwise(stages):
        passed.append(keep * old + take * (passed[-1] + before))
    return passed


def _solved(right_side: list[float], first: list[float], held: float) -> tuple[float, float, float]:
    """Return the coefficients of normal equations, tied to the initial ones (Cholesky, 3 x 3)."""
    right = [right_side[3 + 4 * i] + held * first[i] for i in range(3)]
    d0 = right_side[0] + held
    l1, l2 = right_side[1] / d0, right_side[2] / d0
    d1 = right_side[5] + held - l1 * right_side[1]
    remainder = right_side[6] - l1 * right_side[2]
    l3 = remainder / d1
    d2 = right_side[10] + held - l2 * right_side[2] - l3 * remainder
    y1 = right[1] - l1 * right[0]
    z = (right[2] - l2 * right[0] - l3 * y1) / d2
    y = y1 / d1 - l3 * z
    return right[0] / d0 - l1 * y - l2 * z, y, z
