"""What one communication step does to the loops of a system and to their margins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any

from scipy.optimize import brentq

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.files.plain_data import finite
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import Connection, System
from orchestrator.loops.loop_account import (
    continuous_loop,
    coupled_groups,
    exact_roots,
    growth_size,
    inner_lines,
    sampled_roots,
)
from orchestrator.loops.loop_transfer import Margins, find_line, open_loop
from orchestrator.loops.period_map import PeriodMap
from orchestrator.loops.run_account import LinearSystem
from orchestrator.loops.sweep import changer

#: Of a system without a stop time: an hour, which all steps of few digits divide.
ANY_NS = 3_600_000_000_000
#: Of steps, if there are such.
_DIGITS = 3


def candidate_steps(length_ns: int, periods: Iterable[int], multiple_ns: int = 1) -> list[int]:
    """Return the steps of few digits that divide a time in whole nanoseconds, in rising order."""
    divisor = math.gcd(length_ns, *periods)
    steps = sorted(step for step in _divisors(divisor) if step % multiple_ns == 0)
    return [step for step in steps if len(str(step).rstrip("0")) <= _DIGITS] or steps


def ladder(steps: Sequence[int]) -> list[int]:
    """Return the steps of 1, 2 and 5 times a power of ten, or the next smaller ones there are."""
    if not steps:
        return []
    rungs = set()
    for power in range(len(str(steps[-1])) + 1):
        for digit in (1, 2, 5):
            length = digit * 10**power
            below = [step for step in steps if length / 2 < step <= length]
            rungs.update(below[-1:])
    return sorted(rungs)


def _divisors(number: int) -> list[int]:
    primes: dict[int, int] = {}
    quotient, factor = number, 2
    while factor * factor <= quotient:
        while quotient % factor == 0:
            primes[factor] = primes.get(factor, 0) + 1
            quotient //= factor
        factor += 1
    if quotient > 1:
        primes[quotient] = primes.get(quotient, 0) + 1
    powers = [[prime**k for k in range(count + 1)] for prime, count in primes.items()]
    return [math.prod(some) for some in product(*powers)]


_TURN = 2.0 * math.pi
#: How far from the exact limit the sampled one is looked for at first, as a share, by what that
#: grows, and up to where; and when it is found.
_FIRST, _WIDER, _MOST, _FOUND = 1e-3, 2.0, 1.1, 1e-7
#: Size of a margin near zero: radians at its frequency (delay), of the logarithm (gain).
_LEAST = 1e-3
#: Gain margins that are no further count, as a factor: 40 dB.
_FAR = 100.0


class Limit(Struct):
    """One margin in continuous time.

    name: Such as ``delay margin of rod.force -> mass.force``.
    kind: ``delay`` or ``gain``: what brings the loop to its limit.
    exact, unit: The additional delay in ms, or the factor.
    omega: Of the oscillation at the limit, rad/s.
    value: The delay of the line there, seconds, or the factor.
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


