"""Whether a published compensation on undelayed lines does more than the master alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from orchestrator.diagnostics import CapabilityError, DescriptionError
from orchestrator.linearisation.signal_graph import coupled_groups, inner_lines
from orchestrator.linearisation.step_choice.choice import StepChoice, StepReference
from orchestrator.linearisation.step_choice.step_error import at_step, step_error
from orchestrator.linearisation.whole_system import LinearSystem
from orchestrator.system import Compensation, Connection, DataType, System

#: A compensation is proposed where it leaves no more of the error.
_SHARE = 0.5
#: Of so many lines each is tried alone, too.
_MOST_LINES = 12


@dataclass(frozen=True)
class CompensationChoice:
    """A compensation that does measurably more than the master alone.

    Parameters
    ----------
    compensation, lines
        Which, and on which undelayed lines of loops.
    step_ns
        The step at which both are compared, ns.
    error, without
        Largest error of any figure with it and without it, as shares of their sizes.
    """

    compensation: Compensation
    lines: tuple[str, ...]
    step_ns: int
    error: float
    without: float

    def __str__(self) -> str:
        return (
            f"compensation '{self.compensation}' on {'; '.join(self.lines)}: error"
            f" {self.error:.2e} instead of {self.without:.2e} at {self.step_ns / 1e6:g} ms"
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "compensation": str(self.compensation),
            "lines": list(self.lines),
            "step_ms": self.step_ns / 1e6,
            "error": self.error,
            "error_without": self.without,
        }


def choose_compensation(
    reference: StepReference, choice: StepChoice
) -> tuple[CompensationChoice | None, str]:
    """Try NEPCE on the undelayed lines of loops, all of them and each alone, at a chosen step.

    The others are not tried: ``energy`` divides by a signal and has no linear map; ``corrector``
    takes only FMUs that give directional derivatives: docs/explanation/compensations.md.

    Parameters
    ----------
    reference
        What steps are judged by.
    choice
        Of an algorithm; without a step nothing is tried.

    Returns
    -------
    choice
        The one with the least error; ``None`` if none leaves half of it or less.
    refused
        Why some could not be tried, if none could; empty otherwise.
    """
    if choice.chosen is None:
        return None, ""
    lines = undelayed_lines(reference.linear.system)
    without = choice.chosen.share
    best: CompensationChoice | None = None
    refusals: list[str] = []
    tried = 0
    for places in _sets(lines):
        try:
            system = _with(reference.linear.system, places)
            error = _error(reference, choice, choice.chosen.step_ns, system)
        except (CapabilityError, DescriptionError) as problem:
            refusals.append(str(problem))
            continue
        tried += 1
        if error <= _SHARE * without and (best is None or error < best.error):
            names = tuple(str(system.connections[i]) for i in places)
            best = CompensationChoice(
                Compensation.NEPCE, names, choice.chosen.step_ns, error, without
            )
    return best, refusals[0] if refusals and not tried else ""


def undelayed_lines(system: System) -> list[int]:
    """Return the places of the lines within loops that carry Reals at once, uncompensated."""
    within = {
        line.target for group in coupled_groups(system) for line in inner_lines(system, group)
    }
    return [
        i
        for i, line in enumerate(system.connections)
        if line.target in within
        and line.delay is None
        and line.compensation is None
        and _is_real(system, line)
    ]


def _is_real(system: System, line: Connection) -> bool:
    source = system.components[line.source.component].connectors[line.source.connector]
    return source.type is DataType.REAL


def _sets(lines: list[int]) -> Iterator[list[int]]:
    if lines:
        yield lines
    if 1 < len(lines) <= _MOST_LINES:
        yield from ([line] for line in lines)


def _with(system: System, places: list[int]) -> System:
    lines = list(system.connections)
    for i in places:
        lines[i] = replace(lines[i], compensation=Compensation.NEPCE)
    return replace(system, connections=tuple(lines))


def _error(reference: StepReference, choice: StepChoice, step_ns: int, system: System) -> float:
    linear: LinearSystem = replace(reference.linear, system=system)
    stepped = at_step(linear, step_ns, choice.algorithm)
    share = step_error(stepped, reference.modes, reference.margins, choice.tolerance).share
    return share if math.isfinite(share) else math.inf
