"""Value references and variables of an FMU, for FMI 2.0 by scalars and for FMI 3.0 by arrays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from enum import Enum
from functools import cached_property

import casadi as ca

from orchestrator.core.structs import Struct
from orchestrator.export.dae.explicit_ode import ExplicitOde
from orchestrator.export.dae.residual_dae import DataType, Kind, Variable, column


class Region(Enum):
    """Consecutive parts of the array; the values are the names of their sizes in model.h."""

    CONSTANT = "N_CONSTANTS"
    INPUT = "N_U"
    STATE = "N_X"
    PARAMETER = "N_P"
    CALCULATED = "N_C"
    DISCRETE = "N_D"
    OUTPUT = "N_Y"
    LOCAL = "N_W"
    DERIVATIVE = "N_DX"
    INDICATOR = "N_INDICATORS"


class Slot(Struct):
    """One element of the array: a variable or the derivative of a state."""

    reference: int
    region: Region
    variable: Variable

    @property
    def name(self) -> str:
        """Name in modelDescription.xml."""
        name = self.variable.name
        return f"der({name})" if self.region is Region.DERIVATIVE else name

    @property
    def type(self) -> DataType:
        """Type in modelDescription.xml."""
        return self.variable.type


class Layout(Struct, dict=True):
    """All slots of a model, in the order of their value references."""

    ode: ExplicitOde

    @cached_property
    def _indicators(self) -> tuple[Variable, ...]:
        """Event indicators; FMI 3 requires them as variables."""
        labels = (relation.label for relation in self.ode.indicating)
        return tuple(
            Variable(
                f"'event indicator {number}'",
                Kind.LOCAL,
                DataType.REAL,
                ca.SX.sym(f"indicator {number}"),
                ca.SX(0),
                description=f"Positive where {label}",
            )
            for number, label in enumerate(labels, start=1)
        )

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Every element of the array."""
        groups = (
            (Region.CONSTANT, self.ode.constants),
            (Region.INPUT, self.ode.inputs),
            (Region.STATE, self.ode.states),
            (Region.PARAMETER, self.ode.parameters),
            (Region.CALCULATED, self.ode.calculated),
            (Region.DISCRETE, self.ode.discrete),
            (Region.OUTPUT, self.ode.outputs),
            (Region.LOCAL, self.ode.locals),
            (Region.DERIVATIVE, self.ode.states),
            (Region.INDICATOR, self._indicators),
        )
        pairs = [(region, variable) for region, group in groups for variable in group]
        return tuple(
            Slot(reference, region, variable) for reference, (region, variable) in enumerate(pairs)
        )

    def of(self, region: Region) -> tuple[Slot, ...]:
        """Slots of one region."""
        return tuple(slot for slot in self.slots if slot.region is region)

    def start(self, slot: Slot) -> float:
        """Start value, with all parameters at their defaults; 0 for what is calculated later."""
        return self._starts.get(slot.reference, 0.0)

    def tunable(self, slot: Slot) -> bool:
        """Whether setting it between steps has its full effect.

        A parameter of a start value is fixed: after initialisation it would do nothing.
        """
        if slot.region is Region.CALCULATED:
            position = slot.reference - self.of(Region.CALCULATED)[0].reference
            value = self.ode.c[position]
            return any(symbol.name() in self._tunable_names for symbol in ca.symvar(value))
        return slot.region is Region.PARAMETER and slot.name in self._tunable_names

    @cached_property
    def _tunable_names(self) -> frozenset[str]:
        if self.ode.sampled is not None:
            return self.ode.sampled.tunable
        _, _, _, _, c, _ = self.ode.arguments
        events = self.ode.events
        begins = [d.start for d in events.discrete]
        start = ca.substitute(ca.vertcat(self.ode.start, *begins), c, self.ode.c)
        initial = {symbol.name() for symbol in ca.symvar(start)}
        return frozenset(
            variable.name
            for variable in self.ode.parameters
            if variable.type is DataType.REAL and variable.name not in initial
        )

    @cached_property
    def _starts(self) -> dict[int, float]:
        ode = self.ode
        starts = {s.reference: float(s.variable.value) for s in self.of(Region.CONSTANT)}
        starts |= {s.reference: number(s.variable.start) for s in self.of(Region.PARAMETER)}
        for slot, equation in zip(self.of(Region.DISCRETE), ode.events.discrete, strict=False):
            starts[slot.reference] = number(ca.SX(equation.start)) if equation.exact else 0.0
        p = [starts[slot.reference] for slot in self.of(Region.PARAMETER)]
        _, _, _, p_symbols, c_symbols, _ = ode.arguments
        c = ca.Function("c", [p_symbols], [ode.c])(p)
        inputs = ca.densify(column(v.start for v in ode.inputs))
        u, x = ca.Function("s", [p_symbols, c_symbols], [inputs, ode.start])(p, c)
        for region, symbols in ((Region.CALCULATED, c), (Region.STATE, x), (Region.INPUT, u)):
            starts |= {s.reference: float(symbols[i]) for i, s in enumerate(self.of(region))}
        if self.ode.sampled is not None:
            memory = (*self.of(Region.OUTPUT), *self.of(Region.LOCAL))
            starts |= {slot.reference: number(slot.variable.start) for slot in memory}
        return starts


def number(expression: object) -> float:
    """Value of a constant expression; NaN if it depends on a symbol."""
    return float(expression) if expression.is_constant() else float("nan")  # type: ignore[attr-defined, arg-type]


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


class ArrayVariable(Struct):
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


def entries(layout: Layout) -> tuple[ArrayVariable, ...]:
    """All variables but time, in the order of their value references.

    An array whose elements differ in more than their start values, or are not all of one region
    (states and others, for example), is given as its elements.
    """
    variables = [
        entry
        for region in Region
        if region not in {Region.DERIVATIVE, Region.INDICATOR}
        for entry in _grouped(layout, layout.of(region))
    ]
    slopes = iter(layout.of(Region.DERIVATIVE))  # grouped as their states are
    states = [entry for entry in variables if entry.first.region is Region.STATE]
    variables += [
        ArrayVariable(tuple(itertools.islice(slopes, len(s.slots))), s.shape) for s in states
    ]
    return (*variables, *(ArrayVariable((slot,)) for slot in layout.of(Region.INDICATOR)))


def _grouped(layout: Layout, slots: Sequence[Slot]) -> Iterator[ArrayVariable]:
    for array, run in itertools.groupby(slots, key=lambda slot: slot.variable.array):
        elements = tuple(run)
        shape = elements[0].variable.shape
        common = {
            (*classification(layout, s), s.variable.minimum, s.variable.maximum, s.variable.nominal)
            for s in (elements if array else ())
        }
        if len(common) == 1 and len(elements) == math.prod(shape):
            yield ArrayVariable(elements, shape)
        else:
            yield from (ArrayVariable((slot,)) for slot in elements)
