"""Excitations: how a command is moved, within the limits of its connector.

References
----------
Ljung: System Identification, 2nd ed., 1999, section 13.3: pseudo-random binary sequences and
chirps. Godfrey (ed.): Perturbation Signals for System Identification, 1993: registers of maximal
length.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from orchestrator.core.diagnostics import DescriptionError

Floats = npt.NDArray[np.float64]
Kind = Literal["step", "chirp", "prbs"]
KINDS: tuple[Kind, ...] = ("step", "chirp", "prbs")
#: Feedback of a register of nine bits whose sequence has the length 511: bits 9 and 5.
_REGISTER, _TAPS = 9, (8, 4)
#: Of a smooth stair from 0 to 1 within 1 s: greatest speed and acceleration.
_STAIR_SPEED, _STAIR_ACCELERATION = 1.875, 10.0 / math.sqrt(3.0)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a command may do, in its unit and per second.

    Parameters
    ----------
    amplitude
        From its rest, either way.
    speed, acceleration
        Of its change.

    Raises
    ------
    DescriptionError
        If one is not > 0, or the amplitude is not finite.
    """

    amplitude: float
    speed: float = math.inf
    acceleration: float = math.inf

    def __post_init__(self) -> None:
        given = (self.amplitude, self.speed, self.acceleration)
        if not all(each > 0.0 for each in given) or not math.isfinite(self.amplitude):
            raise DescriptionError(
                "expected a finite amplitude > 0, and limits > 0, found amplitude"
                f" {self.amplitude:g}, speed {self.speed:g}, acceleration {self.acceleration:g}"
            )


def excitation(kind: Kind, duration: float, step: float, limits: Limits, hold: float) -> Floats:
    """Return a command that begins and ends at 0, one value for each step."""
    count = round(duration / step)
    if count < 16 or duration < 8.0 * hold:
        raise DescriptionError(
            f"an excitation of {duration:g} s is too short; expected at least 16 steps of"
            f" {step:g} s, and {8.0 * hold:g} s"
        )
    if kind == "chirp":
        return _chirp(count, step, limits, hold)
    if kind == "step":
        quarter = count // 4
        targets = np.repeat([0.0, 1.0, -1.0, 0.0], quarter)
    else:
        targets = _random(count - 1, max(1, round(hold / step)))
    found = _stairs(limits.amplitude * targets, count, step, limits)
    if not found.any():
        raise DescriptionError(
            f"an amplitude of {limits.amplitude:g} is not reached within {duration:g} s at a speed"
            f" of {limits.speed:g} and an acceleration of {limits.acceleration:g}; give a smaller"
            " one"
        )
    return found


def _random(count: int, hold: int) -> Floats:
    """Return a pseudo-random sequence of -1 and 1, each held for ``hold`` steps."""
    bits = [1] * _REGISTER
    drawn = []
    for _ in range(-(-count // hold)):
        drawn.append(2.0 * bits[-1] - 1.0)
        bits = [bits[_TAPS[0]] ^ bits[_TAPS[1]], *bits[:-1]]
    found: Floats = np.repeat(np.array(drawn), hold)[:count]
    return found


def _stairs(targets: Floats, count: int, step: float, limits: Limits) -> Floats:
    """Go to each target as fast as the limits allow, at rest in between, and to 0 at the end.

    A stair that the limits do not let end before the next one begins makes that one wait.
    """
    path: list[float] = []
    now = 0.0
    while len(path) < count:
        place = len(path)
        target = float(targets[place]) if place < len(targets) else 0.0
        stair = _stair(target - now, step, limits)
        home = _parts(target, step, limits)
        if target != 0.0 and place + len(stair) + home > count:
            stair = _stair(-now, step, limits)  # time to go back
            target = 0.0
        path += [now + part for part in stair]
        now = target
    return np.array(path[:count])


def _stair(height: float, step: float, limits: Limits) -> list[float]:
    """Return a smooth stair (a polynomial of order five), its last value exactly ``height``."""
    parts = _parts(height, step, limits)
    at = np.arange(1, parts + 1) / parts
    return [height * float(x**3 * (10.0 - 15.0 * x + 6.0 * x * x)) for x in at]


def _parts(height: float, step: float, limits: Limits) -> int:
    """Return how many steps a stair takes, at least one."""
    least = max(
        _STAIR_SPEED * abs(height) / limits.speed,
        math.sqrt(_STAIR_ACCELERATION * abs(height) / limits.acceleration),
    )
    return max(1, math.ceil(least / step))


def _chirp(count: int, step: float, limits: Limits, hold: float) -> Floats:
    times = np.arange(1, count + 1) * step
    duration = count * step
    low, high = 2.0 / duration, 0.25 / hold
    frequency = low + (high - low) * times / duration
    turn = 2.0 * math.pi * (low + 0.5 * (high - low) * times / duration) * times
    w = 2.0 * math.pi * frequency
    # half of each limit is room for how the height itself changes
    heights = np.minimum(0.5 * limits.speed / w, 0.5 * limits.acceleration / w**2)
    fade = np.minimum(1.0, np.minimum(times, duration - times) * low)
    heights = np.minimum(heights, limits.amplitude) * fade**2 * (3.0 - 2.0 * fade)
    found: Floats = heights * np.sin(turn)
    return found
