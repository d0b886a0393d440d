"""The adapter for robots of Universal Robots."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Literal, Self, cast

from pydantic import Field, model_validator

from hw_adapters.counter import TakenCounter
from hw_adapters.ur_rtde import codec
from hw_adapters.ur_rtde.client import RtdeClient
from hw_adapters.ur_rtde.codec import Recipe
from hw_adapters.ur_rtde.rotation import turned
from hw_adapters.ur_rtde.variables import (
    MEASUREMENTS,
    NORMAL,
    PROGRAM_RUNS,
    ROBOT,
    SAFETY,
    STOPPED,
    TIME,
    Measured,
)
from orchestrator.rig.devices import (
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceError,
    DeviceSettings,
    Received,
)

_ORIGINS = {"joint": "actual_q", "cartesian": "actual_TCP_pose"}
#: The counter begins at 1 again after this: 0 says that nobody commands.
_MOST_COUNT = 0x7FFF_FFFF
_NOT_RUNNING = 1 << 16
#: The commands that measurements follow, by the space that is commanded.
_FOLLOWS = {("q", "joint"): "dq", ("tcp_position", "cartesian"): "d_position"}
_DEFAULT: tuple[Measured, ...] = ("q", "tcp_position", "tcp_rotation", "tcp_force", "tcp_torque")


class UrRtdeSettings(DeviceSettings):
    """Where the controller is, and what is exchanged.

    Parameters
    ----------
    device_host, device_port
        Of the controller.
    rate
        Packages per second, Hz: 500 at most, 125 on CB3.
    measured
        Connectors of the outputs.
    space
        ``joint``: offsets of six joints; ``cartesian``: of position and orientation of the tool;
        ``none``: nothing is commanded.
    first_register
        Of six ``input_double_register``, which a program on the robot reads.
    counter_register
        ``input_int_register`` that counts commands, for the watchdog of that program.
    translation_limit, rotation_limit
        Range of commands, m and rad.
    speed_limit, angular_speed_limit
        A command that changes faster is sent slower, and ends the run if that lasts, m/s and
        rad/s.
    deceleration_limit, angular_deceleration_limit
        With which commands come to rest when nobody gives them any more, m/s2 and rad/s2.
    frame
        Name of the frame of the base.
    """

    device_host: str
    device_port: int = Field(default=30004, ge=1, le=65535)
    rate: float = Field(default=500.0, gt=0.0, le=500.0)
    measured: tuple[Measured, ...] = _DEFAULT
    space: Literal["joint", "cartesian", "none"] = "joint"
    first_register: int = Field(default=0, ge=0, le=42)
    counter_register: int = Field(default=0, ge=0, le=47)
    translation_limit: float = Field(default=0.05, gt=0.0, allow_inf_nan=False)
    rotation_limit: float = Field(default=0.1, gt=0.0, allow_inf_nan=False)
    speed_limit: float = Field(default=0.25, gt=0.0, allow_inf_nan=False)
    angular_speed_limit: float = Field(default=0.5, gt=0.0, allow_inf_nan=False)
    deceleration_limit: float = Field(default=2.0, gt=0.0, allow_inf_nan=False)
    angular_deceleration_limit: float = Field(default=4.0, gt=0.0, allow_inf_nan=False)
    frame: str | None = None

    @model_validator(mode="after")
    def _measured_once(self) -> Self:
        if len(set(self.measured)) < len(self.measured) or not self.measured:
            raise ValueError(f"measured: expected some of {', '.join(MEASUREMENTS)}, each once")
        return self


class UrRtde(Device):
    """A robot of Universal Robots that sends a package in each cycle and receives registers."""

    Settings = UrRtdeSettings
    answers = takes_unasked = True

    def __init__(self, settings: UrRtdeSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        origin = _ORIGINS.get(settings.space)
        variables = [
            *([origin] if origin else []),
            *(MEASUREMENTS[m].variable for m in settings.measured),
        ]
        self._vectors = list(dict.fromkeys(variables))
        self._client: RtdeClient | None = None
        self._inputs: Recipe | None = None
        self._outputs: Recipe | None = None
        self._begin: tuple[float, ...] | None = None
        self._newest = -math.inf, 0
        self._taken, self._echoes = TakenCounter(_MOST_COUNT), False

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return offsets that are commanded, and what is measured, as vectors."""
        options = cast("UrRtdeSettings", settings)
        return DeviceConnectors(
            inputs=tuple(_commands(options)),
            outputs=tuple(
                DeviceConnector(
                    name,
                    m.unit,
                    m.description,
                    shape=(m.count,),
                    frame=options.frame,
                    follows=_FOLLOWS.get((name, options.space), ""),
                )
                for name, m in ((name, MEASUREMENTS[name]) for name in options.measured)
            ),
            rate=options.rate,
        )

    @classmethod
    def layout(cls, settings: DeviceSettings) -> Mapping[str, str]:
        """Return the variable of the controller that each output is."""
        rows = [(name, MEASUREMENTS[name]) for name in cast("UrRtdeSettings", settings).measured]
        return {
            f"{name}[{i}]": f"{m.variable}[{m.first + i}]"
            for name, m in rows
            for i in range(m.count)
        }

    def open(self) -> None:
        """Connect, agree on both recipes, and let the data flow."""
        settings = self._settings
        self._begin, self._taken = None, TakenCounter(_MOST_COUNT)
        self._newest = -math.inf, 0
        self._client = RtdeClient(settings.device_host, settings.device_port)
        counter = f"input_int_register_{settings.counter_register}"
        self._echoes = settings.space != "none" and self._client.has_output(counter, settings.rate)
        names = (TIME, SAFETY, ROBOT, *([counter] if self._echoes else []), *self._vectors)
        self._outputs = self._client.outputs(names, settings.rate)
        expected = ("DOUBLE", "UINT32", "UINT32", *["INT32"] * self._echoes)
        expected = (*expected, *["VECTOR6D"] * len(self._vectors))
        if self._outputs.types != expected:
            raise DeviceError(
                f"{', '.join(names)}: expected {', '.join(expected)}, found"
                f" {', '.join(self._outputs.types)}"
            )
        self._inputs = self._client.inputs(self._registers()) if settings.space != "none" else None
        self._client.start()

    def close(self) -> None:
        """Leave the controller; the watchdog of its program stops the robot."""
        if self._client is not None:
            self._client.close()

    def receive(self, timeout_s: float) -> Received | None:
        """Wait for the next package.

        The status is ``safety_status_bits`` without the normal mode; bit 16 says that no program
        runs that could read what is commanded.
        """
        client, recipe = self._opened()
        data = client.receive(time.monotonic() + timeout_s)
        if data is None:
            return None
        now, safety, robot, *numbers = codec.decode_data(recipe, data)
        taken = self._taken.count(int(numbers.pop(0))) if self._echoes else None
        vectors = {
            name: tuple(float(x) for x in numbers[6 * i : 6 * i + 6])
            for i, name in enumerate(self._vectors)
        }
        if self._begin is None and self._settings.space != "none":
            self._begin = vectors[_ORIGINS[self._settings.space]]
        runs = int(robot) & PROGRAM_RUNS or self._settings.space == "none"
        return Received(
            tuple(x for m in self._settings.measured for x in _part(vectors, m)),
            device_time=float(now),
            sequence=self._number(float(now)),
            valid=not int(safety) & STOPPED,
            status=int(safety) & ~NORMAL | (0 if runs else _NOT_RUNNING),
            taken=taken,
        )

    def _number(self, now: float) -> int:
        """Count a package by its time; that of a later one is larger, however uneven times are."""
        number, (last, newest) = round(now * self._settings.rate), self._newest
        if now > last:
            number = max(number, newest + 1)
            self._newest = now, number
        return number

    def account(self) -> str:
        """Say which controller it was, and whether it says what it takes."""
        settings = self._settings
        text = f"its controller was {settings.device_host}:{settings.device_port}"
        if settings.space == "none" or self._echoes:
            return text
        return f"{text}, which has no output input_int_register_{settings.counter_register}"

    def send(self, values: Sequence[float]) -> None:
        """Write the registers: where the robot was at the beginning, moved by the command.

        Raises
        ------
        DeviceError
            If no package has come.
        """
        if self._settings.space == "none":
            return
        if self._begin is None:
            raise DeviceError("nothing can be commanded before the robot has sent its position")
        client, _ = self._opened()
        assert self._inputs is not None  # noqa: S101 - with the client
        count = (self._taken.send() - 1) % _MOST_COUNT + 1
        client.send(self._inputs, [*self._target(values), count])

    def _target(self, offset: Sequence[float]) -> tuple[float, ...]:
        assert self._begin is not None  # noqa: S101 - looked at before
        if self._settings.space == "joint":
            return tuple(a + b for a, b in zip(self._begin, offset, strict=True))
        moved = (a + b for a, b in zip(self._begin[:3], offset[:3], strict=True))
        return (*moved, *turned(offset[3:], self._begin[3:]))

    def _registers(self) -> list[str]:
        settings = self._settings
        numbers = range(settings.first_register, settings.first_register + 6)
        doubles = [f"input_double_register_{n}" for n in numbers]
        return [*doubles, f"input_int_register_{settings.counter_register}"]

    def _opened(self) -> tuple[RtdeClient, Recipe]:
        if self._client is None or self._outputs is None:
            raise DeviceError("the device is not open")
        return self._client, self._outputs


def _commands(settings: UrRtdeSettings) -> list[DeviceConnector]:
    turn, move = settings.rotation_limit, settings.translation_limit
    spin = settings.angular_speed_limit, settings.angular_deceleration_limit
    if settings.space == "joint":
        rows = [("dq", "rad", 6, turn, spin, "Joints")]
    elif settings.space == "cartesian":
        rows = [
            (
                "d_position",
                "m",
                3,
                move,
                (settings.speed_limit, settings.deceleration_limit),
                "Position",
            ),
            ("d_rotation", "rad", 3, turn, spin, "Rotation vector"),
        ]
    else:
        rows = []
    return [
        DeviceConnector(
            name,
            unit,
            f"{description}, from the start",
            shape=(count,),
            frame=settings.frame if settings.space == "cartesian" else None,
            minimum=-limit,
            maximum=limit,
            speed=speed,
            deceleration=stop,
        )
        for name, unit, count, limit, (speed, stop), description in rows
    ]


def _part(vectors: dict[str, tuple[float, ...]], name: Measured) -> tuple[float, ...]:
    measurement = MEASUREMENTS[name]
    return vectors[measurement.variable][measurement.first : measurement.first + measurement.count]
