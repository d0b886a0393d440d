"""Reading of model descriptions that break rules of FMI: what does no harm is told, not refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lxml import etree

from orchestrator.core.diagnostics import FmuError


@cache
def schema_of(version: int, kind: str = "Model") -> etree.XMLSchema:
    """Return a schema."""
    prefix = "fmi" if version == 1 else f"fmi{version}"
    folder = Path(__file__).parent / "vendor" / "fmpy" / "schema" / f"fmi{version}"
    return etree.XMLSchema(file=str(folder / f"{prefix}{kind}Description.xsd"))


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


def elements_of(root: etree._Element) -> list[etree._Element]:
    """Return the elements of all variables."""
    return [e for e in root.iterfind("ModelVariables/*") if isinstance(e.tag, str)]


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
    typed = _typed(element, version)
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


def _typed(element: etree._Element, version: int) -> etree._Element | None:
    """Return the element that has type and start value."""
    if version == 3:
        return element
    return next((inner for inner in element if inner.tag in _TYPES), None)


def _is_value(kind: str, text: str) -> bool:
    if kind == "Boolean":
        return text in {"true", "false", "0", "1"}
    if kind in {"Binary", "Clock"}:
        return True
    try:
        float(text) if kind in _REALS else int(text)
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
_REALS = frozenset({"Real", "Float32", "Float64"})
#: What FMPy derives ``initial`` from; other combinations it refuses even without validation.
_LEGAL = {
    "constant": {"output", "local"},
    "fixed": {"structuralParameter", "parameter", "calculatedParameter", "local"},
    "tunable": {"structuralParameter", "parameter", "calculatedParameter", "local"},
    "discrete": {"input", "output", "local"},
    "continuous": {"input", "output", "local", "independent"},
}


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """A model description as FMPy reads it, and what is wrong with it.

    Parameters
    ----------
    described
        FMPy's ``ModelDescription``; of variables that share a name only the one that is meant.
        ``None``: there are faults that keep it from being read.
    flaws
        Violations of the standard that do not keep the FMU from running, in sentences.
    faults
        Those that do: it must not be run.
    """

    described: Any
    flaws: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def read_model_description(path: Path, root: etree._Element, version: int) -> ModelDescription:
    """Read a model description; what breaks rules of FMI is listed."""
    from orchestrator.core.simunits.fmi.vendor.fmpy import read_model_description as read

    try:
        with path.open("rb") as stream:  # FMPy does not close what it opens if it raises
            return ModelDescription(read(stream))
    except Exception as error:  # noqa: BLE001 - FMPy raises plain Exception for what it refuses
        first = error
    wrong = list(faults(root, version))
    mended, flaws = _mended(root, version)
    try:
        described = read(_archive(mended), validate=False)
    except Exception:  # noqa: BLE001 - as above
        if wrong:
            return ModelDescription(None, faults=tuple(wrong))
        raise FmuError.in_file(path, f"modelDescription.xml cannot be read: {first}") from first
    for variable, element in zip(described.modelVariables, elements_of(root), strict=False):
        variable.sourceline = element.sourceline
    for harmful, text in (*_schema(root, version), *_rules(described)):
        (wrong if harmful else flaws).append(text)
    wrong += _settled(described)
    told = dict.fromkeys(" ".join(text.split()) for text in flaws or [str(first)])
    return ModelDescription(described, tuple(told), tuple(wrong))


def _archive(root: etree._Element) -> io.BytesIO:
    """Return an archive that holds nothing but a model description."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("modelDescription.xml", etree.tostring(root))
    stream.seek(0)
    return stream


def _mended(root: etree._Element, version: int) -> tuple[etree._Element, list[str]]:
    """Return a copy without what FMPy refuses to read even if it is not to validate."""
    mended, flaws = deepcopy(root), []
    types = {e.get("name") for e in root.iterfind("TypeDefinitions/*")}
    for element, before in zip(elements_of(mended), elements_of(root), strict=True):
        where = f"variable '{element.get('name')}' (line {before.sourceline})"
        for inner in (element, *element):
            declared = inner.get("declaredType")
            if declared is not None and declared not in types:
                flaws.append(f"{where}: the declared type '{declared}' is not defined")
                del inner.attrib["declaredType"]
        if version == 1 or element.get("initial") is not None:
            continue
        causality = element.get("causality", "local")
        variability = element.get("variability")
        if variability is None and version == 3:
            continue  # the default belongs to the causality
        if causality not in _LEGAL.get(variability or "continuous", ()):
            element.set("initial", "calculated" if "alc" in causality else "exact")
    return mended, flaws


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


def _rules(described: Any) -> Iterator[tuple[bool, str]]:
    """Rules beyond the schema, as FMPy knows them; what does harm among them is told before."""
    from orchestrator.core.simunits.fmi.vendor.fmpy.validation import validate_model_description

    units = {unit.name for unit in described.unitDefinitions}
    for variable in described.modelVariables:
        declared = variable.declaredType
        unit = variable.unit or (declared.unit if declared is not None else None)
        if unit not in units:  # FMPy looks its display unit up there
            variable.displayUnit = None
            variable.aliases = [a for a in variable.aliases if a.displayUnit is None]
    for text in validate_model_description(described):
        yield False, text


def _settled(described: Any) -> list[str]:
    """Leave of variables that share a name the one that is meant; say where that is not clear.

    Types that cannot be continuous are made discrete.
    """
    kept: dict[str, Any] = {}
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
        if variable.type not in _REALS and variable.variability == "continuous":
            variable.variability = "discrete"
    # Of several locals nobody can say which one is meant.
    chosen = {id(v) for name, v in kept.items() if not (name in shared and _is_local(v))}
    described.modelVariables = [v for v in described.modelVariables if id(v) in chosen]
    return wrong


def _is_local(variable: Any) -> bool:
    return variable.causality in {"local", "none"}
