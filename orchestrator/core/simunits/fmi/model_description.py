"""Reading of model descriptions: what breaks a rule of FMI and does no harm is told, not refused.

FMPy, which is slow to import and refuses what breaks a rule, is what this is compared with.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from orchestrator.core.archive import parse_xml
from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits.fmi.description_parts import (
    REALS,
    Experiment,
    ModelDescription,
    Variable,
    elements_of,
    part_of,
    read_types,
    read_unit,
    read_variables,
    schema_of,
    typed_element,
)
from orchestrator.core.simunits.fmi.description_rules import (
    broken_rules,
    complete_fmi1,
    complete_fmi2,
    complete_fmi3,
)

_CAUSALITIES = {
    1: {"input", "output", "internal", "none"},
    2: {"parameter", "calculatedParameter", "input", "output", "local", "independent"},
    3: {
        "parameter",
        "calculatedParameter",
        "structuralParameter",
        "input",
        "output",
        "local",
        "independent",
    },
}
_VARIABILITIES = {
    1: {"constant", "parameter", "discrete", "continuous"},
    2: {"constant", "fixed", "tunable", "discrete", "continuous"},
    3: {"constant", "fixed", "tunable", "discrete", "continuous"},
}
_TYPES = frozenset({"Real", "Integer", "Boolean", "String", "Enumeration"})
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
        where = f"variable '{name}' (line {element.sourceline})"
        if not name:
            yield f"a variable (line {element.sourceline}) has no name"
            continue
        yield from (f"{where}: {text}" for text in _variable(element, version))


def name_and_extent_faults(root: etree._Element) -> Iterator[str]:
    """Say what no schema knows: variables without a name, extents that are no whole numbers."""
    for element in root.iterfind("ModelVariables/*[@name='']"):
        yield f"a variable (line {element.sourceline}) has no name"
    arrays = root.findall("ModelVariables/*[Dimension]")
    ends = {e.get("valueReference"): e for e in elements_of(root)} if arrays else {}
    for array, dimension in ((a, each) for a in arrays for each in a.iterfind("Dimension")):
        reference = dimension.get("valueReference")
        where = f"variable '{array.get('name')}' (line {dimension.sourceline}): Dimension"
        if reference is None:
            if not _is_extent(dimension.get("start")):
                yield f"{where}: expected a whole number, or the valueReference of one"
            continue
        end = ends.get(reference)
        if end is None:
            yield f"{where}: no variable has the valueReference {reference}"
        elif (
            end.get("causality") != "structuralParameter"
            or not str(end.tag).lstrip("U").startswith("Int")
            or not _is_extent(end.get("start"))
        ):
            kind, start = end.get("causality", "local"), end.get("start")
            yield (
                f"{where}: expected a structural parameter that starts as a whole number >= 0,"
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
        yield f"expected one of {', '.join(sorted(_TYPES))} in it"
        return
    for name, known in (("causality", _CAUSALITIES), ("variability", _VARIABILITIES)):
        text = element.get(name)
        if text is not None and text not in known[version]:
            yield f"{name}: expected {', '.join(sorted(known[version]))}, found '{text}'"
    kind = str(typed.tag)
    for text in (typed.get("start") or "").split() if kind != "String" else ():
        if not _is_value(kind, text):
            yield f"start value: expected {kind}, found '{text}'"
    for name in ("min", "max"):
        text = typed.get(name)
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


@dataclass(frozen=True, slots=True)
class ReadDescription:
    """A model description as it was read, and what is wrong with it.

    described: Of variables that share a name only the one that is meant; ``None``: there are faults
        that keep it from being read.
    flaws: Violations of the standard that do not keep the FMU from running, in sentences.
    faults: Those that do: it must not be run.
    """

    described: ModelDescription | None
    flaws: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def read_model_description(
    path: Path, root: etree._Element, version: int, build: bytes | None = None
) -> ReadDescription:
    """Read a model description; what breaks rules of FMI is listed.

    ``build`` is the ``buildDescription.xml`` of FMI 3.0, of which nothing but its flaws is told.
    """
    unreadable = "modelDescription.xml cannot be read"
    if version != 3 and root.get("fmiVersion") != f"{version}.0":
        found = f"expected fmiVersion '{version}.0', found '{root.get('fmiVersion')}'"
        raise FmuError.in_file(path, f"{unreadable}: {found}")
    described: ModelDescription | None = None
    flaws, why = [*_undefined_types(root), *_of_build(build)], ""
    try:
        described = _described(root, version)
        flaws += broken_rules(described)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        why = str(error)
    if schema_of(version).validate(root) and described is not None and not flaws:
        if described.modelVariables or root.find("ModelVariables") is not None:
            return ReadDescription(described)
        flaws.append("there is no element ModelVariables")
    wrong = list(faults(root, version))
    violations: list[str] = []
    for harmful, text in _schema(root, version):
        (wrong if harmful else violations).append(text)
    if described is not None:
        wrong += _settled(described)
    elif not wrong:
        raise FmuError.in_file(path, f"{unreadable}: {why}")
    told = dict.fromkeys(" ".join(text.split()) for text in (*violations, *flaws))
    return ReadDescription(described, tuple(told), tuple(wrong))


def _described(root: etree._Element, version: int) -> ModelDescription:
    types = {one.name: one for one in read_types(root, version)}
    variables = read_variables(root, version, types)
    experiments = root.findall("DefaultExperiment")
    found = ModelDescription(
        description=root.get("description"),
        generationTool=root.get("generationTool"),
        fmiVersion=root.get("fmiVersion", ""),
        modelName=root.get("modelName", ""),
        guid=root.get("instantiationToken" if version == 3 else "guid"),
        variableNamingConvention=root.get("variableNamingConvention", "flat"),
        numberOfEventIndicators=int(root.get("numberOfEventIndicators", "0")),
        defaultExperiment=part_of(Experiment, experiments[-1]) if experiments else None,
        unitDefinitions=[read_unit(e) for e in root.findall("UnitDefinitions/Unit")],
        modelVariables=variables,
    )
    if version == 1:
        complete_fmi1(found, root)
    elif version == 2:
        complete_fmi2(found, root)
    else:
        complete_fmi3(found, root, {v.valueReference: v for v in variables})
    return found


def _undefined_types(root: etree._Element) -> Iterator[str]:
    types = {e.get("name") for e in root.iterfind("TypeDefinitions/*")}
    for element in elements_of(root):
        for inner in (element, *element):
            declared = inner.get("declaredType")
            if declared is not None and declared not in types:
                where = f"variable '{element.get('name')}' (line {element.sourceline})"
                yield f"{where}: the declared type '{declared}' is not defined"


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
    found = _violations(schema, root)
    if not found:
        return
    bare = deepcopy(root)
    for element in bare.iter(etree.Element):
        for name in _FOR_PEOPLE.intersection(element.attrib):
            del element.attrib[name]
    harmful = {text for kind, text in _violations(schema, bare) if kind.startswith(_WRONG_VALUES)}
    yield from ((text in harmful, text) for _, text in found)


def _violations(schema: etree.XMLSchema, root: etree._Element) -> list[tuple[str, str]]:
    """Kinds and texts of all violations."""
    schema.validate(root)
    log: Any = schema.error_log
    return [(error.type_name, f"{error.message} (line {error.line})") for error in log]


def _settled(described: ModelDescription) -> list[str]:
    """Leave of variables that share a name the one that is meant; say where that is not clear.

    Types that cannot be continuous are made discrete.
    """
    kept: dict[str, Variable] = {}
    shared: set[str] = set()
    wrong = []
    for variable in described.modelVariables:
        before = kept.setdefault(variable.name, variable)
        same = (before.valueReference, before.type) == (variable.valueReference, variable.type)
        if _is_local(before):
            kept[variable.name] = variable
            if _is_local(variable) and not same:
                shared.add(variable.name)
        elif not _is_local(variable) and not (same and before.causality == variable.causality):
            wrong.append(
                f"the name '{variable.name}' (line {variable.sourceline}) is not unique: line"
                f" {before.sourceline} has it, too, and both can be connected or set"
            )
        if variable.type not in REALS and variable.variability == "continuous":
            variable.variability = "discrete"
    # Of several locals nobody can say which one is meant.
    chosen = {id(v) for name, v in kept.items() if not (name in shared and _is_local(v))}
    described.modelVariables = [v for v in described.modelVariables if id(v) in chosen]
    return wrong


def _is_local(variable: Variable) -> bool:
    return variable.causality in {"local", "none"}
