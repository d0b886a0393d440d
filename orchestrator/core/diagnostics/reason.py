"""Why a rig is brought to rest: one table for the guards in a loop and for its supervisor."""

from __future__ import annotations

from enum import IntEnum


class Reason(IntEnum):
    """Causes, as the output ``reason`` of a guard and a supervisor show them; 0: in operation.

    Guards know those up to ``ENERGY``, a supervisor all of them.
    """

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
    TORQUE = 16
    JERK = 17
    WORKSPACE = 18
    SLEW = 19
    STATUS = 20
    COMMAND_STALE = 21
    ENGINE_LOST = 22
    DEVICE_LOST = 23
    SUPERVISOR_LOST = 24
    OPERATOR_LOST = 25
    OPERATOR_STOP = 26
    OVERDUE = 27
    CLOCK = 28
    MALFORMED = 29
    EMERGENCY_STOP = 30
    DEVICE_CHANGED = 31
    MARGIN = 32
    DEVICE_RESTARTED = 33
    OPERATOR_QUICK_STOP = 34

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
    Reason.TORQUE: (
        "the torque is larger than is allowed",
        "look for a hard contact or a jump of the sensor; or enlarge its limit",
    ),
    Reason.JERK: (
        "the acceleration of the command changes faster than is allowed",
        "look for jumps of the force and for steps that are late; or enlarge 'jerk'",
    ),
    Reason.WORKSPACE: (
        "the device is beyond its workspace",
        "look at the start and at what drives it there; or enlarge the limit of the signal",
    ),
    Reason.SLEW: (
        "a measured value jumps, or changes faster than is allowed",
        "look at the sensor and its link; or enlarge 'slew'",
    ),
    Reason.STATUS: (
        "the device says itself that it is not in order",
        "read its status word and its own log",
    ),
    Reason.COMMAND_STALE: (
        "the simulation gives no new command",
        "look at its overruns: it hangs, or the machine is busy",
    ),
    Reason.ENGINE_LOST: (
        "the process of the simulation has ended",
        "look at what it wrote; its journal has what was recorded",
    ),
    Reason.DEVICE_LOST: (
        "a device, or the process that leads it, is gone",
        "look at its power, its link and what its process wrote",
    ),
    Reason.SUPERVISOR_LOST: (
        "the supervisor gives no sign of life",
        "look at what it wrote; start the rig anew",
    ),
    Reason.OPERATOR_LOST: (
        "the terminal of the operator is gone",
        "come back with 'softdock supervisor attend', and reset",
    ),
    Reason.OPERATOR_STOP: ("an operator stopped it", "reset it when all is well"),
    Reason.OPERATOR_QUICK_STOP: (
        "an operator stopped it as fast as it can",
        "reset it when all is well",
    ),
    Reason.OVERDUE: (
        "it did not come to rest in time",
        "look at the device: it does not follow; enlarge 'deceleration' or 'rest_within'",
    ),
    Reason.CLOCK: (
        "the clock of the device jumped",
        "look whether it was started anew, and at who else sets its time",
    ),
    Reason.MALFORMED: (
        "too many datagrams are none of its protocol, or have values that are no numbers",
        "look at who else sends to the port, and at the device",
    ),
    Reason.EMERGENCY_STOP: (
        "the hard-wired stop is open",
        "close it when it is safe to, and reset",
    ),
    Reason.DEVICE_CHANGED: (
        "the device follows its command later, earlier or with another gain than before",
        "look at its controller, its filters and its load; identify it anew",
    ),
    Reason.MARGIN: (
        "the delay or the gain of the device leaves less margin than the reserve",
        "identify the device anew, and arm with what is found",
    ),
    Reason.DEVICE_RESTARTED: (
        "the device was started anew, so that its commands no longer count from where it is",
        "see that it may move, and begin another run, which opens it from where it stands",
    ),
}
_WARNINGS = {
    Reason.UNKNOWN_CONTACT: (
        "the stiffness of the contact is still unknown, and the compensation with it; it hardly"
        " moves so far"
    ),
}
