"""Values of parameters and inputs, and which of several holds; enumerations, and tables of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from lxml import etree

from orchestrator.checks.context import (
    CheckContext,
    finding,
    first_inside,
    inside,
    of_error,
)
from orchestrator.checks.locations import SspFile, elements, line_of
from orchestrator.core.diagnostics import Diagnostic, LoadError, enumerated
from orchestrator.core.diagnostics.errors import Code, error, note, warning
from orchestrator.core.simunits.value_rules import (
    FIXED,
    REFUSED,
    fmu_description,
    refuses,
    unsettable,
    values_beyond,
)
from orchestrator.core.ssp.common.names import child, children, full, listed, tag
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    Component,
    Connection,
    DataType,
    Endpoint,
    MappingTransformation,
    with_starts,
)
from orchestrator.core.system.checks import values
from orchestrator.core.system.flatten import open_inputs
from orchestrator.core.system.levels import SystemLevel, connector_at, own_values, parts_of

_BINDING = "SSP 1.0.1, 5.2.3"
_TABLES = "SSP 1.0.1, 4.5.2"
CODES: tuple[Code, ...] = (
    error(
        "VAL101",
        "a value for a name that does not exist",
        "The component has no parameter or input of that name, for example because a new FMU"
        " renamed or removed it.",
        _BINDING,
    ),
    error(
        "VAL102",
        "a value for an output",
        "The component computes its outputs: they cannot be set.",
        _BINDING,
    ),
    error(
        "VAL103",
        "a value of another type or shape",
        "The type or the size of the value does not fit the connector.",
        _BINDING,
    ),
    error(
        "VAL104",
        "a value that is not finite",
        "Parameters cannot be infinite or NaN.",
    ),
    warning(
        "VAL105",
        "a value outside of the bounds of the FMU",
        "The model description declares a minimum or maximum of the variable, and the value is"
        " beyond it. FMUs refuse such values, clip them, or give wrong results. A run notes them,"
        " also those that arrive through connections, and refuses them where they are set during"
        " the run.",
        "FMI 2.0.4, 2.2.3",
    ),
    error(
        FIXED,
        "a value that the FMU does not allow to be set",
        "The variable is a constant, a calculated parameter, or computed by the FMU (initial"
        " 'calculated'): setting it fails during the run, or has no effect.",
        "FMI 2.0.4, 2.2.7",
    ),
    error(
        "VAL121",
        "a value beyond the range of a block's parameter",
        "The parameter of a Python block has a range: for example, a noise is above zero, a share"
        " at most 1. The block refuses to run with another value.",
    ),
    error(
        REFUSED,
        "a value that an FMU of Softdock refuses",
        "FMUs that Softdock builds have the ranges of their parameters in their code: they refuse"
        " to be set to a value beyond them, so a run refuses the value before it begins.",
    ),
    note(
        "VAL110",
        "start values of inputs that are connected",
        "These inputs keep their values only until the first exchange, at the start time.",
        _BINDING,
    ),
    error(
        "ENU101",
        "a value that the enumeration does not have",
        "No item of the enumeration has this number.",
        "SSP 1.0.1, 4.4.1",
    ),
    warning(
        "ENU102",
        "a table lacks values of its source",
        "The source can have values that the table of the connection does not map. Such a value"
        " ends the run with an error.",
        _TABLES,
    ),
    error(
        "ENU103",
        "a table leads to values that the target does not have",
        "The enumeration of the target has no item of that number, or the target is Boolean and"
        " the number is neither 0 nor 1.",
        _TABLES,
    ),
    warning(
        "ENU104",
        "different enumerations are connected",
        "The enumerations at the two ends have different items, and no table maps one to the"
        " other: the number passes unchanged and may mean something else.",
        "SSP 1.0.1, 4.4.1",
    ),
    error(
        "ENU105",
        "a table for a signal of the wrong type",
        "Tables of values are for Boolean, Integer and enumeration connectors.",
        _TABLES,
    ),
    warning(
        "ENU106",
        "a table has entries that never match",
        "The source cannot have these values: it is Boolean, or its enumeration has no such item.",
        _TABLES,
    ),
    warning(
        "VAL107",
        "a parameter has two different values",
        "Two parameter bindings of one element give the same parameter different values. The"
        " later binding applies; the message names its location.",
        _BINDING,
    ),
    note(
        "VAL108",
        "a value that a higher binding overrides",
        "A binding of an outer system gives the parameter another value, which applies.",
        _BINDING,
    ),
)


def check(context: CheckContext) -> Iterator[Diagnostic]:
    """Check the values of all components."""
    for level in context.levels():
        fed = {(line.target.component, line.target.connector) for line in level.system.connections}
        yield from _system_values(level)
        for name, component in level.system.components.items():
            is_known = level.at(name) not in context.unknown
            yield from _component(level, component, is_known=is_known, fed=fed)
    own = {path: component.values for path, component in context.components()}
    yield from _carried(context, own)


def _system_values(level: SystemLevel) -> Iterator[Diagnostic]:
    """Values of a system's own connectors."""
    for problem in own_values(level.system):
        for diagnostic in problem.diagnostics:
            path = level.path_of(diagnostic.key)
            yield finding(diagnostic.code, path, diagnostic.message)


