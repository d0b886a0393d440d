"""Open loop of a schedule: what comes back along one line in the period of a run, and its margins.

The map of one period is M(g) = M0 + g b c', where g is the gain of the line: it is read once in a
period. So the loop closes where g c' (z I - M0)^-1 b = 1, and L(w) = -c' (z I - M0)^-1 b with
z = exp(i w T) is its response, with the holding and the rounding of delays that the schedule does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.loops.cut_loop import CutLoop
from orchestrator.loops.delayed_loop import Complex
from orchestrator.loops.loop_account import are_free, coupled_groups, sampled_roots
from orchestrator.loops.loop_transfer import Margins, at_rest, find_line, margins_of
from orchestrator.loops.multipliers import multipliers
from orchestrator.loops.multirate_loop import MultirateLoop, line_steps, numbers_of_line
from orchestrator.loops.run_account import LinearSystem
from orchestrator.loops.state_space import Floats
from orchestrator.loops.sweep import changer

#: Frequencies between which crossings are looked for, of each decade; so many decades below half
#: the rate at least, and down to this share of the slowest mode.
_GRID, _DECADES, _BELOW = 120, 5.0, 0.01
#: Multipliers that are no larger say nothing of slow modes.
_FADED = 1e-3
#: So many are solved at once.
_CHUNK = 64
#: What a second way through the line may be, as a share of the first: rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
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
        whole = closed.matrix(inner)
        without = changer(linear, "gain", str(cut))(0.0)
        rest = without.period_map().matrix(inner)
        left, sizes, right = np.linalg.svd(whole - rest)
        roots = tuple(sampled_roots(closed, group)[0])
        if sizes[1] <= _ROUNDING * max(sizes[0], 1.0):
            into, out_of = left[:, 0] * sizes[0], right[0]
            kept = numbers_of_line(rest, into[:, None], out_of[None])
            parts = rest[np.ix_(kept, kept)], into[kept], out_of[kept]
            return cls(str(cut), group, closed.period, roots, *parts)
        steps = line_steps(*(_step_maps(each, closed.steps) for each in (linear, without)))
        if not steps:
            raise CapabilityError(
                f"the schedule reads the line {cut} more than once in a step, so its loop cannot"
                " be cut there: choose gauss-seidel or jacobi"
            )
        return MultirateLoop.of(str(cut), group, closed.period, steps, roots)

    def at(self, omega: Floats | float) -> Complex:
        """Return L at angular frequencies in rad/s, up to half the sampling rate."""
        asked = np.asarray(omega, dtype=np.float64)
        found = np.empty(asked.size, dtype=np.complex128)
        right = self.into[:, None].astype(np.complex128)
        for first in range(0, asked.size, _CHUNK):
            z = np.exp(1j * np.ravel(asked)[first : first + _CHUNK] * self.period)
            inner = z[:, None, None] * np.eye(len(self.rest)) - self.rest
            found[first : first + _CHUNK] = -np.linalg.solve(inner, right)[..., 0] @ self.out_of
        return np.asarray(found.reshape(asked.shape))

    def margins(self) -> Margins:
        """Return the margins: of the gain, and of a delay on the line beside that it has."""
        omega = self.frequencies()
        return margins_of(self.at, omega, is_stable=self.is_stable, ends=self.ends(omega[0]))

    def frequencies(self) -> Floats:
        """Return frequencies in rad/s from below all modes up to half the sampling rate."""
        found = multipliers(self.rest)
        moving = found.values[~are_free(found, self.period) & (np.abs(found.values) > _FADED)]
        slow = np.abs(np.log(moving)).min(initial=math.pi) / self.period
        fastest = math.log10(math.pi / self.period)
        decades = max(_DECADES, fastest - math.log10(_BELOW * slow))
        return np.asarray(np.logspace(fastest - decades, fastest, round(_GRID * decades))[:-1])

    def beyond(self, growth: float) -> SampledLoop:
        """Return the loop whose modes grow so much less, 1/s: its limits are where one grows so.

        With x' = A x + b u scaled by s = exp(-growth T) in each period, modes that grow with
        ``growth`` neither grow nor die down. A delay on the line then takes exp(-growth delay) off
        the gain, which is left out.
        """
        share = math.exp(-growth * self.period)
        roots = tuple(root - growth for root in self.roots)
        return replace(self, rest=self.rest * share, into=self.into * share, roots=roots)

    def ends(self, slowest: float) -> list[tuple[float, float]]:
        """Return L and rad/s at both ends: at rest, if it is finite there, and at half the rate."""
        fastest = complex(self.at(math.pi / self.period))
        return [*at_rest(self.at, slowest), (fastest.real, math.pi / self.period)]


def _step_maps(linear: LinearSystem, count: int) -> list[Floats]:
    return [linear.period_map(only=step).matrix() for step in range(count)]
