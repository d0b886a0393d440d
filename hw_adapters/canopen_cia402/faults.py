"""What drives say when they cannot go on, in words."""

from __future__ import annotations

from dataclasses import dataclass

#: Emergency codes of CiA 301 and CiA 402, the most special first: code, mask, text.
_EMERGENCIES = (
    (0x8611, 0xFFFF, "following error"),
    (0x8612, 0xFFFF, "reference limit"),
    (0x8130, 0xFFFF, "heartbeat of the master lost"),
    (0x8140, 0xFFFF, "recovered from bus off"),
    (0x8700, 0xFF00, "no SYNC"),
    (0x8600, 0xFF00, "positioning"),
    (0x8100, 0xFF00, "communication"),
    (0x8200, 0xFF00, "protocol, such as a PDO of another length"),
    (0x2000, 0xF000, "current"),
    (0x3000, 0xF000, "voltage"),
    (0x4000, 0xF000, "temperature"),
    (0x5000, 0xF000, "hardware of the drive"),
    (0x6000, 0xF000, "software of the drive"),
    (0x7300, 0xFF00, "encoder"),
    (0x7000, 0xF000, "brake, motor or encoder"),
    (0x9000, 0xFF00, "external error"),
)
#: Abort codes of SDO, CiA 301 table 22.
_ABORTS = {
    0x0503_0000: "toggle bit",
    0x0504_0000: "time-out of the SDO protocol",
    0x0504_0001: "unknown command",
    0x0601_0000: "access is not supported",
    0x0601_0001: "it can be written only",
    0x0601_0002: "it can be read only",
    0x0602_0000: "there is no such object",
    0x0604_0041: "it cannot be mapped into a PDO",
    0x0604_0042: "the PDO would be too long",
    0x0604_0043: "parameters contradict each other",
    0x0606_0000: "hardware",
    0x0607_0010: "another length is expected",
    0x0609_0011: "there is no such sub-index",
    0x0609_0030: "the value is out of range",
    0x0609_0031: "the value is too large",
    0x0609_0032: "the value is too small",
    0x0800_0020: "it cannot be stored",
    0x0800_0022: "not in this state of the drive",
}
#: Statuses of samples beside the codes of emergencies, from what CiA 402 leaves to devices.
HEARTBEAT_LOST, LEFT_OPERATION, ENCODER, REPEATED = 0x8130, 0xFF00, 0x7300, 0xFF01


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a drive cannot go on.

    Parameters
    ----------
    drive
        Name and node.
    code
        As of an emergency.
    text
        What happened.
    """

    drive: str
    code: int
    text: str

    def __str__(self) -> str:
        return f"{self.drive}: {self.text}"


def emergency_text(code: int) -> str:
    """Return a code with its meaning."""
    for value, mask, text in _EMERGENCIES:
        if code & mask == value:
            return f"{code:#06x} ({text})"
    return f"{code:#06x}"


def abort_text(code: int) -> str:
    """Return an abort code of SDO with its meaning."""
    return f"{_ABORTS.get(code, 'refused')} ({code:#010x})"
