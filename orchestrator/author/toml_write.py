"""Writing of a system as a system file: its plain data, then the text that a person would write."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from orchestrator.author.toml_read import ARROW
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.ssp.archive.unpacking import replacing
from orchestrator.core.system import (
    BaseUnit,
    Bus,
    Component,
    Connection,
    Connector,
    DataType,
    DefaultExperiment,
    PowerPort,
    Source,
    System,
    Value,
    Variability,
)
from orchestrator.core.system.line_attributes import attributes_on
from orchestrator.core.system.ports import Limits
from orchestrator.core.system.time import time_text

#: Their entries become tables of their own; all other tables stand in one line.
_GROUPS = ("component", "nested", "bus")
#: Their entries stand below each other, one line each.
_LISTS = ("system", "experiment", "tuning", "connectors", "values", "power", "connections")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def text_of(data: dict[str, Any]) -> str:
    """Write the plain data of a system as TOML."""
    return "\n".join(_table(data, "")).lstrip("\n") + "\n"


def key_text(key: str) -> str:
    """Write a key, quoted where it must be."""
    return key if _BARE.fullmatch(key) else _string(key)


def value_text(value: Any) -> str:
    """Write a value in one line."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case str():
            return _string(value)
        case list():
            return f"[{', '.join(map(value_text, value))}]"
        case dict():
            return f"{{ {', '.join(_entries(value))} }}" if value else "{}"
    raise TypeError(f"TOML holds no {type(value).__name__}")


def _table(data: dict[str, Any], path: str) -> list[str]:
    """Lines of a table: first what stands in it, then the tables below it."""
    lines = []
    if path:
        plain = {k: v for k, v in data.items() if k not in _GROUPS and not _is_list(k, v, path)}
        lines += ["", f"[{path}]", *_entries(plain)]
    for key, value in data.items():
        here = f"{path}.{key_text(key)}" if path else key_text(key)
        if key in _GROUPS:
            for name, inner in value.items():
                lines += _table(inner, f"{here}.{key_text(name)}")
        elif _is_list(key, value, path):
            lines += ["", f"[{here}]", *_entries(value)]
    return lines


def _entries(data: dict[str, Any]) -> list[str]:
    return [f"{key_text(key)} = {value_text(value)}" for key, value in data.items()]


def _is_list(key: str, value: Any, path: str) -> bool:
    """Whether an entry is a table with a line for each of its own entries.

    Values of a component stay in its table, in one line; those of a system have a table.
    """
    if key not in _LISTS or not isinstance(value, dict):
        return False
    in_component = path.split(".")[-2:-1] == ["component"]
    return not (in_component and key == "values")


def _string(text: str) -> str:
    """Write a text with the escapes that JSON and TOML share."""
    escaped = json.dumps(text, ensure_ascii=False)
    return escaped.replace("\x7f", "\\u007f")


Data = dict[str, Any]


def data_of(system: System, folder: Path, *, connectors: bool = True) -> Data:
    """Return what a system file says of a system, as TOML has it."""
    head = _present_entries(
        system=_present_entries(name=system.name, description=system.description or None),
        experiment=_experiment(system.experiment) or None,
        tuning={n: _limits(n, limits) for n, limits in system.experiment.tuning.items()} or None,
    )
    return head | _content(system, folder, connectors=connectors)


def _present_entries(**entries: Any) -> Data:
    """Leave out what is not said; words of enumerations become texts."""
    entries_present = ((key, value) for key, value in entries.items() if value is not None)
    return {
        key: str(value) if isinstance(value, StrEnum) else value for key, value in entries_present
    }


def _experiment(experiment: DefaultExperiment) -> Data:
    return _present_entries(
        start=time_text(experiment.start_ns) if experiment.start_ns else None,
        stop=None if experiment.stop_ns is None else time_text(experiment.stop_ns),
        step=None if experiment.step_ns is None else time_text(experiment.step_ns),
        algorithm=experiment.algorithm,
        algorithm_options=dict(experiment.algorithm_options) or None,
        rates=dict(experiment.rates) or None,
        early_return=experiment.early_return,
    )


def _limits(name: str, limits: Limits) -> Data:
    ends = {"minimum": limits.least, "maximum": limits.most}
    is_delay = "->" in name
    return {
        key: time_text(round(end)) if is_delay else end
        for key, end in ends.items()
        if math.isfinite(end)
    }


