"""The adapter for KUKA robots under RSI."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Literal, Self, cast

from pydantic import Field, model_validator

from hw_adapters.counter import Counter
from hw_adapters.datagram_socket import DatagramSocket, PeerSearch, connected
from hw_adapters.kuka_rsi.codec import Correction, RobotFrame, Six, decode_frame, encode_correction
from hw_adapters.kuka_rsi.increments import Increments
from orchestrator.rig.devices import (
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceError,
    DeviceSettings,
    Received,
    WireFormatError,
)

_CARTESIAN = ("x", "y", "z", "a", "b", "c")
_JOINTS = ("q1", "q2", "q3", "q4", "q5", "q6")
_DEGREE = math.pi / 180.0
_MILLIMETRE = 1e-3
#: IPOC begins again after so many ms, where the controller counts them in 32 bits.
_IPOC_PERIOD = 2**32
#: So many frames that follow each other are those of the robot, if its host is not known and if.
_ENOUGH, _ENOUGH_OF_HOST = 10, 3


class KukaRsiSettings(DeviceSettings):
    """Where the robot sends to, and what it is configured for.

    Parameters
    ----------
    host, port
        Here: ``IP_NUMBER`` and ``PORT`` of the controller's Ethernet configuration.
    device_host
        Of the robot; empty: any whose frames count on, for ten cycles, while nobody else sends such
        frames. Frames of others are refused.
    cycle_ms
        4 (``#IPO_FAST``) or 12 (``#IPO``).
    space
        ``cartesian``: ``RKorr`` and ``RIst``; ``joint``: ``AK`` and ``AIPos``.
    axes
        Those that are corrected, such as ``["x"]``; empty: all six. The others are told 0.
    mode
        As in ``RSI_ON``: ``absolute``, answers are offsets from the start; ``relative``,
        increments. Commands are offsets from the start in both.
    measured
        ``pose``: as the robot says; ``displacement``: from where it was in the first frame.
    translation_limit, rotation_limit
        Range of commands, m and rad. They do not replace the limits on the controller.
    speed_limit, angular_speed_limit
        A command that changes faster is sent slower, and ends the run if that lasts, m/s and
        rad/s: RSI plans no path.
    deceleration_limit, angular_deceleration_limit
        With which commands come to rest when nobody gives them any more, m/s2 and rad/s2.
    timeout_cycles
        ``Timeout`` of the controller: cycles without an answer after which RSI stops. A robot that
        was silent for so long was started anew, from where it stood.
    echo
        Name of the element in which the controller sends back the correction that it has in force,
        with the attributes of the answer; empty: it sends none.
    setpoint
        Whether ``RSol`` (``ASPos``), if it is sent, moves by corrections only. Set it to false
        where the program moves the robot at the same time.
    sentype
        ``SENTYPE`` of the Ethernet configuration.
    frame
        Name of the frame of RSI, such as the base.
    """

    host: str = "127.0.0.1"
    port: int = Field(default=49152, ge=1, le=65535)
    device_host: str = ""
    cycle_ms: Literal[4, 12] = 4
    space: Literal["cartesian", "joint"] = "cartesian"
    axes: tuple[str, ...] = ()
    mode: Literal["absolute", "relative"] = "absolute"
    measured: Literal["pose", "displacement"] = "pose"
    translation_limit: float = Field(default=0.05, gt=0.0, allow_inf_nan=False)
    rotation_limit: float = Field(default=0.1, gt=0.0, allow_inf_nan=False)
    speed_limit: float = Field(default=0.25, gt=0.0, allow_inf_nan=False)
    angular_speed_limit: float = Field(default=0.5, gt=0.0, allow_inf_nan=False)
    deceleration_limit: float = Field(default=2.0, gt=0.0, allow_inf_nan=False)
    angular_deceleration_limit: float = Field(default=4.0, gt=0.0, allow_inf_nan=False)
    timeout_cycles: int = Field(default=100, ge=1)
    echo: str = Field(default="", pattern=r"^([A-Za-z_][A-Za-z0-9_.]*)?$")
    setpoint: bool = True
    sentype: str = "ImFree"
    frame: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """All six axes, as the connectors name them."""
        return _JOINTS if self.space == "joint" else _CARTESIAN

    @model_validator(mode="after")
    def _axes_are_some(self) -> Self:
        if len(set(self.axes)) < len(self.axes) or not set(self.axes) <= set(self.names):
            raise ValueError(f"axes of {', '.join(self.names)}, each once")
        return self

    @property
    def own_watchdog(self) -> float:
        """After how long without an answer RSI stops."""
        return self.timeout_cycles * self.cycle_ms * 1e-3


class KukaRsi(Device):
    """A KUKA robot under RSI that sends a frame and takes a correction in each cycle."""

    Settings = KukaRsiSettings
    answers = True

    def __init__(self, settings: KukaRsiSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        axis_names = [n for n in settings.names if not settings.axes or n in settings.axes]
        self._places = [settings.names.index(name) for name in axis_names]
        cartesian = settings.space == "cartesian"
        self._scales = (_MILLIMETRE,) * 3 + (_DEGREE,) * 3 if cartesian else (_DEGREE,) * 6
        self._socket: DatagramSocket | None = None
        self._ipoc = 0
        self._clock = Counter(_IPOC_PERIOD)
        self._begin: tuple[float, ...] | None = None
        self._first_setpoint: tuple[float, ...] | None = None
        period = settings.cycle_ms * 1e-3
        self._most = tuple(
            (settings.speed_limit if scale == _MILLIMETRE else settings.angular_speed_limit)
            * period
            / scale
            for scale in self._scales
        )
        self._increments = Increments(self._most)
        #: Of the newest frame: the number of its cycle, and its count of late answers.
        self._newest: tuple[int, int | None] = (0, None)

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return pose and correction along the axes of RSI, or of the six joints."""
        options = cast("KukaRsiSettings", settings)
        move = ("m", options.translation_limit, options.speed_limit, options.deceleration_limit)
        turn_stop = options.angular_deceleration_limit
        turn = ("rad", options.rotation_limit, options.angular_speed_limit, turn_stop)
        kinds = (turn,) * 6 if options.space == "joint" else (move,) * 3 + (turn,) * 3
        axes = [(name, *kind) for name, kind in zip(options.names, kinds, strict=True)]
        return DeviceConnectors(
            inputs=tuple(
                DeviceConnector(
                    f"d{name}",
                    unit,
                    f"Correction of {name.upper()}, from the start",
                    frame=options.frame,
                    minimum=-limit,
                    maximum=limit,
                    speed=speed,
                    deceleration=stop,
                )
                for name, unit, limit, speed, stop in axes
                if not options.axes or name in options.axes
            ),
            outputs=tuple(
                DeviceConnector(
                    name,
                    unit,
                    f"Measured {options.measured}, {name.upper()}",
                    frame=options.frame,
                    follows=f"d{name}",
                )
                for name, unit, *_ in axes
            ),
            rate=1000.0 / options.cycle_ms,
        )

    @classmethod
    def layout(cls, settings: DeviceSettings) -> Mapping[str, str]:
        """Return the element and the attribute of each output."""
        typed = cast("KukaRsiSettings", settings)
        tag = "RIst" if typed.space == "cartesian" else "AIPos"
        return {name: f"{tag} {name.upper()}" for name in typed.names}

    def open(self) -> None:
        """Bind the port; the robot is heard of when its program switches RSI on."""
        settings = self._settings
        self._socket = DatagramSocket(settings.host, settings.port, None, settings.device_host)
        enough = _ENOUGH_OF_HOST if settings.device_host else _ENOUGH
        hint = "set 'device_host' to that of the robot, and give others another port"
        self._search = PeerSearch(enough, settings.cycle_ms, hint)
        self._begin, self._first_setpoint, self._ipoc = None, None, 0
        self._clock = Counter(_IPOC_PERIOD)
        self._increments = Increments(self._most)

    def close(self) -> None:
        """Give the port back; the robot stops by its own time-out."""
        if self._socket is not None:
            self._socket.close()

    def receive(self, timeout_s: float) -> Received | None:
        """Wait for the next frame; its status is how many answers the controller found late."""
        wire, deadline = connected(self._socket), time.monotonic() + timeout_s
        while True:
            datagram = wire.receive(max(deadline - time.monotonic(), 0.0))
            if datagram is None:
                return None
            frame = decode_frame(datagram[0], self._settings.echo, self._settings.space)
            values = self._measured(frame)
            if wire.peer is not None:
                break
            if self._search.offer(datagram[1], frame.ipoc):
                wire.lock_to(datagram[1])
                values = self._measured(frame)
                break
        self._ipoc = frame.ipoc
        now_ms = self._clock.count(frame.ipoc)
        self._newest = now_ms // self._settings.cycle_ms, frame.late
        return Received(
            values,
            device_time=now_ms * 1e-3,
            sequence=now_ms // self._settings.cycle_ms,
            status=frame.late or 0,
            late_answers=frame.late,
            in_force=self._in_force(frame),
        )

    def account(self) -> str:
        """Say which robot was taken, and what others sent."""
        return "" if self._socket is None else self._socket.account()

    def send(self, values: Sequence[float]) -> None:
        """Answer the frame that was received last.

        Raises
        ------
        DeviceError
            If no frame has come.
        """
        wire = connected(self._socket)
        if wire.peer is None:
            raise DeviceError(
                "commands are answers to frames, and the robot has not sent a frame yet"
            )
        six = [0.0] * 6
        for index, value in zip(self._places, values, strict=True):
            six[index] = value
        target = [value / scale for value, scale in zip(six, self._scales, strict=True)]
        correction = target
        if self._settings.mode == "relative":
            self._increments.see(*self._newest)  # a frame that does not follow is not answered
            correction = self._increments.towards(target)
        datagram = encode_correction(
            Correction(self._ipoc, _six(correction), self._settings.space, self._settings.sentype)
        )
        wire.send(datagram)

    def _in_force(self, frame: RobotFrame) -> tuple[float, ...] | None:
        """Return the offsets that the robot has in force by its own word, as it is commanded."""
        settings = self._settings
        if settings.mode == "relative":
            return None  # there a restart is no step: an increment counts from anywhere
        if settings.echo:
            reported = frame.echo
            if reported is None:
                raise WireFormatError(f"RSI frame: expected <{settings.echo}> (echo), found none")
        else:
            reported = frame.setpoint if settings.space == "cartesian" else frame.joint_setpoints
            if reported is None or not settings.setpoint:
                return None
        six = tuple(value * scale for value, scale in zip(reported, self._scales, strict=True))
        if not settings.echo:
            self._first_setpoint = first = self._first_setpoint or six
            six = self._away_from(first, six)
        return tuple(six[index] for index in self._places)

    def _away_from(self, begin: Sequence[float], now: Sequence[float]) -> tuple[float, ...]:
        return tuple(
            math.remainder(to - at, 2.0 * math.pi) if scale == _DEGREE else to - at
            for to, at, scale in zip(now, begin, self._scales, strict=True)
        )

    def _measured(self, frame: RobotFrame) -> tuple[float, ...]:
        cartesian = self._settings.space == "cartesian"
        measured = frame.pose if cartesian else frame.joints
        if measured is None:
            missing = "RIst" if cartesian else "AIPos"
            raise WireFormatError(
                f"RSI frame: expected <{missing}>, found none; send DEF_{missing} in the"
                " controller's Ethernet configuration"
            )
        values = tuple(value * scale for value, scale in zip(measured, self._scales, strict=True))
        if self._settings.measured == "pose":
            return values
        if self._begin is None and connected(self._socket).peer is None:
            return values  # it is not known yet whose they are
        if self._begin is None:
            self._begin = values
        return self._away_from(self._begin, values)


def _six(values: Sequence[float]) -> Six:
    first, second, third, fourth, fifth, sixth = values
    return (first, second, third, fourth, fifth, sixth)
