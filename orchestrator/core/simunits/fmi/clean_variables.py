"""Types, units and variables of model descriptions that keep all rules of FMI."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from lxml import etree

from orchestrator.core.simunits.fmi.description_part import TRUE, Part, copied
from orchestrator.core.simunits.fmi.model_description import elements_of

_BASE_UNIT: Final = MappingProxyType(
    {
        **dict.fromkeys(("kg", "m", "s", "A", "K", "mol", "cd", "rad"), 0),
        "factor": 1.0,
        "offset": 0.0,
    }
)
_DISPLAY_UNIT: Final = MappingProxyType({"factor": 1.0, "offset": 0.0})
_TYPE: Final = (
    "name",
    "description",
    "type",
    "quantity",
    "unit",
    "displayUnit",
    "relativeQuantity",
    "min",
    "max",
    "nominal",
    "unbounded",
)
_TYPES: Final = frozenset({"Real", "Integer", "Boolean", "String", "Enumeration"})
_REALS: Final = frozenset({"Real", "Float32", "Float64"})
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


def read_unit(element: etree._Element) -> Part:
    """Return a unit with its base unit and its display units."""
    bases = element.findall("BaseUnit")
    return Part(
        name=element.get("name"),
        baseUnit=Part(**copied(bases[-1], _BASE_UNIT)) if bases else None,
        displayUnits=[
            Part(name=shown.get("name"), **copied(shown, _DISPLAY_UNIT))
            for shown in element.findall("DisplayUnit")
        ],
    )


def read_types(root: etree._Element, version: int) -> Iterator[Part]:
    """Yield the types of FMI 1.0 or 2.0."""
    for element in root.findall("TypeDefinitions/" + ("Type" if version == 1 else "SimpleType")):
        first = element[0]
        if not isinstance(first.tag, str):
            raise TypeError("a comment stands first")
        kind = first.tag.removesuffix("Type") if version == 1 else first.tag
        yield _type(first, {"name": element.get("name"), "type": kind}, counted=version == 1)


def read_types_of_fmi3(root: etree._Element) -> Iterator[Part]:
    """Yield the types of FMI 3.0."""
    for element in root.findall("TypeDefinitions/*"):
        if element.tag in _TYPES_OF_FMI3:
            yield _type(element, {"type": str(element.tag).removesuffix("Type")}, counted=False)


def _type(element: etree._Element, known: Mapping[str, str | None], *, counted: bool) -> Part:
    """Return a type; in FMI 1.0 the items of an enumeration are counted."""
    said = dict.fromkeys(_TYPE) | {str(name): str(text) for name, text in element.attrib.items()}
    if len(said) > len(_TYPE) or known.keys() & element.attrib.keys():
        raise TypeError("an attribute that a type does not have")
    items = [dict(item.attrib) for item in element.findall("Item")]
    if any(item.keys() - {"name", "value", "description"} for item in items):
        raise TypeError("an attribute that an item does not have")
    found = Part(
        **{**said, **known, "relativeQuantity": element.get("relativeQuantity") in TRUE},
        items=[Part(**{"name": None, "value": None, "description": None} | i) for i in items],
    )
    if counted:
        for number, item in enumerate(found.items, 1):
            item.value = str(number)
    return found


def read_variables(
    root: etree._Element, version: int, types: Mapping[str | None, Part | None]
) -> Iterator[Part]:
    """Yield the variables that have a name; ``types`` by name."""
    for element in elements_of(root):
        if element.get("name") is not None:
            yield _variable(element, version, types)


def _variable(
    element: etree._Element, version: int, types: Mapping[str | None, Part | None]
) -> Part:
    typed = element
    if version != 3:
        typed = next(inner for inner in element.iterchildren() if inner.tag in _TYPES)
    kind = str(typed.tag)
    is_real = kind in _REALS
    has_limits = kind in {"Real", "Enumeration"} or kind.startswith(("Float", "Int"))
    start = element.find("Start") if element.tag in {"Binary", "String"} else typed
    is_clocked = version == 3
    found = Part(
        name=element.get("name"),
        valueReference=int(element.get("valueReference", "")),
        type=kind,
        shape=None,
        description=element.get("description"),
        causality=element.get("causality", "local"),
        variability=element.get("variability"),
        initial=element.get("initial"),
        canHandleMultipleSetPerTimeInstant=True,
        intermediateUpdate=False,
        previous=None,
        clocks=element.get("clocks") if is_clocked else [],
        declaredType=types[typed.get("declaredType")],
        dimensions=[_dimension(each) for each in element.findall("Dimension")],
        dimensionValueReferences=[],
        quantity=typed.get("quantity") if has_limits else None,
        unit=typed.get("unit") if is_real else None,
        displayUnit=typed.get("displayUnit") if is_real else None,
        relativeQuantity=None,
        min=typed.get("min") if has_limits else None,
        max=typed.get("max") if has_limits else None,
        nominal=typed.get("nominal") if is_real else None,
        unbounded=is_real and typed.get("unbounded") in TRUE,
        start=None if start is None else start.get("value" if start is not typed else "start"),
        derivative=typed.get("derivative") if is_real else None,
        reinit=False,
        sourceline=element.sourceline,
        canBeDeactivated=False,
        priority=None,
        intervalVariability=element.get("intervalVariability") if is_clocked else None,
        intervalDecimal=None,
        shiftDecimal=None,
        supportsFraction=False,
        resolution=None,
        intervalCounter=None,
        shiftCounter=0,
        aliases=[
            Part(
                name=each.get("name"),
                description=each.get("description"),
                displayUnit=each.get("displayUnit"),
            )
            for each in element
            if each.tag == "Alias"
        ],
        alias=None,
    )
    _settle(found, version)
    return found


def _settle(variable: Part, version: int) -> None:
    """Give a variable the variability and ``initial`` that it has where they are not said."""
    if version == 1:
        if variable.causality == "internal":
            variable.causality = "local"
        if variable.variability == "parameter":
            variable.causality, variable.variability = "parameter", "fixed"
    if variable.variability is None:
        if version == 3 and variable.causality in _PARAMETERS:
            variable.variability = "fixed"
        elif version == 3 and variable.type not in _REALS:
            variable.variability = "discrete"
        else:
            variable.variability = "continuous"
    if variable.initial is None and version != 1:
        variable.initial = _INITIAL[variable.variability][variable.causality]


def _dimension(element: etree._Element) -> Part:
    start, reference = element.get("start"), element.get("valueReference")
    return Part(
        start=None if start is None else int(start),
        valueReference=None if reference is None else int(reference),
        variable=None,
    )


def set_shapes(variables: Iterable[Part], by_reference: Mapping[int, Part]) -> None:
    """Set the shapes of arrays from their dimensions, which may be parameters."""
    for variable in variables:
        shape = []
        for dimension in variable.dimensions:
            if dimension.start is None:
                dimension.variable = by_reference[dimension.valueReference]
                shape.append(int(dimension.variable.start))
            else:
                shape.append(dimension.start)
        variable.shape = tuple(shape)
