"""What is asked of a slave and whether it has that, its data PDUs, its variables as connectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import AddressValueError

from orchestrator.core.diagnostics import DescriptionError, UnknownNameError, nearest
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
    about, transport = plan.about, plan.transport
    place = about.transports.get(transport, Ipv4())
    is_udp = transport is Transport.UDP_IPV4
    limit = min(place.max_pdu_size, MOST_BYTES) if is_udp else place.max_pdu_size
    inputs = tuple(_groups(about, plan.inputs, limit, 1, [1] * len(plan.inputs)))
    outputs = tuple(_groups(about, plan.outputs, limit, 1 + len(inputs), plan.paces))
    port = data_port(place, plan.port)
    host = place.data_host or place.host or "0.0.0.0"  # noqa: S104 # the slave's choice, as a field
    # The slave keeps its errors, category by category: DCPLib does not know 0 for all.
    categories = about.categories if about.capabilities.log_on_request else ()
    receipt = receipt_template(about)
    requests: list[Asked] = [
        *(
            (pdus.Logging, (each, LogLevel.ERROR, LogMode.ON_REQUEST))
            for each in categories
            if receipt is None or each != receipt.category
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


def data_port(place: Ipv4, control_port: int) -> int:
    """Return the port of the slave that data are sent to: that of control PDUs if it may be."""
    if not place.data_ports:
        return control_port
    if any(ports.first <= control_port <= ports.last for ports in place.data_ports):
        return control_port
    return max(place.data_ports[0].first, 1)


def _groups(
    about: SlaveDescription,
    variables: Sequence[SlaveVariable],
    limit: int,
    first: int,
    paces: Sequence[int],
) -> Iterator[VariableGroup]:
    """Put variables of one pace together, as many as fit."""
    number = first
    for pace in sorted(set(paces)):
        held: list[PayloadPlace] = []
        for variable in (v for v, own in zip(variables, paces, strict=True) if own == pace):
            place = PayloadPlace(variable.reference, variable.type, about.size(variable))
            if held and HEADER_BYTES + _bytes(about, [*held, place]) > limit:
                yield VariableGroup(number, Payload(held), pace)
                number, held = number + 1, []
            if HEADER_BYTES + _bytes(about, [place]) > limit:
                raise DescriptionError(
                    f"DCP slave '{about.name}': '{variable.name}' does not fit into a data PDU of"
                    f" {limit} bytes"
                )
            held.append(place)
        if held:
            yield VariableGroup(number, Payload(held), pace)
            number += 1


def _bytes(about: SlaveDescription, places: Sequence[PayloadPlace]) -> int:
    known = about.by_reference
    texts = sum(known[p.reference].max_size or 0 for p in places if p.type.is_text)
    return Payload(places).least_size + texts


def _of_inputs(
    groups: Iterable[VariableGroup], transport: Transport, port: int, host: str
) -> Iterator[Asked]:
    try:
        place = pdus.place_of(host, port)
    except AddressValueError:  # a name, which the slave knows itself
        place = pdus.place_of("0.0.0.0", port)  # noqa: S104
    for group in groups:
        yield pdus.ConfigureScope, (group.data_id, Scope.ALWAYS)
        for at, row in enumerate(group.payload.places):
            yield pdus.ConfigureInput, (group.data_id, at, row.reference, row.type)
        yield pdus.SourceNetworkInformation, (group.data_id, transport, place)


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


def chosen_resolution(about: SlaveDescription, wanted_s: float | None) -> tuple[int, int]:
    """Return the time resolution that a slave is set to."""
    known = about.resolutions
    single = [each for each in known if isinstance(each, Resolution)]
    if wanted_s is None:
        best = sorted(single, key=lambda each: not each.recommended)
        if best:
            return best[0].numerator, best[0].denominator
        ranges = [each for each in known if not isinstance(each, Resolution)]
        return (ranges[0].least, ranges[0].denominator) if ranges else (1, 1000)
    for each in single:
        if abs(each.numerator / each.denominator - wanted_s) <= 1e-12 * wanted_s:
            return each.numerator, each.denominator
    denominators = [each.denominator for each in known if not isinstance(each, Resolution)]
    for denominator in denominators or ([] if known else [10**9]):
        numerator = round(wanted_s * denominator)
        exact = numerator and abs(numerator / denominator - wanted_s) <= 1e-12 * wanted_s
        if exact and about.takes_resolution(numerator, denominator):
            return numerator, denominator
    raise DescriptionError(
        f"DCP slave '{about.name}': it does not take the time resolution {wanted_s:g} s; known:"
        f" {', '.join(f'{e.numerator}/{e.denominator} s' for e in single) or 'ranges only'}"
    )


_EMPTY: Mapping[DcpType, Scalar] = {DcpType.STRING: "", DcpType.BINARY: b""}


class SlavePlan(Struct):
    """What is asked of a slave, before anything is opened.

    about: The slave.
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

    about: SlaveDescription
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
        known = {variable.name: variable for variable in self.about.variables}
        for name, values in self.parameters.items():
            variable = known[name]
            content = b"".join(pack_value(variable.type, value) for value in values)
            yield pdus.SetParameter, (variable.reference, variable.type, content)


