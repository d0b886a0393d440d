"""The registered arms; define others in one line each, see :mod:`.partial_arm`."""

from __future__ import annotations

from python_blocks.manipulators.partial_arm import PartialArm


class TwoJointArm(PartialArm, joints="RR"):
    """Arm of two links on joints that turn.

    See :class:`.partial_arm.PartialArm` for the connectors; a link has the frame of its joint.

    ==================== ========= ====== ==========================================
    connector            causality unit   meaning
    ==================== ========= ====== ==========================================
    effort_1             input     N.m    torque on joint 1, if given
    effort_2             input     N.m    torque on joint 2, if given
    given_position_1     input     rad    position of joint 1, if given
    given_position_2     input     rad    position of joint 2, if given
    given_velocity_1     input     rad/s  velocity of joint 1, if given
    given_velocity_2     input     rad/s  velocity of joint 2, if given
    given_acceleration_1 input     rad/s2 acceleration of joint 1, if given
    given_acceleration_2 input     rad/s2 acceleration of joint 2, if given
    position_1           output    rad    position of joint 1
    position_2           output    rad    position of joint 2
    velocity_1           output    rad/s  velocity of joint 1
    velocity_2           output    rad/s  velocity of joint 2
    acceleration_1       output    rad/s2 acceleration of joint 1
    acceleration_2       output    rad/s2 acceleration of joint 2
    joint_effort_1       output    N.m    torque of joint 1
    joint_effort_2       output    N.m    torque of joint 2
    inertia_1            output    kg.m2  inertia of the arm at joint 1
    inertia_2            output    kg.m2  inertia of the arm at joint 2
    bias_1               output    N.m    torque of joint 1 without acceleration
    bias_2               output    N.m    torque of joint 2 without acceleration
    energy               output    J      kinetic energy of links and rotors
    tip                  output    m      tip of the last link, base frame, (3,)
    torque_joints        parameter        numbers of joints with a given torque
    acceleration_joints  parameter        numbers of joints with a given motion
    gravity              parameter m/s2   in the base frame, (3,)
    tool                 parameter m      tip in the frame of the last joint, (3,)
    link_parent          parameter 1      joints before, 0: the base, (2,)
    link_axis            parameter 1      axes of the joints, (2, 3)
    link_offset          parameter m      frames in the previous ones, (2, 3)
    link_attitude        parameter 1      their quaternions there, (2, 4)
    link_mass            parameter kg     masses of the links, (2,)
    link_centre          parameter m      centres of mass, (2, 3)
    link_inertia         parameter kg.m2  inertias about them, (2, 3, 3)
    position0_1          parameter rad    initial position of joint 1
    position0_2          parameter rad    initial position of joint 2
    velocity0_1          parameter rad/s  initial rate of joint 1
    velocity0_2          parameter rad/s  initial rate of joint 2
    rotor_1              parameter kg.m2  rotor's inertia at joint 1
    rotor_2              parameter kg.m2  rotor's inertia at joint 2
    ==================== ========= ====== ==========================================

    References
    ----------
    Motor Substitution Test, Eq 1 to 4. Its arm (Figure 1) is in ``examples/met``.
    """


