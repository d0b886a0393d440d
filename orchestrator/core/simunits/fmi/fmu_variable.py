"""Variables of an FMU that are connectors: what only its simulation unit needs to know of them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import IntEnum
from math import isfinite, prod
from typing import TYPE_CHECKING, Any

from orchestrator.core.simunits.fmi.description_parts import TRUE
from orchestrator.core.simunits.protocol import Capabilities, UnitDescription
from orchestrator.core.structs import Struct
from orchestrator.core.system import BaseUnit, Causality, Connector, DataType, Enumeration, Value
from orchestrator.core.system.ports import Limits
from orchestrator.core.units.conversion import base_said, base_unit, definition_beyond, has_offset
from orchestrator.core.units.tables import BASE_UNITS

if TYPE_CHECKING:
    from orchestrator.core.simunits.fmi.description_parts import ModelDescription, Variable

_SET_FROM_OUTSIDE = {Causality.INPUT, Causality.PARAMETER, Causality.STRUCTURAL_PARAMETER}
_LOGGER = logging.getLogger(__name__)

_TYPES = {
    "Real": DataType.REAL,
    "Float64": DataType.REAL,
    "Float32": DataType.REAL,
    "Integer": DataType.INTEGER,
    "Enumeration": DataType.INTEGER,
    **{f"{sign}Int{bits}": DataType.INTEGER for sign in ("", "U") for bits in (8, 16, 32, 64)},
    "Boolean": DataType.BOOLEAN,
    "String": DataType.STRING,
    "Binary": DataType.BINARY,
    "Clock": DataType.CLOCK,
}


class TimerKind(IntEnum):
    """When an interval may change; numbers of the engine (fmi/clock_scheduler.hpp)."""

    FIXED = 0
    TUNABLE = 1
    CHANGING = 2
    COUNTDOWN = 3


class Timer(Struct):
    """One time-based input clock.

    kind: See :class:`TimerKind`.
    fraction: Whether the FMU tells its intervals as fractions.
    seconds: Interval as a decimal, in seconds; 0 where the description does not say.
    counter, resolution: Interval as a fraction of seconds; 0 where the description does not say.
    shift, shift_counter: Time from the start to the first tick: in seconds, or in parts of the
        resolution.
    """

    kind: TimerKind
    fraction: bool
    seconds: float
    counter: int
    resolution: int
    shift: float
    shift_counter: int


class FmuVariable(Struct):
    """One variable.

    reference: FMI value reference.
    type: The standard's name, such as ``"Int16"``: it has the width that a connector does not.
    dimensions: Extents; one that a structural parameter gives is that parameter's name.
    is_discrete: Whether it changes at events only.
    clocks: Value references of the clocks at whose ticks it changes.
    is_structural: Whether it is a structural parameter, which is set in configuration mode.
    is_negated: Whether its value is minus that of its reference (the negated alias of FMI 1.0).
    is_followed: Whether it can be set while the FMU steps, in intermediate update mode (FMI 3.0).
    timer: What makes it tick, if it is a time-based input clock.
    """

    reference: int
    type: str
    dimensions: tuple[int | str, ...] = ()
    is_discrete: bool = False
    clocks: tuple[int, ...] = ()
    is_structural: bool = False
    is_negated: bool = False
    is_followed: bool = False
    timer: Timer | None = None

    def limits(self) -> tuple[float, float] | None:
        """Return the least and the greatest value of its type; ``None`` for no number."""
        if self.type == "Float32":
            largest = (2.0 - 2.0**-23) * 2.0**127
            return -largest, largest
        if self.type in {"Integer", "Enumeration"}:
            return -(2**31), 2**31 - 1
        sign, is_number, bits = self.type.partition("Int")
        if not is_number:
            return None
        width = int(bits)
        return (0, 2**width - 1) if sign else (-(2 ** (width - 1)), 2 ** (width - 1) - 1)

    def shape(self, values: Mapping[str, Value]) -> tuple[int, ...]:
        """Return the extents where structural parameters have these values."""
        return tuple(
            size if isinstance(size, int) else int(values[size])  # type: ignore[arg-type]
            for size in self.dimensions
        )


def described_capabilities(described: ModelDescription, input_order: int) -> Capabilities:
    """Return what an FMU of FMI 2.0 or 3.0 can by Co-Simulation."""
    cs = described.coSimulation
    if cs is None:
        return Capabilities()
    can = Capabilities(
        can_roll_back=cs.canGetAndSetFMUstate,
        can_serialize=cs.canSerializeFMUstate,
        can_vary_step=cs.canHandleVariableCommunicationStepSize,
        has_directional_derivatives=cs.providesDirectionalDerivative,
        input_order=input_order,
        once_per_process=cs.canBeInstantiatedOnlyOncePerProcess,
    )
    if not described.fmiVersion.startswith("3"):
        return can
    return replace(
        can,
        has_directional_derivatives=cs.providesDirectionalDerivatives,
        has_event_mode=cs.hasEventMode,
        might_return_early=cs.mightReturnEarlyFromDoStep,
        fixed_step=length if (length := float(cs.fixedInternalStepSize or 0)) > 0.0 else None,
    )


def described_feedthrough(described: ModelDescription) -> dict[str, tuple[str, ...]]:
    """Return the inputs on which outputs depend at once, as far as the FMU declares them."""
    return {
        unknown.variable.name: tuple(
            v.name for v in unknown.dependencies if v.causality == Causality.INPUT
        )
        for unknown in described.outputs
        if unknown.dependencies is not None
    }


def unit_described(
    described: ModelDescription,
    connectors: Mapping[str, Connector],
    feedthrough: Mapping[str, tuple[str, ...]],
    capabilities: Capabilities,
) -> UnitDescription:
    """Return the description of a unit that is run by Co-Simulation."""
    return UnitDescription(
        name=described.modelName,
        connectors=connectors,
        feedthrough=feedthrough,
        capabilities=capabilities,
        **_tuning(described, connectors),
        # Derivatives are listed for Model Exchange; without that interface states may be hidden.
        has_states=described.modelExchange is None or bool(described.derivatives),
        details={
            "kind": f"FMU, FMI {described.fmiVersion} Co-Simulation",
            "tool": described.generationTool or "not said",
            "guid": described.guid or "",
        },
    )


def units_of(described: ModelDescription) -> dict[str, BaseUnit]:
    """Return what an FMU defines its units to be, where their names do not say the same."""
    definitions = {}
    for unit in described.unitDefinitions:
        base = unit.baseUnit
        if not unit.name or base is None:
            continue
        if not isfinite(base.factor) or base.factor == 0.0 or not isfinite(base.offset):
            continue
        powers = {name: power for name in BASE_UNITS if (power := getattr(base, name))}
        defined = BaseUnit(powers, base.factor, base.offset)
        if (beyond := definition_beyond(unit.name, defined)) is not None:
            definitions[unit.name] = beyond
            if (definition := base_said(unit.name)) is not None:
                _LOGGER.warning(
                    "FMU '%s' defines unit '%s' as %s, which is used; its name says %s",
                    described.modelName,
                    unit.name,
                    defined,
                    definition,
                )
    return definitions


def connector_of(
    variable: Variable,
    shape: tuple[int, ...],
    starts: Sequence[str] | None,
    units: Mapping[str, BaseUnit] | None = None,
) -> Connector | None:
    """Return the connector of a variable ; ``None`` if it is not one.

    variable: As it was read.
    shape: Its extents.
    starts: Start values as text, one for each element or one for all; ``None`` if not declared.
    units: What the FMU defines units to be beyond their names; see :func:`units_of`.
    """
    causality = variable.causality
    if causality == "structuralParameter":
        causality = Causality.PARAMETER
    if causality not in set(Causality) or variable.type not in _TYPES:
        return None
    kind = _TYPES[variable.type]
    declared = variable.declaredType
    unit = variable.unit or (declared.unit if declared is not None else None)
    return Connector(
        name=variable.name,
        causality=Causality(causality),
        type=kind,
        unit=unit,
        unit_definition=_definition(variable, unit, units or {}),
        shape=shape,
        description=variable.description or "",
        start=_start(kind, shape, starts),
        enumeration=_enumeration(variable),
    )


def _tuning(described: ModelDescription, connectors: Collection[str]) -> dict[str, Any]:
    """Return what a unit's description says of values that are set while it runs."""
    tunable, variability, ranges = set(), {}, {}
    for variable in described.modelVariables:
        name, kind = variable.name, variable.variability
        if name not in connectors or variable.causality not in _SET_FROM_OUTSIDE:
            continue
        if (limits := _declared_range(variable)) is not None:
            ranges[name] = limits
        if variable.causality == Causality.INPUT:
            continue
        if variable.causality == Causality.PARAMETER and kind == "tunable":
            tunable.add(name)
        else:
            is_structural = variable.causality == Causality.STRUCTURAL_PARAMETER
            variability[name] = "structural" if is_structural else kind or "fixed"
    return {"tunable": frozenset(tunable), "variability": variability, "ranges": ranges}


