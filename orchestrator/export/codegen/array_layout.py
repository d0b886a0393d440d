"""FMI 3.0 variables: the slots of a Modelica array under one name and one value reference."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from orchestrator.export.codegen.layout import Layout, Region, Slot
from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.residual_dae import DataType, Kind


def classification(layout: Layout, slot: Slot) -> tuple[str, str, str | None]:
    """Causality, variability and initial of a slot (FMI 2.0, section 2.2.7)."""
    real = slot.type is DataType.REAL
    moving = "continuous" if real else "discrete"
    if slot.region is Region.STATE:
        causality = "output" if slot.variable.kind is Kind.OUTPUT else "local"
        first = layout.of(Region.STATE)[0].reference
        exact = is_exact(layout.ode, slot.reference - first)
        return causality, moving, "exact" if exact else "approx"
    if slot.region is Region.DISCRETE:
        equation = layout.ode.events.discrete[slot.reference - layout.of(slot.region)[0].reference]
        causality = "output" if slot.variable.is_output else "local"
        return causality, "discrete", "exact" if equation.exact else "calculated"
    variability = "tunable" if layout.tunable(slot) else "fixed"
    return {
        Region.CONSTANT: ("local", "constant", "exact"),
        Region.INPUT: ("input", moving, None),
        Region.PARAMETER: ("parameter", variability, "exact"),
        Region.CALCULATED: ("calculatedParameter", variability, "calculated"),
        Region.OUTPUT: ("output", moving, "calculated"),
        Region.LOCAL: ("local", moving, "calculated"),
        Region.DERIVATIVE: ("local", moving, "calculated"),
        Region.INDICATOR: ("local", moving, "calculated"),
    }[slot.region]


def output_slots(layout: Layout) -> list[Slot]:
    """Outputs, states and discrete ones included, by value reference."""
    states = [slot for slot in layout.of(Region.STATE) if slot.variable.kind is Kind.OUTPUT]
    discrete = [slot for slot in layout.of(Region.DISCRETE) if slot.variable.is_output]
    return [*states, *discrete, *layout.of(Region.OUTPUT)]


def is_exact(ode: ExplicitOde, state: int) -> bool:
    """Whether a state's start value is a number, not an expression or solution of equations."""
    if ode.initial is not None and ode.states[state].name in ode.initial.solved:
        return False
    constant: bool = ode.start[state].is_constant()
    return constant


@dataclass(frozen=True, slots=True)
class Entry:
    """One variable of an FMI 3.0 description: consecutive slots, elements in row-major order."""

    slots: tuple[Slot, ...]
    shape: tuple[int, ...] = ()

    @property
    def reference(self) -> int:
        """Value reference: that of the first element; those of the others do not exist."""
        return self.slots[0].reference

    @property
    def first(self) -> Slot:
        """The slot that stands for all in what they have in common."""
        return self.slots[0]

    @property
    def name(self) -> str:
        """Name in modelDescription.xml."""
        if not self.shape:
            return self.first.name
        array = self.first.variable.array
        return f"der({array})" if self.first.region is Region.DERIVATIVE else array


def entries(layout: Layout) -> tuple[Entry, ...]:
    """All variables but time, in the order of their value references.

    An array whose elements differ in more than their start values, or are not all of one region
    (states and others, for example), is given as its elements.
    """
    found = [
        entry
        for region in Region
        if region not in {Region.DERIVATIVE, Region.INDICATOR}
        for entry in _grouped(layout, layout.of(region))
    ]
    slopes = iter(layout.of(Region.DERIVATIVE))  # grouped as their states are
    states = [entry for entry in found if entry.first.region is Region.STATE]
    found += [Entry(tuple(itertools.islice(slopes, len(s.slots))), s.shape) for s in states]
    return (*found, *(Entry((slot,)) for slot in layout.of(Region.INDICATOR)))


def _grouped(layout: Layout, slots: Sequence[Slot]) -> Iterator[Entry]:
    for array, run in itertools.groupby(slots, key=lambda slot: slot.variable.array):
        elements = tuple(run)
        shape = elements[0].variable.shape
        common = {_properties(layout, slot) for slot in elements} if array else ()
        if len(common) == 1 and len(elements) == math.prod(shape):
            yield Entry(elements, shape)
        else:
            yield from (Entry((slot,)) for slot in elements)


def _properties(layout: Layout, slot: Slot) -> tuple[Any, ...]:
    variable = slot.variable
    limits = (variable.minimum, variable.maximum, variable.nominal)
    return (*classification(layout, slot), *limits)
