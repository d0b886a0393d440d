"""Rules of FMI for a model description beyond its schema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from orchestrator.core.simunits.fmi.description_part import REALS, ModelDescription, Variable

#: What may come together of causality, variability and ``initial``.
_LEGAL: Final = frozenset(
    {
        *product(("structuralParameter", "parameter"), ("fixed", "tunable"), ("exact",)),
        *product(("calculatedParameter",), ("fixed", "tunable"), ("calculated", "approx")),
        *product(("input",), ("discrete", "continuous"), ("exact",)),
        *product(("output", "local"), ("constant",), ("exact",)),
        *product(
            ("output", "local"), ("discrete", "continuous"), ("calculated", "exact", "approx")
        ),
        *product(("local",), ("fixed", "tunable"), ("calculated", "approx")),
        ("independent", "continuous", None),
    }
)


def broken_rules(described: ModelDescription) -> Iterator[str]:
    """Say which rules a model description breaks."""
    variables, names = described.modelVariables, set()
    for v in variables:
        if v.name in names:
            yield f"the name of {_named(v)} is not unique"
        names.add(v.name)
        if v.type not in REALS and v.variability == "continuous":
            yield f"{_named(v)}: {v.type} must have another variability than 'continuous'"
    if described.fmiVersion == "1.0":
        return
    units = {unit.name: {d.name for d in unit.displayUnits} for unit in described.unitDefinitions}
    for v in variables:
        yield from _of_start(v)
        if (v.causality, v.variability, v.initial) not in _LEGAL:
            yield (
                f"{_named(v)}: causality '{v.causality}', variability '{v.variability}' and initial"
                f" '{v.initial or 'none'}' may not come together"
            )
        yield from _of_units(v, units)
    if described.fmiVersion.startswith("3"):
        if (count := sum(v.causality == "independent" for v in variables)) != 1:
            yield f"expected one independent variable, found {count}"
        yield from _of_references(variables)


def _named(variable: Variable) -> str:
    return f"variable '{variable.name}' (line {variable.sourceline})"


def _of_start(variable: Variable) -> Iterator[str]:
    """Say whether a start value is missing where it must be, or is where it must not be."""
    if variable.start is None:
        needs = variable.initial in {"exact", "approx"} or variable.causality == "input"
        if needs and variable.type != "Clock":
            yield f"{_named(variable)} has no start value"
    elif variable.start and variable.initial == "calculated":
        yield f"{_named(variable)} is calculated at the start, and has a start value"
    elif variable.start and variable.causality == "independent":
        yield f"{_named(variable)} is independent, and has a start value"


def _of_units(variable: Variable, units: Mapping[str | None, set[str | None]]) -> Iterator[str]:
    declared, unit = variable.declaredType, variable.unit
    if unit is None and declared is not None:
        unit = declared.unit
    if unit is not None and unit not in units:
        yield f"{_named(variable)}: the unit '{unit}' is not defined"
        return
    for shown in (variable.displayUnit, *(alias.displayUnit for alias in variable.aliases)):
        if shown is not None and shown not in units.get(unit, ()):
            yield f"{_named(variable)}: the display unit '{shown}' is not defined"


def _of_references(variables: list[Variable]) -> Iterator[str]:
    """Say which variables share a value reference, other than aliases."""
    seen: dict[int, Variable] = {}
    for variable in variables:
        before = seen.setdefault(variable.valueReference, variable)
        if before is not variable and variable.alias is None:
            yield f"{_named(variable)} has the value reference of {_named(before)}"