def bounds_of(variable: Variable) -> tuple[float | None, float | None]:
    """Return the least and the greatest value, of the variable or of its declared type."""
    bounds = []
    for end in ("min", "max"):
        bound = getattr(variable, end)
        text = getattr(variable.declaredType, end, None) if bound is None else bound
        bounds.append(None if text is None else float(text))
    return bounds[0], bounds[1]


def _declared_range(variable: Variable) -> Limits | None:
    """Return the bounds of a number."""
    if _TYPES[variable.type] not in {DataType.REAL, DataType.INTEGER}:
        return None
    low, high = bounds_of(variable)
    if low is not None and low == high:
        return None  # it may have one value only, and is no range
    return Limits.of(low, high)


def _enumeration(variable: Variable) -> Enumeration | None:
    """What its values are called, if its type is an enumeration that says all of them."""
    declared = variable.declaredType
    if variable.type != "Enumeration" or declared is None or not declared.items:
        return None
    items = {item.name: int(item.value) for item in declared.items if item.name and item.value}
    is_whole = all(item.name and item.value for item in declared.items)
    return Enumeration(declared.name or "", items) if is_whole else None


def _definition(
    variable: Variable, unit: str | None, units: Mapping[str, BaseUnit]
) -> BaseUnit | None:
    """Definition of a variable's unit; a difference of temperatures has no offset."""
    if unit is None:
        return None
    declared, base = variable.declaredType, units.get(unit)
    if variable.relativeQuantity or (declared is not None and declared.relativeQuantity):
        if base is None and has_offset(unit):
            base = base_unit(unit)
        return None if base is None else BaseUnit(base.exponents, base.factor)
    return base


#: What a start value's text is read by, where it is no float.
_READ: Mapping[DataType, Callable[[str], Any]] = {
    DataType.INTEGER: int,
    DataType.BOOLEAN: TRUE.__contains__,
    DataType.STRING: str,
    DataType.BINARY: bytes.fromhex,
}


def _start(kind: DataType, shape: tuple[int, ...], texts: Sequence[str] | None) -> Value | None:
    if not texts:
        return None
    values = [_READ.get(kind, float)(text) for text in texts]
    if not shape:
        only: Value = values[0]
        return only
    if len(values) == 1:
        values *= prod(shape)
    return tuple(values) if len(values) == prod(shape) else None