class SevenJointArm(PartialArm, joints="RRRRRRR"):
    """Arm of seven links on joints that turn.

    See :class:`.partial_arm.PartialArm` for the connectors; a link has the frame of its joint.

    ==================== ========= ====== ==========================================
    connector            causality unit   meaning
    ==================== ========= ====== ==========================================
    effort_1             input     N.m    torque on joint 1, if given
    effort_2             input     N.m    torque on joint 2, if given
    effort_3             input     N.m    torque on joint 3, if given
    effort_4             input     N.m    torque on joint 4, if given
    effort_5             input     N.m    torque on joint 5, if given
    effort_6             input     N.m    torque on joint 6, if given
    effort_7             input     N.m    torque on joint 7, if given
    given_position_1     input     rad    position of joint 1, if given
    given_position_2     input     rad    position of joint 2, if given
    given_position_3     input     rad    position of joint 3, if given
    given_position_4     input     rad    position of joint 4, if given
    given_position_5     input     rad    position of joint 5, if given
    given_position_6     input     rad    position of joint 6, if given
    given_position_7     input     rad    position of joint 7, if given
    given_velocity_1     input     rad/s  velocity of joint 1, if given
    given_velocity_2     input     rad/s  velocity of joint 2, if given
    given_velocity_3     input     rad/s  velocity of joint 3, if given
    given_velocity_4     input     rad/s  velocity of joint 4, if given
    given_velocity_5     input     rad/s  velocity of joint 5, if given
    given_velocity_6     input     rad/s  velocity of joint 6, if given
    given_velocity_7     input     rad/s  velocity of joint 7, if given
    given_acceleration_1 input     rad/s2 acceleration of joint 1, if given
    given_acceleration_2 input     rad/s2 acceleration of joint 2, if given
    given_acceleration_3 input     rad/s2 acceleration of joint 3, if given
    given_acceleration_4 input     rad/s2 acceleration of joint 4, if given
    given_acceleration_5 input     rad/s2 acceleration of joint 5, if given
    given_acceleration_6 input     rad/s2 acceleration of joint 6, if given
    given_acceleration_7 input     rad/s2 acceleration of joint 7, if given
    position_1           output    rad    position of joint 1
    position_2           output    rad    position of joint 2
    position_3           output    rad    position of joint 3
    position_4           output    rad    position of joint 4
    position_5           output    rad    position of joint 5
    position_6           output    rad    position of joint 6
    position_7           output    rad    position of joint 7
    velocity_1           output    rad/s  velocity of joint 1
    velocity_2           output    rad/s  velocity of joint 2
    velocity_3           output    rad/s  velocity of joint 3
    velocity_4           output    rad/s  velocity of joint 4
    velocity_5           output    rad/s  velocity of joint 5
    velocity_6           output    rad/s  velocity of joint 6
    velocity_7           output    rad/s  velocity of joint 7
    acceleration_1       output    rad/s2 acceleration of joint 1
    acceleration_2       output    rad/s2 acceleration of joint 2
    acceleration_3       output    rad/s2 acceleration of joint 3
    acceleration_4       output    rad/s2 acceleration of joint 4
    acceleration_5       output    rad/s2 acceleration of joint 5
    acceleration_6       output    rad/s2 acceleration of joint 6
    acceleration_7       output    rad/s2 acceleration of joint 7
    joint_effort_1       output    N.m    torque of joint 1
    joint_effort_2       output    N.m    torque of joint 2
    joint_effort_3       output    N.m    torque of joint 3
    joint_effort_4       output    N.m    torque of joint 4
    joint_effort_5       output    N.m    torque of joint 5
    joint_effort_6       output    N.m    torque of joint 6
    joint_effort_7       output    N.m    torque of joint 7
    inertia_1            output    kg.m2  inertia of the arm at joint 1
    inertia_2            output    kg.m2  inertia of the arm at joint 2
    inertia_3            output    kg.m2  inertia of the arm at joint 3
    inertia_4            output    kg.m2  inertia of the arm at joint 4
    inertia_5            output    kg.m2  inertia of the arm at joint 5
    inertia_6            output    kg.m2  inertia of the arm at joint 6
    inertia_7            output    kg.m2  inertia of the arm at joint 7
    bias_1               output    N.m    torque of joint 1 without acceleration
    bias_2               output    N.m    torque of joint 2 without acceleration
    bias_3               output    N.m    torque of joint 3 without acceleration
    bias_4               output    N.m    torque of joint 4 without acceleration
    bias_5               output    N.m    torque of joint 5 without acceleration
    bias_6               output    N.m    torque of joint 6 without acceleration
    bias_7               output    N.m    torque of joint 7 without acceleration
    energy               output    J      kinetic energy of links and rotors
    tip                  output    m      tip of the last link, base frame, (3,)
    torque_joints        parameter        numbers of joints with a given torque
    acceleration_joints  parameter        numbers of joints with a given motion
    gravity              parameter m/s2   in the base frame, (3,)
    tool                 parameter m      tip in the frame of the last joint, (3,)
    link_parent          parameter 1      joints before, 0: the base, (7,)
    link_axis            parameter 1      axes of the joints, (7, 3)
    link_offset          parameter m      frames in the previous ones, (7, 3)
    link_attitude        parameter 1      their quaternions there, (7, 4)
    link_mass            parameter kg     masses of the links, (7,)
    link_centre          parameter m      centres of mass, (7, 3)
    link_inertia         parameter kg.m2  inertias about them, (7, 3, 3)
    position0_1          parameter rad    initial position of joint 1
    position0_2          parameter rad    initial position of joint 2
    position0_3          parameter rad    initial position of joint 3
    position0_4          parameter rad    initial position of joint 4
    position0_5          parameter rad    initial position of joint 5
    position0_6          parameter rad    initial position of joint 6
    position0_7          parameter rad    initial position of joint 7
    velocity0_1          parameter rad/s  initial rate of joint 1
    velocity0_2          parameter rad/s  initial rate of joint 2
    velocity0_3          parameter rad/s  initial rate of joint 3
    velocity0_4          parameter rad/s  initial rate of joint 4
    velocity0_5          parameter rad/s  initial rate of joint 5
    velocity0_6          parameter rad/s  initial rate of joint 6
    velocity0_7          parameter rad/s  initial rate of joint 7
    rotor_1              parameter kg.m2  rotor's inertia at joint 1
    rotor_2              parameter kg.m2  rotor's inertia at joint 2
    rotor_3              parameter kg.m2  rotor's inertia at joint 3
    rotor_4              parameter kg.m2  rotor's inertia at joint 4
    rotor_5              parameter kg.m2  rotor's inertia at joint 5
    rotor_6              parameter kg.m2  rotor's inertia at joint 6
    rotor_7              parameter kg.m2  rotor's inertia at joint 7
    ==================== ========= ====== ==========================================

    References
    ----------
    Motor Substitution Test, Eq 1 to 4. Its conclusions propose 6 or 7 joints.
    """
