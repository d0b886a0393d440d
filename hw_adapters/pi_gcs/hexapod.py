"""The emulated hexapod: straight to where it is told, at the velocity of the system."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

AXES = "XYZUVW"
#: Single axes of the controller, which have no motor here.
SINGLE = "AB"
_SERIAL = "000000001"
#: Of the pivot point, which is the origin here.
_PIVOT = "RST"
_ABOUT_AXES = ("POS?", "MOV?", "VEL?", "FRF?", "SVO?", "ONT?", "TMN?", "TMX?", "CST?")
_HELP = (
    *(
        "*IDN?",
        "CSV?",
        "ERR?",
        "FRF",
        "HLP?",
        "HLT",
        "MOV",
        "SAI?",
        "SPI?",
        "SSN?",
        "STP",
        "SVO",
        "VER?",
    ),
    *("VLS", "VLS?", *_ABOUT_AXES, "#5", "#7", "#24"),
)


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

    @property
    def goal(self) -> Mapping[str, float]:
        """Where it was told to go."""
        return self._to

    def stop(self, now: float) -> None:
        """Stand where it is."""
        self._from = self._to = self.position(now)
        self._error = 10

    def moving(self, now: float) -> int:
        """Return a bit for each axis that moves, the one of X first."""
        here = self.position(now)
        return sum((here[axis] != self._to[axis]) << i for i, axis in enumerate(AXES))

    def obey(self, line: str, now: float) -> str | None:
        """Return the reply to a line; ``None``: a command has none."""
        name, *words = line.split()
        name = name.upper()
        if name == "ERR?":
            code, self._error = self._error, 0
            return f"{5 if self.is_wrong else code}\n"
        if name in _ABOUT_AXES:
            return self._about_axes(name, words, now)
        if name == "SPI?":
            return self._about_pivot(words)
        if name.endswith("?") and name in _HELP:
            return _lines(self._about_itself(name))
        if name in {"STP", "HLT"}:
            self.stop(now)
            return None
        self._error = self._do(name, words, now) or self._error
        return None

    def _about_itself(self, name: str) -> Sequence[str]:
        return {
            "*IDN?": (f"(c)2026 Emulated hexapod, C-887, {_SERIAL}, 1.0",),
            "CSV?": ("2.0",),
            "HLP?": ("The following commands are valid:", *_HELP, "end of help"),
            "SAI?": (*AXES, *SINGLE),
            "SSN?": (_SERIAL,),
            "VER?": ("FW: V1.0",),
            "VLS?": (f"{self._velocity:.6f}",),
        }[name]

    def _about_pivot(self, words: Sequence[str]) -> str | None:
        if set(words) - {*_PIVOT}:
            self._error = 15
            return None
        return _lines([f"{axis}=0.0000000" for axis in words or _PIVOT])

    def _about_axes(self, name: str, words: Sequence[str], now: float) -> str | None:
        if set(words) - {*AXES, *SINGLE}:
            self._error = 15
            return None
        here, travel = self.position(now), f"{self._setup.travel:.7f}"
        positions = self.tell(list(here.values())) if name == "POS?" else here.values()
        values = {
            "POS?": {a: f"{x:.7f}" for a, x in zip(AXES, positions, strict=True)},
            "MOV?": {a: f"{x:.7f}" for a, x in self._to.items()},
            "VEL?": dict.fromkeys(AXES, f"{self._velocity:.7f}"),
            "FRF?": dict.fromkeys(AXES, f"{now >= self._referenced:d}"),
            "SVO?": {a: f"{self._servo[a]:d}" for a in AXES},
            "ONT?": {a: f"{here[a] == self._to[a]:d}" for a in AXES},
            "TMN?": dict.fromkeys(AXES, f"-{travel}"),
            "TMX?": dict.fromkeys(AXES, travel),
            "CST?": dict.fromkeys(AXES, "HEXAPOD") | dict.fromkeys(SINGLE, "NOSTAGE"),
        }[name]
        still = "0.0000000" if name in {"POS?", "MOV?", "VEL?", "TMN?", "TMX?"} else "0"
        return _lines([f"{a}={values.get(a, still)}" for a in words or (*AXES, *SINGLE)])

    def _do(self, name: str, words: list[str], now: float) -> int:
        try:
            if name == "VLS":
                (self._velocity,) = map(float, words)
                return 0
            pairs = dict(zip(words[::2], map(float, words[1::2]), strict=True))
        except ValueError:
            return 1
        if set(pairs) - {*AXES, *SINGLE}:
            return 15
        if name == "FRF":
            self._referenced = now + self._setup.reference_s
            return 0
        if name == "SVO":
            self._servo |= {axis: bool(value) for axis, value in pairs.items() if axis in AXES}
            return 0
        return self._move(pairs, now) if name == "MOV" else 2

    def _move(self, pairs: dict[str, float], now: float) -> int:
        moves = now >= self._referenced and all(self._servo.values())
        if not moves or set(pairs) & set(SINGLE):
            return 5
        if any(abs(value) > self._setup.travel for value in pairs.values()):
            return 7
        self._from, self._since = self.position(now), now
        self._to = self._from | pairs
        return 0


def _lines(texts: Sequence[str]) -> str:
    """Return a reply: each of its lines but the last has a space before its end."""
    return " \n".join(texts) + "\n"