def _carried(context: CheckContext, own: Mapping[str, Collection[str]]) -> Iterator[Diagnostic]:
    """Values that components get from connectors of systems; ``own`` has their own, by path."""
    wrong = any(problem for level in context.levels() for problem in own_values(level.system))
    held = None if context.flat is None else with_starts(context.flat)[0]
    if held is None or wrong or open_inputs(held):
        return  # the cause is reported
    for name, component in held.closed().components.items():
        explicit = own.get(name, ())
        carried = {k: value for k, value in component.values.items() if k not in explicit}
        for problem in values(replace(component, values=carried)):
            yield from of_error(problem)


def _component(
    level: SystemLevel, component: Component, *, is_known: bool, fed: set[tuple[str, str]]
) -> Iterator[Diagnostic]:
    for problem in values(component):
        yield from (
            diagnostic
            for diagnostic in of_error(problem, level.path)
            if is_known or diagnostic.code != "VAL101"
        )
    if not component.values:
        return
    fed_inputs = [name for name in component.values if (component.name, name) in fed]
    if fed_inputs:
        subject = "value of input" if len(fed_inputs) == 1 else "values of inputs"
        verb = "applies" if len(fed_inputs) == 1 else "apply"
        text = f"start {subject} {enumerated(fed_inputs)} {verb} only until the first exchange"
        yield finding("VAL110", level.at(component.name), f"{text}: a connection sets the input")
    for problem in unsettable(component):
        yield from of_error(problem, level.path)
    if (description := fmu_description(component)) is None:
        return
    for name, text in values_beyond(component, description.ranges):
        code = REFUSED if refuses(component, name, description.details) else "VAL105"
        yield finding(code, f"{level.at(component.name)}.{name}", text)


def check_tables(context: CheckContext) -> Iterator[Diagnostic]:
    """Check the tables and enumerations of every level."""
    for level in context.levels():
        parts = parts_of(level.system)
        for line in level.system.connections:
            source, target = (_values_at(parts, end) for end in line.ends)
            at = inside(level.path, str(line))
            if isinstance(line.transformation, MappingTransformation):
                yield from _table(at, line.transformation, source)
            elif source and target and source != target and not _is_truth(parts, line):
                text = f"the source has {_words(source)}, the target {_words(target)}; map them"
                yield finding("ENU104", at, text)


def _values_at(parts: Mapping[str, Component], end: Endpoint) -> Mapping[str, int]:
    """Return the values of a connector by name; empty if any number is a value."""
    connector = connector_at(parts, end)
    return {} if connector is None else connector.named_values


def _is_truth(parts: Mapping[str, Component], line: Connection) -> bool:
    """Whether one end of a connection is a Boolean."""
    ends = [connector_at(parts, end) for end in line.ends]
    return any(end is not None and end.type is DataType.BOOLEAN for end in ends)