class LoopMargins(Struct):
    """The margins of a loop in continuous time, at one line of it.

    line: Where it is cut, ``component.output -> component.input``.
    components: Those of the loop.
    limits: Its margins that a change of the line reaches: gain margins below 40 dB, and the delay
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
    """Name the lines of each loop where it may be cut: delayed lines, then the others.

    They carry a single number and are not compensated unless they are delayed. A loop without one
    has none.
    """
    for group in coupled_groups(system):
        single = [
            line
            for line in inner_lines(system, group)
            if system.components[line.target.component].connectors[line.target.connector].size == 1
        ]
        delayed = [line for line in single if line.delay is not None]
        plain = [line for line in single if line.delay is None and line.compensation is None]
        if delayed or plain:
            yield [str(line) for line in (*delayed, *plain)]


def _limits(cut: Connection, margins: Margins, delay: float) -> Iterator[Limit]:
    for name, margin in (("gain margin", margins.gain), ("gain reduction", margins.gain_reduction)):
        near = 1.0 / _FAR < margin.value < _FAR
        if near and math.isfinite(margin.frequency) and margin.frequency > 0.0:
            omega = _TURN * margin.frequency
            yield Limit(f"{name} of {cut}", "gain", margin.value, "-", omega, margin.value)
    delay_margin = margins.delay
    if math.isfinite(delay_margin.frequency) and delay + delay_margin.value > 0.0:
        omega = _TURN * delay_margin.frequency
        yield Limit(
            f"delay margin of {cut}",
            "delay",
            delay_margin.value * 1e3,
            "ms",
            omega,
            delay + delay_margin.value,
        )


def _limit_of(linear: LinearSystem, loop: LoopMargins, limit: Limit) -> float | None:
    """Find the value near the exact limit at which the sampled root neither grows nor fades."""
    change = changer(linear, limit.kind, loop.line)

    def growth(value: float) -> float:
        value = round(value, 9) if limit.kind == "delay" else value
        roots, _ = sampled_roots(change(value).period_map(), loop.components)
        near = min(roots, key=lambda root: abs(root - 1j * limit.omega), default=None)
        return math.nan if near is None else near.real

    return _zero(growth, limit.value)


def _zero(function: Callable[[float], float], begin: float) -> float | None:
    """Return a zero near a point above 0; ``None`` if there is none within a factor of 2."""
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


#: Largest decay of a mode that counts, in radians of the least damped one.
_LASTING = 10.0
#: What to do where a loop has no modes that steps could be held against.
_INSTEAD = (
    "no step is chosen by modes there: 'softdock analyze loop' tells the loop as sampled, at any"
    " --step, and 'softdock run --verify' compares runs with H and H/2"
)


class LoopModes(Struct):
    """The modes of one loop in continuous time that a step must leave as they are.

    components: Those of the loop.
    roots: Its characteristic roots, 1/s, the least damped first.
    free: Number of its motions that are free, such as that of bodies that float as a whole.
    """

    components: tuple[str, ...]
    roots: tuple[complex, ...]
    free: int


class Deviation(Struct):
    """One figure of a loop: what it is, and what a step makes of it.

    name: Such as ``growth of the mode of 0.29 Hz``.
    exact, sampled: The figure in continuous time and as the schedule makes it, in ``unit``; the
        latter is ``None`` where samples do not show it.
    unit: Of both.
    share: Their difference as a share of the figure's size; infinite where ``sampled`` is ``None``.
    """

    name: str
    exact: float
    sampled: float | None
    unit: str
    share: float

    def as_json(self) -> dict[str, Any]:
        """Return plain data; an infinite share is ``None``."""
        return {
            "name": self.name,
            "exact": self.exact,
            "sampled": self.sampled,
            "unit": self.unit,
            "share": finite(self.share),
        }


class StepEffect(Struct):
    """What a step does to all loops.

    step_ns: The communication step, ns.
    deviations: Of all figures that count.
    size: How many numbers the schedule remembers.
    """

    step_ns: int
    deviations: tuple[Deviation, ...]
    size: int

    @property
    def worst(self) -> Deviation:
        """The figure that is farthest off."""
        return max(self.deviations, key=lambda deviation: deviation.share)

    @property
    def share(self) -> float:
        """How far that is."""
        return self.worst.share


def reference_modes(linear: LinearSystem, count: int) -> tuple[LoopModes, ...]:
    """Return the modes in continuous time that a step must leave as they are.

    They are the least damped ones of each loop: at most ``count`` of them, and none that dies down
    within a small part of a turn of the first.
    """
    period_map = linear.period_map()
    modes: list[LoopModes] = []
    refused: list[DescriptionError] = []
    for group in coupled_groups(linear.system):
        free = sampled_roots(period_map, group)[1]
        try:
            loop = continuous_loop(linear.system, linear.models, group)
        except (CapabilityError, DescriptionError) as error:
            refused.append(type(error)(f"loop of {', '.join(group)}: {error}; {_INSTEAD}"))
            continue
        roots = exact_roots(loop, count)
        if roots:
            slowest = roots[0].real - _LASTING * abs(roots[0])
            slow_roots = tuple(root for root in roots if root.real >= slowest)
            modes.append(LoopModes(group, slow_roots, free))
    if refused:
        raise DescriptionError.collect(refused)
    return tuple(modes)


def step_error(
    linear: LinearSystem,
    modes: Sequence[LoopModes],
    margins: Sequence[LoopMargins] = (),
    tolerance: float = 1.0,
) -> StepEffect:
    """Say what a schedule does to some modes and margins."""
    period_map = linear.period_map()
    deviations = [deviation for loop in modes for deviation in _of_modes(period_map, loop)]
    worst = max((deviation.share for deviation in deviations), default=0.0)
    if worst <= tolerance:
        deviations += [
            Deviation(limit.name, limit.exact, sampled, limit.unit, limit.share(sampled))
            for loop in margins
            for limit, sampled in loop.as_sampled(linear)
        ]
    return StepEffect(linear.step_ns, tuple(deviations), period_map.size)


def at_step(linear: LinearSystem, step_ns: int, algorithm: str | None = None) -> LinearSystem:
    """Return a system with another step, and with another algorithm if one is given.

    Components with a rate keep the length of their steps, as that is their sample time. Options
    are those of the system's own algorithm: another one has its default ones.
    """
    master = linear.master
    rates = {}
    for name, ticks in master.rates.items():
        period = ticks * linear.step_ns
        if period % step_ns:
            raise DescriptionError(
                f"component '{name}' has steps of {period / 1e6:.9g} ms, which are not a multiple"
                f" of {step_ns / 1e6:.9g} ms"
            )
        rates[name] = period // step_ns
    is_own = algorithm in {None, master.algorithm}
    master = replace(
        master,
        algorithm=algorithm or master.algorithm,
        algorithm_options=master.algorithm_options if is_own else {},
        rates=rates,
    )
    return replace(linear, step_ns=step_ns, master=master)


def _of_modes(period_map: PeriodMap, loop: LoopModes) -> list[Deviation]:
    """Compare the modes of one loop, each with the sampled root that is nearest."""
    sampled, _ = sampled_roots(period_map, loop.components)
    fastest = max((root.real for root in sampled), default=-math.inf)
    deviations = []
    unpaired = list(sampled)
    for root in loop.roots:
        near = min(unpaired, key=lambda pair: abs(pair - root), default=None)
        if near is not None:
            unpaired.remove(near)
        deviations += _of_mode(root, near)
    first = loop.roots[0]
    stray = max((root.real for root in unpaired), default=-math.inf)
    if stray == fastest and stray > first.real:
        share = (stray - first.real) / growth_size(first)
        name = f"a mode that grows faster than any of {', '.join(loop.components)} does"
        deviations.append(Deviation(name, first.real, stray, "1/s", share))
    return deviations


def _of_mode(root: complex, near: complex | None) -> list[Deviation]:
    mode = f"the mode of {abs(root.imag) / _TURN:.4g} Hz"
    if root.imag == 0.0:
        mode = f"the mode of {root.real:.4g} 1/s"
    if near is None:
        return [Deviation(f"growth of {mode}", root.real, None, "1/s", math.inf)]
    deviations = [
        Deviation(
            f"growth of {mode}",
            root.real,
            near.real,
            "1/s",
            abs(near.real - root.real) / growth_size(root),
        )
    ]
    if root.imag:
        turned = abs(near.imag)
        deviations.append(
            Deviation(
                f"frequency of {mode}",
                root.imag / _TURN,
                turned / _TURN,
                "Hz",
                abs(turned - root.imag) / abs(root),
            )
        )
    return deviations
