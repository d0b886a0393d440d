"""The adapter for hexapods of Physik Instrumente."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Literal, Self, cast

from pydantic import Field, model_validator

from hw_adapters.pi_gcs import codec
from hw_adapters.pi_gcs.codec import AXES
from hw_adapters.stream_socket import StreamSocket
from orchestrator.rig.devices import (
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceError,
    DeviceSettings,
    Received,
    WireFormatError,
)

#: SI units for a mm and a degree.
_SCALES = (1e-3,) * 3 + (math.pi / 180.0,) * 3
_CONNECT_S = 2.0
_POSE, _REFERENCE = codec.about("POS?", AXES), codec.about("FRF?", AXES)
#: Between two looks whether the reference move is over, s.
_LOOK_S = 0.1


class PiGcsSettings(DeviceSettings):
    """Where the controller is, and how the hexapod is led.

    Parameters
    ----------
    device_host, device_port
        Of the controller.
    rate
        How often it is asked where the hexapod is, and told where it shall be, Hz.
    velocity
        Of the platform on its way to a command (``VLS``), m/s; default: as it is set.
    reference
        Whether the reference move is made if it has not been: it moves all legs.
    axes
        Those that are commanded, such as ``["x", "u"]``; empty: all six. The others stay.
    measured
        ``pose``: as the controller says; ``displacement``: from where it was at the beginning.
        Commands are offsets from the beginning in both.
    translation_limit, rotation_limit
        Range of commands, m and rad.
    on_fault
        Of an error of the controller: ``stop`` ends the run; ``hold`` goes on with samples that
        are not valid.
    answer_timeout, reference_timeout
        What an answer may take, and the reference move, s.
    frame
        Name of the frame of the controller.
    """

    device_host: str
    device_port: int = Field(default=50000, ge=1, le=65535)
    rate: float = Field(default=20.0, gt=0.0, le=200.0)
    velocity: float | None = Field(default=None, gt=0.0, allow_inf_nan=False)
    reference: bool = False
    axes: tuple[Literal["x", "y", "z", "u", "v", "w"], ...] = ()
    measured: Literal["pose", "displacement"] = "pose"
    translation_limit: float = Field(default=0.01, gt=0.0, allow_inf_nan=False)
    rotation_limit: float = Field(default=0.1, gt=0.0, allow_inf_nan=False)
    on_fault: Literal["stop", "hold"] = "stop"
    answer_timeout: float = Field(default=0.5, gt=0.0, allow_inf_nan=False)
    reference_timeout: float = Field(default=120.0, gt=0.0, allow_inf_nan=False)
    frame: str | None = None

    @model_validator(mode="after")
    def _axes_once(self) -> Self:
        if len(set(self.axes)) < len(self.axes):
            raise ValueError("axes of x, y, z, u, v, w, each once")
        return self


class PiGcs(Device):
    """A hexapod that is asked where it is, and told where it shall be, again and again."""

    Settings = PiGcsSettings
    answers = True

    def __init__(self, settings: PiGcsSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._places = [
            i for i, a in enumerate(AXES) if not settings.axes or a.lower() in settings.axes
        ]
        self._socket: StreamSocket | None = None
        self._splitter = codec.ReplySplitter()
        self._replies: list[tuple[str, ...]] = []
        self._asked: float | None = None
        self._due = 0.0
        self._number = -1
        self._begin: tuple[float, ...] = (0.0,) * 6
        self._told: tuple[float, ...] | None = None

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return the pose, and offsets that are commanded."""
        given = cast("PiGcsSettings", settings)
        kinds = [("m", given.translation_limit)] * 3 + [("rad", given.rotation_limit)] * 3
        axes = [(axis.lower(), *kind) for axis, kind in zip(AXES, kinds, strict=True)]
        return DeviceConnectors(
            inputs=tuple(
                DeviceConnector(
                    f"d{name}",
                    unit,
                    f"Offset of {name.upper()}, from the start",
                    frame=given.frame,
                    minimum=-limit,
                    maximum=limit,
                )
                for name, unit, limit in axes
                if not given.axes or name in given.axes
            ),
            outputs=tuple(
                DeviceConnector(
                    name, unit, f"Measured {given.measured}, {name.upper()}", frame=given.frame
                )
                for name, unit, _ in axes
            ),
            rate=given.rate,
        )

    def open(self) -> None:
        """Connect, see that the hexapod has its reference and its servo, and where it is.

        Raises
        ------
        DeviceError
            If it is none, has no reference, or refuses something.
        """
        given = self._settings
        self._socket = StreamSocket(given.device_host, given.device_port, _CONNECT_S)
        self._asked, self._number, self._told = None, -1, None
        self._splitter = codec.ReplySplitter()
        self._answer("*IDN?")
        codec.error_code(self._answer("ERR?"))  # of whoever was here before
        self._switch_on()
        if given.velocity is not None:
            self._socket.send(f"VLS {given.velocity * 1e3:.6f}\n".encode())
            self._expect_no_error("VLS")
        self._begin = self._pose(self._answer(_POSE))
        self._due = time.monotonic()

    def close(self) -> None:
        """Stop the hexapod where it is, and leave it."""
        link, self._socket = self._socket, None
        if link is None:
            return
        try:
            link.send(codec.STOP_ALL)
        except (OSError, DeviceError):
            pass  # it has gone: it stands where its last command leads
        finally:
            link.close()

    def receive(self, timeout_s: float) -> Received | None:
        """Ask when it is time, and wait for the answer; the status is the controller's error."""
        link, end = self._opened(), time.monotonic() + timeout_s
        while True:
            if self._asked is None and not self._ask_in_time(link, end):
                return None
            if (found := self._gather(link, end)) is not None:
                return self._sample(*found)
            now = time.monotonic()
            if self._asked is not None and now >= self._asked + self._settings.answer_timeout:
                self._asked = None  # lost
                if self._replies:
                    raise WireFormatError(f"GCS: expected two replies, found {self._replies}")
            if now >= end:
                return None

    def send(self, values: Sequence[float]) -> None:
        """Command a pose: where the hexapod was at the beginning, moved by the offsets."""
        link, wanted = self._opened(), tuple(values)
        if wanted == self._told:
            return
        offset = [0.0] * 6
        for place, value in zip(self._places, wanted, strict=True):
            offset[place] = value
        pose = (b + v for b, v in zip(self._begin, offset, strict=True))
        counts = (p / scale for p, scale in zip(pose, _SCALES, strict=True))
        link.send(codec.command("MOV", dict(zip(AXES, counts, strict=True))))
        self._told = wanted

    def _switch_on(self) -> None:
        link = self._opened()
        if not self._has_reference():
            if not self._settings.reference:
                raise DeviceError(
                    "the hexapod has no reference (FRF?): make the reference move, or set"
                    " 'reference', which moves all legs"
                )
            link.send(b"FRF\n")
            self._expect_no_error("FRF")
            deadline = time.monotonic() + self._settings.reference_timeout
            while not self._has_reference():
                if time.monotonic() >= deadline:
                    limit = self._settings.reference_timeout
                    raise DeviceError(f"no reference within {limit:g} s (reference_timeout)")
                time.sleep(_LOOK_S)
        link.send(codec.switch_on(AXES))
        self._expect_no_error("SVO")

    def _has_reference(self) -> bool:
        return all(codec.axis_values(self._answer(_REFERENCE), AXES).values())

    def _expect_no_error(self, what: str) -> None:
        code = codec.error_code(self._answer("ERR?"))
        if code:
            raise DeviceError(f"{what}: the controller says {codec.error_text(code)}")

    def _answer(self, question: str) -> tuple[str, ...]:
        """Ask something outside of the cycle."""
        link, limit = self._opened(), self._settings.answer_timeout
        link.send(codec.ask(question))
        deadline = time.monotonic() + limit
        while data := link.receive(deadline):
            if found := self._splitter.split(data):
                return found[0]
        raise DeviceError(f"no answer to {question} within {limit:g} s: is it a controller of PI?")

    def _ask_in_time(self, link: StreamSocket, end: float) -> bool:
        """Wait until it is time to ask; what comes before that is of an earlier question."""
        while (now := time.monotonic()) < self._due:
            if now >= end:
                return False
            link.receive(min(self._due, end))
        self._splitter.forget()
        self._replies.clear()
        self._number += 1
        self._due = max(self._due + 1.0 / self._settings.rate, now)
        self._asked = now
        link.send(codec.ask(_POSE, "ERR?"))
        return True

    def _gather(self, link: StreamSocket, end: float) -> tuple[tuple[str, ...], ...] | None:
        assert self._asked is not None  # noqa: S101 - asked just before
        limit = self._asked + self._settings.answer_timeout
        while len(self._replies) < 2:
            data = link.receive(min(end, limit))
            if not data:
                return None
            try:
                self._replies += self._splitter.split(data)
            except WireFormatError:
                self._asked = None
                raise
        self._asked = None
        return self._replies[0], self._replies[1]

    def _sample(self, where: tuple[str, ...], error: tuple[str, ...]) -> Received:
        pose, code = self._pose(where), codec.error_code(error)
        if code and self._settings.on_fault == "stop":
            raise DeviceError(f"the controller says {codec.error_text(code)}")
        if self._settings.measured == "displacement":
            pose = tuple(now - then for now, then in zip(pose, self._begin, strict=True))
        return Received(pose, sequence=self._number, valid=code == 0, status=code & 0xFFFFFFFF)

    def _pose(self, reply: Sequence[str]) -> tuple[float, ...]:
        found = codec.axis_values(reply, AXES)
        return tuple(found[axis] * scale for axis, scale in zip(AXES, _SCALES, strict=True))

    def _opened(self) -> StreamSocket:
        if self._socket is None:
            raise DeviceError("the device is not open")
        return self._socket
