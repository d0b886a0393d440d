"""The emulated robot: what its program makes of the registers, and what the controller says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from hw_adapters.emulation.tracking import Array, Tracking

_NORMAL, _PROTECTIVE_STOP = 1 << 0, 1 << 2
_RUNNING, _PLAYING, _STOPPED = 7, 2, 1
_MODE_NORMAL, _MODE_STOPPED = 1, 3
#: Of a move to a set-point, rad/s and m/s.
_SPEED = 1.0
_POWER, _PROGRAM = 1 << 0, 1 << 1


@dataclass(frozen=True, slots=True)
class Setup:
    """What the emulated robot and its program are like.

    Parameters
    ----------
    rate
        Cycles per second.
    program
        ``follow``: it calls ``servoj`` in every cycle; ``move``: it moves to a set-point when the
        counter's register is 1, and talks about it by ``output_int_register_0``, as that of UR's
        example for its RTDE client does: 1, it waits for one; 0, it has arrived, until the register
        is 0 again.
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
    program: str = "follow"
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
        self.said = 1 if setup.program == "move" else 0
        self._goal: Array | None = None
        self.wanted: Array = np.array(setup.start)

    @property
    def position(self) -> Array:
        """Shape (6,): rad, or m and rad."""
        return np.asarray(self.setup.start) + self._tracking.position

    def next_cycle(self) -> str:
        """Go on by a cycle; return ``""``, or what happened."""
        happened = self._follow() if self.setup.program == "follow" else self._move()
        self.cycle += 1
        self._tracking.advance(self._now_ns())
        return happened

    def _follow(self) -> str:
        setup, happened = self.setup, ""
        count = self.registers.get(f"input_int_register_{setup.counter}", 0)
        if count != self._count:
            self._count, self._counted = count, self.cycle
        patience = setup.rate / setup.watchdog_hz if setup.watchdog_hz else math.inf
        if self.runs and self._count and self.cycle - self._counted > patience:
            self.runs, happened = False, "watchdog"
        if self.runs and self._count and not self.is_stopped:
            self._servo(self._registers())
        return happened

    def _move(self) -> str:
        is_requested = self.registers.get(f"input_int_register_{self.setup.counter}", 0) == 1
        if not is_requested and not self.said:
            self.said = 1
        if is_requested and self.said and self._goal is None:
            self._goal = self._registers()
        if self._goal is None or self.is_stopped:
            return ""
        largest_step = _SPEED / self.setup.rate
        self._servo(self.wanted + np.clip(self._goal - self.wanted, -largest_step, largest_step))
        if np.allclose(self.position, self._goal, rtol=0.0, atol=1e-6):
            self._goal, self.said = None, 0
            return "arrived"
        return ""

    def variables(self) -> Mapping[str, tuple[str, tuple[float, ...]]]:
        """Return type and value of what the controller can send."""
        still = (0.0,) * 6
        joint = self.setup.space == "joint"
        here = tuple(self.position.tolist())
        target = tuple(self.wanted.tolist())
        rates = tuple(self._tracking.velocity.tolist())
        safety = _PROTECTIVE_STOP if self.is_stopped else _NORMAL
        status = _POWER | (_PROGRAM if self.runs else 0)
        return {
            "timestamp": ("DOUBLE", (self.cycle / self.setup.rate,)),
            "safety_status_bits": ("UINT32", (safety,)),
            "robot_status_bits": ("UINT32", (status,)),
            "robot_mode": ("INT32", (_RUNNING,)),
            "safety_mode": ("INT32", (_MODE_STOPPED if self.is_stopped else _MODE_NORMAL,)),
            "runtime_state": ("UINT32", (_PLAYING if self.runs else _STOPPED,)),
            "output_int_register_0": ("INT32", (self.said,)),
            "target_q": ("VECTOR6D", target if joint else still),
            "target_TCP_pose": ("VECTOR6D", still if joint else target),
            "actual_q": ("VECTOR6D", here if joint else still),
            "actual_qd": ("VECTOR6D", rates if joint else still),
            "actual_TCP_pose": ("VECTOR6D", still if joint else here),
            "actual_TCP_speed": ("VECTOR6D", still if joint else rates),
            "actual_TCP_force": ("VECTOR6D", still),
        }

    def _registers(self) -> Array:
        names = (f"input_double_register_{self.setup.first + i}" for i in range(6))
        return np.array([self.registers.get(name, 0.0) for name in names])

    def _servo(self, target: Array) -> None:
        self.wanted = target
        self._tracking.command(self._now_ns(), self.wanted - np.asarray(self.setup.start))

    def _now_ns(self) -> int:
        return round(self.cycle * 1e9 / self.setup.rate)
