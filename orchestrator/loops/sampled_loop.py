"""Open loop of a schedule: what comes back along one line, also where it is read more often.

The map of one period is M(g) = M0 + g b c', where g is the gain of the line: it is read once in a
period. So the loop closes where g c' (z I - M0)^-1 b = 1, and L(w) = -c' (z I - M0)^-1 b with
z = exp(i w T) is its response, with the holding and the rounding of delays that the schedule does.

Where it is read more often: from one read of the line to the next what a run remembers goes by
S_k(0) + g b_k c_k', where g is the gain of the line. All reads of a period together are, lifted, x'
= A x + B u, y = C x + D u with u = g y. A gain g > 0, a phase g = exp(-i f), and registers for a
delay between y and u make a map of the period each; the limit is where one of its multipliers
crosses 1.

References
----------
Meyer, Burrus: A unified analysis of multirate and periodically time-varying digital filters, IEEE
Transactions on Circuits and Systems 22, 1975: lifting, by which the response is that of a matrix.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.structs import Struct, replace
from orchestrator.loops.delayed_loop import Complex
from orchestrator.loops.loop_account import are_free, coupled_groups, sampled_roots
from orchestrator.loops.loop_transfer import Margin, Margins, at_rest, find_line, margins_of
from orchestrator.loops.multipliers import lasting_numbers, multipliers
from orchestrator.loops.state_space import Floats
from orchestrator.loops.sweep import changer

if TYPE_CHECKING:
    from orchestrator.loops.run_account import LinearSystem


class CutLoop(Struct):
    """A loop as a schedule makes it, cut at a line that is read p times in a period.

    What a run remembers goes by x' = A x + B u, where u is put in by the line, and y = C x comes
    out of it.

    line: ``component.output -> component.input``.
    components: Those of the loop.
    period: Of the schedule, s.
    roots: Of the closed loop, 1/s, the fastest growing first; free motions are left out.
    transition, into, out_of: A, B and C, float64 of shapes (n, n), (n, p) and (p, n); without the p
        where it is 1.
    """

    line: str
    components: tuple[str, ...]
    period: float
    roots: tuple[complex, ...]
    transition: Floats
    into: Floats
    out_of: Floats

    @property
    def is_stable(self) -> bool:
        """Whether every mode of the closed loop dies down."""
        return all(root.real < 0.0 for root in self.roots)


#: Multipliers are beyond 1 from here on: two free motions are found to the root of rounding.
_OUTSIDE = 1.0 + 1e-6
#: Factors of the gain, phases and delays that are tried; a limit between two is halved down.
_GAIN, _GAINS, _PHASES, _LATE, _HALVINGS = 1e3, 90, 90, 30, 32
_GRID = 300
#: What a second way through the line may be in a step, as a share of the first.
_ROUNDING = 1e-9
_TURN = 2.0 * math.pi


class LineStep(Struct):
    """From one read of the line to the next.

    transition: S_k(0), float64 of shape (n, n).
    into, out_of: b_k and c_k, shape (n,).
    """

    transition: Floats
    into: Floats
    out_of: Floats


class MultirateLoop(CutLoop):
    """A loop as a schedule makes it, cut at a line that is read more than once in a period.

    direct: D, float64 of shape (p, p): y = C x + D u.
    """

    direct: Floats

    @classmethod
    def of(
        cls,
        line: str,
        components: tuple[str, ...],
        period: float,
        steps: Sequence[LineStep],
        roots: tuple[complex, ...],
    ) -> MultirateLoop:
        """Lift the steps of a period."""
        count, size = len(steps), len(steps[0].transition)
        transition, into = np.eye(size), np.zeros((size, 0))
        out_of, direct = np.zeros((count, size)), np.zeros((count, count))
        for k, loop_step in enumerate(steps):
            out_of[k], direct[k, :k] = loop_step.out_of @ transition, loop_step.out_of @ into
            into = np.column_stack([loop_step.transition @ into, loop_step.into])
            transition = loop_step.transition @ transition
        lasting = lasting_numbers(transition, into, out_of)
        parts = transition[np.ix_(lasting, lasting)], into[lasting], out_of[:, lasting], direct
        return cls(line, components, period, roots, *parts)

    def closed(self, gain: complex = 1.0, delay: float = 0.0) -> Complex:
        """Return the map of one period, float64, or complex128 with a complex gain."""
        count, depth = len(self.direct), math.ceil(delay)
        now, before = (gain * matrix for matrix in self._delayed_reads(delay))
        # y = of_state x + of_before r, and u = now y + before r, where r are the reads before
        inverse = np.linalg.inv(np.eye(count) - self.direct @ now)
        of_state, of_before = inverse @ self.out_of, inverse @ self.direct @ before
        shifted = np.eye(depth, k=-count, dtype=of_state.dtype)
        newest = np.eye(depth, count)[:, ::-1] if depth >= count else np.eye(count)[::-1][:depth]
        return np.block(
            [
                [
                    self.transition + self.into @ now @ of_state,
                    self.into @ (before + now @ of_before),
                ],
                [newest @ of_state, shifted + newest @ of_before],
            ]
        )

    def _delayed_reads(self, delay: float) -> tuple[Floats, Floats]:
        """Return what a delay takes of the reads of this period, and of those before, by age."""
        whole_periods, part = int(delay), delay % 1.0
        count, depth = len(self.direct), math.ceil(delay)
        now, before = np.zeros((count, count)), np.zeros((count, depth))
        for back, share in ((whole_periods, 1.0 - part), (whole_periods + 1, part)):
            for k in range(count if share else 0):
                if k >= back:
                    now[k, k - back] += share
                else:
                    before[k, back - k - 1] += share
        return now, before

    def at(self, omega: Floats | float) -> Complex:
        """Return what comes back of a sine on the line at its own frequency, -L, as L in rad/s.

        What comes back at other frequencies, folded by the slower steps, is left out: margins are
        those of :meth:`margins`, not of this.
        """
        frequencies = np.asarray(omega, dtype=np.float64)
        response = np.empty(frequencies.size, dtype=np.complex128)
        count = len(self.direct)
        times = np.arange(count) * self.period / count
        for i, w in enumerate(np.ravel(frequencies)):
            sine = np.exp(1j * w * times)
            response[i] = -(sine.conj() @ self._lifted(np.exp(1j * w * self.period)) @ sine) / count
        return np.asarray(response.reshape(frequencies.shape))

    def margins(self) -> Margins:
        """Return the margins: of gain, phase, and of a delay in addition to that of the line."""
        turns = np.linspace(0.0, _TURN, _PHASES)[1:]
        phase = self._limit(
            lambda f: self.closed(cmath.exp(-1j * f)), 0.0, turns if self.is_stable else -turns
        )
        more = np.geomspace(1.0, _GAIN, _GAINS)[1:]
        tick = self.period / len(self.direct)
        if self.is_stable:
            last = 2 * len(self.direct)  # steps of two periods; then wider, up to ten times that
            near = np.linspace(0.0, last, 8 * len(self.direct) + 1)[1:]
            delays = np.concatenate([near, np.geomspace(last, 16 * last, _LATE)[1:]])
            delay_limit = self._limit(lambda n: self.closed(delay=n), 0.0, delays)
            delay = Margin(delay_limit.value * tick, delay_limit.frequency)
        else:
            seconds = phase.value / (_TURN * phase.frequency) if phase.frequency else math.nan
            delay = Margin(seconds, phase.frequency)
        lower = self._limit(self.closed, 1.0, 1.0 / more)
        return Margins(
            self.is_stable,
            self._limit(self.closed, 1.0, more),
            lower if math.isfinite(lower.value) else Margin(0.0, math.nan),
            phase,
            delay,
            self._distance(),
        )

    def _limit(self, matrix: Callable[[float], Complex], begin: float, tried: Floats) -> Margin:
        """Find where the number of growing modes changes first, between values that are tried."""
        growing_at_begin = _growing(matrix(begin))
        for before, after in pairwise([begin, *tried.tolist()]):
            if _growing(matrix(after)) == growing_at_begin:
                continue
            low, high = before, after
            for _ in range(_HALVINGS):
                middle = 0.5 * (low + high)
                if _growing(matrix(middle)) == growing_at_begin:
                    low = middle
                else:
                    high = middle
            return Margin(high, self._frequency(matrix(low), matrix(high)))
        return Margin(math.inf if begin <= tried[0] else -math.inf, math.nan)

    def _frequency(self, before: Complex, after: Complex) -> float:
        """Return the frequency of the mode that crosses, Hz, up to half of one over the period."""
        values = np.linalg.eigvals(before if _growing(before) > _growing(after) else after)
        outside = values[np.abs(values) > _OUTSIDE]
        nearest = outside[np.argmin(np.abs(outside))]
        return abs(float(np.angle(nearest))) / (_TURN * self.period)

    def _distance(self) -> Margin:
        """Return the least singular value of 1 + L, lifted: one over the largest sensitivity."""
        top = math.pi / self.period
        omega = np.geomspace(1e-5 * top, top, _GRID)[:-1]
        identity = np.eye(len(self.direct))
        sizes = [
            float(np.linalg.svd(identity - self._lifted(np.exp(1j * w * self.period)))[1][-1])
            for w in omega
        ]
        nearest = int(np.argmin(sizes))
        return Margin(sizes[nearest], float(omega[nearest]) / _TURN)

    def _lifted(self, z: complex) -> Complex:
        """Return what the reads of a period bring of what was put in at each, (p, p)."""
        inner = np.linalg.solve(z * np.eye(len(self.transition)) - self.transition, self.into + 0j)
        return np.asarray(self.direct + self.out_of @ inner)


def _growing(matrix: Complex) -> int:
    return int(np.sum(np.abs(np.linalg.eigvals(matrix)) > _OUTSIDE))


def _is_of_rank_one(sizes: Floats) -> bool:
    """Whether singular values, the largest first, have no second one beyond rounding."""
    return bool(np.all(sizes[1:2] <= _ROUNDING * max(sizes[0], 1.0)))


def line_steps(closed: Sequence[Floats], opened: Sequence[Floats]) -> tuple[LineStep, ...]:
    """Return a period from one read of a line to the next, from the maps of its steps.

    whole, rest: With the line and without it, float64 of shape (n, n) for each step.
    Returns: Empty if a step reads the line more than once, or the line is not read evenly.
    """
    steps: list[LineStep] = []
    lengths: list[int] = []
    for with_line, none in zip(closed, opened, strict=True):
        left_vectors, sizes, right = np.linalg.svd(with_line - none)
        if not _is_of_rank_one(sizes):
            return ()
        if sizes[0] > _ROUNDING:
            steps.append(LineStep(none, left_vectors[:, 0] * sizes[0], right[0]))
            lengths.append(1)
        elif steps:
            last = steps[-1]
            steps[-1] = LineStep(none @ last.transition, none @ last.into, last.out_of)
            lengths[-1] += 1
        else:
            return ()
    return tuple(steps) if len(set(lengths)) == 1 else ()


def _of_lasting(
    closed: Sequence[Floats], opened: Sequence[Floats]
) -> tuple[list[Floats], list[Floats]]:
    """Leave out the numbers that no step of a period reads, or that none writes."""
    together = np.sum(np.abs([*closed, *opened]), axis=0)
    nothing = np.zeros((len(together), 0))
    window = np.ix_(*[lasting_numbers(together, nothing, nothing.T)] * 2)
    return [matrix[window] for matrix in closed], [matrix[window] for matrix in opened]


#: Frequencies between which crossings are looked for, of each decade; this many decades below half
#: the rate at least, and down to this share of the slowest mode.
_PER_DECADE, _DECADES, _BELOW = 120, 5.0, 0.01
#: Multipliers that are no larger say nothing of slow modes.
_FADED = 1e-3
#: Number that is solved at once.
_CHUNK = 64


class SampledLoop(CutLoop):
    """A loop as a schedule makes it, cut at a line that is read once in a period: M0, b and c."""

    @classmethod
    def of(cls, linear: LinearSystem, line: str) -> SampledLoop | MultirateLoop | None:
        """Cut a loop at a line, which carries one number; ``None`` if it is in no loop.

        With several rates the line may be read several times in a period.
        """
        cut = find_line(linear.system, line)
        ends = {cut.source.component, cut.target.component}
        group = next((g for g in coupled_groups(linear.system) if ends <= set(g)), None)
        if group is None:
            return None
        target = linear.system.components[cut.target.component].connectors[cut.target.connector]
        if target.size > 1:
            raise DescriptionError(
                f"the line {cut} carries {target.size} numbers: expected one of a single number"
            )
        closed = linear.period_map()
        inner = closed.within(group)  # what is outside of the loop neither drives nor hears it
        closed_matrix = closed.matrix(inner)
        without = changer(linear, "gain", str(cut))(0.0)
        opened_matrix = without.period_map().matrix(inner)
        # Signals that are written and never read again are no second way through the line.
        nothing = np.zeros((len(opened_matrix), 0))
        lasting = lasting_numbers(np.abs(closed_matrix) + np.abs(opened_matrix), nothing, nothing.T)
        closed_matrix, opened_matrix = (
            closed_matrix[np.ix_(lasting, lasting)],
            opened_matrix[np.ix_(lasting, lasting)],
        )
        left_vectors, sizes, right = np.linalg.svd(closed_matrix - opened_matrix)
        roots = tuple(sampled_roots(closed, group)[0])
        if _is_of_rank_one(sizes):
            into, out_of = left_vectors[:, 0] * sizes[0], right[0]
            lasting = lasting_numbers(opened_matrix, into[:, None], out_of[None])
            parts = opened_matrix[np.ix_(lasting, lasting)], into[lasting], out_of[lasting]
            return cls(str(cut), group, closed.period, roots, *parts)
        maps = (
            [linear_of.period_map(only=step).matrix() for step in range(closed.steps)]
            for linear_of in (linear, without)
        )
        steps = line_steps(*_of_lasting(*maps))
        if not steps:
            raise CapabilityError(
                f"the schedule reads the line {cut} more than once in a step, so its loop cannot"
                " be cut there: choose gauss-seidel or jacobi"
            )
        return MultirateLoop.of(str(cut), group, closed.period, steps, roots)

    def at(self, omega: Floats | float) -> Complex:
        """Return L at angular frequencies in rad/s, up to half the sampling rate."""
        frequencies = np.asarray(omega, dtype=np.float64)
        response = np.empty(frequencies.size, dtype=np.complex128)
        right = self.into[:, None].astype(np.complex128)
        for first in range(0, frequencies.size, _CHUNK):
            z = np.exp(1j * np.ravel(frequencies)[first : first + _CHUNK] * self.period)
            inner = z[:, None, None] * np.eye(len(self.transition)) - self.transition
            response[first : first + _CHUNK] = -np.linalg.solve(inner, right)[..., 0] @ self.out_of
        return np.asarray(response.reshape(frequencies.shape))

    def margins(self) -> Margins:
        """Return the margins: of the gain, and of a delay in addition to that of the line."""
        omega = self.frequencies()
        return margins_of(self.at, omega, is_stable=self.is_stable, ends=self.ends(omega[0]))

    def frequencies(self) -> Floats:
        """Return frequencies in rad/s from below all modes up to half the sampling rate."""
        values = multipliers(self.transition)
        moving = values.values[~are_free(values, self.period) & (np.abs(values.values) > _FADED)]
        slow = np.abs(np.log(moving)).min(initial=math.pi) / self.period
        fastest = math.log10(math.pi / self.period)
        decades = max(_DECADES, fastest - math.log10(_BELOW * slow))
        return np.asarray(
            np.logspace(fastest - decades, fastest, round(_PER_DECADE * decades))[:-1]
        )

    def beyond(self, growth: float) -> SampledLoop:
        """Return the loop whose modes grow so much less, 1/s: its limits are where one grows so.

        With x' = A x + b u scaled by s = exp(-growth T) in each period, modes that grow with
        ``growth`` neither grow nor die down. A delay on the line then takes exp(-growth delay) off
        the gain, which is left out.
        """
        share = math.exp(-growth * self.period)
        roots = tuple(root - growth for root in self.roots)
        return replace(
            self, transition=self.transition * share, into=self.into * share, roots=roots
        )

    def ends(self, slowest: float) -> list[tuple[float, float]]:
        """Return L and rad/s at both ends: at rest, if it is finite there, and at half the rate."""
        fastest = complex(self.at(math.pi / self.period))
        return [*at_rest(self.at, slowest), (fastest.real, math.pi / self.period)]
