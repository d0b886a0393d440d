"""Values of parameters and start values of inputs, against what their components take."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orchestrator.checks.context import (
    CheckContext,
    SystemLevel,
    bounds_of,
    finding,
    items_of,
    of_error,
    variables_of,
)
from orchestrator.core.diagnostics import Diagnostic
from orchestrator.core.diagnostics.errors import Code, error, note, warning
from orchestrator.core.system import Component, Value, nearest
from orchestrator.core.system.checks import expected_value, values
from orchestrator.core.system.naming import listed_names

_BINDING = "SSP 1.0.1, 5.2.3"
CODES: tuple[Code, ...] = (
    error(
        "VAL101",
        "a value for something that is not there",
        "The component has no parameter or input of that name. Parameters that were renamed or"
        " removed in a new FMU keep their old value nowhere.",
        _BINDING,
    ),
    error(
        "VAL102",
        "a value for an output",
        "An output is what the component computes: it cannot be set.",
        _BINDING,
    ),
    error(
        "VAL103",
        "a value of another type or shape",
        "Real, Integer, Boolean, String or the extents of an array do not fit the connector.",
        _BINDING,
    ),
    error(
        "VAL104",
        "a value that is no finite number",
        "Infinities and NaN are no values of parameters.",
    ),
    warning(
        "VAL105",
        "a value outside of the FMU's bounds",
        "The model description gives the variable a least or greatest value, and this one lies"
        " beyond. FMUs refuse such values, clip them, or give wrong results.",
        "FMI 2.0.4, 2.2.3",
    ),
    error(
        "VAL106",
        "a value that the FMU does not let be set",
        "The variable is a constant, a calculated parameter, or computed by the FMU (initial"
        " 'calculated'): setting it is an error of the run, or has no effect.",
        "FMI 2.0.4, 2.2.7",
    ),
    error(
        "VAL121",
        "a value beyond the range of a block's parameter",
        "The parameter of a Python block has a range by its nature: a noise is above zero, a share"
        " at most 1. The block refuses to run with another value.",
    ),
    note(
        "VAL110",
        "start values of inputs that are connected",
        "These inputs keep their values only until the first exchange, at the start time.",
        _BINDING,
    ),
    error(
        "ENU101",
        "a value that the enumeration does not have",
        "The number is not that of any item of the enumeration.",
        "SSP 1.0.1, 4.4.1",
    ),
)

#: Set before the initialisation, by the causality of FMI.
_SETTABLE = {"input", "parameter", "structuralParameter"}


def check(context: CheckContext) -> Iterator[Diagnostic]:
    """Check the values of all components."""
    for level in context.levels():
        fed = {(line.target.component, line.target.connector) for line in level.system.connections}
        yield from _own(level)
        for name, component in level.system.components.items():
            known = level.at(name) not in context.unknown
            yield from _component(level, component, known=known, fed=fed)


def _own(level: SystemLevel) -> Iterator[Diagnostic]:
    """Values of a system's own connectors."""
    system = level.system
    for name, value in system.values.items():
        at = f"{level.path}.{name}" if level.path else name
        connector = system.connectors.get(name)
        if connector is None:
            hint = nearest(name, system.connectors)
            known = listed_names(list(system.connectors), name)
            text = f"no connector '{name}' of the system{hint}; it has: {known}"
            yield finding("VAL101", at, text)
        elif not connector.accepts(value):
            yield finding("VAL103", at, f"expected {expected_value(connector)}, found {value!r}")


def _component(
    level: SystemLevel, component: Component, *, known: bool, fed: set[tuple[str, str]]
) -> Iterator[Diagnostic]:
    for problem in values(component):
        yield from (
            found for found in of_error(problem, level.path) if known or found.code != "VAL101"
        )
    if not component.values:
        return
    early = [name for name in component.values if (component.name, name) in fed]
    if early:
        yield finding("VAL110", level.at(component.name), f"only at first: {', '.join(early)}")
    described = variables_of(component)
    for name, value in component.values.items():
        at = f"{level.at(component.name)}.{name}"
        connector = component.connectors.get(name)
        if connector is None or not connector.accepts(value):
            continue
        if (variable := described.get(name)) is not None:
            yield from _variable(at, value, variable)
        yield from _item(at, value, component, name)


def _variable(at: str, value: Value, variable: Any) -> Iterator[Diagnostic]:
    causality = variable.causality
    if causality == "output":
        return  # VAL102
    by_unit = variable.initial == "calculated" or variable.variability == "constant"
    if (causality not in _SETTABLE and variable.initial not in {"exact", "approx"}) or by_unit:
        words = f"causality {causality}, variability {variable.variability}"
        initial = f", initial {variable.initial}" if variable.initial else ""
        yield finding("VAL106", at, f"cannot be set: it has {words}{initial}; remove the value")
        return
    least, most = bounds_of(variable)
    numbers = value if isinstance(value, tuple) else (value,)
    for number in numbers:
        if isinstance(number, (str, bytes)):
            continue
        if (least is not None and number < least) or (most is not None and number > most):
            low = "-inf" if least is None else f"{least:g}"
            high = "inf" if most is None else f"{most:g}"
            text = f"expected {low} to {high} (min, max of the FMU), found {number!r}"
            yield finding("VAL105", at, text)
            return


def _item(at: str, value: Value, component: Component, name: str) -> Iterator[Diagnostic]:
    items = items_of(component, name)
    if not items or isinstance(value, (str, bytes, bool)):
        return
    numbers = value if isinstance(value, tuple) else (value,)
    if any(number not in items.values() for number in numbers):
        known = ", ".join(f"{item} ({number})" for item, number in items.items())
        yield finding("ENU101", at, f"expected one of {known}; found {value!r}")
