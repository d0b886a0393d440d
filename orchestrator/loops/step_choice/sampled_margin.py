"""Margins of a loop as a schedule makes it: how much gain or delay brings it to its limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scipy.optimize import brentq

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import Connection, System
from orchestrator.loops.loop_account import coupled_groups, inner_lines, sampled_roots
from orchestrator.loops.loop_transfer import Margins, find_line, open_loop
from orchestrator.loops.run_account import LinearSystem
from orchestrator.loops.sweep import changer

_TURN = 2.0 * math.pi
#: How far from the exact limit the sampled one is looked for at first, as a share, by what that
#: grows, and up to where; and when it is found.
_FIRST, _WIDER, _MOST, _FOUND = 1e-3, 2.0, 1.1, 1e-7
#: Size of a margin near zero: radians at its frequency (delay), of the logarithm (gain).
_LEAST = 1e-3
#: Gain margins that are no further count, as a factor: 40 dB.
_FAR = 100.0


@dataclass(frozen=True)
class Limit:
    """One margin in continuous time.

    Parameters
    ----------
    name
        Such as ``delay margin of rod.force -> mass.force``.
    kind
        ``delay`` or ``gain``: what brings the loop to its limit.
    exact, unit
        The additional delay in ms, or the factor.
    omega
        Of the oscillation at the limit, rad/s.
    value
        The delay of the line there, seconds, or the factor.
    """

    name: str
    kind: str
    exact: float
    unit: str
    omega: float
    value: float

    def share(self, sampled: float | None) -> float:
        """Return how far a margin as sampled is off, as a share of its size.

        Of a gain margin that is the logarithm, which is at least 0.001; of a delay margin itself,
        which is at least the delay of 0.001 rad at the limit.
        """
        if sampled is None:
            return math.inf
        if self.kind == "gain":
            size = max(abs(math.log(self.exact)), _LEAST)
            return abs(math.log(sampled / self.exact)) / size
        return abs(sampled - self.exact) / max(abs(self.exact), 1e3 * _LEAST / self.omega)


@dataclass(frozen=True)
class LoopMargins:
    """The margins of a loop in continuous time, at one line of it.

    Parameters
    ----------
    line
        Where it is cut, ``component.output -> component.input``.
    components
        Those of the loop.
    limits
        Its margins that a change of the line reaches: gain margins below 40 dB, and the delay
        margin, if the line has as much delay as must be taken away.
    """

    line: str
    components: tuple[str, ...]
    limits: tuple[Limit, ...]

    def as_sampled(self, linear: LinearSystem) -> Iterator[tuple[Limit, float | None]]:
        """Give each margin with what it is as the schedule makes it; ``None`` if there is none."""
        for limit in self.limits:
            at = _limit_of(linear, self, limit)
            if at is not None and limit.kind == "delay":
                at = limit.exact + (at - limit.value) * 1e3
            yield limit, at


def reference_margins(linear: LinearSystem, line: str) -> LoopMargins:
    """Return the margins in continuous time at one line."""
    cut = find_line(linear.system, line)
    target = linear.system.components[cut.target.component].connectors[cut.target.connector]
    if target.size > 1:
        raise DescriptionError(
            f"the line {cut} carries {target.size} numbers: expected one of a single number, whose"
            " gain and delay are those of the loop"
        )
    opened = open_loop(linear.system, linear.models, str(cut))
    group = next(g for g in coupled_groups(linear.system) if cut.target.component in g)
    return LoopMargins(str(cut), group, tuple(_limits(cut, opened.margins(), opened.delay)))


def first_lines(system: System) -> Iterator[str]:
    """Name a line of each loop where its margins tell most: the first of :func:`lines_to_cut`."""
    for lines in lines_to_cut(system):
        yield lines[0]


def lines_to_cut(system: System) -> Iterator[list[str]]:
    """Name the lines of each loop where it may be cut: those that are delayed, then the others.

    They carry a single number and are not compensated unless they are delayed. A loop without one
    has none.
    """
    for group in coupled_groups(system):
        single = [line for line in inner_lines(system, group) if _is_single(system, line)]
        delayed = [line for line in single if line.delay is not None]
        plain = [line for line in single if line.delay is None and line.compensation is None]
        if delayed or plain:
            yield [str(line) for line in (*delayed, *plain)]


def _is_single(system: System, line: Connection) -> bool:
    return system.components[line.target.component].connectors[line.target.connector].size == 1


def _limits(cut: Connection, margins: Margins, delay: float) -> Iterator[Limit]:
    for name, margin in (("gain margin", margins.gain), ("gain reduction", margins.gain_reduction)):
        near = 1.0 / _FAR < margin.value < _FAR
        if near and math.isfinite(margin.frequency) and margin.frequency > 0.0:
            omega = _TURN * margin.frequency
            yield Limit(f"{name} of {cut}", "gain", margin.value, "-", omega, margin.value)
    left = margins.delay
    if math.isfinite(left.frequency) and delay + left.value > 0.0:
        omega = _TURN * left.frequency
        yield Limit(
            f"delay margin of {cut}", "delay", left.value * 1e3, "ms", omega, delay + left.value
        )


def _limit_of(linear: LinearSystem, loop: LoopMargins, limit: Limit) -> float | None:
    """Find the value at which the sampled root beside the exact limit neither grows nor fades."""
    change = changer(linear, limit.kind, loop.line)

    def growth(value: float) -> float:
        value = round(value, 9) if limit.kind == "delay" else value
        roots, _ = sampled_roots(change(value).period_map(), loop.components)
        near = min(roots, key=lambda root: abs(root - 1j * limit.omega), default=None)
        return math.nan if near is None else near.real

    return _zero(growth, limit.value)


def _zero(function: Callable[[float], float], begin: float) -> float | None:
    """Return a zero beside a point above 0; ``None`` if there is none within a factor of 2."""
    last, before = begin, function(begin)
    if not math.isfinite(before):
        return None
    width = _FIRST
    while width < _MOST:
        for at in (begin * (1.0 + width), begin / (1.0 + width)):
            now = function(at)
            if math.isfinite(now) and now * before <= 0.0:
                return float(brentq(function, last, at, xtol=_FOUND * begin, rtol=_FOUND))
        width *= _WIDER
    return None
