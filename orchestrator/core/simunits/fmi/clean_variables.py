"""Types, units and variables of model descriptions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from lxml import etree

from orchestrator.core.simunits.fmi.description_part import (
    REALS,
    TRUE,
    Alias,
    BaseUnit,
    DeclaredType,
    Dimension,
    DisplayUnit,
    Item,
    Unit,
    Variable,
    elements_of,
    part_of,
)

_TYPES: Final = frozenset({"Real", "Integer", "Boolean", "String", "Enumeration"})
_PARAMETERS: Final = frozenset({"parameter", "calculatedParameter", "structuralParameter"})
_TYPES_OF_FMI3: Final = frozenset(
    {f"Float{bits}Type" for bits in (32, 64)}
    | {f"{sign}Int{bits}Type" for sign in ("", "U") for bits in (8, 16, 32, 64)}
    | {"BooleanType", "StringType", "BinaryType", "EnumerationType"}
)
_HELD: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        "structuralParameter": "exact",
        "parameter": "exact",
        "calculatedParameter": "calculated",
        "local": "calculated",
    }
)
#: What ``initial`` is where it is not said, by variability and causality.
_INITIAL: Final[Mapping[str, Mapping[str, str | None]]] = MappingProxyType(
    {
        "constant": {"output": "exact", "local": "exact"},
        "fixed": _HELD,
        "tunable": _HELD,
        "discrete": {"input": "exact", "output": "calculated", "local": "calculated"},
        "continuous": {
            "input": "exact",
            "output": "calculated",
            "local": "calculated",
            "independent": None,
        },
    }
)


def read_unit(element: etree._Element) -> Unit:
    """Return a unit with its base unit and its display units."""
    bases = element.findall("BaseUnit")
    return Unit(
        name=element.get("name"),
        baseUnit=part_of(BaseUnit, bases[-1]) if bases else None,
        displayUnits=[part_of(DisplayUnit, shown) for shown in element.findall("DisplayUnit")],
    )


def read_types(root: etree._Element, version: int) -> Iterator[DeclaredType]:
    """Yield the types; in FMI 1.0 the items of an enumeration are counted."""
    if version == 3:
        for element in root.findall("TypeDefinitions/*"):
            if element.tag in _TYPES_OF_FMI3:
                yield _type(element, element.get("name"))
        return
    for element in root.findall("TypeDefinitions/" + ("Type" if version == 1 else "SimpleType")):
        for inner in [each for each in element if isinstance(each.tag, str)][:1]:
            found = _type(inner, element.get("name"))
            for number, item in enumerate(found.items if version == 1 else (), 1):
                item.value = str(number)
            yield found


def _type(element: etree._Element, name: str | None) -> DeclaredType:
    items = [part_of(Item, item) for item in element.findall("Item")]
    kind = str(element.tag).removesuffix("Type")
    return part_of(DeclaredType, element, name=name, type=kind, items=items)


def read_variables(
    root: etree._Element, version: int, types: Mapping[str | None, DeclaredType]
) -> list[Variable]:
    """Return the variables that have a name; ``types`` by name."""
    elements = [e for e in elements_of(root) if e.get("name") is not None]
    found = [_variable(element, version, types) for element in elements]
    _set_shapes(found)
    if version != 1:
        _connect(found, elements, version)
    return found


def typed_element(element: etree._Element, version: int) -> etree._Element | None:
    """Return the element that has type and start value of a variable."""
    if version == 3:
        return element
    return next((inner for inner in element.iterchildren() if inner.tag in _TYPES), None)


def _connect(
    variables: Iterable[Variable], elements: Iterable[etree._Element], version: int
) -> None:
    """Let variables know those that they name: by index in FMI 2.0, else by value reference."""
    known = dict(enumerate(variables, 1))
    if version == 3:
        known = {variable.valueReference: variable for variable in variables}
    for variable, element in zip(variables, elements, strict=True):
        typed = typed_element(element, version)
        derivative = None if typed is None else typed.get("derivative")
        try:
            if derivative is not None and variable.type in REALS:
                variable.derivative = known[int(derivative)]
            if version == 3 and (clocks := element.get("clocks")) is not None:
                variable.clocks = [known[int(one)] for one in clocks.strip().split(" ")]
        except (KeyError, ValueError) as error:
            raise ValueError(
                f"variable '{variable.name}' (line {variable.sourceline}): there is no variable"
                f" {error}"
            ) from None


def _variable(
    element: etree._Element, version: int, types: Mapping[str | None, DeclaredType]
) -> Variable:
    typed = typed_element(element, version)
    if typed is None:
        raise ValueError(f"variable '{element.get('name')}' has no type")
    kind = str(typed.tag)
    is_real = kind in REALS
    has_limits = kind in {"Real", "Enumeration"} or kind.startswith(("Float", "Int"))
    start = element.find("Start") if element.tag in {"Binary", "String"} else typed
    found = Variable(
        name=element.get("name", ""),
        valueReference=int(element.get("valueReference", "")),
        type=kind,
        description=element.get("description"),
        causality=element.get("causality", "local"),
        variability=element.get("variability", ""),
        initial=element.get("initial"),
        clocks=None if version == 3 else (),
        declaredType=types.get(typed.get("declaredType")),
        dimensions=[part_of(Dimension, each) for each in element.findall("Dimension")],
        quantity=typed.get("quantity") if has_limits else None,
        unit=typed.get("unit") if is_real else None,
        displayUnit=typed.get("displayUnit") if is_real else None,
        min=typed.get("min") if has_limits else None,
        max=typed.get("max") if has_limits else None,
        nominal=typed.get("nominal") if is_real else None,
        unbounded=is_real and typed.get("unbounded") in TRUE,
        start=None if start is None else start.get("value" if start is not typed else "start"),
        sourceline=element.sourceline,
        intervalVariability=element.get("intervalVariability") if version == 3 else None,
        aliases=[part_of(Alias, each) for each in element if each.tag == "Alias"],
    )
    _settle(found, version)
    return found


def _settle(variable: Variable, version: int) -> None:
    """Give a variable the variability and ``initial`` that it has where they are not said."""
    if version == 1:
        if variable.causality == "internal":
            variable.causality = "local"
        if variable.variability == "parameter":
            variable.causality, variable.variability = "parameter", "fixed"
    causality = variable.causality
    if not variable.variability:
        if version == 3 and causality in _PARAMETERS:
            variable.variability = "fixed"
        elif version == 3 and variable.type not in REALS:
            variable.variability = "discrete"
        else:
            variable.variability = "continuous"
    if variable.initial is None and version != 1:
        usual = _INITIAL.get(variable.variability, {})
        other = "calculated" if "alc" in causality else "exact"  # of what may not come together
        variable.initial = usual.get(causality, other)


def _set_shapes(variables: Iterable[Variable]) -> None:
    """Set the shapes of arrays from their dimensions, which may be parameters."""
    arrays = [variable for variable in variables if variable.dimensions]
    by_reference = {v.valueReference: v for v in variables} if arrays else {}
    for variable in arrays:
        shape = []
        for dimension in variable.dimensions:
            if dimension.start is None:
                dimension.variable = by_reference[dimension.valueReference or 0]
                shape.append(int(dimension.variable.start or 0))
            else:
                shape.append(dimension.start)
        variable.shape = tuple(shape)