def _content(system: System, folder: Path, *, connectors: bool) -> Data:
    nested = {
        name: _present_entries(description=inner.description or None)
        | _content(inner, folder, connectors=connectors)
        for name, inner in system.systems.items()
    }
    parts = {
        "connectors": _connectors(system.connectors),
        "values": {name: value_data(value) for name, value in system.values.items()},
        "power": {name: _port(port) for name, port in system.power_ports.items()},
        "component": {
            name: _component(part, folder, connectors=connectors)
            for name, part in system.components.items()
        },
        "nested": nested,
        "bus": {name: _bus(bus) for name, bus in system.buses.items()},
        "connections": _connections(system),
    }
    return {key: part for key, part in parts.items() if part}


def _connectors(connectors: Mapping[str, Connector]) -> Data:
    return {name: _connector(connector) for name, connector in connectors.items()}


def _component(component: Component, folder: Path, *, connectors: bool) -> Data:
    values = {name: value_data(value) for name, value in component.values.items()}
    power = {name: _port(port) for name, port in component.power_ports.items()}
    return _present_entries(
        source=_source(component, folder),
        values=values or None,
        options=component.options.differing() or None,
        power=power or None,
        connectors=(_connectors(component.connectors) or None) if connectors else None,
    )


def _source(component: Component, folder: Path) -> str:
    try:
        source = component.source.without_class()
    except DescriptionError as error:
        raise type(error)(f"component '{component.name}': {error}") from None
    if source.inner is not None:
        source = source.around(_relative(source.inner, folder))
    return str(_relative(source, folder))


def _relative(source: Source, folder: Path) -> Source:
    if source.file is None:
        return source
    try:
        path = os.path.relpath(source.file.resolve(), folder.resolve())
    except ValueError:  # on another drive of Windows
        path = str(source.file.resolve())
    return source.with_file(Path(path).as_posix())


def _port(port: PowerPort) -> Data:
    return _present_entries(
        effort=_names(port.effort),
        flow=_names(port.flow),
        displacement=_names(port.displacement) if port.displacement else None,
        frame=port.frame,
        positive=port.positive,
    )


def _names(names: tuple[str, ...]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)


def _connector(connector: Connector) -> Data:
    enumeration, unit = connector.enumeration, connector.unit_definition
    continuous = connector.variability is Variability.CONTINUOUS
    return _present_entries(
        causality=connector.causality,
        type=None if connector.type is DataType.REAL else connector.type,
        unit=connector.unit,
        shape=list(connector.shape) or None,
        description=connector.description or None,
        start=None if connector.start is None else value_data(connector.start),
        variability=None if continuous else connector.variability,
        enumeration=enumeration and {"name": enumeration.name, "items": dict(enumeration.items)},
        unit_definition=unit and _unit(unit),
    )


def _unit(unit: BaseUnit) -> Data:
    return {"exponents": dict(unit.exponents), "factor": unit.factor, "offset": unit.offset}


def _bus(bus: Bus) -> Data:
    return _present_entries(
        dictionary=bus.dictionary, connectors=_connectors(bus.connectors) or None
    )


def value_data(value: Value) -> Any:
    """Return a value as TOML has it."""
    if isinstance(value, tuple):
        return [value_data(element) for element in value]
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def _connections(system: System) -> Data:
    tables: Data = {}
    for line in system.connections:
        key = str(line)
        ends = str(line.source), str(line.target)
        if key.count(ARROW) != 1 or any(end != end.strip() for end in ends):
            raise DescriptionError(
                f"connection '{key}': a system file cannot hold names with '{ARROW}' or with spaces"
                " around them; rename"
            )
        if key in tables:
            raise DescriptionError(
                f"connection {key}: is there twice; a system file names each once: remove one"
            )
        tables[key] = _line(line)
    return tables


def _line(line: Connection) -> Data:
    table: Data = {}
    for attribute, value in attributes_on(line):
        table |= attribute.settings(value)
    return table


def write_toml(system: System, path: str | Path, *, connectors: bool = True) -> None:
    """Write a system as a system file, with the FMUs' paths relative to it.

    Parameters
    ----------
    system
        The system. Reading the file gives an equal system, except for feed-through and start
        values, which come from the sources.
    path
        The file.
    connectors
        Declare the connectors of components. ``False``: a shorter file; a reader gets the
        connectors from the sources.

    Raises
    ------
    DescriptionError
        If a system file cannot hold the system.
    SspError
        If the file cannot be written; an old file is untouched.
    """
    path = Path(path)
    text = text_of(data_of(system, path.parent, connectors=connectors))
    with replacing(path) as file:
        file.write(text.encode())
