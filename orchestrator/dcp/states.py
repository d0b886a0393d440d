"""The state machine of a slave (section 3.2) as one table, and the error codes (Table 104)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum, StrEnum

from orchestrator.core.structs import Struct
from orchestrator.dcp.identifiers import OpMode, PduType


class SlaveState(IntEnum):
    """States by the number that PDUs have for them (Table 13)."""

    ALIVE = 0x00
    CONFIGURATION = 0x01
    PREPARING = 0x02
    PREPARED = 0x03
    CONFIGURING = 0x04
    CONFIGURED = 0x05
    INITIALIZING = 0x06
    INITIALIZED = 0x07
    SENDING_I = 0x08
    SYNCHRONIZING = 0x09
    SYNCHRONIZED = 0x0A
    RUNNING = 0x0B
    COMPUTING = 0x0C
    COMPUTED = 0x0D
    SENDING_D = 0x0E
    STOPPING = 0x0F
    STOPPED = 0x10
    ERRORHANDLING = 0x11
    ERRORRESOLVED = 0x12


class StateSignal(StrEnum):
    """What a slave itself moves by."""

    PREPARED = "SIG_prepared"
    CONFIGURED = "SIG_configured"
    INITIALIZED = "SIG_initialized"
    SEND_COMPLETE = "SIG_send_complete"
    SYNCHRONIZED = "SIG_synchronized"
    STEP_DONE = "SIG_step_done"
    STOP = "SIG_stop"
    STOPPED = "SIG_stopped"
    ERROR = "SIG_error"
    RESOLVED = "SIG_resolved"
    EXIT = "SIG_exit"


#: The superstates.
RUN = (SlaveState.SYNCHRONIZING, SlaveState.SYNCHRONIZED, SlaveState.RUNNING)
NON_REAL_TIME = (SlaveState.COMPUTING, SlaveState.COMPUTED, SlaveState.SENDING_D)
INITIALIZATION = (
    SlaveState.CONFIGURED,
    SlaveState.INITIALIZING,
    SlaveState.INITIALIZED,
    SlaveState.SENDING_I,
)
ERROR = (SlaveState.ERRORHANDLING, SlaveState.ERRORRESOLVED)
STOPPABLE = tuple(SlaveState(number) for number in range(SlaveState.PREPARING, SlaveState.STOPPING))
NORMAL = tuple(
    SlaveState(number) for number in range(SlaveState.CONFIGURATION, SlaveState.ERRORHANDLING)
)
ALL_MODES = frozenset(OpMode)
NRT_ONLY = frozenset({OpMode.NRT})

Trigger = PduType | StateSignal


class SlaveTransition(Struct):
    """One row of the table.

    trigger: A PDU of the master, or a signal of the slave itself.
    source, target: From where to where; ``None``: to where the superstate Run was left (history
        state).
    modes: Operating modes that have it.
    """

    trigger: Trigger
    source: SlaveState
    target: SlaveState | None
    modes: frozenset[OpMode] = ALL_MODES


def _rows() -> Iterator[SlaveTransition]:
    pdu, signal, s = PduType, StateSignal, SlaveState
    yield SlaveTransition(pdu.STC_REGISTER, s.ALIVE, s.CONFIGURATION)
    for source in (s.CONFIGURATION, s.STOPPED, s.ERRORRESOLVED):
        yield SlaveTransition(pdu.STC_DEREGISTER, source, s.ALIVE)
    yield SlaveTransition(pdu.STC_PREPARE, s.CONFIGURATION, s.PREPARING)
    yield SlaveTransition(signal.PREPARED, s.PREPARING, s.PREPARED)
    yield SlaveTransition(pdu.STC_CONFIGURE, s.PREPARED, s.CONFIGURING)
    yield SlaveTransition(signal.CONFIGURED, s.CONFIGURING, s.CONFIGURED)
    yield SlaveTransition(pdu.STC_INITIALIZE, s.CONFIGURED, s.INITIALIZING)
    yield SlaveTransition(signal.INITIALIZED, s.INITIALIZING, s.INITIALIZED)
    yield SlaveTransition(pdu.STC_SEND_OUTPUTS, s.INITIALIZED, s.SENDING_I)
    yield SlaveTransition(signal.SEND_COMPLETE, s.SENDING_I, s.CONFIGURED)
    # Table 44 has CONFIGURED to RUNNING; sections 3.3.7.6 and 3.2.5.20 and DCPLib pass through Run.
    yield SlaveTransition(pdu.STC_RUN, s.CONFIGURED, s.SYNCHRONIZING)
    yield SlaveTransition(signal.SYNCHRONIZED, s.SYNCHRONIZING, s.SYNCHRONIZED)
    yield SlaveTransition(pdu.STC_RUN, s.SYNCHRONIZED, s.RUNNING)
    for source in RUN:
        yield SlaveTransition(pdu.STC_DO_STEP, source, s.COMPUTING, NRT_ONLY)
    yield SlaveTransition(signal.STEP_DONE, s.COMPUTING, s.COMPUTED, NRT_ONLY)
    yield SlaveTransition(pdu.STC_SEND_OUTPUTS, s.COMPUTED, s.SENDING_D, NRT_ONLY)
    yield SlaveTransition(signal.SEND_COMPLETE, s.SENDING_D, None, NRT_ONLY)
    for source in STOPPABLE:
        modes = NRT_ONLY if source in NON_REAL_TIME else ALL_MODES
        yield SlaveTransition(pdu.STC_STOP, source, s.STOPPING, modes)
    for source in RUN:
        yield SlaveTransition(signal.STOP, source, s.STOPPING)
    yield SlaveTransition(signal.STOPPED, s.STOPPING, s.STOPPED)
    for source in (s.STOPPED, s.ERRORRESOLVED):
        yield SlaveTransition(pdu.STC_RESET, source, s.CONFIGURATION)
    for source in NORMAL:
        yield SlaveTransition(signal.ERROR, source, s.ERRORHANDLING)
    yield SlaveTransition(signal.RESOLVED, s.ERRORHANDLING, s.ERRORRESOLVED)
    # Table 34: the program is unloaded; here it is loaded again at once, which is ALIVE again.
    for source in (s.ALIVE, *ERROR):
        yield SlaveTransition(signal.EXIT, source, s.ALIVE)


TRANSITIONS: tuple[SlaveTransition, ...] = tuple(_rows())
_TABLE: Mapping[tuple[Trigger, SlaveState], SlaveTransition] = {
    (row.trigger, row.source): row for row in TRANSITIONS
}
#: Allowed in the error superstate only, or in every state but ALIVE, or in every one.
_INFORMATION = {
    PduType.INF_STATE: frozenset(SlaveState),
    PduType.INF_ERROR: frozenset(ERROR),
    PduType.INF_LOG: frozenset(SlaveState) - {SlaveState.ALIVE},
}


def transition(trigger: Trigger, source: SlaveState) -> SlaveTransition | None:
    """Return the row of a trigger in a state; ``None`` if there is none."""
    return _TABLE.get((trigger, source))


def sources_of(trigger: Trigger) -> frozenset[SlaveState]:
    """Return the states in which a trigger has a transition."""
    return frozenset(row.source for row in TRANSITIONS if row.trigger == trigger)


def is_allowed(kind: PduType, state: SlaveState, mode: OpMode | None) -> bool:
    """Whether a slave may be sent a request in a state (Table 63)."""
    if kind in _INFORMATION:
        return state in _INFORMATION[kind]
    if kind.is_configuration:
        # CFG_steps in NRT, which the table does not have, is taken: masters on DCPLib send it.
        return state is SlaveState.CONFIGURATION
    row = transition(kind, state)
    return row is not None and (mode is None or mode in row.modes)


def states_page() -> str:
    """Return the table as the reference page shows it, in Markdown."""
    lines = ["| trigger | from | to | modes |", "|---|---|---|---|"]
    rows: dict[tuple[str, str, str], list[str]] = {}
    for row in TRANSITIONS:
        trigger = row.trigger.title if isinstance(row.trigger, PduType) else row.trigger.value
        target = "where Run was left" if row.target is None else row.target.name
        modes = ", ".join(mode.name for mode in sorted(row.modes, reverse=True))
        rows.setdefault((trigger, target, modes), []).append(row.source.name)
    for (trigger, target, modes), sources in rows.items():
        lines.append(f"| `{trigger}` | {', '.join(sources)} | {target} | {modes} |")
    return "\n".join(lines)


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
        error = ErrorCode(code)
    except ValueError:
        kind = "of the transport protocol" if 0x5001 <= code <= 0x5FFF else "unknown"
        return f"error {code:#06x} ({kind})"
    hint = HINTS.get(error)
    return f"{error.name} ({code:#06x})" + (f": {hint}" if hint else "")
