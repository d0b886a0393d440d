"""modelDescription.xml of an exported system: what both versions of FMI have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lxml import etree

from orchestrator.errors import DescriptionError, UnitMismatchError
from orchestrator.system import DataType, DefaultExperiment, Enumeration, seconds
from orchestrator.system.units import BaseUnit, base_unit
from orchestrator.system_fmu.variable import Kind, Variable

GENERATOR = "Softdock"
_CATEGORIES = {  # those of engine/src/system_instance.cpp
    "logStatusError": "Why a call has failed; sent even when logging is off",
    "logInner": "Messages of the FMUs inside, with the name of the component",
}
_IDENTIFIER = r"(?:[A-Za-z_][A-Za-z0-9_]*|'(?:[^'\\]|\\.)+')"
_INDEX = r"(?:\[[0-9]+(?:, ?[0-9]+)*\])?"
_STRUCTURED = re.compile(rf"{_IDENTIFIER}{_INDEX}(?:\.{_IDENTIFIER}{_INDEX})*")


@dataclass(frozen=True, slots=True)
class Abilities:
    """What the exported FMU can.

    Parameters
    ----------
    identifier, token, system, description
        Its names.
    experiment
        Start and stop, as the system has them.
    step_ns
        Its own communication step.
    varies
        Whether its algorithm chooses the steps inside, so that any length can be asked for.
    keeps_states, serializes, once_per_process
        What all FMUs inside can, and what one of them cannot.
    dependencies
        For every own output the own inputs that act on it at once.
    """

    identifier: str
    token: str
    system: str
    description: str
    experiment: DefaultExperiment
    step_ns: int
    varies: bool
    keeps_states: bool
    serializes: bool
    once_per_process: bool
    dependencies: Mapping[str, tuple[str, ...]]


def truth(*, value: bool) -> str:
    """Write a Boolean as XML has it."""
    return "true" if value else "false"


def root_element(
    about: Abilities, variables: Sequence[Variable], attributes: dict[str, str]
) -> etree._Element:
    """Start a model description; the attributes are those of one version."""
    structured = all(_STRUCTURED.fullmatch(variable.name) for variable in variables)
    root = etree.Element(
        "fmiModelDescription",
        {
            **attributes,
            "modelName": about.system,
            "generationTool": GENERATOR,
            "variableNamingConvention": "structured" if structured else "flat",
        },
    )
    if about.description:
        root.set("description", about.description)
    return root


def encoded(root: etree._Element) -> bytes:
    """Text of the file, in UTF-8."""
    text: bytes = etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
    return text


def add_units(root: etree._Element, variables: Iterable[Variable], more: Iterable[str]) -> None:
    """Add UnitDefinitions, in terms of SI base units where the unit is made of them.

    Raises
    ------
    DescriptionError
        If files of the system define one name to be different units.
    """
    defined: dict[str, BaseUnit | None] = dict.fromkeys(more)
    for variable in variables:
        connector = variable.connector
        if connector.type is not DataType.REAL or not connector.unit:
            continue
        known = defined.setdefault(connector.unit, connector.unit_definition)
        given = connector.unit_definition
        if known is None:
            defined[connector.unit] = given
        elif given is not None and given != known:
            raise DescriptionError(
                f"'{variable.name}': its unit '{connector.unit}' is defined as {given}, and"
                f" elsewhere in the system as {known}; give one of them another name"
            )
    if not defined:
        return
    definitions = etree.SubElement(root, "UnitDefinitions")
    for name, definition in sorted(defined.items()):
        unit = etree.SubElement(definitions, "Unit", name=name)
        base = definition or _base(name)
        if base is None:
            continue
        attributes = {symbol: str(power) for symbol, power in base.exponents.items() if power}
        if base.factor != 1.0:
            attributes["factor"] = repr(base.factor)
        if base.offset != 0.0:
            attributes["offset"] = repr(base.offset)
        etree.SubElement(unit, "BaseUnit", attributes)


def _base(unit: str) -> BaseUnit | None:
    try:
        return base_unit(unit)
    except UnitMismatchError:  # an FMU inside may call a unit what it likes
        return None


def enumerations(variables: Iterable[Variable]) -> dict[str, Enumeration]:
    """Return the enumerations of all variables, by name.

    Raises
    ------
    DescriptionError
        If one name stands for different items.
    """
    found: dict[str, Enumeration] = {}
    for variable in variables:
        kind = variable.connector.enumeration
        if kind is None:
            continue
        if found.setdefault(kind.name, kind).items != kind.items:
            raise DescriptionError(
                f"'{variable.name}': enumeration '{kind.name}' has other items elsewhere in the"
                " system; give one of them another name"
            )
    return found


def add_items(parent: etree._Element, kind: Enumeration) -> None:
    """Add the items of an enumeration."""
    for name, value in kind.items.items():
        etree.SubElement(parent, "Item", name=name, value=str(value))


def add_log_categories(root: etree._Element) -> None:
    """Add LogCategories."""
    categories = etree.SubElement(root, "LogCategories")
    for name, description in _CATEGORIES.items():
        etree.SubElement(categories, "Category", name=name, description=description)


def add_default_experiment(root: etree._Element, about: Abilities) -> None:
    """Add DefaultExperiment; the step size is the system's own step."""
    attributes = {"startTime": repr(seconds(about.experiment.start_ns))}
    if about.experiment.stop_ns is not None:
        attributes["stopTime"] = repr(seconds(about.experiment.stop_ns))
    attributes["stepSize"] = repr(seconds(about.step_ns))
    etree.SubElement(root, "DefaultExperiment", attributes)


def identity(variable: Variable, reference: int) -> dict[str, str]:
    """Attributes that say what a variable is."""
    attributes = {"name": variable.name, "valueReference": str(reference)}
    if variable.connector.description:
        attributes["description"] = variable.connector.description
    attributes |= {"causality": variable.causality, "variability": variable.variability}
    if variable.causality != "input":
        attributes["initial"] = "exact" if variable.kind is Kind.PARAMETER else "calculated"
    return attributes


def start_text(variable: Variable) -> str:
    """Start values as FMI writes them, one for each element."""
    return " ".join(map(_literal, variable.start))


def _literal(value: object) -> str:
    if isinstance(value, bool):
        return truth(value=value)
    if isinstance(value, bytes):
        return value.hex()
    return value if isinstance(value, str) else repr(value)


def outputs(variables: Sequence[Variable]) -> list[tuple[int, Variable]]:
    """Own outputs with their value references."""
    return [(i + 1, v) for i, v in enumerate(variables) if v.causality == "output"]


def depends_on(about: Abilities, output: Variable, variables: Sequence[Variable]) -> list[int]:
    """Value references of the own inputs that act on an output at once, elements included."""
    whole = output.name.partition("[")[0] if output.name not in about.dependencies else output.name
    names = about.dependencies[whole]
    return [
        i + 1
        for i, v in enumerate(variables)
        if v.causality == "input" and (v.name in names or v.name.partition("[")[0] in names)
    ]
