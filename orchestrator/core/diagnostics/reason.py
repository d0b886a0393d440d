"""Why a rig is brought to rest: one table for the guards in a loop and for its supervisor."""

from __future__ import annotations

from enum import IntEnum
from typing import Self


class Reason(IntEnum):
    """Causes that bring a rig to rest, as the output ``reason`` of guards; 0: in operation.

    Guards know those up to ``ENERGY``, a supervisor all of them.

    text: The finding, in words.
    advice: Instruction for the operator.
    warning: Text while the finding does not stop the rig yet; empty: it always stops the rig.
    """

    _value_: int
    text: str
    advice: str
    warning: str

    def __new__(  # noqa: D102 - the class says it
        cls, number: int, text: str = "", advice: str = "", warning: str = ""
    ) -> Self:
        reason = int.__new__(cls, number)
        reason._value_, reason.text, reason.advice, reason.warning = number, text, advice, warning
        return reason

    OPERATION = 0, "nothing is wrong", "nothing"
    COMMAND_NOT_FINITE = (
        1,
        "the command for the robot is not a finite number",
        "check the simulation that computes it, and the force that it receives",
    )
    TRAVEL = (
        2,
        "the command left the allowed range around the start",
        "check the loop for a gain of energy (delay, stiffness, sign), or enlarge 'travel'",
    )
    VELOCITY = (
        3,
        "the command moves or jumps faster than allowed",
        "check the component that computes it, or enlarge 'speed' (and 'turning')",
    )
    ACCELERATION = (
        4,
        "the command accelerates more than allowed",
        "check the force for jumps, or enlarge 'acceleration' (and 'angular')",
    )
    LEGS = (
        5,
        "a leg is closer to its limit than allowed",
        "move the start or the motion into the workspace, or correct the limits of the legs",
    )
    SINGULAR = (
        6,
        "the robot is near a singular pose",
        "keep the motion away from it, or choose another geometry",
    )
    KINEMATICS = (
        7,
        "the kinematics of the robot found no plausible pose",
        "check the measured lengths, the geometry and the commanded pose",
    )
    FORCE_NOT_FINITE = (
        8,
        "the force is not finite",
        "check the sensor, its link and the signals computed from it",
    )
    FORCE = (
        9,
        "the force is larger than allowed",
        "check for a hard contact or a jump of the sensor, or enlarge 'limit'",
    )
    SENSOR_STALE = (
        10,
        "the newest sample is too old, or repeats the same values while they should change",
        "check the sensor and its link: samples are lost, or the sensor is stuck",
    )
    SENSOR_LOST = 11, "the sensor is reported as lost", "check the sensor and its link"
    WRONG_SIGN = (
        12,
        "the identified stiffness is negative, so a sign is wrong",
        "check the axes and signs from the sensor to the dynamics",
    )
    UNKNOWN_CONTACT = (
        13,
        "the contact moved far while its stiffness was unknown",
        "check the identifier: excitation, first deviations, gate and noise",
        (
            "the stiffness of the contact, and so its compensation, is still unknown, since it"
            " has hardly moved so far"
        ),
    )
    DISAGREEMENT = (
        14,
        "the used force and the measured force disagree",
        "check the sensor, the identified parameters and the position error of the robot",
    )
    ENERGY = (
        15,
        "the hardware has given the simulation more energy than a contact can store",
        "check for delay that is not compensated, or a stiffness that is identified too small",
    )
    TORQUE = (
        16,
        "the torque is larger than allowed",
        "check for a hard contact or a jump of the sensor, or enlarge its limit",
    )
    JERK = (
        17,
        "the acceleration of the command changes faster than allowed",
        "check for jumps of the force and late steps, or enlarge 'jerk'",
    )
    WORKSPACE = (
        18,
        "the device is beyond its workspace",
        "check the start and the motion that leads there, or enlarge the limit of the signal",
    )
    SLEW = (
        19,
        "a measured value jumps, or changes faster than allowed",
        "check the sensor and its link, or enlarge 'slew'",
    )
    STATUS = (
        20,
        "the device itself reports a fault",
        "read its status word and its own log",
    )
    COMMAND_STALE = (
        21,
        "the simulation gives no new command",
        "check its overruns: it hangs, or the machine is busy",
    )
    ENGINE_LOST = (
        22,
        "the process of the simulation has ended",
        "read its output; the journal has the recorded rows",
    )
    DEVICE_LOST = (
        23,
        "a device, or the process that controls it, is gone",
        "check its power, its link and the output of its process",
    )
    SUPERVISOR_LOST = (
        24,
        "the supervisor gives no sign of life",
        "read its output, then start the rig again",
    )
    OPERATOR_LOST = (
        25,
        "the terminal of the operator is gone",
        "attend again with 'softdock supervisor attend', then reset the rig",
    )
    OPERATOR_STOP = 26, "an operator stopped the rig", "reset the rig when it is safe to"
    OVERDUE = (
        27,
        "it did not come to rest in time",
        "check why the device does not follow, or enlarge 'deceleration' or 'rest_within'",
    )
    CLOCK = (
        28,
        "the clock of the device jumped",
        "check whether the device was restarted, and whether another program sets its time",
    )
    MALFORMED = (
        29,
        "too many datagrams are not of its protocol, or have values that are not numbers",
        "check the device, and whether another program sends to the port",
    )
    EMERGENCY_STOP = 30, "the hard-wired stop is open", "close it when it is safe to, and reset"
    DEVICE_CHANGED = (
        31,
        "the device follows its command later, earlier or with another gain than before",
        "check its controller, filters and load, then identify it again",
    )
    MARGIN = (
        32,
        "the delay or the gain of the device leaves less margin than the reserve",
        "identify the device again, then arm the rig with the new model",
    )
    DEVICE_RESTARTED = (
        33,
        "the device was restarted, so its commands no longer count from its present position",
        "make sure that it may move, then start another run, which begins at its present position",
    )
    OPERATOR_QUICK_STOP = (
        34,
        "an operator stopped the rig by a quick stop",
        "reset the rig when it is safe to",
    )
    COMMAND_LOST = (
        35,
        "the device ignores its commands",
        "check the link to the device, its own timeouts and the program that reads the commands",
    )
