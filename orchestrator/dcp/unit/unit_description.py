"""The description of a slave from that of a unit."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from orchestrator.core.diagnostics import CapabilityError
from orchestrator.core.simunits import UnitDescription
from orchestrator.core.system import BaseUnit, Causality, Connector, DataType
from orchestrator.core.system.units.unit import base_said
from orchestrator.dcp.data_types import DcpType, Scalar
from orchestrator.dcp.description import (
    Capabilities,
    Dependencies,
    Ipv4,
    LogTemplate,
    PortRange,
    Resolution,
    SlaveDescription,
    StepChoice,
    Variable,
    VariableKind,
    write_dcpx,
)
from orchestrator.dcp.identifiers import LogLevel, OpMode, Transport
from orchestrator.dcp.slave.conduct import ERROR_ENTRY

_KINDS = {
    Causality.INPUT: VariableKind.INPUT,
    Causality.OUTPUT: VariableKind.OUTPUT,
    Causality.PARAMETER: VariableKind.PARAMETER,
}
_EMPTY: Mapping[DcpType, Scalar] = {
    DcpType.FLOAT64: 0.0,
    DcpType.STRING: "",
    DcpType.BINARY: b"",
}
#: Any whole number of steps that a message can have and an hour of 1 ns does not pass.
_MOST_STEPS = 10**9
_NAMESPACE = uuid.UUID("6d7f4b1c-92a5-5c3e-8f0a-1d4e2b7c9a60")
_NS = 10**9


def describe_slave(
    name: str,
    unit: UnitDescription,
    step_ns: int,
    modes: frozenset[OpMode],
    heartbeat_s: float | None,
    transport: Transport,
    place: tuple[str, int],
) -> SlaveDescription:
    """Describe a unit as a slave.

    Its value references count its connectors; its UUID is a fingerprint of all but its address.
    """
    connectors = [c for c in unit.connectors.values() if c.causality in _KINDS]
    clocks = [c.name for c in connectors if c.type is DataType.CLOCK]
    if clocks:
        raise CapabilityError(
            f"'{name}': {', '.join(clocks)}: a clock; DCP has no data type for it, remove it"
        )
    numbers = {connector.name: number for number, connector in enumerate(connectors, 1)}
    resolution = Fraction(step_ns, _NS)
    units = dict(_units(connectors))
    about = SlaveDescription(
        name=name,
        uuid=_NAMESPACE,
        variables=tuple(_variable(c, numbers, unit, units) for c in connectors),
        op_modes=modes,
        nrt_steps=StepChoice(1, fixed=False, least=1, most=_MOST_STEPS),
        resolutions=(Resolution(resolution.numerator, resolution.denominator, fixed=True),),
        capabilities=Capabilities(
            accept_config_pdus=True,
            handle_reset=True,
            handle_variable_steps=True,
            monitor_heartbeat=heartbeat_s is not None,
            log_on_request=True,
            log_on_notification=True,
        ),
        heartbeat=None if heartbeat_s is None else _fraction(heartbeat_s),
        units=units,
        categories={1: "slave"},
        templates=(LogTemplate(ERROR_ENTRY, 1, LogLevel.FATAL, "%string", (DcpType.STRING,)),),
        tool="Softdock",
    )
    print_of = uuid.uuid5(_NAMESPACE, write_dcpx(about).decode())
    return replace(about, uuid=print_of, transports={transport: ipv4(*place)})


def ipv4(host: str, port: int) -> Ipv4:
    """Return how a slave is reached: data come in by the port of the control PDUs, so in order."""
    ports = (PortRange(port, port),) if port else ()
    return Ipv4(host, port or None, host, ports, host, ports, max_pdu_size=65507)


def _fraction(seconds: float) -> tuple[int, int]:
    found = Fraction(seconds).limit_denominator(1000)
    return max(found.numerator, 1), found.denominator


def _units(connectors: list[Connector]) -> Iterator[tuple[str, BaseUnit | None]]:
    for connector in connectors:
        if connector.unit is not None:
            yield connector.unit, connector.unit_definition or base_said(connector.unit)


def _variable(
    connector: Connector,
    numbers: Mapping[str, int],
    unit: UnitDescription,
    units: Mapping[str, BaseUnit | None],
) -> Variable:
    kind, held = _KINDS[connector.causality], type_of(connector)
    is_output, is_parameter = kind is VariableKind.OUTPUT, kind is VariableKind.PARAMETER
    low, high = _limits(connector, held)
    return Variable(
        name=connector.name,
        reference=numbers[connector.name],
        kind=kind,
        type=held,
        start=() if is_output else _start(connector, held),
        dimensions=connector.shape,
        linked=(False,) * len(connector.shape),
        unit=connector.unit if held is DcpType.FLOAT64 and connector.unit in units else None,
        minimum=low,
        maximum=high,
        variability="fixed" if is_parameter else "continuous",
        steps=StepChoice(1, fixed=False, least=1, most=_MOST_STEPS) if is_output else StepChoice(),
        dependencies=_dependencies(connector, numbers, unit) if is_output else None,
        description=" ".join(connector.description.split()),
    )


def type_of(connector: Connector) -> DcpType:
    """Return the data type of a connector: a Boolean is a uint8, 0 or 1."""
    if connector.type is DataType.INTEGER:
        low, high = DcpType.INT32.range
        limits = connector.limits
        small = limits is not None and low <= limits.least and limits.most <= high
        return DcpType.INT32 if small else DcpType.INT64
    return {
        DataType.REAL: DcpType.FLOAT64,
        DataType.BOOLEAN: DcpType.UINT8,
        DataType.STRING: DcpType.STRING,
        DataType.BINARY: DcpType.BINARY,
    }[connector.type]


def _limits(connector: Connector, kind: DcpType) -> tuple[float | None, float | None]:
    if connector.type is DataType.BOOLEAN:
        return 0, 1
    if connector.limits is None or kind.is_text:
        return None, None
    low, high = connector.limits.least, connector.limits.most
    infinite = float("inf")
    return None if low == -infinite else low, None if high == infinite else high


def _start(connector: Connector, kind: DcpType) -> tuple[Scalar, ...]:
    value = connector.start
    if value is None:
        return (_EMPTY.get(kind, 0),) * (connector.size if not kind.is_text else 1)
    values = value if isinstance(value, tuple) else (value,)
    return tuple(int(v) if kind.is_integer else v for v in values)


def _dependencies(
    connector: Connector, numbers: Mapping[str, int], unit: UnitDescription
) -> Dependencies:
    found = tuple(
        numbers[name] for name in unit.feedthrough.get(connector.name, ()) if name in numbers
    )
    return Dependencies(None, found)
