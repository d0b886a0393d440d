"""The state machine of a slave (section 3.2) as one table: code, documents and tests read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from orchestrator.dcp.identifiers import OpMode, PduType


class State(IntEnum):
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


class Signal(StrEnum):
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
RUN = (State.SYNCHRONIZING, State.SYNCHRONIZED, State.RUNNING)
NON_REAL_TIME = (State.COMPUTING, State.COMPUTED, State.SENDING_D)
INITIALIZATION = (State.CONFIGURED, State.INITIALIZING, State.INITIALIZED, State.SENDING_I)
ERROR = (State.ERRORHANDLING, State.ERRORRESOLVED)
STOPPABLE = tuple(State(number) for number in range(State.PREPARING, State.STOPPING))
NORMAL = tuple(State(number) for number in range(State.CONFIGURATION, State.ERRORHANDLING))
ALL_MODES = frozenset(OpMode)
NRT_ONLY = frozenset({OpMode.NRT})

Trigger = PduType | Signal


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of the table.

    Parameters
    ----------
    trigger
        A PDU of the master, or a signal of the slave itself.
    source, target
        From where to where; ``None``: to where the superstate Run was left (history state).
    modes
        Operating modes that have it.
    """

    trigger: Trigger
    source: State
    target: State | None
    modes: frozenset[OpMode] = ALL_MODES


def _rows() -> Iterator[Transition]:
    pdu, signal, s = PduType, Signal, State
    yield Transition(pdu.STC_REGISTER, s.ALIVE, s.CONFIGURATION)
    for source in (s.CONFIGURATION, s.STOPPED, s.ERRORRESOLVED):
        yield Transition(pdu.STC_DEREGISTER, source, s.ALIVE)
    yield Transition(pdu.STC_PREPARE, s.CONFIGURATION, s.PREPARING)
    yield Transition(signal.PREPARED, s.PREPARING, s.PREPARED)
    yield Transition(pdu.STC_CONFIGURE, s.PREPARED, s.CONFIGURING)
    yield Transition(signal.CONFIGURED, s.CONFIGURING, s.CONFIGURED)
    yield Transition(pdu.STC_INITIALIZE, s.CONFIGURED, s.INITIALIZING)
    yield Transition(signal.INITIALIZED, s.INITIALIZING, s.INITIALIZED)
    yield Transition(pdu.STC_SEND_OUTPUTS, s.INITIALIZED, s.SENDING_I)
    yield Transition(signal.SEND_COMPLETE, s.SENDING_I, s.CONFIGURED)
    # Table 44 has CONFIGURED to RUNNING; sections 3.3.7.6 and 3.2.5.20 and DCPLib pass through Run.
    yield Transition(pdu.STC_RUN, s.CONFIGURED, s.SYNCHRONIZING)
    yield Transition(signal.SYNCHRONIZED, s.SYNCHRONIZING, s.SYNCHRONIZED)
    yield Transition(pdu.STC_RUN, s.SYNCHRONIZED, s.RUNNING)
    for source in RUN:
        yield Transition(pdu.STC_DO_STEP, source, s.COMPUTING, NRT_ONLY)
    yield Transition(signal.STEP_DONE, s.COMPUTING, s.COMPUTED, NRT_ONLY)
    yield Transition(pdu.STC_SEND_OUTPUTS, s.COMPUTED, s.SENDING_D, NRT_ONLY)
    yield Transition(signal.SEND_COMPLETE, s.SENDING_D, None, NRT_ONLY)
    for source in STOPPABLE:
        modes = NRT_ONLY if source in NON_REAL_TIME else ALL_MODES
        yield Transition(pdu.STC_STOP, source, s.STOPPING, modes)
    for source in RUN:
        yield Transition(signal.STOP, source, s.STOPPING)
    yield Transition(signal.STOPPED, s.STOPPING, s.STOPPED)
    for source in (s.STOPPED, s.ERRORRESOLVED):
        yield Transition(pdu.STC_RESET, source, s.CONFIGURATION)
    for source in NORMAL:
        yield Transition(signal.ERROR, source, s.ERRORHANDLING)
    yield Transition(signal.RESOLVED, s.ERRORHANDLING, s.ERRORRESOLVED)
    # Table 34: the program is unloaded; here it is loaded anew at once, which is ALIVE again.
    for source in (s.ALIVE, *ERROR):
        yield Transition(signal.EXIT, source, s.ALIVE)


TRANSITIONS: tuple[Transition, ...] = tuple(_rows())
_TABLE: Mapping[tuple[Trigger, State], Transition] = {
    (row.trigger, row.source): row for row in TRANSITIONS
}
#: Allowed in the error superstate only, or in every state but ALIVE, or in every one.
_INFORMATION = {
    PduType.INF_STATE: frozenset(State),
    PduType.INF_ERROR: frozenset(ERROR),
    PduType.INF_LOG: frozenset(State) - {State.ALIVE},
}


def transition(trigger: Trigger, source: State) -> Transition | None:
    """Return the row of a trigger in a state; ``None`` if there is none."""
    return _TABLE.get((trigger, source))


def is_allowed(kind: PduType, state: State, mode: OpMode | None) -> bool:
    """Whether a slave may be sent a request in a state (Table 63)."""
    if kind in _INFORMATION:
        return state in _INFORMATION[kind]
    if kind.is_configuration:
        # CFG_steps in NRT, which the table does not have, is taken: masters on DCPLib send it.
        return state is State.CONFIGURATION
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
