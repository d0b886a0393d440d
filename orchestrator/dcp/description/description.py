"""What a slave says of itself, as values (chapter 5 of the standard)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from uuid import UUID

from orchestrator.core.system import BaseUnit
from orchestrator.dcp.data_types import DcpType
from orchestrator.dcp.description.variable import StepChoice, Variable, VariableKind
from orchestrator.dcp.identifiers import LogLevel, OpMode, Transport

#: Bytes of a PDU that no attribute limits (the default of maxPduSize).
UDP_LIMIT = 65507
TCP_LIMIT = 4294967267


@dataclass(frozen=True, slots=True)
class Resolution:
    """One time resolution, in s."""

    numerator: int = 1
    denominator: int = 1000
    fixed: bool = True
    recommended: bool = False


@dataclass(frozen=True, slots=True)
class ResolutionRange:
    """Time resolutions of one denominator."""

    least: int
    most: int
    denominator: int


@dataclass(frozen=True, slots=True)
class PortRange:
    """Ports from one to another, both of them included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Ipv4:
    """How a slave is reached over UDP or TCP.

    Parameters
    ----------
    host, port
        Of control PDUs; ``None``: not said.
    data_host, parameter_host
        Of data and parameter PDUs.
    data_ports, parameter_ports
        That they can come in by; empty: not said.
    max_pdu_size
        In bytes.
    """

    host: str | None = None
    port: int | None = None
    data_host: str | None = None
    data_ports: tuple[PortRange, ...] = ()
    parameter_host: str | None = None
    parameter_ports: tuple[PortRange, ...] = ()
    max_pdu_size: int = UDP_LIMIT


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The capability flags of a slave."""

    accept_config_pdus: bool = False
    handle_reset: bool = False
    handle_variable_steps: bool = False
    monitor_heartbeat: bool = False
    log_on_request: bool = False
    log_on_notification: bool = False


@dataclass(frozen=True, slots=True)
class LogTemplate:
    """A log message with places for values, such as ``"at %float64 s: %string"``."""

    number: int
    category: int
    level: LogLevel
    message: str
    arguments: tuple[DcpType, ...] = ()


@dataclass(frozen=True, slots=True)
class SlaveDescription:
    """All of a description.

    Parameters
    ----------
    name, uuid
        Of the slave.
    variables
        In the order of the file.
    op_modes
        That it knows.
    nrt_steps
        Of one computation, in NRT.
    resolutions
        That it takes; empty: any.
    transports
        UDP and TCP over IPv4, of those that it speaks.
    capabilities
        Its flags.
    heartbeat
        Longest time between two INF_state, as numerator and denominator in s; ``None``: it has
        none.
    units
        By name; ``None`` where only the name is known.
    categories, templates
        Of its log.
    major, minor
        Version of DCP.
    description, tool
        For people.
    """

    name: str
    uuid: UUID
    variables: tuple[Variable, ...]
    op_modes: frozenset[OpMode]
    nrt_steps: StepChoice = field(default_factory=StepChoice)
    resolutions: tuple[Resolution | ResolutionRange, ...] = ()
    transports: Mapping[Transport, Ipv4] = field(default_factory=dict)
    capabilities: Capabilities = Capabilities()
    heartbeat: tuple[int, int] | None = None
    units: Mapping[str, BaseUnit | None] = field(default_factory=dict)
    categories: Mapping[int, str] = field(default_factory=dict)
    templates: tuple[LogTemplate, ...] = ()
    major: int = 1
    minor: int = 0
    description: str = ""
    tool: str = ""

    @property
    def by_reference(self) -> dict[int, Variable]:
        """Return the variables by value reference."""
        return {variable.reference: variable for variable in self.variables}

    def of(self, kind: VariableKind) -> list[Variable]:
        """Return the variables of one kind."""
        return [variable for variable in self.variables if variable.kind is kind]

    def shape(self, variable: Variable, values: Mapping[int, int] | None = None) -> tuple[int, ...]:
        """Return the extents of a variable."""
        known = self.by_reference
        given = values or {}
        return tuple(
            int(given.get(extent, known[extent].start[0])) if linked else extent
            for extent, linked in zip(variable.dimensions, variable.linked, strict=True)
        )

    def size(self, variable: Variable, values: Mapping[int, int] | None = None) -> int:
        """Return the number of elements of a variable; parameters as of :meth:`shape`."""
        return prod(self.shape(variable, values))

    def takes_resolution(self, numerator: int, denominator: int) -> bool:
        """Whether a time resolution may be set."""
        if numerator < 1 or denominator < 1:
            return False
        return not self.resolutions or any(
            _takes(known, numerator, denominator) for known in self.resolutions
        )

    @property
    def fixed_resolution(self) -> tuple[int, int] | None:
        """The time resolution that needs no CFG_time_res; ``None`` if it must be set."""
        if len(self.resolutions) != 1 or not isinstance(self.resolutions[0], Resolution):
            return None
        only = self.resolutions[0]
        return (only.numerator, only.denominator) if only.fixed else None


def _takes(known: Resolution | ResolutionRange, numerator: int, denominator: int) -> bool:
    if isinstance(known, Resolution):
        return known.numerator * denominator == numerator * known.denominator
    within = known.least <= numerator <= known.most
    return within and denominator == known.denominator
