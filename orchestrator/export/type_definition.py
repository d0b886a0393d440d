"""TypeDefinitions: the Modelica types that the variables of an FMU are declared with."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from orchestrator.export.layout import Layout, Region, Slot
from orchestrator.export.residual_dae import DataType, Variable


@dataclass(frozen=True, slots=True)
class TypeDefinition:
    """One type.

    Attributes
    ----------
    name
        As the declarations write it, such as ``Units.Length``.
    attributes
        Attributes in which all its variables agree, in the notation of FMI.
    """

    name: str
    type: DataType
    attributes: dict[str, str]


def type_definitions(layout: Layout) -> dict[str, TypeDefinition]:
    """Types by name. A name that stands for different units or quantities is left out."""
    users: dict[str, list[Variable]] = defaultdict(list)
    taken = {slot.name for slot in layout.slots}
    for slot in layout.slots:
        if slot.type is not slot.variable.type:
            continue  # an enumeration, which appears as its number
        if slot.region is not Region.DERIVATIVE and slot.variable.declared_type:
            users[slot.variable.declared_type].append(slot.variable)
    found = {}
    for name, variables in sorted(users.items()):
        one = variables[0]
        if name not in taken and len({_meaning(variable) for variable in variables}) == 1:
            found[name] = TypeDefinition(name, one.type, _attributes(variables))
    return found


def definition_of(slot: Slot, definitions: dict[str, TypeDefinition]) -> TypeDefinition | None:
    """Type of a slot; a derivative has none."""
    declared = None if slot.region is Region.DERIVATIVE else slot.variable.declared_type
    return definitions.get(declared or "")


def limit_text(value: float, data_type: DataType) -> str:
    """A number in the notation of XML for this type."""
    if data_type is DataType.BOOLEAN:
        return "true" if value else "false"
    return repr(float(value)) if data_type is DataType.REAL else str(round(value))


def measures(variable: Variable) -> dict[str, str]:
    """Quantity, unit and displayUnit, where the type of variable may have them."""
    if variable.type is DataType.BOOLEAN:
        return {}
    found = {"quantity": variable.quantity}
    if variable.type is DataType.REAL:
        found["unit"] = variable.unit
        found["displayUnit"] = variable.display_unit if variable.unit else None
    return {key: text for key, text in found.items() if text}


def limits(variable: Variable) -> dict[str, str]:
    """Min, max and nominal, where the type of variable may have them."""
    if variable.type is DataType.BOOLEAN:
        return {}
    found = {"min": variable.minimum, "max": variable.maximum}
    if variable.type is DataType.REAL:
        found["nominal"] = variable.nominal
    return {key: limit_text(v, variable.type) for key, v in found.items() if v is not None}


def _meaning(variable: Variable) -> tuple[object, ...]:
    return variable.type, tuple(measures(variable).items())


def _attributes(variables: list[Variable]) -> dict[str, str]:
    common = set(limits(variables[0]).items())
    for variable in variables[1:]:
        common &= set(limits(variable).items())
    return measures(variables[0]) | dict(sorted(common))
