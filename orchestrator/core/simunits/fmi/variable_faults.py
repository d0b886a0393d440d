"""What a variable of a model description must have, or its FMU must not be run."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

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
_REALS = frozenset({"Real", "Float32", "Float64"})
#: Value references are of 32 bits.
_MOST = 2**32


def elements_of(root: etree._Element) -> list[etree._Element]:
    """Return the elements of all variables."""
    return [e for e in root.iterfind("ModelVariables/*") if isinstance(e.tag, str)]


def faults(root: etree._Element, version: int) -> Iterator[str]:
    """Say what of a model description keeps its FMU from being run.

    Parameters
    ----------
    root
        The model description, which may break the schema anywhere.
    version
        Major version of FMI.
    """
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
