"""The parts of a model description, typed: units, types, variables, interfaces.

Each part is equal to itself alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

from lxml import etree

from orchestrator.core.structs import MutableStruct, field

# ruff: noqa: N815 - the names are the standard's


#: The texts of XML Schema that say yes.
TRUE: Final = frozenset({"true", "1"})
REALS: Final = frozenset({"Real", "Float32", "Float64"})
_KINDS: Final[Mapping[str, Callable[[str], Any]]] = {
    "str": str,
    "bool": TRUE.__contains__,
    "int": int,
    "float": float,
}
_Part = TypeVar("_Part")


@cache
def schema_of(version: int, kind: str = "Model") -> etree.XMLSchema:
    """Return a schema."""
    spec = find_spec("fmpy")
    assert spec is not None and spec.origin is not None  # noqa: S101, PT018 - it is required
    prefix = "fmi" if version == 1 else f"fmi{version}"
    folder = Path(spec.origin).parent / "schema" / f"fmi{version}"
    return etree.XMLSchema(file=str(folder / f"{prefix}{kind}Description.xsd"))


def elements_of(root: etree._Element) -> list[etree._Element]:
    """Return the elements of all variables."""
    return [e for e in root.iterfind("ModelVariables/*") if isinstance(e.tag, str)]


def part_of(kind: Callable[..., _Part], element: etree._Element, **given_fields: Any) -> _Part:
    """Return a part with what the attributes of an element say; others are left."""
    attributes: dict[str, Any] = {
        name: read(text)
        for name, read in _readers(kind).items()
        if (text := element.get(name)) is not None
    }
    return kind(**attributes | given_fields)


@cache
def _readers(kind: Any) -> dict[str, Callable[[str], Any]]:
    kinds = {part.name: str(part.type).partition(" ")[0] for part in fields(kind)}
    return {name: _KINDS[text] for name, text in kinds.items() if text in _KINDS}


class DisplayUnit(MutableStruct, eq=False):
    """A unit in which a quantity is shown."""

    name: str | None = None


class BaseUnit(MutableStruct, eq=False):
    """What a unit is of SI."""

    kg: int = 0
    m: int = 0
    s: int = 0
    A: int = 0
    K: int = 0
    mol: int = 0
    cd: int = 0
    rad: int = 0
    factor: float = 1.0
    offset: float = 0.0


class Unit(MutableStruct, eq=False):
    """A unit that is defined."""

    name: str | None = None
    baseUnit: BaseUnit | None = None
    displayUnits: Collection[DisplayUnit] = ()


class Item(MutableStruct, eq=False):
    """A value of an enumeration."""

    name: str | None = None
    value: str | None = None


class DeclaredType(MutableStruct, eq=False):
    """A type that is defined."""

    name: str | None = None
    type: str = ""
    unit: str | None = None
    relativeQuantity: bool = False
    min: str | None = None
    max: str | None = None
    items: Collection[Item] = ()


class Alias(MutableStruct, eq=False):
    """Another name of a variable of FMI 3.0."""

    name: str | None = None
    description: str | None = None
    displayUnit: str | None = None


class Dimension(MutableStruct, eq=False):
    """An extent, or the structural parameter that gives it."""

    start: int | None = None
    valueReference: int | None = None
    variable: Variable | None = None


class Variable(MutableStruct, eq=False):
    """A variable; values are texts, as they are written."""

    name: str
    valueReference: int
    type: str
    causality: str
    variability: str
    initial: str | None
    sourceline: Any
    description: str | None = None
    declaredType: DeclaredType | None = None
    shape: tuple[int, ...] = ()
    dimensions: Collection[Dimension] = ()
    clocks: Collection[Variable] | None = ()
    quantity: str | None = None
    unit: str | None = None
    displayUnit: str | None = None
    relativeQuantity: bool | None = None
    min: str | None = None
    max: str | None = None
    nominal: str | None = None
    start: str | None = None
    derivative: Variable | None = None
    aliases: Collection[Alias] = ()
    alias: Variable | None = None


class Unknown(MutableStruct, eq=False):
    """An element of the model structure."""

    variable: Variable
    dependencies: Collection[Variable] | None
    dependenciesKind: Collection[str] | None
    sourceline: Any


class Interface(MutableStruct, eq=False):
    """One of the interfaces, with what it can."""

    modelIdentifier: str | None = None
    canBeInstantiatedOnlyOncePerProcess: bool = False
    canGetAndSetFMUstate: bool = False
    canSerializeFMUstate: bool = False
    providesDirectionalDerivative: bool = False
    providesDirectionalDerivatives: bool = False
    providesIntermediateUpdate: bool = False
    mightReturnEarlyFromDoStep: bool = False
    needsCompletedIntegratorStep: bool = False
    canHandleVariableCommunicationStepSize: bool = False
    fixedInternalStepSize: str | None = None
    canInterpolateInputs: bool = False
    hasEventMode: bool = False


class Experiment(MutableStruct, eq=False):
    """Default experiment of the model, as texts."""

    startTime: str | None = None
    stopTime: str | None = None
    tolerance: str | None = None
    stepSize: str | None = None


class Category(MutableStruct, eq=False):
    """A category of log messages."""

    name: str | None = None
    description: str | None = None


class ModelDescription(MutableStruct, eq=False):
    """What a modelDescription.xml says."""

    fmiVersion: str = ""
    modelName: str = ""
    description: str | None = None
    generationTool: str | None = None
    guid: str | None = None
    variableNamingConvention: str = "flat"
    numberOfEventIndicators: int = 0
    defaultExperiment: Experiment | None = None
    logCategories: list[Category] = field(default_factory=list)
    coSimulation: Interface | None = None
    modelExchange: Interface | None = None
    unitDefinitions: list[Unit] = field(default_factory=list)
    modelVariables: list[Variable] = field(default_factory=list)
    outputs: list[Unknown] = field(default_factory=list)
    derivatives: list[Unknown] = field(default_factory=list)
    clockedStates: list[Unknown] = field(default_factory=list)
    eventIndicators: list[Unknown] = field(default_factory=list)
    initialUnknowns: list[Unknown] = field(default_factory=list)


#: Of variables of FMI 1.0 and 2.0.
TYPES: Final = frozenset({"Real", "Integer", "Boolean", "String", "Enumeration"})
_PARAMETERS: Final = frozenset({"parameter", "calculatedParameter", "structuralParameter"})
_TYPES_OF_FMI3: Final = frozenset(
    {f"Float{bits}Type" for bits in (32, 64)}
    | {f"{sign}Int{bits}Type" for sign in ("", "U") for bits in (8, 16, 32, 64)}
    | {"BooleanType", "StringType", "BinaryType", "EnumerationType"}
)
_HELD: Final[Mapping[str, str | None]] = {
    "structuralParameter": "exact",
    "parameter": "exact",
    "calculatedParameter": "calculated",
    "local": "calculated",
}
_MOVING: Final = {"input": "exact", "output": "calculated", "local": "calculated"}
#: What ``initial`` is where it is not said, by variability and causality.
_INITIAL: Final[Mapping[str, Mapping[str, str | None]]] = {
    "constant": {"output": "exact", "local": "exact"},
    "fixed": _HELD,
    "tunable": _HELD,
    "discrete": {**_MOVING},
    "continuous": {**_MOVING, "independent": None},
}


def read_units(root: etree._Element, version: int) -> Iterator[Unit]:
    """Yield the units; those of FMI 1.0 have no definition in SI."""
    if version == 1:
        for element in root.findall("UnitDefinitions/BaseUnit"):
            display_units = [e.get("displayUnit") for e in element.findall("DisplayUnitDefinition")]
            yield Unit(element.get("unit"), None, list(map(DisplayUnit, display_units)))
        return
    for element in root.findall("UnitDefinitions/Unit"):
        bases = element.findall("BaseUnit")
        base = part_of(BaseUnit, bases[-1]) if bases else None
        display_units = [definition.get("name") for definition in element.findall("DisplayUnit")]
        yield Unit(element.get("name"), base, list(map(DisplayUnit, display_units)))


def read_types(root: etree._Element, version: int) -> Iterator[DeclaredType]:
    """Yield the types; in FMI 1.0 the items of an enumeration are counted."""
    if version == 3:
        for element in root.findall("TypeDefinitions/*"):
            if element.tag in _TYPES_OF_FMI3:
                yield _type(element, element.get("name"))
        return
    for element in root.findall("TypeDefinitions/" + ("Type" if version == 1 else "SimpleType")):
        for inner in [child for child in element if isinstance(child.tag, str)][:1]:
            declared_type = _type(inner, element.get("name"))
            for number, item in enumerate(declared_type.items if version == 1 else (), 1):
                item.value = str(number)
            yield declared_type


def _type(element: etree._Element, name: str | None) -> DeclaredType:
    items = [part_of(Item, item) for item in element.findall("Item")]
    kind = str(element.tag).removesuffix("Type")
    return part_of(DeclaredType, element, name=name, type=kind, items=items)


def read_variables(
    root: etree._Element, version: int, types: Mapping[str | None, DeclaredType]
) -> list[Variable]:
    """Return the variables that have a name; ``types`` by name."""
    elements = [e for e in elements_of(root) if e.get("name") is not None]
    variables_read = [_variable(element, version, types) for element in elements]
    _set_shapes(variables_read)
    if version != 1:
        _connect(variables_read, elements, version)
    return variables_read


def typed_element(element: etree._Element, version: int) -> etree._Element | None:
    """Return the element that has type and start value of a variable."""
    if version == 3:
        return element
    return next((inner for inner in element.iterchildren() if inner.tag in TYPES), None)


def _connect(
    variables: Iterable[Variable], elements: Iterable[etree._Element], version: int
) -> None:
    """Link variables to the variables they name: by index in FMI 2.0, else by value reference."""
    by_reference = dict(enumerate(variables, 1))
    if version == 3:
        by_reference = {variable.valueReference: variable for variable in variables}
    for variable, element in zip(variables, elements, strict=True):
        typed = typed_element(element, version)
        derivative = None if typed is None else typed.get("derivative")
        try:
            if derivative is not None and variable.type in REALS:
                variable.derivative = by_reference[int(derivative)]
            if version == 3 and (clocks := element.get("clocks")) is not None:
                variable.clocks = [by_reference[int(clock)] for clock in clocks.strip().split(" ")]
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
    variable = Variable(
        name=element.get("name", ""),
        valueReference=int(element.get("valueReference", "")),
        type=kind,
        description=element.get("description"),
        causality=element.get("causality", "local"),
        variability=element.get("variability", ""),
        initial=element.get("initial"),
        clocks=None if version == 3 else (),
        declaredType=types.get(typed.get("declaredType")),
        dimensions=[part_of(Dimension, child) for child in element.findall("Dimension")],
        quantity=typed.get("quantity") if has_limits else None,
        unit=typed.get("unit") if is_real else None,
        displayUnit=typed.get("displayUnit") if is_real else None,
        min=typed.get("min") if has_limits else None,
        max=typed.get("max") if has_limits else None,
        nominal=typed.get("nominal") if is_real else None,
        start=None if start is None else start.get("value" if start is not typed else "start"),
        sourceline=element.sourceline,
        aliases=[part_of(Alias, child) for child in element if child.tag == "Alias"],
    )
    _settle(variable, version)
    return variable


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
        excluded = "calculated" if "alc" in causality else "exact"  # of what may not come together
        variable.initial = usual.get(causality, excluded)


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
