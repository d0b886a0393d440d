"""The emulated robot: what its program makes of the registers, and what the controller says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hw_adapters.emulation.tracking import Array, Tracking

_NORMAL, _PROTECTIVE_STOP = 1 << 0, 1 << 2
_POWER, _PROGRAM = 1 << 0, 1 << 1


@dataclass(frozen=True, slots=True)
class Setup:
    """What the emulated robot and its program are like.

    Parameters
    ----------
    rate
        Cycles per second.
    space
        ``joint``: the program calls ``servoj`` with six angles; ``cartesian``: with a pose.
    first, counter
        Registers that it reads.
    watchdog_hz
        ``rtde_set_watchdog``: it stops if the counter grows less often.
    delay_ms, bandwidth_hz, damping
        Of the arm; see :class:`Tracking`.
    start
        Angles in rad, or a pose in m and rad.
    """

    rate: int = 500
    space: str = "joint"
    first: int = 0
    counter: int = 0
    watchdog_hz: float = 10.0
    delay_ms: float = 8.0
    bandwidth_hz: float | None = None
    damping: float | None = None
    start: tuple[float, ...] = (0.0, -1.5707963, 1.5707963, 0.0, 1.5707963, 0.0)


class Robot:
    """One arm, cycle by cycle; it has no kinematics: only what is commanded moves."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.cycle = 0
        self.is_stopped = False
        self.registers: dict[str, float] = {}
        self._tracking = Tracking(6, round(setup.delay_ms * 1e6), setup.bandwidth_hz, setup.damping)
        self._count = 0.0
        self._counted = 0
        self.runs = True
        self.wanted: Array = np.array(setup.start)

    @property
    def position(self) -> Array:
        """Shape (6,): rad, or m and rad."""
        return np.asarray(self.setup.start) + self._tracking.position

    def next_cycle(self) -> str:
        """Go on by a cycle; return ``""``, or what happened."""
        setup, happened = self.setup, ""
        count = self.registers.get(f"input_int_register_{setup.counter}", 0)
        if count != self._count:
            self._count, self._counted = count, self.cycle
        patience = setup.rate / setup.watchdog_hz if setup.watchdog_hz else math.inf
        if self.runs and self._count and self.cycle - self._counted > patience:
            self.runs, happened = False, "watchdog"
        if self.runs and self._count and not self.is_stopped:
            self._servo()
        self.cycle += 1
        self._tracking.advance(self._now_ns())
        return happened

    def variables(self) -> Mapping[str, tuple[str, tuple[float, ...]]]:
        """Return type and value of what the controller can send."""
        still = (0.0,) * 6
        joint = self.setup.space == "joint"
        here = tuple(self.position.tolist())
        rates = tuple(self._tracking.velocity.tolist())
        safety = _PROTECTIVE_STOP if self.is_stopped else _NORMAL
        status = _POWER | (_PROGRAM if self.runs else 0)
        return {
            "timestamp": ("DOUBLE", (self.cycle / self.setup.rate,)),
            "safety_status_bits": ("UINT32", (safety,)),
            "robot_status_bits": ("UINT32", (status,)),
            "actual_q": ("VECTOR6D", here if joint else still),
            "actual_qd": ("VECTOR6D", rates if joint else still),
            "actual_TCP_pose": ("VECTOR6D", still if joint else here),
            "actual_TCP_speed": ("VECTOR6D", still if joint else rates),
            "actual_TCP_force": ("VECTOR6D", still),
        }

    def _servo(self) -> None:
        names = (f"input_double_register_{self.setup.first + i}" for i in range(6))
        self.wanted = np.array([self.registers.get(name, 0.0) for name in names])
        self._tracking.command(self._now_ns(), self.wanted - np.asarray(self.setup.start))

    def _now_ns(self) -> int:
        return round(self.cycle * 1e9 / self.setup.rate)
