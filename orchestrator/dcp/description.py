"""What a slave says of itself and its variables, as values (chapter 5), and what contradicts it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from math import prod
from uuid import UUID

from orchestrator.core.diagnostics import counted
from orchestrator.core.structs import Struct, field
from orchestrator.core.system import BaseUnit
from orchestrator.dcp.data_types import DcpType, Scalar
from orchestrator.dcp.identifiers import LogLevel, OpMode, Transport


class VariableKind(StrEnum):
    """What a variable is, by the name of its element."""

    INPUT = "Input"
    OUTPUT = "Output"
    PARAMETER = "Parameter"
    STRUCTURAL = "StructuralParameter"


class PduSteps(Struct):
    """Steps between two data PDUs of an output, or of one computation (NRT).

    default: In units of the time resolution.
    fixed: Whether no other number is taken.
    least, most: Ends of what is taken; ``None``: not said.
    """

    default: int = 1
    fixed: bool = True
    least: int | None = None
    most: int | None = None

    def takes(self, steps: int) -> bool:
        """Whether the slave accepts a number of steps."""
        if self.fixed:
            return steps == self.default
        return self._lowest <= steps and (self.most is None or steps <= self.most)

    @property
    def _lowest(self) -> int:
        return max(self.least or 1, 1)

    def __str__(self) -> str:
        """Say what is taken, for a message."""
        if self.fixed:
            return f"{self.default}"
        return f"{self._lowest} or more" if self.most is None else f"{self._lowest} to {self.most}"


class Dependencies(Struct):
    """On which variables an output depends at once, by reference; ``None``: perhaps on all."""

    initialization: tuple[int, ...] | None = None
    run: tuple[int, ...] | None = None


class SlaveVariable(Struct):
    """One input, output or parameter.

    name, reference, kind, type: As the description has them; name and reference are unique.
    start: Its elements, row by row; empty if it has none.
    dimensions: Extents: constants, or the value references of structural parameters (``linked``).
    linked: Which of the dimensions are references.
    unit: Name of a unit, ``None`` if it has none.
    minimum, maximum: Of each element; ``None``: not said.
    max_size: Bytes of a string or binary at most.
    variability: ``continuous``, ``discrete``, ``tunable`` or ``fixed``.
    max_missed: How many data PDUs in a row an input may miss; ``None``: any number.
    steps: Of an output: how often it is sent.
    initialization_only: Of an output: it never changes after the initialisation.
    dependencies: Of an output; ``None``: not declared.
    description: One line for people.
    """

    name: str
    reference: int
    kind: VariableKind
    type: DcpType
    start: tuple[Scalar, ...] = ()
    dimensions: tuple[int, ...] = ()
    linked: tuple[bool, ...] = ()
    unit: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    max_size: int | None = None
    variability: str = "continuous"
    max_missed: int | None = None
    steps: PduSteps = PduSteps()
    initialization_only: bool = False
    dependencies: Dependencies | None = None
    description: str = ""

    @property
    def is_tunable(self) -> bool:
        """Whether it is a parameter that may change during a run."""
        return self.kind is VariableKind.PARAMETER and self.variability == "tunable"

    @property
    def is_settable(self) -> bool:
        """Whether CFG_parameter may set it."""
        return self.kind in {VariableKind.PARAMETER, VariableKind.STRUCTURAL}

    def beyond_limits(self, values: tuple[Scalar, ...]) -> Scalar | None:
        """Return the first value that is not between minimum and maximum."""
        low = -float("inf") if self.minimum is None else self.minimum
        high = float("inf") if self.maximum is None else self.maximum
        if self.type.is_text:
            return None
        return next((v for v in values if not low <= v <= high), None)  # type: ignore[operator]


#: Bytes of a PDU that no attribute limits (the default of maxPduSize).
UDP_LIMIT = 65507
TCP_LIMIT = 4294967267


class Resolution(Struct):
    """One time resolution, in s."""

    numerator: int = 1
    denominator: int = 1000
    fixed: bool = True
    recommended: bool = False

    def takes(self, numerator: int, denominator: int) -> bool:
        """Whether a resolution is this one."""
        return self.numerator * denominator == numerator * self.denominator


class ResolutionRange(Struct):
    """Time resolutions of one denominator."""

    least: int
    most: int
    denominator: int

    def takes(self, numerator: int, denominator: int) -> bool:
        """Whether a resolution is one of these."""
        return self.least <= numerator <= self.most and denominator == self.denominator


class PortRange(Struct):
    """Ports from one to another, both of them included."""

    first: int
    last: int


class Ipv4(Struct):
    """How a slave is reached over UDP or TCP.

    host, port: Of control PDUs; ``None``: not said.
    data_host, parameter_host: Of data and parameter PDUs.
    data_ports, parameter_ports: That they can come in by; empty: not said.
    max_pdu_size: In bytes.
    """

    host: str | None = None
    port: int | None = None
    data_host: str | None = None
    data_ports: tuple[PortRange, ...] = ()
    parameter_host: str | None = None
    parameter_ports: tuple[PortRange, ...] = ()
    max_pdu_size: int = UDP_LIMIT


class SlaveCapabilities(Struct):
    """The capability flags of a slave."""

    accept_config_pdus: bool = False
    handle_reset: bool = False
    handle_variable_steps: bool = False
    monitor_heartbeat: bool = False
    log_on_request: bool = False
    log_on_notification: bool = False


#: Names in a description, by the field of :class:`SlaveCapabilities`.
FLAGS = {
    "accept_config_pdus": "canAcceptConfigPdus",
    "handle_reset": "canHandleReset",
    "handle_variable_steps": "canHandleVariableSteps",
    "monitor_heartbeat": "canMonitorHeartbeat",
    "log_on_request": "canProvideLogOnRequest",
    "log_on_notification": "canProvideLogOnNotification",
}
#: The same of operating modes, and of the transport protocols that are spoken here.
MODES = {
    OpMode.HRT: "HardRealTime",
    OpMode.SRT: "SoftRealTime",
    OpMode.NRT: "NonRealTime",
}
TRANSPORTS = {Transport.UDP_IPV4: "UDP_IPv4", Transport.TCP_IPV4: "TCP_IPv4"}


class LogTemplate(Struct):
    """A log message with places for values, such as ``"at %float64 s: %string"``."""

    number: int
    category: int
    level: LogLevel
    message: str
    arguments: tuple[DcpType, ...] = ()


class SlaveDescription(Struct):
    """All of a description.

    name, uuid: Of the slave.
    variables: In the order of the file.
    op_modes: That it knows.
    nrt_steps: Of one computation, in NRT.
    resolutions: That it takes; empty: any.
    transports: UDP and TCP over IPv4, if the slave supports them.
    capabilities: Its flags.
    heartbeat: Longest time between two INF_state, as numerator and denominator in s; ``None``: it
        has none.
    units: By name; ``None`` where only the name is known.
    categories, templates: Of its log.
    major, minor: Version of DCP.
    description, tool: For people.
    """

    name: str
    uuid: UUID
    variables: tuple[SlaveVariable, ...]
    op_modes: frozenset[OpMode]
    nrt_steps: PduSteps = field(default_factory=PduSteps)
    resolutions: tuple[Resolution | ResolutionRange, ...] = ()
    transports: Mapping[Transport, Ipv4] = field(default_factory=dict)
    capabilities: SlaveCapabilities = SlaveCapabilities()
    heartbeat: tuple[int, int] | None = None
    units: Mapping[str, BaseUnit | None] = field(default_factory=dict)
    categories: Mapping[int, str] = field(default_factory=dict)
    templates: tuple[LogTemplate, ...] = ()
    major: int = 1
    minor: int = 0
    description: str = ""
    tool: str = ""

    @property
    def by_reference(self) -> dict[int, SlaveVariable]:
        """Return the variables by value reference."""
        return {variable.reference: variable for variable in self.variables}

    def of(self, kind: VariableKind) -> list[SlaveVariable]:
        """Return the variables of one kind."""
        return [variable for variable in self.variables if variable.kind is kind]

    def shape(
        self, variable: SlaveVariable, values: Mapping[int, int] | None = None
    ) -> tuple[int, ...]:
        """Return the extents of a variable."""
        variables = self.by_reference
        overrides = values or {}
        return tuple(
            int(overrides.get(extent, variables[extent].start[0])) if linked else extent
            for extent, linked in zip(variable.dimensions, variable.linked, strict=True)
        )

    def size(self, variable: SlaveVariable, values: Mapping[int, int] | None = None) -> int:
        """Return the number of elements of a variable; parameters as of :meth:`shape`."""
        return prod(self.shape(variable, values))

    def takes_resolution(self, numerator: int, denominator: int) -> bool:
        """Whether a time resolution may be set."""
        if numerator < 1 or denominator < 1:
            return False
        return not self.resolutions or any(
            resolution.takes(numerator, denominator) for resolution in self.resolutions
        )

    @property
    def fixed_resolution(self) -> tuple[int, int] | None:
        """The time resolution that needs no CFG_time_res; ``None`` if it must be set."""
        if len(self.resolutions) != 1 or not isinstance(self.resolutions[0], Resolution):
            return None
        only = self.resolutions[0]
        return (only.numerator, only.denominator) if only.fixed else None


#: Elements of one array, so that a few bytes of a file cannot ask for all memory.
MOST_ELEMENTS = 100_000


def contradictions(description: SlaveDescription) -> Iterator[str]:
    """Yield everything in a description that cannot hold together, a sentence each."""
    yield from _of_the_slave(description)
    yield from _of_time(description)
    yield from _of_ports(description)
    yield from _of_log(description)
    yield from _twice("variables are called", (v.name for v in description.variables))
    yield from _twice(
        "variables have the value reference", (v.reference for v in description.variables)
    )
    variables = description.by_reference
    for variable in description.variables:
        for text in _of_variable(variable, variables, description):
            yield f"variable '{variable.name}': {text}"


def _of_the_slave(description: SlaveDescription) -> Iterator[str]:
    if (description.major, description.minor) != (1, 0):
        yield f"expected DCP 1.0, found version {description.major}.{description.minor}"
    if not description.op_modes:
        yield "expected an operating mode at least, found none"
    has_beat = description.heartbeat is not None
    if description.capabilities.monitor_heartbeat is not has_beat:
        verb = "has" if has_beat else "lacks"
        flag = str(description.capabilities.monitor_heartbeat).lower()
        yield f"it {verb} <Heartbeat>, and says canMonitorHeartbeat='{flag}'"
    logs = description.capabilities.log_on_request or description.capabilities.log_on_notification
    if logs and not description.templates:
        yield "it says that it provides logs, and has no <Log>"
    yield from _of_steps("NonRealTime", description.nrt_steps)


def _of_steps(who: str, steps: PduSteps) -> Iterator[str]:
    if steps.fixed and (steps.least is not None or steps.most is not None):
        yield f"{who}: its steps are fixed (fixedSteps), and it has minSteps or maxSteps"
    if steps.least is not None and steps.most is not None and steps.most < steps.least:
        yield f"{who}: minSteps is {steps.least}, beyond maxSteps {steps.most}"
    elif not steps.fixed and not steps.takes(steps.default):
        yield f"{who}: defaultSteps {steps.default} is not between minSteps and maxSteps"


def _of_time(description: SlaveDescription) -> Iterator[str]:
    for resolution in description.resolutions:
        if isinstance(resolution, ResolutionRange) and resolution.least > resolution.most:
            yield (
                f"ResolutionRange: numeratorFrom {resolution.least} is beyond"
                f" numeratorTo {resolution.most}"
            )
    fixed = sum(isinstance(entry, Resolution) and entry.fixed for entry in description.resolutions)
    if fixed and len(description.resolutions) > 1:
        yield "TimeRes: a resolution is fixed, and there are others"


def _of_ports(description: SlaveDescription) -> Iterator[str]:
    for transport, address in description.transports.items():
        for ports in (*address.data_ports, *address.parameter_ports):
            if ports.first > ports.last:
                yield f"{transport.name}: a range of ports from {ports.first} to {ports.last}"


def _of_log(description: SlaveDescription) -> Iterator[str]:
    yield from _twice("log templates have the id", (t.number for t in description.templates))
    for template in description.templates:
        if template.category not in description.categories:
            yield f"log template {template.number}: there is no category {template.category}"


def _of_variable(
    variable: SlaveVariable, variables: dict[int, SlaveVariable], description: SlaveDescription
) -> Iterator[str]:
    yield from _of_kind(variable)
    yield from _of_steps("Output", variable.steps)
    if variable.unit is not None and variable.unit not in description.units:
        yield f"its unit '{variable.unit}' is not among <UnitDefinitions>"
    low, high = variable.minimum, variable.maximum
    if low is not None and high is not None and low > high:
        yield f"its min {low:g} is beyond its max {high:g}"
    elif (beyond := variable.beyond_limits(variable.start)) is not None:
        yield f"its start {beyond!r} is not between its min and max"
    yield from _of_extents(variable, variables, description)
    if variable.dependencies is not None:
        yield from _of_dependencies(variable, variable.dependencies, variables)


def _of_kind(variable: SlaveVariable) -> Iterator[str]:
    is_parameter = variable.is_settable
    allowed = ("fixed", "tunable") if is_parameter else ("continuous", "discrete")
    if variable.variability not in allowed:
        yield (
            f"the variability of an {variable.kind} is {' or '.join(allowed)}, found"
            f" '{variable.variability}'"
        )
    if variable.max_missed is not None and variable.kind is VariableKind.OUTPUT:
        yield "maxConsecMissedPdus is not allowed at an output"
    if not variable.start and variable.kind is not VariableKind.OUTPUT:
        yield f"an {variable.kind} needs a start value"
    if variable.kind is VariableKind.STRUCTURAL and variable.start and variable.start[0] == 0:
        yield "a structural parameter begins with 1 at least, found 0"


def _of_extents(
    variable: SlaveVariable, variables: dict[int, SlaveVariable], description: SlaveDescription
) -> Iterator[str]:
    if variable.dimensions and variable.type.is_text:
        yield f"a {variable.type.element} has no dimensions"
        return
    for extent, linked in zip(variable.dimensions, variable.linked, strict=True):
        if not linked:
            continue
        target = variables.get(extent)
        if target is None or target.kind is not VariableKind.STRUCTURAL or not target.start:
            yield f"linkedVR {extent} is not a structural parameter"
            return
    size = description.size(variable)
    if size > MOST_ELEMENTS:
        yield f"it has {size} elements; expected {MOST_ELEMENTS} at most"
    elif len(variable.start) not in {0, 1, size}:
        yield f"its start has {counted(len(variable.start), 'value')}; expected {size}"
    content = variable.start[0] if variable.start else ""
    if variable.max_size is not None and variable.type.is_text:
        length = len(content.encode() if isinstance(content, str) else bytes(content))  # type: ignore[arg-type]
        if length > variable.max_size:
            yield f"its start has {length} bytes, beyond its maxSize {variable.max_size}"


def _of_dependencies(
    variable: SlaveVariable, says: Dependencies, variables: dict[int, SlaveVariable]
) -> Iterator[str]:
    if variable.initialization_only and says.run is not None:
        yield "it never changes after the initialisation, and has dependencies there"
    for reference in (*(says.initialization or ()), *(says.run or ())):
        target = variables.get(reference)
        if target is None or target.kind is VariableKind.OUTPUT:
            yield f"it depends on the value reference {reference}, no input or parameter"


def _twice(noun: str, values: Iterable[object]) -> Iterator[str]:
    for value, count in Counter(values).items():
        if count > 1:
            yield f"{count} {noun} '{value}'"


#: A place of a log message: the longest name of a type, else all letters and digits.
_PLACE = re.compile(
    f"%({'|'.join(sorted((kind.name.lower() for kind in DcpType), key=len, reverse=True))}"
    r"|[^\W_]*)"
)


def placeholders(message: str) -> tuple[tuple[DcpType, ...], list[str]]:
    """Return the types of the places of a log message, and what is no type behind a ``%``."""
    kinds, unknown = [], []
    for word in _PLACE.findall(message.replace("%%", "")):
        try:
            kinds.append(DcpType[word.upper()])
        except KeyError:
            unknown.append(word)
    return tuple(kinds), unknown
