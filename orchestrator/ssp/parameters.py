"""Parameter bindings of SSP: values of parameters, and start values of inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from orchestrator.archive import parse_xml
from orchestrator.errors import DescriptionError, SspError
from orchestrator.ssp.findings import Findings
from orchestrator.ssp.names import PARAMETER_SET_TYPE, add, child, children, full, listed, tag
from orchestrator.ssp.schema import Schema, check
from orchestrator.ssp.sources import Place
from orchestrator.ssp.unit_definitions import add_units, check_units
from orchestrator.ssp.unsupported import survey
from orchestrator.system import Causality, Component, Connector, DataType, Value, conversion
from orchestrator.system.checks import expected_value

_TYPES = {
    "ssv:Real": DataType.REAL,
    "ssv:Integer": DataType.INTEGER,
    "ssv:Boolean": DataType.BOOLEAN,
    "ssv:String": DataType.STRING,
}
_INTEGERS = range(-(2**31), 2**31)  # xs:int


@dataclass(frozen=True, slots=True)
class Assignment:
    """One value that a file gives, before it is known to fit.

    Parameters
    ----------
    name
        The parameter's name with the binding's prefix: of a component's binding the connector,
        of the system's ``"component.connector"``.
    value, unit
        As in the file.
    element, findings
        Where it stands.
    """

    name: str
    value: float | int | bool | str
    unit: str | None
    element: etree._Element
    findings: Findings

    def for_connector(self, connector: Connector | None) -> Value:
        """Return the value as a connector takes it, in the connector's unit.

        Raises
        ------
        DescriptionError
            If the type does not fit, the connector is an output, or the unit does not convert.
        """
        declared = connector.unit if connector else None
        if self.unit is not None and declared is None:
            raise DescriptionError(
                f"the value is in {self.unit}, but the unit of '{self.name}' is not known;"
                " declare it with the connector"
            )
        if connector is None:
            return self.value
        if connector.causality is Causality.OUTPUT:
            raise DescriptionError(f"'{self.name}' is an output and cannot be set")
        if not connector.accepts(self.value):
            raise DescriptionError(f"expected {expected_value(connector)}, found {self.value!r}")
        factor, offset = conversion(self.unit, declared)
        if isinstance(self.value, str) or (factor, offset) == (1.0, 0.0):
            return self.value
        return factor * self.value + offset


def read_bindings(parent: etree._Element, place: Place, findings: Findings) -> Iterator[Assignment]:
    """Read the parameter bindings of a component or of the system; later ones take precedence."""
    for binding in listed(parent, "ssd:ParameterBindings", "ssd:ParameterBinding"):
        with findings.guard(binding):
            where, values = _parameter_set(binding, place, findings)
            yield from _assignments(values, binding.get("prefix", ""), where)


def _parameter_set(
    binding: etree._Element, place: Place, findings: Findings
) -> tuple[Findings, etree._Element]:
    kind = binding.get("type", PARAMETER_SET_TYPE)
    source = binding.get("source")
    inline = child(binding, "ssd:ParameterValues")
    if kind != PARAMETER_SET_TYPE:
        raise SspError(f"parameter binding of type {kind}: expected {PARAMETER_SET_TYPE}")
    if binding.get("sourceBase", "SSD") != "SSD":
        raise SspError("parameter binding: sourceBase component is not supported; expected SSD")
    if (source is None) == (inline is None):
        raise SspError("parameter binding: expected either a source or inline ParameterValues")
    if inline is not None:
        content = children(inline)
        if [tag(inner) for inner in content] != [Schema.PARAMETER_VALUES]:
            found = ", ".join(map(tag, content)) or "nothing"
            raise SspError(f"ParameterValues: expected one ssv:ParameterSet, found {found}")
        return findings, content[0]
    path = place.file(source or "", inside=True)
    label = f"{place.label} ({source})" if place.packed else str(path)
    root = parse_xml(_bytes(path), label, SspError)
    check(root, Schema.PARAMETER_VALUES, label)
    where = findings.beside(label)
    survey(root, where)
    return where, root


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as reason:
        raise SspError(f"parameter file {path}: cannot be read: {reason.strerror}") from None


def _assignments(values: etree._Element, prefix: str, findings: Findings) -> Iterator[Assignment]:
    check_units(values, "ssv:Units", values.iter(full("ssv:Real")), findings)
    for parameter in listed(values, "ssv:Parameters", "ssv:Parameter"):
        typed = next((e for e in children(parameter) if tag(e) in _TYPES), None)
        if typed is None:  # the survey has listed it
            continue
        value = _value(_TYPES[tag(typed)], typed.get("value", ""))
        name = prefix + parameter.get("name", "")
        yield Assignment(name, value, typed.get("unit"), parameter, findings)


def _value(kind: DataType, text: str) -> float | int | bool | str:
    match kind:
        case DataType.REAL:
            return float(text)
        case DataType.INTEGER:
            return int(text)
        case DataType.BOOLEAN:
            return text.strip() in {"true", "1"}
    return text


def add_bindings(parent: etree._Element, component: Component) -> None:
    """Append a component's values as an inline parameter set, in the order of its connectors.

    Raises
    ------
    DescriptionError
        All values that do not fit their connectors, together.
    """
    if not component.values:
        return
    binding = add(add(parent, "ssd:ParameterBindings"), "ssd:ParameterBinding")
    values = add(
        add(binding, "ssd:ParameterValues"),
        Schema.PARAMETER_VALUES,
        version="1.0",
        name=component.name,
    )
    parameters = add(values, "ssv:Parameters")
    units = set()
    problems = []
    for name in _order(component.values, component.connectors):
        connector = component.connectors.get(name)
        try:
            tag_name, attributes = _written(name, component.values[name], connector)
        except DescriptionError as error:
            problems.append(error)
            continue
        add(add(parameters, "ssv:Parameter", name=name), tag_name, **attributes)
        if "unit" in attributes:
            units.add(attributes["unit"])
    if problems:
        raise DescriptionError.collect(problems)
    add_units(values, "ssv:Units", units)


def _order(values: Mapping[str, Value], connectors: Mapping[str, Connector]) -> list[str]:
    return [name for name in connectors if name in values] + sorted(values.keys() - connectors)


def _written(name: str, value: Value, connector: Connector | None) -> tuple[str, dict[str, str]]:
    """Element and attributes of a value; its Python type decides where no connector is declared."""
    if connector is not None:
        if connector.causality is Causality.OUTPUT:
            raise DescriptionError(f"'{name}' is an output and cannot be set")
        if not connector.accepts(value):
            raise DescriptionError(
                f"'{name}': expected {expected_value(connector)}, found {value!r}"
            )
    real = connector is not None and connector.type is DataType.REAL
    if isinstance(value, bool):
        return "ssv:Boolean", {"value": "true" if value else "false"}
    if isinstance(value, str):
        return "ssv:String", {"value": value}
    if isinstance(value, float) or (real and isinstance(value, int)):
        unit = {"unit": connector.unit} if connector and connector.unit is not None else {}
        return "ssv:Real", {"value": real_text(value), **unit}
    if isinstance(value, int):
        if value not in _INTEGERS:
            raise DescriptionError(f"'{name}': {value} does not fit 32 bits, as SSP's do")
        return "ssv:Integer", {"value": str(int(value))}
    raise DescriptionError(f"'{name}': expected a scalar, found {value!r}")


def real_text(value: float) -> str:
    """Write a number as an xs:double that reads back to the same bits."""
    number = float(value)
    return {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(number), repr(number))
