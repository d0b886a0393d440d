"""The parts of a model description, with the names that the standard gives them.

Each is equal to itself alone.
"""

# ruff: noqa: N815 - the names are the standard's

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, TypeVar

from lxml import etree

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


def part_of(kind: Callable[..., _Part], element: etree._Element, **known: Any) -> _Part:
    """Return a part with what the attributes of an element say; others are left."""
    said: dict[str, Any] = {
        name: read(text)
        for name, read in _readers(kind).items()
        if (text := element.get(name)) is not None
    }
    return kind(**said | known)


@cache
def _readers(kind: Any) -> dict[str, Callable[[str], Any]]:
    kinds = {one.name: str(one.type).partition(" ")[0] for one in fields(kind)}
    return {name: _KINDS[text] for name, text in kinds.items() if text in _KINDS}


@dataclass(eq=False, slots=True)
class DisplayUnit:
    """A unit in which a quantity is shown."""

    name: str | None = None
    factor: float = 1.0
    offset: float = 0.0


@dataclass(eq=False, slots=True)
class BaseUnit:
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


@dataclass(eq=False, slots=True)
class Unit:
    """A unit that is defined."""

    name: str | None = None
    baseUnit: BaseUnit | None = None
    displayUnits: Collection[DisplayUnit] = ()


@dataclass(eq=False, slots=True)
class Item:
    """A value of an enumeration."""

    name: str | None = None
    value: str | None = None
    description: str | None = None


@dataclass(eq=False, slots=True)
class DeclaredType:
    """A type that is defined."""

    name: str | None = None
    description: str | None = None
    type: str = ""
    quantity: str | None = None
    unit: str | None = None
    displayUnit: str | None = None
    relativeQuantity: bool = False
    min: str | None = None
    max: str | None = None
    nominal: str | None = None
    unbounded: str | None = None
    items: Collection[Item] = ()


@dataclass(eq=False, slots=True)
class Alias:
    """Another name of a variable of FMI 3.0."""

    name: str | None = None
    description: str | None = None
    displayUnit: str | None = None


@dataclass(eq=False, slots=True)
class Dimension:
    """An extent, or the structural parameter that gives it."""

    start: int | None = None
    valueReference: int | None = None
    variable: Variable | None = None


@dataclass(eq=False, slots=True)
class Variable:
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
    unbounded: bool = False
    start: str | None = None
    derivative: Variable | None = None
    intervalVariability: str | None = None
    aliases: Collection[Alias] = ()
    alias: Variable | None = None


@dataclass(eq=False, slots=True)
class Unknown:
    """An element of the model structure."""

    variable: Variable
    dependencies: Collection[Variable] | None
    dependenciesKind: Collection[str] | None
    sourceline: Any


@dataclass(eq=False, slots=True)
class Interface:
    """One of the interfaces, with what it can."""

    modelIdentifier: str | None = None
    canBeInstantiatedOnlyOncePerProcess: bool = False
    canGetAndSetFMUstate: bool = False
    canSerializeFMUstate: bool = False
    providesDirectionalDerivative: bool = False
    needsCompletedIntegratorStep: bool = False
    canHandleVariableCommunicationStepSize: bool = False
    fixedInternalStepSize: str | None = None
    canInterpolateInputs: bool = False
    hasEventMode: bool = False


@dataclass(eq=False, slots=True)
class Experiment:
    """How the model is run where nothing else is said; texts."""

    startTime: str | None = None
    stopTime: str | None = None
    tolerance: str | None = None
    stepSize: str | None = None


@dataclass(eq=False, slots=True)
class ModelDescription:
    """What a modelDescription.xml says."""

    fmiVersion: str = ""
    modelName: str = ""
    description: str | None = None
    generationTool: str | None = None
    guid: str | None = None
    variableNamingConvention: str = "flat"
    numberOfEventIndicators: int = 0
    defaultExperiment: Experiment | None = None
    coSimulation: Interface | None = None
    modelExchange: Interface | None = None
    scheduledExecution: Interface | None = None
    unitDefinitions: list[Unit] = field(default_factory=list)
    modelVariables: list[Variable] = field(default_factory=list)
    outputs: list[Unknown] = field(default_factory=list)
    derivatives: list[Unknown] = field(default_factory=list)
    clockedStates: list[Unknown] = field(default_factory=list)
    eventIndicators: list[Unknown] = field(default_factory=list)
    initialUnknowns: list[Unknown] = field(default_factory=list)