def make_plan(
    about: SlaveDescription,
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
    if mode not in about.op_modes:
        have = ", ".join(each.name for each in sorted(about.op_modes))
        problems.append(_about(about, f"it does not run in {mode.name}; it has {have}"))
    place = _transport(about, transport, problems)
    known = about.transports.get(place)
    found_host, found_port = host or (known and known.host), port or (known and known.port)
    if not found_host or not found_port:
        problems.append(_about(about, "its description has no host or port: give both"))
    chosen = (
        _chosen(about, VariableKind.INPUT, inputs, problems),
        _chosen(about, VariableKind.OUTPUT, outputs, problems),
    )
    problems += _unused_steps(about, mode, steps, chosen[1])
    if mode is OpMode.NRT and chosen[0] and not unconfirmed:
        problems += _loose_inputs(about, place, found_port or 0)
    values = {n: _value(about, n, v, problems) for n, v in (parameters or {}).items()}
    try:
        taken = chosen_resolution(about, resolution)
    except DescriptionError as error:
        problems.append(error)
    if problems:
        raise DescriptionError.collect(problems)
    return SlavePlan(
        about,
        mode,
        place,
        found_host or "",
        found_port or 0,
        *chosen,
        taken,
        steps,
        values,
        number,
        patience_s,
        unconfirmed,
    )


def _loose_inputs(
    about: SlaveDescription, transport: Transport, control_port: int
) -> list[DescriptionError]:
    """Return why inputs in NRT could be lost, or come after the step, without anybody noticing."""
    if receipt_template(about) is not None:
        return []
    is_udp = transport is Transport.UDP_IPV4
    port = data_port(about.transports.get(transport, Ipv4()), control_port)
    if not is_udp and port == control_port:
        return []
    how = "go by UDP" if is_udp else f"go by a connection of their own (port {port})"
    text = (
        f"its inputs {how} and it does not confirm them, so that a step could use old ones;"
        f" {'use TCP if it speaks that, or ' if is_udp else ''}set unconfirmed = true if the"
        " network neither loses nor delays anything"
    )
    return [_about(about, text)]


def _about(about: SlaveDescription, text: str) -> DescriptionError:
    return DescriptionError(f"DCP slave '{about.name}': {text}")


def _unused_steps(
    about: SlaveDescription, mode: OpMode, steps: int | None, outputs: tuple[SlaveVariable, ...]
) -> list[DescriptionError]:
    """Return why steps that are asked for would not be those of the outputs."""
    if steps is None:
        return []
    if mode is OpMode.NRT:
        text = f"steps {steps}: expected none in NRT, where the run says how far it steps"
        return [_about(about, text)]
    return [
        _about(about, f"steps {steps}: output '{each.name}' takes {each.steps} only")
        for each in outputs
        if not each.steps.takes(steps)
    ]


def _transport(
    about: SlaveDescription, wanted: Transport | None, problems: list[DescriptionError]
) -> Transport:
    if wanted is None:
        return next(iter(about.transports), Transport.UDP_IPV4)
    if about.transports and wanted not in about.transports:
        have = ", ".join(each.name for each in about.transports)
        problems.append(_about(about, f"it does not speak {wanted.name}; it has {have}"))
    return wanted


def _chosen(
    about: SlaveDescription,
    kind: VariableKind,
    names: tuple[str, ...],
    problems: list[DescriptionError],
) -> tuple[SlaveVariable, ...]:
    known = {variable.name: variable for variable in about.of(kind)}
    for name in names:
        if name not in known:
            text = f"it has no {kind.value} '{name}'{nearest(name, known)}"
            problems.append(UnknownNameError(f"DCP slave '{about.name}': {text}"))
    return tuple(known[name] for name in names or known if name in known)


def _value(
    about: SlaveDescription,
    name: str,
    value: Scalar | list[Scalar],
    problems: list[DescriptionError],
) -> Values:
    known = {v.name: v for v in about.variables if v.is_settable}
    if name not in known:
        text = f"DCP slave '{about.name}': it has no parameter '{name}'{nearest(name, known)}"
        problems.append(UnknownNameError(text))
        return ()
    variable = known[name]
    values = tuple(value) if isinstance(value, list) else (value,)
    wrong = next((r for v in values if (r := variable.type.refusal(v)) is not None), None)
    if wrong is None and len(values) != about.size(variable):
        wrong = f"expected {about.size(variable)} values"
    if wrong is None and variable.beyond_limits(values) is not None:
        wrong = f"expected {variable.minimum} to {variable.maximum}"
    if wrong is not None:
        problems.append(_about(about, f"parameter '{name}': {wrong}, found {value!r}"))
    return values


def started(about: SlaveDescription, variable: SlaveVariable) -> Values:
    """Return the start value of a variable, whole; what says none begins with 0, or empty."""
    size = about.size(variable)
    if not variable.start:
        return (_EMPTY.get(variable.type, 0),) * size
    return variable.start * size if len(variable.start) == 1 else variable.start


_TYPES = {DcpType.STRING: DataType.STRING, DcpType.BINARY: DataType.BINARY}


def connectors_of(plan: SlavePlan) -> tuple[Connector, ...]:
    """Return the connectors of a slave that is stepped: all data types, arrays as arrays."""
    return tuple(_connector(plan.about, each) for each in (*plan.inputs, *plan.outputs))


def _connector(about: SlaveDescription, variable: SlaveVariable) -> Connector:
    is_input = variable.kind is VariableKind.INPUT
    whole = DataType.INTEGER if variable.type.is_integer else DataType.REAL
    low, high = variable.minimum, variable.maximum
    limited = is_input and (low is None or low != high)
    return Connector(
        variable.name,
        Causality.INPUT if is_input else Causality.OUTPUT,
        _TYPES.get(variable.type, whole),
        unit=variable.unit,
        shape=about.shape(variable),
        description=variable.description,
        start=_start(about, variable),
        unit_definition=about.units.get(variable.unit) if variable.unit else None,
        limits=Limits.of(low, high) if limited else None,
    )


def _start(about: SlaveDescription, variable: SlaveVariable) -> Value:
    values = started(about, variable)
    if not (variable.type.is_text or variable.type.is_integer):
        values = tuple(float(value) for value in values)
    return values if about.shape(variable) else values[0]  # type: ignore[return-value]


def feedthrough_of(plan: SlavePlan) -> dict[str, tuple[str, ...]]:
    """Return for each output the inputs that act on it at once; all, if the slave does not say."""
    found = {}
    for output in plan.outputs:
        says = output.dependencies
        acting = None if says is None else says.run
        inputs = (one for one in plan.inputs if acting is None or one.reference in acting)
        found[output.name] = tuple(one.name for one in inputs)
    return found
