"""Reading of model descriptions that break rules of FMI: what does no harm is told, not refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree

from orchestrator.core.diagnostics import FmuError
from orchestrator.core.simunits.fmi.description_schema import schema_of
from orchestrator.core.simunits.fmi.variable_faults import elements_of, faults

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
    """Read a model description; what breaks rules of FMI is listed.

    Parameters
    ----------
    path
        The FMU.
    root
        Its modelDescription.xml.
    version
        Major version of FMI.

    Raises
    ------
    FmuError
        If it cannot be read at all.
    """
    from fmpy import read_model_description as read

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
    from fmpy.validation import validate_model_description

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
