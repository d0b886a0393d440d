"""The error codes of DCP 1.0 (Table 104), and what they mean to whoever reads them."""

from __future__ import annotations

from enum import IntEnum


class ErrorCode(IntEnum):
    """Why a slave refuses a PDU, or is in the error superstate."""

    NONE = 0x0000
    PROTOCOL_ERROR_GENERIC = 0x1001
    PROTOCOL_ERROR_HEARTBEAT_MISSED = 0x1002
    PROTOCOL_ERROR_PDU_NOT_ALLOWED_IN_THIS_STATE = 0x1003
    PROTOCOL_ERROR_PROPERTY_VIOLATED = 0x1004
    PROTOCOL_ERROR_STATE_TRANSITION_IN_PROGRESS = 0x1005
    INVALID_LENGTH = 0x2001
    INVALID_LOG_CATEGORY = 0x2002
    INVALID_LOG_LEVEL = 0x2003
    INVALID_LOG_MODE = 0x2004
    INVALID_MAJOR_VERSION = 0x2005
    INVALID_MINOR_VERSION = 0x2006
    INVALID_NETWORK_INFORMATION = 0x2007
    INVALID_OP_MODE = 0x2008
    INVALID_PAYLOAD = 0x2009
    INVALID_SCOPE = 0x200A
    INVALID_SOURCE_DATA_TYPE = 0x200B
    INVALID_START_TIME = 0x200C
    INVALID_STATE_ID = 0x200D
    INVALID_STEPS = 0x200E
    INVALID_TIME_RESOLUTION = 0x200F
    INVALID_TRANSPORT_PROTOCOL = 0x2010
    INVALID_UUID = 0x2011
    INVALID_VALUE_REFERENCE = 0x2012
    INVALID_SEQUENCE_ID = 0x2013
    INCOMPLETE_CONFIG_GAP_INPUT_POS = 0x3001
    INCOMPLETE_CONFIG_GAP_OUTPUT_POS = 0x3002
    INCOMPLETE_CONFIG_GAP_TUNABLE_POS = 0x3003
    INCOMPLETE_CONFIG_NW_INFO_INPUT = 0x3004
    INCOMPLETE_CONFIG_NW_INFO_OUTPUT = 0x3005
    INCOMPLETE_CONFIG_NW_INFO_TUNABLE = 0x3006
    INCOMPLETE_CONFIG_SCOPE = 0x3007
    INCOMPLETE_CONFIG_STEPS = 0x3008
    INCOMPLETE_CONFIG_TIME_RESOLUTION = 0x3009
    INCOMPLETE_CONFIGURATION = 0x300A
    NOT_SUPPORTED_LOG_ON_NOTIFICATION = 0x4001
    NOT_SUPPORTED_LOG_ON_REQUEST = 0x4002
    NOT_SUPPORTED_VARIABLE_STEPS = 0x4003
    NOT_SUPPORTED_TRANSPORT_PROTOCOL = 0x4004
    NOT_SUPPORTED_PDU = 0x4005
    NOT_SUPPORTED_PDU_SIZE = 0x4006


#: What helps where it is not said by the name.
HINTS = {
    ErrorCode.PROTOCOL_ERROR_HEARTBEAT_MISSED: "the master sent INF_state too late",
    ErrorCode.PROTOCOL_ERROR_PROPERTY_VIOLATED: "an input was beyond its limits, or PDUs were lost",
    ErrorCode.INVALID_MAJOR_VERSION: "the slave speaks another version of DCP than 1.0",
    ErrorCode.INVALID_MINOR_VERSION: "the slave speaks another version of DCP than 1.0",
    ErrorCode.INVALID_OP_MODE: "choose an operating mode that its description has",
    ErrorCode.INVALID_START_TIME: "the clocks of both differ: synchronise them (PTP, NTP)",
    ErrorCode.INVALID_STATE_ID: "the slave is in another state: another master, or an earlier run?",
    ErrorCode.INVALID_UUID: "its description is of another slave, or of an earlier version of it",
    ErrorCode.INVALID_VALUE_REFERENCE: "its description is of an earlier version of the slave",
    ErrorCode.INVALID_SEQUENCE_ID: "a PDU was lost, or a second master speaks",
}


def error_text(code: int) -> str:
    """Return the name of an error code, known or not, with its number and what helps."""
    try:
        known = ErrorCode(code)
    except ValueError:
        kind = "of the transport protocol" if 0x5001 <= code <= 0x5FFF else "unknown"
        return f"error {code:#06x} ({kind})"
    hint = HINTS.get(known)
    return f"{known.name} ({code:#06x})" + (f": {hint}" if hint else "")
