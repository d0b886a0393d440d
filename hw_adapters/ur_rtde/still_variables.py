"""Variables that the emulated controller has as a real one does, and that stay at 0.

References
----------
Universal Robots: Real-Time Data Exchange (RTDE) Guide, robot controller outputs.
"""

from __future__ import annotations

_REGISTERS = 48
_BY_TYPE = {
    "DOUBLE": (
        *("actual_execution_time", "actual_momentum", "actual_main_voltage"),
        *("actual_robot_voltage", "actual_robot_current", "speed_scaling", "payload"),
        *("target_speed_fraction", "standard_analog_input0", "standard_analog_input1"),
        *("standard_analog_output0", "standard_analog_output1"),
        *(f"output_double_register_{i}" for i in range(_REGISTERS)),
    ),
    "INT32": tuple(f"output_int_register_{i}" for i in range(1, _REGISTERS)),
    "UINT64": ("actual_digital_input_bits", "actual_digital_output_bits"),
    "VECTOR3D": ("actual_tool_accelerometer", "payload_cog"),
    "VECTOR6D": (
        *("target_qd", "target_qdd", "target_current", "target_moment", "target_TCP_speed"),
        *("actual_current", "joint_control_output", "joint_temperatures", "actual_joint_voltage"),
        *("ft_raw_wrench", "payload_inertia"),
    ),
    "VECTOR6INT32": ("joint_mode",),
}
_NUMBERS = {"VECTOR3D": 3, "VECTOR6D": 6, "VECTOR6INT32": 6}
#: Type and value, by name.
STILL: dict[str, tuple[str, tuple[float, ...]]] = {
    name: (kind, (0,) * _NUMBERS.get(kind, 1)) for kind, names in _BY_TYPE.items() for name in names
}
