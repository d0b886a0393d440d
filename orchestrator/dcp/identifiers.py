"""The numbers of DCP 1.0 that are no data types, states or errors."""

from __future__ import annotations

from enum import IntEnum


class PduType(IntEnum):
    """What a PDU is, its first byte (Table 62; STC_do_step is 0x07, as section 3.3.7.7 has it)."""

    STC_REGISTER = 0x01
    STC_DEREGISTER = 0x02
    STC_PREPARE = 0x03
    STC_CONFIGURE = 0x04
    STC_INITIALIZE = 0x05
    STC_RUN = 0x06
    STC_DO_STEP = 0x07
    STC_SEND_OUTPUTS = 0x08
    STC_STOP = 0x09
    STC_RESET = 0x0A
    CFG_TIME_RES = 0x20
    CFG_STEPS = 0x21
    CFG_INPUT = 0x22
    CFG_OUTPUT = 0x23
    CFG_CLEAR = 0x24
    CFG_TARGET_NETWORK_INFORMATION = 0x25
    CFG_SOURCE_NETWORK_INFORMATION = 0x26
    CFG_PARAMETER = 0x27
    CFG_TUNABLE_PARAMETER = 0x28
    CFG_PARAM_NETWORK_INFORMATION = 0x29
    CFG_LOGGING = 0x2A
    CFG_SCOPE = 0x2B
    INF_STATE = 0x80
    INF_ERROR = 0x81
    INF_LOG = 0x82
    RSP_ACK = 0xB0
    RSP_NACK = 0xB1
    RSP_STATE_ACK = 0xB2
    RSP_ERROR_ACK = 0xB3
    RSP_LOG_ACK = 0xB4
    NTF_STATE_CHANGED = 0xE0
    NTF_LOG = 0xE1
    DAT_INPUT_OUTPUT = 0xF0
    DAT_PARAMETER = 0xF1

    @property
    def title(self) -> str:
        """Its name as the standard writes it, such as ``STC_register``."""
        family, _, name = self.name.partition("_")
        return f"{family}_{name.lower()}"

    @property
    def is_request(self) -> bool:
        """Whether a master sends it and a slave answers it."""
        return self < PduType.RSP_ACK

    @property
    def is_configuration(self) -> bool:
        """Whether it is of the family CFG."""
        return PduType.CFG_TIME_RES <= self <= PduType.CFG_SCOPE


class OpMode(IntEnum):
    """Operating modes (Table 9): hard real time, soft real time, not in real time."""

    HRT = 0
    SRT = 1
    NRT = 2


class Transport(IntEnum):
    """Transport protocols (Table 12)."""

    UDP_IPV4 = 0
    BLUETOOTH = 1
    CAN = 2
    USB = 3
    TCP_IPV4 = 4


#: The transport protocols that are spoken here.
SPOKEN = (Transport.UDP_IPV4, Transport.TCP_IPV4)


class Scope(IntEnum):
    """When a data PDU is exchanged (Table 102)."""

    ALWAYS = 0
    INITIALIZATION = 1
    RUN = 2


class LogLevel(IntEnum):
    """How grave a log entry is (Table 59)."""

    FATAL = 0
    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    DEBUG = 4


class LogMode(IntEnum):
    """How log entries come to the master (Table 60)."""

    NONE = 0
    ON_REQUEST = 1
    ON_NOTIFICATION = 2
