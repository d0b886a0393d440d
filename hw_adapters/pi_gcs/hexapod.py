"""The emulated hexapod: straight to where it is told, at the velocity of the system."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

AXES = "XYZUVW"


@dataclass(frozen=True, slots=True)
class Setup:
    """What an emulated hexapod is like.

    Parameters
    ----------
    travel
        Either side of 0, mm and degrees.
    velocity
        Of the system, mm/s and degrees/s.
    has_reference
        At power-on.
    reference_s
        What the reference move takes, s.
    """

    travel: float = 20.0
    velocity: float = 10.0
    has_reference: bool = True
    reference_s: float = 0.5


class Hexapod:
    """Answers commands; times are CLOCK_MONOTONIC in s, positions mm and degrees.

    Attributes
    ----------
    is_wrong
        Whether its error is that of a move with the servo off.
    tell
        What it makes of its pose before it says it.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self.is_wrong = False
        self.tell: Callable[[Sequence[float]], Sequence[float]] = list
        self._velocity = setup.velocity
        self._from = self._to = dict.fromkeys(AXES, 0.0)
        self._since = 0.0
        self._servo = dict.fromkeys(AXES, False)
        self._referenced = -1.0 if setup.has_reference else float("inf")
        self._error = 0

    def position(self, now: float) -> dict[str, float]:
        """Return where it is."""
        share = 1.0
        if (longest := max(abs(self._to[a] - self._from[a]) for a in AXES)) > 0.0:
            share = min(1.0, (now - self._since) * self._velocity / longest)
        return {a: self._from[a] + share * (self._to[a] - self._from[a]) for a in AXES}

    def stop(self, now: float) -> None:
        """Stand where it is."""
        self._from = self._to = self.position(now)
        self._error = 10

    def obey(self, line: str, now: float) -> str | None:
        """Return the reply to a line; ``None``: a command has none."""
        name, *words = line.split()
        if name == "*IDN?":
            return "(c)2026 Emulated hexapod, C-887, 0, 1.0\n"
        if name == "ERR?":
            code, self._error = self._error, 0
            return f"{5 if self.is_wrong else code}\n"
        if name in {"POS?", "FRF?", "SVO?", "ONT?"}:
            return self._about_axes(name, now)
        if name == "VLS?":
            return f"{self._velocity:.6f}\n"
        self._error = self._do(name, words, now) or self._error
        return None

    def _about_axes(self, name: str, now: float) -> str:
        here, there = self.position(now), now >= self._referenced
        told = self.tell(list(here.values())) if name == "POS?" else here.values()
        values = {
            "POS?": {a: f"{x:.7f}" for a, x in zip(AXES, told, strict=True)},
            "FRF?": dict.fromkeys(AXES, f"{there:d}"),
            "SVO?": {a: f"{self._servo[a]:d}" for a in AXES},
            "ONT?": {a: f"{here[a] == self._to[a]:d}" for a in AXES},
        }[name]
        return " \n".join(f"{a}={values[a]}" for a in AXES) + "\n"

    def _do(self, name: str, words: list[str], now: float) -> int:
        try:
            if name == "VLS":
                (self._velocity,) = map(float, words)
                return 0
            pairs = dict(zip(words[::2], map(float, words[1::2]), strict=True))
        except ValueError:
            return 1
        if set(pairs) - set(AXES):
            return 15
        if name == "FRF":
            self._referenced = now + self._setup.reference_s
            return 0
        if name == "SVO":
            self._servo |= {axis: bool(value) for axis, value in pairs.items()}
            return 0
        return self._move(pairs, now) if name == "MOV" else 2

    def _move(self, pairs: dict[str, float], now: float) -> int:
        if now < self._referenced or not all(self._servo.values()):
            return 5
        if any(abs(value) > self._setup.travel for value in pairs.values()):
            return 7
        self._from, self._since = self.position(now), now
        self._to = self._from | pairs
        return 0
