"""What would help a loop that has too little margin, each with the figure that would do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from orchestrator.loops import LinearSystem
from orchestrator.rig.arming.reserve import Reserve

#: How far a parameter is turned, as a factor; and how often an interval is halved.
_FARTHEST, _HALVINGS = 64.0, 6


@dataclass(frozen=True, slots=True)
class Knobs:
    """What a user could turn.

    Parameters
    ----------
    stiffness, damping
        Parameters, ``component.parameter``; ``None``: not known.
    clock
        The device that is the clock, whose period no step is shorter than; ``None``: none.
    """

    stiffness: str | None = None
    damping: str | None = None
    clock: str | None = None


def advice_of(linear: LinearSystem, line: str, reserve: Reserve, knobs: Knobs) -> Iterator[str]:
    """Yield what would help, in words; what was tried and does not is left out."""
    loop = reserve.cut(linear, line)
    missing = reserve.delay - loop.margins().delay.value if loop else 0.0
    if 0.0 < missing < math.inf:
        yield f"what would help: compensation of {missing * 1e3:.4g} ms of the loop's delay"
    for path, turn, word in ((knobs.stiffness, -1, "lower"), (knobs.damping, 1, "raise")):
        if path is None:
            continue
        component, _, parameter = path.partition(".")
        now = linear.system.components[component].values.get(parameter)
        if not isinstance(now, int | float) or now <= 0.0:
            continue
        found = _turned(_enough(linear, line, reserve, path), float(now), turn)
        if found is not None:
            yield f"or {word} {path} from {now:g} to {found:.4g}"
    if knobs.clock is not None:
        yield f"a step shorter than {linear.step_ns / 1e6:g} ms would take a faster '{knobs.clock}'"
        return
    half = replace(linear, step_ns=linear.step_ns // 2)
    shorter = reserve.cut(half, line)
    if shorter is not None and not reserve.lacks(shorter.margins()):
        yield f"or a step of {half.step_ns / 1e6:g} ms"


def _enough(
    linear: LinearSystem, line: str, reserve: Reserve, path: str
) -> Callable[[float], bool]:
    def enough(value: float) -> bool:
        loop = reserve.cut(linear.with_value(path, value), line)
        return loop is None or not reserve.lacks(loop.margins())

    return enough


def _turned(enough: Callable[[float], bool], now: float, turn: int) -> float | None:
    """Return the value nearest to the present one that is enough, up or down; ``None``: none is."""
    bad, good = now, now * 2.0**turn
    while not enough(good):
        if not 1.0 / _FARTHEST < good / now < _FARTHEST:
            return None
        bad, good = good, good * 2.0**turn
    for _ in range(_HALVINGS):
        middle = math.sqrt(bad * good)
        if enough(middle):
            good = middle
        else:
            bad = middle
    return good
