"""Check a request against a slave; plan its data PDUs, and its variables as connectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import AddressValueError

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, choices_for
from orchestrator.core.structs import Struct, field
from orchestrator.core.system import Causality, Connector, DataType, Value
from orchestrator.core.system.ports import Limits
from orchestrator.dcp import pdus
from orchestrator.dcp.data_types import (
    HEADER_BYTES,
    DcpType,
    Payload,
    PayloadPlace,
    Scalar,
    Values,
    pack_value,
)
from orchestrator.dcp.description import (
    Ipv4,
    LogTemplate,
    Resolution,
    SlaveDescription,
    SlaveVariable,
    VariableKind,
)
from orchestrator.dcp.identifiers import LogLevel, LogMode, OpMode, Scope, Transport
from orchestrator.dcp.log import receipt_template

#: Bytes of a data PDU over UDP at most: DCPLib reads 1024.
MOST_BYTES = 1000

#: A request without its sequence number and receiver: its class and its other fields.
Asked = tuple[type[pdus.Request], tuple[object, ...]]


class VariableGroup(Struct):
    """Variables that travel together.

    data_id: Of its PDUs.
    payload: Their layout.
    steps: Between two PDUs, of outputs in real time, in units of the resolution.
    """

    data_id: int
    payload: Payload
    steps: int = 1


class Rollout(Struct):
    """What is configured of a slave.

    inputs, outputs: Groups, each variable in one.
    port: Of the slave, that inputs are sent to.
    requests: That tell the slave, in order.
    confirmed: Whether the slave confirms each data PDU of inputs.
    """

    inputs: tuple[VariableGroup, ...]
    outputs: tuple[VariableGroup, ...]
    port: int
    requests: tuple[Asked, ...]
    confirmed: bool = False


def roll_out(plan: SlavePlan, here: tuple[str, int]) -> Rollout:
    """Lay out the data of a slave, which sends its own ``here``."""
    description, transport = plan.description, plan.transport
    address = description.transports.get(transport, Ipv4())
    is_udp = transport is Transport.UDP_IPV4
    limit = min(address.max_pdu_size, MOST_BYTES) if is_udp else address.max_pdu_size
    inputs = tuple(_groups(description, plan.inputs, limit, 1, [1] * len(plan.inputs)))
    outputs = tuple(_groups(description, plan.outputs, limit, 1 + len(inputs), plan.paces))
    port = data_port(address, plan.port)
    host = address.data_host or address.host or "0.0.0.0"  # noqa: S104 # the slave's choice, as a field
    # The slave keeps its errors, category by category: DCPLib does not know 0 for all.
    categories = description.categories if description.capabilities.log_on_request else ()
    receipt = receipt_template(description)
    requests: list[Asked] = [
        *(
            (pdus.Logging, (category, LogLevel.ERROR, LogMode.ON_REQUEST))
            for category in categories
            if receipt is None or category != receipt.category
        ),
        *_of_receipts(receipt),
        *plan.of_parameters(),
        (pdus.TimeRes, plan.resolution),
        *_of_inputs(inputs, transport, port, host),
        *_of_outputs(outputs, transport, here, in_time=plan.mode is not OpMode.NRT),
    ]
    return Rollout(inputs, outputs, port, tuple(requests), receipt is not None)


def _of_receipts(template: LogTemplate | None) -> Iterator[Asked]:
    if template is not None:
        yield pdus.Logging, (template.category, template.level, LogMode.ON_NOTIFICATION)


def data_port(address: Ipv4, control_port: int) -> int:
    """Return the port of the slave that data are sent to: that of control PDUs if it may be."""
    if not address.data_ports:
        return control_port
    if any(ports.first <= control_port <= ports.last for ports in address.data_ports):
        return control_port
    return max(address.data_ports[0].first, 1)


def _groups(
    description: SlaveDescription,
    variables: Sequence[SlaveVariable],
    limit: int,
    first: int,
    paces: Sequence[int],
) -> Iterator[VariableGroup]:
    """Put variables of one pace together, as many as fit."""
    number = first
    for pace in sorted(set(paces)):
        held: list[PayloadPlace] = []
        for variable in (
            v for v, own_pace in zip(variables, paces, strict=True) if own_pace == pace
        ):
            field = PayloadPlace(variable.reference, variable.type, description.size(variable))
            if held and HEADER_BYTES + _bytes(description, [*held, field]) > limit:
                yield VariableGroup(number, Payload(held), pace)
                number, held = number + 1, []
            if HEADER_BYTES + _bytes(description, [field]) > limit:
                raise DescriptionError(
                    f"DCP slave '{description.name}': '{variable.name}' does not fit into a"
                    f" data PDU of {limit} bytes"
                )
            held.append(field)
        if held:
            yield VariableGroup(number, Payload(held), pace)
            number += 1


def _bytes(description: SlaveDescription, values_in_payload: Sequence[PayloadPlace]) -> int:
    variables = description.by_reference
    texts = sum(variables[p.reference].max_size or 0 for p in values_in_payload if p.type.is_text)
    return Payload(values_in_payload).least_size + texts


def _of_inputs(
    groups: Iterable[VariableGroup], transport: Transport, port: int, host: str
) -> Iterator[Asked]:
    try:
        address = pdus.place_of(host, port)
    except AddressValueError:  # a name, which the slave knows itself
        address = pdus.place_of("0.0.0.0", port)  # noqa: S104
    for group in groups:
        yield pdus.ConfigureScope, (group.data_id, Scope.ALWAYS)
        for at, row in enumerate(group.payload.places):
            yield pdus.ConfigureInput, (group.data_id, at, row.reference, row.type)
        yield pdus.SourceNetworkInformation, (group.data_id, transport, address)


def _of_outputs(
    groups: Iterable[VariableGroup], transport: Transport, here: tuple[str, int], *, in_time: bool
) -> Iterator[Asked]:
    for group in groups:
        yield pdus.ConfigureScope, (group.data_id, Scope.ALWAYS)
        for at, row in enumerate(group.payload.places):
            yield pdus.ConfigureOutput, (group.data_id, at, row.reference)
        if in_time:
            yield pdus.Steps, (group.steps, group.data_id)
        yield pdus.TargetNetworkInformation, (group.data_id, transport, pdus.place_of(*here))


def chosen_resolution(description: SlaveDescription, wanted_s: float | None) -> tuple[int, int]:
    """Return the time resolution that a slave is set to."""
    resolutions = description.resolutions
    single = [resolution for resolution in resolutions if isinstance(resolution, Resolution)]
    if wanted_s is None:
        best = sorted(single, key=lambda resolution: not resolution.recommended)
        if best:
            return best[0].numerator, best[0].denominator
        ranges = [
            resolution for resolution in resolutions if not isinstance(resolution, Resolution)
        ]
        return (ranges[0].least, ranges[0].denominator) if ranges else (1, 1000)
    for resolution in single:
        if abs(resolution.numerator / resolution.denominator - wanted_s) <= 1e-12 * wanted_s:
            return resolution.numerator, resolution.denominator
    denominators = [
        resolution.denominator
        for resolution in resolutions
        if not isinstance(resolution, Resolution)
    ]
    for denominator in denominators or ([] if resolutions else [10**9]):
        numerator = round(wanted_s * denominator)
        exact = numerator and abs(numerator / denominator - wanted_s) <= 1e-12 * wanted_s
        if exact and description.takes_resolution(numerator, denominator):
            return numerator, denominator
    raise DescriptionError(
        f"DCP slave '{description.name}': it does not take the time resolution"
        f" {wanted_s:g} s; known:"
        f" {', '.join(f'{e.numerator}/{e.denominator} s' for e in single) or 'ranges only'}"
    )


_EMPTY: Mapping[DcpType, Scalar] = {DcpType.STRING: "", DcpType.BINARY: b""}


class SlavePlan(Struct):
    """The requested exchange with a slave, before anything is opened.

    description: The slave.
    mode: In which it runs.
    transport, host, port: How it is reached.
    inputs, outputs: That are exchanged, in this order.
    resolution: In s, numerator and denominator.
    steps: Between two data PDUs in real time; ``None``: what the outputs say.
    parameters: That are set, by name.
    number: Slave id.
    patience_s: How long an answer may take.
    unconfirmed: Whether inputs in NRT may go by a network that can lose or delay them, to a slave
        that does not confirm them.
    """

    description: SlaveDescription
    mode: OpMode
    transport: Transport
    host: str
    port: int
    inputs: tuple[SlaveVariable, ...]
    outputs: tuple[SlaveVariable, ...]
    resolution: tuple[int, int]
    steps: int | None = None
    parameters: Mapping[str, Values] = field(default_factory=dict)
    number: int = 1
    patience_s: float = 1.0
    unconfirmed: bool = False

    @property
    def paces(self) -> list[int]:
        """Steps between two data PDUs of each output."""
        return [
            v.steps.default if self.steps is None or v.steps.fixed else self.steps
            for v in self.outputs
        ]

    @property
    def period(self) -> float:
        """Time between two data PDUs of the outputs that come most often, in s."""
        numerator, denominator = self.resolution
        return min(self.paces, default=self.steps or 1) * numerator / denominator

    def of_parameters(self) -> Iterator[Asked]:
        """Yield the requests that set the parameters."""
        variables = {variable.name: variable for variable in self.description.variables}
        for name, values in self.parameters.items():
            variable = variables[name]
            content = b"".join(pack_value(variable.type, value) for value in values)
            yield pdus.SetParameter, (variable.reference, variable.type, content)


def make_plan(
    description: SlaveDescription,
    *,
    mode: OpMode,
    transport: Transport | None = None,
    host: str | None = None,
    port: int | None = None,
    inputs: tuple[str, ...] = (),
    outputs: tuple[str, ...] = (),
    resolution: float | None = None,
    steps: int | None = None,
    parameters: Mapping[str, Scalar | list[Scalar]] | None = None,
    number: int = 1,
    patience_s: float = 1.0,
    unconfirmed: bool = False,
) -> SlavePlan:
    """Make a plan of a slave; what is ``None`` is as its description says, no names are all."""
    problems: list[DescriptionError] = []
    if mode not in description.op_modes:
        have = ", ".join(entry.name for entry in sorted(description.op_modes))
        problems.append(_slave_error(description, f"it does not run in {mode.name}; it has {have}"))
    protocol = _transport(description, transport, problems)
    address = description.transports.get(protocol)
    found_host, found_port = host or (address and address.host), port or (address and address.port)
    if not found_host or not found_port:
        problems.append(_slave_error(description, "its description has no host or port: give both"))
    time_step = (
        _selected_variables(description, VariableKind.INPUT, inputs, problems),
        _selected_variables(description, VariableKind.OUTPUT, outputs, problems),
    )
    problems += _unused_steps(description, mode, steps, time_step[1])
    if mode is OpMode.NRT and time_step[0] and not unconfirmed:
        problems += _loose_inputs(description, protocol, found_port or 0)
    values = {n: _value(description, n, v, problems) for n, v in (parameters or {}).items()}
    try:
        taken = chosen_resolution(description, resolution)
    except DescriptionError as error:
        problems.append(error)
    if problems:
        raise DescriptionError.collect(problems)
    return SlavePlan(
        description,
        mode,
        protocol,
        found_host or "",
        found_port or 0,
        *time_step,
        taken,
        steps,
        values,
        number,
        patience_s,
        unconfirmed,
    )


def _loose_inputs(
    description: SlaveDescription, transport: Transport, control_port: int
) -> list[DescriptionError]:
    """Return why inputs in NRT could be lost, or come after the step, without anybody noticing."""
    if receipt_template(description) is not None:
        return []
    is_udp = transport is Transport.UDP_IPV4
    port = data_port(description.transports.get(transport, Ipv4()), control_port)
    if not is_udp and port == control_port:
        return []
    how = "go by UDP" if is_udp else f"go by a connection of their own (port {port})"
    text = (
        f"its inputs {how} and it does not confirm them, so that a step could use old ones;"
        f" {'use TCP if it speaks that, or ' if is_udp else ''}set unconfirmed = true if the"
        " network neither loses nor delays anything"
    )
    return [_slave_error(description, text)]


def _slave_error(description: SlaveDescription, text: str) -> DescriptionError:
    return DescriptionError(f"DCP slave '{description.name}': {text}")


def _unused_steps(
    description: SlaveDescription,
    mode: OpMode,
    steps: int | None,
    outputs: tuple[SlaveVariable, ...],
) -> list[DescriptionError]:
    """Return why the requested steps differ from the steps of the outputs."""
    if steps is None:
        return []
    if mode is OpMode.NRT:
        text = f"steps {steps}: expected none in NRT, where the run says how far it steps"
        return [_slave_error(description, text)]
    return [
        _slave_error(
            description, f"steps {steps}: output '{output.name}' takes {output.steps} only"
        )
        for output in outputs
        if not output.steps.takes(steps)
    ]


def _transport(
    description: SlaveDescription, requested: Transport | None, problems: list[DescriptionError]
) -> Transport:
    if requested is None:
        return next(iter(description.transports), Transport.UDP_IPV4)
    if description.transports and requested not in description.transports:
        have = ", ".join(offered.name for offered in description.transports)
        problems.append(
            _slave_error(description, f"it does not speak {requested.name}; it has {have}")
        )
    return requested


def _selected_variables(
    description: SlaveDescription,
    kind: VariableKind,
    names: tuple[str, ...],
    problems: list[DescriptionError],
) -> tuple[SlaveVariable, ...]:
    variables = {variable.name: variable for variable in description.of(kind)}
    for name in names:
        if name not in variables:
            choices = choices_for(name, variables, kind.value, "its")
            text = f"it has no {kind.value} '{name}'{choices}"
            problems.append(UnknownNameError(f"DCP slave '{description.name}': {text}"))
    return tuple(variables[name] for name in names or variables if name in variables)


def _value(
    description: SlaveDescription,
    name: str,
    value: Scalar | list[Scalar],
    problems: list[DescriptionError],
) -> Values:
    settable = {v.name: v for v in description.variables if v.is_settable}
    if name not in settable:
        choices = choices_for(name, settable, "parameter", "its")
        text = f"DCP slave '{description.name}': it has no parameter '{name}'{choices}"
        problems.append(UnknownNameError(text))
        return ()
    variable = settable[name]
    values = tuple(value) if isinstance(value, list) else (value,)
    error = next((r for v in values if (r := variable.type.refusal(v)) is not None), None)
    if error is None and len(values) != description.size(variable):
        error = f"expected {description.size(variable)} values"
    if error is None and variable.beyond_limits(values) is not None:
        error = f"expected {variable.minimum} to {variable.maximum}"
    if error is not None:
        problems.append(_slave_error(description, f"parameter '{name}': {error}, found {value!r}"))
    return values


def started(description: SlaveDescription, variable: SlaveVariable) -> Values:
    """Return the start value of a variable, whole; what says none begins with 0, or empty."""
    size = description.size(variable)
    if not variable.start:
        return (_EMPTY.get(variable.type, 0),) * size
    return variable.start * size if len(variable.start) == 1 else variable.start


_TYPES = {DcpType.STRING: DataType.STRING, DcpType.BINARY: DataType.BINARY}


def connectors_of(plan: SlavePlan) -> tuple[Connector, ...]:
    """Return the connectors of a slave that is stepped: all data types, arrays as arrays."""
    return tuple(
        _connector(plan.description, variable) for variable in (*plan.inputs, *plan.outputs)
    )


def _connector(description: SlaveDescription, variable: SlaveVariable) -> Connector:
    is_input = variable.kind is VariableKind.INPUT
    data_type = DataType.INTEGER if variable.type.is_integer else DataType.REAL
    low, high = variable.minimum, variable.maximum
    limited = is_input and (low is None or low != high)
    return Connector(
        variable.name,
        Causality.INPUT if is_input else Causality.OUTPUT,
        _TYPES.get(variable.type, data_type),
        unit=variable.unit,
        shape=description.shape(variable),
        description=variable.description,
        start=_start(description, variable),
        unit_definition=description.units.get(variable.unit) if variable.unit else None,
        limits=Limits.of(low, high) if limited else None,
    )


def _start(description: SlaveDescription, variable: SlaveVariable) -> Value:
    values = started(description, variable)
    if not (variable.type.is_text or variable.type.is_integer):
        values = tuple(float(value) for value in values)
    return values if description.shape(variable) else values[0]  # type: ignore[return-value]


def feedthrough_of(plan: SlavePlan) -> dict[str, tuple[str, ...]]:
    """Return for each output the inputs that act on it at once; all, if the slave does not say."""
    inputs_of = {}
    for output in plan.outputs:
        says = output.dependencies
        acting = None if says is None else says.run
        inputs = (
            variable for variable in plan.inputs if acting is None or variable.reference in acting
        )
        inputs_of[output.name] = tuple(variable.name for variable in inputs)
    return inputs_of
