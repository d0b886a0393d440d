"""What a master asks of a slave, as values (sections 3.3.7.1 to 3.3.7.25).

A field is as it came over the wire: whether a state or an operating mode exists is for whoever
answers to say, since the standard has an error code for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address
from struct import Struct
from typing import ClassVar

from orchestrator.dcp.identifiers import SPOKEN, PduType


@dataclass(frozen=True, slots=True)
class Pdu:
    """Any PDU; the fields of a subclass stand in the order of the wire."""

    kind: ClassVar[PduType]
    #: What stands behind the type, as ``struct`` writes it; bytes of any length may follow.
    layout: ClassVar[Struct]
    has_tail: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Request(Pdu):
    """What a master asks of a slave."""

    sequence: int
    receiver: int


@dataclass(frozen=True, slots=True)
class StateRequest(Request):
    """A request that names the state in which the master believes the slave."""

    state: int


@dataclass(frozen=True, slots=True)
class Register(StateRequest):
    """Take a slave over; the UUID as 16 bytes in the order of its text."""

    uuid: bytes
    op_mode: int
    major: int = 1
    minor: int = 0


class Deregister(StateRequest):
    """Release the slave."""

    __slots__ = ()


class Prepare(StateRequest):
    """Let the slave open what it will receive data on."""

    __slots__ = ()


class Configure(StateRequest):
    """Let the slave realise its configuration."""

    __slots__ = ()


class Initialize(StateRequest):
    """Let the slave find an initial state that is consistent with its inputs."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Run(StateRequest):
    """Start, at a UNIX time in s; 0: now."""

    time: int


@dataclass(frozen=True, slots=True)
class DoStep(StateRequest):
    """Compute so many steps of the time resolution (NRT)."""

    steps: int


class SendOutputs(StateRequest):
    """Send all outputs."""

    __slots__ = ()


class Stop(StateRequest):
    """Come to a halt."""

    __slots__ = ()


class Reset(StateRequest):
    """Go back to the configuration."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class TimeRes(Request):
    """Set the time resolution, in s."""

    numerator: int
    denominator: int


@dataclass(frozen=True, slots=True)
class Steps(Request):
    """Set the communication step of outputs, in units of the resolution (HRT, SRT)."""

    steps: int
    data_id: int


@dataclass(frozen=True, slots=True)
class ConfigureInput(Request):
    """Say where in a data PDU the value of an input stands, and its type there."""

    data_id: int
    position: int
    reference: int
    source_type: int


@dataclass(frozen=True, slots=True)
class ConfigureOutput(Request):
    """Say where in a data PDU the value of an output stands."""

    data_id: int
    position: int
    reference: int


class Clear(Request):
    """Forget the configuration."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class NetworkInformation(Request):
    """Where data go to, or come in; what follows the transport protocol depends on it."""

    data_id: int
    transport: int
    place: bytes

    @property
    def address(self) -> tuple[str, int]:
        """Host and port, of UDP and TCP over IPv4."""
        port, host = _PLACE.unpack(self.place)
        return str(IPv4Address(host)), port


class TargetNetworkInformation(NetworkInformation):
    """Where the outputs of a data PDU are sent to."""

    __slots__ = ()


class SourceNetworkInformation(NetworkInformation):
    """Where inputs of a data PDU are received."""

    __slots__ = ()


class ParameterNetworkInformation(NetworkInformation):
    """Where tunable parameters are received; ``data_id`` is the ``param_id``."""

    __slots__ = ()


_PLACE = Struct("<HI")


def place_of(host: str, port: int) -> bytes:
    """Return port and IPv4 address as network information has them."""
    return _PLACE.pack(port, int(IPv4Address(host)))


@dataclass(frozen=True, slots=True)
class SetParameter(Request):
    """Set a parameter; the payload is its value, of the type that is given."""

    reference: int
    source_type: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class TunableParameter(Request):
    """Say where in a parameter PDU the value of a tunable parameter stands."""

    param_id: int
    position: int
    reference: int
    source_type: int


@dataclass(frozen=True, slots=True)
class Logging(Request):
    """Choose how log entries come; category 0 is all of them."""

    category: int
    level: int
    mode: int


@dataclass(frozen=True, slots=True)
class ConfigureScope(Request):
    """Say when a data PDU is exchanged."""

    data_id: int
    scope: int


class AskState(Request):
    """Ask for the state; the heartbeat of a master."""

    __slots__ = ()


class AskError(Request):
    """Ask why the slave is in the error superstate."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class AskLog(Request):
    """Ask for log entries of a category, so many at most."""

    category: int
    most: int


def place_fits(transport: int, place: bytes) -> bool:
    """Whether what follows a transport protocol has its length; of others nothing is known."""
    return transport not in SPOKEN or len(place) == _PLACE.size


def is_spoken(transport: int) -> bool:
    """Whether a transport protocol, known or not, is UDP or TCP over IPv4."""
    return transport in SPOKEN
