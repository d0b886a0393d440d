"""How the inputs and outputs of a slave are laid out in data PDUs, and the requests that say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError

from orchestrator.core.diagnostics import DescriptionError
from orchestrator.dcp import pdus
from orchestrator.dcp.data_types import HEADER_BYTES, Payload, PayloadPlace
from orchestrator.dcp.description import (
    Ipv4,
    Resolution,
    SlaveDescription,
    SlaveVariable,
    VariableKind,
)
from orchestrator.dcp.identifiers import LogLevel, LogMode, OpMode, Scope, Transport

#: Bytes of a data PDU over UDP at most: DCPLib reads 1024.
MOST_BYTES = 1000

#: A request without its sequence number and receiver: its class and its other fields.
Asked = tuple[type[pdus.Request], tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class VariableGroup:
    """Variables that travel together.

    data_id: Of its PDUs.
    payload: Their layout.
    steps: Between two PDUs, of outputs in real time, in units of the resolution.
    """

    data_id: int
    payload: Payload
    steps: int = 1


@dataclass(frozen=True, slots=True)
class Rollout:
    """What is configured of a slave.

    resolution: In s, numerator and denominator.
    inputs, outputs: Groups, each variable in one.
    port: Of the slave, that inputs are sent to.
    requests: That tell the slave, in order.
    """

    resolution: tuple[int, int]
    inputs: tuple[VariableGroup, ...]
    outputs: tuple[VariableGroup, ...]
    port: int
    requests: tuple[Asked, ...]


def roll_out(
    about: SlaveDescription,
    variables: Sequence[SlaveVariable],
    mode: OpMode,
    transport: Transport,
    control_port: int,
    here: tuple[str, int],
    resolution: tuple[int, int],
    steps: int | None,
    parameters: Iterable[pdus.SetParameter] = (),
) -> Rollout:
    """Lay out the data of a slave."""
    place = about.transports.get(transport, Ipv4())
    is_udp = transport is Transport.UDP_IPV4
    limit = min(place.max_pdu_size, MOST_BYTES) if is_udp else place.max_pdu_size
    sent = [v for v in variables if v.kind is VariableKind.INPUT]
    received = [v for v in variables if v.kind is VariableKind.OUTPUT]
    inputs = tuple(_groups(about, sent, limit, 1, [1] * len(sent)))
    paces = [v.steps.default if steps is None or v.steps.fixed else steps for v in received]
    outputs = tuple(_groups(about, received, limit, 1 + len(inputs), paces))
    port = data_port(place, control_port)
    requests: list[Asked] = [
        *_of_logs(about),
        *((pdus.SetParameter, (p.reference, p.source_type, p.payload)) for p in parameters),
        (pdus.TimeRes, resolution),
        *_of_inputs(inputs, transport, port, control_host(about, transport)),
        *_of_outputs(outputs, transport, here, in_time=mode is not OpMode.NRT),
    ]
    return Rollout(resolution, inputs, outputs, port, tuple(requests))


def _of_logs(about: SlaveDescription) -> Iterator[Asked]:
    """Let the slave keep its errors, category by category: DCPLib does not know 0 for all."""
    if about.capabilities.log_on_request:
        for category in about.categories:
            yield pdus.Logging, (category, LogLevel.ERROR, LogMode.ON_REQUEST)


def control_host(about: SlaveDescription, transport: Transport) -> str:
    """Return the address that a slave listens on for data; any, if it does not say one."""
    place = about.transports.get(transport, Ipv4())
    return place.data_host or place.host or "0.0.0.0"  # noqa: S104 # the slave's choice, as a field


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
