"""Rules of FMI for a model description beyond its schema: whether it keeps all that FMPy knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from typing import Any, Final

_REALS: Final = frozenset({"Real", "Float32", "Float64"})
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


def keeps_rules(described: Any) -> bool:
    """Whether a model description keeps the rules."""
    return all(_rules(described))


def _rules(described: Any) -> Iterator[bool]:
    variables = described.modelVariables
    yield len({v.name for v in variables}) == len(variables)
    yield all(v.type in _REALS or v.variability != "continuous" for v in variables)
    if described.fmiVersion == "1.0":
        return
    units = {unit.name: {d.name for d in unit.displayUnits} for unit in described.unitDefinitions}
    yield all(_starts(v) for v in variables)
    yield all((v.causality, v.variability, v.initial) in _LEGAL for v in variables)
    yield all(_units(v, units) for v in variables)
    if described.fmiVersion.startswith("3"):
        yield sum(v.causality == "independent" for v in variables) == 1
        yield _references(variables)


def _starts(variable: Any) -> bool:
    """Whether a variable has a start value where it must, and none where it must not."""
    if variable.start is None:
        needs = variable.initial in {"exact", "approx"} or variable.causality == "input"
        return variable.type == "Clock" or not needs
    is_computed = variable.initial == "calculated" or variable.causality == "independent"
    return not (is_computed and variable.start)


def _units(variable: Any, units: Mapping[str, set[str]]) -> bool:
    declared = variable.declaredType
    unit = variable.unit
    if unit is None and declared is not None:
        unit = declared.unit
    if unit is not None and unit not in units:
        return False
    shown = [variable.displayUnit, *(alias.displayUnit for alias in variable.aliases)]
    return all(name is None or name in units[unit] for name in shown)


def _references(variables: Iterable[Any]) -> bool:
    """Whether none but aliases share a value reference."""
    seen = set()
    for variable in variables:
        if variable.valueReference in seen and not variable.alias:
            return False
        seen.add(variable.valueReference)
    return True
