"""The adapter for hexapods of Physik Instrumente."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal, Self, cast

from pydantic import Field, model_validator

from hw_adapters.pi_gcs import codec
from hw_adapters.pi_gcs.codec import AXES
from hw_adapters.pi_gcs.questions import Question, Questions
from hw_adapters.pi_gcs.targets import Targets
from hw_adapters.stream_socket import ConnectionLostError, StreamSocket
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
_POSE, _REFERENCE = codec.question_about("POS?", AXES), codec.question_about("FRF?", AXES)
#: What is asked behind the command to stop: no other question has this reply.
_LAST = codec.question_about("POS?", "X")
_TRIES = 3
#: Between two looks whether the reference move is over, s.
_LOOK_S = 0.1
#: When nothing came for so long after connecting, nobody before us is being answered, s.
_QUIET_S = 0.02


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
    """A hexapod of Physik Instrumente that is read and commanded in each cycle."""

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
        self._questions = Questions()
        self._targets, self._echoes, self._has_target = Targets(), False, False
        #: Where the hexapod was at which question, until the error that goes with it has come.
        self._where: tuple[Question, tuple[str, ...]] | None = None
        self._due = 0.0
        self._number = -1
        self._stray_error = 0
        self._begin: tuple[float, ...] = (0.0,) * 6
        self._told: tuple[float, ...] | None = None
        self._replies: deque[tuple[str, ...]] = deque()
        self._newest: Received | None = None

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return the pose, and offsets that are commanded."""
        options = cast("PiGcsSettings", settings)
        kinds = [("m", options.translation_limit)] * 3 + [("rad", options.rotation_limit)] * 3
        axes = [(axis.lower(), *kind) for axis, kind in zip(AXES, kinds, strict=True)]
        return DeviceConnectors(
            inputs=tuple(
                DeviceConnector(
                    f"d{name}",
                    unit,
                    f"Offset of {name.upper()}, from the start",
                    frame=options.frame,
                    minimum=-limit,
                    maximum=limit,
                )
                for name, unit, limit in axes
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
                for name, unit, _ in axes
            ),
            rate=options.rate,
        )

    @classmethod
    def layout(cls, settings: DeviceSettings) -> Mapping[str, str]:
        """Return the question and the axis of each output."""
        del settings
        return {axis.lower(): f"POS? {axis}" for axis in AXES}

    def open(self) -> None:
        """Connect, see that the hexapod has its reference and its servo, and where it is.

        Raises
        ------
        DeviceError
            If it is none, has no reference, or refuses something.
        """
        settings = self._settings
        self._socket = StreamSocket(settings.device_host, settings.device_port, _CONNECT_S)
        self._number, self._told, self._where, self._stray_error = -1, None, None, 0
        self._splitter = codec.ReplySplitter()
        self._questions = Questions()
        self._replies.clear()
        self._newest = None
        while self._socket.receive(time.monotonic() + _QUIET_S):
            continue  # what somebody before us has asked
        self._answer("*IDN?")
        codec.error_code(self._answer("ERR?"))  # of whoever was here before
        self._switch_on()
        if settings.velocity is not None:
            self._socket.send(f"VLS {settings.velocity * 1e3:.6f}\n".encode())
            self._expect_no_error("VLS")
        self._questions.named = self._keeps_order()
        self._targets, self._echoes = Targets(), self._questions.named and self._says_targets()
        self._begin = self._pose(self._answer(_POSE))
        self._due = time.monotonic()

    def close(self) -> None:
        """Stop the hexapod where it is, and leave it.

        Raises
        ------
        DeviceError
            If a controller that answers does not confirm that it has stopped.
        """
        link, self._socket = self._socket, None
        if link is None:
            return
        try:
            self._stop(link)
        except (OSError, ConnectionLostError):
            pass  # it has gone: it stands where its last command leads
        finally:
            link.close()

    def account(self) -> str:
        """Say which controller it was, and whether its replies show their question."""
        settings, order = self._settings, "" if self._questions.named else " not"
        text = (
            f"its controller was {settings.device_host}:{settings.device_port}, whose replies"
            f" do{order}"
            " show their question"
        )
        return text if self._echoes else f"{text}, and which does not tell its targets (MOV?)"

    def _stop(self, link: StreamSocket) -> None:
        """Stop, until the controller has answered a question behind that command."""
        heard = False
        for _ in range(_TRIES):
            link.send(codec.STOP_ALL + codec.ask(_LAST))
            deadline = time.monotonic() + self._settings.answer_timeout
            while data := link.receive(deadline):
                heard = True
                with suppress(WireFormatError):
                    if any(
                        len(r) == 1 and r[0].startswith("X=") for r in self._splitter.split(data)
                    ):
                        return
        if heard:
            limit = _TRIES * self._settings.answer_timeout
            raise DeviceError(
                f"the controller did not confirm within {limit:g} s that it has stopped"
            )

    def receive(self, timeout_s: float) -> Received | None:
        """Ask when it is time, and wait for the answer; the status is the controller's error.

        The time of a sample is the time of its question: the sample is not older than that.
        """
        link, end = self._opened(), time.monotonic() + timeout_s
        while True:
            now = time.monotonic()
            if now >= self._due and self._questions.may_ask(now, self._settings.answer_timeout):
                self._ask_in_time(link, now)
            wait = self._questions.wait(self._due, self._settings.answer_timeout)
            data = link.receive(min(end, wait))
            self._replies += self._splitter.split(data)
            while self._replies:
                self._newest = self._take(self._replies.popleft()) or self._newest
            if self._newest is not None:
                newest, self._newest = self._newest, None
                return newest
            if time.monotonic() >= end:
                return None

    def send(self, values: Sequence[float]) -> None:
        """Command a pose: where the hexapod was at the beginning, moved by the offsets."""
        link, commanded = self._opened(), tuple(values)
        offset = [0.0] * 6
        for index, value in zip(self._places, commanded, strict=True):
            offset[index] = value
        pose = (b + v for b, v in zip(self._begin, offset, strict=True))
        counts = (p / scale for p, scale in zip(pose, _SCALES, strict=True))
        target = dict(zip(AXES, counts, strict=True))
        self._targets.send(target)
        if commanded != self._told:
            link.send(codec.command("MOV", target))
            self._told = commanded

    def _switch_on(self) -> None:
        link = self._opened()
        if not self._has_reference():
            if not self._settings.reference:
                raise DeviceError(
                    "the hexapod has no reference (FRF?); make the reference move, or set"
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

    def _expect_no_error(self, command: str) -> None:
        code = codec.error_code(self._answer("ERR?"))
        if code:
            raise DeviceError(f"{command}: the controller says {codec.error_text(code)}")

    def _answer(self, question: str) -> tuple[str, ...]:
        """Ask something outside of the cycle."""
        link, limit = self._opened(), self._settings.answer_timeout
        link.send(codec.ask(question))
        deadline = time.monotonic() + limit
        while data := link.receive(deadline):
            if replies := self._splitter.split(data):
                return replies[0]
        raise DeviceError(
            f"no answer to {question} within {limit:g} s; check that it is a controller of PI"
        )

    def _keeps_order(self) -> bool:
        """Whether replies name the axes in the order of their question, and so show which it is."""
        order = tuple(reversed(AXES))
        reply = self._answer(codec.question_about("POS?", order))
        codec.axis_values(reply, AXES)
        return codec.axes_of(reply) == order

    def _says_targets(self) -> bool:
        """Whether the controller knows ``MOV?``; one that does not gives no reply."""
        try:
            reply = self._answer(codec.question_about("MOV?", AXES))
            codec.axis_values(reply, AXES)
        except (DeviceError, WireFormatError):
            codec.error_code(self._answer("ERR?"))
            return False
        return True

    def _ask_in_time(self, link: StreamSocket, now: float) -> None:
        missed = int((now - self._due) * self._settings.rate)
        self._number += 1 + missed
        self._due += (1 + missed) / self._settings.rate
        question = self._questions.next(self._number, now)
        target = (codec.question_about("MOV?", question.order[::-1]),) if self._echoes else ()
        link.send(codec.ask(codec.question_about("POS?", question.order), *target, "ERR?"))

    def _take(self, reply: tuple[str, ...]) -> Received | None:
        """Take a reply; return the sample that it completes.

        Raises
        ------
        WireFormatError
            If it is none to a question that is open.
        """
        if "=" not in reply[0]:
            question_and_pose, self._where = self._where, None
            code = codec.error_code(reply)
            if (
                question_and_pose is None
            ):  # the pose before it was refused: the next sample has its error
                self._stray_error = self._stray_error or code
                return None
            code, self._stray_error = code or self._stray_error, 0
            return self._sample(*question_and_pose, code)
        if self._is_target(reply):
            self._has_target = True
            self._targets.see(reply)
            return None
        self._has_target = False
        try:
            codec.axis_values(reply, AXES)
        except WireFormatError:
            self._questions.refused()
            raise
        self._where = self._questions.answered(codec.axes_of(reply)), reply
        return None

    def _is_target(self, reply: Sequence[str]) -> bool:
        """Whether a reply is that to ``MOV?``, which names the axes from behind."""
        if self._where is None or not self._echoes or self._has_target:
            return False
        return codec.axes_of(reply) == self._where[0].order[::-1]

    def _sample(self, question: Question, pose_reply: tuple[str, ...], code: int) -> Received:
        pose = self._pose(pose_reply)
        if code and self._settings.on_fault == "stop":
            raise DeviceError(f"the controller says {codec.error_text(code)}")
        if self._settings.measured == "displacement":
            pose = tuple(now - then for now, then in zip(pose, self._begin, strict=True))
        return Received(
            pose,
            device_time=question.asked_s,
            sequence=question.number,
            valid=code == 0,
            status=code & 0xFFFFFFFF,
            taken=self._targets.taken if self._targets.says else None,
            age=time.monotonic() - question.asked_s,
        )

    def _pose(self, reply: Sequence[str]) -> tuple[float, ...]:
        position = codec.axis_values(reply, AXES)
        return tuple(position[axis] * scale for axis, scale in zip(AXES, _SCALES, strict=True))

    def _opened(self) -> StreamSocket:
        if self._socket is None:
            raise DeviceError("the device is not open")
        return self._socket
