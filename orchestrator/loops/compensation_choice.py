"""Whether published compensations on undelayed lines do more than the master alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.master.plan import acting_at_once
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Compensation,
    DataType,
    Extrapolation,
    System,
)
from orchestrator.loops.loop_account import coupled_groups, inner_lines
from orchestrator.loops.run_account import LinearSystem
from orchestrator.loops.step_choice import StepChoice, StepReference
from orchestrator.loops.step_error import (
    LoopMargins,
    StepEffect,
    at_step,
    first_lines,
    reference_margins,
    step_error,
)

#: A compensation is proposed where it leaves no more of the error.
_SHARE = 0.5
#: Up to this number of lines, each is tried alone, too.
_MOST_LINES = 12
#: How a line says the order of its compensation.
_ORDERS = (None, Extrapolation.LINEAR, Extrapolation.QUADRATIC)
_NO_ENERGY = (
    "compensation 'energy' was not tried: it divides by a signal, as no linear model does; its"
    " growth is fitted to runs"
)

_NO_CORRECTOR = (
    "compensation 'corrector' was not tried: no undelayed connection of a loop ends at a component"
    " that acts on an output at once and gives directional derivatives"
)

#: Places of lines, and how each of them is compensated.
_Places = Mapping[int, Compensation]


class CompensationChoice(Struct):
    """Compensations that do measurably more than the master alone.

    lines: Which undelayed lines of loops, and how each of them is compensated.
    order: Of all of them: 0, 1 (``extrapolation = "linear"``) or 2 (``"quadratic"``).
    step_ns: The step at which both are compared, ns.
    error, without: Largest error of any figure with it and without it, as shares of their sizes.
    """

    lines: tuple[tuple[str, Compensation], ...]
    order: int
    step_ns: int
    error: float
    without: float

    def __str__(self) -> str:
        lines = "; ".join(f"'{how}' on {line}" for line, how in self.lines)
        return (
            f"compensation {lines}, of order {self.order}: error"
            f" {self.error:.2e} instead of {self.without:.2e} at {self.step_ns / 1e6:g} ms"
        )

    def as_json(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "lines": [{"line": line, "compensation": str(how)} for line, how in self.lines],
            "order": self.order,
            "step_ms": self.step_ns / 1e6,
            "error": self.error,
            "error_without": self.without,
        }


def choose_compensation(
    reference: StepReference, choice: StepChoice
) -> tuple[CompensationChoice | None, tuple[str, ...]]:
    """Try NEPCE and the corrector, of orders 0 to 2, on the undelayed lines of loops.

    NEPCE is tried on all of them, on those into states, and on each alone; the corrector on those
    that act on outputs at once, with NEPCE on the others and without. ``energy`` divides by a
    signal and has no linear map: docs/explanation/compensations.md.
    """
    lines = undelayed_lines(reference.linear.system)
    if choice.effect is None or not lines:
        return None, ()
    best: CompensationChoice | None = None
    refusals: list[str] = []
    system = reference.linear.system
    for placement in _ways(system, lines):
        try:
            best = _better(reference, choice, choice.effect, placement, best)
        except (CapabilityError, DescriptionError) as problem:
            refusals.append(str(problem))
    if not _corrected(system, lines):
        refusals.append(_NO_CORRECTOR)
    return best, (*dict.fromkeys(refusals), _NO_ENERGY)


def _better(
    reference: StepReference,
    choice: StepChoice,
    effect: StepEffect,
    placement: _Places,
    best: CompensationChoice | None,
) -> CompensationChoice | None:
    """Return the better of what was found and of one way, of the order that does most."""
    system = reference.linear.system
    margins = _margins(reference, _with(system, placement, None))
    without = _error(reference, effect, choice.algorithm, margins, system, choice.tolerance)
    lines = tuple((str(system.connections[i]), how) for i, how in placement.items())
    for order, extrapolation in enumerate(_ORDERS):
        within = _SHARE * without if best is None else min(_SHARE * without, best.error)
        changed = _with(system, placement, extrapolation)
        error = _error(
            reference, effect, choice.algorithm, margins, changed, min(within, choice.tolerance)
        )
        if error <= within:
            best = CompensationChoice(lines, order, effect.step_ns, error, without)
    return best


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
        and system.components[line.source.component].connectors[line.source.connector].type
        is DataType.REAL
    ]


def _corrected(system: System, lines: list[int]) -> list[int]:
    """Return the lines that the corrector is for: into units that act at once and say how."""
    acts_at_once = acting_at_once(system)
    ends = {i: system.connections[i] for i in lines}
    return [
        i
        for i, line in ends.items()
        if system.components[line.target.component].has_derivatives and acts_at_once(line)
    ]


def _ways(system: System, lines: list[int]) -> Iterator[_Places]:
    """Yield what is tried, each once."""
    nepce, corrector = Compensation.NEPCE, Compensation.CORRECTOR
    acts_at_once = acting_at_once(system)
    into_states = [i for i in lines if not acts_at_once(system.connections[i])]
    corrected = dict.fromkeys(_corrected(system, lines), corrector)
    ways: list[_Places] = [dict.fromkeys(lines, nepce), dict.fromkeys(into_states, nepce)]
    if len(lines) <= _MOST_LINES:
        ways += [{i: nepce} for i in lines]
    if corrected:
        ways += [dict.fromkeys(into_states, nepce) | corrected, corrected]
    placements: list[_Places] = []
    for modes in ways:
        if modes and modes not in placements:
            placements.append(modes)
            yield modes


def _with(system: System, placement: _Places, order: Extrapolation | None) -> System:
    lines = list(system.connections)
    for i, how in placement.items():
        lines[i] = replace(lines[i], compensation=how, extrapolation=order)
    return replace(system, connections=tuple(lines))


def _margins(reference: StepReference, system: System) -> Sequence[LoopMargins]:
    """Return the margins of the reference, those at compensated lines at others of their loops."""
    taken = {str(line) for line in system.connections if line.compensation is not None}
    remaining = [loop for loop in reference.margins if loop.line not in taken]
    if len(remaining) == len(reference.margins):
        return reference.margins
    moved = {loop.components for loop in reference.margins if loop.line in taken}
    others = [reference_margins(reference.linear, name) for name in first_lines(system)]
    return [*remaining, *(loop for loop in others if loop.components in moved)]


def _error(
    reference: StepReference,
    effect: StepEffect,
    algorithm: str,
    margins: Sequence[LoopMargins],
    system: System,
    within: float,
) -> float:
    """Largest error of any figure; margins, which take time, count where modes are within that."""
    if system is reference.linear.system and margins is reference.margins:
        return effect.share
    linear: LinearSystem = replace(reference.linear, system=system)
    stepped = at_step(linear, effect.step_ns, algorithm)
    share = step_error(stepped, reference.modes, margins, within).share
    return share if math.isfinite(share) else math.inf
