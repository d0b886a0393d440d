"""Values in SSP: inline parameter sets, .ssv and .ssm files, and signal dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from lxml import etree

from orchestrator.core.diagnostics import CapabilityError, DescriptionError, with_article
from orchestrator.core.ssp.archive.unpacking import replacing
from orchestrator.core.ssp.common.names import add, boolean_text, dotted, real_text
from orchestrator.core.ssp.common.schema import Schema, checked_text, new_document
from orchestrator.core.ssp.common.signal_types import (
    add_enumerations,
    add_type,
    add_units,
    item_names,
)
from orchestrator.core.ssp.read.line_annotations import add_transformation
from orchestrator.core.ssp.read.parameter_values import FIXED
from orchestrator.core.structs import Struct, replace
from orchestrator.core.system import (
    BaseUnit,
    Bus,
    Causality,
    Connector,
    DataType,
    Enumeration,
    LinearTransformation,
    SourceKind,
    System,
    Value,
)
from orchestrator.core.system.checks import value_misfit

_BITS: Final = {"Integer": 31, "Int64": 63}
#: Types of values whose connector is not declared, and how elements are written.
_KINDS: Final[Mapping[type, DataType]] = {
    bool: DataType.BOOLEAN,
    str: DataType.STRING,
    bytes: DataType.BINARY,
    int: DataType.INTEGER,
    float: DataType.REAL,
}
_TEXTS: Final[Mapping[DataType, Callable[[Any], str]]] = {
    DataType.REAL: real_text,
    DataType.BOOLEAN: boolean_text,
    DataType.STRING: str,
    DataType.BINARY: bytes.hex,
}


class _Written(Struct):
    """Element of a value: its name, its texts, one for each element, and its attributes."""

    kind: str
    texts: tuple[str, ...]
    unit: tuple[str, BaseUnit | None] | None = None
    enumeration: Enumeration | None = None


class Given(Struct):
    """A value to write under a name.

    name, value: As they are written.
    connector: What the value is for; ``None``: its Python type decides.
    outputs: Whether outputs may begin with a value, as those of FMUs may.
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
    """Append values as an inline parameter set, in the order of the connectors.

    Its units are those of the connectors: SSP looks for them in the enclosing file.
    """
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
    parameters = [Given(key, values[key], connectors.get(key), outputs=outputs) for key in order]
    add_parameters(parameter_set, parameters, version)


def add_parameters(
    parameter_set: etree._Element, given_parameters: Iterable[Given], version: str
) -> dict[str, BaseUnit | None]:
    """Append values to an empty parameter set, in their order, and return what units they have."""
    parameters = add(parameter_set, "ssv:Parameters")
    units: dict[str, BaseUnit | None] = {}
    enumerations: dict[str, Enumeration] = {}
    problems: list[DescriptionError] = []
    for parameter in given_parameters:
        try:
            written = _written(parameter, version)
        except DescriptionError as error:
            problems.append(error)
            continue
        _add_parameter(parameters, parameter.name, written, parameter.connector)
        if written.unit is not None:
            units[written.unit[0]] = written.unit[1]
        if written.enumeration is not None:
            enumerations[written.enumeration.name] = written.enumeration
    if problems:
        raise DescriptionError.collect(problems)
    add_enumerations(parameter_set, "ssv", enumerations)
    return units


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


def _written(parameter: Given, version: str) -> _Written:
    """Write a value; its Python type decides where no connector is declared."""
    name, value, connector = parameter.name, parameter.value, parameter.connector
    causality = None if connector is None else connector.causality
    if causality in FIXED and not (causality is Causality.OUTPUT and parameter.outputs):
        raise DescriptionError(f"'{name}' is {with_article(causality)} and cannot be set")
    if connector is not None and not connector.accepts(value):
        raise DescriptionError(f"'{name}': {value_misfit(connector, value)}")
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
        return _integers(name, [int(element) for element in elements], connector, version)
    unit = None
    if kind is DataType.REAL and connector is not None and connector.unit is not None:
        unit = (connector.unit, connector.unit_definition)
    return _Written(str(kind), tuple(map(_TEXTS[kind], elements)), unit)


def _kind(name: str, elements: tuple[object, ...], connector: Connector | None) -> DataType:
    if connector is not None:  # a clock ticks or not
        return DataType.BOOLEAN if connector.type is DataType.CLOCK else connector.type
    types = {type(element) for element in elements}
    if types == {int, float}:
        return DataType.REAL
    if len(types) > 1 or not types <= _KINDS.keys():
        raise DescriptionError(f"'{name}': expected elements of one type, found {elements!r}")
    return _KINDS[types.pop()]


def _integers(name: str, values: list[int], connector: Connector | None, version: str) -> _Written:
    enumeration = connector.enumeration if connector else None
    if enumeration is not None:
        names = item_names(enumeration)
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


