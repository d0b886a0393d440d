"""TypeDefinitions: the Modelica types that the variables of an FMU are declared with."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass

from orchestrator.export.archive.display_unit import display_misfit
from orchestrator.export.codegen.layout import Layout, Region, Slot
from orchestrator.export.dae.residual_dae import DataType, Variable


@dataclass(frozen=True, slots=True)
class TypeDefinition:
    """One type.

    Attributes
    ----------
    name
        As the declarations write it, such as ``Units.Length``; if that name is taken, an
        enumeration has a number behind it.
    attributes
        Attributes in which all its variables agree, in the notation of FMI.
    literals
        Names of the values 1, 2, .. of an enumeration.
    """

    name: str
    type: DataType
    attributes: dict[str, str]
    literals: tuple[str, ...] = ()


_Key = tuple[str, tuple[str, ...]]  # name as declared, literals
TypeDefinitions = dict[_Key, TypeDefinition]


def type_definitions(layout: Layout) -> TypeDefinitions:
    """Types of all variables. A name that stands for different units or quantities is left out.

    Enumerations never are: FMI wants a type for each of their variables.
    """
    users: dict[_Key, list[Variable]] = defaultdict(list)
    for slot in layout.slots:
        if slot.region is not Region.DERIVATIVE and (key := _key(slot.variable)) != ("", ()):
            users[key].append(slot.variable)
    taken = {slot.name for slot in layout.slots}
    found = {}
    for key, variables in sorted(users.items()):
        one, (name, literals) = variables[0], key
        if literals:
            name = _free_name(name, taken)
        elif name in taken or len({_meaning(variable) for variable in variables}) != 1:
            continue
        taken.add(name)
        found[key] = TypeDefinition(name, one.type, _attributes(variables), literals)
    return found


def definition_of(slot: Slot, definitions: TypeDefinitions) -> TypeDefinition | None:
    """Type of a slot; a derivative has none."""
    return None if slot.region is Region.DERIVATIVE else definitions.get(_key(slot.variable))


def limit_text(value: float, data_type: DataType) -> str:
    """A number in the notation of XML for this type."""
    if data_type is DataType.BOOLEAN:
        return "true" if value else "false"
    return repr(float(value)) if data_type is DataType.REAL else str(round(value))


def measures(variable: Variable) -> dict[str, str]:
    """Quantity, unit and a displayUnit that fits, where the type of variable may have them."""
    if variable.type is DataType.BOOLEAN:
        return {}
    found = {"quantity": variable.quantity}
    if variable.type is DataType.REAL:
        found["unit"] = variable.unit
        shown = variable.display_unit
        if shown and variable.unit and not display_misfit(variable.unit, shown):
            found["displayUnit"] = shown
    return {key: text for key, text in found.items() if text}


def limits(variable: Variable) -> dict[str, str]:
    """Min, max and nominal, where the type of variable may have them.

    The limits of an enumeration are its first and last literal.
    """
    if variable.type in {DataType.BOOLEAN, DataType.ENUMERATION}:
        return {}
    found = {"min": variable.minimum, "max": variable.maximum}
    if variable.type is DataType.REAL:
        found["nominal"] = variable.nominal
    return {key: limit_text(v, variable.type) for key, v in found.items() if v is not None}


def _key(variable: Variable) -> _Key:
    return variable.declared_type, variable.literals


def _free_name(name: str, taken: set[str]) -> str:
    numbered = (f"{name} {number}" for number in itertools.count(2))
    return next(n for n in itertools.chain([name], numbered) if n and n not in taken)


def _meaning(variable: Variable) -> tuple[object, ...]:
    return variable.type, tuple(measures(variable).items())


def _attributes(variables: list[Variable]) -> dict[str, str]:
    common = set(limits(variables[0]).items())
    for variable in variables[1:]:
        common &= set(limits(variable).items())
    return measures(variables[0]) | dict(sorted(common))
