"""The state machine of CiA 402 as a table: how a state is told, and what leads out of it.

References
----------
CiA 402-2, finite state automaton: statusword 0x6041 and controlword 0x6040.
"""

from __future__ import annotations

from dataclasses import dataclass

from orchestrator.rig.devices import WireFormatError

SHUTDOWN, SWITCH_ON, ENABLE = 0x06, 0x07, 0x0F
DISABLE_VOLTAGE, QUICK_STOP, FAULT_RESET = 0x00, 0x02, 0x80
#: Bits of the statusword.
WARNING, INTERNAL_LIMIT, FOLLOWS_COMMAND = 0x0080, 0x0800, 0x1000


@dataclass(frozen=True, slots=True)
class DriveState:
    """A state of a drive, and the controlword that leads from it where it shall be.

    Parameters
    ----------
    name
        As in CiA 402.
    mask, value
        The drive is in it if its statusword has this value under this mask.
    to_enabled
        The next step to "operation enabled".
    to_rest
        The next step to standstill without torque.
    """

    name: str
    mask: int
    value: int
    to_enabled: int
    to_rest: int

    def __str__(self) -> str:
        return f"'{self.name}'"


NOT_READY = DriveState("not ready to switch on", 0x4F, 0x00, DISABLE_VOLTAGE, DISABLE_VOLTAGE)
SWITCH_ON_DISABLED = DriveState("switch on disabled", 0x4F, 0x40, SHUTDOWN, DISABLE_VOLTAGE)
READY = DriveState("ready to switch on", 0x6F, 0x21, SWITCH_ON, DISABLE_VOLTAGE)
SWITCHED_ON = DriveState("switched on", 0x6F, 0x23, ENABLE, DISABLE_VOLTAGE)
ENABLED = DriveState("operation enabled", 0x6F, 0x27, ENABLE, QUICK_STOP)
QUICK_STOP_ACTIVE = DriveState("quick stop active", 0x6F, 0x07, DISABLE_VOLTAGE, QUICK_STOP)
FAULT_REACTION = DriveState("fault reaction active", 0x4F, 0x0F, DISABLE_VOLTAGE, DISABLE_VOLTAGE)
FAULT = DriveState("fault", 0x4F, 0x08, FAULT_RESET, DISABLE_VOLTAGE)
STATES = (
    NOT_READY,
    SWITCH_ON_DISABLED,
    READY,
    SWITCHED_ON,
    ENABLED,
    QUICK_STOP_ACTIVE,
    FAULT_REACTION,
    FAULT,
)
IN_FAULT = frozenset((FAULT_REACTION, FAULT))
#: In these a drive gives no torque.
AT_REST = frozenset((NOT_READY, SWITCH_ON_DISABLED, READY, SWITCHED_ON, FAULT))


def state_of(statusword: int) -> DriveState:
    """Return the state that a statusword tells.

    Raises
    ------
    WireFormatError
        If it tells none.
    """
    for state in STATES:
        if statusword & state.mask == state.value:
            return state
    raise WireFormatError(f"statusword: expected a state of CiA 402, found {statusword:#06x}")
