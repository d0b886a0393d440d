"""The PDUs of DCP 1.0 as values (section 3.3.7), one table of their layouts, and their bytes.

A field is as it came over the wire: whether a state or an operating mode exists is for whoever
answers to say, since the standard has an error code for each.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from ipaddress import IPv4Address
from typing import ClassVar

from orchestrator.core.diagnostics import WireFormatError
from orchestrator.core.structs import Struct
from orchestrator.dcp.identifiers import SPOKEN, PduType
from orchestrator.dcp.states import SlaveState

#: Number of sequence numbers, after which they begin again at 0.
SEQUENCES = 2**16


def number_gap(before: int, after: int) -> int:
    """Return by how many PDUs one number is newer than another; below 0: older."""
    gap = (after - before) % SEQUENCES
    return gap if gap <= SEQUENCES // 2 else gap - SEQUENCES


class Pdu(Struct):
    """Any PDU; the fields of a subclass stand in the order of the wire."""

    kind: ClassVar[PduType]
    #: What stands behind the type, as ``struct`` writes it; bytes of any length may follow.
    layout: ClassVar[struct.Struct]
    has_tail: ClassVar[bool] = False

    def __repr__(self) -> str:
        field_names = (name for name in self.__struct_fields__ if name != "payload")
        return (
            f"{type(self).__name__}({', '.join(f'{n}={getattr(self, n)!r}' for n in field_names)})"
        )


class Request(Pdu):
    """What a master asks of a slave."""

    sequence: int
    receiver: int


class StateRequest(Request):
    """A request that names the state in which the master believes the slave."""

    state: int


class Register(StateRequest):
    """Take a slave over; the UUID as 16 bytes in the order of its text."""

    uuid: bytes
    op_mode: int
    major: int = 1
    minor: int = 0


class Deregister(StateRequest):
    """Release the slave."""


class Prepare(StateRequest):
    """Let the slave open what it will receive data on."""


class Configure(StateRequest):
    """Let the slave realise its configuration."""


class Initialize(StateRequest):
    """Let the slave find an initial state that is consistent with its inputs."""


class Run(StateRequest):
    """Start, at a UNIX time in s; 0: now."""

    time: int


class DoStep(StateRequest):
    """Compute a number of steps of the time resolution (NRT)."""

    steps: int


class SendOutputs(StateRequest):
    """Send all outputs."""


class Stop(StateRequest):
    """Come to a halt."""


class Reset(StateRequest):
    """Go back to the configuration."""


class TimeRes(Request):
    """Set the time resolution, in s."""

    numerator: int
    denominator: int


class Steps(Request):
    """Set the communication step of outputs, in units of the resolution (HRT, SRT)."""

    steps: int
    data_id: int


class ConfigureInput(Request):
    """Say where in a data PDU the value of an input stands, and its type there."""

    data_id: int
    position: int
    reference: int
    source_type: int


class ConfigureOutput(Request):
    """Say where in a data PDU the value of an output stands."""

    data_id: int
    position: int
    reference: int


class Clear(Request):
    """Forget the configuration."""


class NetworkInformation(Request):
    """Where data go to, or come in; what follows the transport protocol depends on it."""

    data_id: int
    transport: int
    packed_address: bytes

    @property
    def address(self) -> tuple[str, int]:
        """Host and port, of UDP and TCP over IPv4."""
        port, host = _PLACE.unpack(self.packed_address)
        return str(IPv4Address(host)), port


class TargetNetworkInformation(NetworkInformation):
    """Where the outputs of a data PDU are sent to."""


class SourceNetworkInformation(NetworkInformation):
    """Where inputs of a data PDU are received."""


class ParameterNetworkInformation(NetworkInformation):
    """Where tunable parameters are received; ``data_id`` is the ``param_id``."""


_PLACE = struct.Struct("<HI")


def place_of(host: str, port: int) -> bytes:
    """Return port and IPv4 address as network information has them."""
    return _PLACE.pack(port, int(IPv4Address(host)))


class SetParameter(Request):
    """Set a parameter; the payload is its value, of the type that is given."""

    reference: int
    source_type: int
    payload: bytes


class TunableParameter(Request):
    """Say where in a parameter PDU the value of a tunable parameter stands."""

    param_id: int
    position: int
    reference: int
    source_type: int


class Logging(Request):
    """Choose how log entries come; category 0 is all of them."""

    category: int
    level: int
    mode: int


class ConfigureScope(Request):
    """Say when a data PDU is exchanged."""

    data_id: int
    scope: int


class AskState(Request):
    """Ask for the state; the heartbeat of a master."""


class AskError(Request):
    """Ask why the slave is in the error superstate."""


class AskLog(Request):
    """Request log entries of a category, up to a limit."""

    category: int
    limit: int


def is_spoken(transport: int) -> bool:
    """Whether a transport protocol, known or not, is UDP or TCP over IPv4."""
    return transport in SPOKEN


class Response(Pdu):
    """What a slave answers to the request with this sequence number."""

    sequence: int
    sender: int


class Ack(Response):
    """The request is accepted."""


class Nack(Response):
    """The request is refused."""

    expected: int
    error: int


class StateAck(Response):
    """The state of the slave."""

    state: int


class ErrorAck(Response):
    """The error of the slave."""

    error: int


class LogAck(Response):
    """Log entries one after the other; their templates say how long each is."""

    entries: bytes


class StateChanged(Pdu):
    """A slave is in another state."""

    sender: int
    state: int


class LogNotification(Pdu):
    """One log entry."""

    sender: int
    time: int
    template: int
    arguments: bytes


class Data(Pdu):
    """Values of outputs on their way to inputs; nobody answers."""

    sequence: int
    data_id: int
    payload: bytes


class ParameterData(Pdu):
    """Values of tunable parameters."""

    sequence: int
    param_id: int
    payload: bytes


_REQUEST = "<HB"
#: Every PDU: its class, its fields behind the type, whether bytes of any length follow.
_TABLE: Mapping[PduType, tuple[type[Pdu], str, bool]] = {
    PduType.STC_REGISTER: (Register, "B16sBBB", False),
    PduType.STC_DEREGISTER: (Deregister, "B", False),
    PduType.STC_PREPARE: (Prepare, "B", False),
    PduType.STC_CONFIGURE: (Configure, "B", False),
    PduType.STC_INITIALIZE: (Initialize, "B", False),
    PduType.STC_RUN: (Run, "Bq", False),
    PduType.STC_DO_STEP: (DoStep, "BI", False),
    PduType.STC_SEND_OUTPUTS: (SendOutputs, "B", False),
    PduType.STC_STOP: (Stop, "B", False),
    PduType.STC_RESET: (Reset, "B", False),
    PduType.CFG_TIME_RES: (TimeRes, "II", False),
    PduType.CFG_STEPS: (Steps, "IH", False),
    PduType.CFG_INPUT: (ConfigureInput, "HHQB", False),
    PduType.CFG_OUTPUT: (ConfigureOutput, "HHQ", False),
    PduType.CFG_CLEAR: (Clear, "", False),
    PduType.CFG_TARGET_NETWORK_INFORMATION: (TargetNetworkInformation, "HB", True),
    PduType.CFG_SOURCE_NETWORK_INFORMATION: (SourceNetworkInformation, "HB", True),
    PduType.CFG_PARAMETER: (SetParameter, "QB", True),
    PduType.CFG_TUNABLE_PARAMETER: (TunableParameter, "HHQB", False),
    PduType.CFG_PARAM_NETWORK_INFORMATION: (ParameterNetworkInformation, "HB", True),
    PduType.CFG_LOGGING: (Logging, "BBB", False),
    PduType.CFG_SCOPE: (ConfigureScope, "HB", False),
    PduType.INF_STATE: (AskState, "", False),
    PduType.INF_ERROR: (AskError, "", False),
    PduType.INF_LOG: (AskLog, "BB", False),
    PduType.RSP_ACK: (Ack, "<HB", False),
    PduType.RSP_NACK: (Nack, "<HBHH", False),
    PduType.RSP_STATE_ACK: (StateAck, "<HBB", False),
    PduType.RSP_ERROR_ACK: (ErrorAck, "<HBH", False),
    PduType.RSP_LOG_ACK: (LogAck, "<HB", True),
    PduType.NTF_STATE_CHANGED: (StateChanged, "<BB", False),
    PduType.NTF_LOG: (LogNotification, "<BqB", True),
    PduType.DAT_INPUT_OUTPUT: (Data, "<HH", True),
    PduType.DAT_PARAMETER: (ParameterData, "<HH", True),
}

#: Class by type of PDU.
PDUS: Mapping[PduType, type[Pdu]] = {kind: row[0] for kind, row in _TABLE.items()}

for _kind, (_class, _fields, _tail) in _TABLE.items():
    _class.kind, _class.has_tail = _kind, _tail
    _class.layout = struct.Struct(_fields if _fields.startswith("<") else _REQUEST + _fields)


#: Of every PDU that is looked at: shorter ones are dropped (Table 105, note on the length).
_SHORTEST = {PduType.NTF_STATE_CHANGED: 3}
_LEAST = 4
_HEADER = struct.Struct("<BHB")
_PREFIX = struct.Struct("<I")


class Header(Struct):
    """What is common to all requests, read before anything else is looked at."""

    kind: PduType
    sequence: int
    receiver: int


class LengthError(WireFormatError):
    """A PDU of a known type has another length than that type."""


#: Fields by class, in the order of the wire.
_NAMES = {kind: kind.__struct_fields__ for kind in PDUS.values()}


def encode(pdu: Pdu) -> bytes:
    """Write a PDU, without the length that TCP has before it."""
    values = [getattr(pdu, name) for name in _NAMES[type(pdu)]]
    tail = values.pop() if pdu.has_tail else b""
    try:
        return bytes([pdu.kind]) + pdu.layout.pack(*values) + tail
    except struct.error as error:
        raise WireFormatError(f"{pdu.kind.title}: {error}; found {pdu}") from None


def kind_of(content: bytes) -> PduType:
    """Return what a PDU is, by its first byte."""
    try:
        kind = PduType(content[0])
    except (IndexError, ValueError):
        raise WireFormatError(
            f"DCP: expected a PDU, found {len(content)} bytes that begin {content[:8].hex()!r}"
        ) from None
    if len(content) < _SHORTEST.get(kind, _LEAST):
        raise LengthError(f"{kind.title}: expected {_LEAST} bytes or more, found {len(content)}")
    return kind


def header_of(content: bytes) -> Header:
    """Read the header of a request."""
    kind = kind_of(content)
    if not kind.is_request:
        raise WireFormatError(f"DCP: expected a request, found {kind.title}")
    _, sequence, receiver = _HEADER.unpack_from(content)
    return Header(kind, sequence, receiver)


def decode(content: bytes) -> Pdu:
    """Read a PDU."""
    kind = kind_of(content)
    shape = PDUS[kind]
    end = 1 + shape.layout.size
    if len(content) < end or (len(content) > end and not shape.has_tail):
        more = " or more" if shape.has_tail else ""
        raise LengthError(f"{kind.title}: expected {end} bytes{more}, found {len(content)}")
    tail = (content[end:],) if shape.has_tail else ()
    pdu = shape(*shape.layout.unpack_from(content, 1), *tail)
    _check(pdu, content)
    return pdu


def _check(pdu: Pdu, content: bytes) -> None:
    if (
        isinstance(pdu, NetworkInformation)
        and is_spoken(pdu.transport)
        and len(pdu.packed_address) != _PLACE.size
    ):
        raise LengthError(f"{pdu.kind.title}: expected 13 bytes, found {len(content)}")
    if isinstance(pdu, (StateAck, StateChanged)) and pdu.state > SlaveState.ERRORRESOLVED:
        raise WireFormatError(f"{pdu.kind.title}: expected a state, found {pdu.state:#04x}")


class Frames:
    """Takes a stream of TCP apart: each PDU has its length before it (section 4.2.3.2).

    longest: A longer PDU is none of this protocol, in bytes.
    """

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._held = bytearray()

    def feed(self, content: bytes) -> list[bytes]:
        """Return the PDUs that are complete now."""
        self._held += content
        frames = []
        while len(self._held) >= _PREFIX.size:
            (length,) = _PREFIX.unpack_from(self._held)
            if not 0 < length <= self._longest:
                raise WireFormatError(
                    f"DCP over TCP: expected a PDU of 1 to {self._longest} bytes, found the length"
                    f" {length}"
                )
            end = _PREFIX.size + length
            if len(self._held) < end:
                break
            frames.append(bytes(self._held[_PREFIX.size : end]))
            del self._held[:end]
        return frames


def framed(content: bytes) -> bytes:
    """Return a PDU as TCP carries it."""
    return _PREFIX.pack(len(content)) + content
