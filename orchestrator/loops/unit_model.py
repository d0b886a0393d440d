"""Linear model of one component, by whichever way it can be had."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from orchestrator.loops.state_space import Floats, StateSpace


class Transition(Protocol):
    """What one step of a component does."""

    def __call__(self, step_ns: int, /, *, order: int) -> Floats:
        """Return what takes (states, inputs, their derivatives) to (states, outputs)."""


@dataclass(frozen=True)
class UnitModel:
    """What a component does to small changes, at the point where it was linearised.

    Parameters
    ----------
    name, method
        The component, and how the model was found: ``model exchange``, ``differences``,
        ``responses``.
    states
        Names of the states of the transitions.
    transition
        Its steps, by their length in nanoseconds and by the order of the derivatives of its inputs;
        float64 of shape (states + outputs, states + (1 + order) * inputs).
    continuous
        The same in continuous time; ``None`` where there is none.
    remarks
        What was left out, and what is doubtful, in sentences.
    kinks
        States and inputs that stand where a slope jumps: a contact that is just open.
    """

    name: str
    method: str
    states: tuple[str, ...]
    transition: Transition
    continuous: StateSpace | None
    remarks: tuple[str, ...] = ()
    kinks: tuple[str, ...] = ()
