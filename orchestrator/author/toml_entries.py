"""What the tables of a system file describe: connectors, values, power ports, connections."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.author.tables import (
    Bytes,
    ConnectionTable,
    ConnectorTable,
    DelayTable,
    Element,
    PowerTable,
    Setting,
)
from orchestrator.core.diagnostics import DescriptionError
from orchestrator.core.system import (
    BaseUnit,
    Causality,
    Connection,
    Connector,
    DataType,
    DelayTrace,
    Enumeration,
    Jitter,
    PowerPort,
    System,
    TransportDelay,
    Value,
    Variability,
    Variation,
    nanoseconds,
)

#: Between the two ends of a connection.
ARROW = " -> "


def power_ports(
    tables: Mapping[str, PowerTable], connectors: Mapping[str, Connector], owner: str
) -> dict[str, PowerPort]:
    """Make the power ports of a component or system; connectors that are declared are checked."""
    found = {}
    for name, table in tables.items():
        port = PowerPort.of(
            name,
            table.effort,
            table.flow,
            displacement=table.displacement,
            frame=table.frame,
            positive=table.positive,
        )
        missing = [each for each in port.connectors if connectors and each not in connectors]
        if missing:
            raise DescriptionError(
                f"power port '{name}': {owner} has no connector '{missing[0]}'; it has:"
                f" {', '.join(connectors)}"
            )
        found[name] = port
    return found


def connectors_of(tables: Mapping[str, ConnectorTable]) -> dict[str, Connector]:
    """Make declared connectors."""
    return {name: _connector(name, table) for name, table in tables.items()}


def _connector(name: str, table: ConnectorTable) -> Connector:
    unit, named = table.unit_definition, table.enumeration
    return Connector(
        name,
        Causality(table.causality),
        DataType(table.type),
        table.unit,
        table.shape,
        table.description,
        None if table.start is None else _value(table.start),
        Variability(table.variability),
        None if named is None else Enumeration(named.name, named.items),
        None
        if unit is None
        else BaseUnit(
            {str(name): power for name, power in unit.exponents.items()}, unit.factor, unit.offset
        ),
    )


def values_of(settings: Mapping[str, Setting]) -> dict[str, Value]:
    """Make values of settings: of arrays tuples, of hexadecimal digits bytes."""
    return {name: _value(setting) for name, setting in settings.items()}


def _value(setting: Setting) -> Value:
    if isinstance(setting, tuple):
        return tuple(_element(element) for element in setting)  # type: ignore[return-value]
    return _element(setting)


def _element(element: Element) -> bool | int | float | str | bytes:
    if not isinstance(element, Bytes):
        return element
    try:
        return bytes.fromhex(element.hex)
    except ValueError:
        raise DescriptionError(f"hex: expected pairs of digits, found {element.hex!r}") from None


def connection_of(key: str, table: ConnectionTable, folder: Path) -> Connection:
    """Make the connection of a key such as ``"a.out -> b.in"``."""
    source, arrow, target = key.partition(ARROW)
    if not arrow or ARROW in target:
        raise DescriptionError("expected 'component.connector -> component.connector'")
    delay = table.delay
    system = System("line").connect(
        source.strip(),
        target.strip(),
        delay=_delay(delay, folder) if isinstance(delay, DelayTable) else delay,
        factor=table.factor,
        offset=table.offset,
        mapping=None if table.mapping is None else dict(table.mapping),
        interpolation=table.interpolation,
        extrapolation=table.extrapolation,
        suppress_unit_conversion=table.suppress_unit_conversion,
        compensation=table.compensation,
    )
    return system.connections[0]


def _delay(table: DelayTable, folder: Path) -> TransportDelay:
    told = {"jitter", "trace", "loss", "seed", "delivery", "newest", "interpolated"}
    if not told & table.model_fields_set:
        return TransportDelay.of(
            table.nominal, table.provenance, device=table.device, date=table.date
        )
    jitter = None
    if table.jitter is not None:
        more: dict[str, Any] = {"kind": table.jitter.kind}
        if table.jitter.shape is not None:
            more["shape"] = float(table.jitter.shape)
        spread_ns = nanoseconds(table.jitter.spread, "spread")
        correlation_ns = nanoseconds(table.jitter.correlation, "correlation")
        jitter = Jitter(spread_ns=spread_ns, correlation_ns=correlation_ns, **more)
    trace = None
    if isinstance(table.trace, str):
        trace = DelayTrace.read(folder / table.trace, interpolated=table.interpolated)
    elif table.trace is not None:
        trace = DelayTrace.of(table.trace, interpolated=table.interpolated)
    words: dict[str, Any] = {"delivery": table.delivery, "newest": table.newest}
    said = {key: word for key, word in words.items() if word is not None}
    variation = Variation(jitter, trace, table.loss, table.seed, **said)
    return TransportDelay.of(
        table.nominal,
        table.provenance,
        variation=variation,
        device=table.device,
        date=table.date,
    )
