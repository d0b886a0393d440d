"""Values of a component or a system as an inline parameter set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from lxml import etree

from orchestrator.core.diagnostics import CapabilityError, DescriptionError
from orchestrator.core.ssp.common.lexical import boolean_text, real_text
from orchestrator.core.ssp.common.names import add
from orchestrator.core.ssp.common.schema import Schema
from orchestrator.core.ssp.common.signal_types import add_enumerations, add_units
from orchestrator.core.system import BaseUnit, Causality, Connector, DataType, Enumeration, Value
from orchestrator.core.system.checks import expected_value

_BITS: Final = {"Integer": 31, "Int64": 63}
_FIXED: Final = {Causality.OUTPUT, Causality.CALCULATED_PARAMETER, Causality.CONSTANT}


@dataclass(frozen=True, slots=True)
class _Written:
    """Element of a value: its name, its texts, one for each element, and its attributes."""

    kind: str
    texts: tuple[str, ...]
    unit: tuple[str, BaseUnit | None] | None = None
    enumeration: Enumeration | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """A value to write under a name.

    Parameters
    ----------
    name, value
        As they are written.
    connector
        What the value is for; ``None``: its Python type decides.
    outputs
        Whether outputs may begin with a value, as those of FMUs may.
    """

    name: str
    value: Value
    connector: Connector | None
    outputs: bool = False


def add_bindings(
    parent: etree._Element,
    name: str,
    values: Mapping[str, Value],
    connectors: Mapping[str, Connector],
    version: str,
    *,
    outputs: bool = False,
) -> None:
    """Append values as an inline parameter set, in the order of the connectors."""
    if not values:
        return
    binding = add(add(parent, "ssd:ParameterBindings"), "ssd:ParameterBinding")
    parameter_set = add(
        add(binding, "ssd:ParameterValues"),
        Schema.PARAMETER_VALUES,
        version=version,
        name=name,
    )
    order = [key for key in connectors if key in values] + sorted(values.keys() - connectors)
    given = [Given(key, values[key], connectors.get(key), outputs=outputs) for key in order]
    add_parameters(parameter_set, given, version)


def add_parameters(parameter_set: etree._Element, given: Iterable[Given], version: str) -> None:
    """Append values to an empty parameter set, in their order; raises as :func:`add_bindings`."""
    parameters = add(parameter_set, "ssv:Parameters")
    units: dict[str, BaseUnit | None] = {}
    enumerations: dict[str, Enumeration] = {}
    problems: list[DescriptionError] = []
    for each in given:
        name, connector = each.name, each.connector
        try:
            _expect_settable(name, connector, outputs=each.outputs)
            written = _written(name, each.value, connector, version)
        except DescriptionError as error:
            problems.append(error)
            continue
        _add_parameter(parameters, name, written, connector)
        if written.unit is not None:
            units[written.unit[0]] = written.unit[1]
        if written.enumeration is not None:
            enumerations[written.enumeration.name] = written.enumeration
    if problems:
        raise DescriptionError.collect(problems)
    add_enumerations(parameter_set, "ssv", enumerations)
    add_units(parameter_set, "ssv", units)


def _add_parameter(
    parameters: etree._Element, name: str, written: _Written, connector: Connector | None
) -> None:
    parameter = add(parameters, "ssv:Parameter", name=name)
    typed = add(parameter, f"ssv:{written.kind}")
    shape = connector.shape if connector else ()
    is_array = bool(shape) or len(written.texts) != 1
    if is_array and written.kind in {"String", "Binary", "Enumeration"}:
        for text in written.texts:
            add(typed, "ssv:Value", value=text)
    else:
        typed.set("value", " ".join(written.texts) if is_array else written.texts[0])
    if written.enumeration is not None:
        typed.set("name", written.enumeration.name)
    if written.unit is not None:
        typed.set("unit", written.unit[0])
    if is_array:
        for extent in shape or (len(written.texts),):
            add(parameter, "ssc:Dimension", size=str(extent))


def _expect_settable(name: str, connector: Connector | None, *, outputs: bool) -> None:
    if connector is None or connector.causality not in _FIXED:
        return
    if connector.causality is not Causality.OUTPUT or not outputs:
        raise DescriptionError(f"'{name}' is an {connector.causality} and cannot be set")


def _written(name: str, value: Value, connector: Connector | None, version: str) -> _Written:
    """Write a value; its Python type decides where no connector is declared."""
    if connector is not None and not connector.accepts(value):
        raise DescriptionError(f"'{name}': expected {expected_value(connector)}, found {value!r}")
    elements = value if isinstance(value, tuple) else (value,)
    if isinstance(value, tuple) and version == "1.0":
        raise CapabilityError(
            f"'{name}': expected a scalar, found {value!r}; SSP 1.0 has no arrays: write"
            " version 2.0"
        )
    if isinstance(value, tuple) and not value:
        raise CapabilityError(f"'{name}': SSP has no values without elements")
    kind = _kind(name, elements, connector)
    if kind is DataType.INTEGER:
        return _integers(name, [int(each) for each in elements], connector, version)
    if kind is DataType.BOOLEAN:
        return _Written("Boolean", tuple(map(boolean_text, elements)))
    if kind is DataType.STRING:
        return _Written("String", tuple(map(str, elements)))
    if kind is DataType.BINARY:
        texts = tuple(each.hex() for each in elements if isinstance(each, bytes))
        return _Written("Binary", texts)
    unit = None
    if connector is not None and connector.unit is not None:
        unit = (connector.unit, connector.unit_definition)
    return _Written("Real", tuple(real_text(float(each)) for each in elements), unit)


def _kind(name: str, elements: tuple[object, ...], connector: Connector | None) -> DataType:
    if connector is not None:
        return connector.type
    found = {type(each) for each in elements}
    kinds = {
        frozenset({bool}): DataType.BOOLEAN,
        frozenset({str}): DataType.STRING,
        frozenset({bytes}): DataType.BINARY,
        frozenset({int}): DataType.INTEGER,
    }
    if found <= {int, float} and float in found:
        return DataType.REAL
    kind = kinds.get(frozenset(found))
    if kind is None:
        raise DescriptionError(f"'{name}': expected elements of one type, found {elements!r}")
    return kind


def _integers(name: str, values: list[int], connector: Connector | None, version: str) -> _Written:
    enumeration = connector.enumeration if connector else None
    if enumeration is not None:
        names = {value: item for item, value in reversed(list(enumeration.items.items()))}
        if all(value in names for value in values):
            texts = tuple(names[value] for value in values)
            return _Written("Enumeration", texts, enumeration=enumeration)
    for kind, bits in _BITS.items():
        if all(-(2**bits) <= value < 2**bits for value in values):
            if kind == "Int64" and version == "1.0":
                raise DescriptionError(
                    f"'{name}': {max(values, key=abs)} does not fit 32 bits, as SSP 1.0's do;"
                    " write version 2.0"
                )
            return _Written(kind, tuple(map(str, values)))
    raise DescriptionError(f"'{name}': {max(values, key=abs)} does not fit 64 bits")
