"""Why a guard went to its safe state."""

from __future__ import annotations

from enum import IntEnum


class Reason(IntEnum):
    """Causes, as the Integer output ``reason`` of a guard shows them; 0: it is in operation."""

    OPERATION = 0
    COMMAND_NOT_FINITE = 1
    TRAVEL = 2
    VELOCITY = 3
    ACCELERATION = 4
    LEGS = 5
    SINGULAR = 6
    KINEMATICS = 7
    FORCE_NOT_FINITE = 8
    FORCE = 9
    SENSOR_STALE = 10
    SENSOR_LOST = 11
    WRONG_SIGN = 12
    UNKNOWN_CONTACT = 13
    DISAGREEMENT = 14
    ENERGY = 15

    @property
    def what(self) -> str:
        """What was found, in words."""
        return _WORDS[self][0]

    @property
    def advice(self) -> str:
        """What to do."""
        return _WORDS[self][1]

    @property
    def warning(self) -> str:
        """What is said where it is not yet a cause to stop."""
        return _WARNINGS[self]


#: For the descriptions of connectors.
REASONS = ", ".join(f"{reason.value} {reason.name.lower()}" for reason in Reason)
_WORDS = {
    Reason.OPERATION: ("nothing is wrong", "nothing"),
    Reason.COMMAND_NOT_FINITE: (
        "the command for the robot is no number",
        "look at the simulation that computes it, and at the force it is given",
    ),
    Reason.TRAVEL: (
        "the command left the range that is allowed around the start",
        "look for a loop that gains energy: delay, stiffness, sign; or enlarge 'travel'",
    ),
    Reason.VELOCITY: (
        "the command moves, or jumps, faster than is allowed",
        "look at what computes it; or enlarge 'speed' (and 'turning')",
    ),
    Reason.ACCELERATION: (
        "the command accelerates more than is allowed",
        "look for jumps of the force; or enlarge 'acceleration' (and 'angular')",
    ),
    Reason.LEGS: (
        "a leg is nearer to its limit than is allowed",
        "move the start or the motion into the workspace, or correct the limits of the legs",
    ),
    Reason.SINGULAR: (
        "the robot is near a singular pose",
        "keep the motion away from it, or choose another geometry",
    ),
    Reason.KINEMATICS: (
        "the kinematics of the robot found no pose to believe",
        "look at the measured lengths, the geometry and the pose that is commanded",
    ),
    Reason.FORCE_NOT_FINITE: (
        "the force is no number",
        "look at the sensor, its link and what is computed from it",
    ),
    Reason.FORCE: (
        "the force is larger than is allowed",
        "look for a hard contact or a jump of the sensor; or enlarge 'limit'",
    ),
    Reason.SENSOR_STALE: (
        "the sensor shows the same sample over and over while the robot moves",
        "look at the sensor and its link: samples are lost or it is stuck",
    ),
    Reason.SENSOR_LOST: (
        "the sensor is said to be lost",
        "look at the sensor and its link",
    ),
    Reason.WRONG_SIGN: (
        "the identified stiffness is negative, so a sign is wrong",
        "look at the axes and signs from the sensor to the dynamics",
    ),
    Reason.UNKNOWN_CONTACT: (
        "the contact moved far without its stiffness being known",
        "look at the identifier: excitation, first deviations, gate and noise",
    ),
    Reason.DISAGREEMENT: (
        "the force that is used and the force that is measured disagree",
        "look at the sensor, the identified parameters and the robot's error of position",
    ),
    Reason.ENERGY: (
        "the hardware has given the simulation more energy than a contact can store",
        "look for delay that is not compensated, or a stiffness that is identified too small",
    ),
}
_WARNINGS = {
    Reason.UNKNOWN_CONTACT: (
        "the stiffness of the contact is still unknown, and the compensation with it; it hardly"
        " moves so far"
    ),
}
