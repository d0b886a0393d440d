"""Which variables of the controller become which connectors, and what its status bits mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Measured = Literal[
    "q",
    "qd",
    "tcp_position",
    "tcp_rotation",
    "tcp_velocity",
    "tcp_angular_velocity",
    "tcp_force",
    "tcp_torque",
]


@dataclass(frozen=True, slots=True)
class Measurement:
    """A part of a variable of six numbers.

    Parameters
    ----------
    variable
        Of RTDE.
    first, count
        Which of its numbers.
    unit, description
        Of the connector.
    """

    variable: str
    first: int
    count: int
    unit: str
    description: str


#: By name of the connector; what is of the TCP is in the frame of the robot's base.
MEASUREMENTS: dict[Measured, Measurement] = {
    "q": Measurement("actual_q", 0, 6, "rad", "Joint angles"),
    "qd": Measurement("actual_qd", 0, 6, "rad/s", "Joint velocities"),
    "tcp_position": Measurement("actual_TCP_pose", 0, 3, "m", "Position of the tool"),
    "tcp_rotation": Measurement("actual_TCP_pose", 3, 3, "rad", "Rotation vector of the tool"),
    "tcp_velocity": Measurement("actual_TCP_speed", 0, 3, "m/s", "Velocity of the tool"),
    "tcp_angular_velocity": Measurement(
        "actual_TCP_speed", 3, 3, "rad/s", "Angular velocity of the tool"
    ),
    "tcp_force": Measurement("actual_TCP_force", 0, 3, "N", "Force at the tool"),
    "tcp_torque": Measurement("actual_TCP_force", 3, 3, "N.m", "Torque at the tool"),
}
TIME, SAFETY, ROBOT = "timestamp", "safety_status_bits", "robot_status_bits"
#: Bits of safety_status_bits, in the order of UrRtdeSafetyStatusBits in ur_client_library: normal
#: mode; and all that stop the robot (protective stop, safeguard stop, three emergency stops,
#: violation, fault, stopped due to safety).
NORMAL, STOPPED = 0x001, 0x7F4
#: Bit of robot_status_bits.
PROGRAM_RUNS = 0x2
