"""On what the outputs of a sampled model depend, for ModelStructure."""

from __future__ import annotations

import casadi as ca

from orchestrator.export.archive.dependency import Dependencies, DependencyTable
from orchestrator.export.codegen.layout import Layout, Region, Slot
from orchestrator.export.dae.sampled import Sampled


class SampledDependencies:
    """Dependencies of outputs on the inputs of a step, and at the start.

    Parameters
    ----------
    layout
        The model with its value references.
    sampled
        Its steps.
    """

    def __init__(self, layout: Layout, sampled: Sampled) -> None:
        self._layout = layout
        self._sampled = sampled

    def continuous(self, unknown: Slot) -> Dependencies:
        """Inputs of a step that act on an output at its end."""
        direct = self._sampled.direct[unknown.name]
        inputs = self._layout.of(Region.INPUT)
        return [(slot, "dependent") for slot in inputs if slot.name in direct]

    def initial(self, unknown: Slot) -> Dependencies:
        """Inputs and parameters that form an output at the start."""
        place = unknown.reference - self._layout.of(Region.OUTPUT)[0].reference
        knowns = (*self._layout.of(Region.INPUT), *self._layout.of(Region.PARAMETER))
        u, p, _ = self._sampled.columns
        pattern = ca.jacobian_sparsity(self._sampled.first[place], ca.vertcat(u, p))
        return [(knowns[column], "dependent") for column in sorted(set(pattern.get_triplet()[1]))]


def dependencies_of(layout: Layout) -> DependencyTable | SampledDependencies:
    """The dependencies of a model."""
    sampled = layout.ode.sampled
    return DependencyTable(layout) if sampled is None else SampledDependencies(layout, sampled)
