"""What a slot is for an importer: its causality, its variability, how it starts."""

from __future__ import annotations

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
