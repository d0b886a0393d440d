"""A model that changes at the ends of communication steps only, such as a Python block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca

from orchestrator.export.dae.residual_dae import Kind, Variable

_Column = Any  # casadi.SX column


@dataclass(frozen=True)
class Sampled:
    """``m' = next(t, h, u, p, m)`` at every step, from ``first(t, u, p, m)`` on.

    The memory m holds all outputs and then all states of the model. The columns u and p are those
    of its inputs and parameters.

    Attributes
    ----------
    time, step, inputs, parameters, memory
        Symbols: the time at which the step begins and its length in seconds, and the columns.
    next, first
        The memory after a step, and at the start.
    direct
        For every output, the inputs of a step that act on it at the end of that step.
    longest_step
        In seconds; None: any.
    code
        File of the runtime that takes the steps instead of the expressions; empty: none.
    room
        Number of further values that this file keeps.
    fixed
        Parameters that only count at the start.
    """

    time: _Column
    step: _Column
    inputs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    memory: tuple[Variable, ...]
    next: _Column
    first: _Column
    direct: Mapping[str, tuple[str, ...]]
    longest_step: float | None = None
    code: str = ""
    room: int = 0
    fixed: frozenset[str] = frozenset()

    @property
    def columns(self) -> tuple[_Column, _Column, _Column]:
        """Columns u, p and m."""
        u, p, m = (
            ca.vertcat(ca.SX(0, 1), *(variable.symbol for variable in group))
            for group in (self.inputs, self.parameters, self.memory)
        )
        return u, p, m

    @property
    def tunable(self) -> frozenset[str]:
        """Parameters that may be set between steps: those that form no state at the start."""
        states = [place for place, v in enumerate(self.memory) if v.kind is not Kind.OUTPUT]
        begun = ca.vertcat(ca.SX(0, 1), *(self.first[place] for place in states))
        forming = {symbol.name() for symbol in ca.symvar(begun)}
        return frozenset(v.name for v in self.parameters) - forming - self.fixed
