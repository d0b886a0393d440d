"""The objects of a drive that the adapter uses, by name.

References
----------
CiA 402-2, drives and motion control: operation modes and application data; IEC 61800-7-201.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal

Mode = Literal["csp", "csv", "cst"]
#: Of object 0x6060; the bit of object 0x6502 is one below.
MODES: dict[Mode, int] = {"csp": 8, "csv": 9, "cst": 10}


@dataclass(frozen=True, slots=True)
class DriveObject:
    """An object of the dictionary of a drive.

    Parameters
    ----------
    name
        By which settings call it.
    index, sub
        Where it is.
    code
        Of :mod:`struct`: its type.
    commanded
        Whether it may be in an RPDO; else it may be in a TPDO.
    """

    name: str
    index: int
    sub: int
    code: str
    commanded: bool = False

    @property
    def size(self) -> int:
        """Its bytes."""
        return struct.calcsize(f"<{self.code}")

    @property
    def largest(self) -> int:
        """The largest value of its type."""
        bits = 8 * self.size
        return (1 << bits) - 1 if self.code.isupper() else (1 << (bits - 1)) - 1

    @property
    def mapping(self) -> int:
        """As an entry of a PDO mapping: index, sub-index, bits."""
        return self.index << 16 | self.sub << 8 | self.size * 8

    def pack(self, value: int) -> bytes:
        """Return the bytes of a value; raises ``struct.error`` if it does not fit."""
        return struct.pack(f"<{self.code}", value)

    def unpack(self, data: bytes) -> int:
        """Return the value of bytes."""
        (value,) = struct.unpack(f"<{self.code}", data)
        return int(value)

    def first_of(self, data: bytes) -> bytes:
        """Return its bytes of more than it has: a text ends before the first 0."""
        return data.split(b"\0", 1)[0] if self.code == "s" else data[: self.size]

    def __str__(self) -> str:
        return f"'{self.name}' ({self.index:04X}:{self.sub:02X})"


#: What may be mapped into PDOs.
MAPPABLE = {
    found.name: found
    for found in (
        DriveObject("controlword", 0x6040, 0, "H", commanded=True),
        DriveObject("mode", 0x6060, 0, "b", commanded=True),
        DriveObject("target_position", 0x607A, 0, "i", commanded=True),
        DriveObject("target_velocity", 0x60FF, 0, "i", commanded=True),
        DriveObject("target_torque", 0x6071, 0, "h", commanded=True),
        DriveObject("statusword", 0x6041, 0, "H"),
        DriveObject("mode_display", 0x6061, 0, "b"),
        DriveObject("error_code", 0x603F, 0, "H"),
        DriveObject("position", 0x6064, 0, "i"),
        DriveObject("velocity", 0x606C, 0, "i"),
        DriveObject("torque", 0x6077, 0, "h"),
        DriveObject("following_error", 0x60F4, 0, "i"),
        DriveObject("position_demand", 0x6062, 0, "i"),
        DriveObject("velocity_demand", 0x606B, 0, "i"),
        DriveObject("torque_demand", 0x6074, 0, "h"),
    )
}
TARGETS: dict[Mode, str] = {
    "csp": "target_position",
    "csv": "target_velocity",
    "cst": "target_torque",
}

#: What the loops of the drive follow: the command that it has taken.
DEMANDS: dict[Mode, str] = {
    "csp": "position_demand",
    "csv": "velocity_demand",
    "cst": "torque_demand",
}

DEVICE_TYPE = DriveObject("device type", 0x1000, 0, "I")
#: Text of any length.
DEVICE_NAME = DriveObject("device name", 0x1008, 0, "s")
CYCLE_PERIOD = DriveObject("communication cycle period", 0x1006, 0, "I")
CONSUMER_HEARTBEAT = DriveObject("consumer heartbeat time", 0x1016, 1, "I")
PRODUCER_HEARTBEAT = DriveObject("producer heartbeat time", 0x1017, 0, "H")
ABORT_OPTION = DriveObject("abort connection option code", 0x6007, 0, "h")
QUICK_STOP_OPTION = DriveObject("quick stop option code", 0x605A, 0, "h")
FOLLOWING_WINDOW = DriveObject("following error window", 0x6065, 0, "I")
MAX_TORQUE = DriveObject("max torque", 0x6072, 0, "H")
RATED_TORQUE = DriveObject("motor rated torque", 0x6076, 0, "I")
QUICK_STOP_DECELERATION = DriveObject("quick stop deceleration", 0x6085, 0, "I")
MAX_ACCELERATION = DriveObject("max acceleration", 0x60C5, 0, "I")
INTERPOLATION_PERIOD = DriveObject("interpolation time period value", 0x60C2, 1, "B")
INTERPOLATION_EXPONENT = DriveObject("interpolation time index", 0x60C2, 2, "b")
SUPPORTED_MODES = DriveObject("supported drive modes", 0x6502, 0, "I")

MayLack = Literal[
    "cycle_period",
    "abort_option",
    "quick_stop_option",
    "quick_stop_deceleration",
    "max_torque",
    "interpolation_period",
]
#: What a drive may lack, and must then be told of: the adapter does not try it.
MAY_LACK: dict[MayLack, tuple[DriveObject, ...]] = {
    "cycle_period": (CYCLE_PERIOD,),
    "abort_option": (ABORT_OPTION,),
    "quick_stop_option": (QUICK_STOP_OPTION,),
    "quick_stop_deceleration": (QUICK_STOP_DECELERATION,),
    "max_torque": (MAX_TORQUE,),
    "interpolation_period": (INTERPOLATION_PERIOD, INTERPOLATION_EXPONENT),
}
