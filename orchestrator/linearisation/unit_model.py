"""Linear model of one component, by whichever way it can be had."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.linearisation.state_space import Floats, StateSpace


@dataclass(frozen=True)
class UnitModel:
    """What a component does to small changes, at the point where it was linearised.

    Parameters
    ----------
    name, method
        The component, and how the model was found: ``model exchange``, ``differences``,
        ``responses``.
    states
        Number of states of the transitions.
    transition
        Called with a length of a step in nanoseconds and whether inputs have slopes: what takes
        (states, inputs [, slopes]) to (states, outputs) after it; float64.
    continuous
        The same in continuous time; ``None`` where there is none.
    remarks
        What was left out, and what is doubtful, in sentences.
    """

    name: str
    method: str
    states: int
    transition: Callable[[int, bool], Floats]
    continuous: StateSpace | None
    remarks: tuple[str, ...] = ()
