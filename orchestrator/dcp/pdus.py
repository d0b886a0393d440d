"""The PDUs of DCP 1.0 as values (section 3.3.7), and the one table of their layouts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import Struct

from orchestrator.dcp.identifiers import PduType
from orchestrator.dcp.requests import (
    AskError,
    AskLog,
    AskState,
    Clear,
    Configure,
    ConfigureInput,
    ConfigureOutput,
    ConfigureScope,
    Deregister,
    DoStep,
    Initialize,
    Logging,
    NetworkInformation,
    ParameterNetworkInformation,
    Pdu,
    Prepare,
    Register,
    Request,
    Reset,
    Run,
    SendOutputs,
    SetParameter,
    SourceNetworkInformation,
    StateRequest,
    Steps,
    Stop,
    TargetNetworkInformation,
    TimeRes,
    TunableParameter,
    is_spoken,
    place_fits,
    place_of,
)

__all__ = [
    "PDUS",
    "Ack",
    "AskError",
    "AskLog",
    "AskState",
    "Clear",
    "Configure",
    "ConfigureInput",
    "ConfigureOutput",
    "ConfigureScope",
    "Data",
    "Deregister",
    "DoStep",
    "ErrorAck",
    "Initialize",
    "LogAck",
    "LogNotification",
    "Logging",
    "Nack",
    "NetworkInformation",
    "ParameterData",
    "ParameterNetworkInformation",
    "Pdu",
    "Prepare",
    "Register",
    "Request",
    "Reset",
    "Response",
    "Run",
    "SendOutputs",
    "SetParameter",
    "SourceNetworkInformation",
    "StateAck",
    "StateChanged",
    "StateRequest",
    "Steps",
    "Stop",
    "TargetNetworkInformation",
    "TimeRes",
    "TunableParameter",
    "is_spoken",
    "place_fits",
    "place_of",
]


@dataclass(frozen=True, slots=True)
class Response(Pdu):
    """What a slave answers to the request with this sequence number."""

    sequence: int
    sender: int


class Ack(Response):
    """The request is accepted."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Nack(Response):
    """The request is refused."""

    expected: int
    error: int


@dataclass(frozen=True, slots=True)
class StateAck(Response):
    """The state of the slave."""

    state: int


@dataclass(frozen=True, slots=True)
class ErrorAck(Response):
    """The error of the slave."""

    error: int


@dataclass(frozen=True, slots=True)
class LogAck(Response):
    """Log entries one after the other; their templates say how long each is."""

    entries: bytes


@dataclass(frozen=True, slots=True)
class StateChanged(Pdu):
    """A slave is in another state."""

    sender: int
    state: int


@dataclass(frozen=True, slots=True)
class LogNotification(Pdu):
    """One log entry."""

    sender: int
    time: int
    template: int
    arguments: bytes


@dataclass(frozen=True, slots=True)
class Data(Pdu):
    """Values of outputs on their way to inputs; nobody answers."""

    sequence: int
    data_id: int
    payload: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class ParameterData(Pdu):
    """Values of tunable parameters."""

    sequence: int
    param_id: int
    payload: bytes = field(repr=False)


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
    _class.layout = Struct(_fields if _fields.startswith("<") else _REQUEST + _fields)
