"""The emulated controller: what it takes of an answer, what it moves, why it stops."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from hw_adapters.emulation.tracking import Array, Tracking

_CYCLE_NS = 1_000_000
#: IPOC counts ms in 32 bits: it begins again after 49.7 days.
IPOC_PERIOD = 2**32
_NUMBER = rb'="\s*([-+0-9.eE]+)\s*"'
_AXES = {"cartesian": ("RKorr", b"XYZABC"), "joint": ("AK", b"123456")}


@dataclass(frozen=True, slots=True)
class Setup:
    """What stands in the controller's configuration, and what the emulated arm is like.

    Parameters
    ----------
    cycle_ms
        4 (``#IPO_FAST``) or 12 (``#IPO``).
    space
        ``cartesian``: ``POSCORR`` takes ``RKorr``; ``joint``: ``AXISCORR`` takes ``AK``.
    relative
        ``RSI_ON(#RELATIVE)``: answers are increments; else offsets from the start.
    hold_on
        Without an answer the last one is used again; else zero is.
    timeout
        Late answers after which RSI stops.
    lower, upper
        ``LowerLim`` and ``UpperLim`` of the correction, mm or degrees, for every axis: what is
        beyond is cut.
    monitor
        ``POSCORRMON``, ``AXISCORRMON``: a correction asked for beyond it stops the robot.
    delay_ms, bandwidth_hz, damping
        Of the arm; see :class:`Tracking`. The delay counts from the frame that is answered, and
        is at least a cycle: an answer is used from the next one on.
    start
        Pose in mm and degrees, or axes in degrees.
    echo
        Element in which it sends the answer back that it used last; empty: none.
    """

    cycle_ms: int = 4
    space: str = "cartesian"
    relative: bool = False
    hold_on: bool = True
    timeout: int = 100
    lower: float = -50.0
    upper: float = 50.0
    monitor: float = 100.0
    delay_ms: float = 16.0
    bandwidth_hz: float | None = None
    damping: float | None = None
    start: tuple[float, ...] = (1000.0, 0.0, 1000.0, 0.0, 90.0, 0.0)
    echo: str = ""


class Controller:
    """One robot under RSI, cycle by cycle; cycle n begins at ``n * cycle_ms``."""

    def __init__(self, setup: Setup, first_ipoc: int) -> None:
        self.setup = setup
        self.ipoc = first_ipoc
        self.cycle = 0
        self.late = 0
        self.stopped = ""
        tag, letters = _AXES[setup.space]
        prefix = b"A" if setup.space == "joint" else b""
        self._tag = f"<{tag}".encode()
        self._numbers = [re.compile(rb"\b" + prefix + bytes([c]) + _NUMBER) for c in letters]
        self._tracking = Tracking(6, round(setup.delay_ms * 1e6), setup.bandwidth_hz, setup.damping)
        self._answer: Array | None = None
        self._last: Array = np.zeros(6)
        self.asked: Array = np.zeros(6)
        self.commanded: Array = np.zeros(6)
        self._answered_ever = False

    @property
    def pose(self) -> Array:
        """Shape (6,): where the robot is, mm and degrees."""
        return np.asarray(self.setup.start) + self._tracking.position

    @property
    def in_force(self) -> Array:
        """Shape (6,): the answer that it used last, mm and degrees."""
        return self._last

    @property
    def velocity(self) -> Array:
        """Shape (6,): mm/s and degrees/s."""
        return self._tracking.velocity

    def follow_later(self, by_ms: float) -> None:
        """Follow all commands from now on so much later than the set-up says."""
        self._tracking.slower_ns = round(by_ms * 1e6)

    def take(self, datagram: bytes) -> str:
        """Take an answer within the cycle; return ``answer``, or why it is none."""
        ipoc = re.search(rb"<IPOC>\s*(\d{1,20})\s*</IPOC>", datagram)
        if ipoc is None or b"<Sen" not in datagram:
            return "foreign"
        if int(ipoc[1]) != self.ipoc:
            return "mismatch"
        if self._answer is not None:
            return "repeated"
        _, _, after = datagram.partition(self._tag)
        element = after.split(b">", 1)[0]
        try:
            values = [float(pattern.search(element)[1]) for pattern in self._numbers]  # type: ignore[index]
        except (TypeError, ValueError):
            return "foreign"
        self._answer = np.array(values)
        self._answered_ever = True
        return "answer"

    def next_cycle(self) -> str:
        """End the cycle, and begin the next; return ``""``, or what happened: ``late``, a stop."""
        happened = self._use_answer()
        self.cycle += 1
        self.ipoc = (self.ipoc + self.setup.cycle_ms) % IPOC_PERIOD
        self._tracking.advance(self.cycle * self.setup.cycle_ms * _CYCLE_NS)
        return happened

    def _use_answer(self) -> str:
        setup, happened = self.setup, ""
        answer, self._answer = self._answer, None
        if answer is None:
            if not self._answered_ever:
                return ""  # RSI begins when both are there
            self.late += 1
            happened = "late"
            if self.late >= setup.timeout:
                self.stopped = "RSITimeout"
                return self.stopped
            answer = self._last if setup.hold_on else np.zeros(6)
        self._last = answer
        self.asked = self.asked + answer if setup.relative else answer
        if np.abs(self.asked).max() > setup.monitor:
            self.stopped = "POSCORRMON" if setup.space == "cartesian" else "AXISCORRMON"
            return self.stopped
        self.commanded = np.clip(self.asked, setup.lower, setup.upper)
        if setup.relative:
            self.asked = self.commanded
        self._tracking.command(self.cycle * setup.cycle_ms * _CYCLE_NS, self.commanded)
        return happened