def _table(
    at: str, table: MappingTransformation, source: Mapping[str, int]
) -> Iterator[Diagnostic]:
    mapped = dict(table.entries)
    missed = {name: value for name, value in source.items() if value not in mapped}
    if missed:
        yield finding("ENU102", at, f"the table has no entry for {_words(missed)}; add it")
    idle = [value for value in mapped if source and value not in source.values()]
    if idle:
        text = f"entries that never match: {_numbers(idle)}; the source has {_words(source)}"
        yield finding("ENU106", at, text)


def _words(items: Mapping[str, int]) -> str:
    return ", ".join(f"{name} ({value})" for name, value in items.items())


def _numbers(values: list[int]) -> str:
    return ", ".join(map(str, values))


class _Entry(Struct):
    """One value of one binding; ``depth`` 0 is the top system, ``binding`` the element."""

    name: str
    depth: int
    binding: etree._Element
    value: str
    file: str
    line: int

    @property
    def location(self) -> str:
        return f"{self.file}:{self.line}"


def check_bindings(ssp_file: SspFile) -> Iterator[Diagnostic]:
    """Compare the parameter bindings of all elements of an .ssd."""
    by_name: dict[str, list[_Entry]] = {}
    for top in ssp_file.root.iterfind(full("ssd:System")):
        for entry in _entries(ssp_file, top, "", 0):
            by_name.setdefault(entry.name, []).append(entry)
    for entries in by_name.values():
        if len(entries) < 2:
            continue
        # Inner ones first; of equal depth in the order of the file. The last one holds.
        ordered = sorted(entries, key=lambda entry: -entry.depth)
        held = ordered[-1]
        for entry in ordered[:-1]:
            if _same(entry.value, held.value) or entry.binding is held.binding:
                continue  # a set that gives a name twice is told by the reader
            code = "VAL107" if entry.depth == held.depth else "VAL108"
            text = f"{entry.value} does not hold: {held.location} gives it {held.value}"
            yield finding(code, entry.name, text, entry.file, entry.line)


def _same(first: str, second: str) -> bool:
    try:
        return float(first) == float(second)
    except ValueError:
        return first == second


def _entries(ssp_file: SspFile, element: etree._Element, path: str, depth: int) -> Iterator[_Entry]:
    prefix = f"{path.replace('/', '.')}." if path else ""
    for binding in listed(element, "ssd:ParameterBindings", "ssd:ParameterBinding"):
        try:
            yield from _binding(ssp_file, binding, prefix, depth)
        except (LoadError, OSError):
            continue  # the reader has told
    for at, inner in elements(element, path):
        yield from _entries(ssp_file, inner, at, depth + 1)


def _binding(
    ssp_file: SspFile, binding: etree._Element, prefix: str, depth: int
) -> Iterator[_Entry]:
    source = binding.get("source")
    if binding.get("sourceBase", "SSD") != "SSD":
        return
    here = ssp_file.neighbour(source) if source else ssp_file
    values = here.root if source else first_inside(binding, "ssd:ParameterValues")
    if values is None:
        return
    own_prefix = binding.get("prefix", "")
    targets = _mapping(ssp_file, binding)
    for parameter in listed(values, "ssv:Parameters", "ssv:Parameter"):
        typed = next(iter(children(parameter)), None)
        if typed is None:
            continue
        name = own_prefix + parameter.get("name", "")
        unit = typed.get("unit")
        value = typed.get("value", "") + (f" {unit}" if unit else "")
        for target, changed in [(name, "")] if targets is None else targets.get(name, []):
            line = line_of(parameter)
            yield _Entry(prefix + target, depth, binding, f"{value}{changed}", here.label, line)


def _mapping(ssp_file: SspFile, binding: etree._Element) -> dict[str, list[tuple[str, str]]] | None:
    """Targets by source name, each with a remark if the value is changed; ``None`` without."""
    element = child(binding, "ssd:ParameterMapping")
    if element is None:
        return None
    source = element.get("source")
    root = ssp_file.neighbour(source).root if source else next(iter(children(element)), None)
    targets: dict[str, list[tuple[str, str]]] = {}
    for entry in children(root) if root is not None else ():
        if tag(entry) == "ssm:MappingEntry":
            changed = " (transformed)" if children(entry) else ""
            targets.setdefault(entry.get("source", ""), []).append(
                (entry.get("target", ""), changed)
            )
    return targets
