"""Adaptive time series compensation: an actuator's inverse, learned while it moves."""

from __future__ import annotations

import numpy as np

from orchestrator import Block, Input, Output, Parameter, State

#: Share of the information of one memory that holds the coefficients where they begin.
_HELD = 1e-6


class AdaptiveTimeSeries(Block):
    """Sends an actuator ``a0 x + a1 x' + a2 x''``, whose coefficients follow what it did.

    ============ ========= ==== =========================================================
    connector    causality unit meaning
    ============ ========= ==== =========================================================
    position     input     m    wanted position
    velocity     input     m/s  wanted velocity
    acceleration input     m/s2 wanted acceleration
    measured     input     m    where the actuator is
    command      output    m    what the actuator is sent
    a0           output    1    coefficient of the position
    a1           output    s    coefficient of the velocity
    a2           output    s2   coefficient of the acceleration
    delay        parameter s    delay at the start: a1, and a2 half its square
    memory       parameter s    time constant after which older samples count less
    frequency    parameter Hz   frequency of the motion, by which the three are weighed
    spread       parameter 1    how far coefficients may leave those of the start, a share
    ============ ========= ==== =========================================================

    The actuator's inverse is read off itself: the command of a step ago as a sum of position,
    velocity and acceleration that were measured around it, by least squares.

    References
    ----------
    Chae, Kazemibidokhti, Ricles: Adaptive time series compensator for delay compensation of
    servo-hydraulic actuator systems for real-time hybrid simulation, Earthq. Eng. Struct. Dyn. 42
    (2013). Changed: older samples fade exponentially instead of leaving a window, and rates are
    central differences of three samples instead of filtered.
    """

    position: float = Input(unit="m", description="Wanted position")
    velocity: float = Input(unit="m/s", description="Wanted velocity")
    acceleration: float = Input(unit="m/s2", description="Wanted acceleration")
    measured: float = Input(unit="m", description="Where the actuator is")
    command: float = Output(
        unit="m",
        description="What the actuator is sent",
        depends_on=("position", "velocity", "acceleration"),
    )
    a0: float = Output(unit="1", description="Coefficient of the position", depends_on=())
    a1: float = Output(unit="s", description="Coefficient of the velocity", depends_on=())
    a2: float = Output(unit="s2", description="Coefficient of the acceleration", depends_on=())
    delay: float = Parameter(
        start=0.02, unit="s", above=0.0, description="Delay that is taken for granted at the start"
    )
    memory: float = Parameter(start=1.0, unit="s", above=0.0, description="Time constant")
    frequency: float = Parameter(start=4.0, unit="Hz", above=0.0, description="Of the motion")
    spread: float = Parameter(
        start=1.0, unit="1", minimum=0.0, description="How far coefficients may go, a share"
    )
    past: list[float] = State(start=[], description="Two measured positions and two commands")
    learned: list[float] = State(start=[], description="Coefficients of the next command")
    known: list[float] = State(start=[], description="Normal equations, 3 x 4 by rows")

    def initialise(self, t: float) -> None:
        """Begin with the coefficients of the delay that is taken for granted."""
        self.past = [self.measured] * 2 + [self.position] * 2
        self.known = [0.0] * 12
        self.learned = list(self._first())
        self._send()

    def step(self, t: float, h: float) -> None:
        """Send the next command, and learn of the last one."""
        self._send()
        if h > 0.0:
            self._learn(h)
        self.past = [self.past[1], self.measured, self.past[3], self.command]

    def _first(self) -> tuple[float, float, float]:
        return 1.0, self.delay, 0.5 * self.delay**2

    def _send(self) -> None:
        self.a0, self.a1, self.a2 = self.learned
        self.command = (
            self.a0 * self.position + self.a1 * self.velocity + self.a2 * self.acceleration
        )

    def _learn(self, h: float) -> None:
        """Take the command of the step before as a sum of what was measured around it."""
        before, middle, sent = self.past[0], self.past[1], self.past[3]
        turn = 2.0 * np.pi * self.frequency
        rate = (self.measured - before) / (2.0 * h)
        bend = (self.measured - 2.0 * middle + before) / h**2
        seen = np.array([middle, rate / turn, bend / turn**2])
        first = np.array(self._first()) * np.array([1.0, turn, turn**2])
        known = np.array(self.known).reshape(3, 4)
        known *= np.exp(-h / self.memory)
        known += np.outer(seen, [*seen, sent])
        self.known = known.ravel().tolist()
        held = _HELD * float(np.trace(known[:, :3])) + np.finfo(float).tiny
        found = np.linalg.solve(known[:, :3] + held * np.eye(3), known[:, 3] + held * first)
        bounds = self.spread * np.abs(first)
        kept = np.clip(found, first - bounds, first + bounds)
        self.learned = (kept / np.array([1.0, turn, turn**2])).tolist()
