"""Reading of model descriptions: harmless violations of FMI are reported, not refused.

FMPy, which is slow to import and refuses what breaks a rule, is what this is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy, deepcopy
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Final

from lxml import etree

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.files.archive import parse_xml
from orchestrator.core.simunits.fmi.description_parts import (
    REALS,
    TRUE,
    TYPES,
    Alias,
    Category,
    Experiment,
    Interface,
    ModelDescription,
    Unknown,
    Variable,
    elements_of,
    part_of,
    read_types,
    read_units,
    read_variables,
    schema_of,
    typed_element,
)
from orchestrator.core.structs import Struct

_OF_FMI2 = {"parameter", "calculatedParameter", "input", "output", "local", "independent"}
_CAUSALITIES = {
    1: {"input", "output", "internal", "none"},
    2: _OF_FMI2,
    3: _OF_FMI2 | {"structuralParameter"},
}
_SINCE_FMI2 = {"constant", "fixed", "tunable", "discrete", "continuous"}
_VARIABILITIES = {
    1: {"constant", "parameter", "discrete", "continuous"},
    2: _SINCE_FMI2,
    3: _SINCE_FMI2,
}
#: Value references are of 32 bits.
_MOST = 2**32


def faults(root: etree._Element, version: int) -> Iterator[str]:
    """Say what of a model description keeps its FMU from being run."""
    interfaces = [root] if version == 1 else root.findall("ModelExchange")
    interfaces += [] if version == 1 else root.findall("CoSimulation")
    for interface in interfaces:
        if not interface.get("modelIdentifier"):
            yield f"{interface.tag} (line {interface.sourceline}): no modelIdentifier"
    for element in elements_of(root):
        name = element.get("name")
        location = f"variable '{name}' (line {element.sourceline})"
        if not name:
            yield f"a variable (line {element.sourceline}) has no name"
            continue
        yield from (f"{location}: {text}" for text in _variable(element, version))


def name_and_extent_faults(root: etree._Element) -> Iterator[str]:
    """Say what no schema knows: variables without a name, extents that are no whole numbers."""
    for element in root.iterfind("ModelVariables/*[@name='']"):
        yield f"a variable (line {element.sourceline}) has no name"
    arrays = root.findall("ModelVariables/*[Dimension]")
    ends = {e.get("valueReference"): e for e in elements_of(root)} if arrays else {}
    for array, dimension in (
        (a, dimension_of) for a in arrays for dimension_of in a.iterfind("Dimension")
    ):
        reference = dimension.get("valueReference")
        location = f"variable '{array.get('name')}' (line {dimension.sourceline}): Dimension"
        if reference is None:
            if not _is_extent(dimension.get("start")):
                yield f"{location}: expected a whole number, or the valueReference of one"
            continue
        end = ends.get(reference)
        if end is None:
            yield f"{location}: no variable has the valueReference {reference}"
        elif (
            end.get("causality") != "structuralParameter"
            or not str(end.tag).lstrip("U").startswith("Int")
            or not _is_extent(end.get("start"))
        ):
            kind, start = end.get("causality", "local"), end.get("start")
            yield (
                f"{location}: expected a structural parameter that starts as a whole number >= 0,"
                f" found '{end.get('name')}', {kind} of {end.tag}"
                f" {'without a start' if start is None else f'that starts as {start}'}"
            )


def _is_extent(text: str | None) -> bool:
    return text is not None and text.isascii() and text.isdigit()


def _variable(element: etree._Element, version: int) -> Iterator[str]:
    reference = element.get("valueReference", "")
    if not (reference.isascii() and reference.isdigit() and int(reference) < _MOST):
        yield f"valueReference: expected a whole number below 2**32, found '{reference}'"
    typed = typed_element(element, version)
    if typed is None:
        yield f"expected one of {', '.join(sorted(TYPES))} in it"
        return
    for name, allowed in (("causality", _CAUSALITIES), ("variability", _VARIABILITIES)):
        text = element.get(name)
        if text is not None and text not in allowed[version]:
            yield f"{name}: expected {', '.join(sorted(allowed[version]))}, found '{text}'"
    kind = str(typed.tag)
    starts = [] if kind == "String" else (typed.get("start") or "").split()
    values: list[tuple[str, str | None]] = [("start value", text) for text in starts]
    values += [(name, typed.get(name)) for name in ("min", "max")]
    for name, text in values:
        if text is not None and not _is_value(kind, text):
            yield f"{name}: expected {kind}, found '{text}'"


def _is_value(kind: str, text: str) -> bool:
    if kind == "Boolean":
        return text in {"true", "false", "0", "1"}
    if kind in {"Binary", "Clock"}:
        return True
    try:
        float(text) if kind in REALS else int(text)
    except ValueError:
        return False
    return "_" not in text


#: Attributes that are for people, so that a value of another form does no harm.
_FOR_PEOPLE = frozenset(
    {
        "author",
        "copyright",
        "description",
        "displayUnit",
        "generationDateAndTime",
        "generationTool",
        "license",
        "quantity",
        "variableNamingConvention",
        "version",
    }
)
#: Kinds of violations of the schema that say that a value is none of its type.
_WRONG_VALUES = tuple(
    f"SCHEMAV_CVC_{kind}"
    for kind in ("DATATYPE", "ENUMERATION", "FACET", "PATTERN", "MIN", "MAX", "LENGTH", "ELT")
)


class ReadDescription(Struct):
    """A model description as it was read, and what is wrong with it.

    described: Of variables that share a name only the one that is meant; ``None``: there are faults
        that keep it from being read.
    flaws: Violations of the standard that do not keep the FMU from running, in sentences.
    faults: Rules whose violation prevents a run.
    """

    described: ModelDescription | None
    flaws: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def read_model_description(
    path: Path, root: etree._Element, version: int, build: bytes | None = None
) -> ReadDescription:
    """Read a model description; what breaks rules of FMI is listed.

    ``build`` is the ``buildDescription.xml`` of FMI 3.0, of which only the flaws are reported.
    """
    unreadable = "modelDescription.xml cannot be read"
    if version != 3 and root.get("fmiVersion") != f"{version}.0":
        version_fault = f"expected fmiVersion '{version}.0', found '{root.get('fmiVersion')}'"
        raise FmuError.in_file(path, f"{unreadable}: {version_fault}")
    described: ModelDescription | None = None
    flaws, parse_error = [*_undefined_types(root), *_of_build(build)], ""
    try:
        described = _described(root, version)
        flaws += _broken_rules(described)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        parse_error = str(error)
    if schema_of(version).validate(root) and described is not None and not flaws:
        if described.modelVariables or root.find("ModelVariables") is not None:
            return ReadDescription(described)
        flaws.append("there is no element ModelVariables")
    rule_faults = list(faults(root, version))
    violations: list[str] = []
    for harmful, text in _schema(root, version):
        (rule_faults if harmful else violations).append(text)
    if described is not None:
        rule_faults += _settled(described)
    elif not rule_faults:
        raise FmuError.in_file(path, f"{unreadable}: {parse_error}")
    messages = dict.fromkeys(" ".join(text.split()) for text in (*violations, *flaws))
    return ReadDescription(described, tuple(messages), tuple(rule_faults))


def _described(root: etree._Element, version: int) -> ModelDescription:
    types = {declared.name: declared for declared in read_types(root, version)}
    variables = read_variables(root, version, types)
    experiments = root.findall("DefaultExperiment")
    description = ModelDescription(
        description=root.get("description"),
        generationTool=root.get("generationTool"),
        fmiVersion=root.get("fmiVersion", ""),
        modelName=root.get("modelName", ""),
        guid=root.get("instantiationToken" if version == 3 else "guid"),
        variableNamingConvention=root.get("variableNamingConvention", "flat"),
        numberOfEventIndicators=int(root.get("numberOfEventIndicators", "0")),
        defaultExperiment=part_of(Experiment, experiments[-1]) if experiments else None,
        logCategories=[part_of(Category, e) for e in root.findall("LogCategories/Category")],
        unitDefinitions=list(read_units(root, version)),
        modelVariables=variables,
    )
    if version == 1:
        _complete_fmi1(description, root)
    elif version == 2:
        _complete_fmi2(description, root)
    else:
        _complete_fmi3(description, root, {v.valueReference: v for v in variables})
    return description


def _undefined_types(root: etree._Element) -> Iterator[str]:
    types = {e.get("name") for e in root.iterfind("TypeDefinitions/*")}
    for element in elements_of(root):
        for inner in (element, *element):
            declared = inner.get("declaredType")
            if declared is not None and declared not in types:
                location = f"variable '{element.get('name')}' (line {element.sourceline})"
                yield f"{location}: the declared type '{declared}' is not defined"


def _of_build(content: bytes | None) -> Iterator[str]:
    if content is None:
        return
    try:
        root = parse_xml(content, "buildDescription.xml", FmuError)
    except FmuError as error:
        yield str(error)
        return
    for _, text in _violations(schema_of(3, "Build"), root):
        yield f"buildDescription.xml: {text}"


def _schema(root: etree._Element, version: int) -> Iterator[tuple[bool, str]]:
    """Violations of the schema: whether each does harm, and what it is."""
    schema = schema_of(version)
    if not (violations := _violations(schema, root)):
        return
    bare = deepcopy(root)
    for element in bare.iter(etree.Element):
        for name in _FOR_PEOPLE.intersection(element.attrib):
            del element.attrib[name]
    harmful = {text for kind, text in _violations(schema, bare) if kind.startswith(_WRONG_VALUES)}
    yield from ((text in harmful, text) for _, text in violations)


def _violations(schema: etree.XMLSchema, root: etree._Element) -> list[tuple[str, str]]:
    """Kinds and texts of all violations."""
    schema.validate(root)
    log: Any = schema.error_log
    return [(error.type_name, f"{error.message} (line {error.line})") for error in log]


def _settled(described: ModelDescription) -> list[str]:
    """Leave of variables that share a name the one that is meant; say where that is not clear.

    Types that cannot be continuous are made discrete.
    """
    by_name: dict[str, Variable] = {}
    shared: set[str] = set()
    ambiguous = []
    for variable in described.modelVariables:
        before = by_name.setdefault(variable.name, variable)
        same = (before.valueReference, before.type) == (variable.valueReference, variable.type)
        if _is_local(before):
            by_name[variable.name] = variable
            if _is_local(variable) and not same:
                shared.add(variable.name)
        elif not _is_local(variable) and not (same and before.causality == variable.causality):
            ambiguous.append(
                f"the name '{variable.name}' (line {variable.sourceline}) is not unique: line"
                f" {before.sourceline} has it, too, and both can be connected or set"
            )
        if variable.type not in REALS and variable.variability == "continuous":
            variable.variability = "discrete"
    # Of several locals nobody can say which one is meant.
    retained = {id(v) for name, v in by_name.items() if not (name in shared and _is_local(v))}
    described.modelVariables = [v for v in described.modelVariables if id(v) in retained]
    return ambiguous


def _is_local(variable: Variable) -> bool:
    return variable.causality in {"local", "none"}


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


def _broken_rules(described: ModelDescription) -> Iterator[str]:
    """Say which rules a model description breaks."""
    variables, names = described.modelVariables, set()
    for v in variables:
        if v.name in names:
            yield f"the name of {_label(v)} is not unique"
        names.add(v.name)
        if v.type not in REALS and v.variability == "continuous":
            yield f"{_label(v)}: {v.type} must have another variability than 'continuous'"
    if described.fmiVersion == "1.0":
        return
    units = {unit.name: {d.name for d in unit.displayUnits} for unit in described.unitDefinitions}
    for v in variables:
        yield from _of_start(v)
        if (v.causality, v.variability, v.initial) not in _LEGAL:
            yield (
                f"{_label(v)}: causality '{v.causality}', variability '{v.variability}' and initial"
                f" '{v.initial or 'none'}' may not come together"
            )
        yield from _of_units(v, units)
    if described.fmiVersion.startswith("3"):
        if (count := sum(v.causality == "independent" for v in variables)) != 1:
            yield f"expected one independent variable, found {count}"
        yield from _of_references(variables)


def _label(variable: Variable) -> str:
    return f"variable '{variable.name}' (line {variable.sourceline})"


def _of_start(variable: Variable) -> Iterator[str]:
    """Say whether a start value is missing where it must be, or is where it must not be."""
    if variable.start is None:
        needs = variable.initial in {"exact", "approx"} or variable.causality == "input"
        if needs and variable.type != "Clock":
            yield f"{_label(variable)} has no start value"
    elif variable.start and variable.initial == "calculated":
        yield f"{_label(variable)} is calculated at the start, and has a start value"
    elif variable.start and variable.causality == "independent":
        yield f"{_label(variable)} is independent, and has a start value"


def _of_units(variable: Variable, units: Mapping[str | None, set[str | None]]) -> Iterator[str]:
    declared, unit = variable.declaredType, variable.unit
    if unit is None and declared is not None:
        unit = declared.unit
    if unit is not None and unit not in units:
        yield f"{_label(variable)}: the unit '{unit}' is not defined"
        return
    for display_unit in (variable.displayUnit, *(alias.displayUnit for alias in variable.aliases)):
        if display_unit is not None and display_unit not in units.get(unit, ()):
            yield f"{_label(variable)}: the display unit '{display_unit}' is not defined"


def _of_references(variables: list[Variable]) -> Iterator[str]:
    """Say which variables share a value reference, other than aliases."""
    by_reference: dict[int, Variable] = {}
    for variable in variables:
        before = by_reference.setdefault(variable.valueReference, variable)
        if before is not variable and variable.alias is None:
            yield f"{_label(variable)} has the value reference of {_label(before)}"


def _complete_fmi1(description: ModelDescription, root: etree._Element) -> None:
    """Add the interface of FMI 1.0, which has no model structure."""
    interface = Interface(root.get("modelIdentifier"))
    if root.find("Implementation") is not None:
        description.coSimulation = interface
    else:
        description.modelExchange = interface


def _complete_fmi2(description: ModelDescription, root: etree._Element) -> None:
    """Add interfaces and model structure of FMI 2.0."""
    by_index = dict(enumerate(description.modelVariables, 1))
    for element in root.findall("ModelExchange"):
        needs = element.get("completedIntegratorStepNotNeeded") not in TRUE
        description.modelExchange = part_of(Interface, element, needsCompletedIntegratorStep=needs)
    for element in root.findall("CoSimulation"):
        description.coSimulation = part_of(Interface, element)
    for unknowns, tag in (
        (description.outputs, "Outputs"),
        (description.derivatives, "Derivatives"),
        (description.initialUnknowns, "InitialUnknowns"),
    ):
        elements = root.findall(f"ModelStructure/{tag}/Unknown")
        unknowns += [_unknown(element, by_index, "index") for element in elements]


def _unknown(element: etree._Element, variables: Mapping[int, Variable], key: str) -> Unknown:
    """Return an element of the model structure; what it names is looked up."""
    numbers, kinds = (
        None if text is None else _split(text, key)
        for text in (element.get("dependencies"), element.get("dependenciesKind"))
    )
    try:
        return Unknown(
            variables[int(element.get(key, ""))],
            None if numbers is None else [variables[int(n)] for n in numbers],
            kinds,
            element.sourceline,
        )
    except (KeyError, ValueError) as error:
        raise ValueError(
            f"{element.tag} (line {element.sourceline}): there is no variable of {key} {error}"
        ) from None


def _split(text: str, key: str) -> list[str]:
    if key == "valueReference":
        text = text.strip()  # in FMI 3.0 an empty list may have blanks
    return text.strip().split(" ") if text else []


def _complete_fmi3(
    description: ModelDescription, root: etree._Element, by_reference: Mapping[int, Variable]
) -> None:
    """Add interfaces and model structure of FMI 3.0."""
    for name, tag in (("modelExchange", "ModelExchange"), ("coSimulation", "CoSimulation")):
        for element in root.findall(tag):
            interface = part_of(
                Interface,
                element,
                canGetAndSetFMUstate=element.get("canGetAndSetFMUState") in TRUE,
                canSerializeFMUstate=element.get("canSerializeFMUState") in TRUE,
            )
            setattr(description, name, interface)
    description.modelVariables += [
        _alias(variable, alias)
        for variable in description.modelVariables
        for alias in variable.aliases
    ]
    for unknowns, tag in (
        (description.outputs, "Output"),
        (description.derivatives, "ContinuousStateDerivative"),
        (description.clockedStates, "ClockedState"),
        (description.initialUnknowns, "InitialUnknown"),
        (description.eventIndicators, "EventIndicator"),
    ):
        elements = root.findall(f"ModelStructure/{tag}")
        unknowns += [_unknown(element, by_reference, "valueReference") for element in elements]
    description.numberOfEventIndicators += sum(
        prod(u.variable.shape) for u in description.eventIndicators
    )


def _alias(variable: Variable, alias: Alias) -> Variable:
    alias_variable = copy(variable)
    alias_variable.name, alias_variable.alias = alias.name or "", variable
    alias_variable.description = alias.description or variable.description
    alias_variable.displayUnit = alias.displayUnit or variable.displayUnit
    return alias_variable