class Mapped(Struct):
    """Where the value of a parameter comes from.

    Parameters
    ----------
    source
        Name in the parameter set.
    transformation
        What becomes of the value, after its unit is converted.
    """

    source: str
    transformation: LinearTransformation | None = None


def write_parameter_set(
    system: System, path: str | Path, *, name: str | None = None, version: str = "1.0"
) -> None:
    """Write the values of a system and of its components as a parameter set.

    They are called by their hierarchical names, ``arm.motor.k``, as a binding of the whole system
    or ``softdock run --parameters`` takes them.

    Parameters
    ----------
    system
        Its values, and no others, are written, in the units of their connectors.
    path
        The .ssv file.
    name
        Name of the set; default: the name of the system.
    version
        Of SSP: ``"1.0"`` or ``"2.0"``, which arrays need.

    Raises
    ------
    DescriptionError
        If it has no values, or this version of SSP cannot hold them: all of them together.
    SspError
        If the file cannot be written; an old one is untouched.
    """
    content = parameter_set(system, name=name, version=version)
    with replacing(Path(path)) as file:
        file.write(content)


def parameter_set(system: System, *, name: str | None = None, version: str = "1.0") -> bytes:
    """Return the text that :func:`write_parameter_set` writes."""
    parameters = list(_given_values(system, ""))
    if not parameters:
        raise DescriptionError(f"system '{system.name}' sets no values: there is nothing to write")
    root = new_document(Schema.PARAMETER_VALUES, version, ("ssv", "ssc"))
    root.set("name", system.name if name is None else name)
    add_units(root, "ssv", add_parameters(root, parameters, version))
    return checked_text(root, Schema.PARAMETER_VALUES)


def _given_values(system: System, prefix: str) -> Iterator[Given]:
    for key, value in system.values.items():
        yield Given(prefix + key, value, system.connectors.get(key))
    for name, component in system.components.items():
        before = prefix + dotted(name)
        is_fmu = component.source.kind is SourceKind.FMU
        for key, value in component.values.items():
            connector = component.connectors.get(key)
            yield Given(f"{before}.{key}", value, connector, outputs=is_fmu)
    for name, inner in system.systems.items():
        yield from _given_values(inner, f"{prefix}{dotted(name)}.")


def write_parameter_mapping(
    entries: Mapping[str, str | Mapped], path: str | Path, *, version: str = "1.0"
) -> None:
    """Write a mapping: which parameter gets which value of a parameter set.

    Parameters
    ----------
    entries
        By the hierarchical name of the parameter: the name of the value in the set, or that with a
        transformation. What a mapping does not name is not applied.
    path
        The .ssm file.
    version
        Of SSP.

    Raises
    ------
    DescriptionError
        If there are no entries, or a name is empty.
    SspError
        If the file cannot be written; an old one is untouched.
    """
    if not entries:
        raise DescriptionError(f"{path}: a mapping without entries applies nothing")
    root = new_document(Schema.PARAMETER_MAPPING, version, ("ssm", "ssc"))
    for target, change in entries.items():
        mapped = Mapped(change) if isinstance(change, str) else change
        if not (target and mapped.source):
            raise DescriptionError(
                f"{path}: expected names of a parameter and of a value, found '{target}' and"
                f" '{mapped.source}'"
            )
        entry = add(root, "ssm:MappingEntry", source=mapped.source, target=target)
        if mapped.transformation is not None:
            add_transformation(entry, mapped.transformation, None, None, version)
    content = checked_text(root, Schema.PARAMETER_MAPPING)
    with replacing(Path(path)) as file:
        file.write(content)


def add_dictionaries(system: etree._Element, buses: list[Bus], version: str) -> None:
    """Append one dictionary for each name, with the entries of all its buses."""
    if not buses:
        return
    entries: dict[str, dict[str, Connector]] = {}
    for bus in buses:
        own_entries = entries.setdefault(bus.dictionary, {})
        for name, connector in bus.connectors.items():
            plain = replace(connector, causality=Causality.INOUT, description="", start=None)
            if own_entries.setdefault(name, plain) != plain:
                raise DescriptionError(
                    f"entry '{name}' of the dictionary '{bus.dictionary}' has different types on"
                    " two buses; expected one"
                )
    group = add(system, "ssd:SignalDictionaries")
    for dictionary, signals in sorted(entries.items()):
        outer = add(group, "ssd:SignalDictionary", name=dictionary)
        inner = add(outer, Schema.SIGNAL_DICTIONARY, version=version)
        for name, connector in sorted(signals.items()):
            add_type(add(inner, "ssb:DictionaryEntry", name=name), connector, version)
        used = [c for c in signals.values() if c.enumeration is not None]
        add_enumerations(inner, "ssb", {c.enumeration.name: c.enumeration for c in used})  # type: ignore[union-attr,misc]
        add_units(
            inner,
            "ssb",
            {c.unit: c.unit_definition for c in signals.values() if c.unit is not None},
        )
