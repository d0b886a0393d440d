"""Why a rig is brought to rest: one table for the guards in a loop and for its supervisor."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class Reason(IntEnum):
    """Causes, as the output ``reason`` of a guard and a supervisor show them; 0: in operation.

    Guards know those up to ``ENERGY``, a supervisor all of them.

    what: What was found, in words.
    advice: What to do.
    warning: What is said where it is not yet a cause to stop; empty: it always is one.
    """

    _value_: int
    what: str
    advice: str
    warning: str

    def __new__(  # noqa: D102 - the class says it
        cls, number: int, what: str = "", advice: str = "", warning: str = ""
    ) -> Self:
        made = int.__new__(cls, number)
        made._value_, made.what, made.advice, made.warning = number, what, advice, warning
        return made

    OPERATION = 0, "nothing is wrong", "nothing"
    COMMAND_NOT_FINITE = (
        1,
        "the command for the robot is no number",
        "look at the simulation that computes it, and at the force it is given",
    )
    TRAVEL = (
        2,
        "the command left the range that is allowed around the start",
        "look for a loop that gains energy: delay, stiffness, sign; or enlarge 'travel'",
    )
    VELOCITY = (
        3,
        "the command moves, or jumps, faster than is allowed",
        "look at what computes it; or enlarge 'speed' (and 'turning')",
    )
    ACCELERATION = (
        4,
        "the command accelerates more than is allowed",
        "look for jumps of the force; or enlarge 'acceleration' (and 'angular')",
    )
    LEGS = (
        5,
        "a leg is nearer to its limit than is allowed",
        "move the start or the motion into the workspace, or correct the limits of the legs",
    )
    SINGULAR = (
        6,
        "the robot is near a singular pose",
        "keep the motion away from it, or choose another geometry",
    )
    KINEMATICS = (
        7,
        "the kinematics of the robot found no pose to believe",
        "look at the measured lengths, the geometry and the pose that is commanded",
    )
    FORCE_NOT_FINITE = (
        8,
        "the force is no number",
        "look at the sensor, its link and what is computed from it",
    )
    FORCE = (
        9,
        "the force is larger than is allowed",
        "look for a hard contact or a jump of the sensor; or enlarge 'limit'",
    )
    SENSOR_STALE = (
        10,
        "the newest sample is too old, or shows the same over and over while it should change",
        "look at the sensor and its link: samples are lost or it is stuck",
    )
    SENSOR_LOST = 11, "the sensor is said to be lost", "look at the sensor and its link"
    WRONG_SIGN = (
        12,
        "the identified stiffness is negative, so a sign is wrong",
        "look at the axes and signs from the sensor to the dynamics",
    )
    UNKNOWN_CONTACT = (
        13,
        "the contact moved far without its stiffness being known",
        "look at the identifier: excitation, first deviations, gate and noise",
        (
            "the stiffness of the contact is still unknown, and the compensation with it; it hardly"
            " moves so far"
        ),
    )
    DISAGREEMENT = (
        14,
        "the force that is used and the force that is measured disagree",
        "look at the sensor, the identified parameters and the robot's error of position",
    )
    ENERGY = (
        15,
        "the hardware has given the simulation more energy than a contact can store",
        "look for delay that is not compensated, or a stiffness that is identified too small",
    )
    TORQUE = (
        16,
        "the torque is larger than is allowed",
        "look for a hard contact or a jump of the sensor; or enlarge its limit",
    )
    JERK = (
        17,
        "the acceleration of the command changes faster than is allowed",
        "look for jumps of the force and for steps that are late; or enlarge 'jerk'",
    )
    WORKSPACE = (
        18,
        "the device is beyond its workspace",
        "look at the start and at what drives it there; or enlarge the limit of the signal",
    )
    SLEW = (
        19,
        "a measured value jumps, or changes faster than is allowed",
        "look at the sensor and its link; or enlarge 'slew'",
    )
    STATUS = (
        20,
        "the device says itself that it is not in order",
        "read its status word and its own log",
    )
    COMMAND_STALE = (
        21,
        "the simulation gives no new command",
        "look at its overruns: it hangs, or the machine is busy",
    )
    ENGINE_LOST = (
        22,
        "the process of the simulation has ended",
        "look at what it wrote; its journal has what was recorded",
    )
    DEVICE_LOST = (
        23,
        "a device, or the process that leads it, is gone",
        "look at its power, its link and what its process wrote",
    )
    SUPERVISOR_LOST = (
        24,
        "the supervisor gives no sign of life",
        "look at what it wrote; start the rig anew",
    )
    OPERATOR_LOST = (
        25,
        "the terminal of the operator is gone",
        "come back with 'softdock supervisor attend', and reset",
    )
    OPERATOR_STOP = 26, "an operator stopped it", "reset it when all is well"
    OVERDUE = (
        27,
        "it did not come to rest in time",
        "look at the device: it does not follow; enlarge 'deceleration' or 'rest_within'",
    )
    CLOCK = (
        28,
        "the clock of the device jumped",
        "look whether it was started anew, and at who else sets its time",
    )
    MALFORMED = (
        29,
        "too many datagrams are none of its protocol, or have values that are no numbers",
        "look at who else sends to the port, and at the device",
    )
    EMERGENCY_STOP = 30, "the hard-wired stop is open", "close it when it is safe to, and reset"
    DEVICE_CHANGED = (
        31,
        "the device follows its command later, earlier or with another gain than before",
        "look at its controller, its filters and its load; identify it anew",
    )
    MARGIN = (
        32,
        "the delay or the gain of the device leaves less margin than the reserve",
        "identify the device anew, and arm with what is found",
    )
    DEVICE_RESTARTED = (
        33,
        "the device was started anew, so that its commands no longer count from where it is",
        "see that it may move, and begin another run, which opens it from where it stands",
    )
    OPERATOR_QUICK_STOP = (
        34,
        "an operator stopped it as fast as it can",
        "reset it when all is well",
    )
    COMMAND_LOST = (
        35,
        "the device does not take the commands that it is sent",
        "look at the way to the device, at its own timeouts and at the program that reads them",
    )
