"""What is drawn beside the system itself: its loops, the order of its steps, a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from orchestrator.core.coupling import DelayPlan, LoopDelay
from orchestrator.core.system import System
from orchestrator.pictures.drawing.chains import chains_of
from orchestrator.pictures.drawing.scene.palette import LOOPS
from orchestrator.pictures.drawing.wording import is_algebraic


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts of the flat system.

    Parameters
    ----------
    loops
        Delay of its closed loops.
    plans
        How its delayed and predicted connections are read.
    steps
        Place of every component in the order of stepping, from 1; those that step together have
        the same.
    iterated
        Components that are stepped again and again until their outputs agree.
    algorithm
        What orders the steps.
    marks
        ``"added"``, ``"removed"`` or ``"changed"``, by path of a component or key of a line.
    labels
        What stands on lines instead of their own label, by key.
    details
        What else is known of a component, by its path, or of a line, by its key: such as the tool
        that made an FMU.
    """

    loops: Sequence[LoopDelay] = ()
    plans: Sequence[DelayPlan] = ()
    steps: Mapping[str, int] = field(default_factory=dict)
    iterated: frozenset[str] = frozenset()
    algorithm: str = ""
    marks: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def algebraic(self) -> frozenset[int]:
        """Numbers of the loops that neither a delay nor a state cuts."""
        return frozenset(i for i, d in enumerate(self.loops) if any(map(is_algebraic, d.loops)))

    def step_text(self, path: str) -> str:
        """Number on a component: ``"2"``, ``"2 ↻"`` in a loop that is iterated, or nothing."""
        if path not in self.steps:
            return ""
        return f"{self.steps[path]}{' ↻' if path in self.iterated else ''}"


def loops_by_wire(system: System, loops: Sequence[LoopDelay]) -> dict[str, tuple[int, ...]]:
    """Numbers of the loops that every line of a system belongs to, by its key."""
    if not loops:
        return {}
    chains = chains_of(system)
    found: dict[str, list[int]] = {}
    for number, delay in enumerate(loops):
        keys = {
            segment.key: None
            for line in delay.lines
            for segment in chains.get((line.source, line.target), ())
        }
        for key in keys:
            found.setdefault(key, []).append(number)
    return {key: tuple(numbers) for key, numbers in found.items()}


def colour_of(loop: int) -> str:
    """Colour of a loop by its number; those beyond the palette begin anew."""
    return LOOPS[loop % len(LOOPS)]
