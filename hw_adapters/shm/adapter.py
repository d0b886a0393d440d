"""The adapter for programs that share memory."""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, model_validator

from hw_adapters.counter import TakenCounter
from hw_adapters.shm.codec import (
    Record,
    block_size,
    check_head,
    commands_at,
    decode,
    encode,
    measurements_at,
    record_size,
)
from orchestrator.core.accounts import DEVICE_ACCOUNTS, account_name, may_be_device
from orchestrator.rig.devices import (
    Device,
    DeviceConnector,
    DeviceConnectors,
    DeviceError,
    DeviceSettings,
    Received,
)

_FOLDER = Path("/dev/shm")  # noqa: S108 # where Linux has what shm_open makes
_COUNTER = struct.Struct("<Q")


class ShmSignal(BaseModel):
    """One value of a record.

    Parameters
    ----------
    name, unit, description, frame, minimum, maximum, start
        Of its connector.
    speed, acceleration, rests, deceleration
        The same, of one that is commanded.
    follows
        Of a measurement: the command that it follows.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(min_length=1)
    unit: str = "1"
    description: str = ""
    frame: str | None = None
    minimum: float = -float("inf")
    maximum: float = float("inf")
    start: float = 0.0
    speed: float = Field(default=float("inf"), gt=0.0)
    acceleration: float = Field(default=float("inf"), gt=0.0)
    rests: Literal["in place", "at zero"] = "in place"
    deceleration: float = Field(default=float("inf"), gt=0.0)
    follows: str = ""


class ShmSettings(DeviceSettings):
    """Which block, and what is in it.

    Parameters
    ----------
    name
        The block is ``/dev/shm/NAME``, what ``shm_open("/NAME")`` makes.
    rate
        Samples per second that the program writes, Hz.
    measurements, commands
        Values of both records, in their order.
    taken
        Name of the measurement that has the number of the newest command that the program took, 0
        before the first, which has the number 1; empty: none has.
    poll
        How long is slept between two looks for a new sample, s.
    """

    name: str = Field(pattern=r"^[^/.][^/]*$")
    rate: float = Field(gt=0.0, allow_inf_nan=False)
    measurements: tuple[ShmSignal, ...] = Field(min_length=1)
    commands: tuple[ShmSignal, ...] = ()
    taken: str = ""
    poll: float = Field(default=1e-4, gt=0.0, le=0.1)

    @model_validator(mode="after")
    def _taken_is_measured(self) -> Self:
        if self.taken and self.taken not in {signal.name for signal in self.measurements}:
            raise ValueError(f"taken: expected the name of a measurement, found '{self.taken}'")
        return self


class ShmDevice(Device):
    """A program on the same machine, by shared memory; it is read without a lock."""

    Settings = ShmSettings

    def __init__(self, settings: ShmSettings) -> None:
        super().__init__(settings)
        self._settings = settings
        self._block: mmap.mmap | None = None
        self._descriptor = -1
        self._seen = 0
        self._taken = TakenCounter(None)
        names = [signal.name for signal in settings.measurements]
        self._taken_at = names.index(settings.taken) if settings.taken else -1

    @classmethod
    def connectors(cls, settings: DeviceSettings) -> DeviceConnectors:
        """Return the values of both records."""
        options = cast("ShmSettings", settings)
        return DeviceConnectors(
            inputs=tuple(DeviceConnector(**signal.model_dump()) for signal in options.commands),
            outputs=tuple(
                DeviceConnector(**signal.model_dump()) for signal in options.measurements
            ),
            rate=options.rate,
        )

    @classmethod
    def layout(cls, settings: DeviceSettings) -> Mapping[str, str]:
        """Return where each measurement stands in the block, as ``byte 64, f64``."""
        names = [signal.name for signal in cast("ShmSettings", settings).measurements]
        first = measurements_at() + record_size(0)
        return {name: f"byte {first + 8 * i}, f64" for i, name in enumerate(names)}

    def open(self) -> None:
        """Map the block, and claim it: a second adapter is refused."""
        path = _FOLDER / self._settings.name
        self._descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DeviceError(
                f"{path}: another program has claimed it; close that program first"
            ) from None
        status = os.fstat(self._descriptor)
        _expect_ours(path, status)
        size = status.st_size
        if size == 0:
            raise DeviceError(f"{path}: expected a block, found an empty file")
        measured, commanded = len(self._settings.measurements), len(self._settings.commands)
        block = mmap.mmap(self._descriptor, size)
        try:
            check_head(block[: min(size, block_size(measured, commanded))], measured, commanded)
        except DeviceError:
            block.close()
            raise
        self._block = block
        self._seen, self._taken = 0, TakenCounter(None)

    def close(self) -> None:
        """Unmap the block; it stays with the program that made it."""
        if self._block is not None:
            self._block.close()
            self._block = None
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def receive(self, timeout_s: float) -> Received | None:
        """Wait for a sample that has not been read."""
        deadline = time.monotonic() + timeout_s
        at, size = measurements_at(), record_size(len(self._settings.measurements))
        while True:
            block = self._mapped()
            copy = block[at : at + size]
            (counter,) = _COUNTER.unpack_from(copy)
            if counter != self._seen and block[at : at + _COUNTER.size] == copy[: _COUNTER.size]:
                record = self._decoded(copy, counter)
                if record is not None:
                    return self._received(record)
            if time.monotonic() >= deadline:
                return None
            time.sleep(self._settings.poll)

    def _decoded(self, copy: bytes, counter: int) -> Record | None:
        if not counter % 2:
            self._seen = counter  # also of a damaged one: it is told once
        return decode(copy)

    def send(self, values: Sequence[float]) -> None:
        """Write a command with the next number and CLOCK_MONOTONIC."""
        if not self._settings.commands:
            return
        content = encode(Record(tuple(values), self._taken.send(), time.monotonic_ns()))
        block, at = self._mapped(), commands_at(len(self._settings.measurements))
        (counter,) = _COUNTER.unpack_from(block, at)
        counter -= counter % 2  # odd: who wrote it before was ended in the middle
        _COUNTER.pack_into(block, at, counter + 1)
        block[at + _COUNTER.size : at + _COUNTER.size + len(content)] = content
        _COUNTER.pack_into(block, at, counter + 2)

    def _mapped(self) -> mmap.mmap:
        if self._block is None:
            raise DeviceError("the block is not open")
        return self._block

    def _received(self, record: Record) -> Received:
        time_s, good = record.time_ns * 1e-9, record.status == 0
        taken = None
        if self._taken_at >= 0:
            taken = self._taken.count(round(record.values[self._taken_at]))
        return Received(record.values, time_s, record.sequence, good, record.status, taken=taken)


def _expect_ours(path: Path, status: os.stat_result) -> None:
    """Expect a block that nobody writes but its program and this one."""
    user, own_user = status.st_uid, os.geteuid()
    if not may_be_device(user):
        raise DeviceError(
            f"{path}: it belongs to {account_name(user)}; expected a block of"
            f" {account_name(own_user)}, or of an account that {DEVICE_ACCOUNTS} names"
        )
    writers = status.st_mode & 0o002, status.st_mode & 0o020 and user == own_user
    if any(writers):
        raise DeviceError(
            f"{path}: other accounts may write to it (mode {status.st_mode & 0o777:o}), and so"
            " command and deceive; expected mode 600: change the mode in its program, or with"
            " chmod"
        )
